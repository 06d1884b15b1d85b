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
	"github.com/go-posenc/posenc/internal/test/kit"
)

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

// calls call every function of the package by the parameters of ladders.
var calls = func() map[string]func(p ladderParameters, r frequency.Rounding) made {
	ladder := func(pairs, axes int) func(frequency.Ladder, error) made {
		return func(l frequency.Ladder, err error) made {
			return made{err: err, pairs: pairs, axes: axes, numbers: l.InvFreq, scales: []float64{l.AttentionFactor, l.SoftmaxScale}, axisOf: l.Axes, axisCount: 256}
		}
	}
	sections := func(list ...int) func([]uint8, error) made {
		return func(axes []uint8, err error) made { return made{err: err, axes: sum(list), axisOf: axes, axisCount: 3} }
	}
	list := func(pairs int) func([]float64, error) made {
		return func(frequencies []float64, err error) made {
			return made{err: err, pairs: pairs, numbers: frequencies, least: 0x1p-900}
		}
	}
	dims := func(p *ladderParameters) []int {
		return []int{p.Dim, p.MaxPositions % 512, p.SeqLen % 512}[:p.Original&3]
	}
	all := map[string]func(p ladderParameters, r frequency.Rounding) made{
		"Axial": func(p ladderParameters, r frequency.Rounding) made {
			dims := dims(&p)
			half := 0
			for _, dim := range dims {
				half += dim / 2
			}
			return ladder(half, half)(frequency.Axial(p.Base, r, dims...))
		},
		"AxialAlternating": func(p ladderParameters, r frequency.Rounding) made {
			return ladder(p.Dim/2, p.Dim/2)(frequency.AxialAlternating(p.Dim, p.Base, r))
		},
		"AxialInterleaved": func(p ladderParameters, r frequency.Rounding) made {
			return ladder(p.Dim/2, p.Dim/2)(frequency.AxialInterleaved(p.Dim, p.Base, r))
		},
		"AxialTiled": func(p ladderParameters, r frequency.Rounding) made {
			dims := dims(&p)
			return ladder(sum(dims), sum(dims))(frequency.AxialTiled(p.Base, r, dims...))
		},
		"ESMFold2": func(p ladderParameters, r frequency.Rounding) made {
			of := frequency.ESMFold2Parameters{SpatialPairs: p.MaxPositions % 16, UIDPairs: p.SeqLen % 64, SpatialBase: p.Base, UIDBase: p.Low}
			return ladder(p.Dim/2, p.Dim/2)(frequency.ESMFold2(p.Dim, of, r))
		},
		"Sections": func(p ladderParameters, _ frequency.Rounding) made {
			of := []int{p.Dim, p.MaxPositions, p.SeqLen}[:p.Original&3]
			return sections(of...)(frequency.Sections(of...))
		},
		"InterleavedSections": func(p ladderParameters, _ frequency.Rounding) made {
			return sections(p.Dim, p.MaxPositions, p.SeqLen)(frequency.InterleavedSections(frequency.ImageSections{Time: p.Dim, Height: p.MaxPositions, Width: p.SeqLen}))
		},
		"AlternatingSections": func(p ladderParameters, _ frequency.Rounding) made {
			return sections(p.Dim, p.MaxPositions, p.SeqLen)(frequency.AlternatingSections(frequency.ImageSections{Time: p.SeqLen, Height: p.Dim, Width: p.MaxPositions}))
		},
		"XPos": func(p ladderParameters, _ frequency.Rounding) made {
			high, low, err := frequency.XPos(p.Dim, p.Base)
			if len(low) != len(high) {
				high = nil
			}
			return made{err: err, pairs: p.Dim / 2, numbers: high, rates: true}
		},
		"Sinusoidal": func(p ladderParameters, _ frequency.Rounding) made {
			return list(p.Dim)(frequency.Sinusoidal(p.Dim, frequency.SinusoidalParameters{First: p.Low, Base: p.Base, Denominator: p.High}))
		},
		"TimingSignal": func(p ladderParameters, _ frequency.Rounding) made {
			return list(p.Dim)(frequency.TimingSignal(p.Dim, frequency.TimingSignalParameters{MinTimescale: p.Low, MaxTimescale: p.High}))
		},
		"Geometric": func(p ladderParameters, _ frequency.Rounding) made {
			return list(p.Dim)(frequency.Geometric(p.Dim, frequency.GeometricParameters{First: p.Low, Last: p.High}))
		},
	}
	for name, of := range constructors {
		all[name] = func(p ladderParameters, r frequency.Rounding) made { return ladder(p.Dim/2, 0)(of(p, r)) }
	}
	return all
}()

func sum(list []int) (n int) {
	for _, x := range list {
		n += x
	}
	return n
}

func TestCalls(t *testing.T) {
	exported := kit.ExportedFunctions(t, ".")
	if names := slices.Sorted(maps.Keys(calls)); !slices.Equal(slices.Sorted(slices.Values(exported)), names) {
		t.Errorf("calls has %q, the package exports %q", names, exported)
	}
}

// FuzzArguments: for any parameters, a function returns as many finite
// numbers and axes as it should or an error of its own.
func FuzzArguments(f *testing.F) {
	names := slices.Sorted(maps.Keys(calls))
	for function := range names {
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
		name := names[int(function)%len(names)]
		m := calls[name](ladderParameters{
			Dim: dim, Base: base, Factor: factor, MaxPositions: maxPositions, SeqLen: seqLen, MixedB: a, Alpha: a, Original: maxPositions,
			BetaFast: a, BetaSlow: b, Untruncated: seqLen%2 != 0, Extrapolation: math.Mod(c, 1), AttentionFactor: c, MScale: d, MScaleAllDim: e,
			Multiplier: b, ScaleSoftmax: seqLen%3 != 0, Short: factors, Long: factors, ShortAttention: a, LongAttention: b, Low: a, High: b,
			Partial: a, Factors: factors,
		}, frequency.Rounding(rounding))
		if m.err != nil {
			if !strings.HasPrefix(m.err.Error(), "frequency."+name+": ") || strings.Count(m.err.Error(), "frequency.") != 1 {
				t.Fatalf("%s: %v", name, m.err)
			}
			if !errors.Is(m.err, argument.ErrConfig) || m.numbers != nil || m.axisOf != nil || len(m.err.Error()) > 1000 {
				t.Fatalf("%s: got %v, %v, %v", name, m.numbers, m.axisOf, m.err)
			}
			return
		}
		if len(m.numbers) != m.pairs || len(m.axisOf) != m.axes {
			t.Fatalf("%s: %d frequencies and %d axes, want %d and %d", name, len(m.numbers), len(m.axisOf), m.pairs, m.axes)
		}
		for i, x := range m.numbers {
			switch {
			case m.rates && !(x <= 0 && x >= -math.MaxFloat64), !m.rates && !(x >= m.least && x <= math.MaxFloat64):
				t.Errorf("%s: number %d is %v", name, i, x)
			case m.scales != nil && rounding == uint8(frequency.Float32) && x != float64(float32(x)):
				t.Errorf("%s: frequency %d is %v, no float32", name, i, x)
			}
		}
		for i, axis := range m.axisOf {
			if int(axis) >= m.axisCount {
				t.Errorf("%s: pair %d is of axis %d", name, i, axis)
			}
		}
		for _, scale := range m.scales {
			if !(scale > 0 && scale <= math.MaxFloat64) {
				t.Errorf("%s: scales %v", name, m.scales)
			}
		}
	})
}

func TestMain(m *testing.M) { kit.Main(m) }

func TestCases(t *testing.T) { kit.TestCases(t) }

// digested are parameters of every function but XPos, by what the label of their digest has behind the
// function's name.
var digested = map[string]map[string]ladderParameters{
	"Default":      {"": {Dim: 128, Base: 500000}},
	"Linear":       {"": {Dim: 32, Base: 10000, Factor: 2.5}},
	"DynamicNTK":   {"": {Dim: 32, Base: 10000, Factor: 2, MaxPositions: 4096, SeqLen: 10001}},
	"NTK":          {"": {Dim: 32, Base: 10000, Factor: 3}},
	"NTKAlpha":     {"": {Dim: 32, Base: 10000, Alpha: 1000}},
	"NTKMixed":     {"": {Dim: 32, Base: 10000, Factor: 8, MixedB: 0.625}},
	"Proportional": {"": {Dim: 32, Base: 1e6, Partial: 0.25, Factor: 8}},
	"YaRN": {
		"":             {Dim: 64, Base: 10000, Factor: 40, Original: 4096, MScale: 0.707, MScaleAllDim: 1, ScaleSoftmax: true},
		"/untruncated": {Dim: 64, Base: 150000, Factor: 32, Original: 4096, Untruncated: true},
		"/logarithmic": {Dim: 64, Base: 10000, Factor: 4, Original: 4096, Extrapolation: 0.5, Logarithmic: true},
	},
	"Llama3": {"": {Dim: 128, Base: 500000, Factor: 8, Low: 1, High: 4, Original: 8192}},
	"LongRoPE": {
		"/seqLen=4096": {Dim: 8, Base: 10000, Short: []float64{1, 1.05, 1.1, 1.5}, Long: []float64{1.1, 3, 20, 64.5}, Original: 4096, Factor: 32, SeqLen: 4096},
		"/seqLen=4097": {Dim: 8, Base: 10000, Short: []float64{1, 1.05, 1.1, 1.5}, Long: []float64{1.1, 3, 20, 64.5}, Original: 4096, Factor: 32, SeqLen: 4097},
	},
	"Factors":             {"": {Dim: 8, Base: 500000, Factors: []float64{1, 1.5, 7.3, 8}}},
	"Axial":               {"": {Original: 3, Dim: 16, MaxPositions: 24, SeqLen: 24, Base: 10000}},
	"AxialAlternating":    {"": {Dim: 64, Base: 10000}},
	"AxialInterleaved":    {"": {Dim: 64, Base: 10000}},
	"AxialTiled":          {"": {Original: 3, Dim: 20, MaxPositions: 20, SeqLen: 24, Base: 10000}},
	"ESMFold2":            {"": {Dim: 64, MaxPositions: 3, SeqLen: 10, Base: 20, Low: 10000}},
	"Geometric":           {"": {Dim: 20, Low: 1, High: 0.0001}},
	"Sinusoidal":          {"": {Dim: 20, Low: 1000, Base: 10000, High: 18.5}},
	"TimingSignal":        {"": {Dim: 20, Low: 1, High: 10000}},
	"Sections":            {"": {Original: 3, Dim: 8, MaxPositions: 12, SeqLen: 12}},
	"InterleavedSections": {"": {Dim: 12, MaxPositions: 10, SeqLen: 10}},
	"AlternatingSections": {"": {Dim: 11, MaxPositions: 11, SeqLen: 10}},
}

var _ = func() (none struct{}) {
	for function, list := range digested {
		kit.Register(kit.Case{Function: function, Digests: func(add kit.AddDigest) {
			for label, p := range list {
				digest := func(rounding frequency.Rounding) func(d *kit.Digest) {
					return func(d *kit.Digest) {
						m := calls[function](p, rounding)
						d.Must(m.err)
						d.Add(m.numbers, m.scales)
						if m.scales == nil {
							d.Add(m.axisOf)
						}
					}
				}
				if calls[function](p, frequency.Exact).scales == nil {
					add("frequency."+function+label, digest(frequency.Exact))
					continue
				}
				add("frequency."+function+label+"/rounding=Exact", digest(frequency.Exact))
				add("frequency."+function+label+"/rounding=Float32", digest(frequency.Float32))
			}
		}})
	}
	return kit.Register(kit.Case{Function: "XPos", Digests: func(add kit.AddDigest) {
		add("frequency.XPos", func(d *kit.Digest) {
			high, low, err := frequency.XPos(64, 512)
			d.Must(err)
			d.Add(high, low)
		})
	}})
}()
