package absolute_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
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
