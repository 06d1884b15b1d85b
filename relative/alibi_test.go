package relative_test

import (
	"math"
	"testing"

	"github.com/go-posenc/posenc/internal/test/exhaustive"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/kernels"
	"github.com/go-posenc/posenc/relative"
)

// The slopes and biases of transformers. Its powers and logarithms are float32:
// those of n heads are off by n ulp at most (pow by repeated errors of its base,
// 0.5 ulp for each power of it) and one for pow itself.
func TestALiBiAgainstTransformers(t *testing.T) {
	for _, c := range kit.ReadCases[struct {
		Model   string
		Heads   int
		Keys    int
		MaxBias float64 `json:"max_bias"`
		Bias    float32s
	}](t, "testdata/alibi.json", 10) {
		slopes := make([]float32, c.Heads)
		kit.NoError(t, relative.ALiBiSlopes(slopes, c.MaxBias))
		s := relative.Scores{Data: make([]float32, c.Heads*c.Keys), Heads: c.Heads, Queries: 1, Keys: c.Keys}
		if c.Model == "mpt" {
			s.FirstKey = 1 - c.Keys
		}
		kit.NoError(t, relative.AddALiBi(s, slopes, relative.KeyALiBi))
		if len(c.Bias) != len(s.Data) {
			t.Fatalf("%s: %d elements, want %d", c.Model, len(c.Bias), len(s.Data))
		}
		if c.Model == "falcon" {
			bfloat16 := func(x float32) float32 {
				bits := math.Float32bits(x)
				return math.Float32frombits((bits + 0x7fff + bits>>16&1) &^ 0xffff)
			}
			for i := range s.Data {
				slope, key := bfloat16(slopes[i/c.Keys]), bfloat16(float32(i%c.Keys))
				if want := bfloat16(slope * key); want != c.Bias[i] {
					t.Fatalf("%s: element %d is %v, want %v of factors in bfloat16", c.Model, i, c.Bias[i], want)
				}
			}
			continue
		}
		worst := 0
		for i, got := range s.Data {
			worst = max(worst, ulps(got+0, c.Bias[i]+0)) // the sign of a zero says nothing
		}
		if worst > c.Heads+2 {
			t.Errorf("%s, %d heads: off by %d ulp", c.Model, c.Heads, worst)
		}
		t.Logf("%s, %d heads: off by at most %d ulp", c.Model, c.Heads, worst)
	}
}

// The scores of MLX. Its slopes are powers in float64, rounded, which are the nearest
// float32; the products and sums are in float32.
func TestALiBiAgainstMLX(t *testing.T) {
	for _, c := range kit.ReadCases[struct {
		Heads, Queries, Keys int
		Scores               float32s
	}](t, "testdata/mlx.json", 3) {
		slopes := make([]float32, c.Heads)
		kit.NoError(t, relative.ALiBiSlopes(slopes, 8))
		s := relative.Scores{Data: kit.GoldenInputs(0, c.Heads*c.Queries*c.Keys), Heads: c.Heads, Queries: c.Queries, Keys: c.Keys, FirstQuery: c.Keys - c.Queries}
		kit.NoError(t, relative.AddALiBi(s, slopes, relative.SymmetricALiBi))
		if !kit.SameSlices(s.Data, c.Scores) {
			t.Errorf("%d heads: scores differ", c.Heads)
		}
	}
}

var _ = kit.Register(kit.Case{
	Function: "ALiBiSlopes",
	Call: func(a *kit.Arguments) kit.Call {
		slopes, maxBias := kit.Output[float32](a, a.Below(120)), a.Real(8)
		return kit.Call{
			Run: func() error { return relative.ALiBiSlopes(slopes, maxBias) },
			Want: func() {
				power := 1
				for 2*power <= len(slopes) {
					power *= 2
				}
				for h := range slopes {
					steps, of := h+1, power
					if h >= power {
						steps, of = 2*(h-power)+1, 2*power
					}
					exponent := exhaustive.RealOf(maxBias)
					exponent.Quo(exponent.Mul(exponent, exhaustive.RealOf(-float64(steps))), exhaustive.RealOf(float64(of)))
					if slopes[h] = 0; exponent.Cmp(exhaustive.RealOf(-150)) > 0 {
						slopes[h], _ = exhaustive.RealExponential(exponent.Mul(exponent, logarithmOf2)).Float32()
					}
				}
			},
			Right: func() bool { return maxBias > 0 && !math.IsInf(maxBias, 1) },
		}
	},
	Digests: func(add kit.AddDigest) {
		add("ALiBiSlopes", func(d *kit.Digest) {
			for _, heads := range []int{1, 8, 12, 71} {
				for _, maxBias := range []float64{8, 0x1.4p-3} {
					slopes := make([]float32, heads)
					d.Must(relative.ALiBiSlopes(slopes, maxBias))
					d.Add(slopes)
				}
			}
		})
	},
})

var logarithmOf2 = exhaustive.RealLogarithm(exhaustive.RealOf(2))

var _ = kit.Register(kit.Case{
	Function: "AddALiBi",
	Call: func(a *kit.Arguments) kit.Call {
		const heads = 5
		s := outputScores(a, heads, anywhere)
		slopes, form := kit.Slice[float32](a, heads), relative.ALiBiForm(a.Number(0, 2))
		return scoresCall(s, func(s relative.Scores) error { return relative.AddALiBi(s, slopes, form) }, func(score float32, head, query, key int) float32 {
			slope, distance := slopes[s.FirstHead+head], distanceOf(&s, query, key)
			switch form {
			case relative.KeyALiBi:
				distance = s.FirstKey + key
			case relative.SymmetricALiBi:
				return score - float32(slope*float32(max(distance, -distance)))
			}
			return score + float32(slope*float32(distance))
		})
	},
	OnStack:      callsOnStack,
	Long:         longCalls,
	CallElements: kernels.MaxCallScores,
	Digests: func(add kit.AddDigest) {
		for form, name := range []string{relative.CausalALiBi: "CausalALiBi", relative.SymmetricALiBi: "SymmetricALiBi", relative.KeyALiBi: "KeyALiBi"} {
			form := relative.ALiBiForm(form)
			add("AddALiBi/form="+name, func(d *kit.Digest) {
				digestTiles(d, func(s relative.Scores) error {
					return relative.AddALiBi(s, kit.DigestElements[float32](d, 4), form)
				})
				far := digestTile(d, 0, 2, 40)
				far.FirstQuery, far.FirstKey = 1<<30-2, -1<<30
				d.Must(relative.AddALiBi(far.Scores, kit.DigestNumbers[float32](d, 4), form))
				d.Add(far.memory)
			})
		}
	},
})
