package frequency

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Made by testdata/vectors.py.
//
//go:embed testdata/vectors.json
var vectorsJSON []byte

type vector struct {
	Rule       string
	Name       string
	Parameters vectorParameters
	Exact      vectorLadder
	Float32    vectorLadder
}

type vectorParameters struct {
	Dim             int
	Base            float64
	Factor          float64
	MaxPositions    int     `json:"max_positions"`
	SeqLen          int     `json:"seq_len"`
	MixedB          float64 `json:"mixed_b"`
	Alpha           float64
	Original        int
	BetaFast        float64 `json:"beta_fast"`
	BetaSlow        float64 `json:"beta_slow"`
	Untruncated     bool
	Extrapolation   float64
	AttentionFactor float64 `json:"attention_factor"`
	MScale          float64
	MScaleAllDim    float64 `json:"mscale_all_dim"`
	Multiplier      float64
	ScaleSoftmax    bool `json:"scale_softmax"`
	Short, Long     []float64
	ShortAttention  float64 `json:"short_attention"`
	LongAttention   float64 `json:"long_attention"`
	Low, High       float64
	Partial         float64
	Factors         []float64
}

// vectorLadder holds hexadecimal floats.
type vectorLadder struct {
	InvFreq      string `json:"inv_freq"`
	Scaling      string
	SoftmaxScale string `json:"softmax_scale"`
}

var constructors = map[string]func(vectorParameters, Rounding) (Ladder, error){
	"Default": func(p vectorParameters, r Rounding) (Ladder, error) { return Default(p.Dim, p.Base, r) },
	"Linear":  func(p vectorParameters, r Rounding) (Ladder, error) { return Linear(p.Dim, p.Base, p.Factor, r) },
	"DynamicNTK": func(p vectorParameters, r Rounding) (Ladder, error) {
		return DynamicNTK(p.Dim, p.Base, DynamicNTKParameters{Factor: p.Factor, MaxPositions: p.MaxPositions}, p.SeqLen, r)
	},
	"NTK": func(p vectorParameters, r Rounding) (Ladder, error) { return NTK(p.Dim, p.Base, p.Factor, r) },
	"NTKMixed": func(p vectorParameters, r Rounding) (Ladder, error) {
		return NTKMixed(p.Dim, p.Base, NTKMixedParameters{Factor: p.Factor, MixedB: p.MixedB}, r)
	},
	"NTKAlpha": func(p vectorParameters, r Rounding) (Ladder, error) { return NTKAlpha(p.Dim, p.Base, p.Alpha, r) },
	"YaRN": func(p vectorParameters, r Rounding) (Ladder, error) {
		return YaRN(p.Dim, p.Base, YaRNParameters{
			Factor: p.Factor, OriginalMaxPositions: p.Original, BetaFast: p.BetaFast, BetaSlow: p.BetaSlow, Untruncated: p.Untruncated,
			ExtrapolationFactor: p.Extrapolation, AttentionFactor: p.AttentionFactor, MScale: p.MScale, MScaleAllDim: p.MScaleAllDim,
			AttentionMultiplier: p.Multiplier, ScaleSoftmax: p.ScaleSoftmax,
		}, r)
	},
	"LongRoPE": func(p vectorParameters, r Rounding) (Ladder, error) {
		return LongRoPE(p.Dim, p.Base, LongRoPEParameters{
			ShortFactors: p.Short, LongFactors: p.Long, OriginalMaxPositions: p.Original, Factor: p.Factor,
			ShortAttentionFactor: p.ShortAttention, LongAttentionFactor: p.LongAttention,
		}, p.SeqLen, r)
	},
	"Llama3": func(p vectorParameters, r Rounding) (Ladder, error) {
		return Llama3(p.Dim, p.Base, Llama3Parameters{Factor: p.Factor, LowFreqFactor: p.Low, HighFreqFactor: p.High, OriginalMaxPositions: p.Original}, r)
	},
	"Proportional": func(p vectorParameters, r Rounding) (Ladder, error) {
		return Proportional(p.Dim, p.Base, ProportionalParameters{PartialRotaryFactor: p.Partial, Factor: p.Factor}, r)
	},
	"Factors": func(p vectorParameters, r Rounding) (Ladder, error) { return Factors(p.Dim, p.Base, p.Factors, r) },
}

// Every number has the bits that a 300-bit evaluation of the equation rounds
// to (Exact), or that the operations of the reference give (Float32).
func TestVectors(t *testing.T) {
	decoder := json.NewDecoder(bytes.NewReader(vectorsJSON))
	decoder.DisallowUnknownFields()
	var vectors []vector
	if err := decoder.Decode(&vectors); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, v := range vectors {
		seen[v.Rule] = true
		for rounding, want := range []vectorLadder{Exact: v.Exact, Float32: v.Float32} {
			t.Run(fmt.Sprintf("%s/%d %s/rounding=%d", v.Rule, i, v.Name, rounding), func(t *testing.T) {
				ladder, err := constructors[v.Rule](v.Parameters, Rounding(rounding))
				if err != nil {
					t.Fatal(err)
				}
				frequencies := strings.Fields(want.InvFreq)
				if len(ladder.InvFreq) != len(frequencies) || len(frequencies) != v.Parameters.Dim/2 {
					t.Fatalf("%d frequencies, want %d", len(ladder.InvFreq), len(frequencies))
				}
				for i, frequency := range frequencies {
					compareBits(t, fmt.Sprintf("InvFreq[%d]", i), ladder.InvFreq[i], frequency)
				}
				compareBits(t, "AttentionFactor", ladder.AttentionFactor, want.Scaling)
				compareBits(t, "SoftmaxScale", ladder.SoftmaxScale, want.SoftmaxScale)
			})
		}
	}
	if rules := slices.Sorted(maps.Keys(constructors)); !slices.Equal(slices.Sorted(maps.Keys(seen)), rules) {
		t.Errorf("vectors of %v, want of %v", slices.Sorted(maps.Keys(seen)), rules)
	}
}

func compareBits(t *testing.T, name string, got float64, want string) {
	t.Helper()
	value, err := strconv.ParseFloat(want, 64)
	if err != nil {
		t.Fatal(err)
	}
	if math.Float64bits(got) != math.Float64bits(value) {
		t.Errorf("%s is %x, want %x", name, got, value)
	}
}
