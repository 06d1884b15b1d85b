package posenc_test

import (
	"errors"
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestCosSinMixedErrors(t *testing.T) {
	memory := make([]float32, 24)
	cos, sin, positions, shared := memory[:6], memory[6:12], make([]float32, 4), make([]float32, 12) // 2 tokens of 3 entries
	f := func(change func(f *posenc.MixedFrequencies)) posenc.MixedFrequencies {
		f := posenc.MixedFrequencies{InvFreq: []float64{1, 2, 3, 0x1p40, 5, 6}, Axes: 2}
		change(&f)
		return f
	}
	same := func(*posenc.MixedFrequencies) {}
	nan := float32(math.NaN())
	fails := testkit.Failures(t, memory)
	fails(posenc.CosSinMixed(cos, sin, positions, f(func(f *posenc.MixedFrequencies) { f.Axes = 0 })), posenc.ErrConfig, "posenc.CosSinMixed: f.Axes is 0, want from 1 to 8")
	fails(posenc.CosSinMixed(cos, sin, positions, f(func(f *posenc.MixedFrequencies) { f.Rounding = 2 })), posenc.ErrConfig, "posenc.CosSinMixed: f.Rounding is 2, want frequency.Exact or frequency.Float32")
	fails(posenc.CosSinMixed(cos, sin, positions, f(func(f *posenc.MixedFrequencies) { f.InvFreq = f.InvFreq[:5] })), posenc.ErrConfig, "posenc.CosSinMixed: f.InvFreq has 5 elements, want a multiple of Axes 2")
	fails(posenc.CosSinMixed(cos, sin, positions, f(func(f *posenc.MixedFrequencies) { f.InvFreq[4] = math.NaN() })), posenc.ErrConfig, "posenc.CosSinMixed: f.InvFreq[4] is NaN")
	fails(posenc.CosSinMixed(cos, sin, positions, f(func(f *posenc.MixedFrequencies) { f.InvFreq[4] = 0x1p50 })), posenc.ErrConfig, "posenc.CosSinMixed: f.InvFreq[4] is 1.125899906842624e+15")
	fails(posenc.CosSinMixed(cos, sin, positions[:3], f(same)), posenc.ErrLength, "posenc.CosSinMixed: positions has 3 elements, want a multiple of 2")
	fails(posenc.CosSinMixed(cos, sin, []float32{0, nan, 0, 0}, f(same)), posenc.ErrPosition, "posenc.CosSinMixed: positions[1] is NaN")
	fails(posenc.CosSinMixed(cos, sin, []float32{512, 512, 512, 0}, f(same)), posenc.ErrPosition, "posenc.CosSinMixed: positions[2] is 512, want a number whose product with the frequency 1.099511627776e+12 is below 2^50/2 in magnitude")
	fails(posenc.CosSinMixed(cos[:5], sin, positions, f(same)), posenc.ErrLength, "posenc.CosSinMixed: cos has 5 elements, want 6 for 2 rows of 3")
	fails(posenc.CosSinMixed(cos, memory[5:11], positions, f(same)), posenc.ErrOverlap, "posenc.CosSinMixed: sin is sharing elements with cos")
	fails(posenc.CosSinMixed(cos, shared[:6], shared[5:9], f(same)), posenc.ErrOverlap, "posenc.CosSinMixed: sin is sharing memory with positions")
	fails(posenc.CosSinMixed(cos[:1], sin[:1], []float32{float32(math.Inf(1)), 0}, posenc.MixedFrequencies{InvFreq: []float64{0, 0}, Axes: 2}), posenc.ErrPosition, "posenc.CosSinMixed: positions[0] is +Inf")
	fails(posenc.CosSinMixed(shared[6:], sin, positions, posenc.MixedFrequencies{InvFreq: wordsOf[float64](shared), Axes: 2}), posenc.ErrOverlap, "posenc.CosSinMixed: cos is sharing memory with f.InvFreq")
	if err := errors.Join(posenc.CosSinMixed(nil, nil, nil, f(same)), posenc.CosSinMixed(cos[:1], sin[:1], []float32{math.MaxFloat32, 0}, posenc.MixedFrequencies{InvFreq: []float64{0, 0}, Axes: 2}), posenc.CosSinMixed(nil, nil, []float32{1, 2}, posenc.MixedFrequencies{Axes: 2}), posenc.CosSinMixed(cos, sin, []float32{511, -511, 511, -511}, f(same))); err != nil {
		t.Error(err)
	}
}
