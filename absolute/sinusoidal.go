package absolute

import (
	"cmp"
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
)

// SinusoidalOrder is the order of sines and cosines in a row of an encoding with n frequencies.
type SinusoidalOrder uint8

const (
	SinCosInterleaved SinusoidalOrder = iota // row[2k], row[2k+1] = sin, cos of frequency k: Vaswani et al., DETR
	SinThenCos                               // row[k], row[n+k] = sin, cos: tensor2tensor, fairseq, Marian, Whisper
	CosThenSin                               // row[k], row[n+k] = cos, sin: diffusers with flip_sin_to_cos, MLX with cos_first
)

// SinusoidalConfig describes a sinusoidal encoding that no function of a model, such as [Vaswani],
// returns.
type SinusoidalConfig struct {
	Dim       int             // elements of a row, from 2*Axes*len(InvFreq)-1 (the last element is left out) to 65536; elements beyond 2*Axes*len(InvFreq) are zero
	InvFreq   []float64       // frequencies in radians per position, each 0 or from 2^-900 to below 2^50 in magnitude
	Order     SinusoidalOrder // order of sines and cosines
	Axes      int             // axes of positions; each takes the next 2*len(InvFreq) elements; 0 means 1
	Amplitude float64         // multiplies sines and cosines: positive as a float32; 0 means 1
	Padding   *int32          // a token at this position on the first axis gets a row of zeros; nil: none does
}

// Sinusoidal is a sinusoidal position encoding (Vaswani et al. 2017,
// arXiv:1706.03762). It never changes after it was made; goroutines may share it.
type Sinusoidal struct {
	dim, axes    int
	pairs        int // pairs of a sine and a cosine on one axis
	order        SinusoidalOrder
	scaling      float32
	padded       bool
	padding      int32
	invFreq      []float64
	ladder       cossin.Ladder // of invFreq
	lastPosition int64         // the largest |position|, up to 2^31, whose angles stay below 2^50
}

// Position is the type of the positions of a sinusoidal encoding. Tokens have int32
// positions. The timesteps of diffusion models and the normalized coordinates of DETR are
// float32, and each is taken as its exact value.
type Position interface{ int32 | float32 }

// leastFrequency is the smallest magnitude of a frequency other than 0.
const leastFrequency = 0x1p-900

// NewSinusoidal checks cfg and returns the encoding that it describes. It keeps no reference to
// InvFreq and Padding. Errors wrap ErrConfig.
func NewSinusoidal(cfg SinusoidalConfig) (*Sinusoidal, error) {
	return newSinusoidal("absolute.NewSinusoidal", cfg)
}

func newSinusoidal(function string, cfg SinusoidalConfig) (*Sinusoidal, error) {
	c := argument.Checker{Function: function}
	pairs, axes, scaling := len(cfg.InvFreq), cmp.Or(cfg.Axes, 1), float32(cmp.Or(cfg.Amplitude, 1))
	c.Require(pairs >= 1 && pairs <= frequency.MaxRotaryDim/2, "cfg.InvFreq", argument.Elements(pairs), "from 1 to %d", frequency.MaxRotaryDim/2)
	most := frequency.MaxRotaryDim / (2 * max(pairs, 1))
	c.Require(axes >= 1 && axes <= most, "cfg.Axes", cfg.Axes, "from 0 to %d with %d frequencies", most, pairs)
	c.Require(cfg.Dim >= 2*axes*pairs-1 && cfg.Dim <= frequency.MaxRotaryDim, "cfg.Dim", cfg.Dim, "from %d, for %d axes of %d frequencies, to %d", 2*axes*pairs-1, axes, pairs, frequency.MaxRotaryDim)
	c.Require(cfg.Order <= CosThenSin, "cfg.Order", cfg.Order, "one of the constants of type SinusoidalOrder")
	c.Require(scaling > 0 && scaling <= math.MaxFloat32, "cfg.Amplitude", cfg.Amplitude, "0 or a positive float32")
	for i, w := range cfg.InvFreq {
		if m := math.Abs(w); !(m < cossin.MaxAngle) || w != 0 && m < leastFrequency {
			c.Require(false, argument.Indexed("cfg.InvFreq", i), w, "0 or a number from 2^-900 to below 2^50 in magnitude")
		}
	}
	if c.Err != nil {
		return nil, c.Err
	}
	largest, _ := cossin.LargestMagnitude(cfg.InvFreq)
	s := &Sinusoidal{
		dim: cfg.Dim, axes: axes, pairs: pairs, order: cfg.Order, scaling: scaling, padded: cfg.Padding != nil,
		invFreq: append([]float64(nil), cfg.InvFreq...), ladder: cossin.NewLadder(cfg.InvFreq, false), lastPosition: cossin.LastPosition(largest),
	}
	if s.padded {
		s.padding = *cfg.Padding
	}
	return s, nil
}

func (s *Sinusoidal) places(k int) (sin, cos int) {
	switch s.order {
	case SinThenCos:
		return k, s.pairs + k
	case CosThenSin:
		return s.pairs + k, k
	default:
		return 2 * k, 2*k + 1
	}
}

func (s *Sinusoidal) lacksOne() bool { return s.dim < 2*s.axes*s.pairs }

func (s *Sinusoidal) isPadding(position float64) bool {
	return s.padded && position == float64(s.padding)
}

// filled returns how many elements of a row are sines and cosines; the others are zero.
func (s *Sinusoidal) filled(position float64) int {
	if s.isPadding(position) {
		return 0
	}
	return min(2*s.axes*s.pairs, s.dim)
}

func (s *Sinusoidal) checkExists(function string) error {
	if s == nil || s.dim == 0 {
		return argument.Error(posenc.ErrConfig, function, "s", "nil or zero", "a Sinusoidal from NewSinusoidal, or from the function of a model such as Vaswani")
	}
	return nil
}

func checkRows[T any, P Position](function string, s *Sinusoidal, xName string, x []T, positionsName string, positions []P) (tokens int, err error) {
	if err := s.checkExists(function); err != nil {
		return 0, err
	}
	if len(positions)%s.axes != 0 {
		return 0, argument.Error(posenc.ErrLength, function, positionsName, argument.Elements(len(positions)), "a multiple of %d, for [axes][tokens] of %d axes", s.axes, s.axes)
	}
	tokens = len(positions) / s.axes
	if err := checkAngles(function, s, positionsName, positions); err != nil {
		return 0, err
	}
	want, ok := argument.Multiply(tokens, s.dim)
	switch {
	case !ok:
		return 0, argument.Error(posenc.ErrLength, function, xName, argument.Elements(len(x)), "%d rows of %d, more than an int can count", tokens, s.dim)
	case len(x) != want:
		return 0, argument.Error(posenc.ErrLength, function, xName, argument.Elements(len(x)), "%d for %d rows of %d", want, tokens, s.dim)
	case argument.Overlap(x, positions):
		return 0, argument.Error(posenc.ErrOverlap, function, xName, "sharing memory with "+positionsName, "another slice")
	}
	return tokens, nil
}

func checkAngles[P Position](function string, s *Sinusoidal, name string, positions []P) error {
	for i, p := range positions {
		if !(math.Abs(float64(p)) <= float64(s.lastPosition)) {
			return argument.Error(posenc.ErrPosition, function, argument.Indexed(name, i), p, "a number of at most %s", cossin.PositionLimit(s.lastPosition))
		}
	}
	return nil
}
