package relative_test

import (
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/relative"
)

// Shaw's attention: the scores that Wav2Vec2-BERT of transformers adds, and scores,
// weights and output of PyTorch by the paper's equations.
func TestShawAgainstPyTorch(t *testing.T) {
	for _, c := range testkit.ReadCases[struct {
		Model                         string
		Heads, Tokens, Dim            int
		MaxDistance                   int `json:"max_distance"`
		Bias, Scores, Weights, Output float32s
	}](t, "testdata/shaw.json", 4) {
		columns := 2*c.MaxDistance + 1
		q, k, v := headed(0, c.Heads, c.Tokens, c.Dim), headed(5000, c.Heads, c.Tokens, c.Dim), headed(15000, c.Heads, c.Tokens, c.Dim)
		aK, aV := posenc.View[float32]{Data: testkit.GoldenInputs(10000, columns*c.Dim), Heads: 1}, posenc.View[float32]{Data: testkit.GoldenInputs(20000, columns*c.Dim), Heads: 1}
		column := func(query, key int) int { return min(max(key-query, -c.MaxDistance), c.MaxDistance) + c.MaxDistance }
		tile := relative.Scores{Data: make([]float32, c.Heads*c.Tokens*c.Tokens), Heads: c.Heads, Queries: c.Tokens, Keys: c.Tokens}
		products := relative.Products{Data: make([]float32, c.Heads*c.Tokens*columns)}
		content := c.Model == "paper"
		if content {
			testkit.NoError(t, relative.DotProducts(relative.Products{Data: tile.Data}, q, nil, k, relative.ProductShape{Tokens: c.Tokens, Columns: c.Tokens, HeadDim: c.Dim}))
		}
		testkit.NoError(t,
			relative.DotProducts(products, q, nil, aK, relative.ProductShape{Tokens: c.Tokens, Columns: columns, HeadDim: c.Dim}),
			relative.AddShaw(tile, products, c.MaxDistance),
		)
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
		testkit.NoError(t,
			relative.SumShaw(sums, tile, c.MaxDistance),
			relative.AddValues(output, sums, aV, relative.ProductShape{Tokens: c.Tokens, Columns: columns, HeadDim: c.Dim}),
		)
		for i, want := range c.Output {
			// Up to as many additions of weights, of values and of both halves as keys.
			if bound := sumBound(3*c.Tokens, values[i]); !(math.Abs(float64(output.Data[i]-want)) <= bound) {
				t.Fatalf("output %d is %v, want %v within %v", i, output.Data[i], want, bound)
			}
		}
	}
}

// shawOf returns a tile that shape makes, its products and their largest distance.
func shawOf(a *testkit.Arguments, shape func(a *testkit.Arguments, modelHeads, end int) relative.Scores, read bool) (relative.Scores, relative.Products, int) {
	s := shape(a, 3, anywhere)
	maxDistance := a.Number(0, 20)
	switch many := s.Heads*s.Queries > 100; {
	case a.Any():
	case many:
		maxDistance %= 7
	case a.Below(4) == 0:
		maxDistance = 300
	}
	return s, productsOf(a, s.Heads, s.Queries, 2*testkit.Small(maxDistance)+1, read), maxDistance
}

// shawColumn returns the column of a query and a key.
func shawColumn(s *relative.Scores, query, key, maxDistance int) int {
	return maxDistance + min(max(distanceOf(s, query, key), -maxDistance), maxDistance)
}

var (
	_ = testkit.Register(testkit.Case{
		Function: "AddShaw",
		Call: func(a *testkit.Arguments) testkit.Call {
			s, products, maxDistance := shawOf(a, outputScores, true)
			return productsCall(s, products, 2*maxDistance+1,
				func(s relative.Scores, p relative.Products) error { return relative.AddShaw(s, p, maxDistance) },
				func(query, key int) int { return shawColumn(&s, query, key, maxDistance) })
		},
		Digests: func(add testkit.AddDigest) {
			add("AddShaw", func(d *testkit.Digest) {
				for _, maxDistance := range []int{0, 16} {
					digestTiles(d, func(s relative.Scores) error {
						return relative.AddShaw(s, digestProducts(d, s.Heads, s.Queries, 2*maxDistance+1), maxDistance)
					})
				}
			})
		},
	})
	_ = testkit.Register(testkit.Case{
		Function: "SumShaw",
		Call: func(a *testkit.Arguments) testkit.Call {
			weights, sums, maxDistance := shawOf(a, scoresOf, false)
			columns := 2*maxDistance + 1
			m := matricesOfProducts(&sums, weights.Heads, weights.Queries, columns)
			if weights.Keys > 0 {
				m.writes(a, sums.Data)
			}
			return testkit.Call{
				Run: func() error { return relative.SumShaw(sums, weights, maxDistance) },
				Want: func() {
					change(weights, func(weight float32, head, query, key int) float32 {
						sums.Data[m.at(head, query, shawColumn(&weights, query, key, maxDistance))] += weight
						return weight
					})
				},
				Parts: func(c *testkit.Choices) [][]func() error {
					return tiles(c, weights, func(tile relative.Scores, head, query, _ int) error {
						return relative.SumShaw(partOfProducts(sums, weights.Heads, weights.Queries, columns, head, query), tile, maxDistance)
					})
				},
			}
		},
		Digests: func(add testkit.AddDigest) {
			add("SumShaw", func(d *testkit.Digest) {
				for _, fill := range []func(*testkit.Digest, int) []float32{testkit.DigestNumbers[float32], testkit.DigestElements[float32]} {
					for _, maxDistance := range []int{0, 16} {
						digestTiles(d, func(s relative.Scores) error {
							sums := digestProducts(d, s.Heads, s.Queries, 2*maxDistance+1)
							copy(sums.Data, fill(d, len(sums.Data)))
							copy(s.Data, fill(d, len(s.Data)))
							err := relative.SumShaw(sums, s, maxDistance)
							d.Add(sums.Data)
							return err
						})
					}
				}
			})
		},
	})
)
