package posenc

import (
	"cmp"

	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/rope"
	"github.com/go-posenc/posenc/internal/view"
)

// Rows is a cos/sin cache: rows of cosines and sines, one row for each position.
// [Rotary.Rows] computes them, and [NewRows] takes a [Table] of yours. Many goroutines may use
// them at once; only [Rows.Refill] changes them.
type Rows rope.Rows

// Len returns the number of rows. For nil Rows it is 0.
func (r *Rows) Len() int { return (*rope.Rows)(r).Len() }

// Rows computes the rows of the given positions. Every layer of a model can then rotate by
// them without computing cosines and sines again, and gets the bits of r.At(positions): there is one
// position for each token, which is the same on every axis.
//
// Rows take 4*RotaryDim bytes for each token. [Rows.Refill] computes the rows of the next step
// in the same memory. Errors wrap ErrConfig (r), ErrLength or ErrPosition.
func (r *Rotary) Rows(positions []int32) (*Rows, error) {
	rows, err := (*rope.Rotary)(r).Rows("posenc.Rotary.Rows", positions, false)
	return (*Rows)(rows), err
}

// RowsAxes is Rows for tokens with a position on each axis: positions is [axes][tokens] as in
// [Rotary.AtAxes].
func (r *Rotary) RowsAxes(positions []int32) (*Rows, error) {
	rows, err := (*rope.Rotary)(r).Rows("posenc.Rotary.RowsAxes", positions, true)
	return (*Rows)(rows), err
}

// Refill replaces the rows of r by the rows of other positions, of any number of tokens, as
// [Rotary.Rows] computes them. It allocates only where r never had as many rows. No other call may
// use r meanwhile. After an error r has the rows that it had. Errors are as in Rows; ErrConfig also
// where r is not from Rows or RowsAxes.
func (r *Rows) Refill(positions []int32) error {
	return (*rope.Rows)(r).Refill("posenc.Rows.Refill", positions, false)
}

// RefillAxes is Refill for tokens with a position on each axis: positions is [axes][tokens] as in
// [Rotary.AtAxes].
func (r *Rows) RefillAxes(positions []int32) error {
	return (*rope.Rows)(r).Refill("posenc.Rows.RefillAxes", positions, true)
}

// RowsConfig says which elements of a head the rows of a [Table] rotate, like
// [RotaryConfig].
type RowsConfig struct {
	HeadDim   int    // elements per head
	RotaryDim int    // elements that are rotated, even, at most 2048; 0 means HeadDim
	Offset    int    // first rotated element of a head
	Layout    Layout // which elements form a pair
	Heads     int    // number of heads that have their own entries in a row, up to 65536; 0 means all heads share them
}

// Table is rows of cosines and sines in your memory. Row p has RotaryDim/2 entries, one
// for each pair:
//
//	Cos[p*Stride:][:RotaryDim/2]    Sin[p*Stride:][:RotaryDim/2]
//
// Cos and Sin hold the same number of rows. A table of the shape [rows][cos|sin], as
// vLLM has it, is
//
//	Table{Cos: t, Sin: t[RotaryDim/2:], Stride: RotaryDim}
//
// With FullWidth a row has RotaryDim entries, one for each element, as in the tables of
// Hugging Face transformers. They are in the order in which Rotate writes the elements. If
// the first element of a pair has entries c1 and s1, and the second has c2 and s2, which
// may differ, then
//
//	x1, x2 = x1*c1 - x2*s1, x2*c2 + x1*s2
//
// A table of full width without FullWidth passes for a table of twice as many rows:
// nothing can tell them apart.
//
// With RowsConfig.Heads each head has its own entries in a row, one head after another, as
// [CosSinMixed] writes them. Head h has
//
//	Cos[p*Stride+h*RotaryDim/2:][:RotaryDim/2]
type Table[C Element] struct {
	Cos, Sin  []C
	Stride    int  // elements from row to row; 0 means the number of entries of a row
	FullWidth bool // an entry for each element, not for each pair
}

// NewRows returns Rows over a table of your own, for cosines and sines that you have
// already.
//
// It does not copy the table. Every call reads it, so it must not change during a call, and no
// call may write to its memory. 16-bit entries are widened, which is exact. Errors wrap
// ErrConfig, ErrShape (t.Stride) or ErrLength.
func NewRows[C Element](cfg RowsConfig, t Table[C]) (*Rows, error) {
	const function = "posenc.NewRows"
	h, err := rope.NewHead(function, cfg.HeadDim, cfg.RotaryDim, cfg.Offset, rope.Layout(cfg.Layout))
	if err != nil {
		return nil, err
	}
	if cfg.Heads < 0 || cfg.Heads > maxRowHeads {
		return nil, argument.Error(ErrConfig, function, "cfg.Heads", cfg.Heads, "from 0 to %d", maxRowHeads)
	}
	width := h.RotaryDim / 2
	if t.FullWidth {
		width = h.RotaryDim
	}
	width *= max(1, cfg.Heads)
	stride := cmp.Or(t.Stride, width)
	if stride < width {
		return nil, argument.Error(ErrShape, function, "t.Stride", t.Stride, "0 or at least the %d entries of a row", width)
	}
	count := 0
	if len(t.Cos) >= width {
		count = (len(t.Cos)-width)/stride + 1
	}
	if t.Stride == 0 && len(t.Cos)%width != 0 {
		return nil, argument.Error(ErrLength, function, "t.Cos", argument.Elements(len(t.Cos)), "a multiple of the %d entries of a row", width)
	}
	if need := (count-1)*stride + width; len(t.Sin) < need || len(t.Sin)-need >= stride {
		return nil, argument.Error(ErrLength, function, "t.Sin", argument.Elements(len(t.Sin)), "%d rows as in t.Cos", count)
	}
	if t.Stride == 0 && len(t.Sin) != len(t.Cos) {
		return nil, argument.Error(ErrLength, function, "t.Sin", argument.Elements(len(t.Sin)), "%d as in t.Cos", len(t.Cos))
	}
	kind := kindOf[C]()
	cos := (&view.View[C]{Data: t.Cos, TokenStride: stride}).Operand(kind, width)
	sin := (&view.View[C]{Data: t.Sin, TokenStride: stride}).Operand(kind, width)
	return (*Rows)(rope.NewRows(h, cos, sin, count, cfg.Heads, t.FullWidth)), nil
}

// maxRowHeads bounds the heads of rows, whose entries an int can count.
const maxRowHeads = 1 << 16
