package relative_test

import (
	"math"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/relative"
)

// Every function that takes scores has these errors.
func TestScoresErrors(t *testing.T) {
	two := kit.Must(relative.NewT5Bias(mustT5Buckets(32, 128, true), make([]float32, 64)))
	for _, add := range []func(relative.Scores) error{
		func(s relative.Scores) error { return relative.AddALiBi(s, make([]float32, 2), relative.CausalALiBi) },
		func(s relative.Scores) error { return relative.AddT5(s, two) },
	} {
		data := make([]float32, 24)
		fails := kit.Failures(t, data)
		fails(add(relative.Scores{Data: data, Queries: 3, Keys: 4}), posenc.ErrShape, "scores.Heads is 0")
		fails(add(relative.Scores{Data: data, Heads: 2, Queries: -1, Keys: 4}), posenc.ErrShape, "scores.Queries is -1")
		fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: -4}), posenc.ErrShape, "scores.Keys is -4")
		fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, HeadStride: -1}), posenc.ErrShape, "scores.HeadStride is -1")
		fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, QueryStride: -1}), posenc.ErrShape, "scores.QueryStride is -1")
		fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstHead: -1}), posenc.ErrShape, "scores.FirstHead is -1")
		fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstHead: math.MaxInt - 1}), posenc.ErrShape, "scores.FirstHead is")
		fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 5}), posenc.ErrLength, "scores.Data has 24 elements, want 30")
		fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 3}), posenc.ErrLength, "scores.Data has 24 elements, want 18")
		fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, QueryStride: 5}), posenc.ErrLength, "scores.Data has 24 elements, want at least 29")
		fails(add(relative.Scores{Data: data, Heads: 2, Queries: math.MaxInt, Keys: 2}), posenc.ErrLength, "scores.Data has 24 elements, want fewer heads, queries or keys, or smaller strides: an int cannot count the elements")
		fails(add(relative.Scores{Data: data, Heads: 2, Queries: math.MaxInt, Keys: 2, HeadStride: 1, QueryStride: 2}), posenc.ErrLength, "2 keys at HeadStride 1 and QueryStride 2")
		fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, QueryStride: 3}), posenc.ErrOverlap, "scores.QueryStride is 3")
		fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, HeadStride: 4}), posenc.ErrOverlap, "at HeadStride 4")
		fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstQuery: 1<<30 - 2}), posenc.ErrPosition, "scores.FirstQuery is")
		fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstKey: 1<<30 - 3}), posenc.ErrPosition, "scores.FirstKey is")
		kit.NoError(t, add(relative.Scores{Heads: 1, Queries: 5}), add(relative.Scores{Heads: 2, Keys: 5}), add(relative.Scores{Heads: 1, Data: data, QueryStride: 4}))
	}
}

func TestBiasErrors(t *testing.T) {
	data := make([]float32, 100)
	fails := kit.Failures(t, data)
	scores := relative.Scores{Data: data[:4], Heads: 2, Queries: 1, Keys: 2}
	fails(relative.ALiBiSlopes(data, 0), posenc.ErrConfig, "ALiBiSlopes: maxBias is 0")
	fails(relative.ALiBiSlopes(data, math.NaN()), posenc.ErrConfig, "maxBias is NaN")
	fails(relative.AddALiBi(scores, data[4:6], 3), posenc.ErrConfig, "AddALiBi: form is 3")
	fails(relative.AddALiBi(scores, data[4:5], relative.CausalALiBi), posenc.ErrLength, "AddALiBi: slopes has 1 element, want at least FirstHead+Heads = 2, one for each head of the model")
	fails(relative.AddALiBi(relative.Scores{Heads: 2, FirstHead: 1}, data[4:6], relative.CausalALiBi), posenc.ErrLength, "slopes has 2 elements, want at least FirstHead+Heads = 3")
	fails(relative.AddALiBi(relative.Scores{Heads: 2, FirstHead: -1}, nil, relative.CausalALiBi), posenc.ErrShape, "scores.FirstHead is -1, want at least 0, with a sum FirstHead+Heads that fits an int")
	fails(relative.AddALiBi(scores, data[3:5], relative.CausalALiBi), posenc.ErrOverlap, "slopes is sharing elements with scores.Data")
	kit.NoError(t, relative.ALiBiSlopes(nil, 8))

	buckets := func(buckets, maxDistance int, bidirectional bool) error {
		return kit.Made(relative.NewT5Buckets(relative.T5Config{Buckets: buckets, MaxDistance: maxDistance, Bidirectional: bidirectional}))
	}
	t5 := mustT5Buckets(32, 128, true)
	fails(buckets(1, 128, false), posenc.ErrConfig, "NewT5Buckets: cfg.Buckets is 1, want from 2 to 1024")
	fails(buckets(2, 128, true), posenc.ErrConfig, "cfg.Buckets is 2, want an even number from 4 to 1024")
	fails(buckets(1025, 2000, false), posenc.ErrConfig, "cfg.Buckets is 1025")
	fails(buckets(32, 16, false), posenc.ErrConfig, "cfg.MaxDistance is 16, want from 17 to 65536")
	fails(buckets(32, 8, true), posenc.ErrConfig, "cfg.MaxDistance is 8, want from 9")
	fails(buckets(32, 65537, true), posenc.ErrConfig, "cfg.MaxDistance is 65537")
	fails(kit.Made(relative.NewT5Bias(nil, data[4:68])), posenc.ErrConfig, "NewT5Bias: buckets is nil or zero")
	fails(kit.Made(relative.NewT5Bias(t5, data[4:67])), posenc.ErrLength, "weights has 63 elements, want a multiple of 32")
	fails(kit.Made(relative.NewT5Bias(mustT5Buckets(2, 65536, false), make([]float32, 2*256))), posenc.ErrLength, "weights has 512 elements, want weights of at most 255 heads")
	fails(relative.AddT5(scores, nil), posenc.ErrConfig, "AddT5: bias is nil or zero")
	fails(relative.AddT5(scores, kit.Must(relative.NewT5Bias(t5, data[4:36]))), posenc.ErrShape, "scores.Heads is 2, want at most 1, the heads of the model")

	window := relative.SwinWindow{Height: 2, Width: 3}
	bias := mustSwinBias(2, 3, data[12:42]) // 2 heads
	at := func(query, key int) relative.Scores {
		return relative.Scores{Data: data[:12], Heads: 2, Queries: 2, Keys: 3, FirstQuery: query, FirstKey: key}
	}
	fails(kit.Made(relative.NewSwinBias(relative.SwinWindow{Height: 0, Width: 3}, data)), posenc.ErrShape, "NewSwinBias: window.Height is 0")
	fails(kit.Made(relative.NewSwinBias(relative.SwinWindow{Height: 2, Width: -1}, data)), posenc.ErrShape, "window.Width is -1")
	fails(kit.Made(relative.NewSwinBias(window, data[:29])), posenc.ErrLength, "table has 29 elements, want a multiple of (2*Height-1)*(2*Width-1) = 15")
	fails(kit.Made(relative.NewSwinBias(relative.SwinWindow{Height: 64, Width: 64}, make([]float32, 65*127*127))), posenc.ErrLength, "table has 1048385 elements, want fewer heads than 65")
	fails(relative.SwinCoordinates(data[:30], relative.SwinWindow{Width: 3}, relative.SwinWindow{}), posenc.ErrShape, "SwinCoordinates: window.Height is 0")
	fails(relative.SwinCoordinates(data[:30], window, relative.SwinWindow{Height: 1}), posenc.ErrShape, "pretrained.Height is 1, want 0 or from 2 to 64")
	fails(relative.SwinCoordinates(data[:30], window, relative.SwinWindow{Width: 65}), posenc.ErrShape, "pretrained.Width is 65")
	fails(relative.SwinCoordinates(data[:29], window, relative.SwinWindow{}), posenc.ErrLength, "dst has 29 elements, want (2*Height-1)*(2*Width-1)*2 = 30")
	fails(relative.AddSwin(at(0, 0), nil), posenc.ErrConfig, "AddSwin: bias is nil or zero")
	fails(relative.AddSwin(at(0, 0), mustSwinBias(2, 3, data[:15])), posenc.ErrShape, "scores.Heads is 2, want at most 1, the heads of the model")
	fails(relative.AddSwin(at(5, 0), bias), posenc.ErrPosition, "scores.FirstQuery is 5, want from 0 to 4")
	fails(relative.AddSwin(at(0, 4), bias), posenc.ErrPosition, "scores.FirstKey is 4, want from 0 to 3")

	fails(relative.TransformerXLPositions(make([]int32, 2), -1), posenc.ErrPosition, "TransformerXLPositions: clampLen is -1")
	fails(relative.XLNetPositions(make([]int32, 2), relative.XLNetOptions{Keys: -1}), posenc.ErrPosition, "XLNetPositions: options.Keys is -1")
}

func TestProductsErrors(t *testing.T) {
	data := make([]float32, 100)
	fails := kit.Failures(t, data)
	scores := relative.Scores{Data: data[:12], Heads: 2, Queries: 2, Keys: 3}
	short := relative.Scores{Data: data[:11], Heads: 2, Queries: 2, Keys: 3}
	products := func(from, to int) relative.Products { return relative.Products{Data: data[from:to]} }
	distances := relative.Distances{First: 4, Count: 5}
	fails(relative.AddBand(scores, products(12, 32), relative.Distances{First: 4}), posenc.ErrShape, "relative.AddBand: distances.Count is 0, want at least 1")
	if far := math.MinInt; far < math.MinInt32 {
		fails(relative.AddBand(scores, products(12, 32), relative.Distances{First: far, Count: 5}), posenc.ErrPosition, "distances.First is -9223372036854775808, want from -2^31 to 2^31")
	}
	fails(relative.AddBand(scores, products(12, 31), distances), posenc.ErrLength, "products.Data has 19 elements")
	fails(relative.AddBand(scores, products(11, 31), distances), posenc.ErrOverlap, "products.Data is sharing elements")
	fails(relative.AddBand(short, products(12, 32), distances), posenc.ErrLength, "scores.Data has 11 elements")

	fails(relative.AddShaw(scores, products(12, 32), -1), posenc.ErrShape, "AddShaw: maxDistance is -1")
	fails(relative.AddShaw(scores, products(12, 31), 2), posenc.ErrLength, "products.Data has 19 elements, want 20")
	fails(relative.AddShaw(scores, products(11, 31), 2), posenc.ErrOverlap, "products.Data is sharing elements")
	fails(relative.AddShaw(relative.Scores{Heads: 2, FirstHead: -1}, relative.Products{}, 2), posenc.ErrShape, "scores.FirstHead is -1, want at least 0, with a sum FirstHead+Heads that fits an int")
	fails(relative.SumShaw(products(12, 31), scores, 2), posenc.ErrLength, "sums.Data has 19 elements, want 20")
	fails(relative.SumShaw(products(11, 31), scores, 2), posenc.ErrOverlap, "sums.Data is sharing elements")
	fails(relative.SumShaw(relative.Products{Data: data[12:], RowStride: 4, HeadStride: 20}, scores, 2), posenc.ErrOverlap, "sums.RowStride is 4")
	fails(relative.SumShaw(products(12, 32), short, 2), posenc.ErrLength, "weights.Data has 11 elements")

	scores.FirstQuery = 5
	fails(relative.AddTransformerXL(scores, products(12, 52), relative.Distances{First: 9}), posenc.ErrShape, "AddTransformerXL: distances.Count is 0")
	fails(relative.AddTransformerXL(short, products(12, 52), relative.Distances{First: 9, Count: 10}), posenc.ErrLength, "scores.Data has 11 elements")
	fails(relative.AddTransformerXL(scores, products(12, 52), relative.Distances{First: 9, Count: 9}), posenc.ErrLength, "products.Data has 40 elements, want 36")
	fails(relative.AddTransformerXL(scores, products(12, 52), relative.Distances{First: 9, Count: math.MaxInt}), posenc.ErrLength, "an int cannot count the elements")
	fails(relative.AddTransformerXL(scores, products(11, 51), relative.Distances{First: 9, Count: 10}), posenc.ErrOverlap, "products.Data is sharing elements")
	fails(relative.AddTransformerXL(scores, products(12, 52), relative.Distances{First: 5, Count: 10}), posenc.ErrPosition, "distances.First is 5, want at least 6")
	fails(relative.AddTransformerXL(scores, products(12, 52), relative.Distances{First: 13, Count: 10}), posenc.ErrPosition, "distances.First is 13, want at most 12, so that 10 columns reach the distance 3")
	for _, first := range []int{6, 12} {
		kit.NoError(t, relative.AddTransformerXL(scores, products(12, 52), relative.Distances{First: first, Count: 10}))
	}
	kit.NoError(t, relative.AddTransformerXL(relative.Scores{Heads: 1}, relative.Products{}, relative.Distances{First: 0, Count: 10}))
}

func TestDeBERTaErrors(t *testing.T) {
	data := make([]float32, 40)
	fails := kit.Failures(t, data)
	buckets := func(buckets, maxPosition int) error {
		return kit.Made(relative.NewDeBERTaBuckets(relative.DeBERTaConfig{Buckets: buckets, MaxPosition: maxPosition}))
	}
	fails(buckets(2, 512), posenc.ErrConfig, "NewDeBERTaBuckets: cfg.Buckets is 2")
	fails(buckets(1026, 2000), posenc.ErrConfig, "cfg.Buckets is 1026")
	fails(buckets(256, 129), posenc.ErrConfig, "cfg.MaxPosition is 129, want from 130 to 65536")
	fails(buckets(0, 0), posenc.ErrConfig, "cfg.MaxPosition is 0, want from 1")
	fails(buckets(256, 65537), posenc.ErrConfig, "cfg.MaxPosition is 65537")

	scores := relative.Scores{Data: data[:4], Heads: 2, Queries: 1, Keys: 2}
	c2p, p2c := relative.Products{Data: data[4:20]}, relative.Products{Data: data[4:36]}
	add := func(c2p, p2c relative.Products, divisor float32) error {
		return relative.AddDeBERTa(scores, fourBuckets, relative.DeBERTaProducts{ContentToPosition: c2p, PositionToContent: p2c, Divisor: divisor})
	}
	right := relative.DeBERTaProducts{ContentToPosition: c2p, PositionToContent: p2c, Divisor: 1}
	fails(relative.AddDeBERTa(scores, nil, right), posenc.ErrConfig, "AddDeBERTa: buckets is nil or zero")
	fails(relative.AddDeBERTa(relative.Scores{Data: data[:3], Heads: 2, Queries: 1, Keys: 2}, fourBuckets, right), posenc.ErrLength, "scores.Data has 3 elements")
	fails(add(c2p, p2c, 0), posenc.ErrConfig, "products.Divisor is 0")
	fails(add(c2p, p2c, float32(math.NaN())), posenc.ErrConfig, "products.Divisor is NaN")
	fails(add(c2p, p2c, float32(math.Inf(1))), posenc.ErrConfig, "products.Divisor is +Inf")
	fails(add(relative.Products{}, relative.Products{}, 1), posenc.ErrLength, "products.ContentToPosition.Data is nil")
	fails(add(relative.Products{RowStride: 8}, p2c, 1), posenc.ErrLength, "products.ContentToPosition.Data is nil, want data, or Rows, HeadStride and RowStride 0 to leave it out")
	fails(add(c2p, relative.Products{HeadStride: -1}, 1), posenc.ErrLength, "products.PositionToContent.Data is nil, want data, or Rows, HeadStride and RowStride 0 to leave it out")
	fails(add(c2p, c2p, 1), posenc.ErrLength, "products.PositionToContent.Data has 16 elements, want 32")
	fails(add(relative.Products{Data: data[4:20], RowStride: -1}, p2c, 1), posenc.ErrShape, "products.ContentToPosition.RowStride is -1")
	fails(add(relative.Products{Data: data[4:20], HeadStride: -1}, p2c, 1), posenc.ErrShape, "products.ContentToPosition.HeadStride is -1")
	fails(add(relative.Products{Data: data[4:20], HeadStride: 9}, p2c, 1), posenc.ErrLength, "want at least 17")
	fails(add(c2p, relative.Products{Data: data[4:20], RowStride: math.MaxInt}, 1), posenc.ErrLength, "an int cannot count the elements for 2 heads of 2 rows and 8 columns at HeadStride 0 and RowStride ")
	fails(add(relative.Products{Data: data[3:19]}, p2c, 1), posenc.ErrOverlap, "products.ContentToPosition.Data is sharing elements")
	fails(add(c2p, relative.Products{Data: data[3:35]}, 1), posenc.ErrOverlap, "products.PositionToContent.Data is sharing elements")
}

func TestVectorsErrors(t *testing.T) {
	data := make([]float32, 400)
	view := func(from, n, heads int) posenc.View[float32] {
		return posenc.View[float32]{Data: data[from : from+n], Heads: heads}
	}
	right := vectorsCall{view(0, 24, 2), view(50, 40, 2), data[100:108], relative.Products{Data: data[120:150]}, relative.ProductShape{Tokens: 3, Columns: 5, HeadDim: 4}}
	for _, tt := range []struct {
		change    func(v *vectorsCall)
		kind      error
		dot, says string // of DotProducts and of AddValues; empty where the call is right
	}{
		{func(v *vectorsCall) { v.shape.Tokens = -1 }, posenc.ErrShape, "shape.Tokens is -1, want at least 0", "shape.Tokens is -1"},
		{func(v *vectorsCall) { v.shape.Columns = 0 }, posenc.ErrShape, "shape.Columns is 0, want at least 1", "shape.Columns is 0"},
		{func(v *vectorsCall) { v.shape.HeadDim = 0 }, posenc.ErrShape, "shape.HeadDim is 0, want from 1 to 1024", "shape.HeadDim is 0"},
		{func(v *vectorsCall) { v.shape.HeadDim = 1025 }, posenc.ErrShape, "shape.HeadDim is 1025", "shape.HeadDim is 1025"},
		{func(v *vectorsCall) { v.x.Heads = 0 }, posenc.ErrShape, "x.Heads is 0", "out.Heads is 0"},
		{func(v *vectorsCall) { v.shape.Tokens = 4 }, posenc.ErrLength, "x.Data has 24 elements, want 32 for 4 tokens", "out.Data has 24 elements, want 32 for 4 tokens"},
		{func(v *vectorsCall) { v.x.TokenStride, v.x.HeadStride = 4, 4 }, posenc.ErrOverlap, "x.TokenStride is 4", "out.TokenStride is 4"},
		{func(v *vectorsCall) { v.vectors.Heads = 3 }, posenc.ErrShape, "vectors.Heads is 3, want 1, or 2 as in x", "vectors.Heads is 3, want 1, or 2 as in out"},
		{func(v *vectorsCall) { v.x.Heads, v.shape.Tokens = 3, 2 }, posenc.ErrShape, "vectors.Heads is 2, want 1, or 3 as in x", "vectors.Heads is 2, want 1, or 3 as in out"},
		{func(v *vectorsCall) { v.vectors.Heads = 1 }, posenc.ErrLength, "vectors.Data has 40 elements, want 20", "vectors.Data has 40 elements, want 20"},
		{func(v *vectorsCall) { v.vectors.HeadStride = -1 }, posenc.ErrShape, "vectors.HeadStride is -1", "vectors.HeadStride is -1"},
		{func(v *vectorsCall) { v.products.Data = data[120:149] }, posenc.ErrLength, "products.Data has 29 elements, want 30 for 2 heads of 3 rows and 5 columns", "sums.Data has 29 elements"},
		{func(v *vectorsCall) { v.products.RowStride = -5 }, posenc.ErrShape, "products.RowStride is -5", "sums.RowStride is -5"},
		{func(v *vectorsCall) { v.products.Data = data[23:53] }, posenc.ErrOverlap, "products.Data is sharing elements with x.Data", "out.Data is sharing elements with sums.Data"},
		{func(v *vectorsCall) { v.vectors = view(149, 40, 2) }, posenc.ErrOverlap, "products.Data is sharing elements with vectors.Data", ""},
		{func(v *vectorsCall) { v.vectors = view(0, 40, 2) }, posenc.ErrOverlap, "", "out.Data is sharing elements with vectors.Data"},
		{func(v *vectorsCall) { v.bias = data[100:107] }, posenc.ErrLength, "bias has 7 elements, want Heads*HeadDim = 8, or nil", ""},
		{func(v *vectorsCall) { v.bias = []float32{} }, posenc.ErrLength, "bias has 0 elements", ""},
		{func(v *vectorsCall) { v.bias = data[149:157] }, posenc.ErrOverlap, "products.Data is sharing elements with bias", ""},
		{func(v *vectorsCall) { v.bias = data[:8] }, nil, "", ""},
		{func(v *vectorsCall) {
			v.products = relative.Products{Data: data[120:153], RowStride: 4, HeadStride: 20}
		}, posenc.ErrOverlap, "products.RowStride is 4, want rows of 5 columns that do not overlap, with 2 heads at HeadStride 20", ""},
		{func(v *vectorsCall) { // no tokens, however many heads
			v.x, v.vectors.Heads, v.bias = posenc.View[float32]{Heads: math.MaxInt, TokenStride: 1}, 1, nil
			v.products.Data, v.vectors.Data, v.shape.Tokens = nil, data[50:70], 0
		}, nil, "", ""},
	} {
		v := right
		tt.change(&v)
		for says, err := range map[string]error{"DotProducts: " + tt.dot: v.dotProducts(), "AddValues: " + tt.says: v.addValues()} {
			if strings.HasSuffix(says, ": ") {
				if err != nil {
					t.Error(err)
				}
				continue
			}
			kit.Failures(t, data)(err, tt.kind, "relative."+says)
		}
	}
}
