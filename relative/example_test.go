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
	// Output:
	// [7 7 6 5 4 3 2 1 1 1]
}

// Two queries after one key of memory. The products show the distances of their
// columns, 2, 1 and 0: those of the first query are shifted by one, and its last
// key, which comes after it and is masked, gets none.
func ExampleAddTransformerXL() {
	products := []float32{2, 1, 0, 2, 1, 0}
	scores := []float32{10, 20, 30, 10, 20, 30}
	err := relative.AddTransformerXL(relative.Scores{Data: scores, Heads: 1, Queries: 2, Keys: 3, FirstQuery: 1},
		relative.Products{Data: products}, relative.Distances{First: 2, Count: 3})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(scores)
	// Output:
	// [11 20 30 12 21 30]
}

// One query at position 2. The products show their distances, clipped to 1.
func ExampleAddShaw() {
	products := []float32{-1, 0, 1}
	scores := make([]float32, 5)
	tile := relative.Scores{Data: scores, Heads: 1, Queries: 1, Keys: 5, FirstQuery: 2}
	if err := relative.AddShaw(tile, relative.Products{Data: products}, 1); err != nil {
		log.Fatal(err)
	}
	fmt.Println(scores)

	// The weights of attention, summed for a product with the values of distances.
	tile.Data = []float32{0.125, 0.125, 0.25, 0.25, 0.25}
	sums := make([]float32, 3)
	if err := relative.SumShaw(relative.Products{Data: sums}, tile, 1); err != nil {
		log.Fatal(err)
	}
	fmt.Println(sums)
	// Output:
	// [-1 -1 0 1 1]
	// [0.25 0.25 0.5]
}

// Inkling's bias, here of keys up to two positions behind the query: its products are
// those of the distances 2, 1 and 0.
func ExampleAddBand() {
	products := []float32{3, 2, 1}
	scores := make([]float32, 6)
	tile := relative.Scores{Data: scores, Heads: 1, Queries: 1, Keys: 6, FirstQuery: 4}
	if err := relative.AddBand(tile, relative.Products{Data: products}, relative.Distances{First: 2, Count: 3}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(scores)
	// Output:
	// [0 0 3 2 1 0]
}

// The scores of Transformer-XL: two queries after one key of memory, one head of two
// elements.
func ExampleDotProducts() {
	const queries, keys, headDim = 2, 3, 2
	q := []float32{1, 0, 0, 1}
	k := []float32{1, 2, 3, 4, 5, 6}
	r := []float32{0.5, 0.25, 0.25, 0.5, 0, 1} // of the distances 2, 1 and 0, projected
	u, v := []float32{1, 1}, []float32{0, 2}   // r_w_bias, r_r_bias
	tile := relative.Scores{Data: make([]float32, queries*keys), Heads: 1, Queries: queries, Keys: keys, FirstQuery: keys - queries}
	products := relative.Products{Data: make([]float32, queries*keys)}
	view := func(x []float32) posenc.View[float32] { return posenc.View[float32]{Data: x, Heads: 1} }
	err := errors.Join(
		relative.DotProducts(relative.Products{Data: tile.Data}, view(q), u, view(k), relative.ProductShape{Tokens: queries, Columns: keys, HeadDim: headDim}), // (q+u)·k
		relative.DotProducts(products, view(q), v, view(r), relative.ProductShape{Tokens: queries, Columns: keys, HeadDim: headDim}),                           // (q+v)·r
		relative.AddTransformerXL(tile, products, relative.Distances{First: keys - 1, Count: keys}),
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tile.Data) // the last key of the first query, which comes after it, is masked
	// Output:
	// [5.25 12 16 5.75 12.5 20]
}

// The attention of Shaw et al. in full: one head, three tokens, distances clipped to 1.
func ExampleAddValues() {
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

// The biases of a window of 1 by 3 patches, one head: a tile of zeros becomes them.
func ExampleAddSwin() {
	table := []float32{-2, -1, 0, 1, 2} // query column - key column
	bias, err := relative.NewSwinBias(relative.SwinWindow{Height: 1, Width: 3}, table)
	if err != nil {
		log.Fatal(err)
	}
	biases := make([]float32, 9)
	if err := relative.AddSwin(relative.Scores{Data: biases, Heads: 1, Queries: 3, Keys: 3}, bias); err != nil {
		log.Fatal(err)
	}
	for query := range 3 {
		fmt.Println(biases[3*query : 3*query+3])
	}
	// Output:
	// [0 -1 -2]
	// [1 0 -1]
	// [2 1 0]
}

// Which relative position a distance, that of the query before the key's, takes in DeBERTa v3.
func ExampleDeBERTaBuckets_Position() {
	buckets, err := relative.NewDeBERTaBuckets(relative.DeBERTaConfig{Buckets: 256, MaxPosition: 512})
	if err != nil {
		log.Fatal(err)
	}
	for _, distance := range []int{-1000, -128, -1, 0, 1, 128, 129, 130, 1000} {
		fmt.Print(buckets.Position(distance), " ")
	}
	fmt.Println()
	// Output:
	// 0 128 255 256 257 384 385 386 511
}

// The inputs of the network of Swin v2, for a window of 2 by 2 patches: a row and a column for
// each difference, from -1 to 1.
func ExampleSwinCoordinates() {
	window := relative.SwinWindow{Height: 2, Width: 2}
	coordinates := make([]float32, 3*3*2)
	if err := relative.SwinCoordinates(coordinates, window, relative.SwinWindow{}); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", coordinates[:3*2]) // of the first row
	// Output:
	// [-1.057 -1.057 -1.057 0.000 -1.057 1.057]
}

// R of Transformer-XL: the encodings of the distances of five keys, the largest first, of which
// those beyond clamp_len count as that. A projection of the model follows.
func ExampleTransformerXLPositions() {
	const dim = 4
	positions := make([]int32, 5)
	if err := relative.TransformerXLPositions(positions, 3); err != nil {
		log.Fatal(err)
	}
	encoding, err := absolute.Marian(dim)
	if err != nil {
		log.Fatal(err)
	}
	r := make([]float32, len(positions)*dim)
	if err := absolute.SinusoidalRows(r, encoding, positions); err != nil {
		log.Fatal(err)
	}
	fmt.Println(positions)
	fmt.Printf("%.3f\n", r[len(r)-dim:]) // of distance 0
	// Output:
	// [3 3 2 1 0]
	// [0.000 0.000 1.000 1.000]
}

// XLNet attends to both sides: 3 keys and 3 queries have distances from 3 down to -2.
func ExampleXLNetPositions() {
	positions := make([]int32, 3+3)
	if err := relative.XLNetPositions(positions, relative.XLNetOptions{Keys: 3}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(positions)
	// Output:
	// [3 2 1 0 -1 -2]
}
