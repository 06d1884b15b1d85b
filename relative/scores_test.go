package relative_test

import (
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/relative"
)

// testScoreErrors makes the errors of every function that takes scores of a model of
// two heads or more.
func testScoreErrors(t *testing.T, add func(relative.Scores) error) {
	t.Helper()
	data := make([]float32, 24)
	fails := testkit.Failures(t, data)
	fails(add(relative.Scores{Data: data, Queries: 3, Keys: 4}), posenc.ErrShape, "scores.Heads is 0")
	fails(add(relative.Scores{Data: data, Heads: 2, Queries: -1, Keys: 4}), posenc.ErrShape, "scores.Queries is -1")
	fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: -4}), posenc.ErrShape, "scores.Keys is -4")
	fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, HeadStride: -1}), posenc.ErrShape, "scores.HeadStride is -1")
	fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, QueryStride: -1}), posenc.ErrShape, "scores.QueryStride is -1")
	fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstHead: -1}), posenc.ErrShape, "scores.FirstHead is -1")
	fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstHead: math.MaxInt - 1}), posenc.ErrShape, "scores.FirstHead is")
	fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 5}), posenc.ErrLength, "scores.Data has 24 elements, want 30")
	fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 3}), posenc.ErrLength, "scores.Data has 24 elements, want 18")
	fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, QueryStride: 5}), posenc.ErrLength, "scores.Data has 24 elements, want at least 29")
	fails(add(relative.Scores{Data: data, Heads: 2, Queries: math.MaxInt, Keys: 2}), posenc.ErrLength, "scores.Data has 24 elements, want fewer heads, queries or keys, or smaller strides: an int cannot count the elements")
	fails(add(relative.Scores{Data: data, Heads: 2, Queries: math.MaxInt, Keys: 2, HeadStride: 1, QueryStride: 2}), posenc.ErrLength, "2 keys at HeadStride 1 and QueryStride 2")
	fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, QueryStride: 3}), posenc.ErrOverlap, "scores.QueryStride is 3")
	fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, HeadStride: 4}), posenc.ErrOverlap, "at HeadStride 4")
	fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstQuery: 1<<30 - 2}), posenc.ErrPosition, "scores.FirstQuery is")
	fails(add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstKey: 1<<30 - 3}), posenc.ErrPosition, "scores.FirstKey is")
	for _, s := range []relative.Scores{
		{Heads: 1, Queries: 5}, {Heads: 2, Keys: 5}, {Heads: 1, Data: data, QueryStride: 4},
	} {
		if err := add(s); err != nil {
			t.Error(err)
		}
	}
}
