package posenc_test

import (
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

var _ = testkit.Register(testkit.Case{Function: "PermuteWeights",
	Call: func(a *testkit.Arguments) testkit.Call {
		return []func(*testkit.Arguments) testkit.Call{permuteCall[float32], permuteCall[uint16], permuteCall[byte], permuteCall[[3]byte], permuteCall[[34]byte], permuteNothingCall}[a.Below(6)](a)
	},
	Digests: ofTypes("PermuteWeights", digestPermute[float32], digestPermute[posenc.Float16], digestPermute[posenc.BFloat16]),
})

// permutationOf returns one that mostly fits.
func permutationOf(a *testkit.Arguments) posenc.Permutation {
	p := posenc.Permutation{Heads: a.Number(1, 4), HeadDim: a.Number(8, 20), RotaryDim: a.Number(0, 4) &^ 1, Offset: a.Number(0, 3), Layout: allLayouts[a.Below(4)], RowSize: a.Number(0, 5)}
	if !a.Any() {
		p.Layout = posenc.InterleavedToHalfSplit + posenc.Layout(a.Below(2))
		if p.RotaryDim == 0 {
			p.Offset, p.HeadDim = 0, p.HeadDim&^1
		}
	}
	return p
}

func permuteCall[T comparable](a *testkit.Arguments) testkit.Call {
	p := permutationOf(a)
	n := a.Size(p.Heads, p.HeadDim, max(p.RowSize, 1))
	src := testkit.Slice[T](a, n)
	dst := src
	if a.Below(4) > 0 { // otherwise in place
		dst = testkit.Slice[T](a, n)
	}
	testkit.Writes(a, func(mark func(s []T)) { mark(dst) })
	width := p.HeadDim * rowSize(p)
	call := testkit.Call{
		Run: func() error { return posenc.PermuteWeights(dst, src, p) },
		Right: func() bool {
			small := func(x int) bool { return x <= 1<<20 }
			right := p.Heads >= 1 && p.HeadDim >= 1 && p.RowSize >= 0 && small(p.Heads) && small(p.HeadDim) && small(p.RowSize) &&
				p.RotaryDim >= 0 && p.RotaryDim%2 == 0 && rotaryDim(p)%2 == 0 && rotaryDim(p) <= p.HeadDim && p.Offset >= 0 && p.Offset <= p.HeadDim-rotaryDim(p) &&
				(p.Layout == posenc.InterleavedToHalfSplit || p.Layout == posenc.HalfSplitToInterleaved) && len(src) == sizeOf(p) && len(dst) == len(src)
			return right && (&dst[0] == &src[0] || apart(testkit.BytesOf(dst), testkit.BytesOf(src)))
		},
		Want: func() { copy(dst, permuted(src, p)) },
		Parts: testkit.RowParts([][]T{dst, src}, []int{width, width}, p.Heads, func(x [][]T, heads []int) error {
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
func permuteNothingCall(a *testkit.Arguments) testkit.Call {
	p := permutationOf(a)
	n := uint(max(p.Heads, 0)) * uint(max(p.HeadDim, 0)) * uint(max(p.RowSize, 1)) // may wrap
	weights := make([]struct{}, int(n&(1<<(unsafe.Sizeof(n)*8-1)-1)))
	return testkit.Call{Run: func() error { return posenc.PermuteWeights(weights, weights, p) }}
}

func digestPermute[T posenc.Element](d *testkit.Digest) {
	for i, layout := range []posenc.Layout{posenc.InterleavedToHalfSplit, posenc.HalfSplitToInterleaved} {
		for _, rowSize := range []int{0, 1, 5} {
			p := posenc.Permutation{Heads: 3, HeadDim: 20, Layout: layout, RowSize: rowSize}
			if i == 1 {
				p.RotaryDim, p.Offset = 12, 3
			}
			src := testkit.DigestElements[T](d, 60*max(1, rowSize))
			dst := make([]T, len(src))
			d.Must(posenc.PermuteWeights(dst, src, p))
			d.Must(posenc.PermuteWeights(src, src, p))
			d.Add(dst, src)
		}
	}
}
