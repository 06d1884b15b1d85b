package view

import (
	"unsafe"

	"github.com/go-posenc/posenc/kernels"
)

// Operand is a View, the type of its elements forgotten, so that one body serves all types.
type Operand struct {
	Data           unsafe.Pointer
	Length         int // elements
	Kind           kernels.Kind
	Heads          int
	HeadStride     int
	TokenStride    int
	SequenceTokens int // 0: all tokens
	SequenceStride int
}

// Operand returns the vectors of v, of dim elements each of the given kind.
func (v *View[T]) Operand(kind kernels.Kind, dim int) Operand {
	var o Operand
	v.SetOperand(&o, kind, dim)
	o.Data = unsafe.Pointer(unsafe.SliceData(v.Data))
	return o
}

// SetOperand sets o to the vectors of v without the data: set here, it would move to the
// heap. (A call for one token sets its operands field by field: copying what was
// just written takes longer.)
func (v *View[T]) SetOperand(o *Operand, kind kernels.Kind, dim int) {
	o.Length, o.Kind = len(v.Data), kind
	o.Heads, o.HeadStride, o.TokenStride = v.Heads, v.HeadStride, v.TokenStride
	o.SequenceTokens, o.SequenceStride = v.SequenceTokens, v.SequenceStride
	if o.HeadStride == 0 {
		o.HeadStride = dim
	}
	if o.TokenStride == 0 {
		o.TokenStride = v.Heads * dim
	}
}

// Over returns an Operand for s alone.
func Over(s []float32) Operand {
	return Operand{Data: unsafe.Pointer(unsafe.SliceData(s)), Length: len(s), Kind: kernels.KindFloat32}
}

// Token returns the element where the vectors of token t start.
func (o *Operand) Token(t int) int {
	if o.SequenceTokens == 0 {
		return t * o.TokenStride
	}
	return t/o.SequenceTokens*o.SequenceStride + t%o.SequenceTokens*o.TokenStride
}

// From returns the operand without its first n elements.
func (o *Operand) From(n int) Operand {
	rest := *o
	if n < o.Length {
		rest.Data, rest.Length = unsafe.Add(o.Data, n*int(o.Kind.Size())), o.Length-n
	} else { // no pointer behind the end
		rest.Data, rest.Length = nil, 0
	}
	return rest
}

// Together returns how many of n tokens from t on are in the sequence of t.
func (o *Operand) Together(t, n int) int {
	if o.SequenceTokens == 0 {
		return n
	}
	return min(n, o.SequenceTokens-t%o.SequenceTokens)
}

// Float32s returns the elements from number at on.
func (o *Operand) Float32s(at int) []float32 {
	return unsafe.Slice((*float32)(o.Data), o.Length)[at:]
}

// Words returns the bits of the float32 elements from number at on.
func (o *Operand) Words(at int) []uint32 {
	return unsafe.Slice((*uint32)(o.Data), o.Length)[at:]
}

// Bits returns the 16-bit elements from number at on.
func (o *Operand) Bits(at int) []uint16 {
	return unsafe.Slice((*uint16)(o.Data), o.Length)[at:]
}

// Memory returns the bytes of the operand.
func (o *Operand) Memory() []byte {
	return unsafe.Slice((*byte)(o.Data), o.Length*int(o.Kind.Size()))
}
