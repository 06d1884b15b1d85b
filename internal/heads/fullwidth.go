package heads

import (
	"math"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// FullWidthRow is a row with a cosine and a sine for each element. The entries of the
// first elements of all pairs come first.
type FullWidthRow struct {
	memory [4][2 * kernels.ChunkPairs]float32
	dim    int
	half   bool // both entries of every pair have the same bits
}

// Not fields: a row that points to itself would escape.
func (f *FullWidthRow) cos() []float32 { return f.memory[2][:f.dim] }

func (f *FullWidthRow) sin() []float32 { return f.memory[3][:f.dim] }

// Read sets f to the row that begins at element at of cos and sin, and multiplies the sines by
// sign. The entries are in the given order.
func (f *FullWidthRow) Read(cos, sin *view.Operand, at, dim int, order view.Order, sign float32) {
	f.dim = dim
	WidenRow(f.memory[0][:dim], f.memory[1][:dim], cos, sin, at, sign)
	view.ReorderFloat32s(f.cos(), f.memory[0][:dim], order, view.HalfSplit)
	view.ReorderFloat32s(f.sin(), f.memory[1][:dim], order, view.HalfSplit)
	f.half = equalBits(f.cos()[:dim/2], f.cos()[dim/2:]) && equalBits(f.sin()[:dim/2], f.sin()[dim/2:])
}

// equalBits reports whether a and b, of the same length, have the same bits. The sign of a
// zero matters, because it changes a sum of zeros.
func equalBits(a, b []float32) bool {
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return true
}

// RotateFullWidth is rotate for one token and a row with an entry for each element.
func (r *Rotation) RotateFullWidth(y, x *view.Operand, yAt, xAt int, row *FullWidthRow) {
	dim, pairs := r.RotaryDim, r.RotaryDim/2
	if row.half {
		r.Rotate(y, x, yAt, xAt, 1, &cossin.Table{Cos: row.cos(), Sin: row.sin(), Stride: pairs}, 0)
		return
	}
	var memory [3][2 * kernels.ChunkPairs]float32
	wide, ordered, rotated := memory[0][:dim], memory[1][:dim], memory[2][:dim]
	scratch := view.Over(wide)
	for h := range x.Heads {
		view.Convert(&scratch, x, 0, xAt+h*x.HeadStride+r.Offset, dim)
		view.ReorderFloat32s(ordered, wide, r.In, view.HalfSplit)
		generic.RotateFullWidth(rotated[:pairs], rotated[pairs:], ordered[:pairs], ordered[pairs:], row.cos(), row.sin())
		view.ReorderFloat32s(wide, rotated, view.HalfSplit, r.Out)
		view.Convert(y, &scratch, yAt+h*y.HeadStride+r.Offset, 0, dim)
	}
}

// WidenRow writes the row of entries that begins at element at of fromCos and fromSin, and
// multiplies the sines by sign.
func WidenRow(cos, sin []float32, fromCos, fromSin *view.Operand, at int, sign float32) {
	toCos, toSin := view.Over(cos), view.Over(sin)
	view.Convert(&toCos, fromCos, 0, at, len(cos))
	view.Convert(&toSin, fromSin, 0, at, len(sin))
	if sign < 0 {
		for i, v := range sin {
			sin[i] = -v
		}
	}
}
