package frequency_test

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/testkit"
)

// parameters are those of all functions, as a fuzzer gives them.
type parameters struct {
	rounding             frequency.Rounding
	dim                  int
	base, factor         float64
	maxPositions, seqLen int
	a, b, c, d, e        float64
	factors              []float64
}

// ofLadder calls a constructor of ladders.
func (p *parameters) ofLadder(name string) made {
	return ofLadder(constructors[name](ladderParameters{
		Dim: p.dim, Base: p.base, Factor: p.factor, MaxPositions: p.maxPositions, SeqLen: p.seqLen, MixedB: p.a, Alpha: p.a, Original: p.maxPositions,
		BetaFast: p.a, BetaSlow: p.b, Untruncated: p.seqLen%2 != 0, Extrapolation: math.Mod(p.c, 1), AttentionFactor: p.c, MScale: p.d, MScaleAllDim: p.e,
		Multiplier: p.b, ScaleSoftmax: p.seqLen%3 != 0, Short: p.factors, Long: p.factors, ShortAttention: p.a, LongAttention: p.b, Low: p.a, High: p.b,
		Partial: p.a, Factors: p.factors,
	}, p.rounding))
}

// argumentCall calls a function of the package.
type argumentCall struct {
	name string
	call func(p parameters) made
}

// argumentCalls call every function of the package.
var argumentCalls = func() (list []argumentCall) {
	for _, name := range slices.Sorted(maps.Keys(constructors)) {
		list = append(list, argumentCall{name, func(p parameters) made { return p.ofLadder(name) }})
	}
	return append(list, otherCalls...)
}()

var otherCalls = []argumentCall{
	{"Axial", func(p parameters) made {
		dims := []int{p.dim, p.maxPositions % 512, p.seqLen % 512}[:p.seqLen&3]
		m := ofLadder(frequency.Axial(p.base, p.rounding, dims...))
		m.pairs = 0
		for _, dim := range dims {
			m.pairs += dim / 2
		}
		m.axes = m.pairs
		return m
	}},
	{"AxialAlternating", func(p parameters) made {
		m := ofLadder(frequency.AxialAlternating(p.dim, p.base, p.rounding))
		m.axes = p.dim / 2
		return m
	}},
	{"AxialInterleaved", func(p parameters) made {
		m := ofLadder(frequency.AxialInterleaved(p.dim, p.base, p.rounding))
		m.axes = p.dim / 2
		return m
	}},
	{"AxialTiled", func(p parameters) made {
		dims := []int{p.dim, p.maxPositions % 512, p.seqLen % 512}[:p.seqLen&3]
		m := ofLadder(frequency.AxialTiled(p.base, p.rounding, dims...))
		m.pairs = 0
		for _, dim := range dims {
			m.pairs += dim
		}
		m.axes = m.pairs
		return m
	}},
	{"ESMFold2", func(p parameters) made {
		m := ofLadder(frequency.ESMFold2(p.dim, frequency.ESMFold2Parameters{SpatialPairs: p.maxPositions % 16, UIDPairs: p.seqLen % 64, SpatialBase: p.base, UIDBase: p.a}, p.rounding))
		m.axes = p.dim / 2
		return m
	}},
	{"Sections", func(p parameters) made {
		sections := []int{p.dim, p.maxPositions, p.seqLen}[:p.rounding%4]
		return ofAxes(sections, 3)(frequency.Sections(sections...))
	}},
	{"InterleavedSections", func(p parameters) made {
		return ofAxes([]int{p.dim, p.maxPositions, p.seqLen}, 3)(frequency.InterleavedSections(frequency.ImageSections{Time: p.dim, Height: p.maxPositions, Width: p.seqLen}))
	}},
	{"AlternatingSections", func(p parameters) made {
		return ofAxes([]int{p.dim, p.maxPositions, p.seqLen}, 3)(frequency.AlternatingSections(frequency.ImageSections{Time: p.seqLen, Height: p.dim, Width: p.maxPositions}))
	}},
	{"XPos", func(p parameters) made {
		high, low, err := frequency.XPos(p.dim, p.base)
		m := made{err: err, pairs: p.dim / 2, numbers: high, rates: true}
		if len(high) != len(low) {
			m.err = errors.New("two lengths")
		}
		return m
	}},
	{"Sinusoidal", func(p parameters) made {
		return ofFrequencies(p)(frequency.Sinusoidal(p.dim, frequency.SinusoidalParameters{First: p.a, Base: p.base, Denominator: p.b}))
	}},
	{"TimingSignal", func(p parameters) made {
		return ofFrequencies(p)(frequency.TimingSignal(p.dim, frequency.TimingSignalParameters{MinTimescale: p.a, MaxTimescale: p.b}))
	}},
	{"Geometric", func(p parameters) made {
		return ofFrequencies(p)(frequency.Geometric(p.dim, frequency.GeometricParameters{First: p.a, Last: p.b}))
	}},
}

// made is what a function made, and how many pairs and axes it should have.
type made struct {
	err         error
	pairs, axes int
	numbers     []float64
	scales      []float64
	axisOf      []uint8
	axisCount   int
	rates       bool // they are negative
	least       float64
}

func ofLadder(l frequency.Ladder, err error) made {
	return made{err: err, pairs: -1, numbers: l.InvFreq, scales: []float64{l.AttentionFactor, l.SoftmaxScale}, axisOf: l.Axes, axisCount: 256}
}

func ofAxes(sections []int, count int) func([]uint8, error) made {
	return func(axes []uint8, err error) made {
		m := made{err: err, axisOf: axes, axisCount: count}
		for _, n := range sections {
			m.axes += n
		}
		return m
	}
}

func ofFrequencies(p parameters) func([]float64, error) made {
	return func(frequencies []float64, err error) made {
		return made{err: err, pairs: p.dim, numbers: frequencies, least: 0x1p-900}
	}
}

// argumentCalls have every function that the package exports, and no other.
func TestArgumentCalls(t *testing.T) {
	var called []string
	for _, c := range argumentCalls {
		called = append(called, c.name)
	}
	exported := testkit.ExportedFunctions(t, ".")
	slices.Sort(exported)
	slices.Sort(called)
	if !slices.Equal(exported, called) {
		t.Errorf("argumentCalls have %q, the package exports %q", called, exported)
	}
}

// FuzzArguments: for any parameters, a function returns as many finite
// numbers and axes as it should or an error of its own.
func FuzzArguments(f *testing.F) {
	for function := range argumentCalls {
		for rounding := range uint8(2) {
			f.Add(uint8(function), rounding, 64, 10000.0, 8.0, 4096, 8192, 0.0, 0.0, 0.0, 0.0, 0.0)
			f.Add(uint8(function), rounding, 20, 1e30, 1e-3, 17, 1<<20, 1.0, 4.0, 0.5, 0.75, 2.0)
			f.Add(uint8(function), rounding, 6, 1.0000001, 1e30, math.MaxInt, math.MaxInt, 1e-30, 1e30, 1e30, 1e-30, 1e30)
			f.Add(uint8(function), rounding, 4, math.MaxFloat64, 5e-324, 1, 0, 1e300, 1e308, 5e-324, 1.0, math.MaxFloat64)
			f.Add(uint8(function), rounding, 8, math.NaN(), math.Inf(1), math.MinInt, -1, math.NaN(), -1.0, math.Inf(-1), 0.0, math.NaN())
			f.Add(uint8(function), rounding+2, 22, 512.0, 1.0, 22, 20, 1.0, 7.0, 1.0, 1.0, 1.0)
		}
	}
	f.Fuzz(func(t *testing.T, function, rounding uint8, dim int, base, factor float64, maxPositions, seqLen int, a, b, c, d, e float64) {
		if dim > 256 && dim <= frequency.MaxRotaryDim {
			dim %= 256 // long ladders take long
		}
		factors := make([]float64, max(0, min(dim, 256))/2)
		for i := range factors {
			factors[i] = []float64{a, b, c, d, e}[i%5]
		}
		called := argumentCalls[int(function)%len(argumentCalls)]
		m := called.call(parameters{frequency.Rounding(rounding), dim, base, factor, maxPositions, seqLen, a, b, c, d, e, factors})
		if m.err != nil {
			if !strings.HasPrefix(m.err.Error(), "frequency."+called.name+": ") || strings.Count(m.err.Error(), "frequency.") != 1 {
				t.Fatalf("%s: %v", called.name, m.err)
			}
			if !errors.Is(m.err, argument.ErrConfig) || m.numbers != nil || m.axisOf != nil || len(m.err.Error()) > 1000 {
				t.Fatalf("%s: got %v, %v, %v", called.name, m.numbers, m.axisOf, m.err)
			}
			return
		}
		if m.pairs < 0 {
			m.pairs = dim / 2
		}
		if len(m.numbers) != m.pairs || len(m.axisOf) != m.axes {
			t.Fatalf("%s: %d frequencies and %d axes, want %d and %d", called.name, len(m.numbers), len(m.axisOf), m.pairs, m.axes)
		}
		for i, x := range m.numbers {
			switch {
			case m.rates && !(x <= 0 && x >= -math.MaxFloat64), !m.rates && !(x >= m.least && x <= math.MaxFloat64):
				t.Errorf("%s: number %d is %v", called.name, i, x)
			case m.scales != nil && rounding == uint8(frequency.Float32) && x != float64(float32(x)):
				t.Errorf("%s: frequency %d is %v, no float32", called.name, i, x)
			}
		}
		for i, axis := range m.axisOf {
			if int(axis) >= m.axisCount {
				t.Errorf("%s: pair %d is of axis %d", called.name, i, axis)
			}
		}
		for _, scale := range m.scales {
			if !(scale > 0 && scale <= math.MaxFloat64) {
				t.Errorf("%s: scales %v", called.name, m.scales)
			}
		}
	})
}
