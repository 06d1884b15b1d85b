package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/color"
	"image/png"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/test/kit"
	"gonum.org/v1/plot/vg"
)

// sample is charts with as many curves as there may be, with names that need several lines.
func sample(curves int) []Chart {
	lines := Chart{Name: "lines", Title: "Lines", X: Axis{"x", true}, Y: Axis{"y", false}, Levels: []Level{{"level 3", 3, false}, {"level 3.1", 3.1, false}, {"upright", 5, true}}}
	tables := Chart{Name: "tables", Title: "Tables"}
	for i := range curves {
		label := Label{Model: strings.Repeat("model ", 5), Kind: "kind"}
		lines.Curves = append(lines.Curves, Curve{label, []float64{1, 10, 100}, []float64{float64(i), float64(i) + 0.5, float64(i)}})
		tables.Tables = append(tables.Tables, Table{label, 2, []float32{-1, 1, 1, -1}})
	}
	return []Chart{lines, tables}
}

func written(t *testing.T, name string, charts []Chart) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	kit.NoError(t, WritePicture(path, charts))
	return kit.ReadGolden(path)
}

func TestPNG(t *testing.T) {
	for _, curves := range []int{1, 3, MaxCurves} {
		img := kit.Must(png.Decode(bytes.NewReader(written(t, "p.png", sample(curves)))))
		count := make(map[color.Color]int)
		bounds := img.Bounds()
		for y := range bounds.Dy() {
			for x := range bounds.Dx() {
				count[img.At(x, y)]++
			}
		}
		for i, c := range colours[:curves] {
			// A swatch of the legend and a line have that many pixels.
			if n := count[c]; n < 200 {
				t.Errorf("%d curves: %d pixels in the colour of curve %d", curves, n, i)
			}
		}
	}
}

func TestSVG(t *testing.T) {
	data := written(t, "p.svg", sample(MaxCurves))
	d := xml.NewDecoder(bytes.NewReader(data))
	texts := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			texts += string(text) + "\n"
		}
	}
	for _, want := range []string{"Lines\n", "Tables\n", "level 3, 3.1\n", "upright\n"} {
		if !strings.Contains(texts, want) {
			t.Errorf("no text %q", want)
		}
	}
}

// TestLegend: entries do not overlap, and none is beyond the width.
func TestLegend(t *testing.T) {
	const most = 700 * pixel
	l := newLegend(sample(MaxCurves)[0].labels(), most)
	entries := 0
	for _, line := range l.lines {
		end := vg.Length(0)
		for _, e := range line {
			entries++
			if e.x < end {
				t.Errorf("%q begins at %v, before %v", e.name, e.x, end)
			}
			end = e.x + swatchWidth + l.style.Width(e.name)
		}
		if end > most {
			t.Errorf("a line of %v", end)
		}
	}
	if entries != MaxCurves {
		t.Errorf("%d entries", entries)
	}
}

// TestNothing: curves without points, or with one, are drawn too.
func TestNothing(t *testing.T) {
	for _, points := range [][]float64{nil, {1}} {
		written(t, "p.png", []Chart{{Curves: []Curve{{X: points, Y: points}}}})
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1: "1", 0.015: "0.015", 1e-7: "1e-7", 131072: "131k", 999.9: "1k", 2.5e6: "2.5M", -2000: "-2k"} {
		if got := number(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}
