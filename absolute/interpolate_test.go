package absolute_test

import (
	"errors"
	"math"
	"slices"
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
	if len(v.Linear) != 6 || len(v.Bicubic) != 6 || len(v.Antialias) != 11 {
		t.Fatalf("%d, %d and %d cases, want 6, 6 and 11", len(v.Linear), len(v.Bicubic), len(v.Antialias))
	}
	compare := func(name string, got, want []float32, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if !(math.Abs(float64(got[i])-float64(want[i])) <= interpolationError) {
				t.Errorf("%s: element %d is %v, want %v", name, i, got[i], want[i])
			}
		}
	}
	for _, c := range v.Linear {
		want := testkit.Hex[float32](c.Dst)
		got := make([]float32, len(want))
		compare("linear", got, want, absolute.InterpolateTable(got, testkit.Hex[float32](c.Src), c.Dim))
	}
	for _, c := range v.Bicubic {
		want := testkit.Hex[float32](c.Dst)
		got := make([]float32, len(want))
		compare("bicubic", got, want, absolute.InterpolateGrid(got, testkit.Hex[float32](c.Src), absolute.GridOptions{DstHeight: c.To[0], DstWidth: c.To[1], SrcHeight: c.From[0], SrcWidth: c.From[1], Dim: c.Dim}))
	}
	for _, c := range v.Antialias {
		want := testkit.Hex[float32](c.Dst)
		got := make([]float32, len(want))
		compare("antialias", got, want, absolute.InterpolateGrid(got, testkit.Hex[float32](c.Src), absolute.GridOptions{DstHeight: c.To[0], DstWidth: c.To[1], SrcHeight: c.From[0], SrcWidth: c.From[1], Dim: c.Dim, Antialias: true}))
	}
}

// The options are those that the documentation of InterpolateGrid has for each model.
func TestInterpolateModels(t *testing.T) {
	options := map[string]absolute.GridOptions{
		"qwen3_vl":     {Bilinear: true, AlignCorners: true, MergeSize: 2},
		"inkling2":     {Bilinear: true, MergeSize: 2},
		"paddleocr_vl": {Bilinear: true},
		"muse_glimmer": {Bilinear: true, ZeroPadding: true},
		"muse_spark":   {Bilinear: true, ZeroPadding: true},
		"kimi_k25":     {},
	}
	v := loadLearned()
	if len(v.Models) != 6*len(options) {
		t.Fatalf("%d cases, want %d", len(v.Models), 6*len(options))
	}
	for _, c := range v.Models {
		o, ok := options[c.Model]
		if !ok {
			t.Fatalf("no options for %s", c.Model)
		}
		o.DstHeight, o.DstWidth, o.SrcHeight, o.SrcWidth, o.Dim = c.To[0], c.To[1], c.From[0], c.From[1], c.Dim
		if c.Model == "muse_spark" {
			o.DstHeight, o.DstWidth = o.DstWidth, o.DstHeight
		}
		want := testkit.Hex[float32](c.Dst)
		got := make([]float32, len(want))
		testkit.NoError(t, absolute.InterpolateGrid(got, testkit.Hex[float32](c.Src), o))
		for i := range want {
			if !(math.Abs(float64(got[i])-float64(want[i])) <= interpolationError) {
				t.Fatalf("%s, %v to %v: element %d is %v, want %v", c.Model, c.From, c.To, i, got[i], want[i])
			}
		}
	}
}

// Weights have the bits of transformers, and a grid that is interpolated with Float32 is their sum.
func TestGridWeightsVectors(t *testing.T) {
	var v struct {
		Weights []struct {
			Grids                        [][3]int // frames, height, width
			Side, Merge                  int
			Bicubic, AlignCorners, Zeros bool
			Indices                      []int32
			Weights                      []int32 // bits
		}
	}
	testkit.ReadJSON("testdata/learned/weights.json.gz", &v)
	if len(v.Weights) != 140 {
		t.Fatalf("%d vectors, want 140", len(v.Weights))
	}
	for i, c := range v.Weights {
		for _, grid := range c.Grids {
			o := absolute.GridOptions{DstHeight: grid[1], DstWidth: grid[2], SrcHeight: c.Side, SrcWidth: c.Side, Dim: 1,
				Bilinear: !c.Bicubic, AlignCorners: c.AlignCorners, ZeroPadding: c.Zeros, Float32: true, MergeSize: c.Merge}
			n := grid[1] * grid[2] * gridTaps(o)
			indices, weights := make([]int32, n), make([]float32, n)
			testkit.NoError(t, absolute.GridWeights(indices, weights, o))
			for range grid[0] {
				if !slices.Equal(indices, c.Indices[:n]) || !slices.EqualFunc(weights, c.Weights[:n], func(w float32, bits int32) bool { return math.Float32bits(w) == uint32(bits) }) {
					t.Fatalf("vector %d, %+v: %v by %v, want %v by %v", i, o, indices, weights, c.Indices[:n], c.Weights[:n])
				}
				c.Indices, c.Weights = c.Indices[n:], c.Weights[n:]
			}
			table, got := make([]float32, c.Side*c.Side), make([]float32, grid[1]*grid[2])
			for j := range table {
				table[j] = float32(j%7) - 3.3
			}
			testkit.NoError(t, absolute.InterpolateGrid(got, table, o))
			for p := range got {
				want := float32(0)
				for k := p * gridTaps(o); k < (p+1)*gridTaps(o); k++ {
					want += float32(weights[k] * table[indices[k]])
				}
				if got[p] != want {
					t.Fatalf("vector %d, %+v, patch %d: %v, want %v", i, o, p, got[p], want)
				}
			}
		}
		if len(c.Indices)+len(c.Weights) > 0 {
			t.Fatalf("vector %d: %d indices and %d weights are left", i, len(c.Indices), len(c.Weights))
		}
	}
}

// What interpolation has to keep: a table of the same size, one that is the same
// everywhere, the symmetry of a grid, and a straight line between its ends.
func TestInterpolateIdentities(t *testing.T) {
	r := testkit.NewRand(92)
	for round := range 100 {
		antialias := round%2 == 1
		h, w, dim := 1+r.IntN(9), 1+r.IntN(9), 1+r.IntN(4)
		toH, toW := 1+r.IntN(20), 1+r.IntN(20)
		src := make([]float32, h*w*dim)
		for i := range src {
			src[i] = 4*r.Float32() - 2
		}
		dst := make([]float32, len(src))
		if err := absolute.InterpolateGrid(dst, src, absolute.GridOptions{DstHeight: h, DstWidth: w, SrcHeight: h, SrcWidth: w, Dim: dim, Antialias: antialias}); err != nil || !slices.Equal(dst, src) {
			t.Fatalf("the same grid: got %v, %v, want %v", dst, err, src)
		}
		if err := absolute.InterpolateTable(dst, src, dim); err != nil || !slices.Equal(dst, src) {
			t.Fatalf("the same length: got %v, %v, want %v", dst, err, src)
		}
		to, mirrored := make([]float32, toH*toW*dim), make([]float32, toH*toW*dim)
		err := absolute.InterpolateGrid(to, src, absolute.GridOptions{DstHeight: toH, DstWidth: toW, SrcHeight: h, SrcWidth: w, Dim: dim, Antialias: antialias})
		turned := slices.Clone(src)
		reverseRows(turned, dim)
		err = errors.Join(err, absolute.InterpolateGrid(mirrored, turned, absolute.GridOptions{DstHeight: toH, DstWidth: toW, SrcHeight: h, SrcWidth: w, Dim: dim, Antialias: antialias}))
		reverseRows(mirrored, dim)
		for i := range to { // sums in another order, of products below 4 in float64, rounded to float32
			if err != nil || math.Abs(float64(to[i]-mirrored[i])) > 0x1p-21 {
				t.Fatalf("turned by 180 degrees: got %v, want %v (%v)", mirrored[i], to[i], err)
			}
		}
		for i := range src {
			src[i] = 1.5
		}
		if err := absolute.InterpolateGrid(to, src, absolute.GridOptions{DstHeight: toH, DstWidth: toW, SrcHeight: h, SrcWidth: w, Dim: dim, Antialias: antialias}); err != nil || slices.ContainsFunc(to, func(x float32) bool { return x != 1.5 }) {
			t.Fatalf("a constant: got %v, %v", to, err)
		}
	}
	line := []float32{0, 8, 16, 24}
	got := make([]float32, 8)
	if err := absolute.InterpolateTable(got, line, 1); err != nil || !slices.Equal(got, []float32{0, 2, 6, 10, 14, 18, 22, 24}) {
		t.Errorf("a line: got %v, %v", got, err)
	}
}

func reverseRows(x []float32, dim int) {
	slices.Reverse(x)
	for i := 0; i < len(x); i += dim {
		slices.Reverse(x[i : i+dim])
	}
}
