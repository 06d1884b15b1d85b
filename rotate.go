package posenc

import (
	"unsafe"

	"github.com/go-posenc/posenc/kernels"
)

// Rotate rotates Q and K (or any other views) in place by the angles of their
// tokens' positions. For pair (x1, x2) number i of each head of token t,
//
//	c = RN32(RN32(cos(a)) * RN32(Scaling))    a = positions[t]*InvFreq[i]
//	s = RN32(RN32(sin(a)) * RN32(Scaling))
//	x1, x2 = RN(RN32(x1*c) - RN32(x2*s)), RN(RN32(x2*c) + RN32(x1*s))
//
// where RN32 rounds to the nearest float32, ties to even, and RN the float32
// sum to T once more, if T is a type of 16 bits. With Float32 angles, several axes
// or XPos c and s are what [Rotary.CosSin] writes. The result is defined to the
// last bit and the same on every implementation. The elements of a head outside
// the rotated slice do not change.
//
// positions has one entry for each token, in any order, repeated or negative;
// with several axes it is [axes][tokens]. With a Rotary that holds a table, see
// [NewTableRotary], positions are numbers of its rows. Without positions there are
// no tokens: packed views must then be empty, and of strided ones nothing is
// rotated. (nil stands for all rows only with a Rotary that holds a table.)
//
// Every view has as many tokens and its own number of heads; views may
// interleave in memory (packed QKV) but not share elements. A call allocates
// nothing, and any range of tokens or heads may be rotated by a call of its
// own, from any goroutine, with the same bits.
//
// Errors wrap ErrConfig (r), ErrShape, ErrLength, ErrOverlap or ErrPosition.
func Rotate[T Element](r *Rotary, positions []int32, xs ...View[T]) error {
	return rotate("Rotate", r, positions, xs, forward)
}

// RotateInverse is Rotate with the opposite angles, -s in place of s. Without
// Scaling it undoes Rotate up to rounding. With Scaling it does not: cos and sin
// are multiplied by it as in Rotate, so that both together scale by its square.
// Where the Layout reads one order of elements and writes the other,
// RotateInverse reads what Rotate writes and writes what Rotate reads.
func RotateInverse[T Element](r *Rotary, positions []int32, xs ...View[T]) error {
	return rotate("RotateInverse", r, positions, xs, inverse)
}

// Shift moves keys that are rotated already, in a cache, by deltas[t] positions
// each: Shift by d after Rotate at p is Rotate at p+d, but for rounding. It is a
// rotation by the angles deltas[t]*InvFreq[i] alone: Scaling, which the keys
// have in them, is not applied again. The order of the elements is that which
// Rotate writes.
//
// deltas is as positions of Rotate, with an entry for each token (for each axis
// and token). Equal deltas one after another cost a row of cosines and sines for
// every 16 tokens.
// Each shift rounds once more: the root mean square error that it adds, relative
// to the root mean square of the keys, is 4.2e-8 in float32, 2.1e-4 in float16
// and 1.7e-3 in bfloat16. The errors of n shifts add up to sqrt(n) times as much,
// those of equal deltas in float32 to more: ten of them to 2.4e-7.
//
// Errors are those of Rotate; ErrConfig also for a Rotary over a table of the
// caller, which knows no frequencies, and for one with XPos, whose keys depend on
// its center.
func Shift[T Element](r *Rotary, deltas []int32, xs ...View[T]) error {
	if r != nil && r.table != nil {
		if r.table.source == nil {
			return argumentError(ErrConfig, "Shift", "r", "a Rotary over a table of the caller", "one that knows its frequencies")
		}
		r = r.table.source
	}
	if r != nil && r.decay != nil {
		return argumentError(ErrConfig, "Shift", "r", "a Rotary with XPos", "one whose keys do not depend on a center")
	}
	return rotate("Shift", r, deltas, xs, shift)
}

// operation says which rotation a call is.
type operation uint8

const (
	forward operation = iota
	inverse
	shift
)

// manner is what a rotation does beside the angles of its tokens.
type manner struct {
	in, out            Layout // HalfSplit or Interleaved: how pairs are read and written
	scaling, direction float32
}

func (r *Rotary) manner(o operation) manner {
	switch o {
	case inverse:
		return manner{r.out, r.in, r.scaling, -1}
	case shift:
		return manner{r.out, r.out, 1, 1}
	}
	return manner{r.in, r.out, r.scaling, 1}
}

func rotate[T Element](function string, r *Rotary, positions []int32, xs []View[T], o operation) error {
	argument := "positions"
	if o == shift {
		argument = "deltas"
	}
	tokens, err := r.tokenCount(function, argument, positions)
	if err != nil {
		return err
	}
	if err := checkViews(function, xs, tokens, r.headDim); err != nil {
		return err
	}
	if r.table != nil && tokens > 0 {
		for i := range xs {
			if x := operandOf(&xs[i], r.headDim); r.table.overlaps(&x) {
				return tableOverlapError(function, indexed("xs", i))
			}
		}
	}
	m := r.manner(o)
	if r.table != nil && r.table.fullWidth {
		rotateFullWidth(r, positions, tokens, xs, &m)
		return nil
	}
	if tokens == 1 && r.rotaryDim <= 2*tokenPairs {
		rotateToken(r, positions, xs, &m)
	} else {
		rotateTokens(r, positions, tokens, xs, &m)
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

func rotateToken[T Element](r *Rotary, positions []int32, xs []View[T], m *manner) {
	var cos, sin [tokenPairs]float32
	rotateChunk(r, &rows{cos[:], sin[:], r.rotaryDim / 2}, 0, r.rotaryDim/2, &span{positions, 1, 0, 1}, xs, m)
}

func rotateTokens[T Element](r *Rotary, positions []int32, tokens int, xs []View[T], m *manner) {
	var cos, sin [chunkPairs]float32
	pairs := r.rotaryDim / 2
	columns := min(pairs, chunkPairs)
	count := min(chunkRows, chunkPairs/columns)
	for t := 0; t < tokens; t += count {
		for column := 0; column < pairs; column += columns {
			n := min(columns, pairs-column)
			rotateChunk(r, &rows{cos[:], sin[:], n}, column, n, &span{positions, tokens, t, min(count, tokens-t)}, xs, m)
		}
	}
}

// rotateChunk rotates the pairs from number column on, pairs of them, of the
// tokens of a span.
func rotateChunk[T Element](r *Rotary, table *rows, column, pairs int, s *span, xs []View[T], m *manner) {
	if s.repeated(r.axisCount) { // one row for all tokens
		r.rows(table, column, pairs, &span{s.positions, s.tokens, s.first, 1}, m.scaling, m.direction)
		table.stride = 0
	} else {
		r.rows(table, column, pairs, s, m.scaling, m.direction)
	}
	var x operand
	for i := range xs {
		setView(&x, &xs[i], r.headDim)
		x.data = unsafe.Pointer(unsafe.SliceData(xs[i].Data))
		for t := 0; t < s.n; {
			n := x.together(s.first+t, s.n-t)
			at := x.token(s.first + t)
			r.turn(&x, &x, at, at, n, column, pairs, table, t, m)
			t += n
		}
	}
}

// callElements bounds the elements that one call of a kernel rotates, so that a
// garbage collection never waits long for assembly.
const callElements = 64 << 10

// tokensAtOnce returns how many tokens of x go to one call of a kernel that rotates
// the given pairs of heads of dim. One loads its table row once for all heads, and
// converts it for elements of 16 bits. Several are as many streams of memory, which
// pays beyond the caches, but never for the conversions of bfloat16, nor where half
// of a head or more is left out. AVX2 has registers for 32 pairs and passes over the
// heads of one token again for more: then two tokens pay from beyond the second cache
// on. The length is that of Data, whatever of it is rotated.
func tokensAtOnce(x *operand, pairs, dim int) int {
	switch {
	case 4*pairs <= dim:
		return 1
	case x.kind == kindFloat32 && x.length >= 4<<20: // 16 MiB
		return 4
	case x.kind == kindFloat32 && x.length > 256<<10 && pairs > 32 && implementation == kernels.AVX2: // 1 MiB
		return 2
	case x.kind == kindFloat16 && x.length >= 16<<20: // 32 MiB
		return 4
	}
	return 1
}

// turn rotates the pairs from number column on, pairs of them, of n tokens one
// after another: those of x from element xAt on, into y from yAt on. Row
// first+t of table is that of token t.
func (r *Rotary) turn(y, x *operand, yAt, xAt, n, column, pairs int, table *rows, first int, m *manner) {
	if m.in != m.out || x.kind != y.kind && x.kind != kindFloat32 {
		r.turnThroughScratch(y, x, yAt, xAt, n, table, first, m)
		return
	}
	var k kernels.Rows
	k.Pairs, k.Partner, k.TableStride = pairs, r.rotaryDim/2, table.stride
	k.YTokenStride, k.YHeadStride = y.tokenStride, y.headStride
	k.XTokenStride, k.XHeadStride = x.tokenStride, x.headStride
	tokens := tokensAtOnce(x, pairs, r.headDim)
	start := r.offset + column
	if m.in == Interleaved {
		start += column
	}
	for t := 0; t < n; t += tokens {
		k.Tokens = min(tokens, n-t)
		heads := x.heads
		if 2*heads*pairs*k.Tokens > callElements {
			heads = max(1, callElements/(2*pairs*k.Tokens))
		}
		row := (first + t) * table.stride
		cos, sin := table.cos[row:], table.sin[row:]
		for h := 0; h < x.heads; h += heads {
			k.Heads = min(heads, x.heads-h)
			launch(y, x, yAt+t*y.tokenStride+h*y.headStride+start, xAt+t*x.tokenStride+h*x.headStride+start, cos, sin, &k, m.out)
		}
	}
}

// launch calls the kernel for the types of x and y, the same or x float32.
func launch(y, x *operand, yAt, xAt int, cos, sin []float32, k *kernels.Rows, layout Layout) {
	if layout == HalfSplit {
		switch {
		case y.kind == kindFloat32:
			kernels.RotateHalfSplitF32(implementation, y.float32s(yAt), x.float32s(xAt), cos, sin, k)
		case x.kind == kindFloat16:
			kernels.RotateHalfSplitF16(implementation, y.bits(yAt), x.bits(xAt), cos, sin, k)
		case x.kind == kindBFloat16:
			kernels.RotateHalfSplitBF16(implementation, y.bits(yAt), x.bits(xAt), cos, sin, k)
		case y.kind == kindFloat16:
			kernels.RotateHalfSplitF32ToF16(implementation, y.bits(yAt), x.float32s(xAt), cos, sin, k)
		default:
			kernels.RotateHalfSplitF32ToBF16(implementation, y.bits(yAt), x.float32s(xAt), cos, sin, k)
		}
		return
	}
	switch {
	case y.kind == kindFloat32:
		kernels.RotateInterleavedF32(implementation, y.float32s(yAt), x.float32s(xAt), cos, sin, k)
	case x.kind == kindFloat16:
		kernels.RotateInterleavedF16(implementation, y.bits(yAt), x.bits(xAt), cos, sin, k)
	case x.kind == kindBFloat16:
		kernels.RotateInterleavedBF16(implementation, y.bits(yAt), x.bits(xAt), cos, sin, k)
	case y.kind == kindFloat16:
		kernels.RotateInterleavedF32ToF16(implementation, y.bits(yAt), x.float32s(xAt), cos, sin, k)
	default:
		kernels.RotateInterleavedF32ToBF16(implementation, y.bits(yAt), x.float32s(xAt), cos, sin, k)
	}
}

// turnThroughScratch is turn where the rows must be brought into the order or
// the type of y first. All pairs of a row are rotated.
func (r *Rotary) turnThroughScratch(y, x *operand, yAt, xAt, n int, table *rows, first int, m *manner) {
	var memory [2][2 * chunkPairs]float32
	dim := r.rotaryDim
	ordered, widened := operandOver(memory[0][:]), operandOver(memory[1][:])
	ordered.kind, ordered.headStride, widened.headStride = x.kind, dim, dim
	heads := min(x.heads, 2*chunkPairs/dim)
	k := kernels.Rows{Pairs: dim / 2, Partner: dim / 2, Tokens: 1, YTokenStride: y.tokenStride, YHeadStride: y.headStride, XHeadStride: dim}
	for t := range n {
		for h := 0; h < x.heads; h += heads {
			k.Heads = min(heads, x.heads-h)
			for i := range k.Heads {
				from := xAt + t*x.tokenStride + (h+i)*x.headStride + r.offset
				reorder(&ordered, x, i*dim, from, dim/2, m.in, m.out)
			}
			source := &ordered
			if x.kind != y.kind && x.kind != kindFloat32 {
				convert(&widened, &ordered, 0, 0, k.Heads*dim)
				source = &widened
			}
			launch(y, source, yAt+t*y.tokenStride+h*y.headStride+r.offset, 0, table.cos[(first+t)*table.stride:], table.sin[(first+t)*table.stride:], &k, m.out)
		}
	}
}
