package view_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/internal/view"
)

// spots returns the elements of memory that a view touches, from the formula
// in the documentation of posenc.View, where its Data starts at element start. unique
// is false where two rows share one.
func spots(v *view.View[float32], start, tokens, dim int) (touched map[int]bool, unique bool) {
	touched, unique = map[int]bool{}, true
	tokenStride, headStride := v.TokenStride, v.HeadStride
	if tokenStride == 0 {
		tokenStride = v.Heads * dim
	}
	if headStride == 0 {
		headStride = dim
	}
	for t := range tokens {
		at := start
		number := t
		if v.SequenceStride > 0 {
			at, number = at+t/v.SequenceTokens*v.SequenceStride, t%v.SequenceTokens
		}
		for h := range v.Heads {
			for i := range dim {
				element := at + number*tokenStride + h*headStride + i
				unique = unique && !touched[element]
				touched[element] = true
			}
		}
	}
	return touched, unique
}

// end returns the elements up to the last of touched.
func end(touched map[int]bool) int {
	last := -1
	for at := range touched {
		last = max(last, at)
	}
	return last + 1
}

func share(a, b map[int]bool) bool {
	for at := range a {
		if b[at] {
			return true
		}
	}
	return false
}

// randomView returns a small one whose rows often nearly touch.
func randomView(r *rand.Rand, dim int) view.View[float32] {
	v := view.View[float32]{Heads: 1 + r.IntN(4)}
	if r.IntN(4) != 0 {
		v.TokenStride = 1 + r.IntN(30)
	}
	if r.IntN(4) != 0 {
		v.HeadStride = 1 + r.IntN(30)
	}
	return v
}

// Rows of a view overlap exactly when a bitmap says so.
func TestViewOverlapsItself(t *testing.T) {
	r := testkit.NewRand(10)
	var memory [512]float32
	overlapping := 0
	const n = 200000
	for range testkit.Rounds(n) {
		tokens, dim := 1+r.IntN(5), 1+r.IntN(6)
		v := randomView(r, dim)
		touched, unique := spots(&v, 0, tokens, dim)
		v.Data = memory[:end(touched)]
		if !unique {
			overlapping++
		}
		if p := v.Grid(&view.Grid{}, tokens, dim); (p == view.None) != unique {
			t.Fatalf("%d tokens of dim %d, %d heads at strides %d and %d: got problem %d, rows share elements: %t", tokens, dim, v.Heads, v.TokenStride, v.HeadStride, p, !unique)
		}
	}
	if share := overlapping * 100 / testkit.Rounds(n); share < 20 || share > 80 {
		t.Errorf("%d%% of the views overlap: the test is one-sided", share)
	}
}

// Two views overlap exactly when a bitmap says so.
func TestViewsOverlapEachOther(t *testing.T) {
	r := testkit.NewRand(11)
	memory := make([]float32, 1024)
	overlapping, accepted := 0, 0
	for accepted < testkit.Rounds(100000) {
		tokens, dim := 1+r.IntN(5), 1+r.IntN(6)
		a, b := randomView(r, dim), randomView(r, dim)
		switch r.IntN(4) {
		case 0: // heads of Q, K and V by turns
			b.TokenStride = a.TokenStride
		case 1, 2: // packed QKV and kin: equal strides
			b.TokenStride, b.HeadStride = a.TokenStride, a.HeadStride
		}
		startA, startB := r.IntN(60), r.IntN(60)
		inA, uniqueA := spots(&a, startA, tokens, dim)
		inB, uniqueB := spots(&b, startB, tokens, dim)
		if !uniqueA || !uniqueB {
			continue
		}
		accepted++
		a.Data, b.Data = memory[startA:end(inA)], memory[startB:end(inB)]
		problemA := a.Grid(&view.Grid{}, tokens, dim)
		problemB := b.Grid(&view.Grid{}, tokens, dim)
		if problemA != view.None || problemB != view.None {
			t.Fatal(problemA, problemB)
		}
		want := share(inA, inB)
		if want {
			overlapping++
		}
		if got := view.Overlap(&a, &b, tokens, dim); got != want {
			t.Fatalf("%d tokens of dim %d: %d heads at strides %d and %d from %d, %d heads at strides %d and %d from %d: got %t, want %t",
				tokens, dim, a.Heads, a.TokenStride, a.HeadStride, startA, b.Heads, b.TokenStride, b.HeadStride, startB, got, want)
		}
	}
	if share := overlapping * 100 / accepted; share < 20 || share > 80 {
		t.Errorf("%d%% of the pairs overlap: the test is one-sided", share)
	}
}

// Heads of different strides are compared in time that grows with their number:
// with its square, this test would not end.
func TestViewsOverlapManyHeads(t *testing.T) {
	const heads = 1 << 20
	memory := make([]float32, 3*heads)
	a := view.View[float32]{Data: memory, Heads: heads, HeadStride: 3}
	b := view.View[float32]{Data: memory[2:], Heads: heads / 2, HeadStride: 6}
	if view.Overlap(&a, &b, 1, 1) || view.Overlap(&b, &a, 1, 1) || !view.Overlap(&a, &b, 1, 2) || !view.Overlap(&b, &a, 1, 2) {
		t.Error("rows of 1 element lie apart, rows of 2 share one")
	}
	b.Data = memory[len(memory)-2:]
	b.Heads = 1
	if view.Overlap(&a, &b, 1, 1) || !view.Overlap(&a, &b, 1, 2) {
		t.Error("the last element but one is in a row of 2, in none of 1")
	}
}

// Data has to reach exactly to the last element of the last row, and for a
// packed view to hold nothing more.
func TestViewLength(t *testing.T) {
	r := testkit.NewRand(12)
	var memory [512]float32
	for range testkit.Rounds(20000) {
		tokens, dim := 1+r.IntN(5), 1+r.IntN(6)
		v := randomView(r, dim)
		touched, unique := spots(&v, 0, tokens, dim)
		if !unique {
			continue
		}
		packed := v.TokenStride == 0 && v.HeadStride == 0
		n := end(touched)
		for _, length := range []int{0, n - 1, n, n + 1} {
			v.Data = memory[:length]
			want := length == n || length > n && !packed
			if p := v.Grid(&view.Grid{}, tokens, dim); (p == view.None) != want {
				t.Fatalf("%d tokens of dim %d, %d heads at strides %d and %d in %d elements of %d: got problem %d", tokens, dim, v.Heads, v.TokenStride, v.HeadStride, length, n, p)
			}
		}
	}
}

// Sizes that overflow an int are errors, whatever they wrap to.
func TestViewSizeOverflow(t *testing.T) {
	sizes := []int{1, 2, 3, 4, 8, 1 << 15, 1<<15 + 1, 1 << 16, 1<<16 + 1, 1 << 30, math.MaxInt32, math.MaxInt / 3, math.MaxInt/2 - 1, math.MaxInt / 2, math.MaxInt/2 + 1, math.MaxInt - 1, math.MaxInt}
	var memory [64]float32
	for _, tokens := range []int{1, 2, 3, 4, 1 << 16, math.MaxInt32} {
		for _, dim := range []int{2, 8, 1 << 16, math.MaxInt - 1, math.MaxInt} {
			for _, heads := range sizes {
				for _, tokenStride := range append(sizes, 0) {
					for _, headStride := range append(sizes, 0) {
						v := view.View[float32]{Data: memory[:], Heads: heads, TokenStride: tokenStride, HeadStride: headStride}
						p := v.Grid(&view.Grid{}, tokens, dim)
						if fits := fits(&v, tokens, dim); p == view.None && !fits {
							t.Fatalf("%d tokens of dim %d, %d heads at strides %d and %d pass for %d elements", tokens, dim, heads, tokenStride, headStride, len(v.Data))
						}
					}
				}
			}
		}
	}
}

// fits reports in float64, which does not wrap, whether the last row ends
// within Data; near a power of two it would not matter here.
func fits(v *view.View[float32], tokens, dim int) bool {
	tokenStride, headStride := float64(v.TokenStride), float64(v.HeadStride)
	if tokenStride == 0 {
		tokenStride = float64(v.Heads) * float64(dim)
	}
	if headStride == 0 {
		headStride = float64(dim)
	}
	last := float64(v.Heads-1)*headStride + float64(dim)
	if v.SequenceStride > 0 {
		last += float64(tokens/v.SequenceTokens-1) * float64(v.SequenceStride)
		tokens = v.SequenceTokens
	}
	last += float64(tokens-1) * tokenStride
	return last <= float64(len(v.Data))
}

// randomSequences returns a small view in sequences whose rows often nearly
// touch.
func randomSequences(r *rand.Rand, dim int) (v view.View[float32], tokens int) {
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
		touched, unique := spots(&v, 0, tokens, dim)
		v.Data = memory[:end(touched)]
		if unique {
			apart++
		}
		if p := v.Grid(&view.Grid{}, tokens, dim); (p == view.None) != unique {
			v.Data = nil
			t.Fatalf("%d tokens of dim %d, %+v: got problem %d, rows share elements: %t", tokens, dim, v, p, !unique)
		}
		v.Data = v.Data[:len(v.Data)-1]
		var g view.Grid
		if p := v.Grid(&g, tokens, dim); !errors.Is(v.Error(p, "", "", &g), argument.ErrLength) {
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
		inA, uniqueA := spots(&a, startA, tokens, dim)
		inB, uniqueB := spots(&b, startB, tokens, dim)
		if !uniqueA || !uniqueB {
			continue
		}
		accepted++
		a.Data, b.Data = memory[startA:end(inA)], memory[startB:end(inB)]
		if p, q := a.Grid(&view.Grid{}, tokens, dim), b.Grid(&view.Grid{}, tokens, dim); p != view.None || q != view.None {
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
								v := view.View[float32]{Data: memory, Heads: heads, TokenStride: tokenStride, HeadStride: headStride, SequenceTokens: sequenceTokens, SequenceStride: sequenceStride}
								if p := v.Grid(&view.Grid{}, tokens, dim); p == view.None && !fits(&v, tokens, dim) {
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
