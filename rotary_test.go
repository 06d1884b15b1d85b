package posenc_test

import (
	"errors"
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestNewRotaryErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	fails := testkit.Failures(t)
	for _, tt := range []struct {
		cfg  posenc.RotaryConfig
		says string
	}{
		{posenc.RotaryConfig{}, "cfg.HeadDim is 0"},
		{posenc.RotaryConfig{HeadDim: 1, Layout: posenc.HalfSplit}, "cfg.RotaryDim is 1"},
		{posenc.RotaryConfig{HeadDim: 8, RotaryDim: 3, Layout: posenc.HalfSplit}, "cfg.RotaryDim is 3"},
		{posenc.RotaryConfig{HeadDim: 8, RotaryDim: 10, Layout: posenc.HalfSplit}, "cfg.RotaryDim is 10, want an even number from 2 to HeadDim 8"},
		{posenc.RotaryConfig{HeadDim: 1 << 20, RotaryDim: 2050, Layout: posenc.HalfSplit}, "cfg.RotaryDim is 2050"},
		{posenc.RotaryConfig{HeadDim: 8, RotaryDim: 4, Layout: posenc.HalfSplit, Offset: -1}, "cfg.Offset is -1"},
		{posenc.RotaryConfig{HeadDim: 8, RotaryDim: 4, Layout: posenc.HalfSplit, Offset: 5}, "cfg.Offset is 5"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Offset: 1}, "cfg.Offset is 1"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: 5}, "cfg.Layout is Layout(5)"},
		{posenc.RotaryConfig{HeadDim: 8}, "cfg.Layout is Layout(0), want HalfSplit or another constant"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Rounding: 2}, "cfg.Rounding is 2"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Base: nan}, "cfg.Base is NaN"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Base: 1}, "cfg.Base is 1"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Base: inf}, "cfg.Base is +Inf"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Base: 1e39, Rounding: frequency.Float32}, "cfg.Base is 1e+39"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Base: 1 + 1e-12, Rounding: frequency.Float32}, "cfg.Base is 1.000000000001, want 0 or a finite number above 1, with frequency.Float32 as a float32 too"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, InvFreq: make([]float64, 3)}, "cfg.InvFreq has 3 elements"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, InvFreq: []float64{}}, "cfg.InvFreq has 0 elements"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, InvFreq: []float64{1, 2, nan, 3}}, "cfg.InvFreq[2] is NaN"},
		{posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, InvFreq: []float64{1, -inf}}, "cfg.InvFreq[1] is -Inf"},
		{posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, InvFreq: []float64{1, 0x1p50}}, "cfg.InvFreq[1] is 1.125899906842624e+15"},
		{posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, InvFreq: []float64{-0x1p50, 1}, Rounding: frequency.Float32}, "cfg.InvFreq[0] is -1.125899906842624e+15"},
		{posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, Base: 10000, InvFreq: []float64{1, 2}}, "cfg.Base is 10000"},
		{posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, Axes: []uint8{0, 1}, XPos: &posenc.XPos{ScaleBase: 512}}, "cfg.Axes has 2 elements, want nil with XPos"},
		{posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, XPos: &posenc.XPos{}}, "cfg.XPos.ScaleBase is 0, want a finite number of at least 2^-50"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, AttentionFactor: nan}, "cfg.AttentionFactor is NaN"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, AttentionFactor: -1}, "cfg.AttentionFactor is -1"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, AttentionFactor: 4e38}, "cfg.AttentionFactor is 4e+38"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, AttentionFactor: 1e-60}, "cfg.AttentionFactor is 1e-60"},
	} {
		fails(testkit.Made(posenc.NewRotary(tt.cfg)), posenc.ErrConfig, "posenc.NewRotary: "+tt.says)
	}
	testkit.MustRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, AttentionFactor: math.MaxFloat32})
	for _, layout := range allLayouts {
		testkit.MustRotary(posenc.RotaryConfig{HeadDim: 4096, RotaryDim: 2048, Layout: layout})
	}
}

// The largest frequencies and positions that are allowed are those whose
// angles generic takes.
func TestLastPosition(t *testing.T) {
	r := testkit.NewRand(31)
	for range testkit.Rounds(20000) {
		w := math.Ldexp(1+r.Float64(), r.IntN(34)+16)
		if r.IntN(4) == 0 {
			w = 0x1p50 / float64(1+r.IntN(1<<20)) // the angle is 2^50, or next to it
		}
		if r.IntN(4) == 0 {
			w = math.Nextafter(w, 0)
		}
		if !(w < 0x1p50) {
			continue
		}
		rotary := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, InvFreq: []float64{1, -w}})
		last := min(cossin.LastPosition(w), math.MaxInt32)
		if last < 1 && w < 0x1p49 {
			t.Fatalf("frequency %x: last position %d", w, last)
		}
		var cos, sin [2]float32
		for _, p := range []int32{int32(last), int32(-last)} {
			if err := rotary.CosSin(cos[:], sin[:], []int32{p}); err != nil || cos[1] != cos[1] || sin[1] != sin[1] {
				t.Fatalf("frequency %x, position %d: got %v, %v, error %v", w, p, cos, sin, err)
			}
		}
		if next := float64(last) + 1; last < math.MaxInt32 {
			if err := rotary.CosSin(cos[:], sin[:], []int32{int32(next)}); !errors.Is(err, posenc.ErrPosition) {
				t.Fatalf("frequency %x, position %v: got error %v", w, next, err)
			}
			if next*w < 0x1p50*(1-0x1p-50) {
				t.Fatalf("frequency %x: position %v is refused, though its angle is below 2^50", w, next)
			}
		}
	}
}
