package posenc_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/exhaustive"
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

var _ = testkit.Register(testkit.Case{Function: "CosSinMixed", Call: cosSinMixedCall, Digests: cosSinMixedDigests,
	OnStack: func() error {
		var cos, sin [6]float32
		return posenc.CosSinMixed(cos[:], sin[:], []float32{1, 2, 0.5, 0.25}, posenc.MixedFrequencies{InvFreq: []float64{1, 0.5, 0.25, -1, 3, 2}, Axes: 2})
	},
	Long: func() error {
		cos, sin := make([]float32, 64*300), make([]float32, 64*300)
		return posenc.CosSinMixed(cos, sin, make([]float32, 600), posenc.MixedFrequencies{InvFreq: make([]float64, 128), Axes: 2, Rounding: frequency.Float32})
	},
})

func cosSinMixedCall(a *testkit.Arguments) testkit.Call {
	f := posenc.MixedFrequencies{Axes: a.Number(1, 4), Rounding: frequency.Rounding(a.Number(0, 1))}
	tokens, entries := a.Number(0, 12), a.Number(0, 80)
	positions := testkit.Slice[float32](a, testkit.Small(f.Axes, tokens))
	invFreq := testkit.Input[float64](a, testkit.Small(f.Axes, entries))
	for i := range positions {
		if !a.Any() || a.Yes() {
			positions[i] = float32(a.R.NormFloat64() * math.Ldexp(1, a.R.IntN(12)-6))
		}
	}
	for i := range invFreq {
		if !a.Any() || a.Yes() {
			invFreq[i] = a.R.NormFloat64() * math.Ldexp(1, a.R.IntN(12)-10)
		}
		if !a.Any() && a.R.IntN(16) == 0 {
			invFreq[i] = 0
		}
	}
	f.InvFreq = invFreq
	if axes := max(f.Axes, 1); !a.Any() && !a.Ordinary() && tokens > 0 && entries > 0 && a.Yes() { // a hard entry
		last := axes - 1
		rest := 0.0
		for axis := range last {
			rest += float64(positions[axis*tokens]) * invFreq[axis]
		}
		positions[last*tokens] = 3
		invFreq[last] = (testkit.HardFrequency(a.R, 1) - rest) / 3
	}
	call := tableCall(a, positions, max(f.Axes, 1), len(invFreq)/max(f.Axes, 1), func(cos, sin, positions []float32) error { return posenc.CosSinMixed(cos, sin, positions, f) },
		func() bool {
			if f.Axes < 1 || f.Axes > 8 || f.Rounding > frequency.Float32 || len(f.InvFreq)%f.Axes != 0 || len(positions)%f.Axes != 0 {
				return false
			}
			tokens, largest := len(positions)/f.Axes, make([]float64, f.Axes)
			for i, w := range f.InvFreq {
				if !(math.Abs(w) < 0x1p50) {
					return false
				}
				largest[i%f.Axes] = max(largest[i%f.Axes], math.Abs(w))
			}
			for i, p := range positions {
				if m := math.Abs(float64(p)); !(m <= math.MaxFloat32 && m*largest[i/tokens] < 0x1p50/float64(f.Axes)) {
					return false
				}
			}
			return true
		},
		func(few bool) (cos, sin []float32) { return cosSinMixedPlain(positions, f, few) })
	call.Allocates = 64 << 20 // what float64 cannot round
	return call
}

// cosSinMixedPlain takes the exact sums of as many bits as they have. (The reference has
// fewer: of a sum that is longer, it is generic's cosine and sine.)
func cosSinMixedPlain(positions []float32, f posenc.MixedFrequencies, few bool) (cos, sin []float32) {
	entries, tokens := len(f.InvFreq)/f.Axes, len(positions)/f.Axes
	cos, sin = make([]float32, tokens*entries), make([]float32, tokens*entries)
	for t := range tokens {
		for e := range entries {
			at := t*entries + e
			position := make([]float32, f.Axes)
			angle, sum := new(big.Float).SetPrec(2000), float32(0)
			for a := range f.Axes {
				p, w := positions[a*tokens+t], f.InvFreq[e*f.Axes+a]
				position[a] = p
				product := new(big.Float).SetPrec(2000).SetFloat64(float64(p))
				angle.Add(angle, product.Mul(product, new(big.Float).SetFloat64(w)))
				if rounded := float32(p * float32(w)); a == 0 {
					sum = rounded
				} else {
					sum += rounded
				}
			}
			switch {
			case f.Rounding == frequency.Float32:
				generic.CosSinFloat32(cos[at:], sin[at:], []float32{sum}, 1, 1, 1)
			case angle.Sign() == 0:
				cos[at], sin[at] = 1, 0
			case angle.MinPrec() > 300 || angle.MantExp(nil) < -80 || !few:
				generic.CosSinSum(cos[at:at+1], sin[at:], position, f.InvFreq[e*f.Axes:][:f.Axes])
			default:
				c, s := exhaustive.RealCosSin(exhaustive.NewReal().Set(angle))
				cos[at], _ = c.Float32()
				sin[at], _ = s.Float32()
			}
		}
	}
	return cos, sin
}

func cosSinMixedDigests(add testkit.AddDigest) {
	for rounding, name := range digestRoundings {
		add("CosSinMixed/angles="+name, func(d *testkit.Digest) {
			for _, axes := range []int{1, 2, 3, 8} {
				for _, entries := range []int{1, 33, 70} {
					const tokens = 17
					positions, cos, sin := testkit.DigestNumbers[float32](d, axes*tokens), make([]float32, tokens*entries), make([]float32, tokens*entries)
					d.Must(posenc.CosSinMixed(cos, sin, positions, posenc.MixedFrequencies{InvFreq: d.Frequencies(axes * entries), Axes: axes, Rounding: frequency.Rounding(rounding)}))
					d.Add(cos, sin)
				}
			}
		})
	}
}
