package frequency_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/exhaustive"
	"github.com/go-posenc/posenc/internal/testkit"
)

// The rates are binary logarithms of the ratios, divided by the base, to more than 100 bits.
func TestXPos(t *testing.T) {
	for _, dim := range []int{2, 14, 32, 64, 128} {
		for _, base := range []float64{1, 512, 777} {
			high, low, err := XPos(dim, base)
			testkit.NoError(t, err)
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
	decoder := json.NewDecoder(bytes.NewReader(testkit.Must(os.ReadFile("testdata/vectors.json"))))
	decoder.DisallowUnknownFields()
	var vectors []vector
	testkit.NoError(t, decoder.Decode(&vectors))
	seen := map[string]bool{}
	for i, v := range vectors {
		seen[v.Rule] = true
		for rounding, want := range []vectorLadder{Exact: v.Exact, Float32: v.Float32} {
			if base := float32(v.Parameters.Base); rounding == int(Float32) && (base == 1 || math.IsInf(float64(base), 1)) {
				continue // refused
			}
			t.Run(fmt.Sprintf("%s/%d %s/rounding=%d", v.Rule, i, v.Name, rounding), func(t *testing.T) {
				ladder, err := constructors[v.Rule](v.Parameters, Rounding(rounding))
				testkit.NoError(t, err)
				var bits []uint64
				for _, digits := range strings.Fields(want.InvFreq + " " + want.Scaling + " " + want.SoftmaxScale) {
					bits = append(bits, math.Float64bits(testkit.Must(strconv.ParseFloat(digits, 64))))
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
