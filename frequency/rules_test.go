package frequency

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/argument"
)

func list(n int, x float64) []float64 { return slices.Repeat([]float64{x}, n) }

func mustLadder(t *testing.T) func(Ladder, error) Ladder {
	return func(l Ladder, err error) Ladder {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
}

// Rules that coincide for some parameters, as real numbers: their Exact
// ladders have the same bits.
func TestRulesThatCoincide(t *testing.T) {
	must := mustLadder(t)
	for _, base := range []float64{10000, 500000, 1.0625, 1e9} {
		for _, dim := range []int{4, 20, 64, 96} {
			original := must(Default(dim, base, Exact))
			yarn := YaRNParameters{Factor: 1, OriginalMaxPositions: 4096}
			if base < 2 {
				yarn.OriginalMaxPositions = 7 // above 2π and within the ladder's wavelengths
			}
			llama3 := Llama3Parameters{Factor: 1, LowFreqFactor: 1, HighFreqFactor: 4, OriginalMaxPositions: 8192}
			longRoPE := LongRoPEParameters{ShortFactors: list(dim/2, 1), LongFactors: list(dim/2, 3), OriginalMaxPositions: 4096, Factor: 1, SequenceLength: 4096}
			longer := longRoPE
			longer.SequenceLength++
			alike := map[string][2]Ladder{
				"Linear by 1":                   {original, must(Linear(dim, base, LinearParameters{Factor: 1}, Exact))},
				"DynamicNTK within the length":  {original, must(DynamicNTK(dim, base, DynamicNTKParameters{Factor: 8, MaxPositions: 4096, SequenceLength: 4096}, Exact))},
				"NTK by 1":                      {original, must(NTK(dim, base, NTKParameters{Factor: 1}, Exact))},
				"NTKMixed by 1":                 {original, must(NTKMixed(dim, base, NTKMixedParameters{Factor: 1, MixedB: 0.625}, Exact))},
				"NTKAlpha by 1":                 {original, must(NTKAlpha(dim, base, NTKAlphaParameters{Alpha: 1}, Exact))},
				"YaRN by 1":                     {original, must(YaRN(dim, base, yarn, Exact))},
				"LongRoPE with short factors 1": {original, must(LongRoPE(dim, base, longRoPE, Exact))},
				"Llama3 by 1":                   {original, must(Llama3(dim, base, llama3, Exact))},
				"Proportional of the whole":     {original, must(Proportional(dim, base, ProportionalParameters{PartialRotaryFactor: 1, Factor: 1}, Exact))},
				"Factors of 1":                  {original, must(Factors(dim, base, list(dim/2, 1), Exact))},
				"NTKMixed to the power 0":       {must(Linear(dim, base, LinearParameters{Factor: 3}, Exact)), must(NTKMixed(dim, base, NTKMixedParameters{Factor: 3, MixedB: 0}, Exact))},
				"NTKMixed to a huge power":      {must(Factors(dim, base, append(list(dim/2-1, 1), 3), Exact)), must(NTKMixed(dim, base, NTKMixedParameters{Factor: 3, MixedB: 1e308}, Exact))},
				"DynamicNTK as NTKAlpha":        {must(DynamicNTK(dim, base, DynamicNTKParameters{Factor: 2, MaxPositions: 4096, SequenceLength: 8192}, Exact)), must(NTKAlpha(dim, base, NTKAlphaParameters{Alpha: 3}, Exact))},
				"DynamicNTK at length max":      {must(DynamicNTK(dim, base, DynamicNTKParameters{Factor: 1, MaxPositions: 1, SequenceLength: math.MaxInt}, Exact)), must(NTKAlpha(dim, base, NTKAlphaParameters{Alpha: math.MaxInt}, Exact))},
				"LongRoPE with long factors":    {must(Linear(dim, base, LinearParameters{Factor: 3}, Exact)), must(LongRoPE(dim, base, longer, Exact))},
			}
			for name, ladders := range alike {
				if !slices.Equal(ladders[0].InvFreq, ladders[1].InvFreq) || ladders[1].AttentionFactor != 1 || ladders[1].SoftmaxScale != 1 {
					t.Errorf("%s, base %v, dim %d: got %v, want %v", name, base, dim, ladders[1], ladders[0])
				}
			}
		}
	}
}

// Llama 4 has 1 for both factors: a pair keeps its frequency or is divided.
func TestLlama3EqualFactors(t *testing.T) {
	must := mustLadder(t)
	for _, rounding := range []Rounding{Exact, Float32} {
		original, scaled := must(Default(128, 500000, rounding)), must(Linear(128, 500000, LinearParameters{Factor: 16}, rounding))
		ladder := must(Llama3(128, 500000, Llama3Parameters{Factor: 16, LowFreqFactor: 1, HighFreqFactor: 1, OriginalMaxPositions: 8192}, rounding))
		for i, got := range ladder.InvFreq {
			want := original.InvFreq[i]
			if 8192*want < 2*math.Pi {
				want = scaled.InvFreq[i]
			}
			if got != want {
				t.Errorf("rounding %v: InvFreq[%d] is %v, want %v", rounding, i, got, want)
			}
		}
	}
	// A wavelength that float32 makes equal to the limit.
	limit := 1 / float64(float32(2*math.Pi))
	ladder := must(Llama3(4, 10000, Llama3Parameters{Factor: 2, LowFreqFactor: limit, HighFreqFactor: limit, OriginalMaxPositions: 1}, Float32))
	if ladder.InvFreq[0] != 0.5 {
		t.Errorf("at the limit: InvFreq[0] is %v, want 0.5", ladder.InvFreq[0])
	}
}

// Two lengths that are the same float64.
func TestLengthsAreNotRounded(t *testing.T) {
	const maxPositions = math.MaxInt - 1
	ladder := mustLadder(t)(DynamicNTK(4, 10000, DynamicNTKParameters{Factor: math.MaxFloat64, MaxPositions: maxPositions, SequenceLength: maxPositions + 1}, Exact))
	// stretch = 1 + MaxFloat64/maxPositions, newBase = base·stretch^2
	want := 1 / (100 * (math.MaxFloat64 / maxPositions))
	if math.Abs(ladder.InvFreq[1]/want-1) > 1e-12 {
		t.Errorf("got %v, want %v", ladder.InvFreq[1], want)
	}
}

// Frequencies midway between two float64 go to the even one. base^(-2i/16) is
// 4^-i, the ramp from pair 1 to 5 is (i-1)/4, and 2^-53 of pairs 3 and 4 is
// half the last place.
func TestTiesAreRoundedToEven(t *testing.T) {
	p := YaRNParameters{Factor: 0x1p53, OriginalMaxPositions: 3217, BetaFast: 64, BetaSlow: 1}
	ladder := mustLadder(t)(YaRN(16, 65536, p, Exact))
	for i, want := range map[int]float64{
		1: 0x1p-2,
		3: 0x1p-7,            // 2^-6 · (2^-1 + 2^-54)
		4: 0x1p-10 + 0x1p-61, // 2^-8 · (2^-2 + 1.5·2^-54)
		5: 0x1p-10 * 0x1p-53, // 2^-10 / 2^53
		7: 0x1p-14 * 0x1p-53,
	} {
		if ladder.InvFreq[i] != want {
			t.Errorf("InvFreq[%d] is %x, want %x", i, ladder.InvFreq[i], want)
		}
	}
}

// The corners that vLLM states for gpt-oss are 8.0928 and 17.3980: the ramp
// starts after pair 8 and ends before pair 18. Whole corners are 8 and 18.
func TestYaRNCorners(t *testing.T) {
	must := mustLadder(t)
	original := must(Default(64, 150000, Exact)).InvFreq
	interpolated := must(Linear(64, 150000, LinearParameters{Factor: 32}, Exact)).InvFreq
	p := YaRNParameters{Factor: 32, OriginalMaxPositions: 4096}
	whole := must(YaRN(64, 150000, p, Exact)).InvFreq
	p.Untruncated = true
	between := must(YaRN(64, 150000, p, Exact)).InvFreq
	for i := range original {
		if (whole[i] == original[i]) != (i <= 8) || (whole[i] == interpolated[i]) != (i >= 18) {
			t.Errorf("truncated: InvFreq[%d] is %v between %v and %v", i, whole[i], interpolated[i], original[i])
		}
		if (between[i] == original[i]) != (i <= 8) || (between[i] == interpolated[i]) != (i >= 18) {
			t.Errorf("untruncated: InvFreq[%d] is %v between %v and %v", i, between[i], interpolated[i], original[i])
		}
		if i > 8 && i < 18 {
			const low, high = 8.0928, 17.3980
			ramp := (original[i] - between[i]) / (original[i] - interpolated[i])
			if math.Abs(ramp-(float64(i)-low)/(high-low)) > 1e-4 {
				t.Errorf("untruncated: the ramp at pair %d is %v", i, ramp)
			}
		}
	}
}

// Corners beyond the range of float64 are far from all pairs: the ramp runs
// from pair 0 to pair rotaryDim-1.
func TestYaRNFarCorners(t *testing.T) {
	must := mustLadder(t)
	p := YaRNParameters{Factor: 4, OriginalMaxPositions: 4096, BetaFast: math.MaxFloat64, BetaSlow: math.SmallestNonzeroFloat64}
	original := must(Default(64, 10000, Exact)).InvFreq
	exact := must(YaRN(64, 10000, p, Exact)).InvFreq
	float := must(YaRN(64, 10000, p, Float32)).InvFreq
	for i, inverse := range original {
		ramp := float64(i) / 63
		want := inverse * (ramp/4 + 1 - ramp)
		// Some roundings of float64 and of float32.
		if math.Abs(exact[i]-want) > 1e-15*want || math.Abs(float[i]-want) > 1e-6*want {
			t.Errorf("InvFreq[%d] is %v and %v, want %v", i, exact[i], float[i], want)
		}
	}
}

func TestYaRNAttention(t *testing.T) {
	g := func(s, m float64) float64 { return 1 + 0.1*m*math.Log(s) }
	for _, tt := range []struct {
		name                  string
		p                     YaRNParameters
		scaling, softmaxScale float64
	}{
		{"derived", YaRNParameters{Factor: 4}, g(4, 1), 1},
		{"explicit", YaRNParameters{Factor: 4, AttentionFactor: 1.25, MScale: 2, MScaleAllDim: 3}, 1.25, 1},
		{"multiplied", YaRNParameters{Factor: 4, AttentionMultiplier: 2}, 2 * g(4, 1), 1},
		{"explicit and multiplied", YaRNParameters{Factor: 4, AttentionFactor: 1.25, AttentionMultiplier: 2}, 2.5, 1},
		{"both mscales", YaRNParameters{Factor: 40, MScale: 2, MScaleAllDim: 3}, g(40, 2) / g(40, 3), 1},
		{"mscale alone", YaRNParameters{Factor: 40, MScale: 2}, g(40, 1), 1},
		{"mscale_all_dim alone", YaRNParameters{Factor: 40, MScaleAllDim: 3, ScaleSoftmax: true}, g(40, 1), g(40, 3) * g(40, 3)},
		{"softmax", YaRNParameters{Factor: 40, MScale: 1, MScaleAllDim: 1, ScaleSoftmax: true}, 1, g(40, 1) * g(40, 1)},
		{"softmax without mscale_all_dim", YaRNParameters{Factor: 40, ScaleSoftmax: true}, g(40, 1), 1},
		{"shorter", YaRNParameters{Factor: 0.5, MScale: 2, MScaleAllDim: 3, ScaleSoftmax: true}, 1, 1},
	} {
		for _, rounding := range []Rounding{Exact, Float32} {
			tt.p.OriginalMaxPositions = 4096
			ladder := mustLadder(t)(YaRN(64, 10000, tt.p, rounding))
			// A few roundings of float64.
			if math.Abs(ladder.AttentionFactor-tt.scaling) > 1e-15*tt.scaling || math.Abs(ladder.SoftmaxScale-tt.softmaxScale) > 1e-15*tt.softmaxScale {
				t.Errorf("%s: scaling %v and %v, want %v and %v", tt.name, ladder.AttentionFactor, ladder.SoftmaxScale, tt.scaling, tt.softmaxScale)
			}
		}
	}
}

// A LongRoPE ladder takes both its factors and its attention factor by length.
func TestLongRoPESwitch(t *testing.T) {
	p := LongRoPEParameters{ShortFactors: list(4, 2), LongFactors: list(4, 4), OriginalMaxPositions: 4096, ShortAttentionFactor: 1.5, LongAttentionFactor: 2.5}
	for seqLen, want := range map[int][2]float64{0: {0.5, 1.5}, 1: {0.5, 1.5}, 4096: {0.5, 1.5}, 4097: {0.25, 2.5}, math.MaxInt: {0.25, 2.5}} {
		p.SequenceLength = seqLen
		ladder := mustLadder(t)(LongRoPE(8, 10000, p, Exact))
		if ladder.InvFreq[0] != want[0] || ladder.AttentionFactor != want[1] {
			t.Errorf("seqLen %d: first frequency %v, scaling %v, want %v", seqLen, ladder.InvFreq[0], ladder.AttentionFactor, want)
		}
	}
}

func TestErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	yarn := func(change func(*YaRNParameters)) YaRNParameters {
		p := YaRNParameters{Factor: 4, OriginalMaxPositions: 4096}
		change(&p)
		return p
	}
	longRoPE := func(change func(*LongRoPEParameters)) LongRoPEParameters {
		p := LongRoPEParameters{ShortFactors: list(4, 1), LongFactors: list(4, 2), OriginalMaxPositions: 4096, Factor: 4}
		change(&p)
		return p
	}
	llama3 := func(change func(*Llama3Parameters)) Llama3Parameters {
		p := Llama3Parameters{Factor: 8, LowFreqFactor: 1, HighFreqFactor: 4, OriginalMaxPositions: 8192}
		change(&p)
		return p
	}
	cases := map[string]func() (Ladder, error){}
	add := func(want string, f func() (Ladder, error)) {
		if cases[want] != nil {
			t.Fatalf("%q twice", want)
		}
		cases[want] = f
	}

	// What every constructor takes.
	for name, construct := range map[string]func(dim int, base float64, r Rounding) (Ladder, error){
		"Default": Default,
		"Linear": func(d int, b float64, r Rounding) (Ladder, error) {
			return Linear(d, b, LinearParameters{Factor: 2}, r)
		},
		"DynamicNTK": func(d int, b float64, r Rounding) (Ladder, error) {
			return DynamicNTK(d, b, DynamicNTKParameters{Factor: 2, MaxPositions: 8, SequenceLength: 8}, r)
		},
		"NTK": func(d int, b float64, r Rounding) (Ladder, error) { return NTK(d, b, NTKParameters{Factor: 2}, r) },
		"NTKMixed": func(d int, b float64, r Rounding) (Ladder, error) {
			return NTKMixed(d, b, NTKMixedParameters{Factor: 2, MixedB: 1}, r)
		},
		"NTKAlpha": func(d int, b float64, r Rounding) (Ladder, error) {
			return NTKAlpha(d, b, NTKAlphaParameters{Alpha: 2}, r)
		},
		"YaRN": func(d int, b float64, r Rounding) (Ladder, error) {
			return YaRN(d, b, yarn(func(*YaRNParameters) {}), r)
		},
		"LongRoPE": func(d int, b float64, r Rounding) (Ladder, error) {
			return LongRoPE(d, b, longRoPE(func(*LongRoPEParameters) {}), r)
		},
		"Llama3": func(d int, b float64, r Rounding) (Ladder, error) {
			return Llama3(d, b, llama3(func(*Llama3Parameters) {}), r)
		},
		"Proportional": func(d int, b float64, r Rounding) (Ladder, error) {
			return Proportional(d, b, ProportionalParameters{PartialRotaryFactor: 1, Factor: 1}, r)
		},
		"Factors": func(d int, b float64, r Rounding) (Ladder, error) { return Factors(d, b, list(4, 1), r) },
	} {
		dimension := "rotaryDim"
		if name == "Proportional" {
			dimension = "headDim"
		}
		for _, dim := range []int{0, -2, 7, MaxRotaryDim + 2, math.MaxInt - 1, math.MinInt} {
			add(fmt.Sprintf("%s: %s is %d, want an even number", name, dimension, dim), func() (Ladder, error) { return construct(dim, 10000, Exact) })
		}
		for _, base := range []float64{1, 0, -3, nan, inf, math.Inf(-1)} {
			add(fmt.Sprintf("%s: base is %v, want a finite number above 1", name, base), func() (Ladder, error) { return construct(8, base, Exact) })
		}
		add(name+": base is 1e+39, want a number that leaves the base finite and above 1 as a float32", func() (Ladder, error) { return construct(8, 1e39, Float32) })
		add(name+": base is 1.0000000001, want a number that leaves", func() (Ladder, error) { return construct(8, 1.0000000001, Float32) })
		add(name+": rounding is 2, want Exact or Float32", func() (Ladder, error) { return construct(8, 10000, 2) })
	}

	// Numbers that frequencies are multiplied or divided by.
	for name, construct := range map[string]func(x float64, r Rounding) (Ladder, error){
		"Linear: p.Factor": func(x float64, r Rounding) (Ladder, error) { return Linear(8, 10000, LinearParameters{Factor: x}, r) },
		"DynamicNTK: p.Factor": func(x float64, r Rounding) (Ladder, error) {
			return DynamicNTK(8, 10000, DynamicNTKParameters{Factor: x, MaxPositions: 8, SequenceLength: 9}, r)
		},
		"NTK: p.Factor": func(x float64, r Rounding) (Ladder, error) { return NTK(8, 10000, NTKParameters{Factor: x}, r) },
		"NTKMixed: p.Factor": func(x float64, r Rounding) (Ladder, error) {
			return NTKMixed(8, 10000, NTKMixedParameters{Factor: x, MixedB: 1}, r)
		},
		"NTKAlpha: p.Alpha": func(x float64, r Rounding) (Ladder, error) {
			return NTKAlpha(8, 10000, NTKAlphaParameters{Alpha: x}, r)
		},
		"Proportional: p.Factor": func(x float64, r Rounding) (Ladder, error) {
			return Proportional(8, 10000, ProportionalParameters{PartialRotaryFactor: 1, Factor: x}, r)
		},
		"Factors: factors[3]": func(x float64, r Rounding) (Ladder, error) { return Factors(8, 10000, []float64{1, 1, 1, x}, r) },
		"YaRN: p.Factor": func(x float64, r Rounding) (Ladder, error) {
			return YaRN(8, 10000, yarn(func(p *YaRNParameters) { p.Factor = x }), r)
		},
		"Llama3: p.Factor": func(x float64, r Rounding) (Ladder, error) {
			return Llama3(8, 10000, llama3(func(p *Llama3Parameters) { p.Factor = x }), r)
		},
		"Llama3: p.LowFreqFactor": func(x float64, r Rounding) (Ladder, error) {
			return Llama3(8, 10000, llama3(func(p *Llama3Parameters) { p.LowFreqFactor = x }), r)
		},
		"Llama3: p.HighFreqFactor": func(x float64, r Rounding) (Ladder, error) {
			return Llama3(8, 10000, llama3(func(p *Llama3Parameters) { p.HighFreqFactor = x }), r)
		},
		"LongRoPE: p.ShortFactors[1]": func(x float64, r Rounding) (Ladder, error) {
			return LongRoPE(8, 10000, longRoPE(func(p *LongRoPEParameters) { p.ShortFactors[1] = x }), r)
		},
		"LongRoPE: p.LongFactors[2]": func(x float64, r Rounding) (Ladder, error) {
			return LongRoPE(8, 10000, longRoPE(func(p *LongRoPEParameters) { p.LongFactors[2] = x }), r)
		},
	} {
		for _, x := range []float64{0, -2, nan, inf} {
			add(fmt.Sprintf("%s is %v, want a finite number above 0", name, x), func() (Ladder, error) { return construct(x, Exact) })
		}
		for _, x := range []float64{1e39, 1e-60} {
			add(fmt.Sprintf("%s is %v, want a finite float32 above 0", name, x), func() (Ladder, error) { return construct(x, Float32) })
		}
	}

	// Numbers of which 0 means a default.
	for name, construct := range map[string]func(x float64) (Ladder, error){
		"YaRN: p.AttentionFactor": func(x float64) (Ladder, error) {
			return YaRN(8, 10000, yarn(func(p *YaRNParameters) { p.AttentionFactor = x }), Exact)
		},
		"YaRN: p.MScale": func(x float64) (Ladder, error) {
			return YaRN(8, 10000, yarn(func(p *YaRNParameters) { p.MScale = x }), Exact)
		},
		"YaRN: p.MScaleAllDim": func(x float64) (Ladder, error) {
			return YaRN(8, 10000, yarn(func(p *YaRNParameters) { p.MScaleAllDim = x }), Exact)
		},
		"YaRN: p.AttentionMultiplier": func(x float64) (Ladder, error) {
			return YaRN(8, 10000, yarn(func(p *YaRNParameters) { p.AttentionMultiplier = x }), Exact)
		},
		"YaRN: p.BetaFast": func(x float64) (Ladder, error) {
			return YaRN(8, 10000, yarn(func(p *YaRNParameters) { p.BetaFast = x }), Exact)
		},
		"YaRN: p.BetaSlow": func(x float64) (Ladder, error) {
			return YaRN(8, 10000, yarn(func(p *YaRNParameters) { p.BetaSlow = x }), Exact)
		},
		"YaRN: p.ExtrapolationFactor": func(x float64) (Ladder, error) {
			return YaRN(8, 10000, yarn(func(p *YaRNParameters) { p.ExtrapolationFactor = x }), Exact)
		},
		"LongRoPE: p.ShortAttentionFactor": func(x float64) (Ladder, error) {
			return LongRoPE(8, 10000, longRoPE(func(p *LongRoPEParameters) { p.ShortAttentionFactor = x }), Exact)
		},
		"LongRoPE: p.LongAttentionFactor": func(x float64) (Ladder, error) {
			return LongRoPE(8, 10000, longRoPE(func(p *LongRoPEParameters) { p.LongAttentionFactor = x }), Exact)
		},
	} {
		for _, x := range []float64{-0.5, nan, inf} {
			add(fmt.Sprintf("%s is %v, want ", name, x), func() (Ladder, error) { return construct(x) })
		}
	}

	// Particular ones.
	add("DynamicNTK: rotaryDim is 2, want an even number from 4", func() (Ladder, error) {
		return DynamicNTK(2, 10000, DynamicNTKParameters{Factor: 2, MaxPositions: 8, SequenceLength: 8}, Exact)
	})
	add("NTKAlpha: rotaryDim is 2, want an even number from 4", func() (Ladder, error) { return NTKAlpha(2, 10000, NTKAlphaParameters{Alpha: 2}, Exact) })
	add("DynamicNTK: p.MaxPositions is 0, want at least 1", func() (Ladder, error) {
		return DynamicNTK(8, 10000, DynamicNTKParameters{Factor: 2, MaxPositions: 0, SequenceLength: 8}, Exact)
	})
	add(fmt.Sprintf("DynamicNTK: p.MaxPositions is %d", math.MinInt), func() (Ladder, error) {
		return DynamicNTK(8, 10000, DynamicNTKParameters{Factor: 2, MaxPositions: math.MinInt, SequenceLength: 8}, Exact)
	})
	add("DynamicNTK: p.SequenceLength is -1, want at least 0", func() (Ladder, error) {
		return DynamicNTK(8, 10000, DynamicNTKParameters{Factor: 2, MaxPositions: 8, SequenceLength: -1}, Exact)
	})
	add("DynamicNTK: p.Factor is 1e+38, want a number that leaves the base finite and above 1 as a float32", func() (Ladder, error) {
		return DynamicNTK(8, 10000, DynamicNTKParameters{Factor: 1e38, MaxPositions: 8, SequenceLength: 8}, Float32)
	})
	add("DynamicNTK: p.Factor is 1e+37, want a number that leaves the base finite and above 1 as a float32", func() (Ladder, error) {
		return DynamicNTK(8, 10000, DynamicNTKParameters{Factor: 1e37, MaxPositions: 8, SequenceLength: math.MaxInt}, Float32)
	})
	add("NTK: p.Factor is 5e-05, want a number that leaves the base above 1", func() (Ladder, error) { return NTK(8, 10000, NTKParameters{Factor: 5e-5}, Exact) })
	add("NTK: p.Factor is 0.001, want a number that leaves the base finite and above 1 as a float32", func() (Ladder, error) { return NTK(8, 1000, NTKParameters{Factor: 0.001}, Float32) })
	add("NTKAlpha: p.Alpha is 0.0005, want a number that leaves the base above 1", func() (Ladder, error) { return NTKAlpha(8, 10000, NTKAlphaParameters{Alpha: 0.0005}, Exact) })
	add("NTKAlpha: p.Alpha is 0.0005, want a number that leaves the base finite and above 1 as a float32", func() (Ladder, error) { return NTKAlpha(8, 10000, NTKAlphaParameters{Alpha: 0.0005}, Float32) })
	for _, mixedB := range []float64{-1, nan, inf} {
		add(fmt.Sprintf("NTKMixed: p.MixedB is %v, want a finite number of at least 0", mixedB), func() (Ladder, error) {
			return NTKMixed(8, 10000, NTKMixedParameters{Factor: 2, MixedB: mixedB}, Exact)
		})
	}
	add("NTKMixed: p.MixedB is 1e+39, want a finite float32", func() (Ladder, error) {
		return NTKMixed(8, 10000, NTKMixedParameters{Factor: 2, MixedB: 1e39}, Float32)
	})
	add("DynamicNTK: p.Factor is 1.9728851947686512e+17, want a number that leaves", func() (Ladder, error) {
		return DynamicNTK(8, 10000, DynamicNTKParameters{Factor: 1.9728851947686512e17, MaxPositions: 30000}, Float32) // factor·30000/30000 - (factor - 1) is -32 in float64
	})
	add("NTKMixed: p.MixedB is 1e+30, want an exponent whose powers of the numbers up to 4 are finite float32", func() (Ladder, error) {
		return NTKMixed(8, 10000, NTKMixedParameters{Factor: 2, MixedB: 1e30}, Float32)
	})
	add("NTKMixed: p.MixedB is 1000, want an exponent whose powers of the numbers up to 4 are finite float32", func() (Ladder, error) {
		return NTKMixed(8, 10000, NTKMixedParameters{Factor: 2, MixedB: 1000}, Float32)
	})
	for _, partial := range []float64{-0.25, 1.25, nan} {
		add(fmt.Sprintf("Proportional: p.PartialRotaryFactor is %v, want a number from 0 to 1", partial), func() (Ladder, error) {
			return Proportional(8, 10000, ProportionalParameters{PartialRotaryFactor: partial, Factor: 1}, Exact)
		})
	}
	add("Factors: len(factors) is 3, want rotaryDim/2 = 4", func() (Ladder, error) { return Factors(8, 10000, list(3, 1), Exact) })
	add("Factors: len(factors) is 0, want rotaryDim/2 = 4", func() (Ladder, error) { return Factors(8, 10000, nil, Exact) })
	add("LongRoPE: len(p.ShortFactors) is 5", func() (Ladder, error) {
		return LongRoPE(8, 10000, longRoPE(func(p *LongRoPEParameters) { p.ShortFactors = list(5, 1) }), Exact)
	})
	add("LongRoPE: len(p.LongFactors) is 0", func() (Ladder, error) {
		return LongRoPE(8, 10000, longRoPE(func(p *LongRoPEParameters) { p.LongFactors = nil }), Exact)
	})
	add("LongRoPE: p.OriginalMaxPositions is 1, want at least 2", func() (Ladder, error) {
		return LongRoPE(8, 10000, longRoPE(func(p *LongRoPEParameters) { p.OriginalMaxPositions = 1 }), Exact)
	})
	add("LongRoPE: p.SequenceLength is -7, want at least 0", func() (Ladder, error) {
		return LongRoPE(8, 10000, longRoPE(func(p *LongRoPEParameters) { p.SequenceLength = -7 }), Exact)
	})
	for _, factor := range []float64{0, -1, nan, inf} {
		add(fmt.Sprintf("LongRoPE: p.Factor is %v, want a finite number above 0", factor), func() (Ladder, error) {
			return LongRoPE(8, 10000, longRoPE(func(p *LongRoPEParameters) { p.Factor, p.LongAttentionFactor, p.SequenceLength = factor, 1, 8192 }), Exact)
		})
	}
	add("Llama3: p.LowFreqFactor is 5, want at most p.HighFreqFactor = 4", func() (Ladder, error) {
		return Llama3(8, 10000, llama3(func(p *Llama3Parameters) { p.LowFreqFactor = 5 }), Exact)
	})
	add("Llama3: p.OriginalMaxPositions is 0, want at least 1", func() (Ladder, error) {
		return Llama3(8, 10000, llama3(func(p *Llama3Parameters) { p.OriginalMaxPositions = 0 }), Exact)
	})
	add("YaRN: p.OriginalMaxPositions is 0, want at least 1", func() (Ladder, error) {
		return YaRN(8, 10000, yarn(func(p *YaRNParameters) { p.OriginalMaxPositions = 0 }), Exact)
	})
	add("YaRN: p.BetaFast is 0.5, want a finite number of at least p.BetaSlow = 1", func() (Ladder, error) {
		return YaRN(8, 10000, yarn(func(p *YaRNParameters) { p.BetaFast = 0.5 }), Exact)
	})
	add("YaRN: p.ExtrapolationFactor is 1.5, want a number above 0 and at most 1", func() (Ladder, error) {
		return YaRN(8, 10000, yarn(func(p *YaRNParameters) { p.ExtrapolationFactor = 1.5 }), Exact)
	})
	for _, rounding := range []Rounding{Exact, Float32} {
		// Both corners below pair 0, and both above the last.
		add(fmt.Sprintf("YaRN: p.OriginalMaxPositions is %d, want a length and a base", rounding+1), func() (Ladder, error) {
			return YaRN(128, 10, yarn(func(p *YaRNParameters) { p.OriginalMaxPositions = int(rounding + 1) }), rounding)
		})
		add(fmt.Sprintf("YaRN: p.OriginalMaxPositions is %d, want a length and a base", 1<<20+int(rounding)), func() (Ladder, error) {
			return YaRN(128, 2, yarn(func(p *YaRNParameters) { p.OriginalMaxPositions = 1<<20 + int(rounding) }), rounding)
		})
	}

	// Results beyond the range.
	add("Linear: InvFreq[0] is +Inf", func() (Ladder, error) { return Linear(8, 10000, LinearParameters{Factor: 5e-324}, Exact) })
	add("Factors: InvFreq[1] is +Inf", func() (Ladder, error) { return Factors(4, 1.5, []float64{1, 1e-45}, Float32) })
	add("YaRN: AttentionFactor is +Inf", func() (Ladder, error) {
		return YaRN(8, 10000, yarn(func(p *YaRNParameters) { p.AttentionFactor, p.AttentionMultiplier = 1e200, 1e200 }), Exact)
	})
	add("YaRN: AttentionFactor is 0", func() (Ladder, error) {
		return YaRN(8, 10000, yarn(func(p *YaRNParameters) { p.AttentionFactor, p.AttentionMultiplier = 1e-200, 1e-200 }), Exact)
	})
	add("YaRN: SoftmaxScale is +Inf", func() (Ladder, error) {
		return YaRN(8, 10000, yarn(func(p *YaRNParameters) { p.MScaleAllDim, p.ScaleSoftmax = 1e200, true }), Exact)
	})

	for want, f := range cases {
		t.Run(want, func(t *testing.T) {
			ladder, err := f()
			if !errors.Is(err, argument.ErrConfig) || !strings.HasPrefix(err.Error(), "frequency."+want) || ladder.InvFreq != nil {
				t.Errorf("got %v, %v", ladder, err)
			}
		})
	}
}
