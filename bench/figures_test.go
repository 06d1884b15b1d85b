package main

import (
	"bytes"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

// The chart and the tables of the documents are those of the results: nobody has
// written a figure into them.
func TestFigures(t *testing.T) {
	list := testkit.Must(publishedMachines(resultsDirectory))
	document := testkit.ReadGolden(figuresFile)
	want := testkit.Must(replaceFigures(document, figureTables(list)))
	if !bytes.Equal(document, want) {
		t.Errorf("the tables of %s are not those of %s: go run -C bench . -figures", figuresFile, resultsDirectory)
	}
	if !samePicture(testkit.Must(drawChart(list)), testkit.ReadGolden(chartFile)) {
		t.Errorf("%s is not drawn from %s: go run -C bench . -figures", chartFile, resultsDirectory)
	}
}

func samePicture(a, b []byte) bool {
	x, y := testkit.Must(png.Decode(bytes.NewReader(a))), testkit.Must(png.Decode(bytes.NewReader(b)))
	same, width := x.Bounds() == y.Bounds(), x.Bounds().Dx()
	for i := 0; same && i < width*x.Bounds().Dy(); i++ {
		same = color.RGBAModel.Convert(x.At(i%width, i/width)) == color.RGBAModel.Convert(y.At(i%width, i/width))
	}
	return same
}

// A sample of a file is in the tables and in the picture: others make others.
func TestFiguresFollowTheFiles(t *testing.T) {
	directory := t.TempDir()
	testkit.NoError(t, os.CopyFS(directory, os.DirFS(resultsDirectory)))
	before := testkit.Must(publishedMachines(directory))
	raw := filepath.Join(directory, machines[0].report, "raw.txt")
	const name = "BenchmarkPeers/op=operator-1-half/peer=recurrence-per-token"
	lines := slices.DeleteFunc(strings.Split(string(testkit.ReadGolden(raw)), "\n"), func(line string) bool { return strings.HasPrefix(line, name+" ") })
	lines = append(lines, name+" 1 1234 ns/op", "")
	testkit.NoError(t, os.WriteFile(raw, []byte(strings.Join(lines, "\n")), 0o666))
	after := testkit.Must(publishedMachines(directory))
	plainGo := slices.IndexFunc(contenders, func(c contender) bool { return c.name == "plain Go" })
	if got := contenders[plainGo].perToken(&after[0], 1, posenc.HalfSplit); got < 1233.9 || got > 1234.1 {
		t.Errorf("%v ns per token, want the 1234 of the file", got)
	}
	if tables := figureTables(after); !strings.Contains(tables, "| 1234 (") || tables == figureTables(before) {
		t.Error("the tables do not have the sample")
	}
	if samePicture(testkit.Must(drawChart(before)), testkit.Must(drawChart(after))) {
		t.Error("the picture does not have the sample")
	}
}

// Every file in results belongs to one machine.
func TestEveryResultIsPublished(t *testing.T) {
	for _, e := range testkit.Must(os.ReadDir(resultsDirectory)) {
		owners := 0
		for _, m := range machines {
			if matched, _ := filepath.Match(m.texts, e.Name()); matched || m.report == e.Name() {
				owners++
			}
		}
		if owners != 1 {
			t.Errorf("%s/%s belongs to %d machines of the list, want 1", resultsDirectory, e.Name(), owners)
		}
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 164.4: "164", 999.6: "1,000", 42858: "42,858", 1234567: "1,234,567"} {
		if got := thousands(v); got != want {
			t.Errorf("thousands(%v) = %q, want %q", v, got, want)
		}
	}
	for ns, want := range map[float64]string{463.1: "463 ns", 9069: "9069 ns", 42081: "42.1 µs", 7.47e6: "7.47 ms"} {
		if got := duration(ns); got != want {
			t.Errorf("duration(%v) = %q, want %q", ns, got, want)
		}
	}
	if _, err := replaceFigures([]byte("no marks"), ""); err == nil {
		t.Error("a document without marks is no error")
	}
}
