package relative_test

import (
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
	"github.com/go-posenc/posenc/relative"
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
			if n := testkit.Small(numbers...); packed {
				size = n
			}
			s := make([]float32, int(mode%16)+size)
			testkit.Repeat32(s, data)
			return s[mode%16:]
		}
		c := &testkit.RelativeCase{
			X:        posenc.View[float32]{Data: memory(tokenStride|headStride == 0, int(heads), max(tokens, 0), int(dim)), Heads: int(heads), TokenStride: tokenStride, HeadStride: headStride},
			Vectors:  posenc.View[float32]{Data: memory(vectorStride|vectorHeadStride == 0, int(vectorHeads), int(columns), int(dim)), Heads: int(vectorHeads), TokenStride: vectorStride, HeadStride: vectorHeadStride},
			Products: relative.Products{Data: memory(rowStride|productHeadStride == 0, int(heads), max(tokens, 0), int(columns)), RowStride: rowStride, HeadStride: productHeadStride},
			Tokens:   tokens, Columns: int(columns), HeadDim: int(dim),
		}
		if mode&128 != 0 {
			c.Bias = memory(true, int(heads), int(dim))
		}
		x, products := c.X.Data, c.Products.Data
		var wantProducts, wantValues []float32
		testkit.OnEach(func(impl kernels.Implementation) {
			c.X.Data, c.Products.Data = slices.Clone(x), slices.Clone(products)
			err := relative.DotProducts(c.Products, c.X, c.Bias, c.Vectors, relative.ProductShape{Tokens: c.Tokens, Columns: c.Columns, HeadDim: c.HeadDim})
			if err != nil && !testkit.SameBits(c.Products.Data, products) {
				t.Fatalf("%s: wrote before the error %v", impl, err)
			}
			if err == nil {
				if wantProducts == nil {
					wantProducts = slices.Clone(products)
					c.PlainProducts(wantProducts)
				}
				if i := testkit.FirstDifference(c.Products.Data, wantProducts); i >= 0 {
					t.Fatalf("%s: product %d is %v, want %v", impl, i, c.Products.Data[i], wantProducts[i])
				}
			}
			copy(c.Products.Data, products)
			if err = relative.AddValues(c.X, c.Products, c.Vectors, relative.ProductShape{Tokens: c.Tokens, Columns: c.Columns, HeadDim: c.HeadDim}); err != nil {
				if !testkit.SameBits(c.X.Data, x) {
					t.Fatalf("%s: wrote before the error %v", impl, err)
				}
				return
			}
			got := slices.Clone(c.X.Data)
			if wantValues == nil {
				copy(c.X.Data, x)
				c.PlainValues()
				wantValues = slices.Clone(c.X.Data)
			}
			if i := testkit.FirstDifference(got, wantValues); i >= 0 {
				t.Fatalf("%s: element %d is %v, want %v", impl, i, got[i], wantValues[i])
			}
		})
	})
}
