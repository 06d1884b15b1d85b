package frequency

import (
	"errors"
	"math"
	"testing"
)

// FuzzLadders: whatever the parameters, a constructor returns finite numbers or
// an error of its own.
func FuzzLadders(f *testing.F) {
	for rule := range uint8(11) {
		for rounding := range uint8(2) {
			f.Add(rule, rounding, 64, 10000.0, 8.0, 4096, 8192, 0.0, 0.0, 0.0, 0.0, 0.0)
			f.Add(rule, rounding, 20, 1e30, 1e-3, 17, 1<<20, 1.0, 4.0, 0.5, 0.75, 2.0)
			f.Add(rule, rounding, 6, 1.0000001, 1e30, math.MaxInt, math.MaxInt, 1e-30, 1e30, 1e30, 1e-30, 1e30)
			f.Add(rule, rounding, 4, math.MaxFloat64, 5e-324, 1, 0, 1e300, 1e308, 5e-324, 1.0, math.MaxFloat64)
			f.Add(rule, rounding, 8, math.NaN(), math.Inf(1), math.MinInt, -1, math.NaN(), -1.0, math.Inf(-1), 0.0, math.NaN())
		}
	}
	f.Fuzz(func(t *testing.T, rule, rounding uint8, dim int, base, factor float64, maxPositions, seqLen int, a, b, c, d, e float64) {
		if dim > 256 && dim <= MaxRotaryDim {
			dim %= 256 // long ladders take long
		}
		factors := make([]float64, max(0, min(dim, 256))/2)
		for i := range factors {
			factors[i] = []float64{a, b, c, d, e}[i%5]
		}
		var ladder Ladder
		var err error
		r := Rounding(rounding)
		switch rule % 11 {
		case 0:
			ladder, err = Default(dim, base, r)
		case 1:
			ladder, err = Linear(dim, base, factor, r)
		case 2:
			ladder, err = DynamicNTK(dim, base, factor, maxPositions, seqLen, r)
		case 3:
			ladder, err = NTK(dim, base, factor, r)
		case 4:
			ladder, err = NTKMixed(dim, base, factor, a, r)
		case 5:
			ladder, err = NTKAlpha(dim, base, a, r)
		case 6:
			ladder, err = YaRN(dim, base, YaRNParameters{
				Factor: factor, OriginalMaxPositions: maxPositions, BetaFast: a, BetaSlow: b, Untruncated: seqLen%2 != 0, ExtrapolationFactor: math.Mod(c, 1),
				AttentionFactor: c, MScale: d, MScaleAllDim: e, AttentionMultiplier: b, ScaleSoftmax: seqLen%3 != 0,
			}, r)
		case 7:
			p := LongRoPEParameters{ShortFactors: factors, LongFactors: factors, OriginalMaxPositions: maxPositions, Factor: factor, ShortAttentionFactor: a, LongAttentionFactor: b}
			ladder, err = LongRoPE(dim, base, p, seqLen, r)
		case 8:
			ladder, err = Llama3(dim, base, Llama3Parameters{Factor: factor, LowFreqFactor: a, HighFreqFactor: b, OriginalMaxPositions: maxPositions}, r)
		case 9:
			ladder, err = Proportional(dim, base, a, factor, r)
		case 10:
			ladder, err = Factors(dim, base, factors, r)
		}
		if err != nil {
			if !errors.Is(err, ErrParameter) || ladder.InvFreq != nil {
				t.Fatalf("got %v, %v", ladder, err)
			}
			return
		}
		if len(ladder.InvFreq) != dim/2 {
			t.Fatalf("%d frequencies for dimension %d", len(ladder.InvFreq), dim)
		}
		for i, frequency := range ladder.InvFreq {
			if !(frequency >= 0 && frequency <= math.MaxFloat64) || r == Float32 && frequency != float64(float32(frequency)) {
				t.Errorf("InvFreq[%d] is %v", i, frequency)
			}
		}
		for _, scale := range []float64{ladder.Scaling, ladder.SoftmaxScale} {
			if !(scale > 0 && scale <= math.MaxFloat64) {
				t.Errorf("scales %v and %v", ladder.Scaling, ladder.SoftmaxScale)
			}
		}
	})
}
