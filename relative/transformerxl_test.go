package relative_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/relative"
)

// relShift is rel_shift of Transformer-XL's code for one head: a column of zeros
// goes before x, and the whole is read as keys+1 rows without the first.
func relShift(x []float32, queries, keys int) []float32 {
	var padded []float32
	for q := range queries {
		padded = append(append(padded, 0), x[q*keys:][:keys]...)
	}
	return padded[queries:]
}

// The shift of Transformer-XL's code, where keys are not masked.
func TestTransformerXLAgainstRelShift(t *testing.T) {
	for _, shape := range [][2]int{{1, 1}, {1, 9}, {5, 5}, {7, 30}, {40, 90}} {
		queries, keys := shape[0], shape[1]
		products := testkit.GoldenInputs(0, queries*keys)
		want := relShift(products, queries, keys)
		got := make([]float32, queries*keys)
		s := relative.Scores{Data: got, Heads: 1, Queries: queries, Keys: keys, FirstQuery: keys - queries}
		if err := relative.AddTransformerXL(s, relative.Products{Data: products}, relative.Distances{First: keys - 1, Count: keys}); err != nil {
			t.Fatal(err)
		}
		for q := range queries {
			for k := range keys {
				w := want[q*keys+k]
				if k > keys-queries+q {
					w = 0
				}
				if got[q*keys+k] != w {
					t.Fatalf("%d queries, %d keys: query %d and key %d get %v, want %v", queries, keys, q, k, got[q*keys+k], w)
				}
			}
		}
	}
}

// The shift of TENER's code: a column of zeros goes after x, the whole is read as
// rows of 2*n elements, and the first n columns are left out.
func TestTransformerXLAgainstTENER(t *testing.T) {
	for _, n := range []int{1, 2, 9, 40} {
		products := testkit.GoldenInputs(0, n*2*n)
		var padded []float32
		for q := range n {
			padded = append(append(padded, products[q*2*n:][:2*n]...), 0)
		}
		got := make([]float32, n*n)
		if err := relative.AddTransformerXL(relative.Scores{Data: got, Heads: 1, Queries: n, Keys: n}, relative.Products{Data: products}, relative.Distances{First: n, Count: 2 * n}); err != nil {
			t.Fatal(err)
		}
		for q := range n {
			if want := padded[q*2*n+n:][:n]; !slices.Equal(got[q*n:][:n], want) {
				t.Errorf("%d keys: query %d gets %v, want %v", n, q, got[q*n:][:n], want)
			}
		}
	}
}

// The product of keys with R of TENER's code: a column of zeros goes after x, the
// whole is read as rows of n elements, and every second of them is a column.
func TestKeysWithRelativePositionsOfTENER(t *testing.T) {
	for _, n := range []int{1, 2, 9, 40} {
		products := testkit.GoldenInputs(0, n*2*n)
		var padded []float32
		for k := range n {
			padded = append(append(padded, products[k*2*n:][:2*n]...), 0)
		}
		buckets, err := relative.NewDeBERTaBuckets(relative.DeBERTaConfig{MaxPosition: n})
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float32, n*n)
		if err := relative.AddDeBERTa(relative.Scores{Data: got, Heads: 1, Queries: n, Keys: n}, buckets, relative.Products{}, relative.Products{Data: products}, 1); err != nil {
			t.Fatal(err)
		}
		for q := range n {
			for k := range n {
				if want := padded[(2*k+1)*n+q]; got[q*n+k] != want {
					t.Fatalf("%d keys: query %d and key %d get %v, want %v", n, q, k, got[q*n+k], want)
				}
			}
		}
	}
}

// The shift of transformers' XLNet, in both directions and, as far as keys are not
// masked, in one.
func TestXLNetAgainstTransformers(t *testing.T) {
	var vectors struct {
		Cases []struct {
			Kind                          string
			Heads, Queries, Keys, Columns int
			Shifted                       float32s
			ClampLen                      int  `json:"clamp_len"`
			BiData                        bool `json:"bi_data"`
			Dim                           int
			Encodings                     float32s
		}
	}
	readGolden(t, "xlnet", &vectors)
	if len(vectors.Cases) != 10 {
		t.Fatalf("%d cases, want 10", len(vectors.Cases))
	}
	for _, c := range vectors.Cases {
		columns := c.Keys + c.Queries
		if c.Kind == "uni" {
			columns = c.Keys + 1
		}
		if c.Encodings != nil {
			testXLNetEncodings(t, c.Kind, columns, c.Keys, c.ClampLen, c.BiData, c.Dim, c.Encodings)
			continue
		}
		if c.Columns != columns {
			t.Errorf("%s: transformers has %d relative positions, want %d", c.Kind, c.Columns, columns)
		}
		got := make([]float32, c.Heads*c.Queries*c.Keys)
		first := c.Keys - c.Queries
		s := relative.Scores{Data: got, Heads: c.Heads, Queries: c.Queries, Keys: c.Keys, FirstQuery: first}
		if err := relative.AddTransformerXL(s, relative.Products{Data: testkit.GoldenInputs(0, c.Heads*c.Queries*c.Columns)}, relative.Distances{First: c.Keys, Count: c.Columns}); err != nil {
			t.Fatal(err)
		}
		for i, want := range c.Shifted {
			if masked := c.Kind == "uni" && i%c.Keys > first+i/c.Keys%c.Queries; !masked && got[i] != want {
				t.Fatalf("%s: element %d is %v, want %v", c.Kind, i, got[i], want)
			}
		}
	}
}

// testXLNetEncodings compares the rows of R for the two sequences of a batch.
func testXLNetEncodings(t *testing.T, kind string, columns, first, clampLen int, biData bool, dim int, encodings []float32) {
	s, err := absolute.Marian(dim)
	if err != nil {
		t.Fatal(err)
	}
	positions := make([]int32, 2*columns)
	limit := int32(max(clampLen, 0)) // -1 is no limit there
	if err := errors.Join(relative.XLNetPositions(positions[:columns], relative.XLNetOptions{Keys: first, ClampLen: limit}), relative.XLNetPositions(positions[columns:], relative.XLNetOptions{Keys: first, ClampLen: limit, Backward: biData})); err != nil {
		t.Fatal(err)
	}
	got := make([]float32, len(positions)*dim)
	if err := absolute.SinusoidalRows(got, s, positions); err != nil {
		t.Fatal(err)
	}
	if len(encodings) != len(got) {
		t.Fatalf("%s: %d elements, want %d", kind, len(encodings), len(got))
	}
	for i, want := range encodings {
		// A sine of its own, and float32 angles up to first of two or three roundings.
		if difference := math.Abs(float64(got[i] - want)); difference > 0x1p-22+4*float64(first)*0x1p-24 {
			t.Fatalf("%s, clamp_len %d, bi_data %v: element %d is %v, want %v", kind, clampLen, biData, i, got[i], want)
		}
	}
}

func TestAddTransformerXL(t *testing.T) {
	const heads, least, most = 3, -50, 80
	for _, first := range []int{most - least, most - least + 9} {
		for _, columns := range []int{2*(most-least) + 9, first + 1} { // of all distances, of those from 0 on
			products := make([]float32, heads*(most-least)*columns)
			testkit.FillRandom(testkit.NewRand(104), products)
			of := func(head, query int) relative.Products {
				return relative.Products{Data: products[(head*(most-least)+query-least)*columns:], HeadStride: (most - least) * columns, RowStride: columns}
			}
			eachScores(t, 105, heads, least, most, func(score float32, head, query, key int) float32 {
				if column := first - (query - key); column < columns {
					return score + of(head, query).Data[column]
				}
				return score
			}, func(s relative.Scores) error {
				return relative.AddTransformerXL(s, of(s.FirstHead, s.FirstQuery), relative.Distances{First: first, Count: columns})
			})
		}
	}
}

// Tiles larger than a block, some of whose keys are after the query.
func TestAddTransformerXLLarge(t *testing.T) {
	for _, shape := range [][2]int{{37, 3000}, {1500, 1600}} {
		queries, keys := shape[0], shape[1]
		products := make([]float32, queries*keys)
		testkit.FillRandom(testkit.NewRand(106), products)
		s := relative.Scores{Data: make([]float32, queries*keys), Heads: 1, Queries: queries, Keys: keys, FirstQuery: keys - queries}
		want := slices.Clone(s.Data)
		for q := range queries {
			for k := 0; k <= keys-queries+q; k++ {
				want[q*keys+k] += products[q*keys+keys-1-(keys-queries+q-k)]
			}
		}
		if err := relative.AddTransformerXL(s, relative.Products{Data: products}, relative.Distances{First: keys - 1, Count: keys}); err != nil {
			t.Fatal(err)
		}
		if !testkit.SameSlices(s.Data, want) {
			t.Errorf("%d queries and %d keys differ", queries, keys)
		}
	}
}

func TestTransformerXLErrors(t *testing.T) {
	data := make([]float32, 100)
	scores := relative.Scores{Data: data[:12], Heads: 2, Queries: 2, Keys: 3, FirstQuery: 5}
	for _, tt := range []struct {
		err  error
		kind error
		says string
	}{
		{relative.AddTransformerXL(scores, relative.Products{Data: data[12:52]}, relative.Distances{First: 9}), posenc.ErrShape, "AddTransformerXL: distances.Count is 0"},
		{relative.AddTransformerXL(relative.Scores{Data: data[:11], Heads: 2, Queries: 2, Keys: 3}, relative.Products{Data: data[12:52]}, relative.Distances{First: 9, Count: 10}), posenc.ErrLength, "scores.Data is 11 elements"},
		{relative.AddTransformerXL(scores, relative.Products{Data: data[12:52]}, relative.Distances{First: 9, Count: 9}), posenc.ErrLength, "products.Data is 40 elements, want 36"},
		{relative.AddTransformerXL(scores, relative.Products{Data: data[12:52]}, relative.Distances{First: 9, Count: math.MaxInt}), posenc.ErrLength, "more than an int can count"},
		{relative.AddTransformerXL(scores, relative.Products{Data: data[11:51]}, relative.Distances{First: 9, Count: 10}), posenc.ErrOverlap, "products.Data is sharing elements"},
		{relative.AddTransformerXL(scores, relative.Products{Data: data[12:52]}, relative.Distances{First: 5, Count: 10}), posenc.ErrPosition, "distances.First is 5, want at least 6"},
		{relative.AddTransformerXL(scores, relative.Products{Data: data[12:52]}, relative.Distances{First: 13, Count: 10}), posenc.ErrPosition, "distances.First is 13, want at most 12, so that 10 columns reach the distance 3"},
		{relative.AddTransformerXL(scores, relative.Products{Data: data[12:52]}, relative.Distances{First: math.MaxInt, Count: 10}), posenc.ErrPosition, "distances.First is"},
		{relative.AddTransformerXL(scores, relative.Products{Data: data[12:52]}, relative.Distances{First: math.MinInt, Count: 10}), posenc.ErrPosition, "distances.First is"},
	} {
		if !errors.Is(tt.err, tt.kind) || !strings.Contains(tt.err.Error(), tt.says) {
			t.Errorf("got %q, want %q and that it says %q", tt.err, tt.kind, tt.says)
		}
	}
	for _, x := range data {
		if x != 0 {
			t.Fatal("an error came after a write")
		}
	}
	for _, first := range []int{6, 12} {
		if err := relative.AddTransformerXL(scores, relative.Products{Data: data[12:52]}, relative.Distances{First: first, Count: 10}); err != nil {
			t.Error(err)
		}
	}
	if err := relative.AddTransformerXL(relative.Scores{Heads: 1}, relative.Products{}, relative.Distances{First: 0, Count: 10}); err != nil {
		t.Error(err)
	}
}

func TestTransformerXLAllocates(t *testing.T) {
	checkAllocations(t, map[string]func(){
		"AddTransformerXL": func() {
			var data [18]float32
			var products [18]float32
			relative.AddTransformerXL(relative.Scores{Data: data[:], Heads: 2, Queries: 3, Keys: 3}, relative.Products{Data: products[:]}, relative.Distances{First: 2, Count: 3})
		},
	})
}
