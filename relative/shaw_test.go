package relative_test

import (
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/relative"
)

// Shaw's attention: the scores that Wav2Vec2-BERT of transformers adds, and scores,
// weights and output of PyTorch by the paper's equations.
func TestShawAgainstPyTorch(t *testing.T) {
	for _, c := range kit.ReadCases[struct {
		Model                         string
		Heads, Tokens, Dim            int
		MaxDistance                   int `json:"max_distance"`
		Bias, Scores, Weights, Output float32s
	}](t, "testdata/shaw.json", 4) {
		columns, content := 2*c.MaxDistance+1, c.Model == "paper"
		tokens, distances := relative.ProductShape{Tokens: c.Tokens, Columns: c.Tokens, HeadDim: c.Dim}, relative.ProductShape{Tokens: c.Tokens, Columns: columns, HeadDim: c.Dim}
		input := func(start int) []float32 { return kit.GoldenInputs(start, c.Heads*c.Tokens*c.Dim) }
		additions := c.Dim
		if content {
			additions++ // PyTorch adds vectors before it multiplies, or we products
		}
		compareSums(t, c.Model, additions, append(c.Bias, c.Scores...), func(of func(x []float32) []float32) []float32 {
			q, k := headed(of(input(0)), c.Heads, c.Tokens, c.Dim), headed(of(input(5000)), c.Heads, c.Tokens, c.Dim)
			relativeKeys := posenc.View[float32]{Data: of(kit.GoldenInputs(10000, columns*c.Dim)), Heads: 1}
			tile := relative.Scores{Data: make([]float32, c.Heads*c.Tokens*c.Tokens), Heads: c.Heads, Queries: c.Tokens, Keys: c.Tokens}
			products := relative.Products{Data: make([]float32, c.Heads*c.Tokens*columns)}
			if content {
				kit.NoError(t, relative.DotProducts(relative.Products{Data: tile.Data}, q, nil, k, tokens))
			}
			kit.NoError(t, relative.DotProducts(products, q, nil, relativeKeys, distances), relative.AddShaw(tile, products, c.MaxDistance))
			return scaled(tile.Data, c.Dim)
		})
		if !content {
			continue
		}
		// From PyTorch's weights on, so that its exponentials do not count: up to as many additions of
		// weights, of values and of both halves as keys.
		compareSums(t, "output", 3*c.Tokens, c.Output, func(of func(x []float32) []float32) []float32 {
			weights := relative.Scores{Data: of(c.Weights), Heads: c.Heads, Queries: c.Tokens, Keys: c.Tokens}
			sums := relative.Products{Data: make([]float32, c.Heads*c.Tokens*columns)}
			output := headed(make([]float32, len(c.Output)), c.Heads, c.Tokens, c.Dim)
			relativeValues := posenc.View[float32]{Data: of(kit.GoldenInputs(20000, columns*c.Dim)), Heads: 1}
			kit.NoError(t,
				relative.AddValues(output, relative.Products{Data: weights.Data}, headed(of(input(15000)), c.Heads, c.Tokens, c.Dim), tokens),
				relative.SumShaw(sums, weights, c.MaxDistance),
				relative.AddValues(output, sums, relativeValues, distances),
			)
			return output.Data
		})
	}
}

// shawOf returns a tile that shape makes, its products and their largest distance.
func shawOf(a *kit.Arguments, shape func(a *kit.Arguments, modelHeads, end int) relative.Scores, read bool) (relative.Scores, relative.Products, int) {
	s := shape(a, 3, anywhere)
	maxDistance := a.Number(0, 20)
	switch many := s.Heads*s.Queries > 100; {
	case a.Any():
	case many:
		maxDistance %= 7
	case a.Below(4) == 0:
		maxDistance = 300
	}
	return s, productsOf(a, s.Heads, s.Queries, 2*kit.Small(maxDistance)+1, read), maxDistance
}

// shawColumn returns the column of a query and a key.
func shawColumn(s *relative.Scores, query, key, maxDistance int) int {
	return maxDistance + min(max(distanceOf(s, query, key), -maxDistance), maxDistance)
}

var (
	_ = kit.Register(kit.Case{
		Function: "AddShaw",
		Call: func(a *kit.Arguments) kit.Call {
			s, products, maxDistance := shawOf(a, outputScores, true)
			return productsCall(s, products, 2*maxDistance+1,
				func(s relative.Scores, p relative.Products) error { return relative.AddShaw(s, p, maxDistance) },
				func(query, key int) int { return shawColumn(&s, query, key, maxDistance) })
		},
		Digests: func(add kit.AddDigest) {
			add("AddShaw", func(d *kit.Digest) {
				for _, maxDistance := range []int{0, 16} {
					digestTiles(d, func(s relative.Scores) error {
						return relative.AddShaw(s, digestProducts(d, s.Heads, s.Queries, 2*maxDistance+1), maxDistance)
					})
				}
			})
		},
	})
	_ = kit.Register(kit.Case{
		Function: "SumShaw",
		Call: func(a *kit.Arguments) kit.Call {
			weights, sums, maxDistance := shawOf(a, scoresOf, false)
			columns := 2*maxDistance + 1
			m := matricesOfProducts(&sums, weights.Heads, weights.Queries, columns)
			if weights.Keys > 0 {
				m.writes(a, sums.Data)
			}
			return kit.Call{
				Run: func() error { return relative.SumShaw(sums, weights, maxDistance) },
				Want: func() {
					change(weights, func(weight float32, head, query, key int) float32 {
						sums.Data[m.at(head, query, shawColumn(&weights, query, key, maxDistance))] += weight
						return weight
					})
				},
				Parts: func(c *kit.Choices) [][]func() error {
					return tiles(c, weights, func(tile relative.Scores, head, query, _ int) error {
						return relative.SumShaw(partOfProducts(sums, weights.Heads, weights.Queries, columns, head, query, tile.Queries), tile, maxDistance)
					})
				},
			}
		},
		Digests: func(add kit.AddDigest) {
			add("SumShaw", func(d *kit.Digest) {
				for _, fill := range []func(*kit.Digest, int) []float32{kit.DigestNumbers[float32], kit.DigestElements[float32]} {
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
