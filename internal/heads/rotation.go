package heads

import (
	"unsafe"

	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// Head is the elements of a head and which of them are rotated.
type Head struct {
	HeadDim, RotaryDim, Offset int
	In, Out                    view.Order // how pairs are read and written
}

// Rotation is what a call does to heads. (It is written field by field: copying what
// was just written takes longer than a call for one token can afford.)
type Rotation struct {
	*Head
	In, Out view.Order
	Scaling float32 // of cosines and sines
	Sign    float32 // of sines

	resident bool // no head is fetched ahead of time
}

// Resident says how many heads the call rotates in place: few are not fetched ahead of time.
func (r *Rotation) Resident(tokens, heads int) {
	r.resident = dispatch.Implementation().Resident(4 * tokens * heads * r.RotaryDim)
}

// Rotate rotates n tokens that lie one after another: it reads x from element xAt on and
// writes y from element yAt on. Token t takes row first+t of table.
func (r *Rotation) Rotate(y, x *view.Operand, yAt, xAt, n int, table *cossin.Table, first int) {
	if r.In != r.Out || x.Kind != y.Kind && x.Kind != kernels.KindFloat32 && y.Kind != kernels.KindFloat32 {
		r.rotateThroughScratch(y, x, yAt, xAt, n, table, first)
		return
	}
	var k kernels.Rotation
	k.Pairs, k.Partner, k.TableStride = r.RotaryDim/2, r.RotaryDim/2, table.Stride
	k.YTokenStride, k.YHeadStride = y.TokenStride, y.HeadStride
	k.XTokenStride, k.XHeadStride = x.TokenStride, x.HeadStride
	if !r.resident {
		k.Ahead = kernels.RotateAhead
	}
	tokens := max(1, min(n, kernels.MaxCallElements/(x.Heads*r.RotaryDim)))
	for t := 0; t < n; t += tokens {
		k.Tokens = min(tokens, n-t)
		at := (first + t) * table.Stride
		r.rotateHeads(y, x, yAt+t*y.TokenStride+r.Offset, xAt+t*x.TokenStride+r.Offset, x.Heads, table.Cos[at:], table.Sin[at:], &k)
	}
}

// rotateHeads rotates the heads of k.Tokens tokens. It splits them where one call of a
// kernel may not take all.
func (r *Rotation) rotateHeads(y, x *view.Operand, yAt, xAt, heads int, cos, sin []float32, k *kernels.Rotation) {
	most := heads
	if heads*k.Tokens*r.RotaryDim > kernels.MaxCallElements {
		most = max(1, kernels.MaxCallElements/(k.Tokens*r.RotaryDim))
	}
	for h := 0; h < heads; h += most {
		k.Heads = min(most, heads-h)
		RotateRows(y, x, yAt+h*k.YHeadStride, xAt+h*k.XHeadStride, cos, sin, k, r.Out)
	}
}

// RotateRows calls the kernel for the types of x and y, the same or one of them float32.
func RotateRows(y, x *view.Operand, yAt, xAt int, cos, sin []float32, k *kernels.Rotation, order view.Order) {
	impl := dispatch.Implementation()
	if order == view.HalfSplit {
		switch {
		case y.Kind == kernels.KindFloat32 && x.Kind == kernels.KindFloat32:
			kernels.RotateHalfSplitF32(impl, y.Float32s(yAt), x.Float32s(xAt), cos, sin, k)
		case y.Kind == kernels.KindFloat32 && x.Kind == kernels.KindFloat16:
			kernels.RotateHalfSplitF16ToF32(impl, y.Float32s(yAt), x.Bits(xAt), cos, sin, k)
		case y.Kind == kernels.KindFloat32:
			kernels.RotateHalfSplitBF16ToF32(impl, y.Float32s(yAt), x.Bits(xAt), cos, sin, k)
		case x.Kind == kernels.KindFloat16:
			kernels.RotateHalfSplitF16(impl, y.Bits(yAt), x.Bits(xAt), cos, sin, k)
		case x.Kind == kernels.KindBFloat16:
			kernels.RotateHalfSplitBF16(impl, y.Bits(yAt), x.Bits(xAt), cos, sin, k)
		case y.Kind == kernels.KindFloat16:
			kernels.RotateHalfSplitF32ToF16(impl, y.Bits(yAt), x.Float32s(xAt), cos, sin, k)
		default:
			kernels.RotateHalfSplitF32ToBF16(impl, y.Bits(yAt), x.Float32s(xAt), cos, sin, k)
		}
		return
	}
	switch {
	case y.Kind == kernels.KindFloat32 && x.Kind == kernels.KindFloat32:
		kernels.RotateInterleavedF32(impl, y.Float32s(yAt), x.Float32s(xAt), cos, sin, k)
	case y.Kind == kernels.KindFloat32 && x.Kind == kernels.KindFloat16:
		kernels.RotateInterleavedF16ToF32(impl, y.Float32s(yAt), x.Bits(xAt), cos, sin, k)
	case y.Kind == kernels.KindFloat32:
		kernels.RotateInterleavedBF16ToF32(impl, y.Float32s(yAt), x.Bits(xAt), cos, sin, k)
	case x.Kind == kernels.KindFloat16:
		kernels.RotateInterleavedF16(impl, y.Bits(yAt), x.Bits(xAt), cos, sin, k)
	case x.Kind == kernels.KindBFloat16:
		kernels.RotateInterleavedBF16(impl, y.Bits(yAt), x.Bits(xAt), cos, sin, k)
	case y.Kind == kernels.KindFloat16:
		kernels.RotateInterleavedF32ToF16(impl, y.Bits(yAt), x.Float32s(xAt), cos, sin, k)
	default:
		kernels.RotateInterleavedF32ToBF16(impl, y.Bits(yAt), x.Float32s(xAt), cos, sin, k)
	}
}

// rotateThroughScratch is rotate where heads must first be brought into the order or the
// type of y.
func (r *Rotation) rotateThroughScratch(y, x *view.Operand, yAt, xAt, n int, table *cossin.Table, first int) {
	var memory [2][2 * kernels.ChunkPairs]float32
	dim := r.RotaryDim
	ordered, widened := view.Over(memory[0][:]), view.Over(memory[1][:])
	ordered.Kind, ordered.HeadStride, widened.HeadStride = x.Kind, dim, dim
	heads := min(x.Heads, 2*kernels.ChunkPairs/dim)
	k := kernels.Rotation{Pairs: dim / 2, Partner: dim / 2, Tokens: 1, YTokenStride: y.TokenStride, YHeadStride: y.HeadStride, XHeadStride: dim}
	for t := range n {
		row := table.From(first + t)
		for h := 0; h < x.Heads; h += heads {
			k.Heads = min(heads, x.Heads-h)
			for i := range k.Heads {
				from := xAt + t*x.TokenStride + (h+i)*x.HeadStride + r.Offset
				view.Reorder(&ordered, x, i*dim, from, dim/2, r.In, r.Out)
			}
			source := &ordered
			if x.Kind != y.Kind && x.Kind != kernels.KindFloat32 {
				view.Convert(&widened, &ordered, 0, 0, k.Heads*dim)
				source = &widened
			}
			RotateRows(y, source, yAt+t*y.TokenStride+h*y.HeadStride+r.Offset, 0, row.Cos, row.Sin, &k, r.Out)
		}
	}
}

// WritesNonTemporal reports whether y is to be written by non-temporal stores: if whole
// heads lie together, in aligned vectors, and there are enough of them.
func (r *Rotation) WritesNonTemporal(y *view.Operand, tokens int) bool {
	least, has := dispatch.Implementation().NonTemporalCopy()
	size := int(y.Kind.Size())
	bytes, ok := argument.Multiply(tokens, y.Heads*r.HeadDim*size)
	dim := r.HeadDim * size
	return has && ok && bytes >= least && y.HeadStride == r.HeadDim && dim <= kernels.CopyBytes &&
		(dim|y.TokenStride*size|y.SequenceStride*size|int(uintptr(y.Data)%32))%32 == 0
}

// RotateNonTemporal is rotate and copyRest for n tokens, some heads at a time, through
// memory in the cache.
func (r *Rotation) RotateNonTemporal(y, x *view.Operand, yAt, xAt, n int, table *cossin.Table, first int) {
	var unaligned [kernels.CopyBytes/4 + kernels.Line]float32
	memory := kernels.LineAligned(unaligned[:])
	size := int(y.Kind.Size())
	some, from := view.Over(memory), *x
	some.Kind, some.Length, some.HeadStride = y.Kind, kernels.CopyBytes/size, r.HeadDim
	most := kernels.CopyBytes / (r.HeadDim * size)
	for t := range n {
		for h := 0; h < x.Heads; h += most {
			from.Heads = min(most, x.Heads-h)
			at := xAt + t*x.TokenStride + h*x.HeadStride
			r.Rotate(&some, &from, 0, at, 1, table, first+t)
			r.CopyRest(&some, &from, 0, at, 1)
			words := from.Heads * r.HeadDim * size / 4
			to := unsafe.Add(y.Data, (yAt+t*y.TokenStride+h*y.HeadStride)*size)
			kernels.CopyNonTemporal(dispatch.Implementation(), unsafe.Slice((*float32)(to), words), memory[:words])
		}
	}
}

// CopyRest copies the elements outside the rotated slice, in the heads of n tokens.
func (r *Rotation) CopyRest(y, x *view.Operand, yAt, xAt, n int) {
	if r.RotaryDim == r.HeadDim {
		return
	}
	end := r.Offset + r.RotaryDim
	for t := range n {
		for h := range x.Heads {
			to, from := yAt+t*y.TokenStride+h*y.HeadStride, xAt+t*x.TokenStride+h*x.HeadStride
			view.Convert(y, x, to, from, r.Offset)
			view.Convert(y, x, to+end, from+end, r.HeadDim-end)
		}
	}
}

// Leave writes the tokens from begin to end as they are, but in the order that the
// rotation writes.
func (r *Rotation) Leave(begin, end int, y *view.Operand, slots []int32, x *view.Operand) {
	if y == x && r.In == r.Out {
		return
	}
	var memory [2 * kernels.ChunkPairs]float32
	ordered := view.Over(memory[:])
	ordered.Kind = x.Kind
	for t := begin; t < end; t++ {
		at := Slot(slots, t)
		if at < 0 {
			continue
		}
		for h := range x.Heads {
			to, from := y.Token(at)+h*y.HeadStride+r.Offset, x.Token(t)+h*x.HeadStride+r.Offset
			view.Reorder(&ordered, x, 0, from, r.RotaryDim/2, r.In, r.Out)
			view.Convert(y, &ordered, to, 0, r.RotaryDim)
		}
		if y != x {
			r.CopyRest(y, x, y.Token(at), x.Token(t), 1)
		}
	}
}

// CopyHeads writes heads that do not rotate.
func CopyHeads(tokens, headDim int, y *view.Operand, slots []int32, x *view.Operand) {
	if y == x {
		return
	}
	for t := range tokens {
		at := Slot(slots, t)
		for h := 0; at >= 0 && h < x.Heads; h++ {
			view.Convert(y, x, y.Token(at)+h*y.HeadStride, x.Token(t)+h*x.HeadStride, headDim)
		}
	}
}
