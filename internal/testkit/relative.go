package testkit

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/relative"
)

func MustDeBERTaBuckets(t testing.TB, buckets, maxPosition int) *relative.DeBERTaBuckets {
	t.Helper()
	b, err := relative.NewDeBERTaBuckets(relative.DeBERTaConfig{Buckets: buckets, MaxPosition: maxPosition})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ProductAt returns one of products with so many rows and columns.
func ProductAt(p *relative.Products, rows, columns, head, row, column int) int {
	rowStride, headStride := p.RowStride, p.HeadStride
	if rowStride == 0 {
		rowStride = columns
	}
	if headStride == 0 {
		headStride = rows * rowStride
	}
	return head*headStride + row*rowStride + column
}

// RelativeCase is what DotProducts and AddValues take. The slices of all
// memory have canaries round what the views and products reach.
type RelativeCase struct {
	X, Vectors               posenc.View[float32]
	Bias                     []float32
	Products                 relative.Products
	Tokens, Columns, HeadDim int

	All      Memory[float32] // of x
	Around   []float32       // the memory of products
	From     int             // where they start in it
	Vectored Memory[float32]
}

func RandomRelative(r *rand.Rand, heads, tokens, columns, headDim int) *RelativeCase {
	c := &RelativeCase{Tokens: tokens, Columns: columns, HeadDim: headDim}
	c.X = RandomShape[float32](r, tokens, heads, headDim)
	c.Vectors = RandomShape[float32](r, columns, OneOf(r, []int{1, heads}), headDim)
	c.All, c.Vectored = Allocate(r, &c.X, tokens, headDim), Allocate(r, &c.Vectors, columns, headDim)
	if r.IntN(2) == 0 {
		c.Bias = RandomElements[float32](r, heads*headDim)
	}
	size := heads * tokens * columns
	switch r.IntN(3) {
	case 0: // [heads][tokens][columns] with gaps
		c.Products.RowStride = columns + r.IntN(9)
		c.Products.HeadStride = tokens*c.Products.RowStride + r.IntN(9)
		size = heads * c.Products.HeadStride
	case 1: // [tokens][heads][columns] with gaps
		c.Products.HeadStride = columns + r.IntN(9)
		c.Products.RowStride = heads*c.Products.HeadStride + r.IntN(9)
		size = tokens * c.Products.RowStride
	}
	c.From = r.IntN(16)
	c.Around = RandomElements[float32](r, c.From+size+Padding)
	c.Products.Data = c.Around[c.From : c.From+size]
	return c
}

func (c *RelativeCase) Shape() relative.ProductShape {
	return relative.ProductShape{Tokens: c.Tokens, Columns: c.Columns, HeadDim: c.HeadDim}
}

// Vector returns the vector of a head and column.
func (c *RelativeCase) Vector(head, column int) []float32 {
	return c.Vectors.Data[RowAt(&c.Vectors, column, head%c.Vectors.Heads, c.HeadDim):][:c.HeadDim]
}

// Each calls f with every row of x and where that of its products starts.
func (c *RelativeCase) Each(f func(head int, row []float32, at int)) {
	for h := range c.X.Heads {
		for t := range c.Tokens {
			f(h, c.X.Data[RowAt(&c.X, t, h, c.HeadDim):][:c.HeadDim], ProductAt(&c.Products, c.Tokens, c.Columns, h, t, 0))
		}
	}
}

// PlainProducts writes products to dst as the documentation of DotProducts says.
func (c *RelativeCase) PlainProducts(dst []float32) {
	c.Each(func(head int, row []float32, at int) {
		q := slices.Clone(row)
		for i := range q {
			if c.Bias != nil {
				q[i] += c.Bias[head*c.HeadDim+i]
			}
		}
		for column := range c.Columns {
			v := c.Vector(head, column)
			var sums [16]float32
			for l := range sums {
				for i := l; i < len(q); i += 16 {
					sums[l] += float32(q[i] * v[i])
				}
			}
			for _, d := range []int{8, 4, 2, 1} {
				for l := range d {
					sums[l] += sums[l+d]
				}
			}
			dst[at+column] = sums[0]
		}
	})
}

// PlainValues adds values as the documentation of AddValues says.
func (c *RelativeCase) PlainValues() {
	c.Each(func(head int, row []float32, at int) {
		for i := range row {
			for column := range c.Columns {
				row[i] += float32(c.Products.Data[at+column] * c.Vector(head, column)[i])
			}
		}
	})
}

// Check compares both functions with their definitions.
func (c *RelativeCase) Check(t *testing.T) {
	t.Helper()
	before, given, vectors := slices.Clone(c.Around), slices.Clone(c.All.All), slices.Clone(c.Vectored.All)
	want := slices.Clone(c.Around)
	c.PlainProducts(want[c.From:])
	if err := relative.DotProducts(c.Products, c.X, c.Bias, c.Vectors, c.Shape()); err != nil {
		t.Fatal(err)
	}
	if i := FirstDifference(c.Around, want); i >= 0 {
		t.Fatalf("%d tokens of %+v, %d columns of %d: product %d is %v, want %v", c.Tokens, c.X.Heads, c.Columns, c.HeadDim, i-c.From, c.Around[i], want[i])
	}
	if !SameBits(c.All.All, given) || !SameBits(c.Vectored.All, vectors) {
		t.Fatal("inputs were written")
	}
	copy(c.Around, before)
	c.PlainValues()
	wantOut := slices.Clone(c.All.All)
	copy(c.All.All, given)
	if err := relative.AddValues(c.X, c.Products, c.Vectors, c.Shape()); err != nil {
		t.Fatal(err)
	}
	if i := FirstDifference(c.All.All, wantOut); i >= 0 {
		t.Fatalf("%d tokens of %+v, %d columns of %d: element %d is %v, want %v", c.Tokens, c.X.Heads, c.Columns, c.HeadDim, i-c.All.Start, c.All.All[i], wantOut[i])
	}
	if !SameBits(c.Around, before) || !SameBits(c.Vectored.All, vectors) {
		t.Fatal("sums or vectors were written")
	}
}

// RandomScores returns a tile of some of the heads of a model in random order of
// its dimensions, and the memory around it.
func RandomScores(r *rand.Rand, modelHeads, least, most int) (s relative.Scores, start int, memory []float32) {
	s.Heads = 1 + r.IntN(modelHeads)
	s.FirstHead = r.IntN(modelHeads - s.Heads + 1)
	s.Queries, s.Keys = 1+r.IntN(20), 1+r.IntN(90)
	s.FirstQuery, s.FirstKey = least+r.IntN(most-least-s.Queries), least+r.IntN(most-least-s.Keys)
	size := s.Heads * s.Queries * s.Keys
	switch r.IntN(3) {
	case 0: // [heads][queries][keys] with gaps
		s.QueryStride = s.Keys + r.IntN(9)
		s.HeadStride = s.Queries*s.QueryStride + r.IntN(9)
		size = s.Heads * s.HeadStride
	case 1: // [queries][heads][keys] with gaps
		s.HeadStride = s.Keys + r.IntN(9)
		s.QueryStride = s.Heads*s.HeadStride + r.IntN(9)
		size = s.Queries * s.QueryStride
	}
	start = r.IntN(16)
	memory = make([]float32, start+size+r.IntN(16))
	FillRandom(r, memory)
	s.Data = memory[start : start+size]
	return s, start, memory
}

// Cut returns ranges of the tokens and heads of a case.
func (whole *RelativeCase) Cut(c *Choices) (list []*RelativeCase) {
	heads := c.Cut(whole.X.Heads)
	for _, tokens := range c.Deal(whole.Tokens) {
		for len(tokens) > 0 {
			n := 1
			for n < len(tokens) && tokens[n] == tokens[0]+n && (whole.X.SequenceStride == 0 || tokens[n]%whole.X.SequenceTokens > 0) {
				n++
			}
			for i, first := range heads[:len(heads)-1] {
				list = append(list, whole.RowsOf(tokens[0], n, first, heads[i+1]))
			}
			tokens = tokens[n:]
		}
	}
	return list
}

// RowsOf returns tokens of one sequence, and the heads from first to end.
func (whole *RelativeCase) RowsOf(token, tokens, first, end int) *RelativeCase {
	p := *whole
	p.Tokens = tokens
	p.X = posenc.View[float32]{Heads: end - first, TokenStride: whole.X.TokenStride, HeadStride: whole.X.HeadStride}
	if p.X.TokenStride == 0 {
		p.X.TokenStride = whole.X.Heads * whole.HeadDim
	}
	p.X.Data = whole.X.Data[RowAt(&whole.X, token, first, whole.HeadDim):]
	if whole.Bias != nil {
		p.Bias = whole.Bias[first*whole.HeadDim : end*whole.HeadDim]
	}
	if whole.Vectors.Heads > 1 {
		p.Vectors.Heads = end - first
		if p.Vectors.TokenStride == 0 {
			p.Vectors.TokenStride = whole.Vectors.Heads * whole.HeadDim
		}
		p.Vectors.Data = whole.Vectors.Data[RowAt(&whole.Vectors, 0, first, whole.HeadDim):]
	}
	p.Products = relative.Products{
		Data:       whole.Products.Data[ProductAt(&whole.Products, whole.Tokens, whole.Columns, first, token, 0):],
		HeadStride: ProductAt(&whole.Products, whole.Tokens, whole.Columns, 1, 0, 0),
		RowStride:  ProductAt(&whole.Products, whole.Tokens, whole.Columns, 0, 1, 0),
	}
	return &p
}

// ColumnsOf returns the columns from first to end of a part.
func (whole *RelativeCase) ColumnsOf(first, end int) *RelativeCase {
	p := *whole
	p.Columns = end - first
	p.Products.Data = whole.Products.Data[first:]
	if v := &p.Vectors; v.SequenceStride == 0 {
		if v.TokenStride == 0 {
			v.TokenStride = v.Heads * whole.HeadDim
		}
		v.Data = v.Data[first*v.TokenStride:]
		return &p
	}
	// Columns of several sequences: copied.
	var data []float32
	for c := first; c < end; c++ {
		for h := range p.Vectors.Heads {
			data = append(data, whole.Vectors.Data[RowAt(&whole.Vectors, c, h, whole.HeadDim):][:whole.HeadDim]...)
		}
	}
	p.Vectors = posenc.View[float32]{Data: data, Heads: p.Vectors.Heads}
	return &p
}

func MustT5Buckets(t testing.TB, buckets, maxDistance int, bidirectional bool) *relative.T5Buckets {
	t.Helper()
	b, err := relative.NewT5Buckets(relative.T5Config{Buckets: buckets, MaxDistance: maxDistance, Bidirectional: bidirectional})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
