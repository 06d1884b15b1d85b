package relative

import (
	"cmp"
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// Scores describes a tile of the attention scores (logits), [heads][queries][keys]. In head
// h, the score of query q and key k is
//
//	Data[h*HeadStride+q*QueryStride+k]
//
// Strides are in elements. With both strides 0 (packed), Data holds exactly
// Heads*Queries*Keys elements. Otherwise it holds at least the elements up to the last
// score, and may be longer; a stride of 0 means the packed one. Rows of keys must not overlap.
//
// A tile may be any part of the scores of a model. Its head h is head FirstHead+h of the
// model, its query q is at position FirstQuery+q, and its key k is at position FirstKey+k.
// Results do not depend on how the scores are cut into tiles.
type Scores struct {
	Data        []float32
	Heads       int // at least 1
	Queries     int
	Keys        int
	HeadStride  int // elements from head to head; 0 means Queries*QueryStride
	QueryStride int // elements from query to query; 0 means Keys

	FirstHead  int // head of the model, from 0
	FirstQuery int // position of the first query, from -2^30 to 2^30-Queries
	FirstKey   int // position of the first key, from -2^30 to 2^30-Keys
}

// endOfPositions bounds positions, so that distances fit an int32.
const endOfPositions = 1 << 30

// tile is Scores after their check; its rows are queries, its columns keys. (It does not
// keep Data, because a slice that is stored through a pointer escapes to the heap.)
type tile struct {
	matrices
	firstHead, firstQuery, firstKey int
}

// anyHeads stands for the number of heads of a model where a function does not know it.
const anyHeads = math.MaxInt

// check sets t to the scores, the argument called name, and checks them. modelHeads is the
// number of heads of the model.
func (s *Scores) check(t *tile, function, name string, modelHeads int) error {
	fail := func(kind error, field string, value any, expected string, args ...any) error {
		return argument.Error(kind, function, name+"."+field, value, expected, args...)
	}
	switch {
	case s.Heads < 1:
		return fail(posenc.ErrShape, "Heads", s.Heads, "at least 1")
	case s.Queries < 0:
		return fail(posenc.ErrShape, "Queries", s.Queries, "at least 0")
	case s.Keys < 0:
		return fail(posenc.ErrShape, "Keys", s.Keys, "at least 0")
	case s.Heads > modelHeads:
		return fail(posenc.ErrShape, "Heads", s.Heads, "at most %d, the heads of the model", modelHeads)
	case modelHeads == anyHeads && (s.FirstHead < 0 || s.FirstHead > math.MaxInt-s.Heads):
		return fail(posenc.ErrShape, "FirstHead", s.FirstHead, "at least 0, with a sum FirstHead+Heads that fits an int")
	case s.FirstHead < 0 || s.FirstHead > modelHeads-s.Heads:
		return fail(posenc.ErrShape, "FirstHead", s.FirstHead, "from 0 to %d for %d of %d heads", modelHeads-s.Heads, s.Heads, modelHeads)
	}
	*t = tile{matrices{s.Heads, s.Queries, s.Keys, s.HeadStride, s.QueryStride}, s.FirstHead, s.FirstQuery, s.FirstKey}
	if err := t.matrices.check(function, name, &scoreWords, len(s.Data), 0, true); err != nil || t.empty() {
		return err
	}
	switch {
	case s.FirstQuery < -endOfPositions || s.FirstQuery > endOfPositions-s.Queries:
		return fail(posenc.ErrPosition, "FirstQuery", s.FirstQuery, "from -2^30 to 2^30-%d for %d queries", s.Queries, s.Queries)
	case s.FirstKey < -endOfPositions || s.FirstKey > endOfPositions-s.Keys:
		return fail(posenc.ErrPosition, "FirstKey", s.FirstKey, "from -2^30 to 2^30-%d for %d keys", s.Keys, s.Keys)
	}
	return nil
}

// Products describes the products of queries or keys with relative positions,
// [heads][rows][columns]. In head h, the product of row r and column c is
//
//	Data[h*HeadStride+r*RowStride+c]
//
// Together with a tile of [Scores], heads and rows are the tile's: there is a row for each of its
// queries, or for each of its keys where the function says so. In [DotProducts] and [AddValues],
// heads and rows are the heads and tokens of x or out. Each function says how many columns there
// are and which relative position each stands for.
//
// Strides are as in Scores. Rows that are only read may overlap. If Rows is 0, Data has room for the
// heads and rows of the call, and by its strides neither for one more head nor for one more row of each
// head, apart from the others. If Rows is the number of the call, Data may be longer, packed or not: a
// tile of products that were made for more queries or heads. Any other number is an error.
type Products struct {
	Data       []float32
	Rows       int // rows of each head; 0 means all that Data has room for
	HeadStride int // elements from head to head; 0 means rows*RowStride
	RowStride  int // elements from row to row; 0 means columns
}

// check sets m to the products, the argument called name, and checks them. They must not share
// memory with scores. If they are written, rows must not overlap.
func (p *Products) check(m *matrices, function, name string, scores []float32, scoresName string, heads, rows, columns int, written bool) error {
	*m = matrices{heads, rows, columns, p.HeadStride, p.RowStride}
	switch {
	case p.Rows < 0:
		return argument.Error(posenc.ErrShape, function, name+".Rows", p.Rows, "at least 0")
	case p.Rows > 0 && p.Rows != rows:
		return argument.Error(posenc.ErrLength, function, name+".Rows", p.Rows, "%d as in the call", rows)
	}
	if err := m.check(function, name, &productWords, len(p.Data), p.Rows, written); err != nil {
		return err
	}
	if argument.Overlap(p.Data, scores) {
		return argument.Error(posenc.ErrOverlap, function, name+".Data", "sharing elements with "+scoresName+".Data", "another slice")
	}
	return nil
}

// matrices is where the elements of Products or Scores are.
type matrices struct {
	heads, rows, columns  int
	headStride, rowStride int
}

// words are the names of rows, columns and the row stride in errors, and whether the argument says how
// many rows there are only in its field Rows.
type words struct {
	rows, columns, rowStride string
	fromRows                 bool
}

var (
	scoreWords   = words{"queries", "keys", "QueryStride", false}
	productWords = words{"rows", "columns", "RowStride", true}
)

// check replaces strides of 0 by the strides of packed matrices. It returns an error unless length
// elements, the Data field of the named argument, hold the matrices, and no more where the words say
// fromRows and stated, its field Rows, is 0. With apart, rows must not share elements. There is at least
// one head.
func (m *matrices) check(function, name string, w *words, length, stated int, apart bool) error {
	fail := func(kind error, field string, value any, expected string, args ...any) error {
		return argument.Error(kind, function, name+"."+field, value, expected, args...)
	}
	switch {
	case m.headStride < 0:
		return fail(posenc.ErrShape, "HeadStride", m.headStride, "at least 0")
	case m.rowStride < 0:
		return fail(posenc.ErrShape, w.rowStride, m.rowStride, "at least 0")
	}
	packed, sideBySide := m.headStride == 0 && m.rowStride == 0 && stated == 0, m.headStride == 0
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
	case w.fromRows && stated == 0 && !packed && m.spare(grid, length, need, sideBySide):
		return fail(posenc.ErrLength, "Data", argument.Elements(length), "room for %d heads of %d rows of %d columns at HeadStride %d and RowStride %d, and no more; set Rows if the call leaves some out", m.heads, m.rows, m.columns, m.headStride, m.rowStride)
	}
	return nil
}

// spare reports whether length elements also hold one more row of each head, or one more head. The rows reach up
// to element need. Where heads lie side by side, they hold any further row.
func (m *matrices) spare(g view.Grid, length, need int, sideBySide bool) bool {
	if sideBySide && m.rows > 0 {
		return length-need >= m.rowStride
	}
	overlap := m.rows > 0 && g.SelfOverlaps() // is allowed where rows are only read
	for _, more := range [...]struct{ rows, heads int }{{1, 0}, {0, min(1, m.rows)}} {
		next := g
		next.Tokens += more.rows
		next.Heads += more.heads
		if next == g {
			continue
		}
		if sideBySide { // there are no rows yet
			next.HeadStride = m.rowStride
		}
		if n, ok := next.Extent(); ok && n <= length && (overlap || !next.SelfOverlaps()) {
			return true
		}
	}
	return false
}

func (m *matrices) empty() bool { return m.rows == 0 || m.columns == 0 }

// row returns the index of the first element of a row.
func (m *matrices) row(head, row int) int { return head*m.headStride + row*m.rowStride }

// piece is the part of a tile that is done at once: Rows queries and Len keys of one head.
type piece struct {
	kernels.Tile
	queries, keys    int // the largest Rows and Len
	head, query, key int // of the first score, within the tile
	start            int // index of the first score
}

// pieces returns a piece before the first one of a tile, for next. Each has at most keys keys,
// and as many queries as one call of a kernel takes.
func (t *tile) pieces(keys int) piece {
	keys = min(keys, t.columns)
	return piece{queries: max(1, kernels.MaxCallScores/max(1, keys)), keys: keys}
}

// next moves b to the next piece of the tile, and reports whether there is one. All queries
// come before the next keys.
func (t *tile) next(b *piece) bool {
	if t.empty() {
		return false
	}
	b.query += b.Rows
	if b.query == t.rows {
		b.query = 0
		b.key += b.Len
		if b.key == t.columns {
			b.key = 0
			b.head++
		}
	}
	b.Rows, b.Len, b.Stride = min(b.queries, t.rows-b.query), min(b.keys, t.columns-b.key), t.rowStride
	b.start = t.row(b.head, b.query) + b.key
	return b.head < t.heads
}

// distance returns key-query for the first key and the first query of a piece.
func (t *tile) distance(b *piece) int {
	return t.firstKey + b.key - t.firstQuery - b.query
}

// addToRow adds biases to the first scores of one row of a piece.
func (b *piece) addToRow(scores []float32, row int, biases []float32) {
	if len(biases) > 0 {
		kernels.AddRowsF32(dispatch.Implementation(), scores[b.start+row*b.Stride:], biases, 0, 0, nil, &kernels.Tile{Len: len(biases), Rows: 1})
	}
}
