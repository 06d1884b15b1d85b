package frequency_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/exhaustive"
	"github.com/go-posenc/posenc/internal/testkit"
)

var bases = []float64{10000, 100000, 150000, 160000, 500000, 1e6, 5e6, 8e6, 1e7, 1e9, 2, 65536, 1.0625, 10000.5, math.MaxFloat64, math.Nextafter(1, 2)}

// power returns x^n with as many bits as it takes.
func power(x *big.Float, n int) *big.Float {
	result := new(big.Float).SetPrec(1).SetInt64(1)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			result = exactly(result, x)
		}
		x = exactly(x, x)
	}
	return result
}

func exactly(a, b *big.Float) *big.Float {
	return new(big.Float).SetPrec(a.MinPrec()+b.MinPrec()+1).Mul(a, b)
}

// v is base^(-2i/d) correctly rounded exactly when the midpoints to its
// neighbours enclose it: (v-h)^d * base^(2i) <= 1 <= (v+h)^d * base^(2i), which
// whole powers decide without rounding.
func TestDefaultIsCorrectlyRounded(t *testing.T) {
	one := big.NewFloat(1)
	for _, base := range bases {
		for _, dim := range []int{2, 4, 6, 16, 20, 32, 64, 80, 96, 128} {
			if testing.Short() && dim > 64 {
				continue
			}
			ladder := testkit.Must(Default(dim, base, Exact))
			for i, v := range ladder.InvFreq {
				scale := power(big.NewFloat(base), 2*i)
				for _, side := range []float64{0, 2} {
					neighbour := math.Nextafter(v, side)
					midpoint := new(big.Float).SetPrec(60).Add(big.NewFloat(v), big.NewFloat(neighbour))
					midpoint.Quo(midpoint, big.NewFloat(2))
					compared := exactly(power(midpoint, dim), scale).Cmp(one)
					if side == 0 && compared > 0 || side == 2 && compared < 0 {
						t.Errorf("base %v, dim %d: InvFreq[%d] = %x is misrounded", base, dim, i, v)
					}
				}
			}
		}
	}
}

// root returns base^exponent for a float32 exponent in [0, 1), as the product
// of the square roots that the bits of the exponent ask for.
func root(base, exponent float32) *big.Float {
	const precision = 300
	factor := new(big.Float).SetPrec(precision).SetFloat64(float64(base))
	result := new(big.Float).SetPrec(precision).SetInt64(1)
	for rest := float64(exponent); rest > 0; { // exact: 24 bits below 1
		factor.Sqrt(factor)
		if rest *= 2; rest >= 1 {
			rest--
			result.Mul(result, factor)
		}
	}
	return result
}

// The float32 steps, each rounded correctly: the exponent, the power and its
// reciprocal.
func TestDefaultFloat32(t *testing.T) {
	for _, base := range bases {
		if float32(base) <= 1 || base > math.MaxFloat32 {
			continue
		}
		for _, dim := range []int{2, 6, 20, 64, 80, 96, 128, 256} {
			if testing.Short() && dim > 64 {
				continue
			}
			ladder := testkit.Must(Default(dim, base, Float32))
			for i, v := range ladder.InvFreq {
				exact, _ := new(big.Rat).SetFrac64(int64(2*i), int64(dim)).Float32()
				power, _ := root(float32(base), exact).Float32()
				reciprocal, _ := new(big.Rat).Inv(new(big.Rat).SetFloat64(float64(power))).Float32()
				if v != float64(reciprocal) {
					t.Errorf("base %v, dim %d: InvFreq[%d] = %x, want %x", base, dim, i, v, reciprocal)
				}
			}
		}
	}
}

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
