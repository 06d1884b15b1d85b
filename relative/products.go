package relative

import (
	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
)

// Products describes the products of queries or keys with relative positions,
// [heads][rows][columns]. In head h, the product of row r and column c is
//
//	Data[h*HeadStride+r*RowStride+c]
//
// Together with a tile of [Scores], heads and rows are the tile's: row 0 belongs to
// its first query, or to its first key where the function says so. In [DotProducts] and
// [AddValues], heads and rows are the heads and tokens of x or out. Each function says how
// many columns there are and which relative position each stands for.
//
// Strides are in elements. With both strides 0 (packed), Data holds exactly
// heads*rows*columns elements. Otherwise it holds at least the elements up to the last one,
// and a stride of 0 means the packed one. Rows that are only read may overlap. Data must not
// share memory with the scores.
type Products struct {
	Data       []float32
	HeadStride int // elements from head to head; 0 means rows*RowStride
	RowStride  int // elements from row to row; 0 means columns
}

// check sets m to the products, the argument called name, and checks them. With written,
// rows must not overlap.
func (p *Products) check(m *matrices, function, name string, heads, rows, columns int, written bool) error {
	*m = matrices{heads, rows, columns, p.HeadStride, p.RowStride}
	return m.check(function, name, &productWords, len(p.Data), written)
}

// checkOfTile is check for products that belong to scores. They must not share memory.
func (p *Products) checkOfTile(m *matrices, function, name string, scores []float32, scoresName string, heads, rows, columns int, written bool) error {
	if err := p.check(m, function, name, heads, rows, columns, written); err != nil {
		return err
	}
	if argument.Overlap(p.Data, scores) {
		return argument.Error(posenc.ErrOverlap, function, name+".Data", "sharing elements with "+scoresName+".Data", "another slice")
	}
	return nil
}
