package relative_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
	"github.com/go-posenc/posenc/relative"
)

// scoreFunction says what a score becomes, of a head of the model, a query and a
// key by their positions.
type scoreFunction func(score float32, head, query, key int) float32

// part returns some of the scores as a tile.
func part(s relative.Scores, head, heads, query, queries, key, keys int) relative.Scores {
	if s.QueryStride == 0 {
		s.QueryStride = s.Keys
	}
	if s.HeadStride == 0 {
		s.HeadStride = s.Queries * s.QueryStride
	}
	s.Data = s.Data[head*s.HeadStride+query*s.QueryStride+key:]
	s.FirstHead, s.FirstQuery, s.FirstKey = s.FirstHead+head, s.FirstQuery+query, s.FirstKey+key
	s.Heads, s.Queries, s.Keys = heads, queries, keys
	return s
}

// tiles cuts scores into tiles at random.
func tiles(s relative.Scores, r *rand.Rand) (list []relative.Scores) {
	heads, queries, keys := 1+r.IntN(s.Heads), 1+r.IntN(s.Queries), 1+r.IntN(s.Keys)
	for h := 0; h < s.Heads; h += heads {
		for q := 0; q < s.Queries; q += queries {
			for k := 0; k < s.Keys; k += keys {
				list = append(list, part(s, h, min(heads, s.Heads-h), q, min(queries, s.Queries-q), k, min(keys, s.Keys-k)))
			}
		}
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// apply changes scores by their definition.
func apply(s relative.Scores, want scoreFunction) {
	for h := range s.Heads {
		for q := range s.Queries {
			for k := range s.Keys {
				x := &part(s, h, 1, q, 1, k, 1).Data[0]
				*x = want(*x, s.FirstHead+h, s.FirstQuery+q, s.FirstKey+k)
			}
		}
	}
}

// checkScores compares what add makes of scores, at once and tile by tile, with
// want: the bits of scores are the same, and no other element is written.
func checkScores(t *testing.T, r *rand.Rand, s relative.Scores, start int, memory []float32, want scoreFunction, add func(relative.Scores) error) {
	t.Helper()
	given, expected := slices.Clone(memory), slices.Clone(memory)
	s.Data = expected[start : start+len(s.Data)]
	apply(s, want)
	for _, cut := range []bool{false, true} {
		copy(memory, given)
		s.Data = memory[start : start+len(s.Data)]
		list := []relative.Scores{s}
		if cut {
			list = tiles(s, r)
		}
		for _, tile := range list {
			if err := add(tile); err != nil {
				t.Fatal(err)
			}
		}
		for i, got := range memory {
			if !testkit.Same(got, expected[i]) {
				t.Fatalf("%d heads of %d queries and %d keys from %d and %d, strides %d and %d, cut: %t: element %d is %v, want %v from %v", s.Heads, s.Queries, s.Keys, s.FirstQuery, s.FirstKey, s.HeadStride, s.QueryStride, cut, i-start, got, expected[i], given[i])
			}
		}
	}
	copy(memory, given)
}

// eachScores runs checkScores on every implementation and on many tiles.
func eachScores(t *testing.T, seed uint64, modelHeads, least, most int, want scoreFunction, add func(relative.Scores) error) {
	t.Helper()
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		t.Helper()
		r := testkit.NewRand(seed)
		for range testkit.Rounds(60) {
			s, start, memory := testkit.RandomScores(r, modelHeads, least, most)
			checkScores(t, r, s, start, memory, want, add)
		}
	})
}

// Tiles larger than a block.
func testLargeScores(t *testing.T, heads int, want scoreFunction, add func(relative.Scores) error) {
	t.Helper()
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		t.Helper()
		r := testkit.NewRand(93)
		for _, shape := range [][2]int{{1, 5000}, {37, 1030}, {2000, 9}} {
			s := relative.Scores{Heads: heads, Queries: shape[0], Keys: shape[1], FirstQuery: 77}
			s.Data = make([]float32, s.Heads*s.Queries*s.Keys)
			testkit.FillRandom(r, s.Data)
			checkScores(t, r, s, 0, s.Data, want, add)
		}
	})
}

// scoreErrors are the errors of every function that takes scores of a model of
// two heads or more.
func testScoreErrors(t *testing.T, add func(relative.Scores) error) {
	t.Helper()
	data := make([]float32, 24)
	for _, tt := range []struct {
		scores relative.Scores
		kind   error
		says   string
	}{
		{relative.Scores{Data: data, Queries: 3, Keys: 4}, posenc.ErrShape, "scores.Heads is 0"},
		{relative.Scores{Data: data, Heads: 2, Queries: -1, Keys: 4}, posenc.ErrShape, "scores.Queries is -1"},
		{relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: -4}, posenc.ErrShape, "scores.Keys is -4"},
		{relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, HeadStride: -1}, posenc.ErrShape, "scores.HeadStride is -1"},
		{relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, QueryStride: -1}, posenc.ErrShape, "scores.QueryStride is -1"},
		{relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstHead: -1}, posenc.ErrShape, "scores.FirstHead is -1"},
		{relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstHead: math.MaxInt}, posenc.ErrShape, "scores.FirstHead is"},
		{relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstHead: math.MaxInt - 1}, posenc.ErrShape, "scores.FirstHead is"},
		{relative.Scores{Data: data, Heads: math.MaxInt, Queries: 3, Keys: 4, FirstHead: 1}, posenc.ErrShape, "relative."},
		{relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 5}, posenc.ErrLength, "scores.Data is 24 elements, want 30"},
		{relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 3}, posenc.ErrLength, "scores.Data is 24 elements, want 18"},
		{relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 0}, posenc.ErrLength, "scores.Data is 24 elements, want 0"},
		{relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, QueryStride: 5}, posenc.ErrLength, "scores.Data is 24 elements, want at least 29"},
		{relative.Scores{Data: data, Heads: 2, Queries: math.MaxInt, Keys: 2}, posenc.ErrLength, "scores.Data is 24 elements, want more than an int can count"},
		{relative.Scores{Data: data, Heads: 2, Queries: math.MaxInt, Keys: 2, HeadStride: 1, QueryStride: 2}, posenc.ErrLength, "2 keys at strides 1 and 2"},
		{relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, QueryStride: 3}, posenc.ErrOverlap, "scores.QueryStride is 3"},
		{relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, HeadStride: 4}, posenc.ErrOverlap, "at HeadStride 4"},
		{relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstQuery: -1<<30 - 1}, posenc.ErrPosition, "scores.FirstQuery is"},
		{relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstQuery: 1<<30 - 2}, posenc.ErrPosition, "scores.FirstQuery is"},
		{relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstKey: math.MinInt}, posenc.ErrPosition, "scores.FirstKey is"},
		{relative.Scores{Data: data, Heads: 2, Queries: 3, Keys: 4, FirstKey: 1<<30 - 3}, posenc.ErrPosition, "scores.FirstKey is"},
	} {
		err := add(tt.scores)
		if !errors.Is(err, tt.kind) || !strings.Contains(fmt.Sprint(err), tt.says) {
			t.Errorf("got %q, want %q and that it says %q", err, tt.kind, tt.says)
		}
	}
	for _, x := range data {
		if x != 0 {
			t.Fatal("an error came after a write")
		}
	}
	for _, s := range []relative.Scores{
		{Heads: 1, Queries: 5}, {Heads: 2, Keys: 5}, {Heads: 1, Data: data, QueryStride: 4},
	} {
		if err := add(s); err != nil {
			t.Error(err)
		}
	}
}

// checkAllocations runs calls that are to allocate nothing.
func checkAllocations(t *testing.T, calls map[string]func()) {
	t.Helper()
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		t.Helper()
		for name, call := range calls {
			if got := testing.AllocsPerRun(20, call); got != 0 {
				t.Errorf("%s: %v allocations", name, got)
			}
		}
	})
}

// float32s is a list of float32 in golden vectors: little endian, in base64.
type float32s []float32

func (s *float32s) UnmarshalJSON(text []byte) error {
	var encoded string
	if err := json.Unmarshal(text, &encoded); err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return err
	}
	*s = make(float32s, len(data)/4)
	for i := range *s {
		(*s)[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return nil
}

// readGolden reads golden vectors of a relative encoding.
func readGolden(t *testing.T, name string, vectors any) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, vectors); err != nil {
		t.Fatal(err)
	}
}

// ulps returns how many float32 lie between two of the same sign.
func ulps(a, b float32) int {
	return max(int(math.Float32bits(a))-int(math.Float32bits(b)), int(math.Float32bits(b))-int(math.Float32bits(a)))
}
