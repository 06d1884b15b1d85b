package posenc_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

// randomSlots returns where n tokens go in a cache of capacity slots: all to one, one after
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
	positions := []int32{5, 6, 7}
	src, dst := V{Data: source[:48], Heads: 2}, V{Data: data[:48], Heads: 2}
	blocks := func(n, sequenceTokens, sequenceStride int) V {
		return V{Data: data[:n], Heads: 2, TokenStride: dim, HeadStride: 4 * dim, SequenceTokens: sequenceTokens, SequenceStride: sequenceStride}
	}
	half := posenc.Float16s(make([]uint16, 4096))
	fails := testkit.Failures(t, source, data)
	fails(posenc.RotateInto(posenc.Angles{}, dst, nil, src), posenc.ErrConfig, "posenc.RotateInto: a is zero, from a nil Rotary or nil Rows, or of a layer that there is not, want Angles")
	fails(posenc.RotateInto(rotary.At(positions), V{Data: dst.Data, Heads: dst.Heads, HeadStride: 8, SequenceTokens: 3}, []int32{0, 1, 2}, src), posenc.ErrShape, "posenc.RotateInto: dst.SequenceTokens is 3, want 0")
	fails(posenc.RotateInto(rotary.At(positions), dst, []int32{0, 1}, src), posenc.ErrLength, "posenc.RotateInto: slots has 2 elements, want 3")
	fails(posenc.RotateInto(rotary.At(positions), V{Data: data[:24], Heads: 1}, nil, src), posenc.ErrShape, "posenc.RotateInto: dst.Heads is 1, want 2 as in src")
	fails(posenc.RotateInto(rotary.At(positions), dst, nil, V{Data: source[:48]}), posenc.ErrShape, "posenc.RotateInto: src.Heads is 0")
	fails(posenc.RotateInto(rotary.At(positions), dst, nil, V{Data: source[:47], Heads: 2}), posenc.ErrLength, "posenc.RotateInto: src.Data has 47 elements, want 48")
	fails(posenc.RotateInto(rotary.At(positions), V{Data: data[:47], Heads: 2}, nil, src), posenc.ErrLength, "posenc.RotateInto: dst.Data has 47 elements, want 48")
	fails(posenc.RotateInto(rotary.At(positions), V{Data: data[:95], Heads: 2}, []int32{0, 5, 1}, src), posenc.ErrPosition, "posenc.RotateInto: slots[1] is 5, want below 5, the tokens that dst has room for in 95 elements")
	fails(posenc.RotateInto(rotary.At(positions), V{Data: data, Heads: 2}, []int32{0, math.MaxInt32, 1}, src), posenc.ErrPosition, "posenc.RotateInto: slots[1] is 2147483647, want ")
	fails(posenc.RotateInto(rotary.At(positions), V{Data: data[:15], Heads: 2}, []int32{0, 5, 1}, src), posenc.ErrLength, "posenc.RotateInto: dst.Data has 15 elements, want at least 96")
	fails(posenc.RotateInto(rotary.At(positions), dst, nil, strided(source, 2, 8, 0)), posenc.ErrOverlap, "posenc.RotateInto: src.TokenStride is 8")
	fails(posenc.RotateInto(rotary.At(positions), strided(data, 2, 8, 0), []int32{0, 1, 2}, src), posenc.ErrOverlap, "posenc.RotateInto: dst.TokenStride is 8")
	fails(posenc.RotateInto(rotary.At(positions), strided(data, 2, 8, 40), []int32{0, 1, 20}, src), posenc.ErrOverlap, "posenc.RotateInto: dst.TokenStride is 8")
	fails(posenc.RotateInto(rotary.At(positions), src, nil, src), posenc.ErrOverlap, "posenc.RotateInto: dst is sharing memory with src, want a view of other memory")
	fails(posenc.RotateInto(rotary.At(positions), V{Data: source[:48], Heads: 2}, nil, V{Data: source[47:95], Heads: 2}), posenc.ErrOverlap, "posenc.RotateInto: dst is sharing memory with src")
	fails(posenc.RotateInto(rotary.At(positions), blocks(512, 4, 64), nil, src), posenc.ErrShape, "posenc.RotateInto: dst.SequenceTokens is 4, want a divisor of the number of tokens, 3")
	fails(posenc.RotateInto(rotary.At(positions), blocks(127, 4, 64), []int32{0, 1, 4}, src), posenc.ErrPosition, "posenc.RotateInto: slots[2] is 4, want below 4, the tokens that dst has room for in 127 elements")
	fails(posenc.RotateInto(rotary.At(positions), blocks(512, 4, 63), []int32{0, 1, 4}, src), posenc.ErrOverlap, "posenc.RotateInto: dst.TokenStride is 8")
	fails(posenc.RotateInto(rotary.At(positions), blocks(512, 4, math.MaxInt), []int32{0, 1, 4}, src), posenc.ErrPosition, "posenc.RotateInto: slots[2] is 4, want below 4")
	fails(posenc.RotateInto(rotary.At(positions), blocks(512, 0, 64), []int32{0, 1, 2}, src), posenc.ErrShape, "posenc.RotateInto: dst.SequenceTokens is 0, want at least 1")
	fails(posenc.RotateInto(rotary.At(positions), posenc.View[posenc.BFloat16]{Data: posenc.BFloat16s(make([]uint16, 48)), Heads: 1}, nil, posenc.View[posenc.Float16]{Data: half[:24], Heads: 1}), posenc.ErrLength, "dst.Data has 48 elements, want 24")
	testkit.NoError(t, posenc.RotateInto(rotary.At(positions), src, []int32{-1, -5, -9}, src)) // no slot is kept
}
