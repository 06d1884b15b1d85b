package posenc

import (
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// quantization is what a call does to heads on their way into a cache of 8-bit numbers or
// out of it. There are three ways into a cache:
//
//   - prepare does the steps on float32, in scratch memory that fits the L1 cache, and
//     write quantizes the result;
//   - write quantizes heads as they are in the source, where no step changes them: direct;
//   - one kernel rotates to Q8_0, where a rotation is the only step: fuses, rotateQuantize.
type quantization struct {
	dim           int // elements of a head
	norm, rotated *RMSNorm
	rotation      *rotation // or nil
	hadamard      int
}

// quantizedOperand is a QuantizedView without the type of its elements.
type quantizedOperand struct {
	view.Operand
	scales []float32
	scale  float32
}

// bytes returns the memory from element at on.
func (o *quantizedOperand) bytes(at int) []uint8 {
	size := int(o.Kind.Size())
	return unsafe.Slice((*uint8)(o.Data), o.Length*size)[at*size:]
}

// integers returns the int8 from element at on.
func (o *quantizedOperand) integers(at int) []int8 {
	return unsafe.Slice((*int8)(o.Data), o.Length)[at:]
}

// scratch returns memory for heads that lie one after another.
func (q *quantization) scratch(memory []float32) view.Operand {
	o := view.Over(memory)
	o.HeadStride = q.dim
	return o
}

// prepare writes the heads of n tokens to scratch, one after another, as they are to be
// quantized. It reads x from element at on, and rotates by the rows of table from number
// first on, or by full.
func (q *quantization) prepare(scratch, x *view.Operand, at, n int, table *cossin.Table, first int, full *fullWidthRow) {
	scratch.Heads, scratch.TokenStride = x.Heads, x.Heads*q.dim
	if q.rotation == nil || q.norm != nil {
		q.widen(scratch, x, at, n)
		q.norm.normalize(scratch, q.dim, n)
		x, at = scratch, 0
	}
	if q.rotation != nil {
		if full != nil {
			q.rotation.rotateFullWidth(scratch, x, 0, at, full)
		} else {
			q.rotation.rotate(scratch, x, 0, at, n, table, first)
		}
		if x != scratch {
			q.rotation.copyRest(scratch, x, 0, at, n)
		}
	}
	q.rotated.normalize(scratch, q.dim, n)
	q.transform(scratch, x.Heads*n)
}

// widen copies the heads of n tokens to scratch.
func (q *quantization) widen(scratch, x *view.Operand, at, n int) {
	for t := range n {
		length, count := q.dim, x.Heads
		if x.HeadStride == q.dim {
			length, count = q.dim*x.Heads, 1
		}
		for i := range count {
			view.Convert(scratch, x, t*scratch.TokenStride+i*length, at+t*x.TokenStride+i*x.HeadStride, length)
		}
	}
}

// normalize normalizes the heads of n tokens that lie one after another: each head, or all
// heads of a token as one vector.
func (n *RMSNorm) normalize(x *view.Operand, headDim, tokens int) {
	if n == nil {
		return
	}
	heads := x.Heads
	if len(n.weight) != headDim {
		heads = 1
	}
	n.apply(x, heads, 0, tokens)
}

// transform is the Hadamard transform of heads in scratch.
func (q *quantization) transform(scratch *view.Operand, heads int) {
	if q.hadamard != 0 {
		hadamardRows(scratch.Float32s(0), q.hadamard, heads*q.dim/q.hadamard)
	}
}

// direct reports whether heads are quantized as they are in x.
func (q *quantization) direct(x *view.Operand) bool {
	return q.rotation == nil && q.unchanged(x)
}

// unchanged reports whether nothing but a rotation changes heads of x.
func (q *quantization) unchanged(x *view.Operand) bool {
	return x.Kind == kernels.Float32 && q.norm == nil && q.rotated == nil && q.hadamard == 0
}

// fuses reports whether heads of x are rotated and quantized by one kernel.
func (q *quantization) fuses(y kernels.Kind, x *view.Operand, full bool) bool {
	r := q.rotation
	return r != nil && y == kernels.Q8 && q.unchanged(x) &&
		!full && r.in == r.out && r.rotaryDim == q.dim && dispatch.Implementation().RotatesToQ8(q.dim)
}

// rotateQuantize rotates the heads of n tokens from element xAt of x on and quantizes them
// into y from element yAt on. Row first+t of table is that of token t.
func (q *quantization) rotateQuantize(y *quantizedOperand, x *view.Operand, yAt, xAt, n int, table *cossin.Table, first int) {
	impl, stride := dispatch.Implementation(), y.HeadStride
	var k kernels.Rotation
	k.Pairs, k.Partner, k.TableStride = q.dim/2, q.dim/2, table.Stride
	k.YTokenStride, k.YHeadStride = y.TokenStride*generic.Q8Bytes, stride*generic.Q8Bytes
	k.XTokenStride, k.XHeadStride = x.TokenStride, x.HeadStride
	heads := min(x.Heads, kernels.MaxCallElements/q.dim)
	tokens := max(1, kernels.MaxCallElements/(x.Heads*q.dim))
	for t := 0; t < n; t += tokens {
		k.Tokens = min(tokens, n-t)
		at := (first + t) * table.Stride
		cos, sin := table.Cos[at:], table.Sin[at:]
		for h := 0; h < x.Heads; h += heads {
			k.Heads = min(heads, x.Heads-h)
			to, from := y.bytes(yAt+t*y.TokenStride+h*stride), x.Float32s(xAt+t*x.TokenStride+h*x.HeadStride)
			if q.rotation.out == view.HalfSplit {
				kernels.RotateQuantizeHalfSplitF32ToQ8(impl, to, from, cos, sin, &k)
			} else {
				kernels.RotateQuantizeInterleavedF32ToQ8(impl, to, from, cos, sin, &k)
			}
		}
	}
}

// write quantizes heads into y from element yAt on. In x they start at element xAt, stride
// elements apart. Meanwhile it fetches memory that many bytes ahead.
func (q *quantization) write(y *quantizedOperand, yAt, heads int, x *view.Operand, xAt, stride, ahead int) {
	impl, from := dispatch.Implementation(), x.Float32s(xAt)
	v := kernels.Conversion{Len: q.dim, Count: heads, XStride: stride, YStride: y.HeadStride, Ahead: ahead}
	switch y.Kind {
	case kernels.Q8:
		if stride == q.dim && y.HeadStride == q.dim/generic.Q8Block { // blocks one after another
			v.Len, v.Count = heads*q.dim, 1
		}
		v.YStride *= generic.Q8Bytes
		kernels.QuantizeF32ToQ8(impl, y.bytes(yAt), from, &v)
	case kernels.Int8:
		v.ScaleStride = y.HeadStride / q.dim
		kernels.QuantizeRowF32ToI8(impl, y.integers(yAt), y.scales[yAt/q.dim:], from, &v)
	case kernels.E5M2:
		kernels.QuantizeF32ToE5M2(impl, y.bytes(yAt), from, &v, y.scale)
	default:
		if y.scales == nil {
			kernels.QuantizeF32ToE4M3(impl, y.bytes(yAt), from, &v, y.scale)
			return
		}
		v.ScaleStride = y.HeadStride / q.dim
		kernels.QuantizeRowF32ToE4M3(impl, y.bytes(yAt), y.scales[yAt/q.dim:], from, &v)
	}
}

// read writes heads of x, from element at on, to scratch as float32, and undoes the
// Hadamard transform.
func (q *quantization) read(scratch *view.Operand, x *quantizedOperand, at, heads int) {
	impl, to := dispatch.Implementation(), scratch.Float32s(0)
	v := kernels.Conversion{Len: q.dim, Count: heads, XStride: x.HeadStride, YStride: q.dim}
	inverse := [1]float32{1 / x.scale}
	scales := inverse[:]
	if x.scales != nil {
		v.ScaleStride = x.HeadStride / q.dim
		scales = x.scales[at/q.dim:]
	}
	switch x.Kind {
	case kernels.Q8:
		v.XStride *= generic.Q8Bytes
		kernels.DequantizeQ8ToF32(impl, to, x.bytes(at), &v)
	case kernels.Int8:
		kernels.DequantizeI8ToF32(impl, to, x.integers(at), scales, &v)
	case kernels.E5M2:
		kernels.DequantizeE5M2ToF32(impl, to, x.bytes(at), scales, &v)
	default:
		kernels.DequantizeE4M3ToF32(impl, to, x.bytes(at), scales, &v)
	}
	q.transform(scratch, heads)
}
