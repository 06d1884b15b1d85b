package relative_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/relative"
)

// TENER's code puts a column of zeros behind the products of n tokens with R. Read as rows of
// 2*n elements, the result is shifted; of keys, it is read as rows of n, every second of them a
// column.
func TestProductsAgainstTENER(t *testing.T) {
	for _, n := range []int{1, 2, 9, 40} {
		products := relative.Products{Data: kit.GoldenInputs(0, n*2*n)}
		var padded []float32
		for row := range n {
			padded = append(append(padded, products.Data[row*2*n:][:2*n]...), 0)
		}
		byQuery, byKey := make([]float32, n*n), make([]float32, n*n)
		buckets := kit.Must(relative.NewDeBERTaBuckets(relative.DeBERTaConfig{MaxPosition: n}))
		kit.NoError(t,
			relative.AddTransformerXL(relative.Scores{Data: byQuery, Heads: 1, Queries: n, Keys: n}, products, relative.Distances{First: n, Count: 2 * n}),
			relative.AddDeBERTa(relative.Scores{Data: byKey, Heads: 1, Queries: n, Keys: n}, buckets, relative.DeBERTaProducts{PositionToContent: products, Divisor: 1}))
		for q := range n {
			for k := range n {
				if shifted, column := padded[q*2*n+n+k], padded[(2*k+1)*n+q]; byQuery[q*n+k] != shifted || byKey[q*n+k] != column {
					t.Fatalf("%d keys: query %d and key %d get %v and %v, want %v and %v", n, q, k, byQuery[q*n+k], byKey[q*n+k], shifted, column)
				}
			}
		}
	}
}

// The shift of transformers' XLNet, in both directions and, as far as keys are not
// masked, in one.
func TestXLNetAgainstTransformers(t *testing.T) {
	for _, c := range kit.ReadCases[struct {
		Kind                          string
		Heads, Queries, Keys, Columns int
		Shifted                       float32s
		ClampLen                      int  `json:"clamp_len"`
		BiData                        bool `json:"bi_data"`
		Dim                           int
		Encodings                     float32s
	}](t, "testdata/xlnet.json", 10) {
		columns := c.Keys + c.Queries
		if c.Kind == "uni" {
			columns = c.Keys + 1
		}
		if c.Encodings != nil { // the rows of R for the two sequences of a batch
			positions, got := make([]int32, 2*columns), make([]float32, 2*columns*c.Dim)
			o := relative.XLNetOptions{Keys: c.Keys, ClampLen: int32(max(c.ClampLen, 0))} // -1 is no limit there
			backward := o
			backward.Backward = c.BiData
			kit.NoError(t, relative.XLNetPositions(positions[:columns], o), relative.XLNetPositions(positions[columns:], backward))
			kit.NoError(t, absolute.SinusoidalRows(got, kit.Must(absolute.Marian(c.Dim)), positions))
			for i, want := range got {
				// A sine of its own, and float32 angles up to Keys of two or three roundings.
				if len(c.Encodings) != len(got) || math.Abs(float64(want-c.Encodings[i])) > 0x1p-22+4*float64(c.Keys)*0x1p-24 {
					t.Fatalf("%s, clamp_len %d, bi_data %v: element %d of %d is %v, want %v", c.Kind, c.ClampLen, c.BiData, i, len(got), want, c.Encodings)
				}
			}
			continue
		}
		if c.Columns != columns {
			t.Errorf("%s: transformers has %d relative positions, want %d", c.Kind, c.Columns, columns)
		}
		got := make([]float32, c.Heads*c.Queries*c.Keys)
		first := c.Keys - c.Queries
		s := relative.Scores{Data: got, Heads: c.Heads, Queries: c.Queries, Keys: c.Keys, FirstQuery: first}
		kit.NoError(t, relative.AddTransformerXL(s, relative.Products{Data: kit.GoldenInputs(0, c.Heads*c.Queries*c.Columns)}, relative.Distances{First: c.Keys, Count: c.Columns}))
		for i, want := range c.Shifted {
			if masked := c.Kind == "uni" && i%c.Keys > first+i/c.Keys%c.Queries; !masked && got[i] != want {
				t.Fatalf("%s: element %d is %v, want %v", c.Kind, i, got[i], want)
			}
		}
	}
}

// The scores of Transformer-XL as XLNet and Wav2Vec2-Conformer of transformers have
// them, both summands by DotProducts.
func TestTransformerXLAgainstTransformers(t *testing.T) {
	for _, c := range kit.ReadCases[struct {
		Model                                     string
		Heads, Queries, Keys, Dim, First, Columns int
		Scores                                    float32s
	}](t, "testdata/transformerxl.json", 4) {
		// One more addition joins the summands.
		compareSums(t, c.Model, c.Dim+1, c.Scores, func(of func(x []float32) []float32) []float32 {
			tokens := func(start, n int) posenc.View[float32] {
				return posenc.View[float32]{Data: of(kit.GoldenInputs(start, n*c.Heads*c.Dim)), Heads: c.Heads}
			}
			scores, products := make([]float32, c.Heads*c.Queries*c.Keys), make([]float32, c.Heads*c.Queries*c.Columns)
			kit.NoError(t,
				relative.DotProducts(relative.Products{Data: scores}, tokens(0, c.Queries), tokens(40000, 1).Data, tokens(5000, c.Keys), relative.ProductShape{Tokens: c.Queries, Columns: c.Keys, HeadDim: c.Dim}),
				relative.DotProducts(relative.Products{Data: products}, tokens(0, c.Queries), tokens(41000, 1).Data, tokens(10000, c.Columns), relative.ProductShape{Tokens: c.Queries, Columns: c.Columns, HeadDim: c.Dim}),
				relative.AddTransformerXL(relative.Scores{Data: scores, Heads: c.Heads, Queries: c.Queries, Keys: c.Keys, FirstQuery: c.Keys - c.Queries}, relative.Products{Data: products}, relative.Distances{First: c.First, Count: c.Columns}),
			)
			return scaled(scores, c.Dim)
		})
	}
}

// positionsCall is that of a function that writes n positions, at(i) each.
func positionsCall(a *kit.Arguments, right bool, at func(i, n int) int, call func(positions []int32) error) kit.Call {
	positions := kit.Output[int32](a, a.Below(60))
	return kit.Call{
		Run: func() error { return call(positions) },
		Want: func() {
			for i := range positions {
				positions[i] = int32(at(i, len(positions)))
			}
		},
		Right: func() bool { return right },
	}
}

// clampTo clamps a position, unless the limit is 0.
func clampTo(p int, limit int32) int {
	if limit == 0 {
		return p
	}
	return min(max(p, -int(limit)), int(limit))
}

var (
	_ = kit.Register(kit.Case{
		Function: "AddTransformerXL",
		Call: func(a *kit.Arguments) kit.Call {
			s := outputScores(a, 3, 18000)
			distances := relative.Distances{First: a.Number(8, 20), Count: a.Number(40, 60)}
			if !a.Any() { // columns of all distances, or of those that are not negative
				farthest, nearest := -distanceOf(&s, s.Queries-1, 0), -distanceOf(&s, 0, s.Keys-1)
				distances.First = farthest + a.Below(9)
				distances.Count = max(distances.First-[]int{nearest, max(nearest, 0)}[a.Below(2)]+1, 1) + a.Below(9)
			}
			return productsCall(s, productsOf(a, s.Heads, s.Queries, distances.Count, true), distances.Count,
				func(s relative.Scores, p relative.Products) error { return relative.AddTransformerXL(s, p, distances) },
				func(query, key int) int { return distances.First + distanceOf(&s, query, key) })
		},
		Digests: func(add kit.AddDigest) {
			add("AddRelativeShift", func(d *kit.Digest) {
				digestTiles(d, func(s relative.Scores) error {
					// Columns from the largest distance of the tile down, to the last key or
					// to that of the query.
					largest := max(s.FirstQuery+s.Queries-1-s.FirstKey, 0)
					columns := largest + 1
					if d.Below(2) == 0 {
						columns = max(columns, largest+1-(s.FirstQuery-(s.FirstKey+s.Keys-1)))
					}
					return relative.AddTransformerXL(s, digestProducts(d, s.Heads, s.Queries, columns), relative.Distances{First: largest, Count: columns})
				})
			})
		},
	})
	_ = kit.Register(kit.Case{
		Function: "TransformerXLPositions",
		Call: func(a *kit.Arguments) kit.Call {
			limit := int32(a.Number(0, 9))
			return positionsCall(a, limit >= 0, func(i, n int) int { return clampTo(n-1-i, limit) }, func(positions []int32) error {
				return relative.TransformerXLPositions(positions, limit)
			})
		},
		Digests: func(add kit.AddDigest) {
			add("DescendingPositions", func(d *kit.Digest) {
				for _, limit := range []int32{0, 17} {
					positions := make([]int32, 50)
					d.Must(relative.TransformerXLPositions(positions, limit))
					d.Add(positions)
				}
			})
		},
	})
	_ = kit.Register(kit.Case{
		Function: "XLNetPositions",
		Call: func(a *kit.Arguments) kit.Call {
			o := relative.XLNetOptions{Keys: a.Number(0, 60), ClampLen: int32(a.Number(0, 9)), Backward: a.Yes()}
			right := o.Keys >= 0 && o.Keys <= math.MaxInt32 && o.ClampLen >= 0
			return positionsCall(a, right, func(i, _ int) int {
				p := clampTo(o.Keys-i, o.ClampLen)
				if o.Backward {
					p = -p
				}
				return p
			}, func(positions []int32) error { return relative.XLNetPositions(positions, o) })
		},
		Digests: func(add kit.AddDigest) {
			add("XLNetPositions", func(d *kit.Digest) {
				for _, limit := range []int32{0, 17} {
					for _, backward := range []bool{false, true} {
						positions := make([]int32, 50)
						d.Must(relative.XLNetPositions(positions, relative.XLNetOptions{Keys: 30, ClampLen: limit, Backward: backward}))
						d.Add(positions)
					}
				}
			})
		},
	})
)

// The bias of InklingRelativeLogits of transformers.
func TestBandAgainstInkling(t *testing.T) {
	for _, c := range kit.ReadCases[struct {
		Heads, Queries, Keys, Dim, Extent int
		FirstQuery                        int `json:"first_query"`
		Bias                              float32s
	}](t, "testdata/inkling.json", 4) {
		proj := kit.GoldenInputs(5000, c.Dim*c.Extent) // [d_rel][extent]
		columns := make([]float32, len(proj))
		for distance := range c.Extent {
			for i := range c.Dim {
				columns[(c.Extent-1-distance)*c.Dim+i] = proj[i*c.Extent+distance]
			}
		}
		compareSums(t, fmt.Sprintf("%d heads, extent %d", c.Heads, c.Extent), c.Dim, c.Bias, func(of func(x []float32) []float32) []float32 {
			tile := relative.Scores{Data: make([]float32, c.Heads*c.Queries*c.Keys), Heads: c.Heads, Queries: c.Queries, Keys: c.Keys, FirstQuery: c.FirstQuery}
			products := relative.Products{Data: make([]float32, c.Heads*c.Queries*c.Extent)}
			r := posenc.View[float32]{Data: of(kit.GoldenInputs(0, c.Queries*c.Heads*c.Dim)), Heads: c.Heads}
			kit.NoError(t,
				relative.DotProducts(products, r, nil, posenc.View[float32]{Data: of(columns), Heads: 1}, relative.ProductShape{Tokens: c.Queries, Columns: c.Extent, HeadDim: c.Dim}),
				relative.AddBand(tile, products, relative.Distances{First: c.Extent - 1, Count: c.Extent}),
			)
			return tile.Data
		})
	}
}

var _ = kit.Register(kit.Case{
	Function: "AddBand",
	Call: func(a *kit.Arguments) kit.Call {
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
	Digests: func(add kit.AddDigest) {
		add("AddBand", func(d *kit.Digest) {
			for _, extent := range []int{1, 16, 300} {
				digestTiles(d, func(s relative.Scores) error {
					return relative.AddBand(s, digestProducts(d, s.Heads, s.Queries, extent), relative.Distances{First: extent - 1, Count: extent})
				})
			}
		})
	},
})
