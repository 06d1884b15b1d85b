package relative_test

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/relative"
)

// Products with the projected positions of transformers' DeBERTa.
func TestDotProductsAgainstDeBERTa(t *testing.T) {
	const heads, dim = 2, 8
	tested := 0
	for _, c := range kit.ReadCases[struct {
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
				x := headed(of(kit.GoldenInputs(start, heads*c.Tokens*dim)), heads, c.Tokens, dim)
				got := make([]float32, len(side.want))
				kit.NoError(t, relative.DotProducts(relative.Products{Data: got}, x, nil, headed(of(side.vectors), heads, columns, dim), relative.ProductShape{Tokens: c.Tokens, Columns: columns, HeadDim: dim}))
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
func vectorsOf(a *kit.Arguments, read bool) *vectorsCall {
	v := &vectorsCall{shape: relative.ProductShape{Tokens: a.Number(0, 12), Columns: a.Number(1, 20), HeadDim: a.Length()}}
	heads := a.Number(1, 3)
	if large := a.Below(32); !a.Any() && large < 4 {
		v.shape = []relative.ProductShape{{18, 70, 64}, {2, 20, 1000 + a.Below(25)}, {20, 700, 9}, {1100, 3, 1}}[large]
		heads = 1
	}
	tokens, columns, dim := v.shape.Tokens, v.shape.Columns, v.shape.HeadDim
	if a.Any() {
		v.x, v.vectors = kit.ViewOf[float32](a, tokens, dim), kit.ViewOf[float32](a, columns, dim)
		if a.Yes() {
			v.vectors = posenc.View[float32]{Data: kit.Slice[float32](a, kit.Small(columns, dim)), Heads: 1}
		}
	} else {
		v.x, v.vectors = kit.RandomShape[float32](a.R, tokens, heads, dim, kit.Apart), kit.RandomShape[float32](a.R, columns, []int{1, heads}[a.Below(2)], dim, kit.Apart)
		kit.FillView(a, &v.x, tokens, dim)
		kit.FillView(a, &v.vectors, columns, dim)
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
			f(h, v.x.Data[kit.RowAt(&v.x, t, h, v.shape.HeadDim):][:v.shape.HeadDim], m.at(h, t, 0))
		}
	}
}

// vector returns the vector of a head and a column.
func (v *vectorsCall) vector(head, column int) []float32 {
	return v.vectors.Data[kit.RowAt(&v.vectors, column, head%v.vectors.Heads, v.shape.HeadDim):][:v.shape.HeadDim]
}

// parts makes a call for each token.
func (v *vectorsCall) parts(c *kit.Choices, call func(v *vectorsCall) error) (groups [][]func() error) {
	for _, tokens := range c.Deal(v.shape.Tokens) {
		var group []func() error
		for _, token := range tokens {
			p := *v
			p.shape.Tokens, p.x.Tokens = 1, 1
			p.x.SequenceTokens, p.x.SequenceStride = 0, 0
			p.x.TokenStride = cmp.Or(v.x.TokenStride, v.x.Heads*v.shape.HeadDim)
			p.x.Data = v.x.Data[kit.RowAt(&v.x, token, 0, v.shape.HeadDim):]
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
func digestVectors(d *kit.Digest, f func(v *vectorsCall)) {
	const heads = 2
	for i, shape := range []relative.ProductShape{{1, 1, 1}, {3, 9, 7}, {4, 33, 16}, {18, 70, 64}, {2, 5, 80}, {3, 6, 1024}} {
		for j, fill := range []func(*kit.Digest, int) []float32{kit.DigestNumbers[float32], kit.DigestElements[float32]} {
			x, vectors := kit.DigestViewOf(d, fill, i, shape.Tokens, heads, shape.HeadDim), kit.DigestViewOf(d, fill, i+1, shape.Columns, 1+(i+j)%heads, shape.HeadDim)
			products := digestProducts(d, heads, shape.Tokens, shape.Columns)
			copy(products.Data, fill(d, len(products.Data)))
			f(&vectorsCall{x: x.View, vectors: vectors.View, products: products, shape: shape})
		}
	}
}

var (
	_ = kit.Register(kit.Case{
		Function: "DotProducts",
		Call: func(a *kit.Arguments) kit.Call {
			v := vectorsOf(a, false)
			if a.Yes() {
				n := v.x.Heads * v.shape.HeadDim
				if a.Any() {
					n = kit.Small(v.x.Heads, v.shape.HeadDim)
				}
				v.bias = kit.Slice[float32](a, n)
			}
			v.matrices().writes(a, v.products.Data)
			return kit.Call{
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
				Parts: func(c *kit.Choices) [][]func() error { return v.parts(c, (*vectorsCall).dotProducts) },
			}
		},
		Long: func() error { return longVectors((*vectorsCall).dotProducts) },
		Digests: func(add kit.AddDigest) {
			add("RelativeProducts", func(d *kit.Digest) {
				digestVectors(d, func(v *vectorsCall) {
					v.bias = kit.DigestElements[float32](d, v.x.Heads*v.shape.HeadDim)
					if d.Below(2) == 0 {
						v.bias = nil
					}
					d.Must(v.dotProducts())
					d.Add(v.products.Data)
				})
			})
		},
	})
	_ = kit.Register(kit.Case{
		Function: "AddValues",
		Call: func(a *kit.Arguments) kit.Call {
			v := vectorsOf(a, true)
			kit.WritesView(a, &v.x, v.shape.Tokens, v.shape.HeadDim)
			return kit.Call{
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
				Parts: func(c *kit.Choices) [][]func() error { return v.parts(c, (*vectorsCall).addValues) },
			}
		},
		Long: func() error { return longVectors((*vectorsCall).addValues) },
		Digests: func(add kit.AddDigest) {
			add("AddRelativeValues", func(d *kit.Digest) {
				digestVectors(d, func(v *vectorsCall) {
					d.Must(v.addValues())
					d.Add(v.x.Data)
				})
			})
		},
	})
)
