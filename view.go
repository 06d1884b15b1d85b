package posenc

import (
	"unsafe"

	"github.com/go-posenc/posenc/internal/view"
)

// View describes Q, K or other vectors as heads of HeadDim elements, one or more for
// each token: head h of token t is
//
//	Data[t*TokenStride+h*HeadStride:][:HeadDim]
//
// Units are elements. HeadDim is that of the Angles, or the headDim or the norm of
// a call. There are as many tokens as the Angles have, or as a call says.
// Heads is at least 1; strides are not negative.
//
// Packed, with both strides 0, Data holds exactly tokens*Heads*HeadDim
// elements. Strided, it holds at least those up to the last element of the last
// head; a stride left 0 means what it is when packed. Heads must not overlap:
// for [heads][tokens][HeadDim] set both strides, TokenStride to HeadDim and
// HeadStride to tokens*HeadDim.
//
// With SequenceStride the tokens come in sequences of SequenceTokens, one after
// the other: token t is number t%SequenceTokens of sequence t/SequenceTokens,
// and a sequence starts SequenceStride after the one before. Only shapes like
// [batch][heads][tokens][HeadDim], or a paged cache, need it.
type View[T Element | Quantized] struct {
	Data        []T
	Heads       int // heads per token
	TokenStride int // elements from token to token; 0 means Heads*HeadDim
	HeadStride  int // elements from head to head; 0 means HeadDim

	SequenceTokens int // tokens of a sequence, where SequenceStride is set; 0 otherwise
	SequenceStride int // elements from sequence to sequence; 0: all tokens are one sequence
}

// checked returns views as package view checks them: the same fields.
func checked[T Element](xs []View[T]) []view.View[T] {
	return unsafe.Slice((*view.View[T])(unsafe.SliceData(xs)), len(xs))
}

// operandOf returns v as kernels take it.
func operandOf[T Element](v *View[T], dim int) view.Operand {
	return (*view.View[T])(v).Operand(kindOf[T](), dim)
}

// setOperand is operandOf but for the data.
func setOperand[T Element](o *view.Operand, v *View[T], dim int) {
	(*view.View[T])(v).SetOperand(o, kindOf[T](), dim)
}
