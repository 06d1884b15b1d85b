package relative

import (
	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/element"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// Products describes the scores of content with relative positions that go with a
// tile of [Scores], [heads][rows][columns]: that of row r and column c in head h is
//
//	Data[h*HeadStride+r*RowStride+c]
//
// Heads and rows are those of the tile: row 0 belongs to its first query, or to
// its first key where a function says so. With RelativeProducts and
// AddRelativeValues they are the heads and tokens of x or out. How many columns there are, and what
// they stand for, is up to the function. It is a matrix product of the queries (or
// keys) with the vectors of the relative positions: see [RelativeProducts].
//
// Units are elements. Packed, with both strides 0, Data holds exactly
// heads*rows*columns elements; strided, at least those up to the last one. Rows that
// are only read may overlap. It must share no memory with the scores.
type Products struct {
	Data       []float32
	HeadStride int // elements from head to head; 0 means rows*RowStride
	RowStride  int // elements from row to row; 0 means columns
}

// check sets the strides to what they mean.
func (p *Products) check(function, name string, scores []float32, heads, rows, columns int) error {
	fail := func(kind error, field string, value any, expected string, args ...any) error {
		return argument.Error(kind, function, name+"."+field, value, expected, args...)
	}
	switch {
	case p.HeadStride < 0:
		return fail(posenc.ErrShape, "HeadStride", p.HeadStride, "at least 0")
	case p.RowStride < 0:
		return fail(posenc.ErrShape, "RowStride", p.RowStride, "at least 0")
	}
	packed := p.HeadStride == 0 && p.RowStride == 0
	if p.RowStride == 0 {
		p.RowStride = columns
	}
	need, ok := 0, true
	if p.HeadStride == 0 {
		if p.HeadStride, ok = argument.Multiply(rows, p.RowStride); !ok {
			return fail(posenc.ErrLength, "Data", argument.Elements(len(p.Data)), "more than an int can count for %d heads of %d rows of %d at stride %d", heads, rows, columns, p.RowStride)
		}
	}
	if rows > 0 {
		g := view.Grid{Sequences: 1, Tokens: rows, TokenStride: p.RowStride, Heads: heads, HeadStride: p.HeadStride, Dim: columns}
		need, ok = g.Extent()
	}
	switch {
	case !ok:
		return fail(posenc.ErrLength, "Data", argument.Elements(len(p.Data)), "more than an int can count for %d heads of %d rows of %d at strides %d and %d", heads, rows, columns, p.HeadStride, p.RowStride)
	case packed && len(p.Data) != need:
		return fail(posenc.ErrLength, "Data", argument.Elements(len(p.Data)), "%d for %d heads of %d rows of %d", need, heads, rows, columns)
	case len(p.Data) < need:
		return fail(posenc.ErrLength, "Data", argument.Elements(len(p.Data)), "at least %d for %d heads of %d rows of %d at strides %d and %d", need, heads, rows, columns, p.HeadStride, p.RowStride)
	case argument.Overlap(p.Data, scores):
		return fail(posenc.ErrOverlap, "Data", "sharing elements with the tile", "another slice")
	}
	return nil
}

// checkApart returns an error where rows share elements. The strides are set.
func (p *Products) checkApart(function, name string, heads, rows, columns int) error {
	g := view.Grid{Sequences: 1, Tokens: rows, TokenStride: p.RowStride, Heads: heads, HeadStride: p.HeadStride, Dim: columns}
	if rows > 0 && g.SelfOverlaps() {
		return argument.Error(posenc.ErrOverlap, function, name+".RowStride", p.RowStride, "rows of %d that do not overlap, with %d heads at HeadStride %d", columns, heads, p.HeadStride)
	}
	return nil
}

// row returns the element at which a row starts.
func (p *Products) row(head, row int) int { return head*p.HeadStride + row*p.RowStride }

// maxVectorDim bounds the vectors of relative positions: rows of queries, with their
// bias, are on the stack.
const maxVectorDim = 1024

// RelativeProducts writes the scores of content with the vectors of relative
// positions that [AddShaw], [AddRelativeShift] and [AddDeBERTa] take: the dot products
//
//	products[h][t][c] = (x[t][h] + bias[h]) · vectors[c][h]
//
// of tokens of x with columns of vectors. x is [tokens][heads][headDim], vectors is
// [columns][heads][headDim], or [columns][1][headDim] where the heads share them, and
// products is [heads][tokens][columns]. bias is [heads][headDim], or nil for none.
//
//	Shaw                    x queries, vectors a^K of the distances, shared or not
//	Transformer-XL, XLNet   x queries, bias v (r_r_bias), vectors R after its projection
//	DeBERTa                 x queries, vectors the projected keys of the relative positions;
//	                        x keys, vectors the projected queries of the relative positions
//
// With bias u (r_w_bias) and the keys for vectors, it makes the content scores of
// Transformer-XL.
//
// With RN32 rounding to the nearest float32, ties to even, the product of x and bias
// with a vector v is
//
//	q[i]    = RN32(x[i] + bias[i])
//	sums[l] = RN32(sums[l] + RN32(q[i]*v[i]))    i = l, l+16, l+32, ...; l < 16
//	sums[l] = RN32(sums[l] + sums[l+d])          l < d; d = 8, 4, 2, 1
//
// at last sums[0], where all start at 0. Every implementation sums in this order, so
// that the result is defined to the last bit; a library of linear algebra has its
// own, and is faster where both matrices are large.
//
// headDim is from 1 to 1024. The columns are the tokens of the View vectors. Rows of
// products must not overlap, and it shares no memory with x, bias and vectors. A call
// allocates nothing, and any range of tokens, heads or columns may be a call of its
// own, from any goroutine, with the same bits.
//
// Errors wrap posenc.ErrShape, ErrLength or ErrOverlap.
func RelativeProducts(products Products, x posenc.View[float32], bias []float32, vectors posenc.View[float32], tokens, columns, headDim int) error {
	const function = "relative.RelativeProducts"
	if err := checkRelative(function, "x", &x, "products", &products, &vectors, tokens, columns, headDim); err != nil {
		return err
	}
	if want, ok := argument.Multiply(x.Heads, headDim); bias != nil && (!ok || len(bias) != want) {
		return argument.Error(posenc.ErrLength, function, "bias", argument.Elements(len(bias)), "%d*%d, or nil", x.Heads, headDim)
	}
	if err := products.checkApart(function, "products", x.Heads, tokens, columns); err != nil {
		return err
	}
	for _, other := range []struct {
		name string
		data []float32
	}{{"x", x.Data}, {"bias", bias}, {"vectors", vectors.Data}} {
		if argument.Overlap(products.Data, other.data) {
			return argument.Error(posenc.ErrOverlap, function, "products.Data", "sharing memory with "+other.name, "another slice")
		}
	}
	if tokens == 0 {
		return nil
	}
	var biased [maxVectorDim]float32
	from, to := operandOf(&x, headDim), operandOf(&vectors, headDim)
	if to.Heads == 1 {
		to.HeadStride = 0
	}
	m := kernels.Matrices{Len: headDim, YStride: products.RowStride, VectorStride: to.TokenStride}
	most := maxVectorDim / headDim            // rows
	for c := 0; c < columns; c += m.Columns { // these vectors are in a cache for all rows
		m.Columns = min(kernels.MaxCallElements/(most*headDim), to.Together(c, columns-c))
		for h := range from.Heads {
			vectors := to.Float32s(to.Token(c) + h*to.HeadStride)
			for t := 0; t < tokens; t += m.Rows {
				m.Rows = min(most, from.Together(t, tokens-t))
				rows := from.Float32s(from.Token(t) + h*from.HeadStride)
				m.XStride = from.TokenStride
				if bias != nil {
					for r := range m.Rows {
						copy(biased[r*headDim:][:headDim], rows[r*m.XStride:])
					}
					rows, m.XStride = biased[:], headDim
					tile := kernels.Tile{Len: headDim, Rows: m.Rows, Stride: headDim}
					kernels.AddRowsF32(dispatch.Implementation(), rows, bias, h*headDim, 0, nil, &tile)
				}
				kernels.DotProductsF32(dispatch.Implementation(), products.Data[products.row(h, t)+c:], rows, vectors, &m)
			}
		}
	}
	return nil
}

// AddRelativeValues adds what relative positions add to the output of attention with
// relative values, the other half of [SumShaw], in place: for the columns c in
// ascending order,
//
//	out[t][h][i] = RN32(out[t][h][i] + RN32(sums[h][t][c]*vectors[c][h][i]))
//
// with a row of as many sums as columns for each token and head. out is
// [tokens][heads][headDim], vectors is [columns][heads][headDim], or
// [columns][1][headDim] where the heads share them: a^V of Shaw's distances, from the
// least one up. sums are those of all keys.
//
// headDim is from 1 to 1024. The columns are the tokens of the View vectors. out
// shares no memory with sums and vectors. A call allocates nothing, and any range of
// tokens or heads may be a call of its own, from any goroutine, with the same bits; so
// may columns, in ascending order.
//
// Errors wrap posenc.ErrShape, ErrLength or ErrOverlap.
func AddRelativeValues(out posenc.View[float32], sums Products, vectors posenc.View[float32], tokens, columns, headDim int) error {
	const function = "relative.AddRelativeValues"
	if err := checkRelative(function, "out", &out, "sums", &sums, &vectors, tokens, columns, headDim); err != nil {
		return err
	}
	for _, other := range []struct {
		name string
		data []float32
	}{{"sums", sums.Data}, {"vectors", vectors.Data}} {
		if argument.Overlap(out.Data, other.data) {
			return argument.Error(posenc.ErrOverlap, function, "out.Data", "sharing memory with "+other.name, "another slice")
		}
	}
	if tokens == 0 {
		return nil
	}
	to, from := operandOf(&out, headDim), operandOf(&vectors, headDim)
	if from.Heads == 1 {
		from.HeadStride = 0
	}
	m := kernels.Matrices{Len: headDim, YStride: to.TokenStride, XStride: sums.RowStride, VectorStride: from.TokenStride}
	most := maxVectorDim / headDim            // rows
	for c := 0; c < columns; c += m.Columns { // these vectors are in a cache for all rows
		m.Columns = min(kernels.MaxCallElements/(most*headDim), from.Together(c, columns-c))
		for h := range to.Heads {
			vectors := from.Float32s(from.Token(c) + h*from.HeadStride)
			for t := 0; t < tokens; t += m.Rows {
				m.Rows = min(most, to.Together(t, tokens-t))
				kernels.AddMultiplesF32(dispatch.Implementation(), to.Float32s(to.Token(t)+h*to.HeadStride), sums.Data[sums.row(h, t)+c:], vectors, &m)
			}
		}
	}
	return nil
}

// checkRelative checks what tokens of x, or of an output, and columns of vectors have
// in common with their products, and sets the strides of these.
func checkRelative(function, name string, x *posenc.View[float32], productsName string, products *Products, vectors *posenc.View[float32], tokens, columns, headDim int) error {
	switch {
	case tokens < 0:
		return argument.Error(posenc.ErrShape, function, "tokens", tokens, "at least 0")
	case columns < 1:
		return argument.Error(posenc.ErrShape, function, "columns", columns, "at least 1")
	case headDim < 1 || headDim > maxVectorDim:
		return argument.Error(posenc.ErrShape, function, "headDim", headDim, "from 1 to %d", maxVectorDim)
	}
	var g view.Grid
	tokensView, vectorsView := (*view.View[float32])(x), (*view.View[float32])(vectors)
	if p := tokensView.Grid(&g, tokens, headDim); p != view.None {
		return tokensView.Error(p, function, name, &g)
	}
	if vectors.Heads != 1 && vectors.Heads != x.Heads {
		return argument.Error(posenc.ErrShape, function, "vectors.Heads", vectors.Heads, "1, or %d as in %s", x.Heads, name)
	}
	if p := vectorsView.Grid(&g, columns, headDim); p != view.None {
		return vectorsView.Error(p, function, "vectors", &g)
	}
	return products.check(function, productsName, nil, x.Heads, tokens, columns)
}

// operandOf returns the rows of v as kernels take them.
func operandOf(v *posenc.View[float32], dim int) view.Operand {
	return (*view.View[float32])(v).Operand(element.Float32, dim)
}
