package relative_test

import (
	"errors"
	"fmt"
	"log"
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/relative"
)

// Attention with linear biases: a decode step of two heads at position 3, after three tokens in
// the cache.
func Example() {
	const heads, keys, headDim = 2, 4, 64
	scores := []float32{ // q·k, [heads][keys]
		8, 8, 8, 8,
		8, 8, 8, 8,
	}
	for i := range scores {
		scores[i] /= float32(math.Sqrt(headDim))
	}
	slopes := make([]float32, heads)
	err := errors.Join(
		relative.ALiBiSlopes(slopes, 8),
		relative.AddALiBi(relative.Scores{Data: scores, Heads: heads, Queries: 1, Keys: keys, FirstQuery: keys - 1}, slopes, relative.CausalALiBi),
	)
	if err != nil {
		log.Fatal(err)
	}
	for h, slope := range slopes {
		fmt.Printf("slope %.4f: scores %.4f\n", slope, scores[h*keys:][:keys])
	}
	// Output:
	// slope 0.0625: scores [0.8125 0.8750 0.9375 1.0000]
	// slope 0.0039: scores [0.9883 0.9922 0.9961 1.0000]
}

// A decoder step: one query at position 3 and the four keys up to its own, in
// buckets of their own.
func ExampleAddT5() {
	buckets, err := relative.NewT5Buckets(relative.T5Config{Buckets: 32, MaxDistance: 128})
	if err != nil {
		log.Fatal(err)
	}
	weights := make([]float32, 32*1) // [buckets][heads], of the model
	for i := range weights {
		weights[i] = float32(i) / 2
	}
	bias, err := relative.NewT5Bias(buckets, weights)
	if err != nil {
		log.Fatal(err)
	}
	scores := []float32{1, 1, 1, 1}
	if err := relative.AddT5(relative.Scores{Data: scores, Heads: 1, Queries: 1, Keys: 4, FirstQuery: 3}, bias); err != nil {
		log.Fatal(err)
	}
	fmt.Println(scores)
	fmt.Println(buckets.Bucket(-100))
	// Output:
	// [2.5 2 1.5 1]
	// 30
}

// Inkling's bias, here of keys up to two positions behind the query: its products are
// those of the distances 2, 1 and 0.
func ExampleAddBand() {
	scores := make([]float32, 6)
	tile := relative.Scores{Data: scores, Heads: 1, Queries: 1, Keys: 6, FirstQuery: 4}
	err := relative.AddBand(tile, relative.Products{Data: []float32{3, 2, 1}}, relative.Distances{First: 2, Count: 3})
	fmt.Println(scores, err)
	// Output:
	// [0 0 3 2 1 0] <nil>
}

// The attention of Shaw et al. in full: one head, three tokens, distances clipped to 1.
func ExampleAddShaw() {
	const tokens, headDim, maxDistance, columns = 3, 2, 1, 3
	q, k, v := []float32{1, 0, 0, 1, 1, 1}, []float32{1, 0, 0, 1, 1, 1}, []float32{1, 0, 0, 1, 2, 2}
	relativeKeys, relativeValues := []float32{-1, 0, 0, 0, 1, 0}, []float32{10, 0, 0, 0, 0, 10}
	view := func(x []float32) posenc.View[float32] { return posenc.View[float32]{Data: x, Heads: 1} }

	// Scores: q·(k+a) = q·k + q·a.
	tile := relative.Scores{Data: make([]float32, tokens*tokens), Heads: 1, Queries: tokens, Keys: tokens}
	products := relative.Products{Data: make([]float32, tokens*columns)}
	err := errors.Join(
		relative.DotProducts(relative.Products{Data: tile.Data}, view(q), nil, view(k), relative.ProductShape{Tokens: tokens, Columns: tokens, HeadDim: headDim}),
		relative.DotProducts(products, view(q), nil, view(relativeKeys), relative.ProductShape{Tokens: tokens, Columns: columns, HeadDim: headDim}),
		relative.AddShaw(tile, products, maxDistance),
	)
	if err != nil {
		log.Fatal(err)
	}

	// Weights: the softmax of the scaled scores.
	for query := range tokens {
		row, sum := tile.Data[query*tokens:][:tokens], 0.0
		for i, score := range row {
			weight := math.Exp(float64(score) / math.Sqrt(headDim))
			row[i], sum = float32(weight), sum+weight
		}
		for i := range row {
			row[i] /= float32(sum)
		}
	}

	// The sum of w*(v+a) is that of w*v and that of w*a.
	output, sums := make([]float32, tokens*headDim), relative.Products{Data: make([]float32, tokens*columns)}
	err = errors.Join(
		relative.AddValues(view(output), relative.Products{Data: tile.Data}, view(v), relative.ProductShape{Tokens: tokens, Columns: tokens, HeadDim: headDim}),
		relative.SumShaw(sums, tile, maxDistance),
		relative.AddValues(view(output), sums, view(relativeValues), relative.ProductShape{Tokens: tokens, Columns: columns, HeadDim: headDim}),
	)
	if err != nil {
		log.Fatal(err)
	}
	for query := range tokens {
		fmt.Printf("%.4f\n", output[query*headDim:][:headDim])
	}
	// Output:
	// [1.2552 8.7727]
	// [2.9778 5.2145]
	// [4.7808 1.5093]
}

// The scores of Transformer-XL: two queries after one key of memory, one head of two
// elements. R holds the encodings of the distances; a projection of the model follows.
func ExampleAddTransformerXL() {
	const queries, keys, headDim = 2, 3, 2
	positions := make([]int32, keys)
	encoding, err := absolute.Marian(headDim)
	if err != nil {
		log.Fatal(err)
	}
	r := make([]float32, keys*headDim)
	q, k := []float32{1, 0, 0, 1}, []float32{1, 2, 3, 4, 5, 6}
	u, v := []float32{1, 1}, []float32{0, 2} // r_w_bias, r_r_bias
	tile := relative.Scores{Data: make([]float32, queries*keys), Heads: 1, Queries: queries, Keys: keys, FirstQuery: keys - queries}
	products := relative.Products{Data: make([]float32, queries*keys)}
	view := func(x []float32) posenc.View[float32] { return posenc.View[float32]{Data: x, Heads: 1} }
	shape := relative.ProductShape{Tokens: queries, Columns: keys, HeadDim: headDim}
	err = errors.Join(
		relative.TransformerXLPositions(positions, 0), // no clamp_len
		absolute.SinusoidalRows(r, encoding, positions),
		relative.DotProducts(relative.Products{Data: tile.Data}, view(q), u, view(k), shape), // (q+u)·k
		relative.DotProducts(products, view(q), v, view(r), shape),                           // (q+v)·r
		relative.AddTransformerXL(tile, products, relative.Distances{First: keys - 1, Count: keys}),
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(positions)
	fmt.Printf("%.3f\n", tile.Data) // the last key of the first query, which comes after it, is masked

	// XLNet attends to both sides: 3 keys and 3 queries have distances from 3 down to -2.
	positions = make([]int32, 3+3)
	if err := relative.XLNetPositions(positions, relative.XLNetOptions{Keys: 3}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(positions)
	// Output:
	// [2 1 0]
	// [5.922 12.000 16.000 3.752 12.621 20.000]
	// [3 2 1 0 -1 -2]
}

// Content to position alone: the product of a query with position r is r here, so
// that the scores show which position each key takes.
func ExampleAddDeBERTa() {
	buckets, err := relative.NewDeBERTaBuckets(relative.DeBERTaConfig{Buckets: 4, MaxPosition: 8}) // 2*4 relative positions
	if err != nil {
		log.Fatal(err)
	}
	contentToPosition := []float32{0, 1, 2, 3, 4, 5, 6, 7}
	scores := make([]float32, 10)
	err = relative.AddDeBERTa(relative.Scores{Data: scores, Heads: 1, Queries: 1, Keys: 10, FirstQuery: 4}, buckets, relative.DeBERTaProducts{ContentToPosition: relative.Products{Data: contentToPosition}, Divisor: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(scores)
	fmt.Println(buckets.Position(-1), buckets.Position(1000)) // of a query one before its key, and far behind it
	// Output:
	// [7 7 6 5 4 3 2 1 1 1]
	// 3 7
}

// The biases of a window of 1 by 3 patches, one head: a tile of zeros becomes them. In Swin v2 a
// network makes the table, of coordinates of its entries: a row and a column for each.
func ExampleAddSwin() {
	window := relative.SwinWindow{Height: 1, Width: 3}
	table := []float32{-2, -1, 0, 1, 2} // query column - key column
	bias, err := relative.NewSwinBias(window, table)
	if err != nil {
		log.Fatal(err)
	}
	biases, coordinates := make([]float32, 9), make([]float32, 5*2)
	err = errors.Join(
		relative.AddSwin(relative.Scores{Data: biases, Heads: 1, Queries: 3, Keys: 3}, bias),
		relative.SwinCoordinates(coordinates, window, relative.SwinWindow{Height: 8}),
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(biases[:3], biases[3:6], biases[6:])
	fmt.Printf("%.3f\n", coordinates)
	// Output:
	// [0 -1 -2] [1 0 -1] [2 1 0]
	// [0.000 -1.057 0.000 -0.774 0.000 0.000 0.000 0.774 0.000 1.057]
}
