package relative_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/relative"
)

// failure is the error of a call that has to fail.
type failure struct {
	err  error
	kind error
	says string
}

// checkFailures checks errors, and that the calls changed no zero of data.
func checkFailures(t *testing.T, data []float32, list []failure) {
	t.Helper()
	for _, f := range list {
		if !errors.Is(f.err, f.kind) || !strings.Contains(fmt.Sprint(f.err), f.says) {
			t.Errorf("got %q, want %q and that it says %q", f.err, f.kind, f.says)
		}
	}
	for i, x := range data {
		if x != 0 {
			t.Fatalf("element %d was written before an error", i)
		}
	}
}

// testScoreErrors makes the errors of every function that takes scores of a model of
// two heads or more.
func testScoreErrors(t *testing.T, add func(relative.Scores) error) {
	t.Helper()
	data := make([]float32, 24)
	checkFailures(t, data, []failure{
		{add(relative.Scores{Data: data, Queries: 3, Keys: 4}), posenc.ErrShape, "scores.Heads is 0"},
		{add(relative.Scores{Data: data, Heads: 2, Queries: -1, Keys: 4}), posenc.ErrShape, "scores.Queries is -1"},
		{add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: -4}), posenc.ErrShape, "scores.Keys is -4"},
		{add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, HeadStride: -1}), posenc.ErrShape, "scores.HeadStride is -1"},
		{add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, QueryStride: -1}), posenc.ErrShape, "scores.QueryStride is -1"},
		{add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstHead: -1}), posenc.ErrShape, "scores.FirstHead is -1"},
		{add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstHead: math.MaxInt}), posenc.ErrShape, "scores.FirstHead is"},
		{add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstHead: math.MaxInt - 1}), posenc.ErrShape, "scores.FirstHead is"},
		{add(relative.Scores{Data: data, Heads: math.MaxInt, Queries: 3, Keys: 4, FirstHead: 1}), posenc.ErrShape, "relative."},
		{add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 5}), posenc.ErrLength, "scores.Data is 24 elements, want 30"},
		{add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 3}), posenc.ErrLength, "scores.Data is 24 elements, want 18"},
		{add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 0}), posenc.ErrLength, "scores.Data is 24 elements, want 0"},
		{add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, QueryStride: 5}), posenc.ErrLength, "scores.Data is 24 elements, want at least 29"},
		{add(relative.Scores{Data: data, Heads: 2, Queries: math.MaxInt, Keys: 2}), posenc.ErrLength, "scores.Data is 24 elements, want more than an int can count"},
		{add(relative.Scores{Data: data, Heads: 2, Queries: math.MaxInt, Keys: 2, HeadStride: 1, QueryStride: 2}), posenc.ErrLength, "2 keys at HeadStride 1 and QueryStride 2"},
		{add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, QueryStride: 3}), posenc.ErrOverlap, "scores.QueryStride is 3"},
		{add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, HeadStride: 4}), posenc.ErrOverlap, "at HeadStride 4"},
		{add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstQuery: -1<<30 - 1}), posenc.ErrPosition, "scores.FirstQuery is"},
		{add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstQuery: 1<<30 - 2}), posenc.ErrPosition, "scores.FirstQuery is"},
		{add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstKey: math.MinInt}), posenc.ErrPosition, "scores.FirstKey is"},
		{add(relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstKey: 1<<30 - 3}), posenc.ErrPosition, "scores.FirstKey is"},
	})
	for _, s := range []relative.Scores{
		{Heads: 1, Queries: 5}, {Heads: 2, Keys: 5}, {Heads: 1, Data: data, QueryStride: 4},
	} {
		if err := add(s); err != nil {
			t.Error(err)
		}
	}
}
