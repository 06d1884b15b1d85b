package relative

import (
	"cmp"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/view"
)

// matrices is a matrix for each head, [heads][rows][columns]: element (h, r, c) is
// number h*headStride+r*rowStride+c of a slice.
type matrices struct {
	heads, rows, columns  int
	headStride, rowStride int
}

// words are the names of rows, columns and the row stride in errors.
type words struct{ rows, columns, rowStride string }

var (
	scoreWords   = words{"queries", "keys", "QueryStride"}
	productWords = words{"rows", "columns", "RowStride"}
)

// check replaces strides of 0 by the strides of packed matrices. It returns an error unless length
// elements, the Data field of the named argument, hold the matrices: exactly, where both
// strides were 0. With apart, rows must not share elements. There is at least one head.
func (m *matrices) check(function, name string, w *words, length int, apart bool) error {
	fail := func(kind error, field string, value any, expected string, args ...any) error {
		return argument.Error(kind, function, name+"."+field, value, expected, args...)
	}
	switch {
	case m.headStride < 0:
		return fail(posenc.ErrShape, "HeadStride", m.headStride, "at least 0")
	case m.rowStride < 0:
		return fail(posenc.ErrShape, w.rowStride, m.rowStride, "at least 0")
	}
	packed := m.headStride == 0 && m.rowStride == 0
	m.rowStride = cmp.Or(m.rowStride, m.columns)
	need, ok := 0, true
	if m.headStride == 0 {
		if m.headStride, ok = argument.Multiply(m.rows, m.rowStride); !ok {
			m.headStride = 0 // as given, for the error
		}
	}
	grid := view.Grid{Sequences: 1, Tokens: m.rows, TokenStride: m.rowStride, Heads: m.heads, HeadStride: m.headStride, Dim: m.columns}
	if ok && !m.empty() {
		need, ok = grid.Extent()
	}
	switch {
	case !ok:
		return fail(posenc.ErrLength, "Data", argument.Elements(length), "fewer heads, %s or %s, or smaller strides: an int cannot count the elements for %d heads of %d %s and %d %s at HeadStride %d and %s %d", w.rows, w.columns, m.heads, m.rows, w.rows, m.columns, w.columns, m.headStride, w.rowStride, m.rowStride)
	case packed && length != need:
		return fail(posenc.ErrLength, "Data", argument.Elements(length), "%d for %d heads of %d %s and %d %s", need, m.heads, m.rows, w.rows, m.columns, w.columns)
	case length < need:
		return fail(posenc.ErrLength, "Data", argument.Elements(length), "at least %d for %d heads of %d %s and %d %s at HeadStride %d and %s %d", need, m.heads, m.rows, w.rows, m.columns, w.columns, m.headStride, w.rowStride, m.rowStride)
	case apart && !packed && !m.empty() && grid.SelfOverlaps():
		return fail(posenc.ErrOverlap, w.rowStride, m.rowStride, "%s of %d %s that do not overlap, with %d heads at HeadStride %d", w.rows, m.columns, w.columns, m.heads, m.headStride)
	}
	return nil
}

func (m *matrices) empty() bool { return m.rows == 0 || m.columns == 0 }

// row returns the index of the first element of a row.
func (m *matrices) row(head, row int) int { return head*m.headStride + row*m.rowStride }
