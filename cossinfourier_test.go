package posenc_test

import (
	"cmp"
	"math"
	"math/big"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestCosSinFourierErrors(t *testing.T) {
	memory := make([]float32, 64)
	cos, sin, matrix := memory[:12], memory[12:24], memory[24:32] // 2 tokens of 2 heads of 3 pairs, of 2 frequencies
	r := func(dim, offset int) *posenc.Rotary {
		return testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, RotaryDim: 4, Offset: offset, Layout: posenc.HalfSplit})
	}
	whole, positions, c := r(6, 0), []int32{1, 2}, posenc.FourierCoefficients{Cos: matrix, Sin: matrix}
	fails := testkit.Failures(t, memory)
	fails((*posenc.Rotary)(nil).CosSinFourier(cos, sin, positions, c), posenc.ErrConfig, "posenc.Rotary.CosSinFourier: r is nil or zero")
	fails(r(7, 0).CosSinFourier(cos, sin, positions, c), posenc.ErrConfig, "posenc.Rotary.CosSinFourier: r is of another part of the head, want an even HeadDim and Offset 0")
	fails(r(6, 2).CosSinFourier(cos, sin, positions, c), posenc.ErrConfig, "want an even HeadDim and Offset 0")
	decays := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, XPos: &posenc.XPos{ScaleBase: 512}})
	fails(decays.CosSinFourier(cos, sin, positions, c), posenc.ErrConfig, "posenc.Rotary.CosSinFourier: r is a Rotary with XPos")
	fails(whole.CosSinFourier(cos, sin, positions, posenc.FourierCoefficients{Cos: matrix[:7], Sin: matrix[:7]}), posenc.ErrLength, "posenc.Rotary.CosSinFourier: coefficients.Cos has 7 elements, want a multiple of the 4 of a matrix for 2 frequencies")
	fails(whole.CosSinFourier(cos, sin, positions, posenc.FourierCoefficients{Cos: matrix}), posenc.ErrLength, "posenc.Rotary.CosSinFourier: coefficients.Sin has 0 elements")
	fails(whole.CosSinFourier(cos[:11], sin, positions, c), posenc.ErrLength, "posenc.Rotary.CosSinFourier: cos has 11 elements, want 12 for 2 rows of 6")
	fails(whole.CosSinFourier(cos, memory[20:32], positions, c), posenc.ErrOverlap, "posenc.Rotary.CosSinFourier: sin is sharing memory with coefficients.Cos")
	fails(whole.CosSinFourier(cos, cos, positions, c), posenc.ErrOverlap, "posenc.Rotary.CosSinFourier: sin is sharing elements with cos")
}

var _ = testkit.Register(testkit.Case{Function: "Rotary.CosSinFourier", Call: fourierCall, Digests: fourierDigests,
	OnStack: func() error {
		var cos, sin [8]float32
		var matrix [64]float32
		return stackRotary().CosSinFourier(cos[:], sin[:], []int32{77}, posenc.FourierCoefficients{Cos: matrix[:], Sin: matrix[:]})
	},
	Long: func() error {
		const n, tokens = 64, 100
		cos, sin, matrix := make([]float32, tokens*n), make([]float32, tokens*n), make([]float32, n*n)
		r := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 2 * n, Layout: posenc.HalfSplit})
		return r.CosSinFourier(cos, sin, testkit.Sequence(tokens), posenc.FourierCoefficients{Cos: matrix, Sin: matrix})
	},
})

func fourierCall(a *testkit.Arguments) testkit.Call {
	var r rotaryArgument
	if a.Any() {
		r = rotaryOf(a)
	} else { // few pairs: math/big takes its time
		pairs := 1 + a.Below(20)
		cfg := posenc.RotaryConfig{HeadDim: 2 * (pairs + a.Below(4)), RotaryDim: 2 * pairs, Layout: posenc.HalfSplit, Rounding: frequency.Rounding(a.Below(2)), InvFreq: testkit.LadderOf(pairs), AttentionFactor: []float64{0, 1.25}[a.Below(2)]}
		r = rotaryArgument{testkit.MustRotary(cfg), cfg, 1, false}
	}
	positions := positionsOf(a, &r)
	n, heads := r.pairs(), a.Number(1, 3)
	c := posenc.FourierCoefficients{Cos: testkit.Input[float32](a, testkit.Small(heads, n, n)), Sin: testkit.Input[float32](a, testkit.Small(heads, n, n))}
	if n > 0 {
		heads = len(c.Cos) / (n * n)
	}
	call := tableCall(a, positions, r.axes, heads*(r.cfg.HeadDim/2),
		func(cos, sin []float32, positions []int32) error { return r.CosSinFourier(cos, sin, positions, c) },
		func() bool {
			return takes(&r, positions) && r.cfg.Offset == 0 && r.cfg.HeadDim%2 == 0 && heads > 0 && len(c.Cos) == heads*n*n && len(c.Sin) == len(c.Cos)
		},
		func(bool) (cos, sin []float32) {
			c0, s0 := r.cosSin(positions)
			padding := float32(cmp.Or(r.cfg.AttentionFactor, 1))
			return fourierPlain(c0, c.Cos, n, r.cfg.HeadDim/2, padding), fourierPlain(s0, c.Sin, n, r.cfg.HeadDim/2, padding)
		})
	call.Allocates = 64 << 20 // what float64 cannot round
	return call
}

// fourierPlain adds products exactly: they are multiples of 2^-298 below 2^256.
func fourierPlain(rows, matrices []float32, n, pairs int, padding float32) (sums []float32) {
	for ; len(rows) > 0; rows = rows[n:] {
		for m := matrices; len(m) > 0; m = m[n*n:] {
			for j := range pairs {
				if j >= n {
					sums = append(sums, padding)
					continue
				}
				sum, plain := new(big.Float).SetPrec(600), 0.0
				for i, x := range rows[:n] {
					product := float64(x) * float64(m[i*n+j])
					plain += product
					if !math.IsNaN(plain) && !math.IsInf(plain, 0) {
						sum.Add(sum, big.NewFloat(product))
					}
				}
				rounded := float32(plain)
				if !math.IsNaN(plain) && !math.IsInf(plain, 0) {
					rounded, _ = sum.Float32()
					rounded += 0 // the sum of -0 and -0 is 0 here
				}
				sums = append(sums, rounded)
			}
		}
	}
	return sums
}

func fourierDigests(add testkit.AddDigest) {
	for rounding, name := range digestRoundings {
		add("Rotary.CosSinFourier/angles="+name, func(d *testkit.Digest) {
			for _, n := range []int{1, 7, 45} {
				const heads, tokens, padding = 2, 9, 3
				cfg := digestConfig(d, posenc.HalfSplit, frequency.Rounding(rounding), n)
				cfg.Offset, cfg.HeadDim, cfg.RotaryDim = 0, 2*(n+padding), 2*n
				cos, sin := make([]float32, tokens*heads*(n+padding)), make([]float32, tokens*heads*(n+padding))
				c := posenc.FourierCoefficients{Cos: testkit.DigestNumbers[float32](d, heads*n*n), Sin: testkit.DigestNumbers[float32](d, heads*n*n)}
				d.Must(testkit.MustRotary(cfg).CosSinFourier(cos, sin, d.Positions(tokens), c))
				d.Add(cos, sin)
			}
		})
	}
}
