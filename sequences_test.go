package posenc_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// [batch][heads][tokens][dim] in one call is a call for each sequence.
func TestSequences(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(110)
		for _, tt := range []struct{ batch, heads, tokens int }{{1, 2, 5}, {3, 2, 7}, {4, 1, 16}, {2, 3, 33}, {20, 2, 1}, {5, 8, 3}} {
			for _, layout := range allLayouts {
				const dim = 24
				rotary := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: dim, Layout: layout})
				positions := testkit.RandomPositions(r, "runs", tt.batch*tt.tokens)
				size := tt.heads * tt.tokens * dim
				got := testkit.RandomElements[float32](r, tt.batch*size)
				want := slices.Clone(got)
				err := posenc.Rotate(rotary.At(positions), posenc.View[float32]{Data: got, Heads: tt.heads, TokenStride: dim, HeadStride: tt.tokens * dim, SequenceTokens: tt.tokens, SequenceStride: size})
				for b := range tt.batch {
					err = errors.Join(err, posenc.Rotate(rotary.At(positions[b*tt.tokens:][:tt.tokens]), posenc.View[float32]{Data: want[b*size:][:size], Heads: tt.heads, TokenStride: dim, HeadStride: tt.tokens * dim}))
				}
				if err != nil {
					t.Fatal(err)
				}
				if !testkit.SameSlices(got, want) {
					t.Errorf("%+v, layout %d: one call gives other bits", tt, layout)
				}
			}
		}
	})
}

// Q, K and V of [batch][heads][tokens][dim] in turns: Q alone, K alone, or both.
func TestSequencesOfPackedQKV(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(111)
		const batch, heads, keyHeads, tokens, dim = 3, 4, 2, 5, 16
		const sequence = (heads + 2*keyHeads) * tokens * dim
		rotary := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: dim})
		positions := testkit.RandomPositions(r, "runs", batch*tokens)
		x := testkit.RandomElements[float32](r, batch*sequence)
		of := func(x []float32, start, heads int) posenc.View[float32] {
			return posenc.View[float32]{Data: x[start:], Heads: heads, TokenStride: dim, HeadStride: tokens * dim, SequenceTokens: tokens, SequenceStride: sequence}
		}
		both, apart := slices.Clone(x), slices.Clone(x)
		err := errors.Join(
			posenc.Rotate(rotary.At(positions), of(both, 0, heads), of(both, heads*tokens*dim, keyHeads)),
			posenc.Rotate(rotary.At(positions), of(apart, 0, heads)),
			posenc.Rotate(rotary.At(positions), of(apart, heads*tokens*dim, keyHeads)),
		)
		if err != nil {
			t.Fatal(err)
		}
		if !testkit.SameSlices(both, apart) {
			t.Error("Q and K in one call become others than one after the other")
		}
		for b := range batch {
			values := b*sequence + (heads+keyHeads)*tokens*dim
			if !slices.EqualFunc(both[values:][:keyHeads*tokens*dim], x[values:][:keyHeads*tokens*dim], func(a, b float32) bool { return testkit.BitsOf(a) == testkit.BitsOf(b) }) {
				t.Errorf("the values of sequence %d changed", b)
			}
			if testkit.SameSlices(both[b*sequence:][:dim], x[b*sequence:][:dim]) {
				t.Errorf("the queries of sequence %d did not change", b)
			}
		}
	})
}

func TestSequencesErrors(t *testing.T) {
	const dim = 8
	data := make([]float32, 512)
	rotary := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: dim})
	positions := []int32{1, 2, 3, 4, 5, 6}
	good := V{Data: data[:96], Heads: 2, TokenStride: dim, HeadStride: 3 * dim, SequenceTokens: 3, SequenceStride: 6 * dim}
	change := func(f func(v *V)) V {
		v := good
		f(&v)
		return v
	}
	views := func(name string, kind error, says string, xs ...V) testkit.Wrong {
		return testkit.Wrong{Name: name, Call: func() error { return posenc.Rotate(rotary.At(positions), xs...) }, Kind: kind, Says: []string{"posenc.Rotate: " + says}}
	}
	testkit.CheckWrong(t, []testkit.Wrong{
		views("tokens without stride", posenc.ErrShape, "xs[0].SequenceTokens is 3, want 0 where SequenceStride is 0", change(func(v *V) { v.SequenceStride = 0 })),
		views("negative tokens without stride", posenc.ErrShape, "xs[0].SequenceTokens is -1, want 0", change(func(v *V) { v.SequenceStride, v.SequenceTokens = 0, -1 })),
		views("stride without tokens", posenc.ErrShape, "xs[0].SequenceTokens is 0, want at least 1 where SequenceStride is 48", change(func(v *V) { v.SequenceTokens = 0 })),
		views("negative tokens", posenc.ErrShape, "xs[0].SequenceTokens is -3", change(func(v *V) { v.SequenceTokens = -3 })),
		views("negative stride", posenc.ErrShape, "xs[0].SequenceStride is -48", change(func(v *V) { v.SequenceStride = -48 })),
		views("least stride", posenc.ErrShape, "xs[0].SequenceStride is -", change(func(v *V) { v.SequenceStride = math.MinInt })),
		views("part of a sequence", posenc.ErrShape, "xs[0].SequenceTokens is 4, want a divisor of the number of tokens, 6", change(func(v *V) { v.SequenceTokens = 4 })),
		views("longer than the tokens", posenc.ErrShape, "xs[0].SequenceTokens is 7, want a divisor", change(func(v *V) { v.SequenceTokens = 7 })),
		views("too short", posenc.ErrLength, "xs[0].Data is 95 elements, want at least 96 for 6 tokens of 2 heads of 8 at SequenceStride 48, TokenStride 8 and HeadStride 24", change(func(v *V) { v.Data = data[:95] })),
		views("huge stride", posenc.ErrLength, "xs[0].Data is 96 elements", change(func(v *V) { v.SequenceStride = math.MaxInt })),
		views("stride that wraps", posenc.ErrLength, "xs[0].Data is 96 elements", change(func(v *V) { v.SequenceStride, v.SequenceTokens = math.MaxInt/2+1, 2 })),
		views("sequences overlap", posenc.ErrOverlap, "xs[0].TokenStride is 8, want heads of 8 that do not overlap, with 2 heads at HeadStride 24 and 2 sequences at SequenceStride 47", change(func(v *V) { v.SequenceStride = 47 })),
		views("sequences are one", posenc.ErrOverlap, "xs[0].TokenStride is 8", change(func(v *V) { v.SequenceStride = 8 })),
		views("another view", posenc.ErrOverlap, "xs[1] is sharing elements with xs[0]", good, V{Data: data[95:], Heads: 1, TokenStride: dim}),
		views("another view between", posenc.ErrOverlap, "xs[1] is sharing elements with xs[0]", change(func(v *V) { v.Data, v.SequenceStride = data, 100 }), V{Data: data[48:], Heads: 1, TokenStride: 53}),
	}, data)
	for name, xs := range map[string][]V{
		"good":         {good},
		"longer":       {change(func(v *V) { v.Data = data })},
		"between":      {change(func(v *V) { v.Data, v.SequenceStride = data, 100 }), {Data: data[48:], Heads: 1, TokenStride: dim}},
		"one sequence": {change(func(v *V) { v.HeadStride, v.SequenceTokens, v.SequenceStride = 48, 6, 1 })},
	} {
		if err := posenc.Rotate(rotary.At(positions), xs...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := posenc.Rotate(rotary.At(nil), change(func(v *V) { v.Data = nil })); err != nil {
		t.Errorf("no tokens: %v", err)
	}
	if err := posenc.Rotate(rotary.At(nil), change(func(v *V) { v.SequenceTokens = 0 })); !errors.Is(err, posenc.ErrShape) {
		t.Errorf("no tokens in sequences of none: %v", err)
	}
}

// Sequences of a batch with padding on the left: negative positions rotate as
// any others, and what the padding holds reaches no token.
func TestLeftPadding(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		const batch, tokens, dim = 3, 6, 16
		r := testkit.NewRand(114)
		rotary := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: dim})
		padding := []int32{0, 2, 5}
		positions := make([]int32, batch*tokens)
		if err := posenc.RaggedPositions(positions, []int32{0, tokens, 2 * tokens, 3 * tokens}, []int32{-padding[0], -padding[1], -padding[2]}); err != nil {
			t.Fatal(err)
		}
		x := testkit.RandomElements[float32](r, batch*tokens*dim)
		got := slices.Clone(x)
		if err := posenc.Rotate(rotary.At(positions), posenc.View[float32]{Data: got, Heads: 1}); err != nil {
			t.Fatal(err)
		}
		for b, n := range padding {
			first := (b*tokens + int(n)) * dim
			want := slices.Clone(x[first : (b+1)*tokens*dim])
			count := make([]int32, tokens-int(n))
			testkit.CountFrom(count, 0, 1)
			if err := posenc.Rotate(rotary.At(count), posenc.View[float32]{Data: want, Heads: 1}); err != nil {
				t.Fatal(err)
			}
			if !testkit.SameSlices(got[first:(b+1)*tokens*dim], want) {
				t.Errorf("sequence %d with %d tokens of padding is rotated otherwise than without", b, n)
			}
		}
	})
}
