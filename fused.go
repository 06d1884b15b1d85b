package posenc

import (
	"unsafe"

	"github.com/go-posenc/posenc/kernels"
)

// FusedView is a View and what RotateFused does to its heads beside rotating
// them.
type FusedView[T Element] struct {
	View[T]

	// Norm normalizes before the rotation, if it is not nil: each head, with
	// HeadDim weights, or all heads of a token as one row, with Heads*HeadDim.
	// The heads of a token then lie one after another: HeadStride is 0 or
	// HeadDim.
	Norm *RMSNorm

	// Scale multiplies the heads of token t by Scale[t] after the rotation, if
	// it is not nil.
	Scale []float32
}

// RotateFused normalizes, rotates and scales Q and K in place, with the bits
// that Normalize, Rotate and Scale give one after another (each rounding to T),
// but in one pass over memory.
//
// Errors are those of Rotate; ErrConfig also for a zero Norm, ErrShape for one that
// does not fit the heads, ErrLength for a Scale without an entry for each token,
// ErrOverlap for one that shares memory with a view.
func RotateFused[T Element](r *Rotary, positions []int32, xs ...FusedView[T]) error {
	const function = "RotateFused"
	tokens, err := r.tokenCount(function, "positions", positions)
	if err != nil {
		return err
	}
	var g grid
	for i := range xs {
		x := &xs[i]
		if p := x.problem(&g, tokens, r.headDim); p != none {
			return x.problemError(p, function, indexed("xs", i), &g)
		}
		if err := x.check(function, i, tokens, r.headDim); err != nil {
			return err
		}
	}
	if tokens == 0 {
		return nil
	}
	for i := range xs {
		for j := range xs {
			if j < i && viewsOverlap(&xs[j].View, &xs[i].View, tokens, r.headDim) {
				return argumentError(ErrOverlap, function, indexed("xs", i), "sharing elements with "+indexed("xs", j), "views of different elements")
			}
			if memoryOverlaps(xs[j].Data, xs[i].Scale) {
				return argumentError(ErrOverlap, function, indexed("xs", i)+".Scale", "sharing memory with "+indexed("xs", j), "a slice of other memory")
			}
		}
	}
	if r.table != nil {
		for i := range xs {
			if x := operandOf(&xs[i].View, r.headDim); r.table.overlaps(&x) {
				return tableOverlapError(function, indexed("xs", i))
			}
		}
	}
	m := r.manner(forward)
	switch {
	case r.table != nil && r.table.fullWidth:
		for i := range xs {
			x := operandOf(&xs[i].View, r.headDim)
			xs[i].normalize(&x, r.headDim, 0, tokens)
			view := [1]View[T]{xs[i].View}
			rotateFullWidth(r, positions, tokens, view[:], &m)
			xs[i].scale(&x, r.headDim, 0, tokens)
		}
	case tokens == 1 && r.rotaryDim <= 2*tokenPairs:
		fuseToken(r, positions, xs, &m)
	default:
		fuseTokens(r, positions, tokens, xs, &m)
	}
	return nil
}

// check returns what is wrong with the norm and the scale of the view that is
// argument number i.
func (x *FusedView[T]) check(function string, i, tokens, headDim int) error {
	if x.Norm != nil {
		if !x.Norm.valid() {
			return argumentError(ErrConfig, function, indexed("xs", i)+".Norm", "zero", "nil or an RMSNorm from NewRMSNorm")
		}
		n := len(x.Norm.weight)
		if n != headDim && n != x.Heads*headDim {
			return argumentError(ErrShape, function, indexed("xs", i)+".Norm", "of "+elements(n).String(), "HeadDim = %d or Heads*HeadDim = %d", headDim, x.Heads*headDim)
		}
		if n != headDim && x.HeadStride != 0 && x.HeadStride != headDim {
			return argumentError(ErrShape, function, indexed("xs", i)+".HeadStride", x.HeadStride, "0 or HeadDim = %d with a Norm of all heads", headDim)
		}
	}
	if x.Scale != nil && len(x.Scale) != tokens {
		return argumentError(ErrLength, function, indexed("xs", i)+".Scale", elements(len(x.Scale)), "%d, one for each token", tokens)
	}
	return nil
}

func fuseToken[T Element](r *Rotary, positions []int32, xs []FusedView[T], m *manner) {
	var cos, sin [tokenPairs]float32
	fuseChunk(r, &rows{cos[:], sin[:], r.rotaryDim / 2}, 0, r.rotaryDim/2, &span{positions, 1, 0, 1}, xs, m)
}

func fuseTokens[T Element](r *Rotary, positions []int32, tokens int, xs []FusedView[T], m *manner) {
	var cos, sin [chunkPairs]float32
	pairs := r.rotaryDim / 2
	columns := min(pairs, chunkPairs)
	count := min(chunkRows, chunkPairs/columns)
	for t := 0; t < tokens; t += count {
		for column := 0; column < pairs; column += columns {
			n := min(columns, pairs-column)
			fuseChunk(r, &rows{cos[:], sin[:], n}, column, n, &span{positions, tokens, t, min(count, tokens-t)}, xs, m)
		}
	}
}

// fusedElements bounds the elements that one step leaves to the next: they fit
// the first cache.
const fusedElements = 4 << 10

// fuseChunk does to the tokens of a span what rotateChunk does. Before the first
// column of pairs it normalizes them, after the last it scales them.
func fuseChunk[T Element](r *Rotary, table *rows, column, pairs int, s *span, xs []FusedView[T], m *manner) {
	r.rows(table, column, pairs, s, m.scaling, m.direction)
	var x operand
	for i := range xs {
		setView(&x, &xs[i].View, r.headDim)
		x.data = unsafe.Pointer(unsafe.SliceData(xs[i].Data))
		norm := xs[i].Norm
		// One kernel normalizes and rotates whole heads of float32.
		oneKernel := norm != nil && len(norm.weight) == r.headDim && x.kind == kindFloat32 && m.in == m.out && pairs == r.rotaryDim/2
		count := max(1, fusedElements/(x.heads*r.headDim))
		for t := 0; t < s.n; {
			first := s.first + t
			n := x.together(first, min(count, s.n-t))
			at := x.token(first)
			if oneKernel {
				for k := range n {
					r.normalizeAndTurn(&x, norm, at+k*x.tokenStride, table.from(t+k), m.out)
				}
			} else {
				if column == 0 {
					xs[i].normalize(&x, r.headDim, first, n)
				}
				r.turn(&x, &x, at, at, n, column, pairs, table, t, m)
			}
			if column+pairs == r.rotaryDim/2 {
				xs[i].scale(&x, r.headDim, first, n)
			}
			t += n
		}
	}
}

// normalizeAndTurn normalizes and rotates the heads of float32 of the token that
// starts at element at, by the first row of table.
func (r *Rotary) normalizeAndTurn(x *operand, norm *RMSNorm, at int, table rows, layout Layout) {
	f := kernels.Fusion{Lines: kernels.Lines{Len: r.headDim, Stride: x.headStride}, First: r.offset, Pairs: r.rotaryDim / 2}
	most := max(1, callElements/r.headDim)
	for head := 0; head < x.heads; head += most {
		f.Count = min(most, x.heads-head)
		from := x.float32s(at + head*x.headStride)
		if layout == HalfSplit {
			kernels.RMSNormRotateHalfSplitF32(implementation, from, norm.weight, table.cos, table.sin, &f, norm.epsilon)
		} else {
			kernels.RMSNormRotateInterleavedF32(implementation, from, norm.weight, table.cos, table.sin, &f, norm.epsilon)
		}
	}
}

// normalize normalizes n tokens of x, the operand of the view, from first on.
func (v *FusedView[T]) normalize(x *operand, headDim, first, n int) {
	if v.Norm == nil {
		return
	}
	heads := x.heads
	if len(v.Norm.weight) != headDim {
		heads = 1
	}
	for t := first; t < first+n; {
		count := x.together(t, first+n-t)
		v.Norm.apply(x, heads, x.token(t), count)
		t += count
	}
}

// scale scales n tokens of x, the operand of the view, from first on.
func (v *FusedView[T]) scale(x *operand, headDim, first, n int) {
	if v.Scale == nil {
		return
	}
	for t := first; t < first+n; t++ {
		x.scale(x.token(t), headDim, v.Scale[t])
	}
}
