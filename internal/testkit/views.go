package testkit

import (
	"math/rand/v2"

	"github.com/go-posenc/posenc"
)

// Stored is what views have.
type Stored interface {
	posenc.Element | posenc.Quantized
}

// RowAt returns where head h of token t starts.
func RowAt[T Stored](v *posenc.View[T], t, h, headDim int) int {
	tokenStride, headStride := v.TokenStride, v.HeadStride
	if tokenStride == 0 {
		tokenStride = v.Heads * headDim
	}
	if headStride == 0 {
		headStride = headDim
	}
	start := 0
	if v.SequenceStride > 0 {
		start, t = t/v.SequenceTokens*v.SequenceStride, t%v.SequenceTokens
	}
	return start + t*tokenStride + h*headStride
}

// ReachOf returns the elements up to the end of the last row.
func ReachOf[T Stored](v *posenc.View[T], tokens, headDim int) int {
	reach := 0
	for t := range tokens {
		for h := range v.Heads {
			reach = max(reach, RowAt(v, t, h, headDim)+headDim)
		}
	}
	return reach
}

// RandomShape returns a view without data, packed, strided, with the heads
// outside or in sequences.
func RandomShape[T Stored](r *rand.Rand, tokens, heads, headDim int) posenc.View[T] {
	sequence := 1 + r.IntN(max(1, tokens))
	for tokens%sequence != 0 {
		sequence--
	}
	gap := r.IntN(3) * r.IntN(6)
	return shapeOf[T](r.IntN(7), tokens, heads, headDim, shapeOptions{sequence, r.IntN(3), gap, gap})
}

// shapeOptions are tokens of a sequence, heads of other vectors between those of tokens,
// and elements between heads and between whole rows of them.
type shapeOptions struct{ sequence, others, headGap, gap int }

// shapeOf returns a view without data, of one of seven kinds.
func shapeOf[T Stored](kind, tokens, heads, dim int, o shapeOptions) (v posenc.View[T]) {
	v.Heads = heads
	switch kind {
	case 0: // [tokens][heads][dim]
	case 1: // packed QKV
		v.TokenStride = (heads+o.others)*dim + o.gap
	case 2: // [heads][tokens][dim]
		v.TokenStride, v.HeadStride = dim, max(1, tokens)*dim+o.gap
	case 3: // gaps
		v.HeadStride = dim + o.headGap
		v.TokenStride = heads*v.HeadStride + o.gap
	case 4: // [batch][heads][tokens][dim]
		v.SequenceTokens, v.TokenStride, v.HeadStride = o.sequence, dim, o.sequence*dim+o.gap
		v.SequenceStride = heads*v.HeadStride + o.gap
	case 5: // [tokens][batch][heads][dim]
		v.SequenceTokens, v.SequenceStride = o.sequence, heads*dim+o.gap
		v.TokenStride = max(1, tokens/o.sequence)*v.SequenceStride + o.gap
	case 6: // [heads][batch][tokens][dim]
		v.SequenceTokens, v.TokenStride, v.SequenceStride = o.sequence, dim+o.gap, o.sequence*(dim+o.gap)
		v.HeadStride = max(1, tokens/o.sequence) * v.SequenceStride
	}
	return v
}
