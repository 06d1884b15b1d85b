package absolute_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// learnedVectors is what PyTorch makes of learned tables
// (testdata/learned/generate.py).
type learnedVectors struct {
	Add []struct {
		Model, Type        string
		Dim                int
		Mask               []bool
		TypeIDs            []int32 `json:"type_ids"`
		Table, Types, X, Y string
	}
	Linear []struct {
		Dim      int
		Src, Dst string
	}
	Bicubic, Antialias []struct {
		Dim      int
		From, To [2]int
		Src, Dst string
	}
}

func loadLearned(t *testing.T) (v learnedVectors) {
	t.Helper()
	text, err := os.ReadFile("testdata/learned/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func decodeElements[T posenc.Element](t *testing.T, text string) (list []T) {
	t.Helper()
	for _, bits := range decodeBits(t, text, int(unsafe.Sizeof(*new(T)))) {
		var x T
		switch x := any(&x).(type) {
		case *float32:
			*x = math.Float32frombits(uint32(bits))
		case *posenc.Float16:
			*x = posenc.Float16(bits)
		case *posenc.BFloat16:
			*x = posenc.BFloat16(bits)
		}
		list = append(list, x)
	}
	return list
}

// Embeddings have the bits that PyTorch gives them, with the rows that the
// models look up.
func TestAddEmbeddingsVectors(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		testkit.EachType(t, testAddEmbeddings[float32], testAddEmbeddings[posenc.Float16], testAddEmbeddings[posenc.BFloat16])
	})
}

func testAddEmbeddings[T posenc.Element](t *testing.T) {
	name := map[any]string{float32(0): "float32", posenc.Float16(0): "float16", posenc.BFloat16(0): "bfloat16"}[*new(T)]
	count := 0
	for _, c := range loadLearned(t).Add {
		if c.Type != name {
			continue
		}
		count++
		e := absolute.Embedding[T]{Table: decodeElements[T](t, c.Table), IDs: make([]int32, len(c.Mask))}
		var err error
		switch c.Model {
		case "bert", "bart":
			testkit.CountFrom(e.IDs, 0, 1)
		case "roberta", "opt":
			err = absolute.PaddedPositions(e.IDs, c.Mask, 1)
		}
		if c.Model == "bart" {
			e.Offset = 2
		}
		x := decodeElements[T](t, c.X)
		err = errors.Join(err, absolute.AddEmbeddings(x, c.Dim, absolute.Embedding[T]{Table: decodeElements[T](t, c.Types), IDs: c.TypeIDs}, e))
		if want := decodeElements[T](t, c.Y); err != nil || !slices.Equal(x, want) {
			t.Errorf("%s: got %v, %v, want %v", c.Model, x, err, want)
		}
	}
	if count != 4 {
		t.Errorf("%d cases, want 4", count)
	}
}

// All types of embeddings and tables, at lengths round those of vectors, against
// a plain loop.
func TestAddEmbeddingsAgainstPlain(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		testkit.EachType(t, testAddOfAllTypes[float32], testAddOfAllTypes[posenc.Float16], testAddOfAllTypes[posenc.BFloat16])
	})
}

func testAddOfAllTypes[T posenc.Element](t *testing.T) {
	testkit.EachType(t, testAddOf[T, float32], testAddOf[T, posenc.Float16], testAddOf[T, posenc.BFloat16])
}

func testAddOf[T, W posenc.Element](t *testing.T) {
	r := testkit.NewRand(91)
	dims := append([]int{1023, 1025, 2100}, testkit.Lengths...)
	if unsafe.Sizeof(*new(T))+unsafe.Sizeof(*new(W)) == 8 {
		dims = append(dims, kernels.MaxCallElements/2, kernels.MaxCallElements+5) // calls for two rows, and for parts of one
	}
	for _, dim := range dims {
		const tokens, rows, offset, canaries = 5, 7, 2, 20
		embeddings := make([]absolute.Embedding[W], r.IntN(3))
		for i := range embeddings {
			embeddings[i] = absolute.Embedding[W]{testkit.RandomElements[W](r, rows*dim), make([]int32, tokens), offset}
			for t := range embeddings[i].IDs {
				embeddings[i].IDs[t] = int32(r.IntN(rows)) - offset
			}
		}
		x := testkit.RandomElements[T](r, tokens*dim+2*canaries)
		want := slices.Clone(x)
		for t := range tokens {
			for j := range dim {
				v := &want[canaries+t*dim+j]
				for _, e := range embeddings {
					*v = testkit.Narrow[T](testkit.Widen(*v) + testkit.Widen(e.Table[(int(e.IDs[t])+offset)*dim+j]))
				}
			}
		}
		if err := absolute.AddEmbeddings(x[canaries:canaries+tokens*dim], dim, embeddings...); err != nil {
			t.Fatal(err)
		}
		for i := range x {
			if !testkit.Same(testkit.Widen(x[i]), testkit.Widen(want[i])) {
				t.Fatalf("dim %d, %d tables: element %d is %v, want %v", dim, len(embeddings), i-canaries, testkit.Widen(x[i]), testkit.Widen(want[i]))
			}
		}
	}
}

// PyTorch takes coordinates and sums in float32: of tables below 4 in
// magnitude and coordinates up to 16 that is some roundings of 2^-20 times their
// slopes, below 2^-17 together.
const interpolationError = 0x1p-17

func TestInterpolateVectors(t *testing.T) {
	v := loadLearned(t)
	if len(v.Linear) != 6 || len(v.Bicubic) != 6 || len(v.Antialias) != 11 {
		t.Fatalf("%d, %d and %d cases, want 6, 6 and 11", len(v.Linear), len(v.Bicubic), len(v.Antialias))
	}
	compare := func(name string, got, want []float32, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if !(math.Abs(float64(got[i])-float64(want[i])) <= interpolationError) {
				t.Errorf("%s: element %d is %v, want %v", name, i, got[i], want[i])
			}
		}
	}
	for _, c := range v.Linear {
		want := decodeElements[float32](t, c.Dst)
		got := make([]float32, len(want))
		compare("linear", got, want, absolute.InterpolateTable(got, decodeElements[float32](t, c.Src), c.Dim))
	}
	for _, c := range v.Bicubic {
		want := decodeElements[float32](t, c.Dst)
		got := make([]float32, len(want))
		compare("bicubic", got, want, absolute.InterpolateGrid(got, decodeElements[float32](t, c.Src), absolute.InterpolateGridOptions{DstHeight: c.To[0], DstWidth: c.To[1], SrcHeight: c.From[0], SrcWidth: c.From[1], Dim: c.Dim}))
	}
	for _, c := range v.Antialias {
		want := decodeElements[float32](t, c.Dst)
		got := make([]float32, len(want))
		compare("antialias", got, want, absolute.InterpolateGrid(got, decodeElements[float32](t, c.Src), absolute.InterpolateGridOptions{DstHeight: c.To[0], DstWidth: c.To[1], SrcHeight: c.From[0], SrcWidth: c.From[1], Dim: c.Dim, Antialias: true}))
	}
}

// What interpolation has to keep: a table of the same size, one that is the same
// everywhere, the symmetry of a grid, and a straight line between its ends.
func TestInterpolateIdentities(t *testing.T) {
	r := testkit.NewRand(92)
	for round := range 100 {
		antialias := round%2 == 1
		h, w, dim := 1+r.IntN(9), 1+r.IntN(9), 1+r.IntN(4)
		toH, toW := 1+r.IntN(20), 1+r.IntN(20)
		src := make([]float32, h*w*dim)
		for i := range src {
			src[i] = 4*r.Float32() - 2
		}
		dst := make([]float32, len(src))
		if err := absolute.InterpolateGrid(dst, src, absolute.InterpolateGridOptions{DstHeight: h, DstWidth: w, SrcHeight: h, SrcWidth: w, Dim: dim, Antialias: antialias}); err != nil || !slices.Equal(dst, src) {
			t.Fatalf("the same grid: got %v, %v, want %v", dst, err, src)
		}
		if err := absolute.InterpolateTable(dst, src, dim); err != nil || !slices.Equal(dst, src) {
			t.Fatalf("the same length: got %v, %v, want %v", dst, err, src)
		}
		to, mirrored := make([]float32, toH*toW*dim), make([]float32, toH*toW*dim)
		err := absolute.InterpolateGrid(to, src, absolute.InterpolateGridOptions{DstHeight: toH, DstWidth: toW, SrcHeight: h, SrcWidth: w, Dim: dim, Antialias: antialias})
		turned := slices.Clone(src)
		reverseRows(turned, dim)
		err = errors.Join(err, absolute.InterpolateGrid(mirrored, turned, absolute.InterpolateGridOptions{DstHeight: toH, DstWidth: toW, SrcHeight: h, SrcWidth: w, Dim: dim, Antialias: antialias}))
		reverseRows(mirrored, dim)
		for i := range to { // sums in another order, of products below 4 in float64, rounded to float32
			if err != nil || math.Abs(float64(to[i]-mirrored[i])) > 0x1p-21 {
				t.Fatalf("turned by 180 degrees: got %v, want %v (%v)", mirrored[i], to[i], err)
			}
		}
		for i := range src {
			src[i] = 1.5
		}
		if err := absolute.InterpolateGrid(to, src, absolute.InterpolateGridOptions{DstHeight: toH, DstWidth: toW, SrcHeight: h, SrcWidth: w, Dim: dim, Antialias: antialias}); err != nil || slices.ContainsFunc(to, func(x float32) bool { return x != 1.5 }) {
			t.Fatalf("a constant: got %v, %v", to, err)
		}
	}
	line := []float32{0, 8, 16, 24}
	got := make([]float32, 8)
	if err := absolute.InterpolateTable(got, line, 1); err != nil || !slices.Equal(got, []float32{0, 2, 6, 10, 14, 18, 22, 24}) {
		t.Errorf("a line: got %v, %v", got, err)
	}
}

func reverseRows(x []float32, dim int) {
	slices.Reverse(x)
	for i := 0; i < len(x); i += dim {
		slices.Reverse(x[i : i+dim])
	}
}

// plainGridWeights returns the weights of the elements, of n, that make element i of
// m, as the documentation of InterpolateGrid has them, from exact fractions.
func plainGridWeights(i, n, m int, antialias bool) (elements []int, weights []float64) {
	fraction := func(a, b int) *big.Rat { return big.NewRat(int64(a), int64(b)) }
	at := fraction((2*i+1)*n, 2*m)
	a, s := -0.75, fraction(1, 1)
	if antialias {
		a = -0.5
		if n > m {
			s = fraction(n, m)
		}
	}
	k := func(t float64) float64 {
		if t <= 1 {
			square := float64(t * t)
			return math.FMA(math.FMA(a+2, t, -(a+3)), square, 1)
		}
		return math.FMA(math.FMA(math.FMA(a, t, -5*a), t, 8*a), t, -4*a)
	}
	if !antialias {
		from := new(big.Rat).Sub(at, fraction(1, 2))
		whole := int(new(big.Int).Div(from.Num(), from.Denom()).Int64())
		f, _ := from.Sub(from, fraction(whole, 1)).Float64()
		for j, t := range []float64{1 + f, f, 1 - f, 2 - f} {
			elements, weights = append(elements, min(max(whole-1+j, 0), n-1)), append(weights, k(t))
		}
		return elements, weights
	}
	sum := 0.0
	for j := range n {
		distance := new(big.Rat).Sub(fraction(2*j+1, 2), at)
		if t, _ := distance.Abs(distance.Quo(distance, s)).Float64(); t < 2 {
			elements, weights = append(elements, j), append(weights, k(t))
			sum += k(t)
		}
	}
	for j := range weights {
		weights[j] /= sum
	}
	return elements, weights
}

// Every element has the bits that the documentation says.
func TestInterpolateGridIsPlain(t *testing.T) {
	r := testkit.NewRand(79)
	const dim = 3
	for range testkit.Rounds(60) {
		dstHeight, dstWidth, srcHeight, srcWidth := 1+r.IntN(20), 1+r.IntN(20), 1+r.IntN(20), 1+r.IntN(20)
		src, dst := make([]float32, srcHeight*srcWidth*dim), make([]float32, dstHeight*dstWidth*dim)
		for i := range src {
			src[i] = float32(r.NormFloat64())
		}
		for _, antialias := range []bool{false, true} {
			if err := absolute.InterpolateGrid(dst, src, absolute.InterpolateGridOptions{DstHeight: dstHeight, DstWidth: dstWidth, SrcHeight: srcHeight, SrcWidth: srcWidth, Dim: dim, Antialias: antialias}); err != nil {
				t.Fatal(err)
			}
			for y := range dstHeight {
				rows, rowWeights := plainGridWeights(y, srcHeight, dstHeight, antialias)
				for x := range dstWidth {
					columns, columnWeights := plainGridWeights(x, srcWidth, dstWidth, antialias)
					for j := range dim {
						sum := 0.0
						for a, row := range rows {
							line := 0.0
							for b, column := range columns {
								line += float64(columnWeights[b] * float64(src[(row*srcWidth+column)*dim+j]))
							}
							sum += float64(rowWeights[a] * line)
						}
						if got := dst[(y*dstWidth+x)*dim+j]; got != float32(sum) {
							t.Fatalf("%dx%d from %dx%d, antialias %t: element %d of patch %d, %d is %v, want %v", dstHeight, dstWidth, srcHeight, srcWidth, antialias, j, y, x, got, float32(sum))
						}
					}
				}
			}
		}
	}
}

func TestLearnedErrors(t *testing.T) {
	x, table, ids := make([]float32, 8), make([]float32, 12), []int32{0, 2}
	add := func(e absolute.Embedding[float32]) error { return absolute.AddEmbeddings(x, 4, e) }
	for _, tt := range []struct {
		name string
		err  error
		kind error
		want string
	}{
		{"dim", absolute.AddEmbeddings[float32, float32](x, 0), posenc.ErrShape, "absolute.AddEmbeddings: dim is 0"},
		{"x", absolute.AddEmbeddings[float32, float32](x, 3), posenc.ErrLength, "x is 8 elements"},
		{"IDs", add(absolute.Embedding[float32]{table, ids[:1], 0}), posenc.ErrLength, "embeddings[0].IDs is 1 element, want 2"},
		{"table", add(absolute.Embedding[float32]{table[:11], ids, 0}), posenc.ErrLength, "embeddings[0].Table is 11 elements"},
		{"no rows", add(absolute.Embedding[float32]{nil, ids, 0}), posenc.ErrLength, "absolute.AddEmbeddings: embeddings[0].Table is 0 elements, want at least one row of 4"},
		{"high ID", add(absolute.Embedding[float32]{table, []int32{0, 3}, 0}), posenc.ErrPosition, "embeddings[0].IDs[1] is 3, want from 0 to 2"},
		{"low ID", add(absolute.Embedding[float32]{table, []int32{-1, 0}, 0}), posenc.ErrPosition, "embeddings[0].IDs[0] is -1"},
		{"high ID with an offset", add(absolute.Embedding[float32]{table, ids, 1}), posenc.ErrPosition, "want from -1 to 1"},
		{"lowest ID", add(absolute.Embedding[float32]{table, []int32{math.MinInt32, 0}, 2}), posenc.ErrPosition, "IDs[0]"},
		{"offset", add(absolute.Embedding[float32]{table, ids, 4}), posenc.ErrPosition, "embeddings[0].Offset is 4"},
		{"negative offset", add(absolute.Embedding[float32]{table, ids, math.MinInt}), posenc.ErrPosition, "Offset"},
		{"overlap", add(absolute.Embedding[float32]{x, []int32{0, 1}, 0}), posenc.ErrOverlap, "x is sharing memory with embeddings[0].Table"},
		{"second table", absolute.AddEmbeddings(x, 4, absolute.Embedding[float32]{table, ids, 0}, absolute.Embedding[float32]{table, ids, -1}), posenc.ErrPosition, "embeddings[1].Offset"},

		{"linear dim", absolute.InterpolateTable(x, table, -1), posenc.ErrShape, "InterpolateTable: dim is -1"},
		{"linear nothing", absolute.InterpolateTable(x[:0], table, 4), posenc.ErrLength, "dst is 0 elements"},
		{"linear part", absolute.InterpolateTable(x, table[:7], 4), posenc.ErrLength, "src is 7 elements"},
		{"linear overlap", absolute.InterpolateTable(x, x[4:], 4), posenc.ErrOverlap, "dst"},
		{"grid height", absolute.InterpolateGrid(x, table, absolute.InterpolateGridOptions{DstHeight: 0, DstWidth: 2, SrcHeight: 3, SrcWidth: 2, Dim: 2}), posenc.ErrShape, "InterpolateGrid: options.DstHeight is 0"},
		{"grid width", absolute.InterpolateGrid(x, table, absolute.InterpolateGridOptions{DstHeight: 2, DstWidth: 2, SrcHeight: 3, SrcWidth: 1<<24 + 1, Dim: 2}), posenc.ErrShape, "options.SrcWidth"},
		{"grid dim", absolute.InterpolateGrid(x, table, absolute.InterpolateGridOptions{DstHeight: 2, DstWidth: 2, SrcHeight: 3, SrcWidth: 2, Dim: 0}), posenc.ErrShape, "options.Dim is 0"},
		{"grid dst", absolute.InterpolateGrid(x, table, absolute.InterpolateGridOptions{DstHeight: 2, DstWidth: 3, SrcHeight: 3, SrcWidth: 2, Dim: 2}), posenc.ErrLength, "dst is 8 elements, want 2*3*2"},
		{"grid src", absolute.InterpolateGrid(x, table, absolute.InterpolateGridOptions{DstHeight: 2, DstWidth: 2, SrcHeight: 2, SrcWidth: 2, Dim: 2}), posenc.ErrLength, "src is 12 elements"},
		{"grid too large", absolute.InterpolateGrid(x, table, absolute.InterpolateGridOptions{DstHeight: 1 << 24, DstWidth: 1 << 24, SrcHeight: 2, SrcWidth: 2, Dim: math.MaxInt}), posenc.ErrLength, "dst"},
		{"grids that are long across each other", absolute.InterpolateGrid(make([]float32, 1<<15), make([]float32, 1<<14), absolute.InterpolateGridOptions{DstHeight: 1 << 15, DstWidth: 1, SrcHeight: 1, SrcWidth: 1 << 14, Dim: 1, Antialias: true}), posenc.ErrShape, "options.DstHeight is 32768"},
		{"grid overlap", absolute.InterpolateGrid(x[:4], x[2:6], absolute.InterpolateGridOptions{DstHeight: 2, DstWidth: 1, SrcHeight: 1, SrcWidth: 2, Dim: 2}), posenc.ErrOverlap, "dst"},
	} {
		if !errors.Is(tt.err, tt.kind) || tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %v with %q", tt.name, tt.err, tt.kind, tt.want)
		}
	}
	if slices.ContainsFunc(x, func(v float32) bool { return v != 0 }) {
		t.Error("an error came after the first write")
	}
}

func TestAddEmbeddingsAllocatesNothing(t *testing.T) {
	x, table, ids := make([]float32, 40*96), make([]float32, 9*96), make([]int32, 40)
	half := make([]posenc.BFloat16, 9*96)
	var err error
	for name, call := range map[string]func(){
		"float32 tables": func() {
			err = absolute.AddEmbeddings(x, 96, absolute.Embedding[float32]{table, ids, 0}, absolute.Embedding[float32]{table, ids, 2})
		},
		"bfloat16 tables": func() { err = absolute.AddEmbeddings(x, 96, absolute.Embedding[posenc.BFloat16]{half, ids, 0}) },
	} {
		testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
			if n := testing.AllocsPerRun(20, call); n != 0 || err != nil {
				t.Errorf("%s: %v allocations, %v", name, n, err)
			}
		})
	}
}

// The table next to a guard: no row is read beyond its end.
func TestGuardEmbeddings(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		g := testkit.NewGuards(t, testkit.NewRand(93), 4*3*140, "x", "table")
		for _, dim := range testkit.Lengths {
			for _, atEnd := range []bool{false, true} {
				x, table := g.Floats("x", 2*dim, atEnd), g.Floats("table", 3*dim, atEnd)
				var err error
				g.Check("AddEmbeddings", func() { err = absolute.AddEmbeddings(x, dim, absolute.Embedding[float32]{table, []int32{2, 0}, 0}) },
					func(copies map[string][]float32) {
						for i := range dim {
							copies["x"][i] += table[2*dim+i]
							copies["x"][dim+i] += table[i]
						}
					}, map[string][]float32{"x": x})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// FuzzAddEmbeddings adds rows of tables of any shape, valid or not, on every
// implementation: the same error and untouched data, or the bits of a plain loop.
func FuzzAddEmbeddings(f *testing.F) {
	f.Add(8, 3, 2, 1, []byte{1, 0, 0, 0}, []byte{1, 2, 3, 4})
	f.Add(0, 1, 1, -1, []byte{255, 255, 255, 255}, []byte(nil))
	f.Add(-3, 200, 7, math.MaxInt, []byte{0, 0, 0, 128}, []byte{0, 0, 192, 127})
	f.Fuzz(func(t *testing.T, dim, rows, tokens, offset int, idData, data []byte) {
		rows, tokens = (rows%20+20)%20, (tokens%20+20)%20
		size := (dim%200 + 200) % 200
		table, before := make([]float32, rows*size), make([]float32, tokens*size)
		testkit.Repeat32(table, data)
		testkit.Repeat32(before, idData)
		e := absolute.Embedding[float32]{table, testkit.RepeatPositions(tokens, idData, 0), offset}
		testkit.OnEach(func(impl kernels.Implementation) {
			x := slices.Clone(before)
			if err := absolute.AddEmbeddings(x, dim, e); err != nil {
				if !testkit.SameBits(x, before) {
					t.Fatalf("%s: wrote before the error %v", impl, err)
				}
				return
			}
			for i := range x {
				if w := before[i] + table[(int(e.IDs[i/dim])+offset)*dim+i%dim]; !testkit.Same(x[i], w) {
					t.Fatalf("%s: element %d is %v, want %v", impl, i, x[i], w)
				}
			}
		})
	})
}
