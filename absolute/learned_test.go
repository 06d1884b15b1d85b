package absolute_test

import (
	"errors"
	"math"
	"slices"
	"testing"

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
	Linear, Bicubic, Antialias, Models []learnedGrid
}

type learnedGrid struct {
	Model    string
	Dim      int
	From, To [2]int
	Src, Dst string
}

func loadLearned() (v learnedVectors) {
	testkit.ReadJSON("testdata/learned/vectors.json", &v)
	return v
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
	for _, c := range loadLearned().Add {
		if c.Type != name {
			continue
		}
		count++
		e := absolute.Embedding[T]{Table: testkit.Hex[T](c.Table), IDs: make([]int32, len(c.Mask))}
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
		x := testkit.Hex[T](c.X)
		err = errors.Join(err, absolute.AddEmbeddings(x, c.Dim, absolute.Embedding[T]{Table: testkit.Hex[T](c.Types), IDs: c.TypeIDs}, e))
		if want := testkit.Hex[T](c.Y); err != nil || !slices.Equal(x, want) {
			t.Errorf("%s: got %v, %v, want %v", c.Model, x, err, want)
		}
	}
	if count != 4 {
		t.Errorf("%d cases, want 4", count)
	}
}

// Rows may be longer than a call of a kernel.
func TestWideEmbeddings(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		t.Run("float32", testWideEmbeddings[float32, float32])
		t.Run("float16", testWideEmbeddings[posenc.Float16, float32])
		t.Run("of bfloat16", testWideEmbeddings[float32, posenc.BFloat16])
	})
}

func testWideEmbeddings[T, W posenc.Element](t *testing.T) {
	r := testkit.NewRand(91)
	for _, dim := range []int{kernels.MaxCallElements / 2, kernels.MaxCallElements + 5} {
		e := absolute.Embedding[W]{Table: testkit.RandomElements[W](r, 2*dim), IDs: []int32{0, -1, 0}, Offset: 1}
		x := testkit.RandomElements[T](r, len(e.IDs)*dim)
		want := slices.Clone(x)
		addEmbeddingsPlain(want, dim, []absolute.Embedding[W]{e, e})
		testkit.NoError(t, absolute.AddEmbeddings(x, dim, e, e))
		if i := testkit.FirstDifference(x, want); i >= 0 {
			t.Fatalf("dim %d: element %d is %v, want %v", dim, i, testkit.Widen(x[i]), testkit.Widen(want[i]))
		}
	}
}

// PyTorch takes coordinates and sums in float32: of tables below 4 in
// magnitude and coordinates up to 16 that is some roundings of 2^-20 times their
// slopes, below 2^-17 together.
const interpolationError = 0x1p-17

func TestInterpolateVectors(t *testing.T) {
	// The options are those that the documentation of InterpolateGrid has for each model.
	options := map[string]absolute.InterpolateGridOptions{
		"qwen3_vl":     {Bilinear: true, AlignCorners: true, MergeSize: 2},
		"inkling2":     {Bilinear: true, MergeSize: 2},
		"paddleocr_vl": {Bilinear: true},
		"muse_glimmer": {Bilinear: true, ZeroPadding: true},
		"muse_spark":   {Bilinear: true, ZeroPadding: true},
		"kimi_k25":     {},
	}
	v := loadLearned()
	for i, list := range [][]learnedGrid{v.Linear, v.Bicubic, v.Antialias, v.Models} {
		if want := []int{6, 6, 11, 36}[i]; len(list) != want {
			t.Fatalf("list %d: %d cases, want %d", i, len(list), want)
		}
		for _, c := range list {
			o, known := options[c.Model]
			o.DstHeight, o.DstWidth, o.SrcHeight, o.SrcWidth, o.Dim, o.Antialias = c.To[0], c.To[1], c.From[0], c.From[1], c.Dim, i == 2
			if c.Model == "muse_spark" {
				o.DstHeight, o.DstWidth = o.DstWidth, o.DstHeight
			}
			want, src := testkit.Hex[float32](c.Dst), testkit.Hex[float32](c.Src)
			got := make([]float32, len(want))
			if i == 0 {
				testkit.NoError(t, absolute.InterpolateTable(got, src, c.Dim))
			} else {
				testkit.NoError(t, absolute.InterpolateGrid(got, src, o))
			}
			for j := range want {
				if !known && i == 3 || !(math.Abs(float64(got[j])-float64(want[j])) <= interpolationError) {
					t.Fatalf("list %d, %s, %v to %v: element %d is %v, want %v", i, c.Model, c.From, c.To, j, got[j], want[j])
				}
			}
		}
	}
}

// Weights have the bits of transformers, and a grid that is interpolated with Float32 is their sum.
func TestGridWeightsVectors(t *testing.T) {
	var v struct {
		Weights []struct {
			Grids                        [][3]int // frames, height, width
			Side, Merge                  int
			Bicubic, AlignCorners, Zeros bool
			Indices                      []int32
			Weights                      []int32 // bits
		}
	}
	testkit.ReadJSON("testdata/learned/weights.json.gz", &v)
	if len(v.Weights) != 140 {
		t.Fatalf("%d vectors, want 140", len(v.Weights))
	}
	for i, c := range v.Weights {
		for _, grid := range c.Grids {
			o := absolute.InterpolateGridOptions{DstHeight: grid[1], DstWidth: grid[2], SrcHeight: c.Side, SrcWidth: c.Side, Dim: 1,
				Bilinear: !c.Bicubic, AlignCorners: c.AlignCorners, ZeroPadding: c.Zeros, Float32: true, MergeSize: c.Merge}
			n := grid[1] * grid[2] * gridTaps(o)
			indices, weights := make([]int32, n), make([]float32, n)
			testkit.NoError(t, absolute.GridWeights(indices, weights, o))
			for range grid[0] {
				if !slices.Equal(indices, c.Indices[:n]) || !slices.EqualFunc(weights, c.Weights[:n], func(w float32, bits int32) bool { return math.Float32bits(w) == uint32(bits) }) {
					t.Fatalf("vector %d, %+v: %v by %v, want %v by %v", i, o, indices, weights, c.Indices[:n], c.Weights[:n])
				}
				c.Indices, c.Weights = c.Indices[n:], c.Weights[n:]
			}
			table, got := make([]float32, c.Side*c.Side), make([]float32, grid[1]*grid[2])
			for j := range table {
				table[j] = float32(j%7) - 3.3
			}
			testkit.NoError(t, absolute.InterpolateGrid(got, table, o))
			for p := range got {
				want := float32(0)
				for k := p * gridTaps(o); k < (p+1)*gridTaps(o); k++ {
					want += float32(weights[k] * table[indices[k]])
				}
				if got[p] != want {
					t.Fatalf("vector %d, %+v, patch %d: %v, want %v", i, o, p, got[p], want)
				}
			}
		}
		if len(c.Indices)+len(c.Weights) > 0 {
			t.Fatalf("vector %d: %d indices and %d weights are left", i, len(c.Indices), len(c.Weights))
		}
	}
}

var _ = testkit.Register(testkit.Case{Function: "AddEmbeddings", RoundsTwice: true,
	Call: func(a *testkit.Arguments) testkit.Call {
		switch a.Below(3) {
		case 0:
			return testkit.OfType(a, embeddingsCall[float32, float32], embeddingsCall[posenc.Float16, float32], embeddingsCall[posenc.BFloat16, float32])(a)
		case 1:
			return testkit.OfType(a, embeddingsCall[float32, posenc.Float16], embeddingsCall[posenc.Float16, posenc.Float16], embeddingsCall[posenc.BFloat16, posenc.Float16])(a)
		}
		return testkit.OfType(a, embeddingsCall[float32, posenc.BFloat16], embeddingsCall[posenc.Float16, posenc.BFloat16], embeddingsCall[posenc.BFloat16, posenc.BFloat16])(a)
	},
	Digests: func(add testkit.AddDigest) {
		add.Pairs("AddEmbeddings", "type", "table", [3][3]func(*testkit.Digest){
			{digestEmbeddings[float32, float32], digestEmbeddings[float32, posenc.Float16], digestEmbeddings[float32, posenc.BFloat16]},
			{digestEmbeddings[posenc.Float16, float32], digestEmbeddings[posenc.Float16, posenc.Float16], digestEmbeddings[posenc.Float16, posenc.BFloat16]},
			{digestEmbeddings[posenc.BFloat16, float32], digestEmbeddings[posenc.BFloat16, posenc.Float16], digestEmbeddings[posenc.BFloat16, posenc.BFloat16]},
		})
	},
})

func embeddingsCall[T, W posenc.Element](a *testkit.Arguments) testkit.Call {
	dim, tokens := a.Length(), a.Tokens()
	if !a.Any() && a.Below(8) == 0 {
		dim = []int{1023, 1025, 2100}[a.Below(3)] // round the elements that are converted at a time
		tokens = min(tokens, 5)
	}
	x := testkit.Output[T](a, testkit.Small(dim, tokens))
	if !a.Any() {
		tokens = len(x) / dim // fewer where these are too many
		x = x[:tokens*dim]
	}
	embeddings := make([]absolute.Embedding[W], a.Below(3))
	for i := range embeddings {
		rows := 1 + a.Below(6)
		e := &embeddings[i]
		e.Table, e.IDs = testkit.Slice[W](a, testkit.Small(dim, rows)), testkit.Slice[int32](a, tokens)
		a.FillIDs(e.IDs, rows)
		if a.Yes() {
			e.Offset = a.Number(0, rows)
			if !a.Any() {
				for t := range e.IDs {
					e.IDs[t] -= int32(e.Offset)
				}
			}
		}
	}
	return testkit.Call{
		Run:   func() error { return absolute.AddEmbeddings(x, dim, embeddings...) },
		Right: func() bool { return embeddingsRight(x, dim, embeddings) },
		Want:  func() { addEmbeddingsPlain(x, dim, embeddings) },
		Parts: testkit.RowParts([][]T{x}, []int{dim}, tokens, func(x [][]T, tokens []int) error {
			part := make([]absolute.Embedding[W], len(embeddings))
			for i, e := range embeddings {
				part[i] = absolute.Embedding[W]{Table: e.Table, IDs: testkit.Pick(e.IDs, tokens), Offset: e.Offset}
			}
			return absolute.AddEmbeddings(x[0], dim, part...)
		}),
	}
}

func embeddingsRight[T, W posenc.Element](x []T, dim int, embeddings []absolute.Embedding[W]) bool {
	if dim < 1 || len(x)%dim != 0 {
		return false
	}
	for _, e := range embeddings {
		rows := len(e.Table) / dim
		if len(e.IDs) != len(x)/dim || len(e.Table)%dim != 0 || testkit.Share(x, e.Table) || testkit.Share(x, e.IDs) || e.Offset < 0 || e.Offset > rows {
			return false
		}
		for _, id := range e.IDs {
			if row := int64(id) + int64(e.Offset); row < 0 || row >= int64(rows) {
				return false
			}
		}
	}
	return true
}

func addEmbeddingsPlain[T, W posenc.Element](x []T, dim int, embeddings []absolute.Embedding[W]) {
	for i := range x {
		for _, e := range embeddings {
			row := int(e.IDs[i/dim]) + e.Offset
			x[i] = testkit.Narrow[T](testkit.Widen(x[i]) + testkit.Widen(e.Table[row*dim+i%dim]))
		}
	}
}

func digestEmbeddings[T, W posenc.Element](d *testkit.Digest) {
	for _, dim := range []int{1, 7, 32, 65} {
		const rows, tokens = 9, 6
		x := testkit.DigestElements[T](d, tokens*dim)
		d.Must(absolute.AddEmbeddings(x, dim,
			absolute.Embedding[W]{Table: testkit.DigestElements[W](d, rows*dim), IDs: d.Indices(tokens, rows)},
			absolute.Embedding[W]{Table: testkit.DigestElements[W](d, rows*dim), IDs: d.Indices(tokens, rows-2), Offset: 2}))
		d.Add(x)
	}
}
