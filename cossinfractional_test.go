package posenc_test

import (
	"errors"
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestCosSinFractionalErrors(t *testing.T) {
	r := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 4})
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	decaying := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 4, XPos: &posenc.XPos{ScaleBase: 512}})
	axes := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 4, Axes: []uint8{0, 1}})
	memory := make([]float32, 8)
	for _, tt := range []struct {
		name string
		err  error
		want error
	}{
		{"nil", (*posenc.Rotary)(nil).CosSinFractional(nil, nil, nil), posenc.ErrConfig},
		{"zero", new(posenc.Rotary).CosSinFractional(nil, nil, nil), posenc.ErrConfig},
		{"xPos", decaying.CosSinFractional(memory[:2], memory[2:4], memory[4:5]), posenc.ErrConfig},
		{"axes", axes.CosSinFractional(memory[:2], memory[2:4], memory[4:5]), posenc.ErrLength},
		{"NaN", r.CosSinFractional(memory[:2], memory[2:4], []float32{nan}), posenc.ErrPosition},
		{"infinity", r.CosSinFractional(memory[:2], memory[2:4], []float32{inf}), posenc.ErrPosition},
		{"far", r.CosSinFractional(memory[:2], memory[2:4], []float32{3e9}), posenc.ErrPosition},
		{"short", r.CosSinFractional(memory[:1], memory[2:4], []float32{1}), posenc.ErrLength},
		{"overlap", r.CosSinFractional(memory[:2], memory[1:3], []float32{1}), posenc.ErrOverlap},
		{"in place", r.CosSinFractional(memory[:2], memory[2:4], memory[3:4]), posenc.ErrOverlap},
	} {
		if !errors.Is(tt.err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, tt.err, tt.want)
		}
	}
}
