package heads

import (
	"unsafe"

	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// quantizedWay is how heads get into a cache.
type quantizedWay uint8

const (
	ThroughScratch quantizedWay = iota // Prepare does the steps on float32, in scratch memory that fits the L1 cache, and quantize quantizes the result
	asTheyAre                          // quantize takes heads from the source: no step changes them
	ByOneKernel                        // rotateQuantize: a rotation is the only step
	asFloats                           // a rotation or none is the only step, into a cache of float32 or 16 bits
)

// Quantization is what a call does to heads on their way into a quantized cache or out
// of it.
type Quantization struct {
	Way           quantizedWay
	Dim           int // elements of a head
	Norm, Rotated *Norm
	Rotation      *Rotation // or nil
	Hadamard      int
}

// QuantizedOperand is a QuantizedView without the type of its elements.
type QuantizedOperand struct {
	view.Operand
	Scales []float32
	Scale  float32
}

// Bytes returns the memory from element at on.
func (o *QuantizedOperand) Bytes(at int) []uint8 {
	size := int(o.Kind.Size())
	return unsafe.Slice((*uint8)(o.Data), o.Length*size)[at*size:]
}

// ScalesFrom returns the scales of heads of dim elements from element at on, or nil.
func (o *QuantizedOperand) ScalesFrom(at, dim int) []float32 {
	if o.Scales == nil {
		return nil
	}
	return o.Scales[at/dim:]
}

// Scratch returns memory for heads that lie one after another.
func (q *Quantization) Scratch(memory []float32) view.Operand {
	o := view.Over(memory)
	o.HeadStride = q.Dim
	return o
}

// Prepare writes the heads of n tokens to scratch, one after another, as they are to be
// quantized. It reads x from element at on, and rotates by the rows of table from number
// first on, or by full.
func (q *Quantization) Prepare(scratch, x *view.Operand, at, n int, table *cossin.Table, first int, full *FullWidthRow) {
	scratch.Heads, scratch.TokenStride = x.Heads, x.Heads*q.Dim
	if q.Rotation == nil || q.Norm != nil {
		copyHeads(scratch, x, 0, at, n, q.Dim)
		q.Norm.normalize(scratch, q.Dim, n)
		x, at = scratch, 0
	}
	if q.Rotation != nil {
		if full != nil {
			q.Rotation.RotateFullWidth(scratch, x, 0, at, full)
		} else {
			q.Rotation.Rotate(scratch, x, 0, at, n, table, first)
		}
		if x != scratch {
			q.Rotation.CopyRest(scratch, x, 0, at, n)
		}
	}
	q.Rotated.normalize(scratch, q.Dim, n)
	q.Transform(scratch, 0, x.Heads*n)
}

// Transform is the Hadamard transform of heads of float32 that lie one after another from element at on.
func (q *Quantization) Transform(y *view.Operand, at, heads int) {
	if q.Hadamard != 0 {
		HadamardRows(y.Float32s(at), q.Hadamard, heads*q.Dim/q.Hadamard)
	}
}

// Choose sets the way of heads of kind x into y. full says that rows have an entry for each
// element.
func (q *Quantization) Choose(y *QuantizedOperand, x kernels.Kind, full bool) {
	r := q.Rotation
	switch {
	case y.Kind <= kernels.KindBFloat16 && (r == nil || !full) && q.Norm == nil && q.Rotated == nil && q.Hadamard == 0:
		q.Way = asFloats
	case x != kernels.KindFloat32 || q.Norm != nil || q.Rotated != nil || q.Hadamard != 0:
		q.Way = ThroughScratch
	case r == nil:
		q.Way = asTheyAre
	case !full && r.In == r.Out && r.RotaryDim == q.Dim && dispatch.Implementation().RotatesAndQuantizes(y.Kind, y.Scales != nil, q.Dim):
		q.Way = ByOneKernel
	default:
		q.Way = ThroughScratch
	}
}

// AtLeast returns the elements that scratch memory has to hold.
func (q *Quantization) AtLeast() int {
	least := q.Dim
	for _, n := range [...]*Norm{q.Norm, q.Rotated} {
		if n != nil {
			least = max(least, len(n.Weight))
		}
	}
	return least
}

// Store quantizes n tokens of a call, from number first on, into their slots. Their rows are
// the rows of table or full.
func (q *Quantization) Store(y *QuantizedOperand, slots []int32, x *view.Operand, first, n int, memory []float32, table *cossin.Table, full *FullWidthRow) {
	switch q.Way {
	case ByOneKernel, asFloats:
		for t := first; t < first+n; {
			at := Slot(slots, t)
			if at < 0 {
				t++
				continue
			}
			n := Together(&y.Operand, x, slots, t, first+n-t)
			switch {
			case q.Way == ByOneKernel:
				q.rotateQuantizeTokens(y, x, y.Token(at), x.Token(t), n, table, t-first)
			case q.Rotation == nil:
				copyHeads(&y.Operand, x, y.Token(at), x.Token(t), n, q.Dim)
			default:
				q.Rotation.Rotate(&y.Operand, x, y.Token(at), x.Token(t), n, table, t-first)
				q.Rotation.CopyRest(&y.Operand, x, y.Token(at), x.Token(t), n)
			}
			t += n
		}
	case asTheyAre:
		for t := first; t < first+n; t++ {
			if at := Slot(slots, t); at >= 0 {
				q.quantizeHeads(y, x, y.Token(at), x.Token(t))
			}
		}
	default:
		q.storeThroughScratch(y, slots, x, first, n, memory, table, full)
	}
}

// quantizeHeads quantizes the heads of a token.
func (q *Quantization) quantizeHeads(y *QuantizedOperand, x *view.Operand, yAt, xAt int) {
	heads := x.Heads
	if heads*q.Dim > kernels.FusedElements {
		heads = kernels.FusedElements / q.Dim
	}
	for h := 0; h < x.Heads; h += heads {
		y.Quantize(yAt+h*y.HeadStride, q.Dim, min(heads, x.Heads-h), x.Float32s(xAt+h*x.HeadStride), x.HeadStride, kernels.Ahead)
	}
}

// storeThroughScratch is store where heads change before they are quantized.
func (q *Quantization) storeThroughScratch(y *QuantizedOperand, slots []int32, x *view.Operand, first, n int, memory []float32, table *cossin.Table, full *FullWidthRow) {
	from, scratch := *x, q.Scratch(memory)
	all := from.Heads
	token := all * q.Dim
	for t := first; t < first+n; {
		at := Slot(slots, t)
		if at < 0 {
			t++
			continue
		}
		some, heads := max(1, min(len(memory)/token, Together(&y.Operand, &from, slots, t, first+n-t))), min(all, len(memory)/q.Dim)
		for h := 0; h < all; h += heads {
			count := min(heads, all-h)
			from.Heads = count
			xAt, yAt := from.Token(t)+h*from.HeadStride, y.Token(at)+h*y.HeadStride
			q.Prepare(&scratch, &from, xAt, some, table, t-first, full)
			next := uintptr(from.Data) + uintptr((xAt+some*from.TokenStride)*int(from.Kind.Size())) // what follows, if anything does
			ahead := int(next - uintptr(scratch.Data))
			if y.TokenStride == count*y.HeadStride { // heads of all tokens are equally far apart
				y.Quantize(yAt, q.Dim, count*some, scratch.Float32s(0), q.Dim, ahead)
				continue
			}
			for i := range some {
				y.Quantize(yAt+i*y.TokenStride, q.Dim, count, scratch.Float32s(i*count*q.Dim), q.Dim, ahead)
			}
		}
		t += some
	}
}

// rotateQuantizeTokens rotates the heads of n tokens from element xAt of x on and quantizes them
// into y from element yAt on. Row first+t of table belongs to token t.
func (q *Quantization) rotateQuantizeTokens(y *QuantizedOperand, x *view.Operand, yAt, xAt, n int, table *cossin.Table, first int) {
	var k kernels.Rotation
	k.Pairs, k.Partner, k.TableStride = q.Dim/2, q.Dim/2, table.Stride
	k.XTokenStride, k.XHeadStride = x.TokenStride, x.HeadStride
	size := int(y.Kind.Size())
	k.YTokenStride, k.YHeadStride = y.TokenStride*size, y.HeadStride*size
	heads, tokens := x.Heads, n
	if heads*tokens*q.Dim > kernels.MaxCallElements {
		heads, tokens = min(heads, kernels.MaxCallElements/q.Dim), max(1, kernels.MaxCallElements/(heads*q.Dim))
	}
	for t := 0; t < n; t += tokens {
		k.Tokens = min(tokens, n-t)
		at := (first + t) * table.Stride
		cos, sin := table.Cos[at:], table.Sin[at:]
		for h := 0; h < x.Heads; h += heads {
			k.Heads = min(heads, x.Heads-h)
			to := yAt + t*y.TokenStride + h*y.HeadStride
			q.RotateQuantize(y, to, x.Float32s(xAt+t*x.TokenStride+h*x.HeadStride), cos, sin, &k)
		}
	}
}

// RotateQuantize rotates heads of x and quantizes them into y from element at on. The strides of y in k are in
// bytes.
func (q *Quantization) RotateQuantize(y *QuantizedOperand, at int, x, cos, sin []float32, k *kernels.Rotation) {
	kernels.RotateQuantize(dispatch.Implementation(), y.Kind, y.Bytes(at), x, cos, sin, k, q.Rotation.Out == view.HalfSplit, y.ScalesFrom(at, q.Dim), y.Scale)
}

// Quantize quantizes heads of x, dim elements each and stride elements apart, into y from
// element at on. Meanwhile it fetches memory that many bytes ahead.
func (y *QuantizedOperand) Quantize(at, dim, heads int, x []float32, stride, ahead int) {
	v := kernels.Conversion{Len: dim, Count: heads, XStride: stride, YStride: y.HeadStride * int(y.Kind.Size()), Ahead: ahead}
	switch {
	case y.Kind < kernels.KindI8:
		copyFloat32s(y.Kind, y.Bytes(at), x, &v)
		return
	case y.Scales != nil:
		v.ScaleStride = y.HeadStride / dim
	case y.Kind.Numbers() > 1 && stride == dim && y.HeadStride*y.Kind.Numbers() == dim: // blocks one after another
		v.Len, v.Count = heads*dim, 1
	}
	kernels.Quantize(dispatch.Implementation(), y.Kind, y.Bytes(at), x, &v, y.ScalesFrom(at, dim), y.Scale)
}

// ReadsInto reports whether Read can write to y: else it writes to scratch memory first.
func (q *Quantization) ReadsInto(y *view.Operand) bool {
	return y.Kind == kernels.KindFloat32 && (q.Hadamard == 0 || y.HeadStride == q.Dim)
}

// Read writes heads of x, from element at on, to y from element yAt on as float32, and undoes the
// Hadamard transform.
func (q *Quantization) Read(y *view.Operand, yAt int, x *QuantizedOperand, at, heads int) {
	v := kernels.Conversion{Len: q.Dim, Count: heads, XStride: x.HeadStride * int(x.Kind.Size()), YStride: y.HeadStride}
	inverse := [1]float32{1 / x.Scale}
	scales := inverse[:]
	if x.Scales != nil {
		v.ScaleStride = x.HeadStride / q.Dim
		scales = x.Scales[at/q.Dim:]
	}
	if x.Kind < kernels.KindI8 {
		from := x.Operand
		from.Heads = heads
		copyHeads(y, &from, yAt, at, 1, q.Dim)
	} else {
		kernels.Dequantize(dispatch.Implementation(), x.Kind, y.Float32s(yAt), x.Bytes(at), &v, scales)
	}
	q.Transform(y, yAt, heads)
}

// Write writes heads of scratch, from element at on, to y from element yAt on, rounding once where y has fewer bits.
func (q *Quantization) Write(y *view.Operand, yAt int, scratch *view.Operand, at, heads int) {
	scratch.Heads = heads
	copyHeads(y, scratch, yAt, at, 1, q.Dim)
}
