package heads

import (
	"github.com/go-posenc/posenc/internal/view"
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

// copyTransposed is copyHeads for heads of one element: in a transposed cache those of a token are far apart, and
// those of neighbouring tokens are neighbours.
func copyTransposed(y, x *view.Operand, yAt, xAt, n int) {
	const tokens, elements = 16, 128 // which fit the L1 cache twice
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
