package absolute_test

import (
	"math"
	"testing"

	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
)

// PyTorch takes coordinates and sums in float32: of tables below 4 in
// magnitude and coordinates up to 16 that is some roundings of 2^-20 times their
// slopes, below 2^-17 together.
const interpolationError = 0x1p-17

func TestInterpolateVectors(t *testing.T) {
	v := loadLearned()
	if len(v.Linear) != 6 || len(v.Bicubic) != 6 || len(v.Antialias) != 11 || len(v.Models) != 36 {
		t.Fatalf("%d, %d, %d and %d cases, want 6, 6, 11 and 36", len(v.Linear), len(v.Bicubic), len(v.Antialias), len(v.Models))
	}
	compare := func(c *learnedGrid, interpolate func(dst, src []float32) error) {
		t.Helper()
		want := testkit.Hex[float32](c.Dst)
		got := make([]float32, len(want))
		testkit.NoError(t, interpolate(got, testkit.Hex[float32](c.Src)))
		for i := range want {
			if !(math.Abs(float64(got[i])-float64(want[i])) <= interpolationError) {
				t.Fatalf("%s, %v to %v: element %d is %v, want %v", c.Model, c.From, c.To, i, got[i], want[i])
			}
		}
	}
	grids := func(cases []learnedGrid, optionsOf func(model string) absolute.InterpolateGridOptions) {
		t.Helper()
		for _, c := range cases {
			o := optionsOf(c.Model)
			o.DstHeight, o.DstWidth, o.SrcHeight, o.SrcWidth, o.Dim = c.To[0], c.To[1], c.From[0], c.From[1], c.Dim
			if c.Model == "muse_spark" {
				o.DstHeight, o.DstWidth = o.DstWidth, o.DstHeight
			}
			compare(&c, func(dst, src []float32) error { return absolute.InterpolateGrid(dst, src, o) })
		}
	}
	for _, c := range v.Linear {
		compare(&c, func(dst, src []float32) error { return absolute.InterpolateTable(dst, src, c.Dim) })
	}
	grids(v.Bicubic, func(string) absolute.InterpolateGridOptions { return absolute.InterpolateGridOptions{} })
	grids(v.Antialias, func(string) absolute.InterpolateGridOptions {
		return absolute.InterpolateGridOptions{Antialias: true}
	})
	// The options are those that the documentation of InterpolateGrid has for each model.
	grids(v.Models, func(model string) absolute.InterpolateGridOptions {
		o, ok := map[string]absolute.InterpolateGridOptions{
			"qwen3_vl":     {Bilinear: true, AlignCorners: true, MergeSize: 2},
			"inkling2":     {Bilinear: true, MergeSize: 2},
			"paddleocr_vl": {Bilinear: true},
			"muse_glimmer": {Bilinear: true, ZeroPadding: true},
			"muse_spark":   {Bilinear: true, ZeroPadding: true},
			"kimi_k25":     {},
		}[model]
		if !ok {
			t.Fatalf("no options for %s", model)
		}
		return o
	})
}
