package relative_test

import (
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
	"github.com/go-posenc/posenc/relative"
)

// The bias of InklingRelativeLogits of transformers.
func TestBandAgainstInkling(t *testing.T) {
	for _, c := range testkit.ReadCases[struct {
		Heads, Queries, Keys, Dim, Extent int
		FirstQuery                        int `json:"first_query"`
		Bias                              float32s
	}](t, "testdata/inkling.json", 4) {
		r := posenc.View[float32]{Data: testkit.GoldenInputs(0, c.Queries*c.Heads*c.Dim), Heads: c.Heads}
		proj := testkit.GoldenInputs(5000, c.Dim*c.Extent) // [d_rel][extent]
		columns := posenc.View[float32]{Data: make([]float32, len(proj)), Heads: 1}
		for distance := range c.Extent {
			for i := range c.Dim {
				columns.Data[(c.Extent-1-distance)*c.Dim+i] = proj[i*c.Extent+distance]
			}
		}
		tile := relative.Scores{Data: make([]float32, c.Heads*c.Queries*c.Keys), Heads: c.Heads, Queries: c.Queries, Keys: c.Keys, FirstQuery: c.FirstQuery}
		products := relative.Products{Data: make([]float32, c.Heads*c.Queries*c.Extent)}
		testkit.NoError(t,
			relative.DotProducts(products, r, nil, columns, relative.ProductShape{Tokens: c.Queries, Columns: c.Extent, HeadDim: c.Dim}),
			relative.AddBand(tile, products, relative.Distances{First: c.Extent - 1, Count: c.Extent}),
		)
		for i, want := range c.Bias {
			head, query, key := i/c.Keys/c.Queries, i/c.Keys%c.Queries, i%c.Keys
			distance := c.FirstQuery + query - key
			bound := 0.0
			if distance >= 0 && distance < c.Extent {
				x := r.Data[(query*c.Heads+head)*c.Dim:][:c.Dim]
				bound = sumBound(c.Dim, magnitudes(x, nil, columns.Data[(c.Extent-1-distance)*c.Dim:]))
			}
			if !(math.Abs(float64(tile.Data[i]-want)) <= bound) {
				t.Fatalf("%d heads, extent %d: the bias of query %d and key %d is %v, want %v within %v", c.Heads, c.Extent, query, key, tile.Data[i], want, bound)
			}
		}
	}
}

func TestBandErrors(t *testing.T) {
	data := make([]float32, 40)
	scores := relative.Scores{Data: data[:12], Heads: 2, Queries: 2, Keys: 3}
	fails := testkit.Failures(t, data)
	fails(relative.AddBand(scores, relative.Products{Data: data[12:32]}, relative.Distances{First: 4}), posenc.ErrShape, "relative.AddBand: distances.Count is 0, want at least 1")
	if far := math.MinInt; far < math.MinInt32 {
		fails(relative.AddBand(scores, relative.Products{Data: data[12:32]}, relative.Distances{First: far, Count: 5}), posenc.ErrPosition, "distances.First is -9223372036854775808, want from -2^31 to 2^31")
	}
	fails(relative.AddBand(scores, relative.Products{Data: data[12:31]}, relative.Distances{First: 4, Count: 5}), posenc.ErrLength, "products.Data has 19 elements")
	fails(relative.AddBand(scores, relative.Products{Data: data[11:31]}, relative.Distances{First: 4, Count: 5}), posenc.ErrOverlap, "products.Data is sharing elements")
	fails(relative.AddBand(relative.Scores{Data: data[:11], Heads: 2, Queries: 2, Keys: 3}, relative.Products{Data: data[12:32]}, relative.Distances{First: 4, Count: 5}), posenc.ErrLength, "scores.Data has 11 elements")
}

var _ = testkit.Register(testkit.Case{
	Function: "AddBand",
	Call: func(a *testkit.Arguments) testkit.Call {
		s := outputScores(a, 3, anywhere)
		distances := relative.Distances{First: a.Number(0, 20), Count: a.Number(1, 30)}
		if !a.Any() {
			switch distance := -distanceOf(&s, 0, 0); a.Below(4) { // around the tile, all of it, or anywhere
			case 0:
				distances.First += distance
			case 1:
				distances.First = distance + s.Queries + a.Below(3)
				distances.Count = s.Queries + s.Keys + 5
			}
		}
		columns := distances.Count
		products := productsOf(a, s.Heads, s.Queries, columns, true)
		return testkit.Call{
			Run: func() error { return relative.AddBand(s, products, distances) },
			Want: func() {
				m := matricesOfProducts(&products, s.Heads, s.Queries, columns)
				change(s, func(score float32, head, query, key int) float32 {
					if column := distances.First + distanceOf(&s, query, key); column >= 0 && column < columns {
						return score + products.Data[m.at(head, query, column)]
					}
					return score
				})
			},
			Parts: func(c *testkit.Choices) [][]func() error {
				return tiles(c, s, func(tile relative.Scores, head, query, _ int) error {
					return relative.AddBand(tile, partOfProducts(products, s.Heads, s.Queries, columns, head, query), distances)
				})
			},
		}
	},
	OnStack: func() error {
		var data, products [18]float32
		return relative.AddBand(relative.Scores{Data: data[:], Heads: 2, Queries: 3, Keys: 3}, relative.Products{Data: products[:]}, relative.Distances{First: 2, Count: 3})
	},
	Long: func() error {
		return longScores(func(s relative.Scores) error {
			s.FirstQuery = s.Keys - s.Queries
			return relative.AddBand(s, relative.Products{Data: make([]float32, len(s.Data))}, relative.Distances{First: s.Keys - 1, Count: s.Keys})
		})
	},
	CallElements: kernels.MaxCallScores,
	Digests: func(add testkit.AddDigest) {
		add("AddBand", func(d *testkit.Digest) {
			for _, extent := range []int{1, 16, 300} {
				digestTiles(d, func(s relative.Scores) error {
					return relative.AddBand(s, digestProducts(d, s.Heads, s.Queries, extent), relative.Distances{First: extent - 1, Count: extent})
				})
			}
		})
	},
})
