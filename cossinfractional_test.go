package posenc_test

import (
	"errors"
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestFractionalErrors(t *testing.T) {
	r := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit})
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	decaying := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, XPos: &posenc.XPos{ScaleBase: 512}})
	axes := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, Axes: []uint8{0, 1}})
	memory := make([]float32, 16)
	fails := testkit.Failures(t, memory)
	fails((*posenc.Rotary)(nil).CosSinFractional(nil, nil, nil), posenc.ErrConfig, "posenc.Rotary.CosSinFractional: ")
	fails(new(posenc.Rotary).CosSinFractional(nil, nil, nil), posenc.ErrConfig, "posenc.Rotary.CosSinFractional: ")
	fails(decaying.CosSinFractional(memory[:2], memory[2:4], memory[4:5]), posenc.ErrConfig, "posenc.Rotary.CosSinFractional: ")
	fails(axes.CosSinFractional(memory[:2], memory[2:4], memory[4:5]), posenc.ErrLength, "posenc.Rotary.CosSinFractional: ")
	fails(r.CosSinFractional(memory[:2], memory[2:4], []float32{nan}), posenc.ErrPosition, "posenc.Rotary.CosSinFractional: ")
	fails(r.CosSinFractional(memory[:2], memory[2:4], []float32{inf}), posenc.ErrPosition, "posenc.Rotary.CosSinFractional: ")
	fails(r.CosSinFractional(memory[:2], memory[2:4], []float32{3e9}), posenc.ErrPosition, "posenc.Rotary.CosSinFractional: positions[0] is 3e+09, want a number of at most 2^31 in magnitude: position")
	fails(r.CosSinFractional(memory[:1], memory[2:4], []float32{1}), posenc.ErrLength, "posenc.Rotary.CosSinFractional: ")
	fails(r.CosSinFractional(memory[:2], memory[1:3], []float32{1}), posenc.ErrOverlap, "posenc.Rotary.CosSinFractional: ")
	fails(r.CosSinFractional(memory[:2], memory[2:4], memory[3:4]), posenc.ErrOverlap, "posenc.Rotary.CosSinFractional: ")
	x := V{Data: memory[:4], Heads: 1}
	fails(posenc.Rotate((*posenc.Rotary)(nil).AtFractional([]float32{1}), x), posenc.ErrConfig, "posenc.Rotate: a is zero, from a nil Rotary")
	fails(posenc.Rotate(new(posenc.Rotary).AtFractional([]float32{1}), x), posenc.ErrConfig, "posenc.Rotate: a is from a zero Rotary")
	fails(posenc.Rotate(decaying.AtFractional([]float32{1}), x), posenc.ErrConfig, "posenc.Rotate: a is from fractional positions and a Rotary with XPos, want a Rotary without XPos")
	fails(posenc.Rotate(axes.AtFractional([]float32{1}), x), posenc.ErrLength, "posenc.Rotate: positions has 1 element, want a multiple of 2")
	fails(posenc.RotateInverse(r.AtFractional([]float32{float32(math.NaN())}), x), posenc.ErrPosition, "posenc.RotateInverse: positions[0] is NaN")
	fails(posenc.Rotate(r.AtFractional([]float32{1, 2}), x), posenc.ErrLength, "posenc.Rotate: xs[0].Data has 4 elements, want 8")
	memory[3] = 1
	if err := posenc.Rotate(r.AtFractional(memory[3:4]), x); !errors.Is(err, posenc.ErrOverlap) {
		t.Errorf("positions among the elements: %v", err)
	}
	if err := posenc.RotateInto(r.AtFractional(memory[3:4]), x, nil, V{Data: memory[8:12], Heads: 1}); !errors.Is(err, posenc.ErrOverlap) {
		t.Errorf("positions among the elements of dst: %v", err)
	}
	testkit.NoError(t, r.CosSinFractional(memory[:2], memory[2:4], []float32{-0x1p31}))
}
