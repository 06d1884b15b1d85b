package view_test

import (
	"errors"
	"math"
	"testing"

	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/internal/view"
)

// Room is the most tokens that Grid accepts.
func TestRoom(t *testing.T) {
	r := testkit.NewRand(13)
	memory := make([]float32, 400)
	overlapping, rooms := 0, map[bool]int{}
	try := func(v view.View[float32], dim int) {
		t.Helper()
		step := max(1, v.SequenceTokens)
		var g view.Grid
		tokens, p := 0, view.None
		for ; p == view.None; tokens += step {
			p = v.Grid(&g, tokens+step, dim)
		}
		want := tokens - step
		if !p.TooShort() {
			overlapping++
		}
		rooms[want > 0]++
		if p := v.Grid(&g, 1000*step, dim); !p.TooShort() {
			t.Fatalf("%d tokens: problem %d", 1000*step, p)
		}
		if got := g.Room(len(v.Data)); got != want {
			length := len(v.Data)
			v.Data = nil
			t.Fatalf("%+v of dim %d in %d elements: room for %d tokens, and Grid accepts %d", v, dim, length, got, want)
		}
	}
	try(view.View[float32]{Data: memory[:40], Heads: 1, TokenStride: 8, SequenceTokens: 2, SequenceStride: 4}, 4)
	for i := range testkit.Rounds(20000) {
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
					if p := v.Grid(&view.Grid{}, tokens, dim); p == view.None && !fits(&v, tokens, dim) {
						v.Data = nil
						t.Fatalf("%d tokens of dim %d, %+v pass for %d elements", tokens, dim, v, len(memory))
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
