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
	var calls []testkit.Wrong
	for _, tt := range []struct {
		name string
		cfg  posenc.RotaryConfig
		says []string
	}{
		{"empty", posenc.RotaryConfig{}, []string{"cfg.HeadDim is 0"}},
		{"negative head", posenc.RotaryConfig{HeadDim: -8, Layout: posenc.HalfSplit}, []string{"cfg.HeadDim is -8"}},
		{"odd head", posenc.RotaryConfig{HeadDim: 7, Layout: posenc.HalfSplit}, []string{"cfg.RotaryDim is 7"}},
		{"odd", posenc.RotaryConfig{HeadDim: 8, RotaryDim: 3, Layout: posenc.HalfSplit}, []string{"cfg.RotaryDim is 3"}},
		{"negative", posenc.RotaryConfig{HeadDim: 8, RotaryDim: -2, Layout: posenc.HalfSplit}, []string{"cfg.RotaryDim is -2"}},
		{"beyond the head", posenc.RotaryConfig{HeadDim: 8, RotaryDim: 10, Layout: posenc.HalfSplit}, []string{"cfg.RotaryDim is 10", "8"}},
		{"huge", posenc.RotaryConfig{HeadDim: math.MaxInt - 1, Layout: posenc.HalfSplit}, []string{"cfg.RotaryDim is"}},
		{"above the bound", posenc.RotaryConfig{HeadDim: 1 << 20, RotaryDim: 2050, Layout: posenc.HalfSplit}, []string{"cfg.RotaryDim is 2050", "at most 2048"}},
		{"frequencies above the bound", posenc.RotaryConfig{HeadDim: 1 << 20, Layout: posenc.HalfSplit, InvFreq: make([]float64, 1<<19)}, []string{"cfg.RotaryDim is 1048576", "at most 2048"}},
		{"head of 1", posenc.RotaryConfig{HeadDim: 1, Layout: posenc.HalfSplit}, []string{"cfg.RotaryDim is 1"}},
		{"negative offset", posenc.RotaryConfig{HeadDim: 8, RotaryDim: 4, Layout: posenc.HalfSplit, Offset: -1}, []string{"cfg.Offset is -1"}},
		{"offset", posenc.RotaryConfig{HeadDim: 8, RotaryDim: 4, Layout: posenc.HalfSplit, Offset: 5}, []string{"cfg.Offset is 5", "4"}},
		{"huge offset", posenc.RotaryConfig{HeadDim: 8, RotaryDim: 4, Layout: posenc.HalfSplit, Offset: math.MaxInt}, []string{"cfg.Offset is"}},
		{"offset of a whole head", posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Offset: 1}, []string{"cfg.Offset is 1"}},
		{"layout", posenc.RotaryConfig{HeadDim: 8, Layout: 5}, []string{"cfg.Layout is Layout(5)"}},
		{"no layout", posenc.RotaryConfig{HeadDim: 8}, []string{"cfg.Layout is Layout(0), want HalfSplit or another constant"}},
		{"angles", posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Rounding: 2}, []string{"cfg.Rounding is 2"}},
		{"base NaN", posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Base: nan}, []string{"cfg.Base is NaN"}},
		{"base 1", posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Base: 1}, []string{"cfg.Base is 1"}},
		{"base below 1", posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Base: 0.5}, []string{"cfg.Base is 0.5"}},
		{"base negative", posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Base: -10000}, []string{"cfg.Base is -10000"}},
		{"base infinite", posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Base: inf}, []string{"cfg.Base is +Inf"}},
		{"base beyond float32", posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Base: 1e39, Rounding: frequency.Float32}, []string{"cfg.Base is 1e+39"}},
		{"base 1 as float32", posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Base: 1 + 1e-12, Rounding: frequency.Float32}, []string{"cfg.Base is 1.000000000001, want 0 or a finite number above 1, with frequency.Float32 as a float32 too"}},
		{"too few frequencies", posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, InvFreq: make([]float64, 3)}, []string{"cfg.InvFreq has 3 elements", "4"}},
		{"too many frequencies", posenc.RotaryConfig{HeadDim: 8, RotaryDim: 6, Layout: posenc.HalfSplit, InvFreq: make([]float64, 4)}, []string{"cfg.InvFreq has 4 elements", "3"}},
		{"no frequencies", posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, InvFreq: []float64{}}, []string{"cfg.InvFreq has 0 elements"}},
		{"frequency NaN", posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, InvFreq: []float64{1, 2, nan, 3}}, []string{"cfg.InvFreq[2] is NaN"}},
		{"frequency NaN first", posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, InvFreq: []float64{nan, 3}}, []string{"cfg.InvFreq[0] is NaN"}},
		{"frequency infinite", posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, InvFreq: []float64{1, -inf}}, []string{"cfg.InvFreq[1] is -Inf"}},
		{"frequency 2^50", posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, InvFreq: []float64{1, 0x1p50}}, []string{"cfg.InvFreq[1] is 1.125899906842624e+15"}},
		{"frequency -2^50", posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, InvFreq: []float64{-0x1p50, 1}, Rounding: frequency.Float32}, []string{"cfg.InvFreq[0] is -1.125899906842624e+15"}},
		{"base and frequencies", posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, Base: 10000, InvFreq: []float64{1, 2}}, []string{"cfg.Base is 10000"}},
		{"axes and decay", posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, Axes: []uint8{0, 1}, XPos: &posenc.XPos{ScaleBase: 512}}, []string{"cfg.Axes has 2 elements, want nil with XPos"}},
		{"decay by nothing", posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, XPos: &posenc.XPos{}}, []string{"cfg.XPos.ScaleBase is 0, want a finite number of at least 2^-50"}},
		{"scaling NaN", posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, AttentionFactor: nan}, []string{"cfg.AttentionFactor is NaN"}},
		{"scaling infinite", posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, AttentionFactor: inf}, []string{"cfg.AttentionFactor is +Inf"}},
		{"scaling negative", posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, AttentionFactor: -1}, []string{"cfg.AttentionFactor is -1"}},
		{"scaling beyond float32", posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, AttentionFactor: 4e38}, []string{"cfg.AttentionFactor is 4e+38"}},
		{"scaling 0 as float32", posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, AttentionFactor: 1e-60}, []string{"cfg.AttentionFactor is 1e-60"}},
	} {
		calls = append(calls, testkit.Wrong{Name: tt.name, Call: func() error {
			r, err := posenc.NewRotary(tt.cfg)
			if r != nil {
				t.Errorf("%s: a Rotary and an error", tt.name)
			}
			return err
		}, Kind: posenc.ErrConfig, Says: append(tt.says, "posenc.NewRotary: ")})
	}
	testkit.CheckWrong(t, calls)
	testkit.MustRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, AttentionFactor: math.MaxFloat32})
}

// What Config returns is the caller's to change.
func TestConfigIsCopied(t *testing.T) {
	r := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, XPos: &posenc.XPos{ScaleBase: 512}})
	cfg := r.Config()
	cfg.InvFreq[0], cfg.XPos.Center = 7, 7
	if again := r.Config(); again.InvFreq[0] != 1 || again.XPos.Center != 0 {
		t.Errorf("got %v and %+v", again.InvFreq, again.XPos)
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
