// Package operator is ONNX's RotaryEmbedding (ai.onnx, opset 23) on posenc, as a
// runtime would have it: shapes are checked here, all else is one rotation.
package operator

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-posenc/posenc"
)

// Tensor is a dense tensor in row-major order.
type Tensor[T any] struct {
	Shape []int
	Data  []T
}

// Attributes are those of the operator. Their zero values are its defaults.
type Attributes struct {
	Interleaved        bool // pairs (x[2i], x[2i+1]), not (x[i], x[i+rotary_embedding_dim/2])
	RotaryEmbeddingDim int  // elements of a head that are rotated, the first ones; 0 means all
	NumHeads           int  // heads of an input of rank 3; one of rank 4 has them in its shape
}

// RotaryEmbedding returns Y, of X's shape. With r = rotary_embedding_dim, or
// head_size where that is 0,
//
//	X                     [batch, num_heads, sequence, head_size] or
//	                      [batch, sequence, num_heads*head_size]
//	cos_cache, sin_cache  [rows, r/2] with position_ids,
//	                      [batch, sequence, r/2] without
//	position_ids          [batch, sequence], numbers of rows; optional: nil
//
// Each pair of a token is rotated by the row of the caches that position_ids gives
// it, or by its own:
//
//	x1, x2 = x1*cos - x2*sin, x2*cos + x1*sin
//
// Y is new memory. In float32 it has the bits of ONNX's reference, which rounds
// each product and each sum. float16 and bfloat16 are rotated in float32 and
// rounded once; ONNX leaves their rounding open.
//
// Errors name the input and wrap those of posenc.
//
// Where implementations went astray:
//
//   - X of rank 4 is [batch, num_heads, sequence, head_size]. The first text of
//     the operator had sequence before num_heads (onnx/onnx#6767).
//   - num_heads is needed for rank 3 and means nothing for rank 4, even together
//     with rotary_embedding_dim (microsoft/onnxruntime#26044).
//   - A position_id is int64 and may be anything. Beyond the caches, the
//     reference raises IndexError, and it counts negative ones from the end;
//     onnxruntime once read out of bounds, and since then refuses them on CPUs,
//     but returns X unrotated on CUDA (microsoft/onnxruntime#27597). Here each is
//     an error.
//   - A cache wider than r/2 is an error, as in the reference; the function body
//     of the standard takes its first r/2 columns.
//   - com.microsoft.RotaryEmbedding is another operator: position_ids come second
//     and may be a single offset, and its partial rotation needs num_heads.
func RotaryEmbedding[T posenc.Element](x, cosCache, sinCache Tensor[T], positionIDs *Tensor[int64], attributes Attributes) (Tensor[T], error) {
	var y Tensor[T]
	if err := x.check("X"); err != nil {
		return y, err
	}
	view := posenc.View[T]{Data: x.Data}
	var batch, sequence, headSize int
	switch len(x.Shape) {
	case 3:
		batch, sequence, view.Heads = x.Shape[0], x.Shape[1], attributes.NumHeads
		if view.Heads < 1 || x.Shape[2]%view.Heads != 0 {
			return y, fmt.Errorf("RotaryEmbedding: num_heads is %d, want a divisor of X's last dimension, %d: %w", view.Heads, x.Shape[2], posenc.ErrShape)
		}
		headSize = x.Shape[2] / view.Heads
	case 4:
		batch, view.Heads, sequence, headSize = x.Shape[0], x.Shape[1], x.Shape[2], x.Shape[3]
		view.TokenStride, view.HeadStride = headSize, sequence*headSize
		view.SequenceTokens, view.SequenceStride = sequence, view.Heads*sequence*headSize
	default:
		return y, fmt.Errorf("RotaryEmbedding: X has shape %v, want 3 or 4 dimensions: %w", x.Shape, posenc.ErrShape)
	}

	rotaryDim := attributes.RotaryEmbeddingDim
	if rotaryDim == 0 {
		rotaryDim = headSize
	}
	if rotaryDim < 2 || rotaryDim > headSize || rotaryDim%2 != 0 {
		return y, fmt.Errorf("RotaryEmbedding: rotary_embedding_dim is %d, want an even number from 2 to head_size %d, or 0 where that is even: %w", attributes.RotaryEmbeddingDim, headSize, posenc.ErrConfig)
	}
	cacheShape := []int{batch, sequence, rotaryDim / 2}
	var positions []int32
	if positionIDs != nil {
		if err := positionIDs.check("position_ids", batch, sequence); err != nil {
			return y, err
		}
		positions = make([]int32, len(positionIDs.Data))
		for i, id := range positionIDs.Data {
			positions[i] = int32(id)
			if int64(positions[i]) != id {
				return y, fmt.Errorf("RotaryEmbedding: position_ids[%d][%d] is %d, want the number of a row of the caches: %w", i/sequence, i%sequence, id, posenc.ErrPosition)
			}
		}
		rows := 0
		if len(cosCache.Shape) > 0 {
			rows = cosCache.Shape[0]
		}
		cacheShape = []int{rows, rotaryDim / 2}
	}
	if err := cosCache.check("cos_cache", cacheShape...); err != nil {
		return y, err
	}
	if err := sinCache.check("sin_cache", cosCache.Shape...); err != nil {
		return y, err
	}

	layout := posenc.HalfSplit
	if attributes.Interleaved {
		layout = posenc.Interleaved
	}
	rows, err := posenc.NewRows(
		posenc.RowsConfig{HeadDim: headSize, RotaryDim: rotaryDim, Layout: layout},
		posenc.Table[T]{Cos: cosCache.Data, Sin: sinCache.Data})
	if err != nil {
		return y, fmt.Errorf("RotaryEmbedding: %w", err)
	}
	angles := rows.All()
	if positionIDs != nil {
		angles = rows.At(positions)
	}
	result := view
	result.Data = make([]T, len(x.Data))
	if err := posenc.RotateInto(angles, result, nil, view); err != nil {
		return y, fmt.Errorf("RotaryEmbedding: %w", err)
	}
	return Tensor[T]{slices.Clone(x.Shape), result.Data}, nil
}

// check checks that the data fill the shape and, where one is wanted, that the
// shape is that.
func (t *Tensor[T]) check(name string, want ...int) error {
	size := 1
	for _, n := range t.Shape {
		if n < 0 || n > 0 && size > math.MaxInt/n {
			return fmt.Errorf("RotaryEmbedding: %s has shape %v, want dimensions of at least 0 whose product fits an int: %w", name, t.Shape, posenc.ErrShape)
		}
		size *= n
	}
	if len(t.Data) != size {
		return fmt.Errorf("RotaryEmbedding: %s has %d elements, want %d for shape %v: %w", name, len(t.Data), size, t.Shape, posenc.ErrLength)
	}
	if want != nil && !slices.Equal(t.Shape, want) {
		return fmt.Errorf("RotaryEmbedding: %s has shape %v, want %v: %w", name, t.Shape, want, posenc.ErrShape)
	}
	return nil
}
