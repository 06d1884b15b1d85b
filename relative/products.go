package relative

import (
	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
)

// Products describes the scores of content with relative positions that go with a
// tile of [Scores], [heads][rows][columns]: that of row r and column c in head h is
//
//	Data[h*HeadStride+r*RowStride+c]
//
// Heads and rows are those of the tile: row 0 belongs to its first query, or to its
// first key where a function says so. With [DotProducts] and [AddValues] they are the
// heads and tokens of x or out. How many columns there are, and which relative
// positions they stand for, is up to the function. [DotProducts] makes products.
//
// Units are elements. Packed, with both strides 0, Data holds exactly
// heads*rows*columns elements; strided, at least those up to the last one; a stride
// left 0 means what it is when packed. Rows that are only read may overlap. Data must
// share no memory with the scores.
type Products struct {
	Data       []float32
	HeadStride int // elements from head to head; 0 means rows*RowStride
	RowStride  int // elements from row to row; 0 means columns
}

// check sets m to the products, the argument of that name. With written, their rows must
// be apart.
func (p *Products) check(m *matrices, function, name string, heads, rows, columns int, written bool) error {
	*m = matrices{heads, rows, columns, p.HeadStride, p.RowStride}
	return m.check(function, name, &productWords, len(p.Data), written)
}

// checkOfTile is check for the products of scores, whose memory they may not share.
func (p *Products) checkOfTile(m *matrices, function, name string, scores []float32, scoresName string, heads, rows, columns int, written bool) error {
	if err := p.check(m, function, name, heads, rows, columns, written); err != nil {
		return err
	}
	if argument.Overlap(p.Data, scores) {
		return argument.Error(posenc.ErrOverlap, function, name+".Data", "sharing elements with "+scoresName+".Data", "another slice")
	}
	return nil
}
