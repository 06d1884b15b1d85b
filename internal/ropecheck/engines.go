package ropecheck

import (
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
)

// engine computes cosines and sines to the last bit as an engine does.
type engine struct {
	name     string
	ofPowers bool // takes a base alone
	angles   func(angles []float32, position float32, l *ladder)
	cosSin   func(angle float32) (cos, sin float32)
}

// ladder is the frequencies of a rotation, from which engines make angles.
type ladder struct {
	invFreq []float32
	base    float64 // 0: the frequencies are no powers of one base
}

// engines are those whose bits testdata/engines.py made.
var engines = [...]engine{
	{"ggml 0.13.1 with glibc 2.36", true, runningAngles, glibcCosSin},
	{"MLX 0.32.4 on a CPU", true, mlxAngles, mlxCosSin},
	{"numpy 2.4.6 in float32, on a CPU with AVX2", false, productAngles, numpyCosSin},
	{"the C functions cosf and sinf of glibc 2.36", false, productAngles, glibcCosSin},
}

func productAngles(angles []float32, position float32, l *ladder) {
	for i, w := range l.invFreq {
		angles[i] = position * w
	}
}

// runningAngles is ggml's rotation without scaling: each angle is the one before times base^(-2/dim).
// Of this power the C library's powf is taken to be rounded correctly.
func runningAngles(angles []float32, position float32, l *ladder) {
	ratio := float32(math.Pow(l.base, float64(-1/float32(len(angles)))))
	for i := range angles {
		angles[i] = position
		position *= ratio
	}
}

// mlxAngles is mlx.core.fast.rope.
func mlxAngles(angles []float32, position float32, l *ladder) {
	step := float32(math.Log(l.base) / float64(len(angles)))
	for i := range angles {
		angles[i] = position * mlxExp(float32(-i)*step)
	}
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
	if len(data.Positions) != data.Tokens || data.check() != nil {
		return nil
	}
	for _, e := range engines {
		for _, config := range []*posenc.RotaryConfig{&r.Exact, &r.Float32} {
			if l := ladderOf(config); l != nil && (l.base != 0 || !e.ofPowers) && e.gives(&data, config, l) {
				names = append(names, e.name)
				break
			}
		}
	}
	return names
}

// ladderOf is nil where a rotation is more than a turn of each pair.
func ladderOf(c *posenc.RotaryConfig) *ladder {
	if c.HeadDim == 0 || c.XPos != nil || c.Axes != nil || c.Layout > posenc.Interleaved {
		return nil
	}
	dim := c.RotaryDim
	if dim == 0 {
		dim = c.HeadDim
	}
	l, exact := &ladder{base: c.Base}, c.InvFreq
	if l.base == 0 {
		l.base = defaultBase
	}
	if exact == nil {
		made, err := frequency.Default(dim, l.base, c.Rounding)
		if err != nil {
			return nil
		}
		exact = made.InvFreq
	} else {
		l.base = baseOf(dim, exact)
	}
	for i, w := range exact {
		if want := math.Pow(l.base, -2*float64(i)/float64(dim)); l.base != 0 && !(math.Abs(w-want) <= 1e-5*want) {
			l.base = 0
		}
		l.invFreq = append(l.invFreq, float32(w))
	}
	return l
}

func (e *engine) gives(data *Data, config *posenc.RotaryConfig, l *ladder) bool {
	pairs := len(l.invFreq)
	angles := make([]float32, pairs)
	factor := float32(1)
	if config.AttentionFactor != 0 {
		factor = float32(config.AttentionFactor)
	}
	s := &spec{structure: structure{config.Layout, config.Offset, 2 * pairs}}
	c := &checker{kind: data.Type}
	equal := func(cosSin func(float32) (cos, sin float32), tables Tables, products Products) bool {
		for t, p := range data.Positions {
			e.angles(angles, float32(p), l)
			for i, angle := range angles {
				cos, sin := cosSin(angle)
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
			if equal(e.cosSin, tables, products) {
				return !equal(correctCosSin, tables, products)
			}
		}
	}
	return false
}
