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

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
)

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
		for rounding, want := range []vectorLadder{frequency.Exact: v.Exact, frequency.Float32: v.Float32} {
			t.Run(fmt.Sprintf("%s/%d %s/rounding=%d", v.Rule, i, v.Name, rounding), func(t *testing.T) {
				ladder, err := constructors[v.Rule](v.Parameters, frequency.Rounding(rounding))
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
	Untruncated                             bool
	Short, Long, Factors                    []float64
}

var constructors = map[string]func(ladderParameters, frequency.Rounding) (frequency.Ladder, error){
	"Default": func(p ladderParameters, r frequency.Rounding) (frequency.Ladder, error) {
		return frequency.Default(p.Dim, p.Base, r)
	},
	"Linear": func(p ladderParameters, r frequency.Rounding) (frequency.Ladder, error) {
		return frequency.Linear(p.Dim, p.Base, frequency.LinearParameters{Factor: p.Factor}, r)
	},
	"DynamicNTK": func(p ladderParameters, r frequency.Rounding) (frequency.Ladder, error) {
		return frequency.DynamicNTK(p.Dim, p.Base, frequency.DynamicNTKParameters{Factor: p.Factor, MaxPositions: p.MaxPositions, SequenceLength: p.SeqLen}, r)
	},
	"NTK": func(p ladderParameters, r frequency.Rounding) (frequency.Ladder, error) {
		return frequency.NTK(p.Dim, p.Base, frequency.NTKParameters{Factor: p.Factor}, r)
	},
	"NTKMixed": func(p ladderParameters, r frequency.Rounding) (frequency.Ladder, error) {
		return frequency.NTKMixed(p.Dim, p.Base, frequency.NTKMixedParameters{Factor: p.Factor, MixedB: p.MixedB}, r)
	},
	"NTKAlpha": func(p ladderParameters, r frequency.Rounding) (frequency.Ladder, error) {
		return frequency.NTKAlpha(p.Dim, p.Base, frequency.NTKAlphaParameters{Alpha: p.Alpha}, r)
	},
	"YaRN": func(p ladderParameters, r frequency.Rounding) (frequency.Ladder, error) {
		return frequency.YaRN(p.Dim, p.Base, frequency.YaRNParameters{
			Factor: p.Factor, OriginalMaxPositions: p.Original, BetaFast: p.BetaFast, BetaSlow: p.BetaSlow, Untruncated: p.Untruncated,
			ExtrapolationFactor: p.Extrapolation, AttentionFactor: p.AttentionFactor, MScale: p.MScale, MScaleAllDim: p.MScaleAllDim,
			AttentionMultiplier: p.Multiplier, ScaleSoftmax: p.ScaleSoftmax,
		}, r)
	},
	"LongRoPE": func(p ladderParameters, r frequency.Rounding) (frequency.Ladder, error) {
		return frequency.LongRoPE(p.Dim, p.Base, frequency.LongRoPEParameters{
			ShortFactors: p.Short, LongFactors: p.Long, OriginalMaxPositions: p.Original, Factor: p.Factor,
			ShortAttentionFactor: p.ShortAttention, LongAttentionFactor: p.LongAttention, SequenceLength: p.SeqLen,
		}, r)
	},
	"Llama3": func(p ladderParameters, r frequency.Rounding) (frequency.Ladder, error) {
		return frequency.Llama3(p.Dim, p.Base, frequency.Llama3Parameters{Factor: p.Factor, LowFreqFactor: p.Low, HighFreqFactor: p.High, OriginalMaxPositions: p.Original}, r)
	},
	"Proportional": func(p ladderParameters, r frequency.Rounding) (frequency.Ladder, error) {
		return frequency.Proportional(p.Dim, p.Base, frequency.ProportionalParameters{PartialRotaryFactor: p.Partial, Factor: p.Factor}, r)
	},
	"Factors": func(p ladderParameters, r frequency.Rounding) (frequency.Ladder, error) {
		return frequency.Factors(p.Dim, p.Base, p.Factors, r)
	},
}
