package frequency_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/test/exhaustive"
	"github.com/go-posenc/posenc/internal/test/kit"
)

func list(n int, x float64) []float64 { return slices.Repeat([]float64{x}, n) }

// right has parameters that each constructor takes.
var right = map[string]ladderParameters{
	"Default": {}, "Linear": {Factor: 2}, "DynamicNTK": {Factor: 2, MaxPositions: 8, SeqLen: 9}, "NTK": {Factor: 2}, "NTKMixed": {Factor: 2, MixedB: 1}, "NTKAlpha": {Alpha: 2},
	"YaRN": {Factor: 4, Original: 4096}, "LongRoPE": {Short: list(4, 1), Long: list(4, 2), Original: 4096, Factor: 4}, "Llama3": {Factor: 8, Low: 1, High: 4, Original: 8192},
	"Proportional": {Partial: 1, Factor: 1}, "Factors": {Factors: list(4, 1)},
}

// changed calls a constructor with right parameters of which some are changed.
func changed(name string, r Rounding, change func(p *ladderParameters)) (Ladder, error) {
	p := right[name]
	p.Dim, p.Base = 8, 10000
	p.Short, p.Long, p.Factors = slices.Clone(p.Short), slices.Clone(p.Long), slices.Clone(p.Factors)
	change(&p)
	return constructors[name](p, r)
}

// exact returns the frequencies of a constructor.
func exact(name string, change func(p *ladderParameters)) []float64 {
	return kit.Must(changed(name, Exact, change)).InvFreq
}

// Rules that coincide for some parameters, as real numbers, have the same bits.
func TestRulesThatCoincide(t *testing.T) {
	for name, pair := range map[string][2][]float64{
		"NTKMixed to a huge power": {exact("Factors", func(p *ladderParameters) { p.Factors[3] = 3 }), exact("NTKMixed", func(p *ladderParameters) { p.Factor, p.MixedB = 3, 1e308 })},
		"DynamicNTK at length max": {exact("NTKAlpha", func(p *ladderParameters) { p.Alpha = math.MaxInt }), exact("DynamicNTK", func(p *ladderParameters) { p.Factor, p.MaxPositions, p.SeqLen = 1, 1, math.MaxInt })},
	} {
		if !slices.Equal(pair[0], pair[1]) {
			t.Errorf("%s: got %v, want %v", name, pair[1], pair[0])
		}
	}
}

// A wavelength that float32 makes equal to both limits, which transformers makes no number, is divided.
func TestLlama3EqualFactors(t *testing.T) {
	limit := 1 / float64(float32(2*math.Pi))
	ladder := kit.Must(Llama3(4, 10000, Llama3Parameters{Factor: 2, LowFreqFactor: limit, HighFreqFactor: limit, OriginalMaxPositions: 1}, Float32))
	if ladder.InvFreq[0] != 0.5 {
		t.Errorf("InvFreq[0] is %v, want 0.5", ladder.InvFreq[0])
	}
}

// Two lengths that are the same float64.
func TestLengthsAreNotRounded(t *testing.T) {
	const maxPositions = math.MaxInt - 1
	ladder := kit.Must(DynamicNTK(4, 10000, DynamicNTKParameters{Factor: math.MaxFloat64, MaxPositions: maxPositions, SequenceLength: maxPositions + 1}, Exact))
	// stretch = 1 + MaxFloat64/maxPositions, newBase = base·stretch^2
	want := 1 / (100 * (math.MaxFloat64 / maxPositions))
	if math.Abs(ladder.InvFreq[1]/want-1) > 1e-12 {
		t.Errorf("got %v, want %v", ladder.InvFreq[1], want)
	}
}

// Float32 steps of yarn_log may have no logarithm: of 0, or beyond float32.
func TestLogarithmicYaRNWithoutLogarithm(t *testing.T) {
	for base, factor := range map[float64]float64{1e4: 1e38, 1e5: 1e-40, 1e37: 1000} {
		if ladder, err := YaRN(64, base, YaRNParameters{Factor: factor, OriginalMaxPositions: 4096, Logarithmic: true}, Float32); !errors.Is(err, argument.ErrConfig) {
			t.Errorf("base %v, factor %v: %v, error %v", base, factor, ladder, err)
		}
	}
}

// Frequencies midway between two float64 go to the even one. base^(-2i/16) is
// 4^-i, the ramp from pair 1 to 5 is (i-1)/4, and 2^-53 of pairs 3 and 4 is
// half the last place.
func TestTiesAreRoundedToEven(t *testing.T) {
	ladder := kit.Must(YaRN(16, 65536, YaRNParameters{Factor: 0x1p53, OriginalMaxPositions: 3217, BetaFast: 64, BetaSlow: 1}, Exact))
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

// Corners beyond the range of float64 are far from all pairs: the ramp runs
// from pair 0 to pair rotaryDim-1.
func TestYaRNFarCorners(t *testing.T) {
	p := YaRNParameters{Factor: 4, OriginalMaxPositions: 4096, BetaFast: math.MaxFloat64, BetaSlow: math.SmallestNonzeroFloat64}
	double, single := kit.Must(YaRN(64, 10000, p, Exact)).InvFreq, kit.Must(YaRN(64, 10000, p, Float32)).InvFreq
	for i, inverse := range kit.Must(Default(64, 10000, Exact)).InvFreq {
		ramp := float64(i) / 63
		want := inverse * (ramp/4 + 1 - ramp)
		// Some roundings of float64 and of float32.
		if math.Abs(double[i]-want) > 1e-15*want || math.Abs(single[i]-want) > 1e-6*want {
			t.Errorf("InvFreq[%d] is %v and %v, want %v", i, double[i], single[i], want)
		}
	}
}

// One pair has the first frequency, and MinTimescale multiplies: the last is 4*(4/64).
func TestSinusoidalLadders(t *testing.T) {
	for _, tt := range []struct{ got, want []float64 }{
		{kit.Must(Geometric(1, GeometricParameters{First: 3, Last: 7})), []float64{3}},
		{kit.Must(Geometric(3, GeometricParameters{First: 1 / 16., Last: 4})), []float64{1 / 16., 0.5, 4}},
		{kit.Must(TimingSignal(1, TimingSignalParameters{MinTimescale: 3, MaxTimescale: 7})), []float64{3}},
		{kit.Must(TimingSignal(3, TimingSignalParameters{MinTimescale: 4, MaxTimescale: 64})), []float64{4, 1, 0.25}},
		{kit.Must(Sinusoidal(3, SinusoidalParameters{First: 0.5, Base: 65536, Denominator: 8})), []float64{0.5, 0.125, 0.03125}},
	} {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("got %v, want %v", tt.got, tt.want)
		}
	}
}

func TestErrors(t *testing.T) {
	type P = *ladderParameters
	nan, inf := math.NaN(), math.Inf(1)
	fails := func(r Rounding, says string, change func(p P)) {
		t.Helper()
		name, _, _ := strings.Cut(says, ":")
		ladder, err := changed(name, r, change)
		if !errors.Is(err, argument.ErrConfig) || !strings.HasPrefix(err.Error(), "frequency."+says) || ladder.InvFreq != nil {
			t.Errorf("got %v, %v, want %q", ladder, err, says)
		}
	}

	// What every constructor takes.
	for name := range constructors {
		dimension := "rotaryDim"
		if name == "Proportional" {
			dimension = "headDim"
		}
		for _, dim := range []int{0, -2, 7, MaxRotaryDim + 2, math.MaxInt - 1, math.MinInt} {
			fails(Exact, fmt.Sprintf("%s: %s is %d, want an even number", name, dimension, dim), func(p P) { p.Dim = dim })
		}
		for _, base := range []float64{1, 0, -3, nan, inf, math.Inf(-1)} {
			fails(Exact, fmt.Sprintf("%s: base is %v, want a finite number above 1", name, base), func(p P) { p.Base = base })
		}
		for _, base := range []float64{1e39, 1.0000000001} {
			fails(Float32, fmt.Sprintf("%s: base is %v, want a number that leaves the base finite and above 1 as a float32", name, base), func(p P) { p.Base = base })
		}
		fails(2, name+": rounding is 2, want Exact or Float32", func(p P) {})
	}

	// Numbers that frequencies are multiplied or divided by.
	factor := func(p P) *float64 { return &p.Factor }
	for name, of := range map[string]func(p P) *float64{
		"Linear: p.Factor": factor, "DynamicNTK: p.Factor": factor, "NTK: p.Factor": factor, "NTKMixed: p.Factor": factor, "Proportional: p.Factor": factor, "YaRN: p.Factor": factor, "Llama3: p.Factor": factor,
		"NTKAlpha: p.Alpha":           func(p P) *float64 { return &p.Alpha },
		"Factors: factors[3]":         func(p P) *float64 { return &p.Factors[3] },
		"Llama3: p.LowFreqFactor":     func(p P) *float64 { return &p.Low },
		"Llama3: p.HighFreqFactor":    func(p P) *float64 { return &p.High },
		"LongRoPE: p.ShortFactors[1]": func(p P) *float64 { return &p.Short[1] },
		"LongRoPE: p.LongFactors[2]":  func(p P) *float64 { return &p.Long[2] },
	} {
		for _, x := range []float64{0, -2, nan, inf} {
			fails(Exact, fmt.Sprintf("%s is %v, want a finite number above 0", name, x), func(p P) { *of(p) = x })
		}
		for _, x := range []float64{1e39, 1e-60} {
			fails(Float32, fmt.Sprintf("%s is %v, want a finite float32 above 0", name, x), func(p P) { *of(p) = x })
		}
	}

	// Numbers of which 0 means a default.
	for name, of := range map[string]func(p P) *float64{
		"YaRN: p.AttentionFactor":          func(p P) *float64 { return &p.AttentionFactor },
		"YaRN: p.MScale":                   func(p P) *float64 { return &p.MScale },
		"YaRN: p.MScaleAllDim":             func(p P) *float64 { return &p.MScaleAllDim },
		"YaRN: p.AttentionMultiplier":      func(p P) *float64 { return &p.Multiplier },
		"YaRN: p.BetaFast":                 func(p P) *float64 { return &p.BetaFast },
		"YaRN: p.BetaSlow":                 func(p P) *float64 { return &p.BetaSlow },
		"YaRN: p.ExtrapolationFactor":      func(p P) *float64 { return &p.Extrapolation },
		"LongRoPE: p.ShortAttentionFactor": func(p P) *float64 { return &p.ShortAttention },
		"LongRoPE: p.LongAttentionFactor":  func(p P) *float64 { return &p.LongAttention },
	} {
		for _, x := range []float64{-0.5, nan, inf} {
			fails(Exact, fmt.Sprintf("%s is %v, want ", name, x), func(p P) { *of(p) = x })
		}
	}

	// Particular ones.
	fails(Exact, "DynamicNTK: rotaryDim is 2, want an even number from 4", func(p P) { p.Dim = 2 })
	fails(Exact, "NTKAlpha: rotaryDim is 2, want an even number from 4", func(p P) { p.Dim = 2 })
	fails(Exact, "DynamicNTK: p.MaxPositions is 0, want at least 1", func(p P) { p.MaxPositions = 0 })
	fails(Exact, fmt.Sprintf("DynamicNTK: p.MaxPositions is %d", math.MinInt), func(p P) { p.MaxPositions = math.MinInt })
	fails(Exact, "DynamicNTK: p.SequenceLength is -1, want at least 0", func(p P) { p.SeqLen = -1 })
	const leaves = ", want a number that leaves the base finite and above 1 as a float32"
	fails(Float32, "DynamicNTK: p.Factor is 1e+38"+leaves, func(p P) { p.Factor, p.SeqLen = 1e38, 8 })
	fails(Float32, "DynamicNTK: p.Factor is 1e+37"+leaves, func(p P) { p.Factor, p.SeqLen = 1e37, math.MaxInt })
	// factor·30000/30000 - (factor - 1) is -32 in float64.
	fails(Float32, "DynamicNTK: p.Factor is 1.9728851947686512e+17, want a number that leaves", func(p P) { p.Factor, p.MaxPositions, p.SeqLen = 1.9728851947686512e17, 30000, 0 })
	fails(Exact, "NTK: p.Factor is 5e-05, want a number that leaves the base above 1", func(p P) { p.Factor = 5e-5 })
	fails(Float32, "NTK: p.Factor is 0.001"+leaves, func(p P) { p.Base, p.Factor = 1000, 0.001 })
	fails(Exact, "NTKAlpha: p.Alpha is 0.0005, want a number that leaves the base above 1", func(p P) { p.Alpha = 0.0005 })
	fails(Float32, "NTKAlpha: p.Alpha is 0.0005"+leaves, func(p P) { p.Alpha = 0.0005 })
	for _, mixedB := range []float64{-1, nan, inf} {
		fails(Exact, fmt.Sprintf("NTKMixed: p.MixedB is %v, want a finite number of at least 0", mixedB), func(p P) { p.MixedB = mixedB })
	}
	fails(Float32, "NTKMixed: p.MixedB is 1e+39, want a finite float32", func(p P) { p.MixedB = 1e39 })
	for _, mixedB := range []float64{1e30, 1000} {
		fails(Float32, fmt.Sprintf("NTKMixed: p.MixedB is %v, want an exponent whose powers of the numbers up to 4 are finite float32", mixedB), func(p P) { p.MixedB = mixedB })
	}
	for _, partial := range []float64{-0.25, 1.25, nan} {
		fails(Exact, fmt.Sprintf("Proportional: p.PartialRotaryFactor is %v, want a number from 0 to 1", partial), func(p P) { p.Partial = partial })
	}
	fails(Exact, "Factors: len(factors) is 3, want rotaryDim/2 = 4", func(p P) { p.Factors = list(3, 1) })
	fails(Exact, "Factors: len(factors) is 0, want rotaryDim/2 = 4", func(p P) { p.Factors = nil })
	fails(Exact, "LongRoPE: len(p.ShortFactors) is 5", func(p P) { p.Short = list(5, 1) })
	fails(Exact, "LongRoPE: len(p.LongFactors) is 0", func(p P) { p.Long = nil })
	fails(Exact, "LongRoPE: p.OriginalMaxPositions is 1, want at least 2", func(p P) { p.Original = 1 })
	fails(Exact, "LongRoPE: p.SequenceLength is -7, want at least 0", func(p P) { p.SeqLen = -7 })
	for _, factor := range []float64{0, -1, nan, inf} {
		fails(Exact, fmt.Sprintf("LongRoPE: p.Factor is %v, want a finite number above 0", factor), func(p P) { p.Factor, p.LongAttention, p.SeqLen = factor, 1, 8192 })
	}
	fails(Exact, "Llama3: p.LowFreqFactor is 5, want at most p.HighFreqFactor = 4", func(p P) { p.Low = 5 })
	fails(Exact, "Llama3: p.OriginalMaxPositions is 0, want at least 1", func(p P) { p.Original = 0 })
	fails(Exact, "YaRN: p.OriginalMaxPositions is 0, want at least 1", func(p P) { p.Original = 0 })
	fails(Exact, "YaRN: p.BetaFast is 0.5, want a finite number of at least p.BetaSlow = 1", func(p P) { p.BetaFast = 0.5 })
	fails(Exact, "YaRN: p.ExtrapolationFactor is 1.5, want a number above 0 and at most 1", func(p P) { p.Extrapolation = 1.5 })
	for _, rounding := range []Rounding{Exact, Float32} { // both corners below pair 0, and both above the last
		fails(rounding, "YaRN: p.OriginalMaxPositions is 1, want a length and a base", func(p P) { p.Dim, p.Base, p.Original = 128, 10, 1 })
		fails(rounding, "YaRN: p.OriginalMaxPositions is 1048576, want a length and a base", func(p P) { p.Dim, p.Base, p.Original = 128, 2, 1<<20 })
	}

	// Results beyond the range.
	fails(Exact, "Linear: InvFreq[0] is +Inf", func(p P) { p.Factor = 5e-324 })
	fails(Float32, "Factors: InvFreq[1] is +Inf", func(p P) { p.Dim, p.Base, p.Factors = 4, 1.5, []float64{1, 1e-45} })
	fails(Exact, "YaRN: AttentionFactor is +Inf", func(p P) { p.AttentionFactor, p.Multiplier = 1e200, 1e200 })
	fails(Exact, "YaRN: AttentionFactor is 0", func(p P) { p.AttentionFactor, p.Multiplier = 1e-200, 1e-200 })
	fails(Exact, "YaRN: SoftmaxScale is +Inf", func(p P) { p.MScaleAllDim, p.ScaleSoftmax = 1e200, true })

	// Functions with other parameters.
	sinusoidal := func(pairs int, first, base, denominator float64) error {
		return second(Sinusoidal(pairs, SinusoidalParameters{First: first, Base: base, Denominator: denominator}))
	}
	timingSignal := func(pairs int, least, most float64) error {
		return second(TimingSignal(pairs, TimingSignalParameters{MinTimescale: least, MaxTimescale: most}))
	}
	geometric := func(pairs int, first, last float64) error {
		return second(Geometric(pairs, GeometricParameters{First: first, Last: last}))
	}
	interleaved := func(time, height, width int) error {
		return second(InterleavedSections(ImageSections{time, height, width}))
	}
	alternating := func(time, height, width int) error {
		return second(AlternatingSections(ImageSections{time, height, width}))
	}
	xPos := func(dim int, base float64) error {
		_, _, err := XPos(dim, base)
		return err
	}
	const largest = MaxRotaryDim / 2
	for says, err := range map[string]error{
		"Sections: len(sections) is 0, want from 1 to 256":                     second(Sections()),
		"Sections: len(sections) is 257, want from 1 to 256":                   second(Sections(make([]int, 257)...)),
		"Sections: sections[1] is -1, want at least 0":                         second(Sections(16, -1, 24)),
		"Sections: the sum of sections is 0":                                   second(Sections(0, 0)),
		"Sections: sections[1] is 1, want at least 0, and at most 32768":       second(Sections(largest, 1)),
		fmt.Sprint("Sections: sections[1] is ", math.MaxInt):                   second(Sections(1, math.MaxInt, math.MaxInt)),
		"InterleavedSections: the sum of sections is 0":                        interleaved(0, 0, 0),
		"InterleavedSections: sections.Width is -20":                           interleaved(24, 20, -20),
		"InterleavedSections: sections.Width is 1":                             interleaved(largest, 0, 1),
		"AlternatingSections: sections.Width is 20, want sections.Height = 22": alternating(22, 22, 20),
		"AlternatingSections: the sum of sections is 0":                        alternating(0, 0, 0),
		"AlternatingSections: sections.Height is -1":                           alternating(20, -1, -1),
		"AlternatingSections: sections.Width is 32768, want at least 0":        alternating(0, largest, largest),
		"Axial: dims[0] is 1, want an even number from 2 to":                   second(Axial(10000, Exact, 1, 2, 3)),
		"Axial: dims[2] is 7, want":                                            second(Axial(10000, Exact, 16, 2, 7)),
		"Axial: dims[0] is -2":                                                 second(Axial(10000, Exact, -2)),
		"Axial: len(dims) is 0":                                                second(Axial(10000, Exact)),
		"Axial: len(dims) is 300, want from 1 to 256":                          second(Axial(10000, Exact, make([]int, 300)...)),
		"Axial: the sum of dims is 65538, want at most":                        second(Axial(10000, Exact, MaxRotaryDim, 2)),
		"Axial: base is 1, want a finite number above 1":                       second(Axial(1, Exact, 16)),
		"AxialAlternating: headDim is 0":                                       second(AxialAlternating(0, 10000, Exact)),
		"AxialAlternating: headDim is -4":                                      second(AxialAlternating(-4, 10000, Exact)),
		"AxialAlternating: headDim is 2":                                       second(AxialAlternating(2, 10000, Exact)),
		"AxialAlternating: headDim is 6":                                       second(AxialAlternating(6, 10000, Exact)),
		"AxialAlternating: headDim is 65540":                                   second(AxialAlternating(MaxRotaryDim+4, 10000, Exact)),
		"AxialAlternating: base is NaN":                                        second(AxialAlternating(16, nan, Float32)),
		"XPos: rotaryDim is -2":                                                xPos(-2, 512),
		"XPos: rotaryDim is 0":                                                 xPos(0, 512),
		"XPos: rotaryDim is 3":                                                 xPos(3, 512),
		"XPos: rotaryDim is 65538":                                             xPos(MaxRotaryDim+2, 512),
		"XPos: scaleBase is 0":                                                 xPos(64, 0),
		"XPos: scaleBase is -1":                                                xPos(64, -1),
		"XPos: scaleBase is NaN":                                               xPos(64, nan),
		"XPos: scaleBase is +Inf":                                              xPos(64, inf),
		"XPos: scaleBase is 1e-300":                                            xPos(64, 1e-300),
		"Sinusoidal: pairs is 0, want from 1 to 32768":                         sinusoidal(0, 1, 10000, 1),
		"Sinusoidal: pairs is 32769, want from 1 to 32768":                     sinusoidal(largest+1, 1, 10000, 1),
		"Sinusoidal: p.First is 0, want a finite number above 0":               sinusoidal(2, 0, 10000, 1),
		"Sinusoidal: p.Base is 1, want a finite number above 1":                sinusoidal(2, 1, 1, 1),
		"Sinusoidal: p.Base is NaN, want a finite number above 1":              sinusoidal(2, 1, nan, 1),
		"Sinusoidal: p.Base is +Inf, want a finite number above 1":             sinusoidal(2, 1, inf, 1),
		"Sinusoidal: p.Denominator is 0, want a finite number above 0":         sinusoidal(2, 1, 10000, 0),
		"Sinusoidal: p.Denominator is +Inf, want a finite number above 0":      sinusoidal(2, 1, 10000, inf),
		"Sinusoidal: a frequency is 1e-300, want parameters that give":         sinusoidal(8, 1, 1e300, 1),
		"TimingSignal: pairs is 0, want from 1 to 32768":                       timingSignal(0, 1, 2),
		"TimingSignal: p.MinTimescale is -1, want a finite number above 0":     timingSignal(2, -1, 2),
		"TimingSignal: p.MaxTimescale is NaN, want a finite number above 0":    timingSignal(2, 1, nan),
		"TimingSignal: a frequency is +Inf, want parameters that give":         timingSignal(2, 1e300, 1e-300),
		"Geometric: pairs is 0, want from 1 to 32768":                          geometric(0, 1, 2),
		"Geometric: p.First is 0, want a finite number above 0":                geometric(2, 0, 1),
		"Geometric: p.Last is +Inf, want a finite number above 0":              geometric(2, 1, inf),
		"Geometric: a frequency is 1e-300, want parameters that give":          geometric(2, 1, 1e-300),
	} {
		if !errors.Is(err, argument.ErrConfig) || !strings.HasPrefix(fmt.Sprint(err), "frequency."+says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// digits returns axes that are written as digits.
func digits(s string) []uint8 {
	var axes []uint8
	for _, c := range strings.ReplaceAll(s, " ", "") {
		axes = append(axes, uint8(c-'0'))
	}
	return axes
}

// The axes of models. Those of Qwen2-VL, Qwen3-VL, Qwen3.5 and ERNIE 4.5 VL are what the
// rotary embeddings of transformers 5.23.0 do with a position on one axis at a
// time. Those of HunYuan are the model's own code and vLLM's; transformers
// 5.23.0 gives the two elements of a pair different axes, which no rotation is.
func TestAxesOfModels(t *testing.T) {
	for name, tt := range map[string]struct {
		axes []uint8
		want string
	}{
		"Qwen2-VL":       {kit.Must(Sections(16, 24, 24)), "0000000000000000 111111111111111111111111 222222222222222222222222"},
		"Qwen3-VL":       {kit.Must(InterleavedSections(ImageSections{Time: 24, Height: 20, Width: 20})), "012012012012012012012012012012012012012012012012012012012012 0000"},
		"ERNIE 4.5 VL":   {kit.Must(AlternatingSections(ImageSections{Time: 20, Height: 22, Width: 22})), "12121212121212121212121212121212121212121212 00000000000000000000"},
		"HunYuan VL":     {kit.Must(Sections(16, 16, 16, 16)), "0000000000000000 1111111111111111 2222222222222222 3333333333333333"},
		"Qwen3.5":        {kit.Must(InterleavedSections(ImageSections{Time: 11, Height: 11, Width: 10})), "012012012012012012012012012012 01"},
		"no time":        {kit.Must(InterleavedSections(ImageSections{Height: 4})), "0100"}, // every third pair, from the second on, of a row of time
		"more width":     {kit.Must(InterleavedSections(ImageSections{Time: 2, Height: 1, Width: 5})), "01200200"},
		"empty sections": {kit.Must(Sections(3, 0, 4)), "000 2222"},
	} {
		if want := digits(tt.want); !slices.Equal(tt.axes, want) {
			t.Errorf("%s: got %v, want %v", name, tt.axes, want)
		}
	}
	const largest = MaxRotaryDim / 2
	if axes := kit.Must(Sections(slices.Repeat([]int{128}, 256)...)); len(axes) != largest || axes[largest-1] != 255 {
		t.Errorf("256 sections of 128: %d pairs", len(axes))
	}
}

// The rates are binary logarithms of the ratios, divided by the base, to more than 100 bits.
func TestXPos(t *testing.T) {
	for _, dim := range []int{2, 14, 32, 64, 128} {
		for _, base := range []float64{1, 512, 777} {
			high, low, err := XPos(dim, base)
			kit.NoError(t, err)
			for i := range high {
				ratio := exhaustive.NewReal().Quo(exhaustive.RealOf(float64(10*i+2*dim)), exhaustive.RealOf(float64(7*dim))) // (2i + 0.4dim)/1.4dim
				want := exhaustive.RealLogarithm(ratio)
				want.Quo(want, exhaustive.NewReal().Mul(exhaustive.RealLogarithm(exhaustive.RealOf(2)), exhaustive.RealOf(base)))
				sum := exhaustive.NewReal().Add(exhaustive.RealOf(high[i]), exhaustive.RealOf(low[i]))
				if off, _ := sum.Sub(sum, want).Float64(); math.Abs(off) > math.Abs(high[i])*0x1p-100 || math.Abs(low[i]) > math.Abs(high[i])*0x1p-53 {
					t.Errorf("dim %d, base %v, pair %d: %v and %v are off by %v", dim, base, i, high[i], low[i], off)
				}
			}
		}
	}
}

// vector is one of testdata/vectors.json, made by vectors.py there.
type vector struct {
	Rule       string
	Name       string
	Parameters ladderParameters
	Exact      vectorLadder
	Float32    vectorLadder
}

// vectorLadder holds hexadecimal floats.
type vectorLadder struct {
	InvFreq      string `json:"inv_freq"`
	Scaling      string
	SoftmaxScale string `json:"softmax_scale"`
}

// Every number has the bits that a 300-bit evaluation of the equation rounds
// to (Exact), or that the operations of the reference give (Float32).
func TestVectors(t *testing.T) {
	decoder := json.NewDecoder(bytes.NewReader(kit.Must(os.ReadFile("testdata/vectors.json"))))
	decoder.DisallowUnknownFields()
	var vectors []vector
	kit.NoError(t, decoder.Decode(&vectors))
	seen := map[string]bool{}
	for i, v := range vectors {
		seen[v.Rule] = true
		for rounding, want := range []vectorLadder{Exact: v.Exact, Float32: v.Float32} {
			if base := float32(v.Parameters.Base); rounding == int(Float32) && (base == 1 || math.IsInf(float64(base), 1)) {
				continue // refused
			}
			t.Run(fmt.Sprintf("%s/%d %s/rounding=%d", v.Rule, i, v.Name, rounding), func(t *testing.T) {
				ladder, err := constructors[v.Rule](v.Parameters, Rounding(rounding))
				kit.NoError(t, err)
				var bits []uint64
				for _, digits := range strings.Fields(want.InvFreq + " " + want.Scaling + " " + want.SoftmaxScale) {
					bits = append(bits, math.Float64bits(kit.Must(strconv.ParseFloat(digits, 64))))
				}
				got := append(ladder.InvFreq, ladder.AttentionFactor, ladder.SoftmaxScale)
				if len(bits) != v.Parameters.Dim/2+2 || !slices.EqualFunc(got, bits, func(x float64, b uint64) bool { return math.Float64bits(x) == b }) {
					t.Errorf("frequencies and the two factors are %x, want %s, %s and %s", got, want.InvFreq, want.Scaling, want.SoftmaxScale)
				}
			})
		}
	}
	if rules := slices.Sorted(maps.Keys(constructors)); !slices.Equal(slices.Sorted(maps.Keys(seen)), rules) {
		t.Errorf("vectors of %v, want of %v", slices.Sorted(maps.Keys(seen)), rules)
	}
}

// ladderParameters are those of all constructors of ladders of one axis, as golden vectors
// have them.
type ladderParameters struct {
	Dim, Original                           int
	Base, Factor, Alpha, Low, High, Partial float64
	Extrapolation, MScale, Multiplier       float64
	MaxPositions                            int     `json:"max_positions"`
	SeqLen                                  int     `json:"seq_len"`
	MixedB                                  float64 `json:"mixed_b"`
	BetaFast                                float64 `json:"beta_fast"`
	BetaSlow                                float64 `json:"beta_slow"`
	AttentionFactor                         float64 `json:"attention_factor"`
	MScaleAllDim                            float64 `json:"mscale_all_dim"`
	ScaleSoftmax                            bool    `json:"scale_softmax"`
	ShortAttention                          float64 `json:"short_attention"`
	LongAttention                           float64 `json:"long_attention"`
	Untruncated, Logarithmic                bool
	Short, Long, Factors                    []float64
}

var constructors = map[string]func(ladderParameters, Rounding) (Ladder, error){
	"Default": func(p ladderParameters, r Rounding) (Ladder, error) {
		return Default(p.Dim, p.Base, r)
	},
	"Linear": func(p ladderParameters, r Rounding) (Ladder, error) {
		return Linear(p.Dim, p.Base, LinearParameters{Factor: p.Factor}, r)
	},
	"DynamicNTK": func(p ladderParameters, r Rounding) (Ladder, error) {
		return DynamicNTK(p.Dim, p.Base, DynamicNTKParameters{Factor: p.Factor, MaxPositions: p.MaxPositions, SequenceLength: p.SeqLen}, r)
	},
	"NTK": func(p ladderParameters, r Rounding) (Ladder, error) {
		return NTK(p.Dim, p.Base, NTKParameters{Factor: p.Factor}, r)
	},
	"NTKMixed": func(p ladderParameters, r Rounding) (Ladder, error) {
		return NTKMixed(p.Dim, p.Base, NTKMixedParameters{Factor: p.Factor, MixedB: p.MixedB}, r)
	},
	"NTKAlpha": func(p ladderParameters, r Rounding) (Ladder, error) {
		return NTKAlpha(p.Dim, p.Base, NTKAlphaParameters{Alpha: p.Alpha}, r)
	},
	"YaRN": func(p ladderParameters, r Rounding) (Ladder, error) {
		return YaRN(p.Dim, p.Base, YaRNParameters{
			Factor: p.Factor, OriginalMaxPositions: p.Original, BetaFast: p.BetaFast, BetaSlow: p.BetaSlow, Untruncated: p.Untruncated,
			ExtrapolationFactor: p.Extrapolation, AttentionFactor: p.AttentionFactor, MScale: p.MScale, MScaleAllDim: p.MScaleAllDim,
			AttentionMultiplier: p.Multiplier, ScaleSoftmax: p.ScaleSoftmax, Logarithmic: p.Logarithmic,
		}, r)
	},
	"LongRoPE": func(p ladderParameters, r Rounding) (Ladder, error) {
		return LongRoPE(p.Dim, p.Base, LongRoPEParameters{
			ShortFactors: p.Short, LongFactors: p.Long, OriginalMaxPositions: p.Original, Factor: p.Factor,
			ShortAttentionFactor: p.ShortAttention, LongAttentionFactor: p.LongAttention, SequenceLength: p.SeqLen,
		}, r)
	},
	"Llama3": func(p ladderParameters, r Rounding) (Ladder, error) {
		return Llama3(p.Dim, p.Base, Llama3Parameters{Factor: p.Factor, LowFreqFactor: p.Low, HighFreqFactor: p.High, OriginalMaxPositions: p.Original}, r)
	},
	"Proportional": func(p ladderParameters, r Rounding) (Ladder, error) {
		return Proportional(p.Dim, p.Base, ProportionalParameters{PartialRotaryFactor: p.Partial, Factor: p.Factor}, r)
	},
	"Factors": func(p ladderParameters, r Rounding) (Ladder, error) {
		return Factors(p.Dim, p.Base, p.Factors, r)
	},
}
