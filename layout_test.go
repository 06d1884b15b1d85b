package posenc_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// crossing are the layouts that write another order than they read.
var crossing = []posenc.Layout{posenc.InterleavedToHalfSplit, posenc.HalfSplitToInterleaved}

// At position 0 a crossing layout is the permutation alone, and its inverse
// undoes it: no element changes but for its place.
func TestLayoutCrossingAtZero(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, layout := range crossing {
			const dim = 12
			x := make([]float32, dim)
			for i := range x {
				x[i] = float32(i + 1)
			}
			want := map[posenc.Layout][]float32{
				posenc.InterleavedToHalfSplit: {1, 3, 5, 7, 9, 11, 2, 4, 6, 8, 10, 12},
				posenc.HalfSplitToInterleaved: {1, 7, 2, 8, 3, 9, 4, 10, 5, 11, 6, 12},
			}[layout]
			rotary, v := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: layout}), posenc.View[float32]{Data: x, Heads: 1}
			if err := posenc.Rotate(rotary.At([]int32{0}), v); err != nil || !slices.Equal(x, want) {
				t.Errorf("layout %d: got %v, want %v, error %v", layout, x, want, err)
			}
			if err := posenc.RotateInverse(rotary.At([]int32{0}), v); err != nil || x[0] != 1 || x[5] != 6 || !slices.IsSorted(x) {
				t.Errorf("layout %d: the inverse gave %v, error %v", layout, x, err)
			}
		}
	})
}

// transformers 5.23.0, apply_rotary_pos_emb_interleave of DeepSeek V3, for
// [batch 1][heads][tokens 2][dim 6] and numbers with which float32 is exact.
func TestLayoutDeepSeekV3(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		const tokens, dim = 2, 6
		rows, err := posenc.NewRows(posenc.RowsConfig{HeadDim: dim, Layout: posenc.InterleavedToHalfSplit}, posenc.Table[float32]{
			Cos: []float32{0.5, -0.25, 2, 1, 0.75, -1.5},
			Sin: []float32{2, 0.125, -1, -0.5, 3, 0.25},
		})
		if err != nil {
			t.Fatal(err)
		}
		q := []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24}
		k := []float32{-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12}
		heads := func(x []float32) posenc.View[float32] {
			return posenc.View[float32]{Data: x, Heads: len(x) / (tokens * dim), TokenStride: dim, HeadStride: tokens * dim}
		}
		testkit.NoError(t, posenc.Rotate(rows.All(), heads(q), heads(k)))
		wantQ := []float32{
			-3.5, -1.25, 16, 3, -0.625, 7, 11, -23.25, -19.5, 4.5, 34.5, -15.25,
			-21.5, -5.75, 52, 33, -2.125, 19, 29, -50.25, -40.5, 10.5, 79.5, -30.25,
		}
		wantK := []float32{3.5, 1.25, -16, -3, 0.625, -7, -11, 23.25, 19.5, -4.5, -34.5, 15.25}
		if !slices.Equal(q, wantQ) || !slices.Equal(k, wantK) {
			t.Errorf("got %v and %v, want %v and %v", q, k, wantQ, wantK)
		}
	})
}

// Rows of cosines and sines fit scratch memory, whatever the layout.
func TestWidestRotation(t *testing.T) {
	var calls []testkit.Wrong
	for _, layout := range allLayouts {
		for _, cfg := range []posenc.RowsConfig{
			{HeadDim: 2050, Layout: layout},
			{HeadDim: 4000, RotaryDim: 2052, Offset: 7, Layout: layout},
			{HeadDim: 65536, Layout: layout},
		} {
			dim := cfg.RotaryDim
			if dim == 0 {
				dim = cfg.HeadDim
			}
			says := fmt.Sprintf("cfg.RotaryDim is %d, want at most 2048", dim)
			name := fmt.Sprint("layout=", layout, "/dim=", dim)
			calls = append(calls,
				testkit.Wrong{Name: name, Call: func() error {
					_, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: cfg.HeadDim, RotaryDim: cfg.RotaryDim, Offset: cfg.Offset, Layout: layout})
					return err
				}, Kind: posenc.ErrConfig, Says: []string{"posenc.NewRotary: " + says}},
				testkit.Wrong{Name: name + "/rows", Call: func() error { _, err := posenc.NewRows(cfg, posenc.Table[float32]{}); return err }, Kind: posenc.ErrConfig, Says: []string{"posenc.NewRows: " + says}},
			)
		}
		testkit.MustRotary(posenc.RotaryConfig{HeadDim: 4096, RotaryDim: 2048, Layout: layout})
		if _, err := posenc.NewRows(posenc.RowsConfig{HeadDim: 4096, RotaryDim: 2048, Layout: layout}, posenc.Table[float32]{}); err != nil {
			t.Error(err)
		}
	}
	testkit.CheckWrong(t, calls)
}

// Constants print as what they are called, other values with their number.
func TestNames(t *testing.T) {
	for value, want := range map[fmt.Stringer]string{
		posenc.HalfSplit: "HalfSplit", posenc.Interleaved: "Interleaved", posenc.InterleavedToHalfSplit: "InterleavedToHalfSplit",
		posenc.HalfSplitToInterleaved: "HalfSplitToInterleaved", posenc.Layout(9): "Layout(9)",
	} {
		if got := fmt.Sprint(value); got != want {
			t.Errorf("%T %s, want %s", value, got, want)
		}
	}
}
