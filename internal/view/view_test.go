package view_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// spots returns the elements of memory that a view touches, from the formula
// in the documentation of posenc.View, where its Data starts at element start, and the
// elements up to the last. unique is false where two rows share one.
func spots(v *view.View[float32], start, tokens, dim int) (touched map[int]bool, end int, unique bool) {
	touched, unique = map[int]bool{}, true
	p := posenc.View[float32](*v)
	for t := range tokens {
		for h := range v.Heads {
			for i := range dim {
				element := start + kit.RowAt(&p, t, h, dim) + i
				unique = unique && !touched[element]
				touched[element] = true
			}
		}
	}
	return touched, start + kit.ReachOf(&p, tokens, dim), unique
}

func share(a, b map[int]bool) bool {
	for at := range a {
		if b[at] {
			return true
		}
	}
	return false
}

// randomSize returns tokens and elements of a head for a small view, in sequences or not.
func randomSize(r *rand.Rand, sequences bool) (tokens, dim int) {
	tokens, dim = 1+r.IntN(5), 1+r.IntN(6)
	if sequences {
		tokens *= 1 + r.IntN(4)
	}
	return tokens, dim
}

// randomView returns one of that size, whose rows often nearly touch or overlap.
func randomView(r *rand.Rand, tokens, dim int, sequences bool) view.View[float32] {
	for {
		v := kit.RandomShape[float32](r, tokens, 1+r.IntN(4), dim, kit.MayOverlap)
		if (v.SequenceStride > 0) == sequences {
			return view.View[float32](v)
		}
	}
}

// eachKind runs a test for views without sequences and with them. It returns how many
// cases of the given number it tried, and for how many rows overlap: both are to be
// common.
func eachKind(t *testing.T, rounds int, try func(t *testing.T, r *rand.Rand, sequences bool) (tried, overlap bool)) {
	for name, sequences := range map[string]bool{"tokens": false, "sequences": true} {
		t.Run(name, func(t *testing.T) {
			r := kit.NewRand(10)
			overlapping, n := 0, kit.Rounds(rounds)
			for i := 0; i < n; {
				tried, overlap := try(t, r, sequences)
				if tried {
					i++
				}
				if tried && overlap {
					overlapping++
				}
			}
			if share := overlapping * 100 / n; share < 10 || share > 90 {
				t.Errorf("rows overlap in %d%% of the cases: the test is one-sided", share)
			}
		})
	}
}

// Rows of a view overlap exactly when a bitmap says so. Data has to reach to the last element of the last row,
// for a packed view to hold nothing more, and for others no further token, unless Tokens says how many there are.
func TestRowsOverlap(t *testing.T) {
	memory := make([]float32, 8192)
	eachKind(t, 100000, func(t *testing.T, r *rand.Rand, sequences bool) (tried, overlap bool) {
		tokens, dim := randomSize(r, sequences)
		v := randomView(r, tokens, dim, sequences)
		_, end, unique := spots(&v, 0, tokens, dim)
		for _, length := range []int{0, end - 1, end, end + 1, end + r.IntN(60)} {
			v.Tokens = []int{0, 0, 0, tokens, tokens + 1 - r.IntN(3)}[r.IntN(5)]
			v.Data = memory[:length]
			var g view.Grid
			shape := posenc.View[float32](v)
			allowed := kit.Allowed(&shape, tokens, dim, length)
			p := v.Grid(&g, tokens, dim)
			if (p == view.None) != allowed || !allowed && unique && !errors.Is(v.Error(p, "", "", &g), argument.ErrLength) {
				v.Data = nil
				t.Fatalf("%d tokens of dim %d, %+v in %d elements of %d: got problem %d, rows share elements: %t", tokens, dim, v, length, end, p, !unique)
			}
			if glance := v.Problem(&view.Grid{}, tokens, dim); glance != p {
				v.Data = nil
				t.Fatalf("%d tokens of dim %d, %+v in %d elements of %d: problem %d, and %d by the grid", tokens, dim, v, length, end, glance, p)
			}
			if first := v.First(&g, tokens, dim); (first == view.None) != (length >= end && unique) {
				t.Fatalf("%d tokens of dim %d, %+v in %d elements of %d: got problem %d with slots, rows share elements: %t", tokens, dim, v, length, end, first, !unique)
			}
		}
		return true, !unique
	})
}

// Two views overlap exactly when a bitmap says so; of two with sequences one may have
// none, or others, and they need not be a number of elements apart. They may have different
// numbers of tokens, even none.
func TestViewsOverlap(t *testing.T) {
	memory := make([]byte, 4*8192)
	eachKind(t, 60000, func(t *testing.T, r *rand.Rand, sequences bool) (tried, overlap bool) {
		tokens, dim := randomSize(r, sequences)
		a, b := randomView(r, tokens, dim, sequences), randomView(r, tokens, dim, sequences)
		starts := 60
		if sequences {
			starts = 150
		}
		switch kind := r.IntN(4); {
		case kind == 0 && !sequences: // heads of Q, K and V one after another
			b.TokenStride = a.TokenStride
		case kind < 2: // packed QKV and kin: equal strides
			heads := b.Heads
			b = a
			b.Heads = heads
		case kind == 2:
			b.SequenceTokens, b.SequenceStride = 0, 0
		case r.IntN(2) == 0:
			b.SequenceTokens = a.SequenceTokens
		}
		startA, startB := r.IntN(starts), r.IntN(starts)
		inA, endA, uniqueA := spots(&a, startA, tokens, dim)
		others := tokens
		if !sequences && r.IntN(2) == 0 {
			others = r.IntN(tokens + 1)
		}
		inB, endB, uniqueB := spots(&b, startB, others, dim)
		if !uniqueA || !uniqueB {
			return false, false
		}
		further := max(0, r.IntN(7)-3) // bytes
		x, y := ofBytes(&a, memory[4*startA:4*endA]), ofBytes(&b, memory[4*startB+further:][:4*(endB-startB)])
		if p, q := x.First(&view.Grid{}, tokens, dim), y.First(&view.Grid{}, others, dim); p != view.None || q != view.None {
			t.Fatal(p, q)
		}
		want := share(inA, inB)
		for at := range inB { // the element that it reaches into
			want = want || further > 0 && inA[at+1]
		}
		if got, other := view.Overlap(&x, &y, tokens, others, dim), view.Overlap(&y, &x, others, tokens, dim); got != want || other != want {
			t.Fatalf("%d and %d tokens of dim %d: %+v from %d, %+v from %d and %d bytes: got %t and the other way round %t, want %t", tokens, others, dim, a, startA, b, startB, further, got, other, want)
		}
		return true, want
	})
}

// ofBytes returns a view of the shape of v whose elements may lie anywhere in memory.
func ofBytes(v *view.View[float32], memory []byte) view.View[[4]byte] {
	data := unsafe.Slice((*[4]byte)(unsafe.Pointer(unsafe.SliceData(memory))), len(memory)/4)
	return view.View[[4]byte]{Data: data, Heads: v.Heads, TokenStride: v.TokenStride, HeadStride: v.HeadStride, SequenceTokens: v.SequenceTokens, SequenceStride: v.SequenceStride}
}

// Heads of different strides are compared in time that grows with their number:
// with its square, this test would not end.
func TestViewsOverlapManyHeads(t *testing.T) {
	const heads = 1 << 20
	memory := make([]float32, 3*heads)
	a := view.View[float32]{Data: memory, Heads: heads, HeadStride: 3}
	b := view.View[float32]{Data: memory[2:], Heads: heads / 2, HeadStride: 6}
	if view.Overlap(&a, &b, 1, 1, 1) || view.Overlap(&b, &a, 1, 1, 1) || !view.Overlap(&a, &b, 1, 1, 2) || !view.Overlap(&b, &a, 1, 1, 2) {
		t.Error("rows of 1 element lie apart, rows of 2 share one")
	}
}

// Room is the most tokens that First accepts, and the only number that Grid does.
func TestRoom(t *testing.T) {
	r := kit.NewRand(13)
	memory := make([]float32, 400)
	overlapping, rooms := 0, map[bool]int{}
	try := func(v view.View[float32], dim int) {
		t.Helper()
		step := max(1, v.SequenceTokens)
		var g view.Grid
		tokens, p := 0, view.None
		for ; p == view.None; tokens += step {
			p = v.First(&g, tokens+step, dim)
			if all := v.Grid(&g, tokens, dim); (all == view.None) != (p != view.None) {
				t.Fatalf("%+v of dim %d: problem %d with %d tokens, and %d with one or one sequence more", v, dim, all, tokens, p)
			}
		}
		want := tokens - step
		if !p.TooShort() {
			overlapping++
		}
		rooms[want > 0]++
		if p := v.First(&g, 1000*step, dim); !p.TooShort() {
			t.Fatalf("%d tokens: problem %d", 1000*step, p)
		}
		if got := g.Room(len(v.Data)); got != want {
			length := len(v.Data)
			v.Data = nil
			t.Fatalf("%+v of dim %d in %d elements: room for %d tokens, and First accepts %d", v, dim, length, got, want)
		}
	}
	try(view.View[float32]{Data: memory[:40], Heads: 1, TokenStride: 8, SequenceTokens: 2, SequenceStride: 4}, 4)
	for i := range kit.Rounds(20000) {
		sequences := i%2 == 0
		tokens, dim := randomSize(r, sequences)
		v := randomView(r, tokens, dim, sequences)
		if v.TokenStride == 0 && v.HeadStride == 0 && v.SequenceStride == 0 {
			continue // has no room: it holds just its tokens
		}
		v.Data = memory[:r.IntN(len(memory))]
		try(v, dim)
	}
	if overlapping < 100 || rooms[true] < 100 || rooms[false] < 100 {
		t.Errorf("%d views of tokens that overlap, %d with room and %d without", overlapping, rooms[true], rooms[false])
	}
}

// Sizes that overflow an int are errors, also where they wrap to a right one.
func TestViewSizeOverflow(t *testing.T) {
	sizes := []int{1, 2, 3, 4, 8, 1 << 15, 1<<15 + 1, 1 << 16, 1<<16 + 1, 1 << 30, math.MaxInt32, math.MaxInt / 3, math.MaxInt/2 - 1, math.MaxInt / 2, math.MaxInt/2 + 1, math.MaxInt - 1, math.MaxInt}
	few := []int{1, 3, 1 << 16, math.MaxInt32, math.MaxInt/2 + 1, math.MaxInt}
	memory := make([]float32, 64)
	try := func(sizes []int, sequenceTokens, sequenceStride, tokens, dim int) {
		for _, heads := range sizes {
			for _, tokenStride := range append(sizes, 0) {
				for _, headStride := range append(sizes, 0) {
					v := view.View[float32]{Data: memory, Heads: heads, TokenStride: tokenStride, HeadStride: headStride, SequenceTokens: sequenceTokens, SequenceStride: sequenceStride}
					p, glance, first := v.Grid(&view.Grid{}, tokens, dim), v.Problem(&view.Grid{}, tokens, dim), v.First(&view.Grid{}, tokens, dim)
					if (p == view.None || first == view.None) && !fits(&v, tokens, dim) || glance != p {
						v.Data = nil
						t.Fatalf("%d tokens of dim %d, %+v pass for %d elements: problems %d, %d, %d", tokens, dim, v, len(memory), p, glance, first)
					}
				}
			}
		}
	}
	for _, tokens := range []int{1, 2, 3, 4, 5, 1 << 16, math.MaxInt32 - 1, math.MaxInt32} {
		for _, dim := range []int{2, 8, 1 << 16, math.MaxInt - 1, math.MaxInt} {
			try(sizes, 0, 0, tokens, dim)
			for _, sequenceStride := range few {
				for _, sequenceTokens := range []int{1, 2, tokens} {
					try(few, sequenceTokens, sequenceStride, tokens, dim)
				}
			}
		}
	}
}

// Check counts nothing that wraps: each of these counts of elements would be 0. No views are an
// error too.
func TestCheckCounts(t *testing.T) {
	const quarter = (math.MaxInt/2 + 1) / 2 // of all that an int has, with its sign
	for name, err := range map[string]error{
		"no views":        view.Check[float32]("", nil, 3, 4),
		"too many tokens": view.Check("", []view.View[float32]{{Heads: 1}}, 2*quarter, 4),
		"too many heads":  view.Check("", []view.View[float32]{{Heads: 2 * quarter}}, 1, 4),
	} {
		if !errors.Is(err, argument.ErrShape) && !errors.Is(err, argument.ErrLength) {
			t.Errorf("%s: %v", name, err)
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

// An operand without all its elements has no pointer behind the end.
func TestFromEnd(t *testing.T) {
	o := view.Over(make([]float32, 4))
	if rest := o.From(3); rest.Length != 1 || rest.Data != unsafe.Add(o.Data, 12) {
		t.Errorf("the last element: %+v of %+v", rest, o)
	}
	for _, n := range []int{4, 5} {
		if rest := o.From(n); rest.Length != 0 || rest.Data != nil {
			t.Errorf("without %d of 4 elements: %+v", n, rest)
		}
	}
}

// More elements than a kernel takes are converted as fewer are.
func TestConvertLong(t *testing.T) {
	for _, n := range []int{kernels.MaxCallElements, 2*kernels.MaxCallElements + 3} {
		x, y, bits := make([]float32, n), make([]float32, n), make([]uint16, n)
		for i := range x {
			x[i] = float32(i % 1021) // a float16 has it
		}
		narrow := view.Operand{Data: unsafe.Pointer(&bits[0]), Length: n, Kind: kernels.KindFloat16}
		from, to := view.Over(x), view.Over(y)
		view.Convert(&narrow, &from, 0, 0, n)
		view.Convert(&to, &narrow, 0, 0, n)
		if !slices.Equal(x, y) {
			t.Errorf("%d elements are not what they were", n)
		}
	}
}
