package posenc

// Products describes the scores of content with relative positions that go with a
// tile of [Scores], [heads][rows][columns]: that of row r and column c in head h is
//
//	Data[h*HeadStride+r*RowStride+c]
//
// Heads and rows are those of the tile: row 0 belongs to its first query, or to
// its first key where a function says so. How many columns there are, and what
// they stand for, is up to the function. It is a matrix product of the queries (or
// keys) with the vectors of the relative positions.
//
// Units are elements. Packed, with both strides 0, Data holds exactly
// heads*rows*columns elements; strided, at least those up to the last one. It must
// share no memory with the scores.
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
	ok := true
	if p.HeadStride == 0 {
		p.HeadStride, ok = multiply(rows, p.RowStride)
	}
	need := 0
	if rows > 0 && ok {
		g := grid{sequences: 1, tokens: rows, tokenStride: p.RowStride, heads: heads, headStride: p.HeadStride, dim: columns}
		need, ok = g.extent()
	}
	switch {
	case !ok:
		return fail(ErrLength, "Data", elements(len(p.Data)), "more than an int can count for %d heads of %d rows of %d", heads, rows, columns)
	case packed && len(p.Data) != need:
		return fail(ErrLength, "Data", elements(len(p.Data)), "%d for %d heads of %d rows of %d", need, heads, rows, columns)
	case len(p.Data) < need:
		return fail(ErrLength, "Data", elements(len(p.Data)), "at least %d for %d heads of %d rows of %d at strides %d and %d", need, heads, rows, columns, p.HeadStride, p.RowStride)
	case overlap(p.Data, scores):
		return fail(ErrOverlap, "Data", "sharing elements with the tile", "another slice")
	}
	return nil
}

// row returns the element at which a row starts.
func (p *Products) row(head, row int) int { return head*p.HeadStride + row*p.RowStride }
