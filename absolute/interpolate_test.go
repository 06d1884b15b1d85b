package absolute_test

import (
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
	// The options are those that the documentation of InterpolateGrid has for each model.
	options := map[string]absolute.InterpolateGridOptions{
		"qwen3_vl":     {Bilinear: true, AlignCorners: true, MergeSize: 2},
		"inkling2":     {Bilinear: true, MergeSize: 2},
		"paddleocr_vl": {Bilinear: true},
		"muse_glimmer": {Bilinear: true, ZeroPadding: true},
		"muse_spark":   {Bilinear: true, ZeroPadding: true},
		"kimi_k25":     {},
	}
	v := loadLearned()
	for i, list := range [][]learnedGrid{v.Linear, v.Bicubic, v.Antialias, v.Models} {
		if want := []int{6, 6, 11, 36}[i]; len(list) != want {
			t.Fatalf("list %d: %d cases, want %d", i, len(list), want)
		}
		for _, c := range list {
			o, known := options[c.Model]
			o.DstHeight, o.DstWidth, o.SrcHeight, o.SrcWidth, o.Dim, o.Antialias = c.To[0], c.To[1], c.From[0], c.From[1], c.Dim, i == 2
			if c.Model == "muse_spark" {
				o.DstHeight, o.DstWidth = o.DstWidth, o.DstHeight
			}
			want, src := testkit.Hex[float32](c.Dst), testkit.Hex[float32](c.Src)
			got := make([]float32, len(want))
			if i == 0 {
				testkit.NoError(t, absolute.InterpolateTable(got, src, c.Dim))
			} else {
				testkit.NoError(t, absolute.InterpolateGrid(got, src, o))
			}
			for j := range want {
				if !known && i == 3 || !(math.Abs(float64(got[j])-float64(want[j])) <= interpolationError) {
					t.Fatalf("list %d, %s, %v to %v: element %d is %v, want %v", i, c.Model, c.From, c.To, j, got[j], want[j])
				}
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
			o := absolute.InterpolateGridOptions{DstHeight: grid[1], DstWidth: grid[2], SrcHeight: c.Side, SrcWidth: c.Side, Dim: 1,
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
