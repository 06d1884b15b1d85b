package relative_test

import (
	"fmt"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/relative"
)

// The bias of InklingRelativeLogits of transformers.
func TestBandAgainstInkling(t *testing.T) {
	for _, c := range testkit.ReadCases[struct {
		Heads, Queries, Keys, Dim, Extent int
		FirstQuery                        int `json:"first_query"`
		Bias                              float32s
	}](t, "testdata/inkling.json", 4) {
		proj := testkit.GoldenInputs(5000, c.Dim*c.Extent) // [d_rel][extent]
		columns := make([]float32, len(proj))
		for distance := range c.Extent {
			for i := range c.Dim {
				columns[(c.Extent-1-distance)*c.Dim+i] = proj[i*c.Extent+distance]
			}
		}
		compareSums(t, fmt.Sprintf("%d heads, extent %d", c.Heads, c.Extent), c.Dim, c.Bias, func(of func(x []float32) []float32) []float32 {
			tile := relative.Scores{Data: make([]float32, c.Heads*c.Queries*c.Keys), Heads: c.Heads, Queries: c.Queries, Keys: c.Keys, FirstQuery: c.FirstQuery}
			products := relative.Products{Data: make([]float32, c.Heads*c.Queries*c.Extent)}
			r := posenc.View[float32]{Data: of(testkit.GoldenInputs(0, c.Queries*c.Heads*c.Dim)), Heads: c.Heads}
			testkit.NoError(t,
				relative.DotProducts(products, r, nil, posenc.View[float32]{Data: of(columns), Heads: 1}, relative.ProductShape{Tokens: c.Queries, Columns: c.Extent, HeadDim: c.Dim}),
				relative.AddBand(tile, products, relative.Distances{First: c.Extent - 1, Count: c.Extent}),
			)
			return tile.Data
		})
	}
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
		return productsCall(s, productsOf(a, s.Heads, s.Queries, distances.Count, true), distances.Count,
			func(s relative.Scores, p relative.Products) error { return relative.AddBand(s, p, distances) },
			func(query, key int) int { return distances.First + distanceOf(&s, query, key) })
	},
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
