package relative

import (
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
)

// Scores describes a tile of the attention scores (logits), [heads][queries][keys]. In head
// h, the score of query q and key k is
//
//	Data[h*HeadStride+q*QueryStride+k]
//
// Strides are in elements. With both strides 0 (packed), Data holds exactly
// Heads*Queries*Keys elements. Otherwise it holds at least the elements up to the last
// score, and a stride of 0 means the packed one. Rows of keys must not overlap.
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
	if err := t.matrices.check(function, name, &scoreWords, len(s.Data), true); err != nil || t.empty() {
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
