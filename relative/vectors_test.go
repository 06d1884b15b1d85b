package relative_test

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/relative"
)

// Products with the projected positions of transformers' DeBERTa.
func TestDotProductsAgainstDeBERTa(t *testing.T) {
	const heads, dim = 2, 8
	tested := 0
	for _, c := range testkit.ReadCases[struct {
		Tokens        int
		C2P, P2C      float32s
		PositionKey   float32s `json:"position_key"`
		PositionQuery float32s `json:"position_query"`
	}](t, "testdata/deberta.json", 9) {
		for start, side := range map[int]struct{ vectors, want []float32 }{0: {c.PositionKey, c.C2P}, 1000: {c.PositionQuery, c.P2C}} {
			if side.vectors == nil {
				continue
			}
			tested++
			columns := len(side.vectors) / heads / dim
			compareSums(t, "products", dim, side.want, func(of func(x []float32) []float32) []float32 {
				x := headed(of(testkit.GoldenInputs(start, heads*c.Tokens*dim)), heads, c.Tokens, dim)
				got := make([]float32, len(side.want))
				testkit.NoError(t, relative.DotProducts(relative.Products{Data: got}, x, nil, headed(of(side.vectors), heads, columns, dim), relative.ProductShape{Tokens: c.Tokens, Columns: columns, HeadDim: dim}))
				return got
			})
		}
	}
	if tested != 4 {
		t.Errorf("%d products, want 4", tested)
	}
}

// vectorsCall is what DotProducts and AddValues take: x is out, products are sums.
type vectorsCall struct {
	x, vectors posenc.View[float32]
	bias       []float32
	products   relative.Products
	shape      relative.ProductShape
}

func (v *vectorsCall) dotProducts() error {
	return relative.DotProducts(v.products, v.x, v.bias, v.vectors, v.shape)
}

func (v *vectorsCall) addValues() error {
	return relative.AddValues(v.x, v.products, v.vectors, v.shape)
}

// vectorsOf makes a call. One in eight has more rows or columns than a call of a kernel.
func vectorsOf(a *testkit.Arguments, read bool) *vectorsCall {
	v := &vectorsCall{shape: relative.ProductShape{Tokens: a.Number(0, 12), Columns: a.Number(1, 20), HeadDim: a.Length()}}
	heads := a.Number(1, 3)
	if large := a.Below(32); !a.Any() && large < 4 {
		v.shape = []relative.ProductShape{{18, 70, 64}, {2, 20, 1000 + a.Below(25)}, {20, 700, 9}, {1100, 3, 1}}[large]
		heads = 1
	}
	tokens, columns, dim := v.shape.Tokens, v.shape.Columns, v.shape.HeadDim
	if a.Any() {
		v.x, v.vectors = testkit.ViewOf[float32](a, tokens, dim), testkit.ViewOf[float32](a, columns, dim)
		if a.Yes() {
			v.vectors = posenc.View[float32]{Data: testkit.Slice[float32](a, testkit.Small(columns, dim)), Heads: 1}
		}
	} else {
		v.x, v.vectors = testkit.RandomShape[float32](a.R, tokens, heads, dim, testkit.Apart), testkit.RandomShape[float32](a.R, columns, []int{1, heads}[a.Below(2)], dim, testkit.Apart)
		testkit.FillView(a, &v.x, tokens, dim)
		testkit.FillView(a, &v.vectors, columns, dim)
	}
	v.products = productsOf(a, v.x.Heads, tokens, columns, read)
	return v
}

// matrices returns where the products lie.
func (v *vectorsCall) matrices() matrices {
	return matricesOfProducts(&v.products, v.x.Heads, v.shape.Tokens, v.shape.Columns)
}

// each calls f with every row of x, and where that of its products starts.
func (v *vectorsCall) each(f func(head int, row []float32, at int)) {
	m := v.matrices()
	if v.shape.Tokens == 0 {
		return // however many heads
	}
	for h := range v.x.Heads {
		for t := range v.shape.Tokens {
			f(h, v.x.Data[testkit.RowAt(&v.x, t, h, v.shape.HeadDim):][:v.shape.HeadDim], m.at(h, t, 0))
		}
	}
}

// vector returns the vector of a head and a column.
func (v *vectorsCall) vector(head, column int) []float32 {
	return v.vectors.Data[testkit.RowAt(&v.vectors, column, head%v.vectors.Heads, v.shape.HeadDim):][:v.shape.HeadDim]
}

// parts makes a call for each token.
func (v *vectorsCall) parts(c *testkit.Choices, call func(v *vectorsCall) error) (groups [][]func() error) {
	for _, tokens := range c.Deal(v.shape.Tokens) {
		var group []func() error
		for _, token := range tokens {
			p := *v
			p.shape.Tokens, p.x.Tokens = 1, 1
			p.x.SequenceTokens, p.x.SequenceStride = 0, 0
			p.x.TokenStride = cmp.Or(v.x.TokenStride, v.x.Heads*v.shape.HeadDim)
			p.x.Data = v.x.Data[testkit.RowAt(&v.x, token, 0, v.shape.HeadDim):]
			p.products = partOfProducts(v.products, v.x.Heads, v.shape.Tokens, v.shape.Columns, 0, token, 1)
			group = append(group, func() error { return call(&p) })
		}
		groups = append(groups, group)
	}
	return groups
}

// longVectors are long vectors and many, and many rows.
func longVectors(call func(v *vectorsCall) error) error {
	var errs []error
	for _, shape := range []relative.ProductShape{{1, 300, 1024}, {300, 300, 64}, {1, 1<<17 + 24, 1}, {3000, 3, 1}} {
		errs = append(errs, call(&vectorsCall{
			posenc.View[float32]{Data: make([]float32, shape.Tokens*shape.HeadDim), Heads: 1},
			posenc.View[float32]{Data: make([]float32, shape.Columns*shape.HeadDim), Heads: 1},
			make([]float32, shape.HeadDim),
			relative.Products{Data: make([]float32, shape.Tokens*shape.Columns)},
			shape,
		}))
	}
	return errors.Join(errs...)
}

// digestVectors calls f for several shapes, with ordinary numbers and with any.
func digestVectors(d *testkit.Digest, f func(v *vectorsCall)) {
	const heads = 2
	for i, shape := range []relative.ProductShape{{1, 1, 1}, {3, 9, 7}, {4, 33, 16}, {18, 70, 64}, {2, 5, 80}, {3, 6, 1024}} {
		for j, fill := range []func(*testkit.Digest, int) []float32{testkit.DigestNumbers[float32], testkit.DigestElements[float32]} {
			x, vectors := testkit.DigestViewOf(d, fill, i, shape.Tokens, heads, shape.HeadDim), testkit.DigestViewOf(d, fill, i+1, shape.Columns, 1+(i+j)%heads, shape.HeadDim)
			products := digestProducts(d, heads, shape.Tokens, shape.Columns)
			copy(products.Data, fill(d, len(products.Data)))
			f(&vectorsCall{x: x.View, vectors: vectors.View, products: products, shape: shape})
		}
	}
}

var (
	_ = testkit.Register(testkit.Case{
		Function: "DotProducts",
		Call: func(a *testkit.Arguments) testkit.Call {
			v := vectorsOf(a, false)
			if a.Yes() {
				n := v.x.Heads * v.shape.HeadDim
				if a.Any() {
					n = testkit.Small(v.x.Heads, v.shape.HeadDim)
				}
				v.bias = testkit.Slice[float32](a, n)
			}
			v.matrices().writes(a, v.products.Data)
			return testkit.Call{
				Run: v.dotProducts,
				Want: func() {
					v.each(func(head int, row []float32, at int) {
						q := slices.Clone(row)
						for i := range q {
							if v.bias != nil {
								q[i] += v.bias[head*v.shape.HeadDim+i]
							}
						}
						for column := range v.shape.Columns {
							vector := v.vector(head, column)
							var sums [16]float32
							for l := range sums {
								for i := l; i < len(q); i += 16 {
									sums[l] += float32(q[i] * vector[i])
								}
							}
							for _, d := range []int{8, 4, 2, 1} {
								for l := range d {
									sums[l] += sums[l+d]
								}
							}
							v.products.Data[at+column] = sums[0]
						}
					})
				},
				Parts: func(c *testkit.Choices) [][]func() error { return v.parts(c, (*vectorsCall).dotProducts) },
			}
		},
		Long: func() error { return longVectors((*vectorsCall).dotProducts) },
		Digests: func(add testkit.AddDigest) {
			add("RelativeProducts", func(d *testkit.Digest) {
				digestVectors(d, func(v *vectorsCall) {
					v.bias = testkit.DigestElements[float32](d, v.x.Heads*v.shape.HeadDim)
					if d.Below(2) == 0 {
						v.bias = nil
					}
					d.Must(v.dotProducts())
					d.Add(v.products.Data)
				})
			})
		},
	})
	_ = testkit.Register(testkit.Case{
		Function: "AddValues",
		Call: func(a *testkit.Arguments) testkit.Call {
			v := vectorsOf(a, true)
			testkit.WritesView(a, &v.x, v.shape.Tokens, v.shape.HeadDim)
			return testkit.Call{
				Run: v.addValues,
				Want: func() {
					v.each(func(head int, row []float32, at int) {
						for i := range row {
							for column := range v.shape.Columns {
								row[i] += float32(v.products.Data[at+column] * v.vector(head, column)[i])
							}
						}
					})
				},
				Parts: func(c *testkit.Choices) [][]func() error { return v.parts(c, (*vectorsCall).addValues) },
			}
		},
		Long: func() error { return longVectors((*vectorsCall).addValues) },
		Digests: func(add testkit.AddDigest) {
			add("AddRelativeValues", func(d *testkit.Digest) {
				digestVectors(d, func(v *vectorsCall) {
					d.Must(v.addValues())
					d.Add(v.x.Data)
				})
			})
		},
	})
)
