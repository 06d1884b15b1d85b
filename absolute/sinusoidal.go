package absolute

import (
	"math"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/element"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// SinusoidalOrder is the order of the sines and cosines in a row of a sinusoidal
// encoding of n frequencies.
type SinusoidalOrder uint8

const (
	SinCosInterleaved SinusoidalOrder = iota // row[2k], row[2k+1] = sin, cos of frequency k: Vaswani et al., DETR
	SinThenCos                               // row[k], row[n+k] = sin, cos: tensor2tensor, fairseq, Marian, Whisper
	CosThenSin                               // row[k], row[n+k] = cos, sin: diffusers with flip_sin_to_cos, MLX with cos_first
)

// SinusoidalConfig describes a sinusoidal position encoding (Vaswani et al. 2017,
// arXiv:1706.03762). The functions Sinusoidal... give those of known models.
type SinusoidalConfig struct {
	Dim     int             // elements of a row, from 2*Axes*len(InvFreq)-1, which leaves the last out, to 65536; those beyond are zero
	InvFreq []float64       // radians per position, each below 2^50 in magnitude and 0 or at least 2^-900
	Order   SinusoidalOrder // of sines and cosines
	Axes    int             // axes of positions, each with 2*len(InvFreq) elements, one after another; 0 means 1
	Scaling float64         // multiplies sines and cosines: positive as a float32; 0 means 1
	Padding *int32          // a token at this position on the first axis has a row of zeros; nil: none
}

// Sinusoidal is a sinusoidal position encoding. It does not change after
// NewSinusoidal and may be used by many goroutines at once.
type Sinusoidal struct {
	dim, pairs, axes int // pairs of one axis
	order            SinusoidalOrder
	scaling          float32
	padded           bool
	padding          int32
	invFreq          []float64
	lastPosition     int64 // the largest |position|, up to 2^31, whose angles stay below 2^50
	ladder           cossin.Ladder
}

// Position is the type of the positions of a sinusoidal encoding: tokens have
// integers; the timesteps of diffusion models and the normalised coordinates of
// DETR are float32, each the real number that it is.
type Position interface{ int32 | float32 }

// NewSinusoidal checks the configuration and prepares its frequencies. It keeps
// no reference to InvFreq or Padding. Errors wrap ErrConfig.
func NewSinusoidal(cfg SinusoidalConfig) (*Sinusoidal, error) {
	return newSinusoidal("absolute.NewSinusoidal", cfg)
}

func newSinusoidal(function string, cfg SinusoidalConfig) (*Sinusoidal, error) {
	fail := func(field string, value any, expected string, args ...any) (*Sinusoidal, error) {
		return nil, argument.Error(posenc.ErrConfig, function, "cfg."+field, value, expected, args...)
	}
	pairs := len(cfg.InvFreq)
	if pairs < 1 || pairs > frequency.MaxRotaryDim/2 {
		return fail("InvFreq", argument.Elements(pairs), "from 1 to %d", frequency.MaxRotaryDim/2)
	}
	axes := cfg.Axes
	if axes == 0 {
		axes = 1
	}
	if axes < 1 || axes > frequency.MaxRotaryDim/(2*pairs) {
		return fail("Axes", cfg.Axes, "from 0 to %d with %d frequencies", frequency.MaxRotaryDim/(2*pairs), pairs)
	}
	if cfg.Dim < 2*axes*pairs-1 || cfg.Dim > frequency.MaxRotaryDim {
		return fail("Dim", cfg.Dim, "from %d, for %d axes of %d frequencies, to %d", 2*axes*pairs-1, axes, pairs, frequency.MaxRotaryDim)
	}
	if cfg.Order > CosThenSin {
		return fail("Order", cfg.Order, "one of the constants of type SinusoidalOrder")
	}
	scaling := float32(cfg.Scaling)
	if cfg.Scaling == 0 {
		scaling = 1
	}
	if !(scaling > 0 && scaling <= math.MaxFloat32) {
		return fail("Scaling", cfg.Scaling, "0 or a positive float32")
	}
	largest := 0.0
	for i, w := range cfg.InvFreq {
		m := math.Abs(w)
		if !(m < cossin.MaxAngle) || w != 0 && m < leastFrequency {
			return fail(argument.Indexed("InvFreq", i), w, "0 or a number from 2^-900 to below 2^50 in magnitude")
		}
		largest = max(largest, m)
	}
	s := &Sinusoidal{
		dim: cfg.Dim, pairs: pairs, axes: axes, order: cfg.Order, scaling: scaling, padded: cfg.Padding != nil,
		invFreq: append([]float64(nil), cfg.InvFreq...), lastPosition: cossin.LastPosition(largest), ladder: cossin.NewLadder(cfg.InvFreq, false),
	}
	if s.padded {
		s.padding = *cfg.Padding
	}
	return s, nil
}

// SinusoidalRows writes the row of each position. With n frequencies w, the sine
// and the cosine of frequency k at position p are
//
//	RN32(RN32(sin(p*w[k])) * RN32(Scaling))    RN32(RN32(cos(p*w[k])) * RN32(Scaling))
//
// of the real product, correctly rounded; Scaling rounds once more where it is
// not 1, and so do elements of 16 bits. They are in the order of the
// configuration; row t is dst[t*Dim:][:Dim]. With several axes positions is
// [axes][tokens], and axis a has the elements from 2*n*a on. Elements beyond are
// zero; where Dim is one less than all of them, the last is left out.
//
// dst holds exactly tokens*Dim elements and shares none with positions. A call
// allocates nothing.
//
// Errors wrap ErrConfig (s), posenc.ErrLength, ErrOverlap or ErrPosition (a NaN, a position
// beyond 2^31 in magnitude or an angle of 2^50 or beyond).
func SinusoidalRows[T posenc.Element, P Position](s *Sinusoidal, positions []P, dst []T) error {
	const function = "absolute.SinusoidalRows"
	tokens, err := checkSinusoidal(function, s, "positions", positions, "dst", dst)
	if err != nil || tokens == 0 {
		return err
	}
	if out, ok := any(dst).([]float32); ok && s.order != SinCosInterleaved && !s.lacksOne() {
		if p, ok := any(positions).([]int32); ok {
			s.writeRows(out, p, tokens)
			return nil
		}
	}
	sinusoidalRows(s, positions, tokens, destination[T]{rows: dst})
	return nil
}

// AddSinusoidal scales embeddings and adds the rows of their positions, in place
// and in one pass:
//
//	x[i] = RN(RN32(RN32(x[i]*scale) + row[i]))
//
// with the float32 rows of SinusoidalRows and an RN that rounds once to
// elements of 16 bits. scale is 1, or the factor by which a model scales its
// token embeddings: sqrt(Dim) in Vaswani et al. x is [tokens][Dim].
//
// x holds exactly tokens*Dim elements and shares none with positions. A call
// allocates nothing.
//
// Errors wrap ErrConfig (s, or a scale that is not finite), posenc.ErrLength,
// ErrOverlap or ErrPosition.
func AddSinusoidal[T posenc.Element, P Position](s *Sinusoidal, positions []P, x []T, scale float32) error {
	const function = "absolute.AddSinusoidal"
	tokens, err := checkSinusoidal(function, s, "positions", positions, "x", x)
	if err != nil {
		return err
	}
	if !(math.Abs(float64(scale)) <= math.MaxFloat32) {
		return argument.Error(posenc.ErrConfig, function, "scale", scale, "a finite number")
	}
	if tokens > 0 {
		sinusoidalRows(s, positions, tokens, destination[T]{rows: x, add: true, scale: scale})
	}
	return nil
}

// SinusoidalRows64 is SinusoidalRows in float64, as MAE makes its tables:
//
//	RN64(RN64(sin(p*w[k])) * RN32(Scaling))    RN64(RN64(cos(p*w[k])) * RN32(Scaling))
//
// The sine and the cosine are correctly rounded: within half a unit in the last
// place. That takes microseconds for each pair, so that it is for tables made
// once.
//
// Errors are those of SinusoidalRows.
func SinusoidalRows64[P Position](s *Sinusoidal, positions []P, dst []float64) error {
	const function = "absolute.SinusoidalRows64"
	tokens, err := checkSinusoidal(function, s, "positions", positions, "dst", dst)
	if err != nil || tokens == 0 {
		return err
	}
	clear(dst)
	var cos, sin [sinusoidalColumns]float64
	for t := range tokens {
		if s.isPadding(float64(positions[t])) {
			continue
		}
		for axis := range s.axes {
			row := dst[t*s.dim:][2*axis*s.pairs : min(2*(axis+1)*s.pairs, s.dim)]
			for column := 0; column < s.pairs; column += sinusoidalColumns {
				invFreq := s.invFreq[column:min(column+sinusoidalColumns, s.pairs)]
				generic.CosSinExactF64(cos[:], sin[:], float64(positions[axis*tokens+t]), invFreq)
				for i := range invFreq {
					sinAt, cosAt := s.places(column + i)
					if sinAt < len(row) {
						row[sinAt] = sin[i] * float64(s.scaling)
					}
					if cosAt < len(row) {
						row[cosAt] = cos[i] * float64(s.scaling)
					}
				}
			}
		}
	}
	return nil
}

// checkSinusoidal checks the arguments of a call that writes to the slice called
// name and returns the number of tokens. positionsName is what positions are called.
func checkSinusoidal[T any, P Position](function string, s *Sinusoidal, positionsName string, positions []P, name string, x []T) (tokens int, err error) {
	if s == nil || s.dim == 0 {
		return 0, argument.Error(posenc.ErrConfig, function, "s", "nil or zero", "a Sinusoidal from NewSinusoidal")
	}
	if len(positions)%s.axes != 0 {
		return 0, argument.Error(posenc.ErrLength, function, positionsName, argument.Elements(len(positions)), "a multiple of %d, for [axes][tokens] of %d axes", s.axes, s.axes)
	}
	tokens = len(positions) / s.axes
	if err := checkAngles(function, s, positionsName, positions); err != nil {
		return 0, err
	}
	want, ok := argument.Multiply(tokens, s.dim)
	if !ok {
		return 0, argument.Error(posenc.ErrLength, function, name, argument.Elements(len(x)), "%d rows of %d, more than an int can count", tokens, s.dim)
	}
	if len(x) != want {
		return 0, argument.Error(posenc.ErrLength, function, name, argument.Elements(len(x)), "%d for %d rows of %d", want, tokens, s.dim)
	}
	if argument.MemoryOverlaps(x, positions) {
		return 0, argument.Error(posenc.ErrOverlap, function, name, "sharing memory with "+positionsName, "another slice")
	}
	return tokens, nil
}

// checkAngles returns an error for the first position that is no number or makes
// an angle too large.
func checkAngles[P Position](function string, s *Sinusoidal, positionsName string, positions []P) error {
	for i, p := range positions {
		if !(math.Abs(float64(p)) <= float64(s.lastPosition)) {
			return argument.Error(posenc.ErrPosition, function, argument.Indexed(positionsName, i), p, "a number of at most %s", cossin.PositionLimit(s.lastPosition))
		}
	}
	return nil
}

func (s *Sinusoidal) isPadding(position float64) bool {
	return s.padded && position == float64(s.padding)
}

// lacksOne reports whether the last element of the last axis is left out.
func (s *Sinusoidal) lacksOne() bool { return s.dim < 2*s.axes*s.pairs }

// places returns where the sine and the cosine of frequency k are in the
// elements of an axis.
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

// writeRows writes rows of an order other than SinCosInterleaved where they
// belong at once.
func (s *Sinusoidal) writeRows(dst []float32, positions []int32, tokens int) {
	sinAt, cosAt := s.places(0)
	for axis := range s.axes {
		first := 2 * axis * s.pairs
		to := &cossin.Table{Cos: dst[first+cosAt:], Sin: dst[first+sinAt:], Stride: s.dim}
		s.ladder.Write(to, 0, s.pairs, positions[axis*tokens:][:tokens], s.scaling, s.scaling)
	}
	rest := 2 * s.axes * s.pairs
	for t := range tokens {
		row := dst[t*s.dim:][:s.dim]
		if s.isPadding(float64(positions[t])) {
			clear(row)
		} else {
			clear(row[rest:])
		}
	}
}

// sinusoidalColumns is the frequencies at a time.
const sinusoidalColumns = kernels.Width

// destination is the rows that elements are written or added to.
type destination[T posenc.Element] struct {
	rows  []T
	add   bool
	scale float32 // of what is added to
}

// sinusoidalRows writes or adds rows some frequencies and tokens at a time.
func sinusoidalRows[T posenc.Element, P Position](s *Sinusoidal, positions []P, tokens int, to destination[T]) {
	if x, ok := any(to.rows).([]float32); ok && !s.lacksOne() {
		if p, ok := any(positions).([]int32); ok {
			s.float32Rows(x, p, tokens, to.add, to.scale)
			return
		}
	}
	if tokens <= kernels.FewSinusoidalRowsAtOnce { // less memory to clear
		var scratch [2 * sinusoidalColumns * kernels.FewSinusoidalRowsAtOnce]float32
		sinusoidalParts(s, positions, tokens, to, scratch[:])
		return
	}
	var scratch [2 * sinusoidalColumns * kernels.SinusoidalRowsAtOnce]float32
	sinusoidalParts(s, positions, tokens, to, scratch[:])
}

// float32Rows is sinusoidalRows without memory between.
func (s *Sinusoidal) float32Rows(x []float32, positions []int32, tokens int, add bool, scale float32) {
	to := kernels.Sinusoids{Stride: s.dim, Interleaved: s.order == SinCosInterleaved, Add: add, Scaling: s.scaling, Scale: scale}
	for first := 0; first < tokens; {
		count := min(kernels.SinusoidalRowsAtOnce-int(positions[first]&(kernels.SinusoidalRowsAtOnce-1)), tokens-first)
		if s.padded {
			count = 1
			for count < min(kernels.SinusoidalRowsAtOnce, tokens-first) && s.isPadding(float64(positions[first+count])) == s.isPadding(float64(positions[first])) {
				count++
			}
		}
		rest := 2 * s.axes * s.pairs // elements that are not zero
		if s.isPadding(float64(positions[first])) {
			rest = 0
		}
		for axis := 0; 2*axis*s.pairs < rest; axis++ {
			part := positions[axis*tokens+first:][:count]
			for block := 0; block < len(s.ladder.Blocks); block += kernels.MaxBlocks {
				end := min(block+kernels.MaxBlocks, len(s.ladder.Blocks))
				sinAt, cosAt := s.places(block * kernels.Width)
				at := first*s.dim + 2*axis*s.pairs
				to.Sin, to.Cos = x[at+sinAt:], x[at+cosAt:]
				kernels.SinusoidalRows(dispatch.Implementation(), &to, part, s.ladder.Blocks[block:end], s.ladder.Shifts[block:end])
			}
		}
		for t := first; t < first+count && rest < s.dim; t++ {
			addZeros(x[t*s.dim+rest:(t+1)*s.dim], add, scale)
		}
		first += count
	}
}

// addZeros writes zeros, or adds them.
func addZeros(x []float32, add bool, scale float32) {
	if !add {
		clear(x)
		return
	}
	var zeros [2 * sinusoidalColumns]float32
	for len(x) > 0 {
		n := min(len(x), len(zeros))
		addScaled(x[:n], zeros[:n], scale)
		x = x[n:]
	}
}

func sinusoidalParts[T posenc.Element, P Position](s *Sinusoidal, positions []P, tokens int, to destination[T], scratch []float32) {
	var ordered [2 * sinusoidalColumns]float32
	most := len(scratch) / (2 * sinusoidalColumns)
	rest := 2 * s.axes * s.pairs
	for first := 0; first < tokens; first += most {
		count := min(most, tokens-first)
		for axis := range s.axes {
			part := positions[axis*tokens+first:][:count]
			for column := 0; column < s.pairs; column += sinusoidalColumns {
				n := min(sinusoidalColumns, s.pairs-column)
				// A row of scratch is n sines, then n cosines.
				table := &cossin.Table{Cos: scratch[n:], Sin: scratch, Stride: 2 * n}
				switch p := any(part).(type) {
				case []int32:
					s.ladder.Write(table, column, n, p, s.scaling, s.scaling)
				case []float32:
					s.ladder.WriteFractional(table, column, n, p, s.scaling, s.scaling)
				}
				sinAt, cosAt := s.places(column)
				for t := range count {
					row := scratch[2*n*t:][:2*n]
					if s.isPadding(float64(positions[first+t])) {
						clear(row)
					}
					at := (first+t)*s.dim + 2*axis*s.pairs
					room := s.dim - 2*axis*s.pairs
					if s.order == SinCosInterleaved {
						to.putInterleaved(at+sinAt, ordered[:2*n], row, min(2*n, room-sinAt))
					} else {
						to.put(at+sinAt, row[:min(n, room-sinAt)])
						to.put(at+cosAt, row[n:][:min(n, room-cosAt)])
					}
				}
			}
		}
		if rest < s.dim {
			clear(ordered[:])
			for t := first; t < first+count; t++ {
				for column := rest; column < s.dim; column += len(ordered) {
					to.put(t*s.dim+column, ordered[:min(len(ordered), s.dim-column)])
				}
			}
		}
	}
}

// putInterleaved puts the elements of the two halves of values by turns, the first
// n of them, through ordered of the same length.
func (d *destination[T]) putInterleaved(at int, ordered, values []float32, n int) {
	if out, ok := any(d.rows).([]float32); ok && !d.add && n == len(values) {
		view.ReorderFloat32s(out[at:at+n], values, view.HalfSplit, view.Interleaved)
		return
	}
	view.ReorderFloat32s(ordered, values, view.HalfSplit, view.Interleaved)
	d.put(at, ordered[:n])
}

// put writes values to the elements from number at on, or adds them.
func (d *destination[T]) put(at int, values []float32) {
	to := d.rows[at : at+len(values)]
	if d.add {
		addScaled(to, values, d.scale)
		return
	}
	y, x := over(to), view.Over(values)
	view.Convert(&y, &x, 0, 0, len(values))
}

// addScaled sets x to x*scale+y, each step rounded to float32 and the sum to
// the elements of x.
func addScaled[T posenc.Element](x []T, y []float32, scale float32) {
	data := unsafe.Pointer(unsafe.SliceData(x))
	switch kindOf[T]() {
	case element.Float32:
		kernels.AddScaledF32(dispatch.Implementation(), unsafe.Slice((*float32)(data), len(x)), y, scale)
	case element.Float16:
		kernels.AddScaledF16(dispatch.Implementation(), unsafe.Slice((*uint16)(data), len(x)), y, scale)
	case element.BFloat16:
		kernels.AddScaledBF16(dispatch.Implementation(), unsafe.Slice((*uint16)(data), len(x)), y, scale)
	}
}

func kindOf[T posenc.Element]() element.Kind {
	return element.KindOf[T, posenc.Float16, posenc.BFloat16]()
}

// over returns s as kernels take it.
func over[T posenc.Element](s []T) view.Operand {
	return (&view.View[T]{Data: s}).Operand(kindOf[T](), len(s))
}
