package relative_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/relative"
)

// matrices is a matrix for each head, as Scores and Products have them.
type matrices struct {
	heads, rows, columns  int
	headStride, rowStride int
}

func matricesOfScores(s *relative.Scores) matrices {
	return matrices{s.Heads, s.Queries, s.Keys, s.HeadStride, s.QueryStride}.withStrides()
}

func matricesOfProducts(p *relative.Products, heads, rows, columns int) matrices {
	return matrices{heads, rows, columns, p.HeadStride, p.RowStride}.withStrides()
}

// withStrides puts in strides that are left 0.
func (m matrices) withStrides() matrices {
	if m.rowStride == 0 {
		m.rowStride = m.columns
	}
	if m.headStride == 0 {
		m.headStride = m.rows * m.rowStride
	}
	return m
}

func (m matrices) at(head, row, column int) int {
	return head*m.headStride + row*m.rowStride + column
}

// size returns the elements that the matrices need, or of sizes that no memory holds a
// few.
func (m matrices) size(a *kit.Arguments) int {
	if a.Any() {
		for _, n := range []*int{&m.heads, &m.rows, &m.columns, &m.headStride, &m.rowStride} {
			*n = kit.Small(*n)
		}
	}
	if m = m.withStrides(); m.heads == 0 || m.rows == 0 || m.columns == 0 {
		return 0
	}
	return m.at(m.heads-1, m.rows-1, m.columns)
}

// writes says that a call may write to the rows.
func (m matrices) writes(a *kit.Arguments, data []float32) {
	kit.Writes(a, func(mark func(s []float32)) {
		if m.columns <= 0 || m.rows <= 0 { // however many heads
			return
		}
		for h := range m.heads {
			for r := range m.rows {
				mark(data[m.at(h, r, 0):][:m.columns])
			}
		}
	})
}

// gaps chooses strides: packed, or heads or rows outside with gaps between them.
func (m *matrices) gaps(a *kit.Arguments) {
	switch a.Below(3) {
	case 0: // [heads][rows][columns]
		m.rowStride = m.columns + a.Below(9)
		m.headStride = m.rows*m.rowStride + a.Below(9)
	case 1: // [rows][heads][columns]
		m.headStride = m.columns + a.Below(9)
		m.rowStride = m.heads*m.headStride + a.Below(9)
	}
}

// anywhere is for scoresOf: positions from 0 on, some negative, or all that there are.
const anywhere = 0

// scoresOf returns a tile of heads of a model, at positions from 0 on below end, or anywhere.
// One in five is larger than a piece.
func scoresOf(a *kit.Arguments, modelHeads, end int) relative.Scores {
	var m matrices
	var s relative.Scores
	if a.Any() {
		m = matrices{heads: a.Number(1, 3), rows: a.Number(0, 5), columns: a.Number(0, 40)}
		s = relative.Scores{FirstHead: a.Number(0, 2), FirstQuery: a.Number(0, 8), FirstKey: a.Number(0, 8)}
		if a.Yes() {
			m.rowStride = a.Number(0, 60)
		}
		if a.Yes() {
			m.headStride = a.Number(0, 300)
		}
	} else {
		m = matrices{heads: a.Number(1, modelHeads), rows: a.Number(0, 20), columns: a.Number(0, 90)}
		if large := a.Below(20); large < 4 {
			shape := [...][2]int{{1, 5000}, {1, 17000}, {17, 1030}, {2000, 9}}[large]
			m.heads, m.rows, m.columns = 1, shape[0], shape[1]
		}
		least := 0
		if end == anywhere {
			least, end = -300, 20000
			if a.Yes() {
				least, end = -1<<30, 1<<30
			}
		}
		positions := int64(end) - int64(least) // may be more than an int of 32 bits
		m.rows, m.columns = int(min(int64(m.rows), positions)), int(min(int64(m.columns), positions))
		m.gaps(a)
		s.FirstHead = a.Number(0, modelHeads-m.heads)
		s.FirstQuery = int(int64(least) + a.R.Int64N(positions-int64(m.rows)+1))
		s.FirstKey = int(int64(least) + a.R.Int64N(positions-int64(m.columns)+1))
		if a.Below(4) > 0 { // some keys before the queries, some after them
			s.FirstKey = min(max(s.FirstQuery+a.R.IntN(m.rows+m.columns+41)-m.columns-20, least), end-m.columns)
		}
	}
	s.Heads, s.Queries, s.Keys, s.HeadStride, s.QueryStride = m.heads, m.rows, m.columns, m.headStride, m.rowStride
	s.Data = kit.Slice[float32](a, m.size(a))
	return s
}

// outputScores is scoresOf for a call that may write to the scores.
func outputScores(a *kit.Arguments, modelHeads, end int) relative.Scores {
	s := scoresOf(a, modelHeads, end)
	matricesOfScores(&s).writes(a, s.Data)
	return s
}

// productsOf returns products of the given heads, rows and columns. Those that are only
// read may have rows that overlap, and have them where they are many.
func productsOf(a *kit.Arguments, heads, rows, columns int, read bool) relative.Products {
	m := matrices{heads: heads, rows: rows, columns: columns}
	switch {
	case a.Any():
		if a.Yes() {
			m.rowStride = a.Number(0, 100)
		}
		if a.Yes() {
			m.headStride = a.Number(0, 300)
		}
	case read && (heads*rows*columns > 1<<15 || a.Below(4) == 0):
		m.rowStride, m.headStride = 1+a.Below(min(9, 1+30000/max(rows, 1))), 1+a.Below(30)
	default:
		m.gaps(a)
	}
	p := relative.Products{HeadStride: m.headStride, RowStride: m.rowStride}
	n := m.size(a)
	if rows > 0 && a.Below(4) == 0 {
		p.Rows = rows
		n += a.Below(200)
	}
	if a.Rarely() {
		p.Rows = a.Number(0, 5)
	}
	p.Data = kit.Slice[float32](a, n)
	return p
}

// partOfProducts returns some products from a head and a row on.
func partOfProducts(p relative.Products, heads, rows, columns, head, row, some int) relative.Products {
	if p.Data == nil {
		return p
	}
	m := matricesOfProducts(&p, heads, rows, columns)
	return relative.Products{Data: p.Data[m.at(head, row, 0):], Rows: some, HeadStride: m.headStride, RowStride: m.rowStride}
}

// partOfScores returns some of the scores as a tile.
func partOfScores(s relative.Scores, head, heads, query, queries, key, keys int) relative.Scores {
	m := matricesOfScores(&s)
	return relative.Scores{
		Data:  s.Data[m.at(head, query, key):],
		Heads: heads, Queries: queries, Keys: keys,
		HeadStride: m.headStride, QueryStride: m.rowStride,
		FirstHead: s.FirstHead + head, FirstQuery: s.FirstQuery + query, FirstKey: s.FirstKey + key,
	}
}

// tiles cuts scores into tiles, and groups those of the same heads and queries, in
// ascending order of keys. call makes the call for a tile, whose first head, query and
// key in the scores it is told.
func tiles(c *kit.Choices, s relative.Scores, call func(tile relative.Scores, head, query, key int) error) (groups [][]func() error) {
	if s.Queries == 0 || s.Keys == 0 {
		return nil
	}
	heads, queries := c.Cut(s.Heads), c.Cut(s.Queries)
	for i, head := range heads[:len(heads)-1] {
		for j, query := range queries[:len(queries)-1] {
			var group []func() error
			keys := c.Cut(s.Keys)
			for l, key := range keys[:len(keys)-1] {
				tile := partOfScores(s, head, heads[i+1]-head, query, queries[j+1]-query, key, keys[l+1]-key)
				group = append(group, func() error { return call(tile, head, query, key) })
			}
			groups = append(groups, group)
		}
	}
	return groups
}

// scoreFunction says what a score becomes, of a head, a query and a key of the tile.
type scoreFunction func(score float32, head, query, key int) float32

// change changes scores by their definition.
func change(s relative.Scores, want scoreFunction) {
	m := matricesOfScores(&s)
	if m.rows == 0 || m.columns == 0 {
		return // however many heads
	}
	for h := range m.heads {
		for q := range m.rows {
			for k := range m.columns {
				x := &s.Data[m.at(h, q, k)]
				*x = want(*x, h, q, k)
			}
		}
	}
}

// scoresCall is a call that adds to scores, which become what want says.
func scoresCall(s relative.Scores, add func(s relative.Scores) error, want scoreFunction) kit.Call {
	return kit.Call{
		Run:  func() error { return add(s) },
		Want: func() { change(s, want) },
		Parts: func(c *kit.Choices) [][]func() error {
			return tiles(c, s, func(tile relative.Scores, _, _, _ int) error { return add(tile) })
		},
	}
}

// productsCall is a call that adds to each score the product of its query and of the column
// that columnOf returns, where there is one.
func productsCall(s relative.Scores, p relative.Products, columns int, add func(s relative.Scores, p relative.Products) error, columnOf func(query, key int) int) kit.Call {
	return kit.Call{
		Run: func() error { return add(s, p) },
		Want: func() {
			m := matricesOfProducts(&p, s.Heads, s.Queries, columns)
			change(s, func(score float32, head, query, key int) float32 {
				if column := columnOf(query, key); column >= 0 && column < columns {
					score += p.Data[m.at(head, query, column)]
				}
				return score
			})
		},
		Parts: func(c *kit.Choices) [][]func() error {
			return tiles(c, s, func(tile relative.Scores, head, query, _ int) error {
				return add(tile, partOfProducts(p, s.Heads, s.Queries, columns, head, query, tile.Queries))
			})
		},
	}
}

// distanceOf returns the position of a key minus that of a query of the tile.
func distanceOf(s *relative.Scores, query, key int) int {
	return s.FirstKey + key - s.FirstQuery - query
}

// callsOnStack makes a call of every function that takes slices.
func callsOnStack() error {
	var positions [9]int32
	var data, x, y, z [24]float32
	s := relative.Scores{Data: data[:18], Heads: 2, Queries: 3, Keys: 3}
	products, distances := relative.Products{Data: x[:18]}, relative.Distances{First: 2, Count: 3}
	ofBuckets := relative.DeBERTaProducts{ContentToPosition: relative.Products{Data: y[:], Rows: 3, RowStride: 1}, PositionToContent: relative.Products{Data: z[:], Rows: 3, RowStride: 1}, Divisor: 2}
	heads, shape := posenc.View[float32]{Data: y[:], Heads: 2}, relative.ProductShape{Tokens: 3, Columns: 3, HeadDim: 4}
	return errors.Join(
		relative.ALiBiSlopes(x[:12], 8), relative.AddALiBi(s, x[:2], relative.SymmetricALiBi),
		relative.AddT5(s, t5OfTwoHeads), relative.AddSwin(s, swinOfTwoHeads), relative.AddDeBERTa(s, fourBuckets, ofBuckets),
		relative.AddBand(s, products, distances), relative.AddTransformerXL(s, products, distances),
		relative.AddShaw(s, products, 1), relative.SumShaw(products, s, 1),
		relative.DotProducts(products, heads, z[:8], posenc.View[float32]{Data: z[:12], Heads: 1}, shape),
		relative.AddValues(heads, products, posenc.View[float32]{Data: z[:], Heads: 2}, shape),
		relative.SwinCoordinates(data[:18], relative.SwinWindow{Height: 2, Width: 2}, relative.SwinWindow{Width: 8}),
		relative.TransformerXLPositions(positions[:], 5), relative.XLNetPositions(positions[:], relative.XLNetOptions{Keys: 4, Backward: true}))
}

// longCalls adds to a long row of scores and to many, of more queries and keys than a piece has.
func longCalls() (err error) {
	for _, shape := range [][2]int{{1, 1<<17 + 24}, {300, 500}, {1100, 1024}} {
		s := relative.Scores{Heads: 1, Queries: shape[0], Keys: shape[1], FirstQuery: shape[1] - shape[0]}
		s.Data = make([]float32, s.Queries*s.Keys)
		products, distances := relative.Products{Data: make([]float32, len(s.Data))}, relative.Distances{First: s.Keys - 1, Count: s.Keys}
		ofBuckets := relative.DeBERTaProducts{ContentToPosition: relative.Products{Data: products.Data[:s.Queries*8]}, Divisor: 2}
		if s.Queries > 1 {
			ofBuckets.PositionToContent.Data = products.Data[:s.Keys*8]
		}
		err = errors.Join(err, relative.AddT5(s, t5OfTwoHeads), relative.AddDeBERTa(s, fourBuckets, ofBuckets),
			relative.AddBand(s, products, distances), relative.AddTransformerXL(s, products, distances))
		for _, form := range []relative.ALiBiForm{relative.CausalALiBi, relative.SymmetricALiBi, relative.KeyALiBi} {
			err = errors.Join(err, relative.AddALiBi(s, []float32{0.5}, form))
		}
	}
	return errors.Join(err, relative.AddSwin(relative.Scores{Data: make([]float32, 1<<20), Heads: 1, Queries: 1 << 10, Keys: 1 << 10}, largeSwin))
}

// scoresInMemory is a tile of scores and the memory in which it lies.
type scoresInMemory struct {
	relative.Scores
	memory []float32
}

// digestTile returns a tile of two of four heads, of one of three shapes.
func digestTile(d *kit.Digest, shape, queries, keys int) scoresInMemory {
	s := relative.Scores{Heads: 2, Queries: queries, Keys: keys, FirstHead: d.Below(3)}
	n := s.Heads * queries * keys
	switch shape {
	case 1: // [heads][queries][keys] with gaps
		s.QueryStride = keys + d.Below(9)
		s.HeadStride = queries*s.QueryStride + d.Below(9)
		n = s.Heads * s.HeadStride
	case 2: // [queries][heads][keys] with gaps
		s.HeadStride = keys + d.Below(9)
		s.QueryStride = s.Heads*s.HeadStride + d.Below(9)
		n = queries * s.QueryStride
	}
	start := d.Below(16)
	memory := kit.DigestElements[float32](d, start+n+8)
	s.Data = memory[start : start+n]
	return scoresInMemory{s, memory}
}

// digestTiles adds to tiles of several shapes and positions.
func digestTiles(d *kit.Digest, add func(s relative.Scores) error) {
	for i, shape := range [][2]int{{1, 1}, {1, 37}, {5, 9}, {9, 64}, {17, 1030}} {
		s := digestTile(d, i%3, shape[0], shape[1])
		s.FirstQuery, s.FirstKey = d.Below(300)-20, d.Below(300)-20
		d.Must(add(s.Scores))
		d.Add(s.memory)
	}
}

// digestProducts returns random ones with gaps.
func digestProducts(d *kit.Digest, heads, rows, columns int) relative.Products {
	p := relative.Products{Rows: rows, RowStride: columns + d.Below(5)}
	p.HeadStride = rows*p.RowStride + d.Below(5)
	p.Data = kit.DigestElements[float32](d, heads*p.HeadStride)
	return p
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

// ulps returns how many float32 lie between two of the same sign.
func ulps(a, b float32) int {
	return max(int(math.Float32bits(a))-int(math.Float32bits(b)), int(math.Float32bits(b))-int(math.Float32bits(a)))
}

// magnitudes returns |x|.
func magnitudes(x []float32) []float32 {
	list := make([]float32, len(x))
	for i, v := range x {
		list[i] = float32(math.Abs(float64(v)))
	}
	return list
}

// compareSums compares what call makes of inputs that of returns with what a framework does: sums
// of up to n products each. In any order, with roundings of products or without, each is off by
// at most n roundings of 2^-24 of the sum of the magnitudes, which call makes of the magnitudes of
// its inputs.
func compareSums(t *testing.T, what string, n int, want []float32, call func(of func(x []float32) []float32) []float32) {
	t.Helper()
	got, sizes := call(func(x []float32) []float32 { return x }), call(magnitudes)
	if len(got) != len(want) {
		t.Fatalf("%s: %d sums, want %d", what, len(got), len(want))
	}
	for i, w := range want {
		if bound := 2 * float64(n+1) * 0x1p-24 * float64(sizes[i]); !(math.Abs(float64(got[i]-w)) <= bound) {
			t.Fatalf("%s: element %d is %v, want %v within %v", what, i, got[i], w, bound)
		}
	}
}

// headed is [heads][tokens][dim].
func headed(x []float32, heads, tokens, dim int) posenc.View[float32] {
	return posenc.View[float32]{Data: x, Heads: heads, TokenStride: dim, HeadStride: tokens * dim}
}

// scaled divides scores by the root of the size of a head, here a power of two.
func scaled(scores []float32, headDim int) []float32 {
	for i := range scores {
		scores[i] *= float32(1 / math.Sqrt(float64(headDim)))
	}
	return scores
}

// orNone returns buckets that are made; where any arguments are wanted also nil and zero
// ones, of which there are none.
func orNone[B any](a *kit.Arguments, buckets func() (*B, int)) (*B, int) {
	switch {
	case a.Rarely():
		return nil, 0
	case a.Rarely():
		return new(B), 0
	}
	return buckets()
}

// registerBuckets registers the case of a method that returns the bucket of a distance.
func registerBuckets(method string, bucketsOf func(a *kit.Arguments) (bucket func(distance int) int, count int), digests func(add kit.AddDigest, method string)) struct{} {
	return kit.Register(kit.Case{
		Function: method,
		Call: func(a *kit.Arguments) kit.Call {
			bucket, count := bucketsOf(a)
			distance := a.Number(-300, 300)
			return kit.Call{Run: func() error {
				if n := bucket(distance); n < 0 || n >= max(count, 1) {
					return fmt.Errorf("%d is not below %d", n, count)
				}
				return nil
			}}
		},
		NeverFails: true,
		Digests:    func(add kit.AddDigest) { digests(add, method) },
	})
}

// The farthest distances have buckets, and none has one without buckets. The largest tables are
// monotone.
func TestBucketLimits(t *testing.T) {
	for i, test := range []struct {
		bucket func(distance int) int
		want   map[int]int
	}{
		{mustT5Buckets(32, 128, true).Bucket, map[int]int{math.MinInt: 15, math.MaxInt: 31}},
		{mustT5Buckets(1024, 65536, false).Bucket, map[int]int{-65536: 1023}},
		{new(relative.T5Buckets).Bucket, map[int]int{5: 0}},
		{mustDeBERTaBuckets(256, 512).Position, map[int]int{512: 511, -512: 0, math.MaxInt: 511, math.MinInt: 0}},
		{mustDeBERTaBuckets(0, 512).Position, map[int]int{512: 1023, -513: 0, math.MinInt: 0}},
		{new(relative.DeBERTaBuckets).Position, map[int]int{5: 0}},
	} {
		for distance, want := range test.want {
			if got := test.bucket(distance); got != want {
				t.Errorf("buckets %d: distance %d is in %d, want %d", i, distance, got, want)
			}
		}
	}
	t5, deberta := mustT5Buckets(1024, 65536, false), mustDeBERTaBuckets(1024, 65536)
	for n := range 70000 {
		for _, step := range []int{t5.Bucket(-n-1) - t5.Bucket(-n), deberta.Position(n+1) - deberta.Position(n)} {
			if step < 0 || step > 1 {
				t.Fatalf("from distance %d to the next, buckets differ by %d", n, step)
			}
		}
	}
}

// digestBuckets adds the buckets of distances up to most, and the farthest.
func digestBuckets(d *kit.Digest, most int, bucket func(distance int) int) {
	for n := -most; n <= most; n++ {
		d.Add(int32(bucket(n)))
	}
	d.Add(int32(bucket(math.MinInt32)), int32(bucket(math.MaxInt32)))
}

func TestMain(m *testing.M)  { kit.Main(m) }
func TestCases(t *testing.T) { kit.TestCases(t) }
func FuzzCases(f *testing.F) { kit.FuzzCases(f) }
func TestReceivers(t *testing.T) {
	kit.CheckReceivers(t, relative.T5Buckets{}, relative.DeBERTaBuckets{})
}
