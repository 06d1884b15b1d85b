package posenc_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/examples/onnx/operator"
	"github.com/go-posenc/posenc/internal/testkit"
)

// onnxCase is an input of ONNX's RotaryEmbedding and what onnx.reference makes
// of it (testdata/onnx/generate.py).
type onnxCase struct {
	Name, Type         string
	Interleaved        int
	RotaryEmbeddingDim int `json:"rotary_embedding_dim"`
	NumHeads           int `json:"num_heads"`
	X, Y               onnxTensor
	CosCache           onnxTensor              `json:"cos_cache"`
	SinCache           onnxTensor              `json:"sin_cache"`
	PositionIDs        *operator.Tensor[int64] `json:"position_ids"`
	YFloat32           onnxTensor              `json:"y_float32"` // Y in float32, rounded once
}

func (c *onnxCase) attributes() operator.Attributes {
	return operator.Attributes{Interleaved: c.Interleaved != 0, RotaryEmbeddingDim: c.RotaryEmbeddingDim, NumHeads: c.NumHeads}
}

// onnxTensor has little-endian elements, in base64.
type onnxTensor struct {
	Shape []int
	Data  []byte
}

func decodeTensor[T posenc.Element](t *testing.T, from onnxTensor) operator.Tensor[T] {
	t.Helper()
	size := 1
	for _, n := range from.Shape {
		size *= n
	}
	to := operator.Tensor[T]{Shape: from.Shape, Data: make([]T, size)}
	if n, err := binary.Decode(from.Data, binary.LittleEndian, to.Data); err != nil || n != len(from.Data) {
		t.Fatalf("shape %v has %d bytes of %d: %v", from.Shape, n, len(from.Data), err)
	}
	return to
}

func onnxCases() (cases []*onnxCase) {
	testkit.ReadJSON("testdata/onnx/vectors.json", &cases)
	return cases
}

// caseOf returns the case of a name, of float32.
func caseOf(cases []*onnxCase, name string) *onnxCase {
	return cases[slices.IndexFunc(cases, func(c *onnxCase) bool { return c.Name == name && c.Type == "float32" })]
}

// The node tests of ONNX and some more, against its reference. In float32 the
// bits are those of the reference, which rounds each product and each sum, as
// posenc does.
func TestONNXRotaryEmbedding(t *testing.T) {
	count := map[string]int{}
	for _, c := range onnxCases() {
		t.Run(c.Name+"/type="+c.Type, func(t *testing.T) {
			switch c.Type {
			case "float32":
				checkONNX[float32](t, c, c.Y, 0)
			case "float16":
				checkONNX[posenc.Float16](t, c, c.YFloat32, 0x1p-11)
			case "bfloat16":
				checkONNX[posenc.BFloat16](t, c, c.YFloat32, 0x1p-8)
			default:
				t.Fatalf("unknown type %q", c.Type)
			}
		})
		if strings.HasPrefix(c.Name, "test_rotary_embedding") {
			count[c.Type]++
		}
	}
	for _, elementType := range []string{"float32", "float16", "bfloat16"} {
		if count[elementType] != 8 {
			t.Errorf("%d node tests of type %s, want the 8 of ONNX", count[elementType], elementType)
		}
	}
}

// checkONNX wants the bits of want. For types of 16 bits, whose relative
// rounding error is at most unit, the reference's own result, in which every
// operation is rounded to the type, has to be near.
func checkONNX[T posenc.Element](t *testing.T, c *onnxCase, want onnxTensor, unit float64) {
	x, cos, sin := decodeTensor[T](t, c.X), decodeTensor[T](t, c.CosCache), decodeTensor[T](t, c.SinCache)
	y := testkit.Must(operator.RotaryEmbedding(x, cos, sin, c.PositionIDs, c.attributes()))
	expected := decodeTensor[T](t, want)
	if !slices.Equal(y.Shape, expected.Shape) || len(y.Data) != len(expected.Data) {
		t.Fatalf("%d elements of shape %v, want shape %v", len(y.Data), y.Shape, expected.Shape)
	}
	for i := range y.Data {
		if testkit.BitsOf(y.Data[i]) != testkit.BitsOf(expected.Data[i]) {
			t.Fatalf("Y[%d] is %v (%#x), want %v (%#x)", i, testkit.Widen(y.Data[i]), testkit.BitsOf(y.Data[i]), testkit.Widen(expected.Data[i]), testkit.BitsOf(expected.Data[i]))
		}
	}
	for i, v := range decodeTensor[T](t, c.X).Data {
		if testkit.BitsOf(x.Data[i]) != testkit.BitsOf(v) {
			t.Fatalf("X[%d] was %v, is %v", i, testkit.Widen(v), testkit.Widen(x.Data[i]))
		}
	}
	if unit == 0 {
		return
	}
	// With m, at least |x1*c|+|x2*s|, the products of the reference are off by unit*m at
	// most, and the rounded sum by unit*m*(1+unit) more; ours is rounded once, by
	// unit*m, apart from float32 roundings, which with the product of two units are
	// below unit*m/100. Where the type is subnormal (below 2^-14 in float16), each
	// of the four roundings is off by half of its least number, 2^-24.
	largest := func(s []T) (m float64) {
		for _, x := range s {
			m = max(m, math.Abs(float64(testkit.Widen(x))))
		}
		return m
	}
	tolerance := 3.01*unit*largest(x.Data)*(largest(cos.Data)+largest(sin.Data)) + 4*0x1p-25
	for i, want := range decodeTensor[T](t, c.Y).Data {
		if got, want := float64(testkit.Widen(y.Data[i])), float64(testkit.Widen(want)); !(math.Abs(got-want) <= tolerance) {
			t.Fatalf("Y[%d] is %v, want %v of the reference to %v", i, got, want, tolerance)
		}
	}
}

// A position outside the caches is an error, neither identity nor another row.
func TestONNXPositionsOutside(t *testing.T) {
	cases := onnxCases()
	for _, name := range []string{"test_rotary_embedding", "test_rotary_embedding_3d_input", "test_rotary_embedding_with_interleaved_rotary_dim"} {
		c := caseOf(cases, name)
		for _, id := range []int64{50, -1, math.MaxInt32 + 1, 1 << 32, 1<<32 + 3, math.MinInt32 - 1, math.MaxInt64, math.MinInt64} {
			for _, at := range []int{0, 5} {
				ids := operator.Tensor[int64]{Shape: c.PositionIDs.Shape, Data: slices.Clone(c.PositionIDs.Data)}
				ids.Data[at] = id
				y, err := operator.RotaryEmbedding(decodeTensor[float32](t, c.X), decodeTensor[float32](t, c.CosCache), decodeTensor[float32](t, c.SinCache), &ids, c.attributes())
				if !errors.Is(err, posenc.ErrPosition) || !strings.Contains(err.Error(), fmt.Sprint(" is ", id, ",")) || y.Data != nil || y.Shape != nil {
					t.Errorf("%s: %v and error %v, want one of position %d", name, y, err, id)
				}
			}
		}
	}
}

// What the operator does not allow.
func TestONNXErrors(t *testing.T) {
	type arguments struct {
		x, cos, sin operator.Tensor[float32]
		ids         *operator.Tensor[int64]
		attributes  operator.Attributes
	}
	cases := onnxCases()
	const withIDs, without, rank3 = "test_rotary_embedding", "test_rotary_embedding_no_position_ids", "test_rotary_embedding_3d_input"
	for _, tt := range []struct {
		name, base string
		change     func(a *arguments)
		kind       error
		says       string
	}{
		{"rank 2", withIDs, func(a *arguments) { a.x.Shape = []int{24, 8} }, posenc.ErrShape, "X has shape [24 8], want 3 or 4 dimensions"},
		{"uncountable", withIDs, func(a *arguments) { a.x.Shape = []int{1 << 30, 1 << 30, 1 << 30, 1 << 30} }, posenc.ErrShape, "fits an int"},
		{"too few elements", withIDs, func(a *arguments) { a.x.Data = a.x.Data[1:] }, posenc.ErrLength, "X has 191 elements, want 192"},
		{"no heads in X", withIDs, func(a *arguments) { a.x = operator.Tensor[float32]{Shape: []int{2, 0, 3, 8}} }, posenc.ErrShape, "Heads is 0"},
		{"rank 3 without num_heads", rank3, func(a *arguments) { a.attributes.NumHeads = 0 }, posenc.ErrShape, "num_heads is 0, want a divisor of X's last dimension, 32"},
		{"num_heads no divisor", rank3, func(a *arguments) { a.attributes.NumHeads = 5 }, posenc.ErrShape, "num_heads is 5"},
		{"odd head_size", rank3, func(a *arguments) { a.attributes.NumHeads = 32 }, posenc.ErrConfig, "rotary_embedding_dim is 0, want an even number from 2 to head_size 1, or 0 where that is even"},
		{"rotary_embedding_dim above head_size", withIDs, func(a *arguments) { a.attributes.RotaryEmbeddingDim = 10 }, posenc.ErrConfig, "rotary_embedding_dim is 10"},
		{"caches wider than rotary_embedding_dim/2", withIDs, func(a *arguments) { a.attributes.RotaryEmbeddingDim = 4 }, posenc.ErrShape, "cos_cache has shape [50 4], want [50 2]"},
		{"caches of rank 3 with position_ids", without, func(a *arguments) {
			a.ids = &operator.Tensor[int64]{Shape: []int{2, 3}, Data: make([]int64, 6)}
		}, posenc.ErrShape, "cos_cache has shape [2 3 4], want [2 4]"},
		{"caches of rank 2 without position_ids", withIDs, func(a *arguments) { a.ids = nil }, posenc.ErrShape, "cos_cache has shape [50 4], want [2 3 4]"},
		{"caches of another sequence", without, func(a *arguments) { a.cos.Shape = []int{3, 2, 4} }, posenc.ErrShape, "cos_cache has shape [3 2 4], want [2 3 4]"},
		{"caches that differ", withIDs, func(a *arguments) { a.sin.Shape, a.sin.Data = []int{49, 4}, a.sin.Data[:196] }, posenc.ErrShape, "sin_cache has shape [49 4], want [50 4]"},
		{"sin_cache too short", withIDs, func(a *arguments) { a.sin.Data = a.sin.Data[1:] }, posenc.ErrLength, "sin_cache has 199 elements, want 200"},
		{"position_ids of another shape", withIDs, func(a *arguments) { a.ids.Shape = []int{3, 2} }, posenc.ErrShape, "position_ids has shape [3 2], want [2 3]"},
		{"position_ids too short", withIDs, func(a *arguments) { a.ids.Data = a.ids.Data[:5] }, posenc.ErrLength, "position_ids has 5 elements, want 6"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := caseOf(cases, tt.base)
			a := arguments{decodeTensor[float32](t, c.X), decodeTensor[float32](t, c.CosCache), decodeTensor[float32](t, c.SinCache), c.PositionIDs, c.attributes()}
			tt.change(&a)
			y, err := operator.RotaryEmbedding(a.x, a.cos, a.sin, a.ids, a.attributes)
			if !errors.Is(err, tt.kind) || !strings.HasPrefix(err.Error(), "RotaryEmbedding: ") || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v, want one that says %q and wraps %q", err, tt.says, tt.kind)
			}
			if y.Data != nil || y.Shape != nil {
				t.Error("a result beside the error")
			}
		})
	}
}

// Tensors without elements are none to rotate.
func TestONNXEmpty(t *testing.T) {
	const headSize = 8
	for _, shape := range [][]int{{0, 4, 3, headSize}, {2, 4, 0, headSize}, {0, 3, 4 * headSize}, {2, 0, 4 * headSize}} {
		batch, sequence := shape[0], shape[len(shape)-2]
		x := operator.Tensor[float32]{Shape: shape}
		attributes := operator.Attributes{NumHeads: 4}
		ids := operator.Tensor[int64]{Shape: []int{batch, sequence}}
		rows := operator.Tensor[float32]{Shape: []int{1, headSize / 2}, Data: make([]float32, headSize/2)}
		caches := operator.Tensor[float32]{Shape: []int{batch, sequence, headSize / 2}}
		y, err := operator.RotaryEmbedding(x, rows, rows, &ids, attributes)
		z, without := operator.RotaryEmbedding(x, caches, caches, nil, attributes)
		if errors.Join(err, without) != nil || len(y.Data)+len(z.Data) != 0 || !slices.Equal(y.Shape, shape) || !slices.Equal(z.Shape, shape) {
			t.Errorf("shape %v: with position_ids %v, %v, without %v, %v", shape, y, err, z, without)
		}
	}
}
