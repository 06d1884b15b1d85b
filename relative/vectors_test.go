package relative_test

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/relative"
)

func TestVectorsErrors(t *testing.T) {
	data := make([]float32, 400)
	view := func(from, n, heads int) posenc.View[float32] {
		return posenc.View[float32]{Data: data[from : from+n], Heads: heads}
	}
	right := vectorsCall{view(0, 24, 2), view(50, 40, 2), data[100:108], relative.Products{Data: data[120:150]}, relative.ProductShape{Tokens: 3, Columns: 5, HeadDim: 4}}
	for _, tt := range []struct {
		change    func(v *vectorsCall)
		kind      error
		dot, says string // of DotProducts and of AddValues; empty where the call is right
	}{
		{func(v *vectorsCall) { v.shape.Tokens = -1 }, posenc.ErrShape, "shape.Tokens is -1, want at least 0", "shape.Tokens is -1"},
		{func(v *vectorsCall) { v.shape.Columns = 0 }, posenc.ErrShape, "shape.Columns is 0, want at least 1", "shape.Columns is 0"},
		{func(v *vectorsCall) { v.shape.HeadDim = 0 }, posenc.ErrShape, "shape.HeadDim is 0, want from 1 to 1024", "shape.HeadDim is 0"},
		{func(v *vectorsCall) { v.shape.HeadDim = 1025 }, posenc.ErrShape, "shape.HeadDim is 1025", "shape.HeadDim is 1025"},
		{func(v *vectorsCall) { v.x.Heads = 0 }, posenc.ErrShape, "x.Heads is 0", "out.Heads is 0"},
		{func(v *vectorsCall) { v.shape.Tokens = 4 }, posenc.ErrLength, "x.Data has 24 elements, want 32 for 4 tokens", "out.Data has 24 elements, want 32 for 4 tokens"},
		{func(v *vectorsCall) { v.x.TokenStride, v.x.HeadStride = 4, 4 }, posenc.ErrOverlap, "x.TokenStride is 4", "out.TokenStride is 4"},
		{func(v *vectorsCall) { v.vectors.Heads = 3 }, posenc.ErrShape, "vectors.Heads is 3, want 1, or 2 as in x", "vectors.Heads is 3, want 1, or 2 as in out"},
		{func(v *vectorsCall) { v.x.Heads, v.shape.Tokens = 3, 2 }, posenc.ErrShape, "vectors.Heads is 2, want 1, or 3 as in x", "vectors.Heads is 2, want 1, or 3 as in out"},
		{func(v *vectorsCall) { v.vectors.Heads = 1 }, posenc.ErrLength, "vectors.Data has 40 elements, want 20", "vectors.Data has 40 elements, want 20"},
		{func(v *vectorsCall) { v.vectors.HeadStride = -1 }, posenc.ErrShape, "vectors.HeadStride is -1", "vectors.HeadStride is -1"},
		{func(v *vectorsCall) { v.products.Data = data[120:149] }, posenc.ErrLength, "products.Data has 29 elements, want 30 for 2 heads of 3 rows and 5 columns", "sums.Data has 29 elements"},
		{func(v *vectorsCall) { v.products.RowStride = -5 }, posenc.ErrShape, "products.RowStride is -5", "sums.RowStride is -5"},
		{func(v *vectorsCall) { v.products.Data = data[23:53] }, posenc.ErrOverlap, "products.Data is sharing elements with x.Data", "out.Data is sharing elements with sums.Data"},
		{func(v *vectorsCall) { v.vectors = view(149, 40, 2) }, posenc.ErrOverlap, "products.Data is sharing elements with vectors.Data", ""},
		{func(v *vectorsCall) { v.vectors = view(0, 40, 2) }, posenc.ErrOverlap, "", "out.Data is sharing elements with vectors.Data"},
		{func(v *vectorsCall) { v.bias = data[100:107] }, posenc.ErrLength, "bias has 7 elements, want Heads*HeadDim = 8, or nil", ""},
		{func(v *vectorsCall) { v.bias = []float32{} }, posenc.ErrLength, "bias has 0 elements", ""},
		{func(v *vectorsCall) { v.bias = data[149:157] }, posenc.ErrOverlap, "products.Data is sharing elements with bias", ""},
		{func(v *vectorsCall) { v.bias = data[:8] }, nil, "", ""},
		{func(v *vectorsCall) {
			v.products = relative.Products{Data: data[120:160], RowStride: 4, HeadStride: 20}
		}, posenc.ErrOverlap, "products.RowStride is 4, want rows of 5 columns that do not overlap, with 2 heads at HeadStride 20", ""},
		{func(v *vectorsCall) { // no tokens, however many heads
			v.x, v.vectors.Heads, v.bias = posenc.View[float32]{Heads: math.MaxInt, TokenStride: 1}, 1, nil
			v.products.Data, v.vectors.Data, v.shape.Tokens = nil, data[50:70], 0
		}, nil, "", ""},
	} {
		v := right
		tt.change(&v)
		for says, err := range map[string]error{"DotProducts: " + tt.dot: v.dotProducts(), "AddValues: " + tt.says: v.addValues()} {
			if strings.HasSuffix(says, ": ") {
				if err != nil {
					t.Error(err)
				}
				continue
			}
			testkit.Failures(t, data)(err, tt.kind, "relative."+says)
		}
	}
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
	testkit.ReadJSON("testdata/deberta.json", &vectors)
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
			testkit.NoError(t, relative.DotProducts(relative.Products{Data: got}, x, nil, v, relative.ProductShape{Tokens: c.Tokens, Columns: columns, HeadDim: dim}))
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
		v.x.Data = testkit.Slice[float32](a, testkit.ReachOf(&v.x, tokens, dim))
		v.vectors.Data = testkit.Slice[float32](a, testkit.ReachOf(&v.vectors, columns, dim))
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

// cut returns parts: ranges of tokens and of heads, each in ranges of columns, in
// ascending order.
func (v *vectorsCall) cut(c *testkit.Choices) (parts [][]*vectorsCall) {
	heads := c.Cut(v.x.Heads)
	for _, tokens := range c.Deal(v.shape.Tokens) {
		for len(tokens) > 0 {
			n := 1
			for n < len(tokens) && tokens[n] == tokens[0]+n && (v.x.SequenceStride == 0 || tokens[n]%v.x.SequenceTokens > 0) {
				n++
			}
			for i, first := range heads[:len(heads)-1] {
				rows := v.rows(tokens[0], n, first, heads[i+1])
				var part []*vectorsCall
				columns := c.Cut(v.shape.Columns)
				for j, column := range columns[:len(columns)-1] {
					part = append(part, rows.columns(column, columns[j+1]))
				}
				parts = append(parts, part)
			}
			tokens = tokens[n:]
		}
	}
	return parts
}

// rows returns the call for tokens of one sequence, and the heads from first to end.
func (v *vectorsCall) rows(token, tokens, first, end int) *vectorsCall {
	p := *v
	p.shape.Tokens = tokens
	p.x = posenc.View[float32]{Heads: end - first, TokenStride: cmp.Or(v.x.TokenStride, v.x.Heads*v.shape.HeadDim), HeadStride: v.x.HeadStride}
	p.x.Data = v.x.Data[testkit.RowAt(&v.x, token, first, v.shape.HeadDim):]
	if v.bias != nil {
		p.bias = v.bias[first*v.shape.HeadDim : end*v.shape.HeadDim]
	}
	if v.vectors.Heads > 1 {
		p.vectors.Heads = end - first
		p.vectors.TokenStride = cmp.Or(v.vectors.TokenStride, v.vectors.Heads*v.shape.HeadDim)
		p.vectors.Data = v.vectors.Data[testkit.RowAt(&v.vectors, 0, first, v.shape.HeadDim):]
	}
	p.products = partOfProducts(v.products, v.x.Heads, v.shape.Tokens, v.shape.Columns, first, token)
	return &p
}

// columns returns the call for the columns from first to end.
func (v *vectorsCall) columns(first, end int) *vectorsCall {
	p := *v
	p.shape.Columns = end - first
	p.products.Data = v.products.Data[first:]
	if w := &p.vectors; w.SequenceStride == 0 {
		w.TokenStride = cmp.Or(w.TokenStride, w.Heads*v.shape.HeadDim)
		w.Data = w.Data[first*w.TokenStride:]
		return &p
	}
	var data []float32 // columns of several sequences are copied
	for column := first; column < end; column++ {
		for h := range p.vectors.Heads {
			data = append(data, v.vector(h, column)...)
		}
	}
	p.vectors = posenc.View[float32]{Data: data, Heads: p.vectors.Heads}
	return &p
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
				Parts: func(c *testkit.Choices) (groups [][]func() error) {
					for _, part := range v.cut(c) {
						for _, p := range part {
							groups = append(groups, []func() error{p.dotProducts})
						}
					}
					return groups
				},
			}
		},
		OnStack: func() error {
			var x, bias, vectors [24]float32
			var products [18]float32
			return relative.DotProducts(relative.Products{Data: products[:]}, posenc.View[float32]{Data: x[:], Heads: 2}, bias[:8], posenc.View[float32]{Data: vectors[:12], Heads: 1}, relative.ProductShape{Tokens: 3, Columns: 3, HeadDim: 4})
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
				Parts: func(c *testkit.Choices) (groups [][]func() error) {
					for _, part := range v.cut(c) {
						var group []func() error
						for _, p := range part {
							group = append(group, p.addValues)
						}
						groups = append(groups, group)
					}
					return groups
				},
			}
		},
		OnStack: func() error {
			var out, vectors [24]float32
			var sums [18]float32
			return relative.AddValues(posenc.View[float32]{Data: out[:], Heads: 2}, relative.Products{Data: sums[:]}, posenc.View[float32]{Data: vectors[:], Heads: 2}, relative.ProductShape{Tokens: 3, Columns: 3, HeadDim: 4})
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
