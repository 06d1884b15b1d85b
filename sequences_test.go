package posenc_test

import (
	"errors"
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestSequencesErrors(t *testing.T) {
	const dim = 8
	data := make([]float32, 512)
	rotary := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	positions := []int32{1, 2, 3, 4, 5, 6}
	good := V{Data: data[:96], Heads: 2, TokenStride: dim, HeadStride: 3 * dim, SequenceTokens: 3, SequenceStride: 6 * dim}
	change := func(f func(v *V)) V {
		v := good
		f(&v)
		return v
	}
	fails := testkit.Failures(t, data)
	fails(posenc.Rotate(rotary.At(positions), change(func(v *V) { v.SequenceStride = 0 })), posenc.ErrShape, "posenc.Rotate: xs[0].SequenceTokens is 3, want 0 where SequenceStride is 0")
	fails(posenc.Rotate(rotary.At(positions), change(func(v *V) { v.SequenceTokens = 0 })), posenc.ErrShape, "posenc.Rotate: xs[0].SequenceTokens is 0, want at least 1 where SequenceStride is 48")
	fails(posenc.Rotate(rotary.At(positions), change(func(v *V) { v.SequenceStride = -48 })), posenc.ErrShape, "posenc.Rotate: xs[0].SequenceStride is -48")
	fails(posenc.Rotate(rotary.At(positions), change(func(v *V) { v.SequenceTokens = 4 })), posenc.ErrShape, "posenc.Rotate: xs[0].SequenceTokens is 4, want a divisor of the number of tokens, 6")
	fails(posenc.Rotate(rotary.At(positions), change(func(v *V) { v.Data = data[:95] })), posenc.ErrLength, "posenc.Rotate: xs[0].Data has 95 elements, want at least 96 for 6 tokens of 2 heads of 8 at SequenceStride 48, TokenStride 8 and HeadStride 24")
	fails(posenc.Rotate(rotary.At(positions), change(func(v *V) { v.SequenceStride = math.MaxInt })), posenc.ErrLength, "posenc.Rotate: xs[0].Data has 96 elements")
	fails(posenc.Rotate(rotary.At(positions), change(func(v *V) { v.SequenceStride = 47 })), posenc.ErrOverlap, "posenc.Rotate: xs[0].TokenStride is 8, want heads of 8 that do not overlap, with 2 heads at HeadStride 24 and 2 sequences at SequenceStride 47")
	fails(posenc.Rotate(rotary.At(positions), V{Data: data[:47], Heads: 1}), posenc.ErrLength, "posenc.Rotate: xs[0].Data has 47 elements, want 48 for 6 tokens of 1 head of 8")
	fails(posenc.Rotate(rotary.At(positions), V{Data: data, Heads: 2, TokenStride: 8}), posenc.ErrOverlap, "posenc.Rotate: xs[0].TokenStride is 8, want heads of 8 that do not overlap, with 2 heads at HeadStride 8; HeadStride is 0, set it too if")
	fails(posenc.Rotate(rotary.At(positions), V{Data: data[:200], Heads: 2, HeadStride: 48}), posenc.ErrOverlap, "posenc.Rotate: xs[0].TokenStride is 16, want heads of 8 that do not overlap, with 2 heads at HeadStride 48; TokenStride is 0, set it too")
	fails(posenc.Rotate(rotary.At(positions), V{Data: data[:100], Heads: 2, TokenStride: 17, HeadStride: 8}), posenc.ErrLength, "posenc.Rotate: xs[0].Data has 100 elements, want at least 101 for 6 tokens of 2 heads of 8 at TokenStride 17 and HeadStride 8")
	fails(posenc.Rotate(rotary.At(positions), V{Data: data, Heads: 1, TokenStride: 7}), posenc.ErrOverlap, "posenc.Rotate: xs[0].TokenStride is 7, want heads of 8 that do not overlap, with 1 head at HeadStride 8: overlapping")
	fails(posenc.Rotate(rotary.At(positions), V{Data: data, Heads: 2, TokenStride: 8, HeadStride: 4}), posenc.ErrOverlap, "posenc.Rotate: xs[0].TokenStride is 8, want heads of 8 that do not overlap, with 2 heads at HeadStride 4: overlapping")
	fails(posenc.Rotate(rotary.At(positions), V{Data: data, Heads: 2, SequenceTokens: 3, SequenceStride: 47}), posenc.ErrOverlap, "posenc.Rotate: xs[0].TokenStride is 16, want heads of 8 that do not overlap, with 2 heads at HeadStride 8 and 2 sequences at SequenceStride 47: overlapping")
	fails(posenc.Rotate(rotary.At(positions), change(func(v *V) { v.Data, v.SequenceStride = data, 100 }), V{Data: data[48:], Heads: 1, TokenStride: 53}), posenc.ErrOverlap, "posenc.Rotate: xs[1] is sharing elements with xs[0]")
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
