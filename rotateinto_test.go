package posenc_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

// randomSlots returns where n tokens go among so many: all alike, one after
// another, anywhere or nowhere, twice or never.
func randomSlots(r *rand.Rand, n, capacity int) []int32 {
	slots := make([]int32, n)
	for t := 0; t < n; {
		start, step := r.IntN(capacity), testkit.OneOf(r, []int{0, 1, 1, 1, -1})
		negative := r.IntN(4) == 0
		for end := min(n, t+1+r.IntN(12)); t < end; t++ {
			slots[t] = int32(min(max(start, 0), capacity-1))
			if negative {
				slots[t] = testkit.OneOf(r, []int32{-1, -2, math.MinInt32})
			}
			start += step
		}
	}
	return slots
}

func TestRotateIntoErrors(t *testing.T) {
	const dim, tokens = 8, 3
	source, data := make([]float32, 512), make([]float32, 512)
	rotary := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	fast := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit, InvFreq: []float64{1, 0x1p20, -0x1p40, 3}})
	positions := []int32{5, 6, 7}
	src, dst := V{Data: source[:48], Heads: 2}, V{Data: data[:48], Heads: 2}
	blocks := func(n, sequenceTokens, sequenceStride int) V {
		return V{Data: data[:n], Heads: 2, TokenStride: dim, HeadStride: 4 * dim, SequenceTokens: sequenceTokens, SequenceStride: sequenceStride}
	}
	into := func(name string, kind error, says string, r *posenc.Rotary, positions []int32, dst V, slots []int32, src V) testkit.Wrong {
		return testkit.Wrong{Name: name, Call: func() error { return posenc.RotateInto(r.At(positions), dst, slots, src) }, Kind: kind, Says: []string{"posenc.RotateInto: " + says}}
	}
	half := posenc.Float16s(make([]uint16, 4096))
	zero := func(name, says string, a posenc.Angles) testkit.Wrong {
		return testkit.Wrong{Name: name, Call: func() error { return posenc.RotateInto(a, dst, nil, src) }, Kind: posenc.ErrConfig, Says: []string{"posenc.RotateInto: " + says}}
	}
	testkit.CheckWrong(t, []testkit.Wrong{
		zero("zero angles", "a is zero, or from a nil Rotary or nil Rows, want Angles", posenc.Angles{}),
		into("no rotary", posenc.ErrConfig, "a is zero, or from a nil Rotary or nil Rows, want Angles", nil, positions, dst, nil, src),
		into("zero rotary", posenc.ErrConfig, "a is from a zero Rotary", new(posenc.Rotary), positions, dst, nil, src),
		zero("no rows", "a is zero, or from a nil Rotary or nil Rows, want Angles", (*posenc.Rows)(nil).All()),
		zero("zero rows", "a is from zero Rows", new(posenc.Rows).All()),
		into("position", posenc.ErrPosition, "positions[1] is 1024", fast, []int32{0, 1024, 2}, dst, nil, src),
		into("tokens of no sequence", posenc.ErrShape, "dst.SequenceTokens is 3, want 0", rotary, positions, V{Data: dst.Data, Heads: dst.Heads, HeadStride: 8, SequenceTokens: 3}, []int32{0, 1, 2}, src),
		into("too few slots", posenc.ErrLength, "slots has 2 elements, want 3", rotary, positions, dst, []int32{0, 1}, src),
		into("too many slots", posenc.ErrLength, "slots has 4 elements, want 3", rotary, positions, dst, []int32{0, 1, 2, 3}, src),
		into("no slots", posenc.ErrLength, "slots has 0 elements, want 3, one for each token", rotary, positions, dst, []int32{}, src),
		into("largest slot", posenc.ErrPosition, "slots[1] is 2147483647, want ", rotary, positions, dst, []int32{0, math.MaxInt32, 2}, src),
		into("heads", posenc.ErrShape, "dst.Heads is 1, want 2 as in src", rotary, positions, V{Data: data[:24], Heads: 1}, nil, src),
		into("no heads in src", posenc.ErrShape, "src.Heads is 0", rotary, positions, dst, nil, V{Data: source[:48]}),
		into("no heads in dst", posenc.ErrShape, "dst.Heads is 0, want 2", rotary, positions, V{Data: data[:48]}, nil, src),
		into("src too short", posenc.ErrLength, "src.Data has 47 elements, want 48", rotary, positions, dst, nil, V{Data: source[:47], Heads: 2}),
		into("src too long", posenc.ErrLength, "src.Data has 49 elements, want 48", rotary, positions, dst, nil, V{Data: source[:49], Heads: 2}),
		into("dst too short", posenc.ErrLength, "dst.Data has 47 elements, want 48", rotary, positions, V{Data: data[:47], Heads: 2}, nil, src),
		into("dst too long", posenc.ErrLength, "dst.Data has 49 elements, want 48", rotary, positions, V{Data: data[:49], Heads: 2}, nil, src),
		into("dst too short for a slot", posenc.ErrPosition, "slots[1] is 5, want below 5, the tokens that dst has room for in 95 elements", rotary, positions, V{Data: data[:95], Heads: 2}, []int32{0, 5, 1}, src),
		into("dst too short for any slot", posenc.ErrLength, "dst.Data has 15 elements, want at least 96", rotary, positions, V{Data: data[:15], Heads: 2}, []int32{0, 5, 1}, src),
		into("dst too short for the last slot", posenc.ErrPosition, "slots[1] is 2147483647, want ", rotary, positions, V{Data: data, Heads: 2}, []int32{0, math.MaxInt32, 1}, src),
		into("dst without stride", posenc.ErrShape, "dst.TokenStride is -8", rotary, positions, strided(data, 2, -8, 0), nil, src),
		into("src tokens overlap", posenc.ErrOverlap, "src.TokenStride is 8", rotary, positions, dst, nil, strided(source, 2, 8, 0)),
		into("dst tokens overlap", posenc.ErrOverlap, "dst.TokenStride is 8", rotary, positions, strided(data, 2, 8, 0), []int32{0, 1, 2}, src),
		into("dst tokens overlap beyond the tokens", posenc.ErrOverlap, "dst.TokenStride is 8", rotary, positions, strided(data, 2, 8, 40), []int32{0, 1, 20}, src),
		into("same memory", posenc.ErrOverlap, "dst is sharing memory with src, want a view of other memory", rotary, positions, src, nil, src),
		into("last element of src", posenc.ErrOverlap, "dst is sharing memory with src", rotary, positions, V{Data: source[47:95], Heads: 2}, nil, src),
		into("first element of src", posenc.ErrOverlap, "dst is sharing memory with src", rotary, positions, V{Data: source[:48], Heads: 2}, nil, V{Data: source[47:95], Heads: 2}),
		into("tokens of no whole block", posenc.ErrShape, "dst.SequenceTokens is 4, want a divisor of the number of tokens, 3", rotary, positions, blocks(512, 4, 64), nil, src),
		into("last block too short", posenc.ErrPosition, "slots[2] is 4, want below 4, the tokens that dst has room for in 127 elements", rotary, positions, blocks(127, 4, 64), []int32{0, 1, 4}, src),
		into("blocks overlap", posenc.ErrOverlap, "dst.TokenStride is 8", rotary, positions, blocks(512, 4, 63), []int32{0, 1, 4}, src),
		into("huge block", posenc.ErrLength, "dst.Data has 512 elements", rotary, positions, blocks(512, math.MaxInt, 64), []int32{0, 1, 2}, src),
		into("block almost as huge", posenc.ErrLength, "dst.Data has 512 elements", rotary, positions, blocks(512, math.MaxInt-1, 64), []int32{0, 1, 2}, src),
		into("huge stride of blocks", posenc.ErrPosition, "slots[2] is 4, want below 4", rotary, positions, blocks(512, 4, math.MaxInt), []int32{0, 1, 4}, src),
		into("block of no tokens", posenc.ErrShape, "dst.SequenceTokens is 0, want at least 1", rotary, positions, blocks(512, 0, 64), []int32{0, 1, 2}, src),
		into("block of negative tokens", posenc.ErrShape, "dst.SequenceTokens is -4", rotary, positions, blocks(512, -4, 64), []int32{0, 1, 2}, src),
		{Name: "other types", Call: func() error {
			return posenc.RotateInto(rotary.At(positions), posenc.View[posenc.BFloat16]{Data: posenc.BFloat16s(make([]uint16, 48)), Heads: 1}, nil, posenc.View[posenc.Float16]{Data: half[:24], Heads: 1})
		}, Kind: posenc.ErrLength, Says: []string{"dst.Data has 48 elements, want 24"}},
	}, source, data)
}

// What a call leaves alone it may also be given.
func TestRotateIntoAccepts(t *testing.T) {
	const dim = 8
	source, data := make([]float32, 64), make([]float32, 64)
	rotary := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	src := V{Data: source[:48], Heads: 2}
	positions := []int32{1, 2, 3}
	for name, call := range map[string]func() error{
		"no tokens": func() error { return posenc.RotateInto(rotary.At(nil), V{Heads: 2}, nil, V{Heads: 2}) },
		"no tokens, slots": func() error {
			return posenc.RotateInto(rotary.At(nil), V{Data: data, Heads: 2}, []int32{}, V{Heads: 2})
		},
		"no slot is kept": func() error {
			return posenc.RotateInto(rotary.At(positions), V{Data: data, Heads: 2}, []int32{-1, -5, -9}, src)
		},
		"no slot is kept, the same memory": func() error { return posenc.RotateInto(rotary.At(positions), src, []int32{-1, -5, -9}, src) },
		"no slot, nowhere":                 func() error { return posenc.RotateInto(rotary.At(positions), V{Heads: 2}, []int32{-1, -5, -9}, src) },
		"neighbours": func() error {
			return posenc.RotateInto(rotary.At(positions[:1]), V{Data: source[16:32], Heads: 2}, nil, V{Data: source[:16], Heads: 2})
		},
		"longer, with slots": func() error {
			return posenc.RotateInto(rotary.At(positions), V{Data: data, Heads: 2}, []int32{2, 0, 1}, src)
		},
		"no slot, many blocks": func() error {
			return posenc.RotateInto(rotary.At(positions), V{Data: data, Heads: 2, SequenceTokens: 4, SequenceStride: 64}, []int32{-1, -1, -1}, src)
		},
		"one block of the size": func() error {
			return posenc.RotateInto(rotary.At(positions), V{Data: data, Heads: 2, SequenceTokens: 4, SequenceStride: 1}, []int32{3, 1, 0}, src)
		},
	} {
		t.Run(name, func(t *testing.T) {
			clear(data)
			if err := call(); err != nil {
				t.Error(err)
			}
		})
	}
}
