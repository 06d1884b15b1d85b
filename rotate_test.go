package posenc_test

import (
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestRotateErrors(t *testing.T) {
	const dim, tokens = 8, 3
	memory := make([]float32, 512)
	rotary := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	fast := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit, InvFreq: []float64{1, 0x1p20, -0x1p40, 3}})
	huge := testkit.MustRotary(posenc.RotaryConfig{HeadDim: math.MaxInt, RotaryDim: 2, Layout: posenc.HalfSplit})
	positions := []int32{5, 6, 7}
	good := posenc.View[float32]{Data: memory[400:448], Heads: 2}
	packed := func(n, heads int) V { return V{Data: memory[:n], Heads: heads} }
	six, sequences := []int32{1, 2, 3, 4, 5, 6}, V{Data: memory[:96], Heads: 2, TokenStride: dim, HeadStride: 3 * dim, SequenceTokens: 3, SequenceStride: 6 * dim}
	change := func(f func(v *V)) V {
		v := sequences
		f(&v)
		return v
	}
	for function, rotate := range map[string]func(posenc.Angles, ...V) error{"Rotate": posenc.Rotate[float32], "RotateInverse": posenc.RotateInverse[float32]} {
		t.Run("function="+function, func(t *testing.T) {
			fails := testkit.Failures(t, memory)
			fails(rotate(posenc.Angles{}, good), posenc.ErrConfig, "a is zero, from a nil Rotary or nil Rows, or of a layer that there is not, want Angles from Rotary.At, Rows.All or Rows.At")
			fails(rotate(new(posenc.Rows).All(), good), posenc.ErrConfig, "a is from zero Rows, want Angles from Rows of Rotary.Rows or NewRows")
			fails(rotate(new(posenc.Rotary).At(positions), good), posenc.ErrConfig, "a is from a zero Rotary")
			fails(rotate(rotary.Unrotated(-1), good), posenc.ErrConfig, "a is of -1 tokens, want at least 0 tokens in Rotary.Unrotated")
			fails(rotate(fast.At([]int32{1023, 1024, -5}), good), posenc.ErrPosition, "positions[1] is 1024, want at most 1023 in magnitude, so that angles stay below 2^50")
			fails(rotate(fast.At([]int32{math.MinInt32, 0, 0}), good), posenc.ErrPosition, "positions[0] is -2147483648")
			fails(rotate(huge.At([]int32{1}), good), posenc.ErrShape, "xs[0].Heads is 2")
			fails(rotate(rotary.At(nil), packed(1, 1)), posenc.ErrLength, "xs[0].Data has 1 element,")
			fails(rotate(rotary.At(nil), V{}), posenc.ErrShape, "xs[0].Heads is 0")
			fails(rotate(rotary.At(positions), packed(48, 0)), posenc.ErrShape, "xs[0].Heads is 0, want at least 1")
			fails(rotate(rotary.At(positions), strided(memory[:48], math.MaxInt, 8, 8)), posenc.ErrLength, "xs[0].Data has 48 elements")
			fails(rotate(rotary.At(positions), packed(0, math.MaxInt/8+1)), posenc.ErrShape, "xs[0].Heads")
			fails(rotate(rotary.At(positions), strided(memory[:48], 2, -1, 0)), posenc.ErrShape, "xs[0].TokenStride is -1")
			fails(rotate(rotary.At(positions), strided(memory[:48], 2, 0, -8)), posenc.ErrShape, "xs[0].HeadStride is -8")
			fails(rotate(rotary.At(positions), strided(memory[:48], 2, math.MaxInt, 0)), posenc.ErrLength, "xs[0].Data has 48 elements")
			fails(rotate(rotary.At(positions), V{Heads: 2}), posenc.ErrLength, "xs[0].Data has 0 elements", "48")
			fails(rotate(rotary.At(positions), packed(47, 2)), posenc.ErrLength, "xs[0].Data has 47 elements", "48")
			fails(rotate(rotary.At(positions), packed(49, 2)), posenc.ErrLength, "xs[0].Data has 49 elements", "48")
			fails(rotate(rotary.At(positions), strided(memory[:215], 2, 100, 0)), posenc.ErrLength, "xs[0].Data has 215 elements", "216")
			fails(rotate(rotary.At(positions), strided(memory[:60], 2, 16, 21)), posenc.ErrLength, "xs[0].Data has 60 elements", "61")
			fails(rotate(rotary.At(positions), good, packed(23, 1)), posenc.ErrLength, "xs[1].Data has 23 elements", "24")
			fails(rotate(rotary.At(positions), strided(memory[:200], 2, 8, 0)), posenc.ErrOverlap, "xs[0].TokenStride is 8")
			fails(rotate(rotary.At(positions), strided(memory[:300], 3, 20, 19)), posenc.ErrOverlap, "xs[0].TokenStride is 20")
			fails(rotate(rotary.At(positions), good, packed(24, 1), good), posenc.ErrOverlap, "xs[2]", "xs[0]")
			fails(rotate(rotary.At(positions), packed(48, 2), V{Data: memory[47:71], Heads: 1}), posenc.ErrOverlap, "xs[1]")
			fails(rotate(rotary.At(positions), strided(memory[:200], 2, 48, 0), strided(memory[15:200], 1, 48, 0)), posenc.ErrOverlap, "xs[1]")
			fails(rotate(rotary.At(six), change(func(v *V) { v.SequenceStride = 0 })), posenc.ErrShape, "xs[0].SequenceTokens is 3, want 0 where SequenceStride is 0")
			fails(rotate(rotary.At(six), change(func(v *V) { v.SequenceTokens = 0 })), posenc.ErrShape, "xs[0].SequenceTokens is 0, want at least 1 where SequenceStride is 48")
			fails(rotate(rotary.At(six), change(func(v *V) { v.SequenceStride = -48 })), posenc.ErrShape, "xs[0].SequenceStride is -48")
			fails(rotate(rotary.At(six), change(func(v *V) { v.SequenceTokens = 4 })), posenc.ErrShape, "xs[0].SequenceTokens is 4, want a divisor of the number of tokens, 6")
			fails(rotate(rotary.At(six), change(func(v *V) { v.Data = memory[:95] })), posenc.ErrLength, "xs[0].Data has 95 elements, want at least 96 for 6 tokens of 2 heads of 8 at SequenceStride 48, TokenStride 8 and HeadStride 24")
			fails(rotate(rotary.At(six), change(func(v *V) { v.SequenceStride = math.MaxInt })), posenc.ErrLength, "xs[0].Data has 96 elements")
			fails(rotate(rotary.At(six), change(func(v *V) { v.SequenceStride = 47 })), posenc.ErrOverlap, "xs[0].TokenStride is 8, want heads of 8 that do not overlap, with 2 heads at HeadStride 24 and 2 sequences at SequenceStride 47")
			fails(rotate(rotary.At(six), V{Data: memory[:47], Heads: 1}), posenc.ErrLength, "xs[0].Data has 47 elements, want 48 for 6 tokens of 1 head of 8")
			fails(rotate(rotary.At(six), V{Data: memory, Heads: 2, TokenStride: 8}), posenc.ErrOverlap, "xs[0].TokenStride is 8, want heads of 8 that do not overlap, with 2 heads at HeadStride 8; HeadStride is 0, set it too if")
			fails(rotate(rotary.At(six), V{Data: memory[:200], Heads: 2, HeadStride: 48}), posenc.ErrOverlap, "xs[0].TokenStride is 16, want heads of 8 that do not overlap, with 2 heads at HeadStride 48; TokenStride is 0, set it too")
			fails(rotate(rotary.At(six), V{Data: memory[:100], Heads: 2, TokenStride: 17, HeadStride: 8}), posenc.ErrLength, "xs[0].Data has 100 elements, want at least 101 for 6 tokens of 2 heads of 8 at TokenStride 17 and HeadStride 8")
			fails(rotate(rotary.At(six), V{Data: memory, Heads: 1, TokenStride: 7}), posenc.ErrOverlap, "xs[0].TokenStride is 7, want heads of 8 that do not overlap, with 1 head at HeadStride 8: overlapping")
			fails(rotate(rotary.At(six), V{Data: memory, Heads: 2, TokenStride: 8, HeadStride: 4}), posenc.ErrOverlap, "xs[0].TokenStride is 8, want heads of 8 that do not overlap, with 2 heads at HeadStride 4: overlapping")
			fails(rotate(rotary.At(six), V{Data: memory, Heads: 2, SequenceTokens: 3, SequenceStride: 47}), posenc.ErrOverlap, "xs[0].TokenStride is 16, want heads of 8 that do not overlap, with 2 heads at HeadStride 8 and 2 sequences at SequenceStride 47: overlapping")
			fails(rotate(rotary.At(six), change(func(v *V) { v.Data, v.SequenceStride = memory, 100 }), V{Data: memory[48:], Heads: 1, TokenStride: 53}), posenc.ErrOverlap, "xs[1] is sharing elements with xs[0]")
			fails(rotate(rotary.At(nil), change(func(v *V) { v.SequenceTokens = 0 })), posenc.ErrShape, "xs[0].SequenceTokens is 0")
			testkit.NoError(t, rotate(rotary.At(nil), change(func(v *V) { v.Data = nil })), rotate(rotary.At(six), sequences), rotate(rotary.At(six), change(func(v *V) { v.Data = memory })),
				rotate(rotary.At(six), change(func(v *V) { v.Data, v.SequenceStride = memory, 100 }), V{Data: memory[48:], Heads: 1, TokenStride: dim}), // between
				rotate(rotary.At(six), change(func(v *V) { v.HeadStride, v.SequenceTokens, v.SequenceStride = 48, 6, 1 })))
		})
	}
}

// V is a view of the tests of errors.
type V = posenc.View[float32]

func strided(data []float32, heads, tokenStride, headStride int) V {
	return V{Data: data, Heads: heads, TokenStride: tokenStride, HeadStride: headStride}
}
