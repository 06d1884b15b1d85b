package posenc

import (
	"unsafe"

	"github.com/go-posenc/posenc/kernels"
)

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
	tokens, err := r.tokenCount(function, positions)
	if err != nil {
		return err
	}
	var g grid
	for i := range xs {
		if p := xs[i].grid(&g, tokens, r.headDim); p != none {
			return xs[i].problemError(p, function, i, &g)
		}
	}
	for i := range xs {
		for j := range i {
			if viewsOverlap(&xs[j], &xs[i], tokens, r.headDim) {
				return argumentError(ErrOverlap, function, indexed("xs", i), "sharing elements with "+indexed("xs", j), "views of different elements")
			}
		}
	}
	if tokens == 1 && r.rotaryDim <= 2*tokenPairs {
		rotateToken(r, positions, xs, direction)
	} else {
		rotateTokens(r, positions, tokens, xs, direction)
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
	rotateChunk(r, cos[:], sin[:], 0, r.rotaryDim/2, &span{positions, 1, 0, 1}, xs, direction)
}

func rotateTokens[T Element](r *Rotary, positions []int32, tokens int, xs []View[T], direction float32) {
	var cos, sin [chunkPairs]float32
	pairs := r.rotaryDim / 2
	columns := min(pairs, chunkPairs)
	rows := min(chunkRows, chunkPairs/columns)
	for t := 0; t < tokens; t += rows {
		for column := 0; column < pairs; column += columns {
			n := min(columns, pairs-column)
			rotateChunk(r, cos[:], sin[:], column, n, &span{positions, tokens, t, min(rows, tokens-t)}, xs, direction)
		}
	}
}

// rotateChunk rotates the pairs from number column on, pairs of them, of the
// tokens of a span.
func rotateChunk[T Element](r *Rotary, cos, sin []float32, column, pairs int, s *span, xs []View[T], direction float32) {
	r.rows(cos, sin, pairs, column, pairs, s, r.scaling, direction)
	var rows kernels.Rows
	rows.Pairs, rows.Partner, rows.TableStride = pairs, r.rotaryDim/2, pairs
	for i := range xs {
		v := &xs[i]
		data := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(v.Data))), len(v.Data))
		rows.TokenStride, rows.HeadStride = v.TokenStride, v.HeadStride
		if rows.HeadStride == 0 {
			rows.HeadStride = r.headDim
		}
		if rows.TokenStride == 0 {
			rows.TokenStride = v.Heads * r.headDim
		}
		tokens := 1
		if len(data) > cacheElements {
			tokens = streams
		}
		start := r.offset + column
		if r.layout == Interleaved {
			start += column
		}
		for t := 0; t < s.n; t += tokens {
			rows.Tokens = min(tokens, s.n-t)
			heads := v.Heads
			if heads*pairs > callElements/(2*streams) {
				heads = max(1, callElements/(2*pairs*rows.Tokens))
			}
			for h := 0; h < v.Heads; h += heads {
				rows.Heads = min(heads, v.Heads-h)
				x := data[(s.first+t)*rows.TokenStride+h*rows.HeadStride+start:]
				if r.layout == HalfSplit {
					kernels.RotateHalfSplit(implementation, x, cos[t*pairs:], sin[t*pairs:], &rows)
				} else {
					kernels.RotateInterleaved(implementation, x, cos[t*pairs:], sin[t*pairs:], &rows)
				}
			}
		}
	}
}
