package posenc_test

import (
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestRotateFusedErrors(t *testing.T) {
	type F = posenc.FusedView[float32]
	rotary := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit})
	norm4, norm8, norm6 := mustNorm(make([]float32, 4), 1, false), mustNorm(make([]float32, 8), 1, false), mustNorm(make([]float32, 6), 1, false)
	memory := make([]float32, 64)
	x := V{Data: memory[:16], Heads: 2} // 2 tokens of 2 heads of 4
	positions := []int32{3, 4}
	fails := testkit.Failures(t, memory)
	fails(posenc.RotateFused[float32](posenc.Angles{}), posenc.ErrConfig, "posenc.RotateFused: a is zero, from a nil Rotary or nil Rows, or of a layer that there is not, want Angles")
	fails(posenc.RotateFused(rotary.At(positions), F{View: V{Data: memory[:15], Heads: 2}}), posenc.ErrLength, "posenc.RotateFused: xs[0].Data has 15 elements, want 16")
	fails(posenc.RotateFused(rotary.At(positions), F{View: x, Norm: &posenc.RMSNorm{}}), posenc.ErrConfig, "posenc.RotateFused: xs[0].Norm is zero, want nil or an RMSNorm from NewRMSNorm")
	fails(posenc.RotateFused(rotary.At(positions), F{View: x, Norm: norm6}), posenc.ErrShape, "posenc.RotateFused: xs[0].Norm has 6 elements, want HeadDim = 4 or Heads*HeadDim = 8")
	fails(posenc.RotateFused(rotary.At(positions), F{View: strided(memory, 2, 12, 6), Norm: norm8}), posenc.ErrShape, "posenc.RotateFused: xs[0].HeadStride is 6, want 0 or HeadDim = 4")
	fails(posenc.RotateFused(rotary.At(positions), F{View: x, QueryScales: memory[20:23]}), posenc.ErrLength, "posenc.RotateFused: xs[0].QueryScales has 3 elements, want 2, one for each token")
	fails(posenc.RotateFused(rotary.At(positions), F{View: x, QueryScales: []float32{}}), posenc.ErrLength, "posenc.RotateFused: xs[0].QueryScales has 0 elements, want 2")
	fails(posenc.RotateFused(rotary.At(positions), F{View: x, QueryScales: memory[15:17]}), posenc.ErrOverlap, "posenc.RotateFused: xs[0].QueryScales is sharing memory with xs[0]")
	fails(posenc.RotateFused(rotary.At(positions), F{View: x}, F{View: V{Data: memory[16:32], Heads: 2}, QueryScales: memory[:2]}), posenc.ErrOverlap, "posenc.RotateFused: xs[1].QueryScales is sharing memory with xs[0]")
	fails(posenc.RotateFused(rotary.AtFractional(memory[15:17]), F{View: V{Data: memory[32:48], Heads: 2}}, F{View: x}), posenc.ErrOverlap, "posenc.RotateFused: xs[1] is sharing memory with the positions")
	fails(posenc.RotateFused(rotary.At(positions), F{View: x}, F{View: x}), posenc.ErrOverlap, "posenc.RotateFused: xs[1] is sharing elements with xs[0]")
	const wide = 1 << 16
	testkit.NoError(t, posenc.RotateFused(rotary.At(nil), F{View: V{Heads: 1}, Norm: norm4, QueryScales: []float32{}}),
		posenc.RotateFused(testkit.MustRotary(posenc.RotaryConfig{HeadDim: wide, RotaryDim: 2, Layout: posenc.HalfSplit}).At([]int32{3}), F{View: strided(make([]float32, wide), 1, wide, 2*wide), Norm: mustNorm(make([]float32, wide), 1, false)}))
}
