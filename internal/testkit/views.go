package testkit

import (
	"math/rand/v2"

	"github.com/go-posenc/posenc"
)

// RowAt returns where head h of token t starts.
func RowAt[T posenc.Element](v *posenc.View[T], t, h, headDim int) int {
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
func ReachOf[T posenc.Element](v *posenc.View[T], tokens, headDim int) int {
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
func RandomShape[T posenc.Element](r *rand.Rand, tokens, heads, headDim int) (v posenc.View[T]) {
	v.Heads = heads
	sequence := 1 + r.IntN(max(1, tokens))
	for tokens%sequence != 0 {
		sequence--
	}
	gap := r.IntN(3) * r.IntN(6)
	switch r.IntN(7) {
	case 0: // [tokens][heads][dim]
	case 1: // packed QKV
		v.TokenStride = (heads+r.IntN(3))*headDim + gap
	case 2: // [heads][tokens][dim]
		v.TokenStride, v.HeadStride = headDim, max(1, tokens)*headDim+gap
	case 3:
		v.HeadStride = headDim + gap
		v.TokenStride = heads*v.HeadStride + gap
	case 4: // [batch][heads][tokens][dim]
		v.SequenceTokens, v.TokenStride, v.HeadStride = sequence, headDim, sequence*headDim+gap
		v.SequenceStride = heads*v.HeadStride + gap
	case 5: // [tokens][batch][heads][dim]
		v.SequenceTokens, v.SequenceStride = sequence, heads*headDim+gap
		v.TokenStride = max(1, tokens/sequence)*v.SequenceStride + gap
	case 6: // [heads][batch][tokens][dim]
		v.SequenceTokens, v.TokenStride, v.SequenceStride = sequence, headDim+gap, sequence*(headDim+gap)
		v.HeadStride = max(1, tokens/sequence) * v.SequenceStride
	}
	return v
}
