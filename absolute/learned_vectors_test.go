package absolute_test

import (
	"errors"
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
