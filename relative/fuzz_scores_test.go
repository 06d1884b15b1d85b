package relative_test

import (
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
	"github.com/go-posenc/posenc/relative"
)

// FuzzScores adds each relative encoding to a tile of any shape, valid or not, and
// sums weights by distance. The numbers a to e are what the encoding takes beside
// the tile.
func FuzzScores(f *testing.F) {
	const last = 1<<30 - 17
	f.Add(uint8(0), 2, 3, 40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, uint8(3), []byte("some data here.."))
	f.Add(uint8(0), 3, 4, 17, 200, 20, 1, -5, last, 1, 0, 0, 0, 0, uint8(0), []byte{0, 0, 128, 127, 1, 0, 0, 0})
	f.Add(uint8(0), 1, 1, math.MaxInt, 1, -1, math.MinInt, 7, 7, 2, 0, 0, 0, 0, uint8(9), []byte{0, 0, 192, 127})
	f.Add(uint8(1), 2, 3, 40, 0, 0, 0, 0, 0, 32, 128, 1, 0, 0, uint8(3), []byte("some data here.."))
	f.Add(uint8(1), 3, 4, 17, 200, 20, 1, -5, last, 7, 50, 0, 0, 0, uint8(0), []byte{0, 0, 128, 127, 1, 0, 0, 0})
	f.Add(uint8(2), 2, 3, 40, 0, 0, 0, 0, 0, 4, 8, 0, 8, 9, uint8(3), []byte("some data here.."))
	f.Add(uint8(2), 3, 4, 17, 200, 20, 1, -5, 300, 0, 9, 1, 60, 18, uint8(0), []byte{0, 0, 128, 127, 1, 0, 0, 0})
	f.Add(uint8(2), 1, 5, 5, 0, 0, 0, 0, 0, 16, 40, math.MaxInt, 5, -1, uint8(0), []byte{0, 0, 192, 127})
	f.Add(uint8(3), 2, 3, 40, 0, 0, 0, 37, 0, 130, 40, 40, 39, 0, uint8(3), []byte("some data here.."))
	f.Add(uint8(3), 3, 4, 17, 200, 20, 0, -5, 3, 60, 9, 90, 20, 0, uint8(0), []byte{0, 0, 128, 127, 1, 0, 0, 0})
	f.Add(uint8(3), 1, 5, 5, 0, 0, 0, 1<<30-5, -1<<30, 0, 5, 3, math.MaxInt, 0, uint8(0), []byte{0, 0, 192, 127})
	f.Add(uint8(4), 2, 3, 40, 0, 0, 0, 0, 0, 40, 13, 6, 0, 0, uint8(3), []byte("some data here.."))
	f.Add(uint8(4), 3, 4, 17, 200, 20, 0, -5, last, 60, 9, 4, 0, 0, uint8(0), []byte{0, 0, 128, 127, 1, 0, 0, 0})
	f.Add(uint8(5), 2, 3, 40, 0, 0, 0, 0, 5, 7, 7, 0, 0, 0, uint8(3), []byte("some data here.."))
	f.Add(uint8(5), 3, 4, 17, 200, 20, 1, 23, 10, 3, 9, 0, 0, 0, uint8(0), []byte{0, 0, 128, 127, 1, 0, 0, 0})
	f.Add(uint8(6), 2, 3, 40, 0, 0, 0, 0, 0, 40, 13, 6, 0, 0, uint8(3), []byte("some data here.."))
	f.Add(uint8(6), 3, 4, 17, 200, 20, 0, -5, last, 60, 9, 4, 0, 0, uint8(0), []byte{0, 0, 128, 127, 1, 0, 0, 0})
	for encoding := range uint8(7) { // the least and the largest distances
		a, b, c := 16, 40, 1
		if encoding > 2 {
			a, b, c = 0, 0, 20
		}
		f.Add(encoding, 1, 3, 17, 0, 0, 0, -1<<30, last, a, b, c, 0, 0, uint8(0), []byte(nil))
		f.Add(encoding, 1, 3, 17, 0, 0, 0, 1<<30-3, -1<<30, a, b, c, 0, 0, uint8(0), []byte(nil))
	}
	f.Fuzz(func(t *testing.T, encoding uint8, heads, queries, keys, headStride, queryStride, firstHead, firstQuery, firstKey, a, b, c, d, e int, misaligned uint8, data []byte) {
		s := relative.Scores{Heads: heads, Queries: queries, Keys: keys, HeadStride: headStride, QueryStride: queryStride, FirstHead: firstHead, FirstQuery: firstQuery, FirstKey: firstKey}
		start := int(misaligned % 16)
		switch encoding % 7 {
		case 0:
			fuzzALiBi(t, s, relative.ALiBiForm(a), start, data)
		case 1:
			fuzzT5(t, s, a, b, c != 0, start, data)
		case 2:
			fuzzDeBERTa(t, s, a, b, c, d, e, start, data)
		case 3:
			fuzzRelativeShift(t, s, relative.Products{HeadStride: a, RowStride: b}, c, d, start, data)
		case 4:
			fuzzShaw(t, s, relative.Products{HeadStride: a, RowStride: b}, c, start, data)
		case 5:
			fuzzSwin(t, s, a, b, start, data)
		default:
			fuzzSumShaw(t, s, relative.Products{HeadStride: a, RowStride: b}, c, data)
		}
	})
}

func fuzzALiBi(t *testing.T, s relative.Scores, form relative.ALiBiForm, start int, data []byte) {
	slopes := make([]float32, 16)
	testkit.Repeat32(slopes, data)
	fuzzScores(t, s, start, data, alibiScores(slopes, form), func(s relative.Scores) error { return relative.AddALiBi(s, slopes, form) })
}

func fuzzT5(t *testing.T, s relative.Scores, buckets, maxDistance int, bidirectional bool, start int, data []byte) {
	if buckets > 100 || maxDistance > 1000 {
		return // slow to make
	}
	b, err := relative.NewT5Buckets(relative.T5Config{Buckets: buckets, MaxDistance: maxDistance, Bidirectional: bidirectional})
	if err != nil {
		return
	}
	weights := make([]float32, 6*buckets)
	testkit.Repeat32(weights, data)
	bias := mustT5Bias(t, b, weights)
	fuzzScores(t, s, start, data, t5Scores(b, weights, 6), func(s relative.Scores) error { return relative.AddT5(s, bias) })
}

// fuzzProducts gives p its data.
func fuzzProducts(p *relative.Products, data []byte) {
	p.Data = make([]float32, 1<<14)
	testkit.Repeat32(p.Data, data)
}

func fuzzDeBERTa(t *testing.T, s relative.Scores, buckets, maxPosition, headStride, queryStride, keyStride, start int, data []byte) {
	if buckets > 100 || maxPosition > 1000 {
		return // slow to make
	}
	b, err := relative.NewDeBERTaBuckets(relative.DeBERTaConfig{Buckets: buckets, MaxPosition: maxPosition})
	if err != nil {
		return
	}
	span := buckets // relative positions on either side
	if buckets == 0 {
		span = maxPosition
	}
	c2p, p2c := relative.Products{HeadStride: headStride, RowStride: queryStride}, relative.Products{HeadStride: headStride, RowStride: keyStride}
	fuzzProducts(&c2p, data)
	fuzzProducts(&p2c, data)
	fuzzScores(t, s, start, data, func(score float32, head, query, key int) float32 {
		r := b.Position(query - key)
		x := c2p.Data[testkit.ProductAt(&c2p, s.Queries, 2*span, head-s.FirstHead, query-s.FirstQuery, r)] / 3
		y := p2c.Data[testkit.ProductAt(&p2c, s.Keys, 2*span, head-s.FirstHead, key-s.FirstKey, r)] / 3
		return score + (x + y)
	}, func(s relative.Scores) error { return relative.AddDeBERTa(s, b, c2p, p2c, 3) })
}

func fuzzRelativeShift(t *testing.T, s relative.Scores, p relative.Products, columns, first, start int, data []byte) {
	fuzzProducts(&p, data)
	fuzzScores(t, s, start, data, func(score float32, head, query, key int) float32 {
		column := first - (query - key)
		if column >= columns {
			return score
		}
		return score + p.Data[testkit.ProductAt(&p, s.Queries, columns, head-s.FirstHead, query-s.FirstQuery, column)]
	}, func(s relative.Scores) error {
		return relative.AddTransformerXL(s, p, relative.Distances{First: first, Count: columns})
	})
}

func fuzzShaw(t *testing.T, s relative.Scores, p relative.Products, maxDistance, start int, data []byte) {
	fuzzProducts(&p, data)
	fuzzScores(t, s, start, data, func(score float32, head, query, key int) float32 {
		column := maxDistance + min(max(key-query, -maxDistance), maxDistance)
		return score + p.Data[testkit.ProductAt(&p, s.Queries, 2*maxDistance+1, head-s.FirstHead, query-s.FirstQuery, column)]
	}, func(s relative.Scores) error { return relative.AddShaw(s, p, maxDistance) })
}

func fuzzSwin(t *testing.T, s relative.Scores, height, width, start int, data []byte) {
	const modelHeads = 5
	if height < 1 || height > 20 || width < 1 || width > 20 {
		return // NewSwinBias refuses others, or is slow
	}
	table := make([]float32, (2*height-1)*(2*width-1)*modelHeads)
	testkit.Repeat32(table, data)
	bias := mustSwinBias(t, height, width, table)
	fuzzScores(t, s, start, data, swinScores(height, width, modelHeads, table), func(s relative.Scores) error { return relative.AddSwin(s, bias) })
}

// fuzzSumShaw sums the weights of a tile of any shape: it is an error and nothing
// changes, or the sums are those of the definition.
func fuzzSumShaw(t *testing.T, weights relative.Scores, sums relative.Products, maxDistance int, data []byte) {
	const most = 1 << 14
	weights.Data = make([]float32, most)
	if n := weights.Heads * weights.Queries * weights.Keys; weights.HeadStride == 0 && weights.QueryStride == 0 && n >= 0 && n < most {
		weights.Data = weights.Data[:n]
	}
	testkit.Repeat32(weights.Data, data)
	fuzzProducts(&sums, append(data[:len(data):len(data)], 1, 2, 3, 4))
	columns := 2*maxDistance + 1
	if n := weights.Heads * weights.Queries * columns; sums.HeadStride == 0 && sums.RowStride == 0 && n >= 0 && n < most {
		sums.Data = sums.Data[:n]
	}
	before, given := slices.Clone(sums.Data), slices.Clone(weights.Data)
	err := relative.SumShaw(sums, weights, maxDistance)
	if !testkit.SameBits(weights.Data, given) {
		t.Fatal("the weights were written")
	}
	want := slices.Clone(before)
	if err == nil && weights.Keys > 0 && weights.Queries > 0 {
		tile := relative.Products{HeadStride: weights.HeadStride, RowStride: weights.QueryStride}
		for h := range weights.Heads {
			for q := range weights.Queries {
				for k := range weights.Keys {
					distance := weights.FirstKey + k - weights.FirstQuery - q
					to := testkit.ProductAt(&sums, weights.Queries, columns, h, q, maxDistance+min(max(distance, -maxDistance), maxDistance))
					want[to] += given[testkit.ProductAt(&tile, weights.Queries, weights.Keys, h, q, k)]
				}
			}
		}
	}
	if !testkit.SameSlices(sums.Data, want) || err != nil && !testkit.SameBits(sums.Data, before) {
		t.Fatalf("%+v, %d: the sums are wrong; error %v", weights, maxDistance, err)
	}
}

// fuzzScores adds to a tile of any shape on every implementation: it is an error
// and nothing changes, or the bits are those that want says.
func fuzzScores(t *testing.T, s relative.Scores, start int, data []byte, want scoreFunction, add func(relative.Scores) error) {
	const most = 1 << 14
	size := most
	if s.HeadStride == 0 && s.QueryStride == 0 && s.Heads > 0 && s.Heads < most && s.Queries >= 0 && s.Queries < most && s.Keys >= 0 && s.Keys < most {
		size = min(most, s.Heads*s.Queries*s.Keys)
	}
	before := make([]float32, start+size)
	testkit.Repeat32(before, data)
	var expected []float32
	testkit.OnEach(func(impl kernels.Implementation) {
		memory := slices.Clone(before)
		s.Data = memory[start:]
		if err := add(s); err != nil {
			if !testkit.SameBits(memory, before) {
				t.Fatalf("%s: wrote before the error %v", impl, err)
			}
			return
		}
		if expected == nil {
			expected = slices.Clone(before)
			s.Data = expected[start:]
			if s.Queries > 0 && s.Keys > 0 {
				apply(s, want)
			}
		}
		if !testkit.SameSlices(memory, expected) {
			t.Fatalf("%s differs from the definition: %d heads of %d queries and %d keys", impl, s.Heads, s.Queries, s.Keys)
		}
	})
}
