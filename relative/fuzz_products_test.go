package posenc

import (
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/kernels"
)

// FuzzProducts multiplies rows of any bits with vectors, and adds values of them, in
// any shape, on every implementation: the same error and untouched data, or the bits of
// the definition.
func FuzzProducts(f *testing.F) {
	f.Add(uint8(3), 5, uint8(9), uint16(64), 0, 0, uint8(3), 0, 0, 0, 0, uint8(1), []byte("some data here.."))
	f.Add(uint8(2), 4, uint8(33), uint16(16), 40, 200, uint8(1), 20, 0, 35, 150, uint8(2), []byte{0, 0, 128, 127, 1, 0, 0, 0})
	f.Add(uint8(1), 1, uint8(1), uint16(1024), 0, 0, uint8(1), 0, 0, 0, 0, uint8(0), []byte{0, 0, 0, 128, 0, 0, 192, 127})
	f.Add(uint8(7), 9, uint8(6), uint16(7), 49, 7, uint8(7), 49, 7, 0, 3, uint8(9), []byte{255, 255, 127, 127})
	f.Add(uint8(0), -3, uint8(0), uint16(0), math.MaxInt, -1, uint8(4), math.MinInt, 1, math.MaxInt, -1, uint8(255), []byte(nil))
	f.Fuzz(func(t *testing.T, heads uint8, tokens int, columns uint8, dim uint16, tokenStride, headStride int, vectorHeads uint8, vectorStride, vectorHeadStride, rowStride, productHeadStride int, mode uint8, data []byte) {
		const most = 1 << 14
		if tokens %= 64; int(columns)*int(dim) > most {
			return // slow
		}
		memory := func(packed bool, numbers ...int) []float32 {
			size := most
			if n := small(numbers...); packed {
				size = n
			}
			s := make([]float32, int(mode%16)+size)
			repeat32(s, data)
			return s[mode%16:]
		}
		c := &relativeCase{
			x:        View[float32]{Data: memory(tokenStride|headStride == 0, int(heads), max(tokens, 0), int(dim)), Heads: int(heads), TokenStride: tokenStride, HeadStride: headStride},
			vectors:  View[float32]{Data: memory(vectorStride|vectorHeadStride == 0, int(vectorHeads), int(columns), int(dim)), Heads: int(vectorHeads), TokenStride: vectorStride, HeadStride: vectorHeadStride},
			products: Products{Data: memory(rowStride|productHeadStride == 0, int(heads), max(tokens, 0), int(columns)), RowStride: rowStride, HeadStride: productHeadStride},
			tokens:   tokens, columns: int(columns), headDim: int(dim),
		}
		if mode&128 != 0 {
			c.bias = memory(true, int(heads), int(dim))
		}
		x, products := c.x.Data, c.products.Data
		var wantProducts, wantValues []float32
		onEach(func(impl kernels.Implementation) {
			c.x.Data, c.products.Data = slices.Clone(x), slices.Clone(products)
			err := RelativeProducts(c.products, c.x, c.bias, c.vectors, c.tokens, c.columns, c.headDim)
			if err != nil && !sameBits(c.products.Data, products) {
				t.Fatalf("%s: wrote before the error %v", impl, err)
			}
			if err == nil {
				if wantProducts == nil {
					wantProducts = slices.Clone(products)
					c.plainProducts(wantProducts)
				}
				if i := firstDifference(c.products.Data, wantProducts); i >= 0 {
					t.Fatalf("%s: product %d is %v, want %v", impl, i, c.products.Data[i], wantProducts[i])
				}
			}
			copy(c.products.Data, products)
			if err = AddRelativeValues(c.x, c.products, c.vectors, c.tokens, c.columns, c.headDim); err != nil {
				if !sameBits(c.x.Data, x) {
					t.Fatalf("%s: wrote before the error %v", impl, err)
				}
				return
			}
			got := slices.Clone(c.x.Data)
			if wantValues == nil {
				copy(c.x.Data, x)
				c.plainValues()
				wantValues = slices.Clone(c.x.Data)
			}
			if i := firstDifference(got, wantValues); i >= 0 {
				t.Fatalf("%s: element %d is %v, want %v", impl, i, got[i], wantValues[i])
			}
		})
	})
}
