package posenc

import (
	"cmp"

	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/heads"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// Rows is a cos/sin cache: rows of cosines and sines, one row for each position.
// [Rotary.Rows] computes them, and [NewRows] takes a [Table] of yours. Many goroutines may use
// them at once; only [Rows.Refill] changes them.
type Rows struct {
	head      heads.Head
	rotary    *Rotary      // that computes them; nil: the table is the caller's
	cos, sin  view.Operand // row p starts at p*TokenStride
	memory    []float32    // of cos and sin, where rotary computes them
	count     int
	heads     int  // with rows of their own; 0: all share them
	inPlace   bool // the entries are float32, one for each pair
	fullWidth bool // there is an entry for each element
}

// Len returns the number of rows. For nil Rows it is 0.
func (r *Rows) Len() int {
	if r == nil {
		return 0
	}
	return r.count
}

// Rows computes the rows of the given positions. Every layer of a model can then rotate by
// them without computing cosines and sines again, and gets the bits of r.At(positions): there is one
// position for each token, which is the same on every axis.
//
// Rows take 4*RotaryDim bytes for each token. [Rows.Refill] computes the rows of the next step
// in the same memory. Errors wrap ErrConfig (r), ErrLength or ErrPosition.
func (r *Rotary) Rows(positions []int32) (*Rows, error) {
	return r.newRows("posenc.Rotary.Rows", positions, false)
}

// RowsAxes is Rows for tokens with a position on each axis: positions is [axes][tokens] as in
// [Rotary.AtAxes].
func (r *Rotary) RowsAxes(positions []int32) (*Rows, error) {
	return r.newRows("posenc.Rotary.RowsAxes", positions, true)
}

func (r *Rotary) newRows(function string, positions []int32, onAxes bool) (*Rows, error) {
	if err := r.checkExists(function); err != nil {
		return nil, err
	}
	rows := &Rows{head: r.head, rotary: r, inPlace: true}
	if err := rows.fill(function, positions, onAxes); err != nil {
		return nil, err
	}
	return rows, nil
}

// Refill replaces the rows of r by the rows of other positions, of any number of tokens, as
// [Rotary.Rows] computes them. It allocates only where r never had as many rows. No other call may
// use r meanwhile. After an error r has the rows that it had. Errors are as in Rows; ErrConfig also
// where r is not from Rows or RowsAxes.
func (r *Rows) Refill(positions []int32) error {
	return r.refill("posenc.Rows.Refill", positions, false)
}

// RefillAxes is Refill for tokens with a position on each axis: positions is [axes][tokens] as in
// [Rotary.AtAxes].
func (r *Rows) RefillAxes(positions []int32) error {
	return r.refill("posenc.Rows.RefillAxes", positions, true)
}

func (r *Rows) refill(function string, positions []int32, onAxes bool) error {
	if r == nil || r.rotary == nil {
		return argument.Error(ErrConfig, function, "r", "nil, zero, or from NewRows or RebaseRows", "Rows from Rotary.Rows or Rotary.RowsAxes")
	}
	return r.fill(function, positions, onAxes)
}

// fill computes the rows of positions, [tokens] or with onAxes [axes][tokens].
func (r *Rows) fill(function string, positions []int32, onAxes bool) error {
	axes := 1
	if onAxes {
		axes = r.rotary.frequencies.Axes
	}
	tokens, err := r.rotary.check(function, "positions", positions, axes)
	if err != nil {
		return err
	}
	pairs := r.head.RotaryDim / 2
	if _, ok := argument.Multiply(tokens, 4*pairs); !ok {
		return argument.Error(ErrLength, function, "positions", argument.Elements(len(positions)), "fewer: an int cannot count the bytes of their rows, %d each", 4*pairs)
	}
	n := tokens * pairs
	if n > cap(r.memory)/2 {
		r.memory = make([]float32, 2*n)
	}
	r.memory = r.memory[:cap(r.memory)]
	cos, sin := r.memory[:n], r.memory[n:][:n]
	r.rotary.frequencies.Write(&cossin.Table{Cos: cos, Sin: sin, Stride: pairs}, &cossin.Positions{Call: positions, Axes: axes, Tokens: tokens, N: tokens}, r.rotary.scaling, r.rotary.scaling)
	r.count, r.cos, r.sin = tokens, view.Over(cos), view.Over(sin)
	r.cos.TokenStride, r.sin.TokenStride = pairs, pairs
	return nil
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
// There are as many rows as Cos and Sin hold. A table of the shape [rows][cos|sin], as
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
	h, err := newHead(function, cfg)
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
	if need := (count-1)*stride + width; len(t.Sin) < need || count == 0 && len(t.Sin) >= width {
		return nil, argument.Error(ErrLength, function, "t.Sin", argument.Elements(len(t.Sin)), "%d rows as in t.Cos", count)
	}
	if t.Stride == 0 && len(t.Sin) != len(t.Cos) {
		return nil, argument.Error(ErrLength, function, "t.Sin", argument.Elements(len(t.Sin)), "%d as in t.Cos", len(t.Cos))
	}
	kind := kindOf[C]()
	rows := &Rows{head: h, count: count, heads: cfg.Heads, inPlace: kind == kernels.KindFloat32, fullWidth: t.FullWidth}
	rows.cos = (&view.View[C]{Data: t.Cos, TokenStride: stride}).Operand(kind, width)
	rows.sin = (&view.View[C]{Data: t.Sin, TokenStride: stride}).Operand(kind, width)
	return rows, nil
}

// maxRowHeads bounds the heads of rows, whose entries an int can count.
const maxRowHeads = 1 << 16

// check reports whether an id is negative, where that is allowed.
func (r *Rows) check(function string, ids []int32, allowed bool) (negative bool, err error) {
	for i, id := range ids {
		if id < 0 && allowed {
			negative = true
		} else if int(id) >= r.count || id < 0 {
			return false, argument.Error(ErrPosition, function, argument.Indexed("ids", i), id, "at least 0 and below %d, the number of rows", r.count)
		}
	}
	return negative, nil
}

func (r *Rows) ofHead(h int) Rows {
	one, entries := *r, r.head.RotaryDim/2
	if r.fullWidth {
		entries = r.head.RotaryDim
	}
	one.heads, one.cos, one.sin = 0, r.cos.From(h*entries), r.sin.From(h*entries)
	return one
}

// at returns a row in place, unless it must be copied.
func (r *Rows) at(row int, sign float32) (cos, sin []float32, ok bool) {
	if !r.inPlace || sign < 0 {
		return nil, nil, false
	}
	at := row * r.cos.TokenStride
	return r.cos.Float32s(at), r.sin.Float32s(at), true
}

// read points to the rows of n tokens where they lie. If they cannot be used there, it copies them to
// scratch memory and multiplies the sines by sign.
func (r *Rows) read(to *cossin.Table, ids []int32, first, n int, sign float32) {
	start := heads.Slot(ids, first)
	if cos, sin, ok := r.at(start, sign); ok {
		i := 1
		for i < n && heads.Slot(ids, first+i) == start+i {
			i++
		}
		if i == n {
			to.Cos, to.Sin, to.Stride = cos, sin, r.cos.TokenStride
			return
		}
	}
	for t := range n {
		copied := to.From(t)
		r.copyRow(copied.Cos[:to.Stride], copied.Sin[:to.Stride], heads.Slot(ids, first+t), sign)
	}
}

func (r *Rows) copyRow(cos, sin []float32, row int, sign float32) {
	heads.WidenRow(cos, sin, &r.cos, &r.sin, row*r.cos.TokenStride, sign)
}

func (r *Rows) readFullWidth(to *heads.FullWidthRow, row int, sign float32) {
	to.Read(&r.cos, &r.sin, row*r.cos.TokenStride, r.head.RotaryDim, r.head.Out, sign)
}
