package relative_test

import (
	"fmt"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/kit"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/measure"
	"github.com/go-posenc/posenc/relative"
)

// BenchmarkAddBias adds biases to tiles of scores of 32 heads, as a share of the
// speed of adding a constant to the same bytes in place.
func BenchmarkAddBias(b *testing.B) {
	const heads = 32
	slopes := make([]float32, heads)
	t5 := kit.Must(relative.NewT5Bias(mustT5Buckets(32, 128, true), make([]float32, 32*heads)))
	windows := map[int]*relative.SwinBias{}
	for _, side := range []int{7, 12, 32} {
		windows[side*side] = mustSwinBias(side, side, make([]float32, (2*side-1)*(2*side-1)*heads))
	}
	for _, shape := range []struct {
		queries, keys int
		swin          bool
	}{{1, 4096, false}, {64, 256, false}, {512, 2048, false}, {49, 49, true}, {144, 144, true}, {1024, 1024, true}} {
		s := relative.Scores{Data: kit.Aligned(heads * shape.queries * shape.keys), Heads: heads, Queries: shape.queries, Keys: shape.keys}
		for _, call := range []struct {
			family string
			swin   bool
			run    func()
		}{
			{"alibi", false, func() { relative.AddALiBi(s, slopes, relative.CausalALiBi) }},
			{"alibi-symmetric", false, func() { relative.AddALiBi(s, slopes, relative.SymmetricALiBi) }},
			{"t5", false, func() { relative.AddT5(s, t5) }},
			{"swin", true, func() { relative.AddSwin(s, windows[shape.keys]) }},
		} {
			if call.swin == shape.swin {
				b.Run(fmt.Sprintf("family=%s/queries=%d/keys=%d/heads=%d", call.family, shape.queries, shape.keys, heads), func(b *testing.B) {
					kit.BenchmarkEach(b, func(b *testing.B) {
						measure.Against(b, "of-constant", call.run, measure.Over(s.Data[:len(s.Data)/64*64], "add", dispatch.Implementation())...)
					})
				})
			}
		}
	}
}

// BenchmarkProducts reports the products of 12 heads of 64 with vectors of their own, and values of
// them, as a share of the speed of scaling as many bytes as the vectors have in place.
func BenchmarkProducts(b *testing.B) {
	const heads, dim = 12, 64
	for _, shape := range []relative.ProductShape{{1, 33, dim}, {1, 1024, dim}, {1, 16384, dim}, {128, 33, dim}, {128, 1024, dim}} {
		x, vectors := posenc.View[float32]{Data: kit.Aligned(shape.Tokens * heads * dim), Heads: heads}, posenc.View[float32]{Data: kit.Aligned(shape.Columns * heads * dim), Heads: heads}
		products, bias := relative.Products{Data: kit.Aligned(heads * shape.Tokens * shape.Columns)}, kit.Aligned(heads*dim)
		for _, call := range []struct {
			operation string
			run       func()
		}{
			{"values", func() { relative.AddValues(x, products, vectors, shape) }}, // of zeros, so that x does not grow
			{"products", func() { relative.DotProducts(products, x, nil, vectors, shape) }},
			{"biased", func() { relative.DotProducts(products, x, bias, vectors, shape) }},
		} {
			b.Run(fmt.Sprintf("operation=%s/tokens=%d/columns=%d/heads=%d/dim=%d", call.operation, shape.Tokens, shape.Columns, heads, dim), func(b *testing.B) {
				kit.BenchmarkEach(b, func(b *testing.B) {
					clear(products.Data)
					measure.Against(b, "of-scale", call.run, measure.Over(vectors.Data, "scale", dispatch.Implementation())...)
				})
			})
		}
	}
}
