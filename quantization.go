package posenc

import (
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// quantizedWay is how heads get into a cache.
type quantizedWay uint8

const (
	throughScratch quantizedWay = iota // prepare does the steps on float32, in scratch memory that fits the L1 cache, and quantize quantizes the result
	asTheyAre                          // quantize takes heads from the source: no step changes them
	byOneKernel                        // rotateQuantize: a rotation is the only step
)

// quantization is what a call does to heads on their way into a cache of 8-bit numbers or
// out of it.
type quantization struct {
	way           quantizedWay
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

// scalesFrom returns the scales of heads of dim elements from element at on, or nil.
func (o *quantizedOperand) scalesFrom(at, dim int) []float32 {
	if o.scales == nil {
		return nil
	}
	return o.scales[at/dim:]
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

// choose sets the way of heads of kind x into y. full says that rows have an entry for each
// element.
func (q *quantization) choose(y *quantizedOperand, x kernels.Kind, full bool) {
	r := q.rotation
	switch {
	case x != kernels.Float32 || q.norm != nil || q.rotated != nil || q.hadamard != 0:
		q.way = throughScratch
	case r == nil:
		q.way = asTheyAre
	case !full && r.in == r.out && r.rotaryDim == q.dim && dispatch.Implementation().RotatesAndQuantizes(y.Kind, y.scales != nil, q.dim):
		q.way = byOneKernel
	default:
		q.way = throughScratch
	}
}

// atLeast returns the elements that scratch memory has to hold.
func (q *quantization) atLeast() int {
	least := q.dim
	for _, norm := range [...]*RMSNorm{q.norm, q.rotated} {
		if norm != nil {
			least = max(least, len(norm.weight))
		}
	}
	return least
}

// store quantizes n tokens of a call, from number first on, into their slots. Their rows are
// those of table or full.
func (q *quantization) store(y *quantizedOperand, slots []int32, x *view.Operand, first, n int, memory []float32, table *cossin.Table, full *fullWidthRow) {
	switch q.way {
	case byOneKernel:
		for t := first; t < first+n; {
			at := slot(slots, t)
			if at < 0 {
				t++
				continue
			}
			n := together(&y.Operand, x, slots, t, first+n-t)
			q.rotateQuantizeTokens(y, x, y.Token(at), x.Token(t), n, table, t-first)
			t += n
		}
	case asTheyAre:
		for t := first; t < first+n; t++ {
			if at := slot(slots, t); at >= 0 {
				q.quantizeHeads(y, x, y.Token(at), x.Token(t))
			}
		}
	default:
		q.storeThroughScratch(y, slots, x, first, n, memory, table, full)
	}
}

// quantizeHeads quantizes the heads of a token.
func (q *quantization) quantizeHeads(y *quantizedOperand, x *view.Operand, yAt, xAt int) {
	heads := x.Heads
	if heads*q.dim > kernels.FusedElements {
		heads = kernels.FusedElements / q.dim
	}
	for h := 0; h < x.Heads; h += heads {
		y.quantize(yAt+h*y.HeadStride, q.dim, min(heads, x.Heads-h), x.Float32s(xAt+h*x.HeadStride), x.HeadStride, kernels.Ahead)
	}
}

// storeThroughScratch is store where heads change before they are quantized.
func (q *quantization) storeThroughScratch(y *quantizedOperand, slots []int32, x *view.Operand, first, n int, memory []float32, table *cossin.Table, full *fullWidthRow) {
	from, scratch := *x, q.scratch(memory)
	all := from.Heads
	token := all * q.dim
	for t := first; t < first+n; {
		at := slot(slots, t)
		if at < 0 {
			t++
			continue
		}
		some, heads := max(1, min(len(memory)/token, together(&y.Operand, &from, slots, t, first+n-t))), min(all, len(memory)/q.dim)
		for h := 0; h < all; h += heads {
			count := min(heads, all-h)
			from.Heads = count
			xAt, yAt := from.Token(t)+h*from.HeadStride, y.Token(at)+h*y.HeadStride
			q.prepare(&scratch, &from, xAt, some, table, t-first, full)
			next := uintptr(from.Data) + uintptr((xAt+some*from.TokenStride)*int(from.Kind.Size())) // what follows, if anything does
			ahead := int(next - uintptr(scratch.Data))
			if y.TokenStride == count*y.HeadStride { // heads of all tokens are equally far apart
				y.quantize(yAt, q.dim, count*some, scratch.Float32s(0), q.dim, ahead)
				continue
			}
			for i := range some {
				y.quantize(yAt+i*y.TokenStride, q.dim, count, scratch.Float32s(i*count*q.dim), q.dim, ahead)
			}
		}
		t += some
	}
}

// rotateQuantizeTokens rotates the heads of n tokens from element xAt of x on and quantizes them
// into y from element yAt on. Row first+t of table is that of token t.
func (q *quantization) rotateQuantizeTokens(y *quantizedOperand, x *view.Operand, yAt, xAt, n int, table *cossin.Table, first int) {
	var k kernels.Rotation
	k.Pairs, k.Partner, k.TableStride = q.dim/2, q.dim/2, table.Stride
	k.XTokenStride, k.XHeadStride = x.TokenStride, x.HeadStride
	size := int(y.Kind.Size())
	k.YTokenStride, k.YHeadStride = y.TokenStride*size, y.HeadStride*size
	heads, tokens := x.Heads, n
	if heads*tokens*q.dim > kernels.MaxCallElements {
		heads, tokens = min(heads, kernels.MaxCallElements/q.dim), max(1, kernels.MaxCallElements/(heads*q.dim))
	}
	for t := 0; t < n; t += tokens {
		k.Tokens = min(tokens, n-t)
		at := (first + t) * table.Stride
		cos, sin := table.Cos[at:], table.Sin[at:]
		for h := 0; h < x.Heads; h += heads {
			k.Heads = min(heads, x.Heads-h)
			to := yAt + t*y.TokenStride + h*y.HeadStride
			rotateQuantize(y.Kind, y.bytes(to), y.scalesFrom(to, q.dim), x.Float32s(xAt+t*x.TokenStride+h*x.HeadStride), cos, sin, &k, y.scale, q.rotation.out)
		}
	}
}

// rotateQuantize calls the kernel that rotates heads of x and quantizes them into y, numbers of
// that kind. The strides of y in k are in bytes.
func rotateQuantize(kind kernels.Kind, y []uint8, scales, x, cos, sin []float32, k *kernels.Rotation, scale float32, order view.Order) {
	impl, halfSplit := dispatch.Implementation(), order == view.HalfSplit
	switch {
	case kind == kernels.Q8 && halfSplit:
		kernels.RotateQuantizeHalfSplitF32ToQ8(impl, y, x, cos, sin, k)
	case kind == kernels.Q8:
		kernels.RotateQuantizeInterleavedF32ToQ8(impl, y, x, cos, sin, k)
	case kind == kernels.Int8 && halfSplit:
		kernels.RotateQuantizeRowHalfSplitF32ToI8(impl, *(*[]int8)(unsafe.Pointer(&y)), scales, x, cos, sin, k)
	case kind == kernels.Int8:
		kernels.RotateQuantizeRowInterleavedF32ToI8(impl, *(*[]int8)(unsafe.Pointer(&y)), scales, x, cos, sin, k)
	case scales != nil && halfSplit:
		kernels.RotateQuantizeRowHalfSplitF32ToE4M3(impl, y, scales, x, cos, sin, k)
	case scales != nil:
		kernels.RotateQuantizeRowInterleavedF32ToE4M3(impl, y, scales, x, cos, sin, k)
	case kind == kernels.E4M3 && halfSplit:
		kernels.RotateQuantizeScaledHalfSplitF32ToE4M3(impl, y, x, cos, sin, k, scale)
	case kind == kernels.E4M3:
		kernels.RotateQuantizeScaledInterleavedF32ToE4M3(impl, y, x, cos, sin, k, scale)
	case halfSplit:
		kernels.RotateQuantizeScaledHalfSplitF32ToE5M2(impl, y, x, cos, sin, k, scale)
	default:
		kernels.RotateQuantizeScaledInterleavedF32ToE5M2(impl, y, x, cos, sin, k, scale)
	}
}

// quantize quantizes heads of x, dim elements each and stride elements apart, into y from
// element at on. Meanwhile it fetches memory that many bytes ahead.
func (y *quantizedOperand) quantize(at, dim, heads int, x []float32, stride, ahead int) {
	v := kernels.Conversion{Len: dim, Count: heads, XStride: stride, YStride: y.HeadStride * int(y.Kind.Size()), Ahead: ahead}
	quantize(y.Kind, y.bytes(at), y.scalesFrom(at, dim), x, &v, y.scale)
}

// quantize calls the kernel that quantizes heads of x into y, numbers of that kind. The stride
// of y in v is in bytes.
func quantize(kind kernels.Kind, y []uint8, scales, x []float32, v *kernels.Conversion, scale float32) {
	impl := dispatch.Implementation()
	switch {
	case kind == kernels.Q8:
		if v.XStride == v.Len && v.YStride == v.Len/generic.Q8Block*generic.Q8Bytes { // blocks one after another
			v.Len, v.Count = v.Count*v.Len, 1
		}
		kernels.QuantizeF32ToQ8(impl, y, x, v)
	case kind == kernels.Int8:
		v.ScaleStride = v.YStride / v.Len
		kernels.QuantizeRowF32ToI8(impl, *(*[]int8)(unsafe.Pointer(&y)), scales, x, v)
	case scales != nil:
		v.ScaleStride = v.YStride / v.Len
		kernels.QuantizeRowF32ToE4M3(impl, y, scales, x, v)
	case kind == kernels.E4M3:
		kernels.QuantizeF32ToE4M3(impl, y, x, v, scale)
	default:
		kernels.QuantizeF32ToE5M2(impl, y, x, v, scale)
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
