package posenc

import (
	"slices"
	"sync/atomic"
)

// Table is rows of cosines and sines in memory of the caller. Row p has
// RotaryDim/2 entries, one for each pair:
//
//	Cos[p*Stride:][:RotaryDim/2]    Sin[p*Stride:][:RotaryDim/2]
//
// A table [rows][cos|sin] is Table{Cos: t, Sin: t[RotaryDim/2:], Stride:
// RotaryDim}. There are as many rows as Cos and Sin hold.
//
// With FullWidth a row has RotaryDim entries, one for each element, as the
// tables of Hugging Face transformers have, in the order in which Rotate writes
// the elements. With entries c1, s1 of the first element of a pair and c2, s2 of
// the second, which may differ,
//
//	x1, x2 = x1*c1 - x2*s1, x2*c2 + x1*s2
//
// A table of full width without FullWidth is taken for one of twice as many rows:
// nothing can tell them apart.
type Table[C Element] struct {
	Cos, Sin  []C
	Stride    int // elements from row to row; 0 means the entries of a row
	FullWidth bool
}

// table is where a Rotary looks its rows up.
type table struct {
	pages     []*page
	count     int  // rows
	fullWidth bool // rows have an entry for each element
	source    *Rotary
}

// page is some rows of a table, which follow those of the pages before.
type page struct {
	cos, sin operand
	first    int
	capacity int          // rows that the memory holds
	used     atomic.Int64 // rows that some Rotary holds
}

// NewTableRotary returns a Rotary that looks its rows up in a table of the
// caller, for callers that bring their own cosines and sines. Its positions are
// the numbers of rows:
//
//	token t takes row positions[t], or row t where positions is nil
//
// so that without positions there are as many tokens as rows. A position
// outside the table is an error. cfg gives HeadDim, RotaryDim, Offset and
// Layout; what belongs to frequencies (Base, InvFreq, Scaling, Angles, Axes, XPos) is
// zero.
//
// The table is read by every call, and not copied: it must not change during
// one, and what is rotated must share no memory with it. 16-bit entries are
// widened, exactly. With FullWidth RotaryDim is at most 2048.
//
// Errors wrap ErrConfig or ErrLength.
func NewTableRotary[C Element](cfg RotaryConfig, t Table[C]) (*Rotary, error) {
	const function = "NewTableRotary"
	switch {
	case cfg.Base != 0:
		return nil, argumentError(ErrConfig, function, "cfg.Base", cfg.Base, "0 where a table is given")
	case cfg.InvFreq != nil:
		return nil, argumentError(ErrConfig, function, "cfg.InvFreq", elements(len(cfg.InvFreq)), "nil where a table is given")
	case cfg.Scaling != 0:
		return nil, argumentError(ErrConfig, function, "cfg.Scaling", cfg.Scaling, "0 where a table is given, which has it in its entries")
	case cfg.Angles != 0:
		return nil, argumentError(ErrConfig, function, "cfg.Angles", cfg.Angles, "0 where a table is given")
	case cfg.Axes != nil:
		return nil, argumentError(ErrConfig, function, "cfg.Axes", elements(len(cfg.Axes)), "nil where a table is given")
	case cfg.XPos != nil:
		return nil, argumentError(ErrConfig, function, "cfg.XPos", *cfg.XPos, "nil where a table is given")
	}
	r, err := newGeometry(function, cfg)
	if err != nil {
		return nil, err
	}
	width := r.rotaryDim / 2
	if t.FullWidth {
		width = r.rotaryDim
		if r.rotaryDim > 2*chunkPairs {
			return nil, argumentError(ErrConfig, function, "cfg.RotaryDim", r.rotaryDim, "at most %d with a table of full width", 2*chunkPairs)
		}
	}
	stride := t.Stride
	if stride == 0 {
		stride = width
	}
	if stride < width {
		return nil, argumentError(ErrConfig, function, "t.Stride", t.Stride, "0 or at least the %d entries of a row", width)
	}
	rows := 0
	if len(t.Cos) >= width {
		rows = (len(t.Cos)-width)/stride + 1
	}
	if t.Stride == 0 && len(t.Cos)%width != 0 {
		return nil, argumentError(ErrLength, function, "t.Cos", elements(len(t.Cos)), "a multiple of the %d entries of a row", width)
	}
	if need := (rows-1)*stride + width; rows > 0 && len(t.Sin) < need || rows == 0 && len(t.Sin) >= width {
		return nil, argumentError(ErrLength, function, "t.Sin", elements(len(t.Sin)), "as many rows as t.Cos, %d", rows)
	}
	if t.Stride == 0 && len(t.Sin) != len(t.Cos) {
		return nil, argumentError(ErrLength, function, "t.Sin", elements(len(t.Sin)), "%d as in t.Cos", len(t.Cos))
	}
	p := &page{capacity: rows}
	p.cos = operandOf(&View[C]{Data: t.Cos, TokenStride: stride}, width)
	p.sin = operandOf(&View[C]{Data: t.Sin, TokenStride: stride}, width)
	r.table = &table{pages: []*page{p}, count: rows, fullWidth: t.FullWidth}
	r.scaling = 1
	return r, nil
}

// Tabulate returns a Rotary that holds the rows of the given positions,
// computed once: rotating every layer of a model by it computes no cosines and
// sines again, and gives the same bits. Its positions are the numbers of its
// rows:
//
//	token t takes row positions[t], or row t where positions is nil
//
// Like every Rotary it does not change, and many goroutines may use it. The
// memory is that of the rows, 4*RotaryDim bytes each. Where even that is not to
// be allocated anew for every step, fill a table by Rotary.CosSin and use
// NewTableRotary.
//
// Errors wrap ErrConfig (r), ErrLength or ErrPosition.
func (r *Rotary) Tabulate(positions []int32) (*Rotary, error) {
	const function = "Rotary.Tabulate"
	if r != nil && r.table != nil {
		return nil, argumentError(ErrConfig, function, "r", "a Rotary that holds a table", "one from NewRotary")
	}
	tokens, err := r.tokenCount(function, "positions", positions)
	if err != nil {
		return nil, err
	}
	return r.extended(function, r, positions, tokens)
}

// Extend returns a Rotary that holds the rows of r and, after them, those of
// more positions. r comes from Tabulate or Extend and does not change; no row is
// copied: both share memory, which grows as that of append does.
//
// Errors wrap ErrConfig (r), ErrLength or ErrPosition.
func (r *Rotary) Extend(positions []int32) (*Rotary, error) {
	const function = "Rotary.Extend"
	if r == nil || r.table == nil || r.table.source == nil {
		return nil, argumentError(ErrConfig, function, "r", "without rows of its own", "a Rotary from Tabulate or Extend")
	}
	source := r.table.source
	tokens, err := source.tokenCount(function, "positions", positions)
	if err != nil {
		return nil, err
	}
	return r.extended(function, source, positions, tokens)
}

// extended returns a Rotary that holds the rows of r's table, if it has one,
// and those of more positions of source.
func (r *Rotary) extended(function string, source *Rotary, positions []int32, tokens int) (*Rotary, error) {
	const leastRows, mostRows = 16, 16 << 10 // of a new page
	pairs := source.rotaryDim / 2
	if _, ok := multiply(tokens, 4*pairs); !ok {
		return nil, argumentError(ErrLength, function, "positions", elements(len(positions)), "rows of %d bytes each that an int can count", 4*pairs)
	}
	result := &Rotary{
		headDim: source.headDim, rotaryDim: source.rotaryDim, offset: source.offset,
		in: source.in, out: source.out, scaling: source.scaling, axisCount: 1,
		table: &table{source: source},
	}
	t := result.table
	if r.table != nil {
		t.pages, t.count = slices.Clip(r.table.pages), r.table.count
	}
	for done := 0; done < tokens; {
		var p *page
		used, n := 0, 0
		if len(t.pages) > 0 {
			p = t.pages[len(t.pages)-1]
			used = t.count - p.first
			n = min(tokens-done, p.capacity-used)
		}
		// The rest of a page belongs to whoever takes it first.
		if n == 0 || !p.used.CompareAndSwap(int64(used), int64(used+n)) {
			capacity := max(tokens-done, min(t.count, mostRows))
			if r.table != nil {
				capacity = max(capacity, leastRows)
			}
			p = &page{first: t.count, capacity: capacity}
			p.cos = operandOf(&View[float32]{Data: make([]float32, capacity*pairs), TokenStride: pairs}, pairs)
			p.sin = operandOf(&View[float32]{Data: make([]float32, capacity*pairs), TokenStride: pairs}, pairs)
			t.pages = append(t.pages, p)
			used, n = 0, tokens-done
			p.used.Store(int64(n))
		}
		at := used * pairs
		source.rows(&rows{p.cos.float32s(at)[:n*pairs], p.sin.float32s(at)[:n*pairs], pairs}, 0, pairs, &span{positions, tokens, done, n}, source.scaling, 1)
		t.count += n
		done += n
	}
	return result, nil
}

// tokenCount returns the number of tokens that take the rows of positions.
func (t *table) tokenCount(function string, positions []int32) (int, error) {
	if positions == nil {
		return t.count, nil
	}
	for i, p := range positions {
		if int(p) >= t.count || p < 0 {
			return 0, argumentError(ErrPosition, function, indexed("positions", i), p, "the number of one of the %d rows of the table", t.count)
		}
	}
	return len(positions), nil
}

// overlaps reports whether x shares memory with a table of the caller.
func (t *table) overlaps(x *operand) bool {
	return t.source == nil && (x.overlaps(&t.pages[0].cos) || x.overlaps(&t.pages[0].sin))
}

func tableOverlapError(function, argument string) error {
	return argumentError(ErrOverlap, function, argument, "sharing memory with the table of r", "a view of other memory")
}

// rowOf returns the row that token t takes.
func (s *span) rowOf(t int) int {
	if s.positions == nil {
		return s.first + t
	}
	return int(s.positions[s.first+t])
}

// page returns the page of a row.
func (t *table) page(row int) *page {
	i := len(t.pages) - 1
	for t.pages[i].first > row {
		i--
	}
	return t.pages[i]
}

// rows points to the pairs from number column on, pairs of them, of the rows of
// a span where they lie, if they can be used there, or copies them.
func (t *table) rows(to *rows, column, pairs int, s *span, direction float32) {
	if s.n == 0 {
		return
	}
	if direction > 0 {
		row := s.rowOf(0)
		p := t.page(row)
		i := 1
		for i < s.n && s.rowOf(i) == row+i && t.page(row+i) == p {
			i++
		}
		if i == s.n && p.cos.kind == kindFloat32 {
			at := (row-p.first)*p.cos.tokenStride + column
			to.cos, to.sin, to.stride = p.cos.float32s(at), p.sin.float32s(at), p.cos.tokenStride
			return
		}
	}
	for i := range s.n {
		row := s.rowOf(i)
		p := t.page(row)
		at := (row-p.first)*p.cos.tokenStride + column
		cos, sin := operandOver(to.cos[i*to.stride:]), operandOver(to.sin[i*to.stride:])
		convert(&cos, &p.cos, 0, at, pairs)
		convert(&sin, &p.sin, 0, at, pairs)
		if direction < 0 {
			sin := to.sin[i*to.stride:][:pairs]
			for k, v := range sin {
				sin[k] = -v
			}
		}
	}
}
