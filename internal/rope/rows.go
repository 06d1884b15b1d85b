package rope

import (
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/heads"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// Rows is posenc.Rows.
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

// NewRows returns count rows whose entries are the caller's, of the given head. With heads each of as many heads has its own entries.
func NewRows(h heads.Head, cos, sin view.Operand, count, heads int, fullWidth bool) *Rows {
	return &Rows{head: h, cos: cos, sin: sin, count: count, heads: heads, inPlace: cos.Kind == kernels.KindFloat32, fullWidth: fullWidth}
}

// Len returns the number of rows. For nil Rows it is 0.
func (r *Rows) Len() int {
	if r == nil {
		return 0
	}
	return r.count
}

// Rows computes the rows of positions, [tokens] or with onAxes [axes][tokens].
func (r *Rotary) Rows(function string, positions []int32, onAxes bool) (*Rows, error) {
	if err := r.CheckExists(function); err != nil {
		return nil, err
	}
	rows := &Rows{head: r.head, rotary: r, inPlace: true}
	if err := rows.fill(function, positions, onAxes); err != nil {
		return nil, err
	}
	return rows, nil
}

// Refill is Rotary.Rows in the memory of r.
func (r *Rows) Refill(function string, positions []int32, onAxes bool) error {
	if r == nil || r.rotary == nil {
		return argument.Error(argument.ErrConfig, function, "r", "nil, zero, or from NewRows or RebaseRows", "Rows from Rotary.Rows or Rotary.RowsAxes")
	}
	return r.fill(function, positions, onAxes)
}

// fill computes the rows of positions, [tokens] or with onAxes [axes][tokens].
func (r *Rows) fill(function string, positions []int32, onAxes bool) error {
	axes := 1
	if onAxes {
		axes = r.rotary.frequencies.Axes
	}
	tokens, err := r.rotary.Check(function, "positions", positions, axes)
	if err != nil {
		return err
	}
	pairs := r.head.RotaryDim / 2
	if _, ok := argument.Multiply(tokens, 4*pairs); !ok {
		return argument.Error(argument.ErrLength, function, "positions", argument.Elements(len(positions)), "fewer: an int cannot count the bytes of their rows, %d each", 4*pairs)
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

// check reports whether an id is negative, where that is allowed.
func (r *Rows) check(function string, ids []int32, allowed bool) (negative bool, err error) {
	for i, id := range ids {
		if id < 0 && allowed {
			negative = true
		} else if int(id) >= r.count || id < 0 {
			return false, argument.Error(argument.ErrPosition, function, argument.Indexed("ids", i), id, "at least 0 and below %d, the number of rows", r.count)
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

// InPlace returns a row where it lies, unless it must be copied.
func (r *Rows) InPlace(row int, sign float32) (cos, sin []float32, ok bool) {
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
	if cos, sin, ok := r.InPlace(start, sign); ok {
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
