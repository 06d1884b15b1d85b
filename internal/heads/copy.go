package heads

import (
	"unsafe"

	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// copyHeads copies the heads of n tokens that lie one after another, dim elements each, rounding once where y has
// fewer bits.
func copyHeads(y, x *view.Operand, yAt, xAt, n, dim int) {
	if dim == 1 && x.HeadStride == 1 && y.HeadStride > 1 {
		copyTransposed(y, x, yAt, xAt, n)
		return
	}
	length, count := dim, x.Heads
	if x.HeadStride == dim && y.HeadStride == dim {
		length, count = dim*x.Heads, 1
	}
	for t := range n {
		for h := range count {
			view.Convert(y, x, yAt+t*y.TokenStride+h*y.HeadStride, xAt+t*x.TokenStride+h*x.HeadStride, length)
		}
	}
}

// copyFloat32s is copyHeads for v.Count heads of float32 and numbers of that kind from the first of y on. The
// stride of y in v is in bytes.
func copyFloat32s(kind kernels.Kind, y []uint8, x []float32, v *kernels.Conversion) {
	from, size := view.Over(x), int(kind.Size())
	from.Heads, from.HeadStride = v.Count, v.XStride
	to := view.Operand{Data: unsafe.Pointer(unsafe.SliceData(y)), Length: len(y) / size, Kind: kind, HeadStride: v.YStride / size}
	copyHeads(&to, &from, 0, 0, 1, v.Len)
}

// copyTransposed is copyHeads for heads of one element: in a transposed cache those of a token are far apart, and
// those of neighbouring tokens are neighbours.
func copyTransposed(y, x *view.Operand, yAt, xAt, n int) {
	const tokens, elements = 32, 64 // tokens fill a cache line of 16-bit numbers
	var memory [tokens * elements]float32
	block := view.Over(memory[:])
	block.Kind = y.Kind
	for t := 0; t < n; t += tokens {
		some := min(tokens, n-t)
		for h := 0; h < x.Heads; h += elements {
			count := min(elements, x.Heads-h)
			for i := range some {
				view.Convert(&block, x, i*elements, xAt+(t+i)*x.TokenStride+h, count)
			}
			to := yAt + t*y.TokenStride + h*y.HeadStride
			if y.Kind.Size() == 4 {
				transpose(y.Words(to), block.Words(0), count, some, y.HeadStride, y.TokenStride, elements)
			} else {
				transpose(y.Bits(to), block.Bits(0), count, some, y.HeadStride, y.TokenStride, elements)
			}
		}
	}
}

func transpose[T uint16 | uint32](y, x []T, heads, tokens, headStride, tokenStride, xTokenStride int) {
	for h := range heads {
		to := y[h*headStride:]
		for t := range tokens {
			to[t*tokenStride] = x[t*xTokenStride+h]
		}
	}
}
