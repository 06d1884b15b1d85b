package main

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
)

// Every constant of kernels/tuning.go has a measurement, with other values to try, and
// every measurement is of such a constant. Its calls return no error, and no two have the same
// name.
func TestThresholds(t *testing.T) {
	now := testkit.Must(readTuning("../kernels", nil))
	for _, name := range now.names {
		if !slices.ContainsFunc(thresholds, func(x threshold) bool { return x.name == name }) {
			t.Errorf("%s of kernels/tuning.go is not among the thresholds that bench -tune measures", name)
		}
	}
	seen := map[string]bool{}
	for _, x := range thresholds {
		present, found := now.values[x.name]
		if !found || seen[x.name] {
			t.Errorf("threshold %s: expected one constant of kernels/tuning.go", x.name)
			continue
		}
		seen[x.name] = true
		others := x.others(present)
		if len(others) == 0 {
			t.Errorf("%s = %d has no other value to try", x.name, present)
			continue
		}
		source := testkit.Must(now.with(x.name, others[0]))
		got := testkit.Must(readTuning("../kernels", source))
		if got.values[x.name] != others[0] {
			t.Errorf("%s is %d in the file that sets it to %d, and is %d", x.name, got.values[x.name], others[0], present)
		}
		called := map[string]bool{}
		for _, c := range testkit.Must(casesOf(tunedShort, x.name)) {
			if called[c.Name] || c.Bytes <= 0 {
				t.Errorf("%s: %s of %d bytes: expected one of the name, and some", x.name, c.Name, c.Bytes)
			}
			called[c.Name] = true
			if err := c.Run(); err != nil {
				t.Errorf("%s: %s: %v", x.name, c.Name, err)
			}
		}
	}
}

// Values are those of the language, and one is changed at a time.
func TestTuning(t *testing.T) {
	directory := t.TempDir()
	write := func(source string) {
		t.Helper()
		testkit.NoError(t, os.WriteFile(filepath.Join(directory, "tuning.go"), []byte("package kernels\n"+source), 0o666))
	}
	write("const (\n\t// A is first.\n\tA = 8 << 20 // of elements\n\tB, c = A / 2, 3\n)\n\nfunc f() int { const local = 1; return local }\n")
	now := testkit.Must(readTuning(directory, nil))
	if want := map[string]int64{"A": 8 << 20, "B": 4 << 20, "c": 3}; !maps.Equal(now.values, want) || !slices.Equal(now.names, []string{"A", "B", "c"}) {
		t.Errorf("constants %v, %v, want %v", now.names, now.values, want)
	}
	got, err := now.with("B", 5)
	if want := "package kernels\n\nconst (\n\t// A is first.\n\tA    = 8 << 20 // of elements\n\tB, c = 5, 3\n)\n\nfunc f() int { const local = 1; return local }\n"; err != nil || string(got) != want {
		t.Errorf("with B = 5: %v, %s\nwant %s", err, got, want)
	}
	if _, err := now.with("local", 2); err == nil {
		t.Error("local is no constant of the file, and no error")
	}
	write("const A = 0.5\n")
	if _, err := readTuning(directory, nil); err == nil {
		t.Error("0.5 is no threshold, and no error")
	}
}

// Bounds are measured apart from the calls, whose caches they would use.
func TestBoundsOfSizes(t *testing.T) {
	cases := testkit.Must(casesOf(tunedShort, "bounds=256,1024"))
	count := map[int64]int{}
	for _, c := range cases {
		count[c.Bytes]++
	}
	if len(count) != 2 || count[256] == 0 || count[256] != count[1024] {
		t.Errorf("bounds of %v bytes, want as many of 256 and 1024", count)
	}
	for _, wrong := range []string{"", "x", "0", "128", "256,", "256,300"} {
		if _, err := casesOf(tunedShort, boundsOf+wrong); err == nil {
			t.Errorf("bounds=%s, and no error", wrong)
		}
	}
}

func TestChosen(t *testing.T) {
	for _, test := range []struct {
		ratios map[int64][]float64
		value  int64
		mean   float64
	}{
		{nil, 64, 1},
		{map[int64][]float64{32: {0.96, 0.96}}, 64, 1},                                    // too little
		{map[int64][]float64{32: {0.8, 1.06}}, 64, 1},                                     // slower somewhere
		{map[int64][]float64{32: {0.81, 1}}, 32, 0.9},                                     // faster
		{map[int64][]float64{16: {0.81, 1}, 32: {0.64, 1}, 128: {0.5, 1.1}}, 32, 0.8},     // the fastest of those
		{map[int64][]float64{16: {math.NaN(), 1}, 32: {math.NaN(), math.NaN()}}, 64, 1.0}, // nothing known
	} {
		if value, mean := chosen(64, test.ratios); value != test.value || math.Abs(mean-test.mean) > 1e-9 {
			t.Errorf("%v: %d, %v, want %d, %v", test.ratios, value, mean, test.value, test.mean)
		}
	}
}

// One threshold, from the builds to the choice.
func TestTune(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN: it builds bench three times")
	}
	var b strings.Builder
	testkit.NoError(t, tune(tunedShort, []string{"shortRun"}, thisMachine("go test"), &b, quiet()))
	now := testkit.Must(readTuning("../kernels", nil))
	c := &calls{sizes: tunedShort.workingSets}
	i := slices.IndexFunc(thresholds, func(x threshold) bool { return x.name == "shortRun" })
	thresholds[i].calls(c)
	lines := 0
	for line := range strings.Lines(b.String()) {
		fields := strings.Fields(line)
		if len(fields) == 7 && fields[0] == "shortRun" {
			lines++
			if slices.Contains(fields, "NaN") || slices.Contains(fields, "+Inf") {
				t.Errorf("no figure: %s", line)
			}
		}
	}
	if want := len(c.cases) * (1 + len(thresholds[i].others(now.values["shortRun"]))); lines != want {
		t.Errorf("%d lines of figures, want %d:\n%s", lines, want, &b)
	}
	for _, want := range []string{"cpu: ", "commit: ", "go: ", "command: go test", "\nshortRun = ", "share of a core: "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	if err := tune(tunedShort, []string{"shortrun"}, thisMachine("go test"), &b, quiet()); err == nil || !strings.Contains(err.Error(), `"shortrun"`) {
		t.Errorf("%v, want an error about shortrun", err)
	}
}
