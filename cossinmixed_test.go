package posenc_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
)

// With one axis it is CosSinFractional, with frequencies of one axis each a Rotary of
// several.
func TestCosSinMixedOfOneAxisEach(t *testing.T) {
	r := testkit.NewRand(131)
	for _, rounding := range []frequency.Rounding{frequency.Exact, frequency.Float32} {
		const pairs, tokens = 9, 20
		cfg := posenc.RotaryConfig{HeadDim: 2 * pairs, Layout: posenc.HalfSplit, InvFreq: testkit.LadderOf(pairs), Axes: make([]uint8, pairs), Rounding: rounding}
		mixed := posenc.MixedFrequencies{InvFreq: make([]float64, 3*pairs), Axes: 3, Rounding: rounding}
		for i := range cfg.Axes {
			cfg.Axes[i] = uint8((i + 2) % 3)
			mixed.InvFreq[3*i+(i+2)%3] = cfg.InvFreq[i]
		}
		positions := make([]float32, 3*tokens)
		for i := range positions {
			positions[i] = float32(100 * r.NormFloat64())
		}
		cos, sin := make([]float32, tokens*pairs), make([]float32, tokens*pairs)
		wantCos, wantSin := slices.Clone(cos), slices.Clone(sin)
		testkit.NoError(t, posenc.CosSinMixed(cos, sin, positions, mixed), testkit.MustRotary(cfg).CosSinFractional(wantCos, wantSin, positions))
		if !slices.Equal(cos, wantCos) || !slices.Equal(sin, wantSin) {
			t.Errorf("rounding %d: other cosines and sines than those of a Rotary", rounding)
		}
	}
}

func TestCosSinMixedErrors(t *testing.T) {
	memory := make([]float32, 24)
	cos, sin, positions, shared := memory[:6], memory[6:12], make([]float32, 4), make([]float32, 12) // 2 tokens of 3 entries
	wide := wordsOf[float64](shared)
	f := func(change func(f *posenc.MixedFrequencies)) posenc.MixedFrequencies {
		f := posenc.MixedFrequencies{InvFreq: []float64{1, 2, 3, 0x1p40, 5, 6}, Axes: 2}
		change(&f)
		return f
	}
	same := func(*posenc.MixedFrequencies) {}
	nan := float32(math.NaN())
	wrong := func(name string, kind error, says string, cos, sin, positions []float32, f posenc.MixedFrequencies) testkit.Wrong {
		return testkit.Wrong{Name: name, Kind: kind, Says: []string{"posenc.CosSinMixed: " + says}, Call: func() error { return posenc.CosSinMixed(cos, sin, positions, f) }}
	}
	testkit.CheckWrong(t, []testkit.Wrong{
		wrong("no axes", posenc.ErrConfig, "f.Axes is 0, want from 1 to 8", cos, sin, positions, f(func(f *posenc.MixedFrequencies) { f.Axes = 0 })),
		wrong("nine axes", posenc.ErrConfig, "f.Axes is 9", cos, sin, positions, f(func(f *posenc.MixedFrequencies) { f.Axes = 9 })),
		wrong("rounding", posenc.ErrConfig, "f.Rounding is 2, want frequency.Exact or frequency.Float32", cos, sin, positions, f(func(f *posenc.MixedFrequencies) { f.Rounding = 2 })),
		wrong("frequencies", posenc.ErrConfig, "f.InvFreq has 5 elements, want a multiple of Axes 2", cos, sin, positions, f(func(f *posenc.MixedFrequencies) { f.InvFreq = f.InvFreq[:5] })),
		wrong("frequency", posenc.ErrConfig, "f.InvFreq[4] is NaN", cos, sin, positions, f(func(f *posenc.MixedFrequencies) { f.InvFreq[4] = math.NaN() })),
		wrong("frequency 2^50", posenc.ErrConfig, "f.InvFreq[4] is 1.125899906842624e+15", cos, sin, positions, f(func(f *posenc.MixedFrequencies) { f.InvFreq[4] = 0x1p50 })),
		wrong("positions", posenc.ErrLength, "positions has 3 elements, want a multiple of 2", cos, sin, positions[:3], f(same)),
		wrong("NaN", posenc.ErrPosition, "positions[1] is NaN", cos, sin, []float32{0, nan, 0, 0}, f(same)),
		wrong("infinite", posenc.ErrPosition, "positions[0] is -Inf", cos, sin, []float32{float32(math.Inf(-1)), 0, 0, 0}, f(same)),
		wrong("infinite by 0", posenc.ErrPosition, "positions[0] is +Inf", cos[:1], sin[:1], []float32{float32(math.Inf(1)), 0}, posenc.MixedFrequencies{InvFreq: []float64{0, 0}, Axes: 2}),
		wrong("far", posenc.ErrPosition, "positions[2] is 512, want a number whose product with the frequency 1.099511627776e+12 is below 2^50/2 in magnitude", cos, sin, []float32{512, 512, 512, 0}, f(same)),
		wrong("cos", posenc.ErrLength, "cos has 5 elements, want 6 for 2 rows of 3", cos[:5], sin, positions, f(same)),
		wrong("sin", posenc.ErrOverlap, "sin is sharing elements with cos", cos, memory[5:11], positions, f(same)),
		wrong("positions", posenc.ErrOverlap, "sin is sharing memory with positions", cos, shared[:6], shared[5:9], f(same)),
		wrong("frequencies", posenc.ErrOverlap, "cos is sharing memory with f.InvFreq", shared[6:], sin, positions, posenc.MixedFrequencies{InvFreq: wide, Axes: 2}),
	}, memory)
	if err := errors.Join(posenc.CosSinMixed(nil, nil, nil, f(same)), posenc.CosSinMixed(nil, nil, []float32{1, 2}, posenc.MixedFrequencies{Axes: 2}), posenc.CosSinMixed(cos, sin, []float32{511, -511, 511, -511}, f(same)),
		posenc.CosSinMixed(cos[:1], sin[:1], []float32{math.MaxFloat32, 0}, posenc.MixedFrequencies{InvFreq: []float64{0, 0}, Axes: 2})); err != nil {
		t.Error(err)
	}
}
