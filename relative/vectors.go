package relative

import (
	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// ProductShape has the sizes for [DotProducts] and [AddValues].
type ProductShape struct {
	Tokens  int // tokens of x or out: the rows of the products for each head
	Columns int // columns of the products: the vectors of each head; at least 1
	HeadDim int // elements of a vector, from 1 to 1024
}

// maxVectorDim bounds HeadDim, because queries plus bias are on the stack.
const maxVectorDim = 1024

// DotProducts multiplies queries (or keys) with the vectors of relative positions. It writes
// the products that [AddShaw], [AddTransformerXL], [AddDeBERTa] and [AddBand] take:
//
//	products[h][t][c] = (x[t][h] + bias[h]) · vectors[c][h]
//
// x is [tokens][heads][headDim] and products is [heads][tokens][columns]. vectors is
// [columns][heads][headDim], or [columns][1][headDim] where the heads share them; its columns
// are the tokens of the View. bias is [heads][headDim], or nil for none. shape has the sizes.
//
// With bias u (r_w_bias) and the keys as vectors, it also makes the content scores of
// Transformer-XL.
//
// A product with a vector v is computed in this order, where all sums start at 0:
//
//	q[i]    = RN32(x[i] + bias[i])
//	sums[l] = RN32(sums[l] + RN32(q[i]*v[i]))    i = l, l+16, l+32, ...; l < 16
//	sums[l] = RN32(sums[l] + sums[l+d])          l < d; d = 8, 4, 2, 1
//
// The product is sums[0]. A linear algebra library sums in its own order, and is faster where
// both matrices are large. Any range of tokens, heads or columns may be a separate call, from
// any goroutine, with the same bits. Errors wrap ErrShape, [posenc.ErrLength] or
// [posenc.ErrOverlap].
func DotProducts(products Products, x posenc.View[float32], bias []float32, vectors posenc.View[float32], shape ProductShape) error {
	const function = "relative.DotProducts"
	if err := shape.check(function, "x", &x, &vectors); err != nil {
		return err
	}
	var m matrices
	if err := products.check(&m, function, "products", nil, "", x.Heads, shape.Tokens, shape.Columns, true); err != nil {
		return err
	}
	if want, ok := argument.Multiply(x.Heads, shape.HeadDim); bias != nil && !ok {
		return argument.Error(posenc.ErrLength, function, "bias", argument.Elements(len(bias)), "Heads*HeadDim, more than an int can count, or nil")
	} else if bias != nil && len(bias) != want {
		return argument.Error(posenc.ErrLength, function, "bias", argument.Elements(len(bias)), "Heads*HeadDim = %d, or nil", want)
	}
	for i, other := range [...][]float32{x.Data, bias, vectors.Data} {
		if argument.Overlap(products.Data, other) {
			return argument.Error(posenc.ErrOverlap, function, "products.Data", "sharing elements with "+[]string{"x.Data", "bias", "vectors.Data"}[i], "another slice")
		}
	}
	tokens, columns := operandsOf(&x, &vectors, shape.HeadDim)
	var biased [maxVectorDim]float32
	k := kernels.Matrices{Len: shape.HeadDim, YStride: m.rowStride, VectorStride: columns.TokenStride}
	var p panel
	for p.next(&shape, &tokens, &columns) {
		k.Rows, k.Columns, k.XStride = p.tokens, p.columns, tokens.TokenStride
		rows := tokens.Float32s(tokens.Token(p.token) + p.head*tokens.HeadStride)
		if bias != nil {
			for r := range p.tokens {
				copy(biased[r*shape.HeadDim:][:shape.HeadDim], rows[r*k.XStride:])
			}
			rows, k.XStride = biased[:], shape.HeadDim
			kernels.AddRowsF32(dispatch.Implementation(), rows, bias, p.head*shape.HeadDim, 0, nil, &kernels.Tile{Len: shape.HeadDim, Rows: p.tokens, Stride: shape.HeadDim})
		}
		kernels.DotProductsF32(dispatch.Implementation(), products.Data[m.row(p.head, p.token)+p.column:], rows, p.vectors(&columns), &k)
	}
	return nil
}

// AddValues adds the relative values of Shaw et al. to the output of attention, in place. It
// is the second step after [SumShaw]. For the columns c in ascending order,
//
//	out[t][h][i] = RN32(out[t][h][i] + RN32(sums[h][t][c]*vectors[c][h][i]))
//
// out is [tokens][heads][headDim]. sums is [heads][tokens][columns] and must be complete: it
// includes all keys. vectors is as in [DotProducts]: a^V of the clipped distances, from
// -maxDistance up. Any range of tokens or heads may be a separate call, from any goroutine, with
// the same bits; so may ranges of columns, in ascending order. Errors are as in DotProducts.
func AddValues(out posenc.View[float32], sums Products, vectors posenc.View[float32], shape ProductShape) error {
	const function = "relative.AddValues"
	if err := shape.check(function, "out", &out, &vectors); err != nil {
		return err
	}
	var m matrices
	if err := sums.check(&m, function, "sums", nil, "", out.Heads, shape.Tokens, shape.Columns, false); err != nil {
		return err
	}
	for i, other := range [...][]float32{sums.Data, vectors.Data} {
		if argument.Overlap(out.Data, other) {
			return argument.Error(posenc.ErrOverlap, function, "out.Data", "sharing elements with "+[]string{"sums.Data", "vectors.Data"}[i], "another slice")
		}
	}
	tokens, columns := operandsOf(&out, &vectors, shape.HeadDim)
	k := kernels.Matrices{Len: shape.HeadDim, YStride: tokens.TokenStride, XStride: m.rowStride, VectorStride: columns.TokenStride}
	var p panel
	for p.next(&shape, &tokens, &columns) {
		k.Rows, k.Columns = p.tokens, p.columns
		rows := tokens.Float32s(tokens.Token(p.token) + p.head*tokens.HeadStride)
		kernels.AddMultiplesF32(dispatch.Implementation(), rows, sums.Data[m.row(p.head, p.token)+p.column:], p.vectors(&columns), &k)
	}
	return nil
}

// check checks the shape, the vectors, and x, the argument called name.
func (s *ProductShape) check(function, name string, x, vectors *posenc.View[float32]) error {
	switch {
	case s.Tokens < 0:
		return argument.Error(posenc.ErrShape, function, "shape.Tokens", s.Tokens, "at least 0")
	case s.Columns < 1:
		return argument.Error(posenc.ErrShape, function, "shape.Columns", s.Columns, "at least 1")
	case s.HeadDim < 1 || s.HeadDim > maxVectorDim:
		return argument.Error(posenc.ErrShape, function, "shape.HeadDim", s.HeadDim, "from 1 to %d", maxVectorDim)
	}
	var g view.Grid
	tokensView, vectorsView := (*view.View[float32])(x), (*view.View[float32])(vectors)
	if p := tokensView.Problem(&g, s.Tokens, s.HeadDim); p != view.None {
		return tokensView.Error(p, function, name, &g)
	}
	if vectors.Heads != 1 && vectors.Heads != x.Heads {
		return argument.Error(posenc.ErrShape, function, "vectors.Heads", vectors.Heads, "1, or %d as in %s", x.Heads, name)
	}
	if p := vectorsView.Problem(&g, s.Columns, s.HeadDim); p != view.None {
		return vectorsView.Error(p, function, "vectors", &g)
	}
	return nil
}

// operandsOf returns x and the vectors as operands. The head stride of vectors is 0 where
// all heads share them.
func operandsOf(x, vectors *posenc.View[float32], headDim int) (tokens, columns view.Operand) {
	tokens = (*view.View[float32])(x).Operand(kernels.KindFloat32, headDim)
	columns = (*view.View[float32])(vectors).Operand(kernels.KindFloat32, headDim)
	if columns.Heads == 1 {
		columns.HeadStride = 0
	}
	return tokens, columns
}

// panel is the tokens and columns of one head that one call of a kernel multiplies.
type panel struct {
	head, token, column int // the first
	tokens, columns     int
}

// next moves p to the next panel, or to the first one if p is zero, and reports whether there
// is one. All tokens of all heads come before the next columns, so that the vectors stay in a
// CPU cache meanwhile.
func (p *panel) next(s *ProductShape, tokens, columns *view.Operand) bool {
	if s.Tokens == 0 {
		return false
	}
	p.token += p.tokens
	if p.token == s.Tokens {
		p.token = 0
		p.head++
		if p.head == tokens.Heads {
			p.head = 0
			p.column += p.columns
		}
	}
	if p.column == s.Columns {
		return false
	}
	rows := maxVectorDim / s.HeadDim
	p.tokens = min(rows, tokens.Together(p.token, s.Tokens-p.token))
	p.columns = min(kernels.MaxCallElements/(rows*s.HeadDim), columns.Together(p.column, s.Columns-p.column))
	return true
}

// vectors returns the elements from the first vector on.
func (p *panel) vectors(columns *view.Operand) []float32 {
	return columns.Float32s(columns.Token(p.column) + p.head*columns.HeadStride)
}
