package posenc_test

import (
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestCosSinFractionalErrors(t *testing.T) {
	r := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 4})
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	decaying := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 4, XPos: &posenc.XPos{ScaleBase: 512}})
	axes := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Axes: []uint8{0, 1}})
	memory := make([]float32, 8)
	fails := testkit.Failures(t, memory)
	fails((*posenc.Rotary)(nil).CosSinFractional(nil, nil, nil), posenc.ErrConfig, "posenc.Rotary.CosSinFractional: ")
	fails(new(posenc.Rotary).CosSinFractional(nil, nil, nil), posenc.ErrConfig, "posenc.Rotary.CosSinFractional: ")
	fails(decaying.CosSinFractional(memory[:2], memory[2:4], memory[4:5]), posenc.ErrConfig, "posenc.Rotary.CosSinFractional: ")
	fails(axes.CosSinFractional(memory[:2], memory[2:4], memory[4:5]), posenc.ErrLength, "posenc.Rotary.CosSinFractional: ")
	fails(r.CosSinFractional(memory[:2], memory[2:4], []float32{nan}), posenc.ErrPosition, "posenc.Rotary.CosSinFractional: ")
	fails(r.CosSinFractional(memory[:2], memory[2:4], []float32{inf}), posenc.ErrPosition, "posenc.Rotary.CosSinFractional: ")
	fails(r.CosSinFractional(memory[:2], memory[2:4], []float32{3e9}), posenc.ErrPosition, "posenc.Rotary.CosSinFractional: ")
	fails(r.CosSinFractional(memory[:1], memory[2:4], []float32{1}), posenc.ErrLength, "posenc.Rotary.CosSinFractional: ")
	fails(r.CosSinFractional(memory[:2], memory[1:3], []float32{1}), posenc.ErrOverlap, "posenc.Rotary.CosSinFractional: ")
	fails(r.CosSinFractional(memory[:2], memory[2:4], memory[3:4]), posenc.ErrOverlap, "posenc.Rotary.CosSinFractional: ")
}
