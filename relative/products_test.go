package relative_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
	"github.com/go-posenc/posenc/relative"
)

func TestDotProducts(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(160)
		for range testkit.Rounds(20) {
			for _, dim := range testkit.Lengths {
				testkit.RandomRelative(r, testkit.OneOf(r, testkit.HeadCounts), r.IntN(12), 1+r.IntN(20), dim).Check(t)
			}
		}
	})
}

// More rows and columns than a call of a kernel has, and the largest vectors.
func TestDotProductsLarge(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(161)
		for _, shape := range []struct{ heads, tokens, columns, dim int }{{2, 40, 150, 64}, {1, 3, 70, 1024}, {1, 5, 70, 1000}, {3, 20, 1100, 9}, {1, 1100, 3, 1}} {
			c := testkit.RandomRelative(r, shape.heads, shape.tokens, shape.columns, shape.dim)
			c.Bias = testkit.RandomElements[float32](r, shape.heads*shape.dim)
			c.Check(t)
		}
	})
}

// Zeros have the signs of the definition: sums start at +0.
func TestDotProductsOfZeros(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		negative := float32(math.Copysign(0, -1))
		for dim := 1; dim < 40; dim++ {
			x, vectors, products := make([]float32, dim), make([]float32, 5*dim), make([]float32, 5)
			for i := range x {
				x[i] = negative
			}
			for i := range vectors {
				vectors[i] = 1
			}
			if err := relative.DotProducts(relative.Products{Data: products}, posenc.View[float32]{Data: x, Heads: 1}, nil, posenc.View[float32]{Data: vectors, Heads: 1}, relative.ProductShape{Tokens: 1, Columns: 5, HeadDim: dim}); err != nil {
				t.Fatal(err)
			}
			if !testkit.SameBits(products, make([]float32, 5)) {
				t.Errorf("%d elements: products %v", dim, products)
			}
			out, sums := slices.Clone(x), []float32{negative, negative, negative, negative, negative}
			if err := relative.AddValues(posenc.View[float32]{Data: out, Heads: 1}, relative.Products{Data: sums}, posenc.View[float32]{Data: vectors, Heads: 1}, relative.ProductShape{Tokens: 1, Columns: 5, HeadDim: dim}); err != nil {
				t.Fatal(err)
			}
			if !testkit.SameBits(out, x) {
				t.Errorf("%d elements: values %v", dim, out)
			}
		}
	})
}

func TestDotProductsErrors(t *testing.T) {
	data := make([]float32, 400)
	view := func(from, n, heads int) posenc.View[float32] {
		return posenc.View[float32]{Data: data[from : from+n], Heads: heads}
	}
	type arguments struct {
		x, vectors               posenc.View[float32]
		bias                     []float32
		products                 relative.Products
		tokens, columns, headDim int
	}
	right := arguments{view(0, 24, 2), view(50, 40, 2), data[100:108], relative.Products{Data: data[120:150]}, 3, 5, 4}
	for _, tt := range []struct {
		change func(a *arguments)
		kind   error
		says   string // with %: of DotProducts, of AddValues
	}{
		{func(a *arguments) { a.tokens = -1 }, posenc.ErrShape, "shape.Tokens is -1, want at least 0"},
		{func(a *arguments) { a.columns = 0 }, posenc.ErrShape, "shape.Columns is 0, want at least 1"},
		{func(a *arguments) { a.headDim = 0 }, posenc.ErrShape, "shape.HeadDim is 0, want from 1 to 1024"},
		{func(a *arguments) { a.headDim = 1025 }, posenc.ErrShape, "shape.HeadDim is 1025"},
		{func(a *arguments) { a.x.Heads = 0 }, posenc.ErrShape, "%.Heads is 0"},
		{func(a *arguments) { a.tokens = 4 }, posenc.ErrLength, "%.Data is 24 elements, want 32 for 4 tokens"},
		{func(a *arguments) { a.x.TokenStride, a.x.HeadStride = 4, 4 }, posenc.ErrOverlap, "%.TokenStride is 4"},
		{func(a *arguments) { a.vectors.Heads = 3 }, posenc.ErrShape, "vectors.Heads is 3, want 1, or 2 as in %"},
		{func(a *arguments) { a.vectors.Heads = 1 }, posenc.ErrLength, "vectors.Data is 40 elements, want 20"},
		{func(a *arguments) { a.vectors.HeadStride = -1 }, posenc.ErrShape, "vectors.HeadStride is -1"},
		{func(a *arguments) { a.products.Data = data[120:149] }, posenc.ErrLength, ".Data is 29 elements, want 30 for 2 heads of 3 rows and 5 columns"},
		{func(a *arguments) { a.products.RowStride = -5 }, posenc.ErrShape, ".RowStride is -5"},
		{func(a *arguments) { a.products.Data = data[23:53] }, posenc.ErrOverlap, ".Data is sharing elements with "},
		{func(a *arguments) { a.products.Data, a.vectors = data[200:230], view(0, 40, 2) }, posenc.ErrOverlap, "Data is sharing elements with "},
	} {
		a := right
		tt.change(&a)
		for name, err := range map[string]error{
			"x":   relative.DotProducts(a.products, a.x, a.bias, a.vectors, relative.ProductShape{Tokens: a.tokens, Columns: a.columns, HeadDim: a.headDim}),
			"out": relative.AddValues(a.x, a.products, a.vectors, relative.ProductShape{Tokens: a.tokens, Columns: a.columns, HeadDim: a.headDim}),
		} {
			if name == "x" && argument.Overlap(a.x.Data, a.vectors.Data) {
				continue // both are read
			}
			if says := strings.ReplaceAll(tt.says, "%", name); !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: got %q, want %q and that it says %q", name, err, tt.kind, says)
			}
		}
	}
	for _, tt := range []struct {
		change func(a *arguments)
		kind   error
		says   string
	}{
		{func(a *arguments) { a.bias = data[100:107] }, posenc.ErrLength, "DotProducts: bias is 7 elements, want 2*4, or nil"},
		{func(a *arguments) { a.bias = []float32{} }, posenc.ErrLength, "bias is 0 elements"},
		{func(a *arguments) { a.bias = data[149:157] }, posenc.ErrOverlap, "products.Data is sharing elements with bias"},
		{func(a *arguments) { a.vectors = view(149, 40, 2) }, posenc.ErrOverlap, "products.Data is sharing elements with vectors"},
		{func(a *arguments) { a.products = relative.Products{Data: data[120:160], RowStride: 4, HeadStride: 20} }, posenc.ErrOverlap, "products.RowStride is 4, want rows of 5 columns that do not overlap, with 2 heads at HeadStride 20"},
	} {
		a := right
		tt.change(&a)
		err := relative.DotProducts(a.products, a.x, a.bias, a.vectors, relative.ProductShape{Tokens: a.tokens, Columns: a.columns, HeadDim: a.headDim})
		if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("got %q, want %q and that it says %q", err, tt.kind, tt.says)
		}
	}
	for _, x := range data {
		if x != 0 {
			t.Fatal("an error came after a write")
		}
	}
	// No tokens, however many heads; and what may share memory.
	none := posenc.View[float32]{Heads: math.MaxInt, TokenStride: 1}
	if err := relative.DotProducts(relative.Products{}, none, nil, view(50, 4, 1), relative.ProductShape{Tokens: 0, Columns: 1, HeadDim: 4}); err != nil {
		t.Error(err)
	}
	if err := relative.AddValues(none, relative.Products{}, view(50, 4, 1), relative.ProductShape{Tokens: 0, Columns: 1, HeadDim: 4}); err != nil {
		t.Error(err)
	}
	if err := relative.DotProducts(right.products, right.x, data[:8], view(0, 40, 2), relative.ProductShape{Tokens: 3, Columns: 5, HeadDim: 4}); err != nil {
		t.Error(err)
	}
	shared := relative.Products{Data: right.products.Data, RowStride: 1} // sums are read
	if err := relative.AddValues(right.x, shared, right.vectors, relative.ProductShape{Tokens: 3, Columns: 5, HeadDim: 4}); err != nil {
		t.Error(err)
	}
}

func TestDotProductsAllocate(t *testing.T) {
	checkAllocations(t, map[string]func(){
		"DotProducts": func() {
			var x, bias, vectors [24]float32
			var products [18]float32
			relative.DotProducts(relative.Products{Data: products[:]}, posenc.View[float32]{Data: x[:], Heads: 2}, bias[:8], posenc.View[float32]{Data: vectors[:12], Heads: 1}, relative.ProductShape{Tokens: 3, Columns: 3, HeadDim: 4})
		},
		"AddValues": func() {
			var out, vectors [24]float32
			var sums [18]float32
			relative.AddValues(posenc.View[float32]{Data: out[:], Heads: 2}, relative.Products{Data: sums[:]}, posenc.View[float32]{Data: vectors[:], Heads: 2}, relative.ProductShape{Tokens: 3, Columns: 3, HeadDim: 4})
		},
	})
}

// headed is [heads][tokens][dim] of goldenInputs.
func headed(start, heads, tokens, dim int) posenc.View[float32] {
	return posenc.View[float32]{Data: testkit.GoldenInputs(start, heads*tokens*dim), Heads: heads, TokenStride: dim, HeadStride: tokens * dim}
}

// sumBound bounds by how much two sums of n products differ that are taken in any
// order, with roundings of products or without: each is off by at most n roundings of
// 2^-24 of the sum of the magnitudes.
func sumBound(n int, magnitudes float64) float64 { return 2 * float64(n+1) * 0x1p-24 * magnitudes }

// magnitudes returns the sum of |(x[i]+bias[i])*v[i]|. (Both sides round x+bias alike.)
func magnitudes(x, bias, v []float32) (sum float64) {
	for i := range x {
		q := float64(x[i])
		if bias != nil {
			q = float64(x[i] + bias[i])
		}
		sum += math.Abs(q * float64(v[i]))
	}
	return sum
}

// Products with the projected positions of transformers' DeBERTa.
func TestDotProductsAgainstDeBERTa(t *testing.T) {
	var vectors struct {
		Cases []struct {
			Tokens        int
			C2P, P2C      float32s
			PositionKey   float32s `json:"position_key"`
			PositionQuery float32s `json:"position_query"`
		}
	}
	readGolden(t, "deberta", &vectors)
	tested := 0
	for _, c := range vectors.Cases {
		const heads, dim = 2, 8
		for _, side := range []struct {
			start          int
			vectors, wants []float32
		}{{0, c.PositionKey, c.C2P}, {1000, c.PositionQuery, c.P2C}} {
			if side.vectors == nil {
				continue
			}
			tested++
			columns := len(side.vectors) / heads / dim
			x := headed(side.start, heads, c.Tokens, dim)
			v := posenc.View[float32]{Data: side.vectors, Heads: heads, TokenStride: dim, HeadStride: columns * dim}
			got := make([]float32, len(side.wants))
			if err := relative.DotProducts(relative.Products{Data: got}, x, nil, v, relative.ProductShape{Tokens: c.Tokens, Columns: columns, HeadDim: dim}); err != nil {
				t.Fatal(err)
			}
			for i, want := range side.wants {
				row, column := i/columns, i/columns/c.Tokens*columns+i%columns
				bound := sumBound(dim, magnitudes(x.Data[row*dim:][:dim], nil, v.Data[column*dim:]))
				if !(math.Abs(float64(got[i]-want)) <= bound) {
					t.Fatalf("product %d is %v, want %v within %v", i, got[i], want, bound)
				}
			}
		}
	}
	if tested != 4 {
		t.Errorf("%d products, want 4", tested)
	}
}

// The scores of Transformer-XL as XLNet and Wav2Vec2-Conformer of transformers have
// them, both summands by DotProducts.
func TestTransformerXLAgainstTransformers(t *testing.T) {
	var vectors struct {
		Cases []struct {
			Model                                     string
			Heads, Queries, Keys, Dim, First, Columns int
			Scores                                    float32s
		}
	}
	readGolden(t, "transformerxl", &vectors)
	if len(vectors.Cases) != 4 {
		t.Fatalf("%d cases, want 4", len(vectors.Cases))
	}
	for _, c := range vectors.Cases {
		tokens := func(start, n int) posenc.View[float32] {
			return posenc.View[float32]{Data: testkit.GoldenInputs(start, n*c.Heads*c.Dim), Heads: c.Heads}
		}
		q, k, r := tokens(0, c.Queries), tokens(5000, c.Keys), tokens(10000, c.Columns)
		u, v := testkit.GoldenInputs(40000, c.Heads*c.Dim), testkit.GoldenInputs(41000, c.Heads*c.Dim)
		scores, products := make([]float32, c.Heads*c.Queries*c.Keys), make([]float32, c.Heads*c.Queries*c.Columns)
		if err := errors.Join(
			relative.DotProducts(relative.Products{Data: scores}, q, u, k, relative.ProductShape{Tokens: c.Queries, Columns: c.Keys, HeadDim: c.Dim}),
			relative.DotProducts(relative.Products{Data: products}, q, v, r, relative.ProductShape{Tokens: c.Queries, Columns: c.Columns, HeadDim: c.Dim}),
			relative.AddTransformerXL(relative.Scores{Data: scores, Heads: c.Heads, Queries: c.Queries, Keys: c.Keys, FirstQuery: c.Keys - c.Queries}, relative.Products{Data: products}, relative.Distances{First: c.First, Count: c.Columns}),
		); err != nil {
			t.Fatal(err)
		}
		scale := float32(1 / math.Sqrt(float64(c.Dim))) // a power of two
		for i, want := range c.Scores {
			h, query, key := i/c.Keys/c.Queries, i/c.Keys%c.Queries, i%c.Keys
			column := c.First - (c.Keys - c.Queries + query - key)
			row := func(x posenc.View[float32], token int) []float32 { return x.Data[(token*c.Heads+h)*c.Dim:][:c.Dim] }
			terms := magnitudes(row(q, query), u[h*c.Dim:], row(k, key)) + magnitudes(row(q, query), v[h*c.Dim:], row(r, column))
			// One more addition joins the summands.
			if bound := sumBound(c.Dim+1, terms) * float64(scale); !(math.Abs(float64(scores[i]*scale-want)) <= bound) {
				t.Fatalf("%s: the score of query %d and key %d is %v, want %v within %v", c.Model, query, key, scores[i]*scale, want, bound)
			}
		}
	}
}

// Shaw's attention: the scores that Wav2Vec2-BERT of transformers adds, and scores,
// weights and output of PyTorch by the paper's equations.
func TestShawAgainstPyTorch(t *testing.T) {
	var vectors struct {
		Cases []struct {
			Model                         string
			Heads, Tokens, Dim            int
			MaxDistance                   int `json:"max_distance"`
			Bias, Scores, Weights, Output float32s
		}
	}
	readGolden(t, "shaw", &vectors)
	if len(vectors.Cases) != 4 {
		t.Fatalf("%d cases, want 4", len(vectors.Cases))
	}
	for _, c := range vectors.Cases {
		columns := 2*c.MaxDistance + 1
		q, k, v := headed(0, c.Heads, c.Tokens, c.Dim), headed(5000, c.Heads, c.Tokens, c.Dim), headed(15000, c.Heads, c.Tokens, c.Dim)
		aK, aV := posenc.View[float32]{Data: testkit.GoldenInputs(10000, columns*c.Dim), Heads: 1}, posenc.View[float32]{Data: testkit.GoldenInputs(20000, columns*c.Dim), Heads: 1}
		column := func(query, key int) int { return min(max(key-query, -c.MaxDistance), c.MaxDistance) + c.MaxDistance }
		tile := relative.Scores{Data: make([]float32, c.Heads*c.Tokens*c.Tokens), Heads: c.Heads, Queries: c.Tokens, Keys: c.Tokens}
		products := relative.Products{Data: make([]float32, c.Heads*c.Tokens*columns)}
		content := c.Model == "paper"
		if content {
			if err := relative.DotProducts(relative.Products{Data: tile.Data}, q, nil, k, relative.ProductShape{Tokens: c.Tokens, Columns: c.Tokens, HeadDim: c.Dim}); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(
			relative.DotProducts(products, q, nil, aK, relative.ProductShape{Tokens: c.Tokens, Columns: columns, HeadDim: c.Dim}),
			relative.AddShaw(tile, products, c.MaxDistance),
		); err != nil {
			t.Fatal(err)
		}
		scale := float32(1 / math.Sqrt(float64(c.Dim))) // a power of two
		for i, want := range append(c.Bias, c.Scores...) {
			row, query, key := i/c.Tokens, i/c.Tokens%c.Tokens, i%c.Tokens
			x := q.Data[row*c.Dim:][:c.Dim]
			terms, additions := magnitudes(x, nil, aK.Data[column(query, key)*c.Dim:]), c.Dim
			if content {
				// PyTorch adds vectors before it multiplies, or we products: one more rounding.
				terms += magnitudes(x, nil, k.Data[(row/c.Tokens*c.Tokens+key)*c.Dim:])
				additions++
			}
			if bound := sumBound(additions, terms) * float64(scale); !(math.Abs(float64(tile.Data[i]*scale-want)) <= bound) {
				t.Fatalf("%s: the score of query %d and key %d is %v, want %v within %v", c.Model, query, key, tile.Data[i]*scale, want, bound)
			}
		}
		if !content {
			continue
		}
		// From PyTorch's weights on, so that its exponentials do not count.
		tile.Data = c.Weights
		sums := relative.Products{Data: make([]float32, c.Heads*c.Tokens*columns)}
		output := posenc.View[float32]{Data: make([]float32, len(c.Output)), Heads: c.Heads, TokenStride: c.Dim, HeadStride: c.Tokens * c.Dim}
		values := make([]float64, len(c.Output)) // the sum of magnitudes
		for i := range c.Output {
			row, d := i/c.Dim, i%c.Dim
			for key := range c.Tokens {
				weight := c.Weights[row*c.Tokens+key]
				value, relative := v.Data[(row/c.Tokens*c.Tokens+key)*c.Dim+d], aV.Data[column(row%c.Tokens, key)*c.Dim+d]
				output.Data[i] += float32(weight * value)
				values[i] += math.Abs(float64(weight)) * (math.Abs(float64(value)) + math.Abs(float64(relative)))
			}
		}
		if err := errors.Join(
			relative.SumShaw(sums, tile, c.MaxDistance),
			relative.AddValues(output, sums, aV, relative.ProductShape{Tokens: c.Tokens, Columns: columns, HeadDim: c.Dim}),
		); err != nil {
			t.Fatal(err)
		}
		for i, want := range c.Output {
			// Up to as many additions of weights, of values and of both halves as keys.
			if bound := sumBound(3*c.Tokens, values[i]); !(math.Abs(float64(output.Data[i]-want)) <= bound) {
				t.Fatalf("output %d is %v, want %v within %v", i, output.Data[i], want, bound)
			}
		}
	}
}
