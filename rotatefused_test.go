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
	by := func(name string, a posenc.Angles, kind error, says string, xs ...F) testkit.Wrong {
		return testkit.Wrong{Name: name, Call: func() error { return posenc.RotateFused(a, xs...) }, Kind: kind, Says: []string{"posenc.RotateFused: " + says}}
	}
	fused := func(name string, kind error, says string, xs ...F) testkit.Wrong {
		return by(name, rotary.At(positions), kind, says, xs...)
	}
	testkit.CheckWrong(t, []testkit.Wrong{
		by("zero angles", posenc.Angles{}, posenc.ErrConfig, "a is zero, or from a nil Rotary or nil Rows, want Angles"),
		by("no rotary", (*posenc.Rotary)(nil).At(positions), posenc.ErrConfig, "a is zero, or from a nil Rotary or nil Rows, want Angles", F{View: x}),
		by("zero rotary", new(posenc.Rotary).At(positions), posenc.ErrConfig, "a is from a zero Rotary", F{View: x}),
		by("zero rows", new(posenc.Rows).All(), posenc.ErrConfig, "a is from zero Rows", F{View: x}),
		fused("data", posenc.ErrLength, "xs[0].Data has 15 elements, want 16", F{View: V{Data: memory[:15], Heads: 2}}),
		fused("zero norm", posenc.ErrConfig, "xs[0].Norm is zero, want nil or an RMSNorm from NewRMSNorm", F{View: x, Norm: &posenc.RMSNorm{}}),
		fused("norm of another size", posenc.ErrShape, "xs[0].Norm has 6 elements, want HeadDim = 4 or Heads*HeadDim = 8", F{View: x, Norm: norm6}),
		fused("norm of heads apart", posenc.ErrShape, "xs[0].HeadStride is 6, want 0 or HeadDim = 4", F{View: strided(memory, 2, 12, 6), Norm: norm8}),
		fused("scale of more tokens", posenc.ErrLength, "xs[0].QueryScales has 3 elements, want 2, one for each token", F{View: x, QueryScales: memory[20:23]}),
		fused("scale of no tokens", posenc.ErrLength, "xs[0].QueryScales has 0 elements, want 2", F{View: x, QueryScales: []float32{}}),
		fused("scale in its view", posenc.ErrOverlap, "xs[0].QueryScales is sharing memory with xs[0]", F{View: x, QueryScales: memory[15:17]}),
		fused("scale in another view", posenc.ErrOverlap, "xs[1].QueryScales is sharing memory with xs[0]", F{View: x}, F{View: V{Data: memory[16:32], Heads: 2}, QueryScales: memory[:2]}),
		by("fractional positions in a view", rotary.AtFractional(memory[15:17]), posenc.ErrOverlap, "xs[1] is sharing memory with the positions", F{View: V{Data: memory[32:48], Heads: 2}}, F{View: x}),
		by("fractional positions behind a view", rotary.AtFractional(memory[15:17]), posenc.ErrOverlap, "xs[0] is sharing memory with the positions", F{View: V{Data: memory[16:32], Heads: 2}}),
		fused("same view", posenc.ErrOverlap, "xs[1] is sharing elements with xs[0]", F{View: x}, F{View: x}),
	}, memory)
	const wide = 1 << 16
	for _, err := range []error{
		posenc.RotateFused(testkit.MustRotary(posenc.RotaryConfig{HeadDim: wide, RotaryDim: 2, Layout: posenc.HalfSplit}).At([]int32{3}), F{View: strided(make([]float32, wide), 1, wide, 2*wide), Norm: mustNorm(make([]float32, wide), 1, false)}),
		posenc.RotateFused(rotary.At(nil), F{View: V{Heads: 1}, Norm: norm4, QueryScales: []float32{}}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}
