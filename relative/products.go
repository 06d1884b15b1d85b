package posenc

import "github.com/go-posenc/posenc/kernels"

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
func (p *Products) check(function, argument string, scores []float32, heads, rows, columns int) error {
	fail := func(kind error, field string, value any, expected string, args ...any) error {
		return argumentError(kind, function, argument+"."+field, value, expected, args...)
	}
	switch {
	case p.HeadStride < 0:
		return fail(ErrShape, "HeadStride", p.HeadStride, "at least 0")
	case p.RowStride < 0:
		return fail(ErrShape, "RowStride", p.RowStride, "at least 0")
	}
	packed := p.HeadStride == 0 && p.RowStride == 0
	if p.RowStride == 0 {
		p.RowStride = columns
	}
	need, ok := 0, true
	if p.HeadStride == 0 {
		if p.HeadStride, ok = multiply(rows, p.RowStride); !ok {
			return fail(ErrLength, "Data", elements(len(p.Data)), "more than an int can count for %d heads of %d rows of %d at stride %d", heads, rows, columns, p.RowStride)
		}
	}
	if rows > 0 {
		g := grid{sequences: 1, tokens: rows, tokenStride: p.RowStride, heads: heads, headStride: p.HeadStride, dim: columns}
		need, ok = g.extent()
	}
	switch {
	case !ok:
		return fail(ErrLength, "Data", elements(len(p.Data)), "more than an int can count for %d heads of %d rows of %d at strides %d and %d", heads, rows, columns, p.HeadStride, p.RowStride)
	case packed && len(p.Data) != need:
		return fail(ErrLength, "Data", elements(len(p.Data)), "%d for %d heads of %d rows of %d", need, heads, rows, columns)
	case len(p.Data) < need:
		return fail(ErrLength, "Data", elements(len(p.Data)), "at least %d for %d heads of %d rows of %d at strides %d and %d", need, heads, rows, columns, p.HeadStride, p.RowStride)
	case overlap(p.Data, scores):
		return fail(ErrOverlap, "Data", "sharing elements with the tile", "another slice")
	}
	return nil
}

// checkApart returns an error where rows share elements. The strides are set.
func (p *Products) checkApart(function, argument string, heads, rows, columns int) error {
	g := grid{sequences: 1, tokens: rows, tokenStride: p.RowStride, heads: heads, headStride: p.HeadStride, dim: columns}
	if rows > 0 && g.selfOverlaps() {
		return argumentError(ErrOverlap, function, argument+".RowStride", p.RowStride, "rows of %d that do not overlap, with %d heads at HeadStride %d", columns, heads, p.HeadStride)
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
// Errors wrap ErrShape, ErrLength or ErrOverlap.
func RelativeProducts(products Products, x View[float32], bias []float32, vectors View[float32], tokens, columns, headDim int) error {
	const function = "RelativeProducts"
	if err := checkRelative(function, "x", &x, "products", &products, &vectors, tokens, columns, headDim); err != nil {
		return err
	}
	if want, ok := multiply(x.Heads, headDim); bias != nil && (!ok || len(bias) != want) {
		return argumentError(ErrLength, function, "bias", elements(len(bias)), "%d*%d, or nil", x.Heads, headDim)
	}
	if err := products.checkApart(function, "products", x.Heads, tokens, columns); err != nil {
		return err
	}
	for _, other := range []struct {
		name string
		data []float32
	}{{"x", x.Data}, {"bias", bias}, {"vectors", vectors.Data}} {
		if overlap(products.Data, other.data) {
			return argumentError(ErrOverlap, function, "products.Data", "sharing memory with "+other.name, "another slice")
		}
	}
	if tokens == 0 {
		return nil
	}
	var biased [maxVectorDim]float32
	from, to := operandOf(&x, headDim), operandOf(&vectors, headDim)
	if to.heads == 1 {
		to.headStride = 0
	}
	m := kernels.Matrices{Len: headDim, YStride: products.RowStride, VectorStride: to.tokenStride}
	most := maxVectorDim / headDim            // rows
	for c := 0; c < columns; c += m.Columns { // these vectors are in a cache for all rows
		m.Columns = min(callElements/(most*headDim), to.together(c, columns-c))
		for h := range from.heads {
			vectors := to.float32s(to.token(c) + h*to.headStride)
			for t := 0; t < tokens; t += m.Rows {
				m.Rows = min(most, from.together(t, tokens-t))
				rows := from.float32s(from.token(t) + h*from.headStride)
				m.XStride = from.tokenStride
				if bias != nil {
					for r := range m.Rows {
						copy(biased[r*headDim:][:headDim], rows[r*m.XStride:])
					}
					rows, m.XStride = biased[:], headDim
					tile := kernels.Tile{Len: headDim, Rows: m.Rows, Stride: headDim}
					kernels.AddRowsF32(implementation, rows, bias, h*headDim, 0, nil, &tile)
				}
				kernels.DotProductsF32(implementation, products.Data[products.row(h, t)+c:], rows, vectors, &m)
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
// Errors wrap ErrShape, ErrLength or ErrOverlap.
func AddRelativeValues(out View[float32], sums Products, vectors View[float32], tokens, columns, headDim int) error {
	const function = "AddRelativeValues"
	if err := checkRelative(function, "out", &out, "sums", &sums, &vectors, tokens, columns, headDim); err != nil {
		return err
	}
	for _, other := range []struct {
		name string
		data []float32
	}{{"sums", sums.Data}, {"vectors", vectors.Data}} {
		if overlap(out.Data, other.data) {
			return argumentError(ErrOverlap, function, "out.Data", "sharing memory with "+other.name, "another slice")
		}
	}
	if tokens == 0 {
		return nil
	}
	to, from := operandOf(&out, headDim), operandOf(&vectors, headDim)
	if from.heads == 1 {
		from.headStride = 0
	}
	m := kernels.Matrices{Len: headDim, YStride: to.tokenStride, XStride: sums.RowStride, VectorStride: from.tokenStride}
	most := maxVectorDim / headDim            // rows
	for c := 0; c < columns; c += m.Columns { // these vectors are in a cache for all rows
		m.Columns = min(callElements/(most*headDim), from.together(c, columns-c))
		for h := range to.heads {
			vectors := from.float32s(from.token(c) + h*from.headStride)
			for t := 0; t < tokens; t += m.Rows {
				m.Rows = min(most, to.together(t, tokens-t))
				kernels.AddMultiplesF32(implementation, to.float32s(to.token(t)+h*to.headStride), sums.Data[sums.row(h, t)+c:], vectors, &m)
			}
		}
	}
	return nil
}

// checkRelative checks what tokens of x, or of an output, and columns of vectors have
// in common with their products, and sets the strides of these.
func checkRelative(function, argument string, x *View[float32], productsArgument string, products *Products, vectors *View[float32], tokens, columns, headDim int) error {
	switch {
	case tokens < 0:
		return argumentError(ErrShape, function, "tokens", tokens, "at least 0")
	case columns < 1:
		return argumentError(ErrShape, function, "columns", columns, "at least 1")
	case headDim < 1 || headDim > maxVectorDim:
		return argumentError(ErrShape, function, "headDim", headDim, "from 1 to %d", maxVectorDim)
	}
	var g grid
	if p := x.grid(&g, tokens, headDim); p != none {
		return x.problemError(p, function, argument, &g)
	}
	if vectors.Heads != 1 && vectors.Heads != x.Heads {
		return argumentError(ErrShape, function, "vectors.Heads", vectors.Heads, "1, or %d as in %s", x.Heads, argument)
	}
	if p := vectors.grid(&g, columns, headDim); p != none {
		return vectors.problemError(p, function, "vectors", &g)
	}
	return products.check(function, productsArgument, nil, x.Heads, tokens, columns)
}
