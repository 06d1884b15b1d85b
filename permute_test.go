package posenc_test

import (
	"fmt"
	"log"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/kit"
)

func rotaryDim(p posenc.Permutation) int {
	if p.RotaryDim == 0 {
		return p.HeadDim
	}
	return p.RotaryDim
}

func rowSize(p posenc.Permutation) int { return max(p.RowSize, 1) }

func sizeOf(p posenc.Permutation) int { return p.Heads * p.HeadDim * rowSize(p) }

// swapAxes is reshape(a, b, c, d).transpose(1, 2) of numpy, flat again.
func swapAxes[T any](x []T, a, b, c, d int) []T {
	y := make([]T, 0, len(x))
	for i := range a {
		for k := range c {
			for j := range b {
				y = append(y, x[((i*b+j)*c+k)*d:][:d]...)
			}
		}
	}
	return y
}

// permuted is what PermuteWeights should make of x: on the rotated rows of each
// head convert_llama_weights_to_hf.py's
//
//	w.view(n_heads, dim1 // n_heads // 2, 2, dim2).transpose(1, 2)
//
// or llama.cpp's LlamaModel.permute,
//
//	weights.reshape(n_head, 2, weights.shape[0] // n_head // 2, *weights.shape[1:]).swapaxes(1, 2)
func permuted[T any](x []T, p posenc.Permutation) []T {
	y := slices.Clone(x)
	dim, size := rotaryDim(p), rowSize(p)
	for h := range p.Heads {
		at := (h*p.HeadDim + p.Offset) * size
		rows := x[at : at+dim*size]
		if p.Layout == posenc.InterleavedToHalfSplit {
			rows = swapAxes(rows, 1, dim/2, 2, size)
		} else {
			rows = swapAxes(rows, 1, 2, dim/2, size)
		}
		copy(y[at:], rows)
	}
	return y
}

func TestPermuteWeightsErrors(t *testing.T) {
	const toHalfSplit = posenc.InterleavedToHalfSplit
	memory := make([]uint32, 200)
	x := memory[:96]
	for i := range memory {
		memory[i] = uint32(i)
	}
	fails := kit.Failures(t, memory)
	fails(posenc.PermuteWeights(x, x, posenc.Permutation{}), posenc.ErrShape, "posenc.PermuteWeights: p.Heads is 0, want at least 1")
	fails(posenc.PermuteWeights(x, x, posenc.Permutation{Heads: 3, RotaryDim: 2, Layout: toHalfSplit}), posenc.ErrConfig, "posenc.PermuteWeights: p.HeadDim is 0")
	fails(posenc.PermuteWeights(x, x, posenc.Permutation{Heads: 3, HeadDim: 1, Layout: toHalfSplit}), posenc.ErrConfig, "posenc.PermuteWeights: p.RotaryDim is 1, want an even number from 2")
	fails(posenc.PermuteWeights(x, x, posenc.Permutation{Heads: 3, HeadDim: 7, Layout: toHalfSplit}), posenc.ErrConfig, "posenc.PermuteWeights: p.RotaryDim is 7, want an even number from 2 to HeadDim 7")
	fails(posenc.PermuteWeights(x, x, posenc.Permutation{Heads: 3, HeadDim: 8, RotaryDim: 10, Layout: toHalfSplit}), posenc.ErrConfig, "posenc.PermuteWeights: p.RotaryDim is 10")
	fails(posenc.PermuteWeights(x, x, posenc.Permutation{Heads: 3, HeadDim: 8, RotaryDim: 4, Offset: -1, Layout: toHalfSplit}), posenc.ErrConfig, "posenc.PermuteWeights: p.Offset is -1, want from 0 to HeadDim-RotaryDim = 4")
	fails(posenc.PermuteWeights(x, x, posenc.Permutation{Heads: 3, HeadDim: 8, RowSize: 4}), posenc.ErrConfig, "posenc.PermuteWeights: p.Layout is Layout(0), want InterleavedToHalfSplit (3) or HalfSplitToInterleaved (4)")
	fails(posenc.PermuteWeights(x, x, posenc.Permutation{Heads: 3, HeadDim: 8, RowSize: -4, Layout: toHalfSplit}), posenc.ErrShape, "posenc.PermuteWeights: p.RowSize is -4")
	fails(posenc.PermuteWeights(x, x, posenc.Permutation{Heads: math.MaxInt, HeadDim: 2, Layout: toHalfSplit}), posenc.ErrLength, "more than an int can count")
	fails(posenc.PermuteWeights(x, x, posenc.Permutation{Heads: 3, HeadDim: 8, RowSize: math.MaxInt, Layout: toHalfSplit}), posenc.ErrLength, "more than an int can count")
	fails(posenc.PermuteWeights(x, x, posenc.Permutation{Heads: 3, HeadDim: 8, Layout: toHalfSplit}), posenc.ErrLength, "posenc.PermuteWeights: src has 96 elements, want 24 for 3 heads of 8 rows of 1")
	fails(posenc.PermuteWeights(memory[:97], x, posenc.Permutation{Heads: 3, HeadDim: 8, RowSize: 4, Layout: toHalfSplit}), posenc.ErrLength, "posenc.PermuteWeights: dst has 97 elements, want 96")
	fails(posenc.PermuteWeights(memory[1:97], x, posenc.Permutation{Heads: 3, HeadDim: 8, RowSize: 4, Layout: toHalfSplit}), posenc.ErrOverlap, "posenc.PermuteWeights: dst is sharing some elements with src")
	p := posenc.Permutation{Heads: 3, HeadDim: 8, RowSize: 4, Layout: toHalfSplit}
	none := make([]struct{}, math.MaxInt/4*2) // elements without a size are as many as an int counts
	kit.NoError(t, posenc.PermuteWeights(memory[96:192], x, p), posenc.PermuteWeights(none, none, posenc.Permutation{Heads: math.MaxInt / 4, HeadDim: 2, Layout: toHalfSplit}))
}

// A key projection of Meta's Llama, for an engine that rotates HalfSplit. Rows are numbered by their
// place in the file. Then the queries of multi-head latent attention (DeepSeek V3): the rotated rows
// are the last of every head. In the model nope is 128 and rope 64; the one key, rows of
// kv_a_proj_with_mqa, is a head whose Offset is 512.
func ExamplePermuteWeights() {
	const keyHeads, headDim, features = 2, 6, 3
	weight := make([]float32, keyHeads*headDim*features)
	for i := range weight {
		weight[i] = float32(i / features)
	}
	err := posenc.PermuteWeights(weight, weight, posenc.Permutation{
		Heads: keyHeads, HeadDim: headDim, RowSize: features, Layout: posenc.InterleavedToHalfSplit,
	})
	if err != nil {
		log.Fatal(err)
	}
	for i := 0; i < len(weight); i += headDim * features {
		fmt.Println(weight[i : i+headDim*features])
	}

	const heads, nope, rope = 2, 2, 4
	queries := []posenc.BFloat16{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11} // rows of q_b_proj, of one element
	err = posenc.PermuteWeights(queries, queries, posenc.Permutation{
		Heads: heads, HeadDim: nope + rope, RotaryDim: rope, Offset: nope, Layout: posenc.InterleavedToHalfSplit,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(queries)
	// Output:
	// [0 0 0 2 2 2 4 4 4 1 1 1 3 3 3 5 5 5]
	// [6 6 6 8 8 8 10 10 10 7 7 7 9 9 9 11 11 11]
	// [0 1 2 4 3 5 6 7 8 10 9 11]
}

var _ = kit.Register(kit.Case{Function: "PermuteWeights",
	Call: func(a *kit.Arguments) kit.Call {
		return []func(*kit.Arguments) kit.Call{permuteCall[float32], permuteCall[uint16], permuteCall[byte], permuteCall[[3]byte], permuteCall[[34]byte], permuteNothingCall}[a.Below(6)](a)
	},
	Digests: ofTypes("PermuteWeights", digestPermute[float32], digestPermute[posenc.Float16], digestPermute[posenc.BFloat16]),
})

// permutationOf returns one that mostly fits.
func permutationOf(a *kit.Arguments) posenc.Permutation {
	p := posenc.Permutation{Heads: a.Number(1, 4), HeadDim: a.Number(8, 20), RotaryDim: a.Number(0, 4) &^ 1, Offset: a.Number(0, 3), Layout: allLayouts[a.Below(4)], RowSize: a.Number(0, 5)}
	if !a.Any() {
		p.Layout = posenc.InterleavedToHalfSplit + posenc.Layout(a.Below(2))
		if p.RotaryDim == 0 {
			p.Offset, p.HeadDim = 0, p.HeadDim&^1
		}
	}
	return p
}

func permuteCall[T comparable](a *kit.Arguments) kit.Call {
	p := permutationOf(a)
	n := a.Size(p.Heads, p.HeadDim, max(p.RowSize, 1))
	src := kit.Slice[T](a, n)
	dst := src
	if a.Below(4) > 0 { // otherwise in place
		dst = kit.Slice[T](a, n)
	}
	kit.Writes(a, func(mark func(s []T)) { mark(dst) })
	width := p.HeadDim * rowSize(p)
	call := kit.Call{
		Run: func() error { return posenc.PermuteWeights(dst, src, p) },
		Right: func() bool {
			small := func(x int) bool { return x <= 1<<20 }
			right := p.Heads >= 1 && p.HeadDim >= 1 && p.RowSize >= 0 && small(p.Heads) && small(p.HeadDim) && small(p.RowSize) &&
				p.RotaryDim >= 0 && p.RotaryDim%2 == 0 && rotaryDim(p)%2 == 0 && rotaryDim(p) <= p.HeadDim && p.Offset >= 0 && p.Offset <= p.HeadDim-rotaryDim(p) &&
				(p.Layout == posenc.InterleavedToHalfSplit || p.Layout == posenc.HalfSplitToInterleaved) && len(src) == sizeOf(p) && len(dst) == len(src)
			return right && (&dst[0] == &src[0] || apart(kit.BytesOf(dst), kit.BytesOf(src)))
		},
		Want: func() { copy(dst, permuted(src, p)) },
		Parts: kit.RowParts([][]T{dst, src}, []int{width, width}, p.Heads, func(x [][]T, heads []int) error {
			some := p
			some.Heads = len(heads)
			if &dst[0] == &src[0] {
				x[1] = x[0]
			}
			return posenc.PermuteWeights(x[0], x[1], some)
		}),
	}
	if len(dst) > 0 && len(src) > 0 && &dst[0] == &src[0] {
		call.Allocates = 1 << 20
	}
	return call
}

// permuteNothingCall permutes elements without memory, however many.
func permuteNothingCall(a *kit.Arguments) kit.Call {
	p := permutationOf(a)
	n := uint(max(p.Heads, 0)) * uint(max(p.HeadDim, 0)) * uint(max(p.RowSize, 1)) // may wrap
	weights := make([]struct{}, int(n&(1<<(unsafe.Sizeof(n)*8-1)-1)))
	return kit.Call{Run: func() error { return posenc.PermuteWeights(weights, weights, p) }}
}

func digestPermute[T posenc.Element](d *kit.Digest) {
	for i, layout := range []posenc.Layout{posenc.InterleavedToHalfSplit, posenc.HalfSplitToInterleaved} {
		for _, rowSize := range []int{0, 1, 5} {
			p := posenc.Permutation{Heads: 3, HeadDim: 20, Layout: layout, RowSize: rowSize}
			if i == 1 {
				p.RotaryDim, p.Offset = 12, 3
			}
			src := kit.DigestElements[T](d, 60*max(1, rowSize))
			dst := make([]T, len(src))
			d.Must(posenc.PermuteWeights(dst, src, p))
			d.Must(posenc.PermuteWeights(src, src, p))
			d.Add(dst, src)
		}
	}
}
