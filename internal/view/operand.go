package posenc

import (
	"unsafe"

	"github.com/go-posenc/posenc/kernels"
)

// operand is the rows of a View, the type of their elements forgotten, so that
// one body serves all types.
type operand struct {
	data           unsafe.Pointer
	length         int
	kind           kind
	heads          int
	headStride     int
	tokenStride    int
	sequenceTokens int // 0: all tokens
	sequenceStride int
}

func operandOf[T Element](v *View[T], dim int) operand {
	var o operand
	setView(&o, v, dim)
	o.data = unsafe.Pointer(unsafe.SliceData(v.Data))
	return o
}

// setView sets o to the rows of v but for the data: set here, it would move to the
// heap. (A call for one token sets its operands field by field: copying what was
// just written takes longer.)
func setView[T Element](o *operand, v *View[T], dim int) {
	o.length, o.kind = len(v.Data), kindOf[T]()
	o.heads, o.headStride, o.tokenStride = v.Heads, v.HeadStride, v.TokenStride
	o.sequenceTokens, o.sequenceStride = v.SequenceTokens, v.SequenceStride
	if o.headStride == 0 {
		o.headStride = dim
	}
	if o.tokenStride == 0 {
		o.tokenStride = v.Heads * dim
	}
}

// operandOver returns an operand for s alone.
func operandOver(s []float32) operand {
	return operand{data: unsafe.Pointer(unsafe.SliceData(s)), length: len(s), kind: kindFloat32}
}

// token returns the element where the rows of token t start.
func (o *operand) token(t int) int {
	if o.sequenceTokens == 0 {
		return t * o.tokenStride
	}
	return t/o.sequenceTokens*o.sequenceStride + t%o.sequenceTokens*o.tokenStride
}

// together returns how many of n tokens from t on are in the sequence of t.
func (o *operand) together(t, n int) int {
	if o.sequenceTokens == 0 {
		return n
	}
	return min(n, o.sequenceTokens-t%o.sequenceTokens)
}

// float32s returns the elements from number at on.
func (o *operand) float32s(at int) []float32 {
	return unsafe.Slice((*float32)(o.data), o.length)[at:]
}

// words returns the bits of the float32 elements from number at on.
func (o *operand) words(at int) []uint32 {
	return unsafe.Slice((*uint32)(o.data), o.length)[at:]
}

// bits returns the 16-bit elements from number at on.
func (o *operand) bits(at int) []uint16 {
	return unsafe.Slice((*uint16)(o.data), o.length)[at:]
}

// overlaps reports whether the memory of two operands meets.
func (o *operand) overlaps(other *operand) bool {
	a, b := uintptr(o.data), uintptr(other.data)
	return a < b+uintptr(other.length)*other.kind.size() && b < a+uintptr(o.length)*o.kind.size()
}

// reorder copies the pairs of a row from one order to another.
func reorder(y, x *operand, yAt, xAt, pairs int, in, out Layout) {
	switch {
	case in == out:
		convert(y, x, yAt, xAt, 2*pairs)
	case x.kind == kindFloat32 && in == Interleaved:
		kernels.DeinterleaveB32(implementation, y.words(yAt)[:2*pairs], x.words(xAt)[:2*pairs])
	case x.kind == kindFloat32:
		kernels.InterleaveB32(implementation, y.words(yAt)[:2*pairs], x.words(xAt)[:2*pairs])
	case in == Interleaved:
		kernels.DeinterleaveB16(implementation, y.bits(yAt)[:2*pairs], x.bits(xAt)[:2*pairs])
	default:
		kernels.InterleaveB16(implementation, y.bits(yAt)[:2*pairs], x.bits(xAt)[:2*pairs])
	}
}

// reorderFloat32s copies the pairs of x from one order to another.
func reorderFloat32s(y, x []float32, in, out Layout) {
	to, from := operandOver(y), operandOver(x)
	reorder(&to, &from, 0, 0, len(x)/2, in, out)
}

// convert copies n elements of x to y, rounding once where y has fewer bits.
func convert(y, x *operand, yAt, xAt, n int) {
	for ; n > callElements; n -= callElements {
		convert(y, x, yAt, xAt, callElements)
		yAt += callElements
		xAt += callElements
	}
	switch {
	case x.kind == y.kind && x.kind == kindFloat32:
		copy(y.float32s(yAt)[:n], x.float32s(xAt))
	case x.kind == y.kind:
		copy(y.bits(yAt)[:n], x.bits(xAt))
	case x.kind == kindFloat16 && y.kind == kindFloat32:
		kernels.ConvertF16ToF32(implementation, y.float32s(yAt)[:n], x.bits(xAt)[:n])
	case x.kind == kindBFloat16 && y.kind == kindFloat32:
		kernels.ConvertBF16ToF32(implementation, y.float32s(yAt)[:n], x.bits(xAt)[:n])
	case x.kind == kindFloat32 && y.kind == kindFloat16:
		kernels.ConvertF32ToF16(implementation, y.bits(yAt)[:n], x.float32s(xAt)[:n])
	case x.kind == kindFloat32:
		kernels.ConvertF32ToBF16(implementation, y.bits(yAt)[:n], x.float32s(xAt)[:n])
	default:
		var memory [chunkPairs]float32
		wide := operandOver(memory[:])
		for done := 0; done < n; done += chunkPairs {
			count := min(chunkPairs, n-done)
			convert(&wide, x, 0, xAt+done, count)
			convert(y, &wide, yAt+done, 0, count)
		}
	}
}
