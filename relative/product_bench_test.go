package relative_test

import (
	"fmt"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/measure"
	"github.com/go-posenc/posenc/relative"
)

// BenchmarkProducts reports the products of 12 heads of 64 with vectors of their own,
// and values of them, against plain loops; of one token, which reads each vector once,
// also as a share of the speed of scaling as many bytes in place.
func BenchmarkProducts(b *testing.B) {
	const heads, dim = 12, 64
	for _, biased := range []bool{false, true} {
		for _, shape := range []struct{ tokens, columns int }{{1, 33}, {1, 1024}, {1, 16384}, {128, 33}, {128, 1024}} {
			tokens, columns := shape.tokens, shape.columns
			x, vectors := posenc.View[float32]{Data: testkit.Aligned(tokens * heads * dim), Heads: heads}, posenc.View[float32]{Data: testkit.Aligned(columns * heads * dim), Heads: heads}
			products := relative.Products{Data: testkit.Aligned(heads * tokens * columns)}
			var bias []float32
			if biased {
				bias = testkit.Aligned(heads * dim)
			}
			run := func(operation string, call, loop func()) {
				b.Run(fmt.Sprintf("operation=%s/tokens=%d/columns=%d/heads=%d/dim=%d", operation, tokens, columns, heads, dim), func(b *testing.B) {
					b.Run("against=loop", func(b *testing.B) {
						testkit.BenchmarkEach(b, func(b *testing.B) { measure.Against(b, "of-loop", call, loop) })
					})
					if tokens > 1 {
						return
					}
					b.Run("against=scale", func(b *testing.B) {
						testkit.BenchmarkEach(b, func(b *testing.B) {
							measure.Against(b, "of-scale", call, measure.Over(vectors.Data, "scale", dispatch.Implementation())...)
						})
					})
				})
			}
			name := "products"
			if biased {
				name = "biased"
			}
			run(name, func() {
				relative.DotProducts(products, x, bias, vectors, relative.ProductShape{Tokens: tokens, Columns: columns, HeadDim: dim})
			}, func() {
				for h := range heads {
					for t := range tokens {
						for c := range columns {
							products.Data[(h*tokens+t)*columns+c] = dotLoop(x.Data[(t*heads+h)*dim:][:dim], vectors.Data[(c*heads+h)*dim:][:dim])
						}
					}
				}
			})
			if biased {
				continue
			}
			for i := range products.Data {
				products.Data[i] = 0x1p-20 // out does not grow out of range
			}
			run("values", func() {
				relative.AddValues(x, products, vectors, relative.ProductShape{Tokens: tokens, Columns: columns, HeadDim: dim})
			}, func() {
				for h := range heads {
					for t := range tokens {
						for c := range columns {
							multipleLoop(x.Data[(t*heads+h)*dim:][:dim], vectors.Data[(c*heads+h)*dim:][:dim], products.Data[(h*tokens+t)*columns+c])
						}
					}
				}
			})
		}
	}
}

// dotLoop and multipleLoop are what one would write.
func dotLoop(x, y []float32) (sum float32) {
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

func multipleLoop(y, x []float32, factor float32) {
	for i, v := range x {
		y[i] += factor * v
	}
}
