package relative_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
	"github.com/go-posenc/posenc/relative"
)

func TestAddShaw(t *testing.T) {
	const heads, least, most = 3, -70, 100
	for _, maxDistance := range []int{0, 1, 16, 300} {
		columns := 2*maxDistance + 1
		products := make([]float32, heads*(most-least)*columns)
		testkit.FillRandom(testkit.NewRand(107), products)
		of := func(head, query int) relative.Products {
			return relative.Products{Data: products[(head*(most-least)+query-least)*columns:], HeadStride: (most - least) * columns, RowStride: columns}
		}
		eachScores(t, 108, heads, least, most, func(score float32, head, query, key int) float32 {
			return score + of(head, query).Data[maxDistance+min(max(key-query, -maxDistance), maxDistance)]
		}, func(s relative.Scores) error { return relative.AddShaw(s, of(s.FirstHead, s.FirstQuery), maxDistance) })
	}
}

// Positions as far apart as they may be.
func TestShawFar(t *testing.T) {
	for query, want := range map[int][2][]float32{
		-1 << 30:  {{3, 4, 5}, {0, 0, 3, 4, 5}},
		1<<30 - 1: {{1, 1, 1}, {3, 0, 0, 0, 0}},
	} {
		scores, sums := make([]float32, 3), make([]float32, 5)
		s := relative.Scores{Data: scores, Heads: 1, Queries: 1, Keys: 3, FirstQuery: query, FirstKey: -1 << 30}
		if err := relative.AddShaw(s, relative.Products{Data: []float32{1, 2, 3, 4, 5}}, 2); err != nil {
			t.Fatal(err)
		}
		if err := relative.SumShaw(relative.Products{Data: sums}, s, 2); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(scores, want[0]) || !slices.Equal(sums, want[1]) {
			t.Errorf("a query at %d: scores %v and sums %v, want %v", query, scores, sums, want)
		}
	}
}

// Attention with relative positions as the paper writes it, in float64: the vectors
// are added to every key and value. Integers keep it exact.
func TestShawAgainstPaper(t *testing.T) {
	const queries, keys, dim, maxDistance = 7, 23, 5, 4
	small := func(start, n int) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = float64(uint64(start+i)*2654435761%17) - 8
		}
		return list
	}
	q, k, v, w := small(1, queries*dim), small(2, keys*dim), small(3, keys*dim), small(4, queries*keys)
	positionKeys, positionValues := small(5, (2*maxDistance+1)*dim), small(6, (2*maxDistance+1)*dim)
	const firstQuery = 11
	column := func(i, j int) int {
		return maxDistance + min(max(j-(firstQuery+i), -maxDistance), maxDistance)
	}
	dot := func(a, b []float64) (sum float64) {
		for d := range dim {
			sum += float64(a[d] * b[d])
		}
		return sum
	}
	var scores, weights, products []float32
	for i := range queries {
		for j := range keys {
			scores = append(scores, float32(dot(q[i*dim:], k[j*dim:])))
			weights = append(weights, float32(w[i*keys+j]))
		}
		for c := range 2*maxDistance + 1 {
			products = append(products, float32(dot(q[i*dim:], positionKeys[c*dim:])))
		}
	}
	s := relative.Scores{Data: scores, Heads: 1, Queries: queries, Keys: keys, FirstQuery: firstQuery}
	if err := relative.AddShaw(s, relative.Products{Data: products}, maxDistance); err != nil {
		t.Fatal(err)
	}
	sums := make([]float32, len(products))
	s.Data = weights
	if err := relative.SumShaw(relative.Products{Data: sums}, s, maxDistance); err != nil {
		t.Fatal(err)
	}
	for i := range queries {
		output, want := make([]float64, dim), make([]float64, dim)
		for j := range keys {
			key := make([]float64, dim)
			for d := range dim {
				key[d] = k[j*dim+d] + positionKeys[column(i, j)*dim+d]
				want[d] += w[i*keys+j] * (v[j*dim+d] + positionValues[column(i, j)*dim+d])
				output[d] += w[i*keys+j] * v[j*dim+d]
			}
			if got, score := scores[i*keys+j], dot(q[i*dim:], key); float64(got) != score {
				t.Errorf("query %d and key %d: score %v, want %v", i, j, got, score)
			}
		}
		for c := range 2*maxDistance + 1 {
			for d := range dim {
				output[d] += float64(sums[i*(2*maxDistance+1)+c]) * positionValues[c*dim+d]
			}
		}
		if !slices.Equal(output, want) {
			t.Errorf("query %d: output %v, want %v", i, output, want)
		}
	}
}

// Tiles in ascending order of keys give the bits of one.
func TestSumShaw(t *testing.T) {
	const maxDistance, columns = 6, 13
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(109)
		for range testkit.Rounds(60) {
			s, _, memory := testkit.RandomScores(r, 3, -50, 80)
			before := slices.Clone(memory)
			want := make([]float32, s.Heads*s.Queries*columns)
			testkit.FillRandom(r, want)
			whole, parts := slices.Clone(want), slices.Clone(want)
			for h := range s.Heads {
				for q := range s.Queries {
					for k := range s.Keys {
						c := maxDistance + min(max(s.FirstKey+k-s.FirstQuery-q, -maxDistance), maxDistance)
						want[(h*s.Queries+q)*columns+c] += part(s, h, 1, q, 1, k, 1).Data[0]
					}
				}
			}
			if err := relative.SumShaw(relative.Products{Data: whole}, s, maxDistance); err != nil {
				t.Fatal(err)
			}
			keys := 1 + r.IntN(s.Keys)
			for k := 0; k < s.Keys; k += keys {
				for h := range s.Heads {
					for q := range s.Queries {
						sums := relative.Products{Data: parts[(h*s.Queries+q)*columns:][:columns]}
						if err := relative.SumShaw(sums, part(s, h, 1, q, 1, k, min(keys, s.Keys-k)), maxDistance); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			if !testkit.SameSlices(whole, want) || !testkit.SameSlices(parts, want) {
				t.Fatalf("sums of %d queries and %d keys differ", s.Queries, s.Keys)
			}
			if !testkit.SameBits(memory, before) {
				t.Fatal("weights were written")
			}
		}
	})
}

func TestShawErrors(t *testing.T) {
	data := make([]float32, 100)
	scores := relative.Scores{Data: data[:12], Heads: 2, Queries: 2, Keys: 3}
	for _, tt := range []struct {
		err  error
		kind error
		says string
	}{
		{relative.AddShaw(scores, relative.Products{Data: data[12:32]}, -1), posenc.ErrShape, "AddShaw: maxDistance is -1"},
		{relative.AddShaw(scores, relative.Products{Data: data[12:32]}, math.MaxInt), posenc.ErrShape, "maxDistance is"},
		{relative.AddShaw(scores, relative.Products{Data: data[12:31]}, 2), posenc.ErrLength, "products.Data is 19 elements, want 20"},
		{relative.AddShaw(scores, relative.Products{Data: data[11:31]}, 2), posenc.ErrOverlap, "products.Data is sharing elements"},
		{relative.SumShaw(relative.Products{Data: data[12:32]}, scores, -1), posenc.ErrShape, "SumShaw: maxDistance is -1"},
		{relative.SumShaw(relative.Products{Data: data[12:31]}, scores, 2), posenc.ErrLength, "sums.Data is 19 elements, want 20"},
		{relative.SumShaw(relative.Products{Data: data[11:31]}, scores, 2), posenc.ErrOverlap, "sums.Data is sharing elements"},
		{relative.SumShaw(relative.Products{Data: data[12:], RowStride: 4, HeadStride: 20}, scores, 2), posenc.ErrOverlap, "sums.RowStride is 4"},
		{relative.SumShaw(relative.Products{Data: data[12:32]}, relative.Scores{Data: data[:11], Heads: 2, Queries: 2, Keys: 3}, 2), posenc.ErrLength, "weights.Data is 11 elements"},
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
}

func TestShawAllocates(t *testing.T) {
	checkAllocations(t, map[string]func(){
		"AddShaw": func() {
			var data [18]float32
			var products [18]float32
			relative.AddShaw(relative.Scores{Data: data[:], Heads: 2, Queries: 3, Keys: 3}, relative.Products{Data: products[:]}, 1)
		},
		"SumShaw": func() {
			var data [18]float32
			var sums [18]float32
			relative.SumShaw(relative.Products{Data: sums[:]}, relative.Scores{Data: data[:], Heads: 2, Queries: 3, Keys: 3}, 1)
		},
	})
}
