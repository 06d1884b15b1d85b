package posenc_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/internal/view"

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
		view := func(x []float32, start, heads int) posenc.View[float32] {
			return posenc.View[float32]{Data: x[start:], Heads: heads, TokenStride: dim, HeadStride: tokens * dim, SequenceTokens: tokens, SequenceStride: sequence}
		}
		both, apart := slices.Clone(x), slices.Clone(x)
		err := errors.Join(
			posenc.Rotate(rotary.At(positions), view(both, 0, heads), view(both, heads*tokens*dim, keyHeads)),
			posenc.Rotate(rotary.At(positions), view(apart, 0, heads)),
			posenc.Rotate(rotary.At(positions), view(apart, heads*tokens*dim, keyHeads)),
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

// spotsOf returns the elements of memory that a view touches, from rowAt. unique
// is false where two rows share one.
func spotsOf(v *posenc.View[float32], start, tokens, dim int) (touched map[int]bool, unique bool) {
	touched, unique = map[int]bool{}, true
	for t := range tokens {
		for h := range v.Heads {
			for i := range dim {
				at := start + testkit.RowAt(v, t, h, dim) + i
				unique = unique && !touched[at]
				touched[at] = true
			}
		}
	}
	return touched, unique
}

// randomSequences returns a small view in sequences whose rows often nearly
// touch.
func randomSequences(r *rand.Rand, dim int) (v posenc.View[float32], tokens int) {
	v = randomView(r, dim)
	v.SequenceTokens, v.SequenceStride = 1+r.IntN(4), 1+r.IntN(60)
	if r.IntN(4) == 0 {
		v.SequenceStride = 1 + r.IntN(400)
	}
	return v, v.SequenceTokens * (1 + r.IntN(4))
}

// Rows of sequences overlap exactly when a bitmap says so.
func TestSequencesOverlapThemselves(t *testing.T) {
	r := testkit.NewRand(112)
	memory := make([]float32, 4096)
	apart := 0
	const n = 50000
	for range testkit.Rounds(n) {
		dim := 1 + r.IntN(6)
		v, tokens := randomSequences(r, dim)
		touched, unique := spotsOf(&v, 0, tokens, dim)
		v.Data = memory[:end(touched)]
		if unique {
			apart++
		}
		if p := v.grid(&view.Grid{}, tokens, dim); (p == view.None) != unique {
			v.Data = nil
			t.Fatalf("%d tokens of dim %d, %+v: got problem %d, rows share elements: %t", tokens, dim, v, p, !unique)
		}
		v.Data = v.Data[:len(v.Data)-1]
		if p := v.grid(&view.Grid{}, tokens, dim); p != view.ShortData {
			t.Fatalf("%d tokens of dim %d, %+v: got problem %d for an element too few", tokens, dim, v, p)
		}
	}
	if share := apart * 100 / testkit.Rounds(n); share < 10 || share > 90 {
		t.Errorf("%d%% of the views have rows apart: the test is one-sided", share)
	}
}

// Two views in sequences overlap exactly when a bitmap says so; one of them may
// have no sequences or others.
func TestSequencesOverlapEachOther(t *testing.T) {
	r := testkit.NewRand(113)
	memory := make([]float32, 8192)
	overlapping, accepted := 0, 0
	for accepted < testkit.Rounds(10000) {
		dim := 1 + r.IntN(6)
		a, tokens := randomSequences(r, dim)
		b, others := randomSequences(r, dim)
		switch r.IntN(4) {
		case 0: // packed QKV and kin: equal strides
			heads := b.Heads
			b = a
			b.Heads = heads
		case 1:
			b.SequenceTokens, b.SequenceStride = 0, 0
		case 2:
			b.SequenceTokens = a.SequenceTokens
		default:
			tokens *= others
			if tokens%b.SequenceTokens != 0 || tokens > 16 {
				continue
			}
		}
		startA, startB := r.IntN(150), r.IntN(150)
		inA, uniqueA := spotsOf(&a, startA, tokens, dim)
		inB, uniqueB := spotsOf(&b, startB, tokens, dim)
		if !uniqueA || !uniqueB {
			continue
		}
		accepted++
		a.Data, b.Data = memory[startA:end(inA)], memory[startB:end(inB)]
		if p, q := a.grid(&view.Grid{}, tokens, dim), b.grid(&view.Grid{}, tokens, dim); p != view.None || q != view.None {
			t.Fatal(p, q)
		}
		want := share(inA, inB)
		if want {
			overlapping++
		}
		if got := view.Overlap(&a, &b, tokens, dim); got != want {
			a.Data, b.Data = nil, nil
			t.Fatalf("%d tokens of dim %d: %+v from %d, %+v from %d: got %t, want %t", tokens, dim, a, startA, b, startB, got, want)
		}
		if got := view.Overlap(&b, &a, tokens, dim); got != want {
			t.Fatalf("%d tokens of dim %d: the other way round got %t, want %t", tokens, dim, got, want)
		}
	}
	if share := overlapping * 100 / accepted; share < 10 || share > 90 {
		t.Errorf("%d%% of the pairs overlap: the test is one-sided", share)
	}
}

// Sizes that overflow an int are errors, whatever they wrap to.
func TestSequencesSizeOverflow(t *testing.T) {
	sizes := []int{1, 3, 1 << 16, math.MaxInt32, math.MaxInt/2 + 1, math.MaxInt}
	memory := make([]float32, 64)
	for _, tokens := range []int{1, 4, 1 << 16, math.MaxInt32 - 1} {
		for _, dim := range []int{2, 1 << 16, math.MaxInt} {
			for _, heads := range sizes {
				for _, tokenStride := range append(sizes, 0) {
					for _, headStride := range append(sizes, 0) {
						for _, sequenceStride := range sizes {
							for _, sequenceTokens := range []int{1, 2, tokens} {
								v := posenc.View[float32]{Data: memory, Heads: heads, TokenStride: tokenStride, HeadStride: headStride, SequenceTokens: sequenceTokens, SequenceStride: sequenceStride}
								if p := v.grid(&view.Grid{}, tokens, dim); p == view.None && !sequencesFit(&v, tokens, dim) {
									v.Data = nil
									t.Fatalf("%d tokens of dim %d, %+v pass for %d elements", tokens, dim, v, len(memory))
								}
							}
						}
					}
				}
			}
		}
	}
}

// sequencesFit is fits for a view in sequences.
func sequencesFit(v *posenc.View[float32], tokens, dim int) bool {
	tokenStride, headStride := float64(v.TokenStride), float64(v.HeadStride)
	if tokenStride == 0 {
		tokenStride = float64(v.Heads) * float64(dim)
	}
	if headStride == 0 {
		headStride = float64(dim)
	}
	last := float64(tokens/v.SequenceTokens-1)*float64(v.SequenceStride) + float64(v.SequenceTokens-1)*tokenStride + float64(v.Heads-1)*headStride + float64(dim)
	return last <= float64(len(v.Data))
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
		return testkit.Wrong{name, func() error { return posenc.Rotate(rotary.At(positions), xs...) }, kind, []string{"posenc.Rotate: " + says}}
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
		views("too short", posenc.ErrLength, "xs[0].Data is 95 elements, want at least 96 for 6 tokens of 2 heads of 8 at strides 48, 8 and 24", change(func(v *V) { v.Data = data[:95] })),
		views("huge stride", posenc.ErrLength, "xs[0].Data is 96 elements", change(func(v *V) { v.SequenceStride = math.MaxInt })),
		views("stride that wraps", posenc.ErrLength, "xs[0].Data is 96 elements", change(func(v *V) { v.SequenceStride, v.SequenceTokens = math.MaxInt/2+1, 2 })),
		views("sequences overlap", posenc.ErrOverlap, "xs[0].TokenStride is 8, want rows of 8 that do not overlap, with 2 heads at HeadStride 24 and 2 sequences at SequenceStride 47", change(func(v *V) { v.SequenceStride = 47 })),
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
	if err := posenc.Rotate(rotary.All(), change(func(v *V) { v.Data = nil })); err != nil {
		t.Errorf("no tokens: %v", err)
	}
	if err := posenc.Rotate(rotary.All(), change(func(v *V) { v.SequenceTokens = 0 })); !errors.Is(err, posenc.ErrShape) {
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
