package posenc

import (
	"cmp"
	"unsafe"

	"github.com/go-posenc/posenc/internal/argument"
)

// Permutation says which rows of the weights of Q or K change places.
type Permutation struct {
	Heads     int    // heads of the projection; for K, the key heads
	HeadDim   int    // rows per head
	RotaryDim int    // rows of a head that are rotated, even; 0 means HeadDim
	Offset    int    // first rotated row of a head
	Layout    Layout // InterleavedToHalfSplit or HalfSplitToInterleaved
	RowSize   int    // elements of a row; 0 means 1
}

// PermuteWeights reorders the weights that make Q or K from one layout to the other. A
// model stored for [Interleaved] can then be rotated by [HalfSplit], or the reverse.
//
// With n = RotaryDim/2, i < n, and rows counted from the first rotated row of a head,
// Offset,
//
//	InterleavedToHalfSplit    dst[i], dst[i+n] = src[2i], src[2i+1]
//	HalfSplitToInterleaved    dst[2i], dst[2i+1] = src[i], src[i+n]
//
// All other rows are copied. Hugging Face's convert_llama_weights_to_hf.py does the first
// to Meta's Llama (permute). llama.cpp's convert_hf_to_gguf.py does the second on the way
// back (LlamaModel.permute).
//
// dst and src hold exactly Heads*HeadDim*RowSize elements:
//
//	weight, [Heads*HeadDim][RowSize]    RowSize the input features
//	bias, [Heads*HeadDim]               RowSize 1
//	norm of each head, [HeadDim]        Heads 1, RowSize 1 (Qwen3, Gemma 3)
//	norm of all heads, [Heads*HeadDim]  RowSize 1 (OLMo 2)
//
// For models that rotate only a part of each head (GPT-NeoX, GLM-4), set RotaryDim.
//
// docs/porting.md in the repository has the two weights of multi-head latent attention.
//
// Permute every weight, bias and norm between the input and the rotation, of both Q and K.
// The rotated Q and K then have the same elements in another order, bit for bit, and every
// q·k is the same sum in another order. (Only a norm may change bits: it adds up its
// squares in another order.) V and the output projection are not rotated and stay as they
// are.
//
// PermuteWeights moves elements and does not look at them, so T may be anything: a row of
// quantized weights may be RowSize bytes, or blocks. Permute the scales of rows like a
// bias. Where several rows share one scale, only rows of the same scale may change places.
//
// dst and src must be the same slice or share no memory. In place, a call allocates memory for
// the rotated rows of one head. Otherwise it allocates nothing. Errors wrap ErrConfig, ErrShape
// (Heads, RowSize), ErrLength or ErrOverlap.
func PermuteWeights[T any](dst, src []T, p Permutation) error {
	const function = "posenc.PermuteWeights"
	dim, size := cmp.Or(p.RotaryDim, p.HeadDim), cmp.Or(p.RowSize, 1)
	switch {
	case p.Heads < 1:
		return argument.Error(ErrShape, function, "p.Heads", p.Heads, "at least 1")
	case p.HeadDim < 1:
		return argument.Error(ErrConfig, function, "p.HeadDim", p.HeadDim, "at least 1")
	case dim < 2 || dim%2 != 0 || dim > p.HeadDim:
		return argument.Error(ErrConfig, function, "p.RotaryDim", dim, "an even number from 2 to HeadDim %d", p.HeadDim)
	case p.Offset < 0 || p.Offset > p.HeadDim-dim:
		return argument.Error(ErrConfig, function, "p.Offset", p.Offset, "from 0 to HeadDim-RotaryDim = %d", p.HeadDim-dim)
	case p.Layout != InterleavedToHalfSplit && p.Layout != HalfSplitToInterleaved:
		return argument.Error(ErrConfig, function, "p.Layout", p.Layout, "InterleavedToHalfSplit (%d) or HalfSplitToInterleaved (%d)", InterleavedToHalfSplit, HalfSplitToInterleaved)
	case size < 1:
		return argument.Error(ErrShape, function, "p.RowSize", p.RowSize, "at least 0")
	}
	rows, ok := argument.Multiply(p.Heads, p.HeadDim)
	need, fits := argument.Multiply(rows, size)
	switch {
	case !ok || !fits:
		return argument.Error(ErrLength, function, "src", argument.Elements(len(src)), "%d heads of %d rows of %d, more than an int can count", p.Heads, p.HeadDim, size)
	case len(src) != need:
		return argument.Error(ErrLength, function, "src", argument.Elements(len(src)), "%d for %d heads of %d rows of %d", need, p.Heads, p.HeadDim, size)
	case len(dst) != need:
		return argument.Error(ErrLength, function, "dst", argument.Elements(len(dst)), "%d as in src", need)
	case unsafe.Sizeof(src[0]) == 0:
		return nil // nothing to move, however many
	}
	inPlace := &dst[0] == &src[0]
	if argument.Overlap(dst, src) && !inPlace {
		return argument.Error(ErrOverlap, function, "dst", "sharing some elements with src", "src itself or a separate slice")
	}

	var scratch []T
	if inPlace {
		scratch = make([]T, dim*size)
	}
	for h := range p.Heads {
		start, end := h*p.HeadDim*size, (h+1)*p.HeadDim*size
		first := start + p.Offset*size
		last := first + dim*size
		from := src[first:last]
		if inPlace {
			copy(scratch, from)
			from = scratch
		} else {
			copy(dst[start:first], src[start:first])
			copy(dst[last:end], src[last:end])
		}
		permuteRows(dst[first:last], from, size, dim/2, p.Layout)
	}
	return nil
}

func permuteRows[T any](dst, src []T, size, pairs int, layout Layout) {
	row := func(s []T, i int) []T { return s[i*size:][:size] }
	for i := range pairs {
		if layout == InterleavedToHalfSplit {
			copy(row(dst, i), row(src, 2*i))
			copy(row(dst, i+pairs), row(src, 2*i+1))
		} else {
			copy(row(dst, 2*i), row(src, i))
			copy(row(dst, 2*i+1), row(src, i+pairs))
		}
	}
}
