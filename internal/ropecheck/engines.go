package ropecheck

import (
	"cmp"
	"math"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig"
)

// engine computes cosines and sines to the last bit as an engine does.
type engine struct {
	name string

	// angles returns the function that writes the angles of a position, and what multiplies
	// cosines and sines; nil for a ladder that the engine has no such angles of.
	angles func(l *ladder) (write func(angles []float32, position float32), factor float32)

	cosSin func(angle float32) (cos, sin float32) // nil: correctly rounded
}

// ladder is the frequencies of a rotation, from which engines make angles.
type ladder struct {
	invFreq []float32
	factor  float32 // of cosines and sines
	rule    modelconfig.Rule
}

// engines are those whose bits testdata/engines.py made.
var engines = [...]engine{
	{"ggml 0.13.1 with glibc 2.36", ggmlAngles, glibcCosSin},
	{"MLX 0.32.4 on a CPU", mlxAngles, mlxCosSin},
	{"PyTorch 2.15.0's complex numbers (torch.polar) on a CPU with AVX2, with glibc 2.36", torchAngles, glibcCosSin},
	{"PyTorch 2.15.0's frequencies on a CPU with AVX2, rounded correctly, as in a type of 16 bits", torchAngles, nil},
	{"candle 0.11.1 with glibc 2.36, in its models with powers of float64", candleAngles, glibcCosSin},
	{"numpy 2.4.6 in float32, on a CPU with AVX2", productAngles, numpyCosSin},
	{"tinygrad 0.14.0 on a CPU with FMA, by clang 14", tinygradAngles, tinygradCosSin},
	{"C and Rust with cosf and sinf of glibc 2.36, as in candle 0.11.1's Llama", productAngles, glibcCosSin},
}

func productAngles(l *ladder) (write func(angles []float32, position float32), factor float32) {
	return func(angles []float32, position float32) {
		for i, w := range l.invFreq {
			angles[i] = position * w
		}
	}, l.factor
}

// ggmlAngles is ggml_rope_ext: an angle is the one before times base^(-2/dim), which a tensor of factors
// divides and YaRN mixes with its quotient by the factor. Powers and logarithms of float32 by the C library
// are taken to be rounded correctly.
func ggmlAngles(l *ladder) (write func(angles []float32, position float32), factor float32) {
	log := func(x float32) float32 { return float32(math.Log(float64(x))) }
	pairs, base := len(l.invFreq), float32(l.rule.Base)
	scale, mix := float32(1), make([]float32, pairs) // mix is the share of the angle that is not scaled
	var divisors []float64
	factor = l.factor
	switch p := l.rule.Parameters.(type) {
	case nil:
		if l.rule.Name != "default" {
			return nil, 0
		}
	case []float64:
		if divisors = p; len(p) != pairs {
			return nil, 0
		}
	case frequency.LinearParameters:
		scale = float32(1 / p.Factor)
	case frequency.YaRNParameters:
		if p.Untruncated || p.Logarithmic || p.ExtrapolationFactor != 0 || p.AttentionMultiplier != 0 {
			return nil, 0
		}
		bound := func(turns float64) float32 {
			return float32(2*pairs) * log(float32(p.OriginalMaxPositions)/(float32(turns)*2*math.Pi)) / (2 * log(base))
		}
		low := max(0, float32(math.Floor(float64(bound(cmp.Or(p.BetaFast, 32))))))
		high := min(float32(2*pairs-1), float32(math.Ceil(float64(bound(cmp.Or(p.BetaSlow, 1))))))
		for i := range mix {
			mix[i] = 1 - min(1, max(0, (float32(i)-low)/max(0.001, high-low)))
		}
		scale = float32(1 / p.Factor)
		factor = 1 + float32(0.1*log(1/scale))
	default:
		return nil, 0
	}
	ratio := float32(math.Pow(float64(base), float64(-1/float32(pairs))))
	return func(angles []float32, position float32) {
		for i := range angles {
			angle := position
			if divisors != nil {
				angle /= float32(divisors[i])
			}
			angles[i] = fma32(float32(scale*angle), 1-mix[i], float32(angle*mix[i]))
			position *= ratio
		}
	}, factor
}

// mlxAngles is mlx.core.fast.rope with a base.
func mlxAngles(l *ladder) (write func(angles []float32, position float32), factor float32) {
	if l.rule.Name != "default" {
		return nil, 0
	}
	frequencies := make([]float32, len(l.invFreq))
	for i := range frequencies {
		frequencies[i] = mlxExp(float32(-i) * float32(math.Log(l.rule.Base)/float64(len(frequencies))))
	}
	return productAngles(&ladder{invFreq: frequencies, factor: l.factor})
}

// torchAngles is what transformers and vLLM make with float32 powers of PyTorch: vectors of 16 by SLEEF, and the
// rest by the C library, whose powers are taken to be rounded correctly. Of scaled frequencies it has those whose
// powers are all rounded correctly.
func torchAngles(l *ladder) (write func(angles []float32, position float32), factor float32) {
	pairs, base := len(l.invFreq), float32(l.rule.Base)
	if !(base > 1) {
		return nil, 0
	}
	frequencies := slices.Clone(l.invFreq)
	for i := range frequencies {
		x := float32(i) / float32(pairs)
		right := float32(math.Pow(float64(base), float64(x)))
		power := right
		if i < pairs&^15 {
			power = sleefPow(base, x)
		}
		switch {
		case l.rule.Name == "default":
			frequencies[i] = 1 / power
		case power != right:
			return nil, 0
		}
	}
	return productAngles(&ladder{invFreq: frequencies, factor: l.factor})
}

// candleAngles is what candle's Qwen, Gemma, Phi-3, GLM-4 and others make, with the base in float64. Its Llama
// and Mistral have productAngles, with powers of float32.
func candleAngles(l *ladder) (write func(angles []float32, position float32), factor float32) {
	if l.rule.Name != "default" {
		return nil, 0
	}
	frequencies := make([]float32, len(l.invFreq))
	for i := range frequencies {
		frequencies[i] = 1 / float32(math.Pow(l.rule.Base, float64(i)/float64(len(frequencies))))
	}
	return productAngles(&ladder{invFreq: frequencies, factor: l.factor})
}

// tinygradAngles are quotients of positions and powers.
func tinygradAngles(l *ladder) (write func(angles []float32, position float32), factor float32) {
	if l.rule.Name != "default" {
		return nil, 0
	}
	powers := make([]float32, len(l.invFreq))
	step := 1 / float32(2*len(powers)) * float32(math.Log2(l.rule.Base))
	for i := range powers {
		powers[i] = tinygradExp2(float32(float32(2*i) * step))
	}
	return func(angles []float32, position float32) {
		for i, power := range powers {
			angles[i] = position / power
		}
	}, l.factor
}

// correctCosSin is rounded correctly, except perhaps for one angle of 2^28.
func correctCosSin(angle float32) (cos, sin float32) {
	s, c := math.Sincos(float64(angle))
	return float32(c), float32(s)
}

// Engines names the engines whose cosines and sines, and rotation by r with products rounded in
// any way, give all bits of data, where correctly rounded cosines and sines do not. It takes a rotation on one axis at known
// positions.
func Engines(data Data, r Rotation) (names []string) {
	if len(data.Positions) != data.Tokens || data.Stored != nil || data.check() != nil {
		return nil
	}
	ladders := [...]*ladder{ladderOf(&r.Exact, r.Rule), ladderOf(&r.Float32, r.Rule)}
	for _, e := range engines {
		for i, config := range []*posenc.RotaryConfig{&r.Exact, &r.Float32} {
			if l := ladders[i]; l != nil && e.gives(&data, config, l, ladders[:]) {
				names = append(names, e.name)
				break
			}
		}
	}
	return names
}

// ladderOf is nil where a rotation is more than a turn of each pair.
func ladderOf(c *posenc.RotaryConfig, rule modelconfig.Rule) *ladder {
	if len(c.InvFreq) == 0 || c.XPos != nil || c.Axes != nil || c.Layout > posenc.Interleaved {
		return nil
	}
	l := &ladder{factor: float32(cmp.Or(c.AttentionFactor, 1)), rule: rule}
	for _, w := range c.InvFreq {
		l.invFreq = append(l.invFreq, float32(w))
	}
	return l
}

// gives reports whether e has all bits, and correctly rounded cosines do not: of the engine's own angles, or if its
// cosines are these, of the model's.
func (e *engine) gives(data *Data, config *posenc.RotaryConfig, l *ladder, models []*ladder) bool {
	write, factor := e.angles(l)
	if write == nil {
		return false
	}
	cosSin, others := e.cosSin, []func([]float32, float32){write}
	if cosSin == nil {
		cosSin, others = correctCosSin, nil
		for _, m := range models {
			if m != nil {
				other, _ := productAngles(m)
				others = append(others, other)
			}
		}
	}
	pairs := len(l.invFreq)
	angles := make([]float32, pairs)
	s := &spec{structure: structure{config.Layout, config.Offset, 2 * pairs}}
	c := &checker{kind: data.Type}
	equal := func(write func([]float32, float32), of func(float32) (cos, sin float32), tables Tables, products Products) bool {
		for t, p := range data.Positions {
			write(angles, float32(p))
			for i, angle := range angles {
				cos, sin := of(angle)
				cos, sin = tables.round(cos*factor), tables.round(sin*factor)
				in, out := s.pair(i)
				for k := range data.Heads {
					at := (t*data.Heads + k) * data.HeadDim
					y1, y2 := c.rotate(data.Before[at+in[0]], data.Before[at+in[1]], cos, sin, products)
					if y1 != data.After[at+out[0]] || y2 != data.After[at+out[1]] {
						return false
					}
				}
			}
		}
		return true
	}
	for _, tables := range roundedTables {
		for _, products := range roundedProducts {
			if equal(write, cosSin, tables, products) {
				return !slices.ContainsFunc(others, func(other func([]float32, float32)) bool { return equal(other, correctCosSin, tables, products) })
			}
		}
	}
	return false
}
