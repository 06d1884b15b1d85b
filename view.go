package posenc

import (
	"unsafe"

	"github.com/go-posenc/posenc/internal/view"
)

// View describes Q, K or other vectors as heads of HeadDim elements. Each token has one or
// more heads, and head h of token t is
//
//	Data[t*TokenStride+h*HeadStride:][:HeadDim]
//
// All counts and strides are in elements. The Angles set HeadDim and the number of tokens of a
// call. Functions without Angles take HeadDim from their arguments (a headDim, a norm), and the
// number of tokens too. Heads is at least 1, and the other numbers are not negative.
//
// If both strides are 0, the view is packed: Data holds exactly tokens*Heads*HeadDim
// elements. Otherwise it is strided, and a stride of 0 means what it is in a packed view. Heads
// must not overlap. For [Heads][tokens][HeadDim] set both strides, TokenStride to HeadDim and
// HeadStride to tokens*HeadDim.
//
// A call must be for all tokens of a view: a call for fewer is an error too. A strided view has
// as many as Data has room for: the largest n for which no two heads overlap and
//
//	(n-1)*TokenStride + (Heads-1)*HeadStride + HeadDim <= len(Data)
//
// so Data may end with the last head, or with padding behind it. Where HeadStride is the larger
// stride and Heads above 1, heads of n tokens do not overlap if (n-1)*TokenStride + HeadDim <= HeadStride.
//
// Set Tokens for the first tokens of a longer Data, such as a buffer with room for more tokens.
// The call must have that number too. Data then has at least the elements of these tokens, and
// may have more, in packed views too.
//
// A cache whose slots a call is given is different: it has room for the slots, and may have
// room for more. Its Tokens must be 0.
//
// With SequenceStride the tokens come in sequences of SequenceTokens tokens each, one
// after another: token t is token t%SequenceTokens of sequence t/SequenceTokens, and each
// sequence starts SequenceStride elements after the one before. Only shapes like
// [batch][Heads][tokens][HeadDim], or a paged cache, need it. Data has room for whole
// sequences, counted in the same way, and Tokens is the tokens of all of them.
type View[T Quantized | byte] struct {
	Data        []T
	Heads       int // heads per token
	Tokens      int // tokens of the view; 0 means all that Data has room for
	TokenStride int // elements from token to token; 0 means Heads*HeadDim
	HeadStride  int // elements from head to head; 0 means HeadDim

	SequenceTokens int // tokens of a sequence if SequenceStride is set; otherwise 0
	SequenceStride int // elements from sequence to sequence; 0 means that all tokens are one sequence
}

// checked returns views as package view checks them: the same fields.
func checked[T Element](xs []View[T]) []view.View[T] {
	return *(*[]view.View[T])(unsafe.Pointer(&xs))
}

// operandOf returns v as kernels take it.
func operandOf[T Element](v *View[T], dim int) view.Operand {
	return (*view.View[T])(v).Operand(kindOf[T](), dim)
}

// setOperand is operandOf without the data.
func setOperand[T Element](o *view.Operand, v *View[T], dim int) {
	(*view.View[T])(v).SetOperand(o, kindOf[T](), dim)
}
