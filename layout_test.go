package posenc_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

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
