package posenc

import (
	"math"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// head is the elements of a head and which of them are rotated.
type head struct {
	headDim, rotaryDim, offset int
	in, out                    view.Order // how pairs are read and written
}

// rotation is what a call does to heads. (It is written field by field: copying what
// was just written takes longer than a call for one token can afford.)
type rotation struct {
	*head
	in, out view.Order
	scaling float32 // of cosines and sines
	sign    float32 // of sines
}

// rotate rotates n tokens that lie one after another: it reads x from element xAt on and
// writes y from element yAt on. Token t takes row first+t of table.
func (r *rotation) rotate(y, x *view.Operand, yAt, xAt, n int, table *cossin.Table, first int) {
	if r.in != r.out || x.Kind != y.Kind && x.Kind != kernels.Float32 && y.Kind != kernels.Float32 {
		r.rotateThroughScratch(y, x, yAt, xAt, n, table, first)
		return
	}
	var k kernels.Rotation
	k.Pairs, k.Partner, k.TableStride = r.rotaryDim/2, r.rotaryDim/2, table.Stride
	k.YTokenStride, k.YHeadStride = y.TokenStride, y.HeadStride
	k.XTokenStride, k.XHeadStride = x.TokenStride, x.HeadStride
	tokens := max(1, min(n, kernels.MaxCallElements/(x.Heads*r.rotaryDim)))
	for t := 0; t < n; t += tokens {
		k.Tokens = min(tokens, n-t)
		at := (first + t) * table.Stride
		r.rotateHeads(y, x, yAt+t*y.TokenStride+r.offset, xAt+t*x.TokenStride+r.offset, x.Heads, table.Cos[at:], table.Sin[at:], &k)
	}
}

// rotateHeads rotates the heads of k.Tokens tokens. It splits them where one call of a
// kernel may not take all.
func (r *rotation) rotateHeads(y, x *view.Operand, yAt, xAt, heads int, cos, sin []float32, k *kernels.Rotation) {
	most := heads
	if heads*k.Tokens*r.rotaryDim > kernels.MaxCallElements {
		most = max(1, kernels.MaxCallElements/(k.Tokens*r.rotaryDim))
	}
	for h := 0; h < heads; h += most {
		k.Heads = min(most, heads-h)
		rotateRows(y, x, yAt+h*k.YHeadStride, xAt+h*k.XHeadStride, cos, sin, k, r.out)
	}
}

// rotateRows calls the kernel for the types of x and y, the same or one of them float32.
func rotateRows(y, x *view.Operand, yAt, xAt int, cos, sin []float32, k *kernels.Rotation, order view.Order) {
	impl := dispatch.Implementation()
	if order == view.HalfSplit {
		switch {
		case y.Kind == kernels.Float32 && x.Kind == kernels.Float32:
			kernels.RotateHalfSplitF32(impl, y.Float32s(yAt), x.Float32s(xAt), cos, sin, k)
		case y.Kind == kernels.Float32 && x.Kind == kernels.Float16:
			kernels.RotateHalfSplitF16ToF32(impl, y.Float32s(yAt), x.Bits(xAt), cos, sin, k)
		case y.Kind == kernels.Float32:
			kernels.RotateHalfSplitBF16ToF32(impl, y.Float32s(yAt), x.Bits(xAt), cos, sin, k)
		case x.Kind == kernels.Float16:
			kernels.RotateHalfSplitF16(impl, y.Bits(yAt), x.Bits(xAt), cos, sin, k)
		case x.Kind == kernels.BFloat16:
			kernels.RotateHalfSplitBF16(impl, y.Bits(yAt), x.Bits(xAt), cos, sin, k)
		case y.Kind == kernels.Float16:
			kernels.RotateHalfSplitF32ToF16(impl, y.Bits(yAt), x.Float32s(xAt), cos, sin, k)
		default:
			kernels.RotateHalfSplitF32ToBF16(impl, y.Bits(yAt), x.Float32s(xAt), cos, sin, k)
		}
		return
	}
	switch {
	case y.Kind == kernels.Float32 && x.Kind == kernels.Float32:
		kernels.RotateInterleavedF32(impl, y.Float32s(yAt), x.Float32s(xAt), cos, sin, k)
	case y.Kind == kernels.Float32 && x.Kind == kernels.Float16:
		kernels.RotateInterleavedF16ToF32(impl, y.Float32s(yAt), x.Bits(xAt), cos, sin, k)
	case y.Kind == kernels.Float32:
		kernels.RotateInterleavedBF16ToF32(impl, y.Float32s(yAt), x.Bits(xAt), cos, sin, k)
	case x.Kind == kernels.Float16:
		kernels.RotateInterleavedF16(impl, y.Bits(yAt), x.Bits(xAt), cos, sin, k)
	case x.Kind == kernels.BFloat16:
		kernels.RotateInterleavedBF16(impl, y.Bits(yAt), x.Bits(xAt), cos, sin, k)
	case y.Kind == kernels.Float16:
		kernels.RotateInterleavedF32ToF16(impl, y.Bits(yAt), x.Float32s(xAt), cos, sin, k)
	default:
		kernels.RotateInterleavedF32ToBF16(impl, y.Bits(yAt), x.Float32s(xAt), cos, sin, k)
	}
}

// rotateThroughScratch is rotate where heads must first be brought into the order or the
// type of y.
func (r *rotation) rotateThroughScratch(y, x *view.Operand, yAt, xAt, n int, table *cossin.Table, first int) {
	var memory [2][2 * kernels.ChunkPairs]float32
	dim := r.rotaryDim
	ordered, widened := view.Over(memory[0][:]), view.Over(memory[1][:])
	ordered.Kind, ordered.HeadStride, widened.HeadStride = x.Kind, dim, dim
	heads := min(x.Heads, 2*kernels.ChunkPairs/dim)
	k := kernels.Rotation{Pairs: dim / 2, Partner: dim / 2, Tokens: 1, YTokenStride: y.TokenStride, YHeadStride: y.HeadStride, XHeadStride: dim}
	for t := range n {
		row := table.From(first + t)
		for h := 0; h < x.Heads; h += heads {
			k.Heads = min(heads, x.Heads-h)
			for i := range k.Heads {
				from := xAt + t*x.TokenStride + (h+i)*x.HeadStride + r.offset
				view.Reorder(&ordered, x, i*dim, from, dim/2, r.in, r.out)
			}
			source := &ordered
			if x.Kind != y.Kind && x.Kind != kernels.Float32 {
				view.Convert(&widened, &ordered, 0, 0, k.Heads*dim)
				source = &widened
			}
			rotateRows(y, source, yAt+t*y.TokenStride+h*y.HeadStride+r.offset, 0, row.Cos, row.Sin, &k, r.out)
		}
	}
}

// writesNonTemporal reports whether y is to be written by non-temporal stores: if whole
// heads lie together, in aligned vectors, and there are enough of them.
func (r *rotation) writesNonTemporal(y *view.Operand, tokens int) bool {
	least, has := dispatch.Implementation().NonTemporalCopy()
	size := int(y.Kind.Size())
	bytes, ok := argument.Multiply(tokens, y.Heads*r.headDim*size)
	dim := r.headDim * size
	return has && ok && bytes >= least && y.HeadStride == r.headDim && dim <= kernels.CopyBytes &&
		(dim|y.TokenStride*size|y.SequenceStride*size|int(uintptr(y.Data)%32))%32 == 0
}

// rotateNonTemporal is rotate and copyRest for n tokens, some heads at a time, through
// memory in the cache.
func (r *rotation) rotateNonTemporal(y, x *view.Operand, yAt, xAt, n int, table *cossin.Table, first int) {
	var unaligned [kernels.CopyBytes/4 + kernels.Line]float32
	memory := kernels.LineAligned(unaligned[:])
	size := int(y.Kind.Size())
	some, from := view.Over(memory), *x
	some.Kind, some.Length, some.HeadStride = y.Kind, kernels.CopyBytes/size, r.headDim
	most := kernels.CopyBytes / (r.headDim * size)
	for t := range n {
		for h := 0; h < x.Heads; h += most {
			from.Heads = min(most, x.Heads-h)
			at := xAt + t*x.TokenStride + h*x.HeadStride
			r.rotate(&some, &from, 0, at, 1, table, first+t)
			r.copyRest(&some, &from, 0, at, 1)
			words := from.Heads * r.headDim * size / 4
			to := unsafe.Add(y.Data, (yAt+t*y.TokenStride+h*y.HeadStride)*size)
			kernels.CopyNonTemporal(dispatch.Implementation(), unsafe.Slice((*float32)(to), words), memory[:words])
		}
	}
}

// copyRest copies the elements outside the rotated slice, in the heads of n tokens.
func (r *rotation) copyRest(y, x *view.Operand, yAt, xAt, n int) {
	if r.rotaryDim == r.headDim {
		return
	}
	end := r.offset + r.rotaryDim
	for t := range n {
		for h := range x.Heads {
			to, from := yAt+t*y.TokenStride+h*y.HeadStride, xAt+t*x.TokenStride+h*x.HeadStride
			view.Convert(y, x, to, from, r.offset)
			view.Convert(y, x, to+end, from+end, r.headDim-end)
		}
	}
}

// fullWidthRow is a row with a cosine and a sine for each element. The entries of the
// first elements of all pairs come first.
type fullWidthRow struct {
	memory [4][2 * kernels.ChunkPairs]float32
	dim    int
	half   bool // both entries of every pair have the same bits
}

// Not fields: a row that points to itself would escape.
func (f *fullWidthRow) cos() []float32 { return f.memory[2][:f.dim] }
func (f *fullWidthRow) sin() []float32 { return f.memory[3][:f.dim] }

// read sets f to a row and multiplies the sines by sign. The entries of the row are in the
// order in which Rotate writes elements.
func (f *fullWidthRow) read(rows *Rows, row int, sign float32) {
	dim := rows.rotaryDim
	rows.copyRow(f.memory[0][:dim], f.memory[1][:dim], row, sign)
	f.dim = dim
	cos, sin := f.cos(), f.sin()
	view.ReorderFloat32s(cos, f.memory[0][:dim], rows.out, view.HalfSplit)
	view.ReorderFloat32s(sin, f.memory[1][:dim], rows.out, view.HalfSplit)
	f.half = equalBits(cos[:dim/2], cos[dim/2:]) && equalBits(sin[:dim/2], sin[dim/2:])
}

// equalBits reports whether a and b, of the same length, have the same bits. The sign of a
// zero matters, because it changes a sum of zeros.
func equalBits(a, b []float32) bool {
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return true
}

// rotateFullWidth is rotate for one token and a row with an entry for each element.
func (r *rotation) rotateFullWidth(y, x *view.Operand, yAt, xAt int, row *fullWidthRow) {
	dim, pairs := r.rotaryDim, r.rotaryDim/2
	if row.half {
		r.rotate(y, x, yAt, xAt, 1, &cossin.Table{Cos: row.cos(), Sin: row.sin(), Stride: pairs}, 0)
		return
	}
	var memory [3][2 * kernels.ChunkPairs]float32
	wide, ordered, rotated := memory[0][:dim], memory[1][:dim], memory[2][:dim]
	scratch := view.Over(wide)
	for h := range x.Heads {
		view.Convert(&scratch, x, 0, xAt+h*x.HeadStride+r.offset, dim)
		view.ReorderFloat32s(ordered, wide, r.in, view.HalfSplit)
		generic.RotateFullWidth(rotated[:pairs], rotated[pairs:], ordered[:pairs], ordered[pairs:], row.cos(), row.sin())
		view.ReorderFloat32s(wide, rotated, view.HalfSplit, r.out)
		view.Convert(y, &scratch, yAt+h*y.HeadStride+r.offset, 0, dim)
	}
}
