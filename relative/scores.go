package relative

import (
	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// Scores describes a tile of the scores (logits) of attention, [heads][queries]
// [keys]: that of query q and key k in head h is
//
//	Data[h*HeadStride+q*QueryStride+k]
//
// Units are elements. Packed, with both strides 0, Data holds exactly
// Heads*Queries*Keys elements. Strided, it holds at least those up to the last
// score; a stride left 0 means what it is when packed. Rows of keys must not
// overlap.
//
// A tile may be any part of a whole: the head h, the query q and the key k of the
// tile are the head FirstHead+h of the model, the query at position FirstQuery+q
// and the key at position FirstKey+k. Results do not depend on how a whole is cut
// into tiles.
type Scores struct {
	Data        []float32
	Heads       int
	Queries     int
	Keys        int
	HeadStride  int // elements from head to head; 0 means Queries*QueryStride
	QueryStride int // elements from query to query; 0 means Keys

	FirstHead  int
	FirstQuery int // position, from -2^30 to 2^30-Queries
	FirstKey   int // position, from -2^30 to 2^30-Keys
}

// endOfPositions bounds positions, so that distances fit an int32.
const endOfPositions = 1 << 30

// tile is Scores whose rows are known to lie inside their Data and apart. (It does
// not keep the Data: what is stored through a pointer escapes to the heap.)
type tile struct {
	heads, queries, keys            int
	headStride, queryStride         int
	firstHead, firstQuery, firstKey int
}

// check sets t to the scores. Their heads are some of those of a model.
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
	case s.HeadStride < 0:
		return fail(posenc.ErrShape, "HeadStride", s.HeadStride, "at least 0")
	case s.QueryStride < 0:
		return fail(posenc.ErrShape, "QueryStride", s.QueryStride, "at least 0")
	case s.Heads > modelHeads:
		return fail(posenc.ErrShape, "Heads", s.Heads, "at most %d, the heads of the model", modelHeads)
	case s.FirstHead < 0 || s.FirstHead > modelHeads-s.Heads:
		return fail(posenc.ErrShape, "FirstHead", s.FirstHead, "from 0 to %d for %d of %d heads", modelHeads-s.Heads, s.Heads, modelHeads)
	}
	packed := s.HeadStride == 0 && s.QueryStride == 0
	*t = tile{s.Heads, s.Queries, s.Keys, s.HeadStride, s.QueryStride, s.FirstHead, s.FirstQuery, s.FirstKey}
	if t.queryStride == 0 {
		t.queryStride = s.Keys
	}
	if t.headStride == 0 {
		var ok bool
		if t.headStride, ok = argument.Multiply(s.Queries, t.queryStride); !ok {
			return fail(posenc.ErrShape, "Queries", s.Queries, "a product with %d elements that fits an int", t.queryStride)
		}
	}
	need := 0
	g := view.Grid{Sequences: 1, Tokens: s.Queries, TokenStride: t.queryStride, Heads: s.Heads, HeadStride: t.headStride, Dim: s.Keys}
	if s.Queries > 0 && s.Keys > 0 {
		var ok bool
		if need, ok = g.Extent(); !ok {
			return fail(posenc.ErrLength, "Data", argument.Elements(len(s.Data)), "more than an int can count for %d heads of %d queries and %d keys at strides %d and %d", s.Heads, s.Queries, s.Keys, t.headStride, t.queryStride)
		}
	}
	switch {
	case packed && len(s.Data) != need:
		return fail(posenc.ErrLength, "Data", argument.Elements(len(s.Data)), "%d for %d heads of %d queries and %d keys", need, s.Heads, s.Queries, s.Keys)
	case len(s.Data) < need:
		return fail(posenc.ErrLength, "Data", argument.Elements(len(s.Data)), "at least %d for %d heads of %d queries and %d keys at strides %d and %d", need, s.Heads, s.Queries, s.Keys, t.headStride, t.queryStride)
	case need == 0:
		t.keys = 0
		return nil
	case !packed && g.SelfOverlaps():
		return fail(posenc.ErrOverlap, "QueryStride", t.queryStride, "rows of %d keys that do not overlap, with %d heads at HeadStride %d", s.Keys, s.Heads, t.headStride)
	case s.FirstQuery < -endOfPositions || s.FirstQuery > endOfPositions-s.Queries:
		return fail(posenc.ErrPosition, "FirstQuery", s.FirstQuery, "from -2^30 to 2^30-%d for %d queries", s.Queries, s.Queries)
	case s.FirstKey < -endOfPositions || s.FirstKey > endOfPositions-s.Keys:
		return fail(posenc.ErrPosition, "FirstKey", s.FirstKey, "from -2^30 to 2^30-%d for %d keys", s.Keys, s.Keys)
	}
	return nil
}

// block is a part of one head of a tile. The numbers of its first head, query and
// key are those in the tile.
type block struct {
	kernels.Tile
	head, query, key int
	at               int // element of the first score
}

// next moves b to the next block, of at most so many queries and kernels.TileKeys keys,
// or to the first one where b is zero, and reports whether there is one.
func (t *tile) next(b *block, queries int) bool { return t.advance(b, queries, kernels.TileKeys) }

// nextOfKernel is next to a block that one call of a kernel does, of whole rows
// where they are not too long: memory is best read in its order.
func (t *tile) nextOfKernel(b *block, queries int) bool {
	keys := min(t.keys, kernels.MaxCallScores)
	return t.advance(b, min(queries, max(1, kernels.MaxCallScores/max(1, keys))), keys)
}

func (t *tile) advance(b *block, queries, keys int) bool {
	if t.keys == 0 {
		return false
	}
	if b.Rows > 0 {
		b.query += b.Rows
		if b.query == t.queries {
			b.query = 0
			b.key += b.Len
			if b.key == t.keys {
				b.key = 0
				b.head++
			}
		}
	}
	b.Stride = t.queryStride
	b.Len = min(keys, t.keys-b.key)
	b.Rows = min(queries, t.queries-b.query)
	b.at = b.head*t.headStride + b.query*t.queryStride + b.key
	return b.head < t.heads
}

// distance returns how far the first key of a block is behind its first query.
func (t *tile) distance(b *block) int {
	return t.firstKey + b.key - t.firstQuery - b.query
}

// addRows adds to the rows of a block those of x that start at first and every
// step elements from there.
func (b *block) addRows(scores, x []float32, first, step int) {
	most := max(1, kernels.MaxCallScores/b.Len)
	for r := 0; r < b.Rows; r += most {
		piece := kernels.Tile{Len: b.Len, Rows: min(most, b.Rows-r), Stride: b.Stride}
		kernels.AddRowsF32(dispatch.Implementation(), scores[b.at+r*b.Stride:], x, first+r*step, step, nil, &piece)
	}
}

// addRow adds to the first elements of one row of a block.
func (b *block) addRow(scores []float32, row int, biases []float32) {
	if len(biases) > 0 {
		piece := kernels.Tile{Len: len(biases), Rows: 1}
		kernels.AddRowsF32(dispatch.Implementation(), scores[b.at+row*b.Stride:], biases, 0, 0, nil, &piece)
	}
}
