package modelconfig

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
)

// ggmlCase is a rotation that ggml computed (testdata/llamacpp/README.md).
type ggmlCase struct {
	Name      string
	Keys      map[string]any
	Tensors   map[string][]float32
	LayerType string
	SeqLen    int
	Arguments struct {
		NDims    int     `json:"n_dims"`
		FreqBase float64 `json:"freq_base"`
	}
	HeadDim   int
	Positions [][]int32
	Rotated   []string
}

func ggmlCases() []*ggmlCase {
	var cases []*ggmlCase
	decodeNumbers(testkit.ReadGolden("testdata/llamacpp/rotated.json"), &cases)
	for _, c := range cases {
		metadataTypes(c.Keys)
		for name, factors := range c.Tensors {
			c.Keys[name] = factors
		}
	}
	return cases
}

func (c *ggmlCase) config() posenc.RotaryConfig {
	return testkit.Must(testkit.Must(GGUF(c.Keys)).rotaryFor(kindOptions{LayerType: c.LayerType, SequenceLength: c.SeqLen}))
}

// ggmlInput is element k of a row before the rotation.
func ggmlInput(k int) float32 { return float32((37*k+11)%31-15) / 4 }

// compare rotates the row of a case by cfg and compares it with ggml's. worst is
// the largest difference in units of the tolerance:
//
// ggml takes the angle of pair i as a product of i+1 float32 numbers: the
// position, and i times powf(freq_base, -2/n_dims). u = 2^-24 bounds the relative
// error of one rounding. Each of the i products has one; each factor has the
// error of powf, below 2u, and that of its exponent, u·|ln factor|. The
// division by freq_factors, the factor of interpolation and the mixture of
// YaRN, all of positive numbers, add at most 12 more (the ramp is a quotient of
// differences of integers, so that its error stays within three roundings).
// Interpolation only makes the angle smaller, so that
//
//	|error of the angle| <= position · extrapolated frequency · u · (i·(3 + |ln factor|) + 12)
//
// with the frequency before interpolation, base^(-2i/n_dims)/freq_factors[i].
// The cosine and sine of libm are within 1 unit in the last place, 2u, their
// factor mscale is a product of float32 numbers and a logarithm, 12u, and the
// rotation rounds three times. posenc's own rounding is within that. Beyond an
// error of 2 every cosine would agree.
func (c *ggmlCase) compare(t *testing.T, cfg posenc.RotaryConfig) (worst float64, where string) {
	t.Helper()
	const u = 0x1p-24
	r := testkit.Must(posenc.NewRotary(cfg))
	count := len(c.Rotated)
	x := make([]float32, count*c.HeadDim)
	for i := range x {
		x[i] = ggmlInput(i % c.HeadDim)
	}
	axes := 1
	if cfg.Axes != nil {
		axes = int(slices.Max(cfg.Axes)) + 1
	}
	positions := slices.Concat(c.Positions[:axes]...)
	// The rotated part alone is the head for multi-head latent attention.
	testkit.NoError(t, posenc.Rotate(r.At(positions), posenc.View[float32]{Data: x, Heads: 1, TokenStride: c.HeadDim}))
	half := c.Arguments.NDims / 2
	logStep := -2 / float64(c.Arguments.NDims) * math.Log(c.Arguments.FreqBase)
	divisors := c.divisors()
	for row := range count {
		want := testkit.Hex[float32](c.Rotated[row])
		got := x[row*c.HeadDim:][:c.HeadDim]
		for k := 2 * half; k < c.HeadDim; k++ {
			if got[k] != want[k] {
				t.Errorf("%s: element %d beyond the rotated ones is %v, ggml has %v", c.Name, k, got[k], want[k])
			}
		}
		for i := range half {
			a, b := i, i+half
			if cfg.Layout == posenc.Interleaved {
				a, b = 2*i, 2*i+1
			}
			axis := 0
			if cfg.Axes != nil {
				axis = int(cfg.Axes[i])
			}
			angle := math.Abs(float64(c.Positions[axis][row])) * math.Exp(float64(i)*logStep)
			if divisors != nil {
				angle /= float64(divisors[i])
			}
			angleError := angle * u * (float64(i)*(3-logStep) + 12)
			size := (math.Abs(float64(ggmlInput(a))) + math.Abs(float64(ggmlInput(b)))) * max(cfg.AttentionFactor, 1)
			tolerance := size * (min(angleError, 2) + 20*u)
			for _, k := range []int{a, b} {
				difference := math.Abs(float64(got[k]) - float64(want[k]))
				if excess := difference / tolerance; excess > worst {
					worst = excess
					where = fmt.Sprintf("position %d, pair %d: %v, ggml has %v, tolerance %.3g", c.Positions[axis][row], i, got[k], want[k], tolerance)
				}
			}
		}
	}
	return worst, where
}

// divisors are the frequency factors that ggml was given.
func (c *ggmlCase) divisors() []float32 {
	if c.LayerType == description.SlidingAttention {
		return nil
	}
	if f := c.Tensors["rope_freqs.weight"]; f != nil {
		return f
	}
	if c.SeqLen > 4096 {
		return c.Tensors["rope_factors_long.weight"]
	}
	return c.Tensors["rope_factors_short.weight"]
}

// TestLlamaCpp compares rotations with those of ggml's own code.
func TestLlamaCpp(t *testing.T) {
	cases := ggmlCases()
	if len(cases) < 40 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			worst, where := c.compare(t, c.config())
			if worst > 1 {
				t.Errorf("%.3g times the tolerance: %s", worst, where)
			}
			t.Logf("largest difference %.3g of the tolerance", worst)
			// The tolerance is tight enough to tell the other layout, and a base of 1 % less.
			layout, base := c.config(), c.config()
			layout.Layout = posenc.HalfSplit + posenc.Interleaved - layout.Layout
			for i := range base.InvFreq {
				base.InvFreq[i] *= math.Pow(0.99, -2*float64(i)/float64(c.Arguments.NDims))
			}
			for _, wrong := range []posenc.RotaryConfig{layout, base} {
				if worst, _ := c.compare(t, wrong); worst < 10 {
					t.Errorf("wrong by %.3g times the tolerance only", worst)
				}
			}
		})
	}
}

// TestLlamaCppVision compares rotations of vision towers (GGML_ROPE_TYPE_VISION) with those
// of ggml's own code.
func TestLlamaCppVision(t *testing.T) {
	var cases []struct {
		Name      string
		Config    map[string]any
		HeadDim   int
		Positions [][]int32
		Rotated   []string
	}
	testkit.ReadJSON("testdata/llamacpp/vision.json", &cases)
	for _, c := range cases {
		cfg := testkit.Must(testkit.Must(HuggingFaceVision(testkit.Must(json.Marshal(c.Config)))).rotaryFor(kindOptions{}))
		r := testkit.Must(posenc.NewRotary(cfg))
		x := make([]float32, len(c.Rotated)*c.HeadDim)
		for i := range x {
			x[i] = ggmlInput(i % c.HeadDim)
		}
		// ggml has four axes, of which the first two are rows and columns.
		positions := slices.Concat(c.Positions[:2]...)
		testkit.NoError(t, posenc.Rotate(r.At(positions), posenc.View[float32]{Data: x, Heads: 1, TokenStride: c.HeadDim}))
		// ggml's angles are products of up to 20 float32 numbers of positions below 64: their
		// error is below 64·60·2^-24, that of elements below 8 times as much.
		const tolerance = 8 * 64 * 60 * 0x1p-24
		for row, digits := range c.Rotated {
			for k, want := range testkit.Hex[float32](digits) {
				if got := x[row*c.HeadDim+k]; math.Abs(float64(got)-float64(want)) > tolerance {
					t.Errorf("%s: token %d, element %d is %v, ggml has %v", c.Name, row, k, got, want)
				}
			}
		}
	}
}
