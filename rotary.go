package posenc

import (
	"math"
	"unsafe"

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/kernels"
)

// Layout says which two elements of a head form a pair.
type Layout uint8

const (
	HalfSplit   Layout = iota // pairs (x[i], x[i+RotaryDim/2]): GPT-NeoX, Hugging Face Llama; ggml NEOX
	Interleaved               // pairs (x[2i], x[2i+1]): GPT-J, Meta Llama; ggml NORMAL
)

// Angles says how the angle of a position is rounded before its cosine and
// sine are taken. Both are then correctly rounded float32.
type Angles uint8

const (
	Exact   Angles = iota // the real product position*InvFreq
	Float32               // RN32(RN32(position)*RN32(InvFreq)), as Hugging Face transformers computes
)

// RotaryConfig describes the rotary position embedding of a model (RoPE, Su et
// al. 2021, arXiv:2104.09864).
type RotaryConfig struct {
	HeadDim   int       // elements per head
	RotaryDim int       // elements rotated, even, at most 65536; 0 means HeadDim
	Offset    int       // first rotated element of a head
	Layout    Layout    // which elements form a pair
	Base      float64   // frequencies Base^(-2i/RotaryDim) when InvFreq is nil; 0 means 10000
	InvFreq   []float64 // RotaryDim/2 radians per position, each below 2^50 in magnitude; nil: from Base
	Scaling   float64   // multiplies cos and sin (attention factor of YaRN and LongRoPE); 0 means 1
	Angles    Angles    // how angles are rounded
}

// Rotary is a rotary position embedding. It does not change after NewRotary and
// may be used by many goroutines at once.
type Rotary struct {
	headDim, rotaryDim, offset int
	layout                     Layout
	angles                     Angles
	scaling                    float32
	lastPosition               int64 // the largest |position| whose angles stay below 2^50

	blocks    []kernels.Block // Exact: the frequencies, kernels.Width at a time
	shifts    []kernels.Shift
	invFreq32 []float32 // Float32: the frequencies
}

const (
	defaultBase = 10000
	maxAngle    = 1 << 50
)

// NewRotary checks the configuration and prepares its frequencies. It keeps no
// reference to InvFreq.
//
// The frequencies from Base are the real numbers Base^(-2i/RotaryDim) rounded
// to float64 once. With Angles Float32 they take the float32 steps of
// transformers, each correctly rounded (PyTorch's own power function may be off
// by one bit).
//
// Errors wrap ErrConfig.
func NewRotary(cfg RotaryConfig) (*Rotary, error) {
	fail := func(field string, value any, expected string, args ...any) (*Rotary, error) {
		return nil, argumentError(ErrConfig, "NewRotary", "cfg."+field, value, expected, args...)
	}
	if cfg.HeadDim < 1 {
		return fail("HeadDim", cfg.HeadDim, "at least 1")
	}
	dim := cfg.RotaryDim
	if dim == 0 {
		dim = cfg.HeadDim
	}
	if dim < 2 || dim%2 != 0 || dim > cfg.HeadDim {
		return fail("RotaryDim", dim, "an even number from 2 to HeadDim %d", cfg.HeadDim)
	}
	if dim > frequency.MaxRotaryDim {
		return fail("RotaryDim", dim, "at most %d", frequency.MaxRotaryDim)
	}
	if cfg.Offset < 0 || cfg.Offset > cfg.HeadDim-dim {
		return fail("Offset", cfg.Offset, "from 0 to HeadDim-RotaryDim = %d", cfg.HeadDim-dim)
	}
	if cfg.Layout > Interleaved {
		return fail("Layout", cfg.Layout, "HalfSplit or Interleaved")
	}
	if cfg.Angles > Float32 {
		return fail("Angles", cfg.Angles, "Exact or Float32")
	}
	scaling := float32(cfg.Scaling)
	if cfg.Scaling == 0 {
		scaling = 1
	}
	if !(scaling > 0 && scaling <= math.MaxFloat32) {
		return fail("Scaling", cfg.Scaling, "0 or a positive float32")
	}
	invFreq := cfg.InvFreq
	if invFreq == nil {
		base := cfg.Base
		if base == 0 {
			base = defaultBase
		}
		if !(base > 1 && base <= math.MaxFloat64) {
			return fail("Base", cfg.Base, "0 or a finite number above 1")
		}
		rounding := frequency.Exact
		if cfg.Angles == Float32 {
			rounding = frequency.Float32
		}
		ladder, err := frequency.Default(dim, base, rounding)
		if err != nil {
			return fail("Base", cfg.Base, "a base that package frequency takes (%v)", err)
		}
		invFreq = ladder.InvFreq
	} else if cfg.Base != 0 {
		return fail("Base", cfg.Base, "0 where InvFreq is given")
	}
	if len(invFreq) != dim/2 {
		return fail("InvFreq", elements(len(invFreq)), "RotaryDim/2 = %d", dim/2)
	}
	r := &Rotary{
		headDim: cfg.HeadDim, rotaryDim: dim, offset: cfg.Offset,
		layout: cfg.Layout, angles: cfg.Angles, scaling: scaling,
	}
	largest, i := largestMagnitude(invFreq)
	if !(largest < maxAngle) {
		return nil, frequencyError("NewRotary", "cfg.InvFreq", i, invFreq[i])
	}
	r.lastPosition = lastPosition(largest)
	if cfg.Angles == Float32 {
		r.invFreq32 = make([]float32, len(invFreq))
		for i, w := range invFreq {
			r.invFreq32[i] = float32(w)
		}
		return r, nil
	}
	blocks := (len(invFreq) + kernels.Width - 1) / kernels.Width
	r.blocks = make([]kernels.Block, blocks)
	r.shifts = make([]kernels.Shift, blocks)
	for i := range r.blocks {
		first := i * kernels.Width
		r.blocks[i].Set(invFreq[first:min(first+kernels.Width, len(invFreq))])
		r.shifts[i].Set(implementation, &r.blocks[i])
	}
	return r, nil
}

// largestMagnitude returns the largest |w| and its index; a NaN is the largest
// of all.
func largestMagnitude(invFreq []float64) (largest float64, index int) {
	for i, w := range invFreq {
		if m := math.Abs(w); !(m <= largest) {
			largest, index = m, i
			if m != m {
				break
			}
		}
	}
	return largest, index
}

// lastPosition returns the largest |position| for which position*largest stays
// below 2^50.
func lastPosition(largest float64) int64 {
	if largest < 1<<18 { // 2^31 * 2^18 is below 2^50
		return 1 << 31
	}
	// The quotient may be rounded up to where the product is 2^50.
	return int64(math.Nextafter(maxAngle/largest, 0))
}

func frequencyError(function, argument string, index int, value float64) error {
	return argumentError(ErrConfig, function, indexed(argument, index), value, "a finite number below 2^50 in magnitude")
}

// checkPositions returns an error for the first position beyond last.
func checkPositions(function string, positions []int32, last int64) error {
	if last >= 1<<31 {
		return nil
	}
	for i, p := range positions {
		if int64(p) > last || int64(p) < -last {
			return argumentError(ErrPosition, function, indexed("positions", i), p, "at most %d in magnitude, so that angles stay below 2^50", last)
		}
	}
	return nil
}

// Rotate rotates Q and K (or any other views) in place by the angles of their
// tokens' positions. For pair (x1, x2) number i of each head,
//
//	c = RN32(RN32(cos(a)) * RN32(Scaling))    a = positions[t]*InvFreq[i]
//	s = RN32(RN32(sin(a)) * RN32(Scaling))
//	x1, x2 = RN32(RN32(x1*c) - RN32(x2*s)), RN32(RN32(x2*c) + RN32(x1*s))
//
// where RN32 rounds to the nearest float32, ties to even: the result is defined
// to the last bit and the same on every implementation. The elements of a head
// outside the rotated slice do not change.
//
// positions has one entry for each token, in any order, repeated or negative.
// Every view has as many tokens and its own number of heads; views may
// interleave in memory (packed QKV) but not share elements. A call allocates
// nothing, and any range of tokens or heads may be rotated by a call of its
// own, from any goroutine, with the same bits.
//
// Errors wrap ErrConfig (r), ErrShape, ErrLength, ErrOverlap or ErrPosition.
func Rotate[T Element](r *Rotary, positions []int32, xs ...View[T]) error {
	return rotate("Rotate", r, positions, xs, 1)
}

// RotateInverse is Rotate with the opposite angles, -s in place of s. Without
// Scaling it undoes Rotate up to rounding. With Scaling it does not: cos and sin
// are multiplied by it as in Rotate, so that both together scale by its square.
func RotateInverse[T Element](r *Rotary, positions []int32, xs ...View[T]) error {
	return rotate("RotateInverse", r, positions, xs, -1)
}

func rotate[T Element](function string, r *Rotary, positions []int32, xs []View[T], direction float32) error {
	if r == nil || r.rotaryDim == 0 {
		return argumentError(ErrConfig, function, "r", "nil or zero", "a Rotary from NewRotary")
	}
	if err := checkPositions(function, positions, r.lastPosition); err != nil {
		return err
	}
	var g grid
	for i := range xs {
		if p := xs[i].grid(&g, len(positions), r.headDim); p != none {
			return xs[i].problemError(p, function, i, &g)
		}
	}
	for i := range xs {
		for j := range i {
			if viewsOverlap(&xs[j], &xs[i], len(positions), r.headDim) {
				return argumentError(ErrOverlap, function, indexed("xs", i), "sharing elements with "+indexed("xs", j), "views of different elements")
			}
		}
	}
	if len(positions) == 1 && r.rotaryDim <= 2*tokenPairs {
		rotateToken(r, positions, xs, direction)
	} else {
		rotateTokens(r, positions, xs, direction)
	}
	return nil
}

// Scratch memory for the rows of cosines and sines. That of one token is small,
// because Go clears it on every call.
const (
	tokenPairs = kernels.Width // pairs of a row, one token
	chunkPairs = 1024          // pairs of all rows, several tokens
	chunkRows  = 16
)

const (
	// cacheElements bounds the views that are rotated token by token, the
	// fastest way in a cache. Beyond it several tokens go to one call of a
	// kernel, which then works on as many streams of memory at once.
	cacheElements = 4 << 20
	streams       = 8

	// callElements bounds the elements that one call of a kernel rotates, so
	// that a garbage collection never waits long for assembly.
	callElements = 64 << 10
)

func rotateToken[T Element](r *Rotary, positions []int32, xs []View[T], direction float32) {
	var cos, sin [tokenPairs]float32
	rotateChunk(r, cos[:], sin[:], 0, r.rotaryDim/2, positions, 0, xs, direction)
}

func rotateTokens[T Element](r *Rotary, positions []int32, xs []View[T], direction float32) {
	var cos, sin [chunkPairs]float32
	pairs := r.rotaryDim / 2
	columns := min(pairs, chunkPairs)
	rows := min(chunkRows, chunkPairs/columns)
	for t := 0; t < len(positions); t += rows {
		for column := 0; column < pairs; column += columns {
			n := min(columns, pairs-column)
			rotateChunk(r, cos[:], sin[:], column, n, positions[t:min(t+rows, len(positions))], t, xs, direction)
		}
	}
}

// rotateChunk rotates the pairs from number column on, pairs of them, of the
// tokens from number first on.
func rotateChunk[T Element](r *Rotary, cos, sin []float32, column, pairs int, positions []int32, first int, xs []View[T], direction float32) {
	r.rows(cos, sin, pairs, column, pairs, positions, direction)
	var rows kernels.Rows
	rows.Pairs, rows.Partner, rows.TableStride = pairs, r.rotaryDim/2, pairs
	for i := range xs {
		v := &xs[i]
		data := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(v.Data))), len(v.Data))
		rows.XTokenStride, rows.XHeadStride = v.TokenStride, v.HeadStride
		if rows.XHeadStride == 0 {
			rows.XHeadStride = r.headDim
		}
		if rows.XTokenStride == 0 {
			rows.XTokenStride = v.Heads * r.headDim
		}
		rows.YTokenStride, rows.YHeadStride = rows.XTokenStride, rows.XHeadStride
		tokens := 1
		if len(data) > cacheElements {
			tokens = streams
		}
		start := r.offset + column
		if r.layout == Interleaved {
			start += column
		}
		for t := 0; t < len(positions); t += tokens {
			rows.Tokens = min(tokens, len(positions)-t)
			heads := v.Heads
			if heads*pairs > callElements/(2*streams) {
				heads = max(1, callElements/(2*pairs*rows.Tokens))
			}
			for h := 0; h < v.Heads; h += heads {
				rows.Heads = min(heads, v.Heads-h)
				x := data[(first+t)*rows.XTokenStride+h*rows.XHeadStride+start:]
				if r.layout == HalfSplit {
					kernels.RotateHalfSplitF32(implementation, x, x, cos[t*pairs:], sin[t*pairs:], &rows)
				} else {
					kernels.RotateInterleavedF32(implementation, x, x, cos[t*pairs:], sin[t*pairs:], &rows)
				}
			}
		}
	}
}
