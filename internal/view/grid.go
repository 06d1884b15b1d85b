package posenc

import (
	"fmt"
	"unsafe"
)

// View describes Q, K or other vectors as rows of HeadDim elements, one for each
// head of each token: head h of token t is
//
//	Data[t*TokenStride+h*HeadStride:][:HeadDim]
//
// Units are elements. HeadDim is that of the Rotary, or the headDim or the norm of
// a call. There are as many tokens as positions (a part of them with several axes),
// as rows of a table where positions is nil, or as a call says: tokens, columns.
// Heads is at least 1; strides are not negative.
//
// Packed, with both strides 0, Data holds exactly tokens*Heads*HeadDim
// elements. Strided, it holds at least those up to the last element of the last
// row; a stride left 0 means what it is when packed. Rows must not overlap:
// for [heads][tokens][HeadDim] set both strides, TokenStride to HeadDim and
// HeadStride to tokens*HeadDim.
//
// With SequenceStride the tokens come in sequences of SequenceTokens, one after
// the other: token t is number t%SequenceTokens of sequence t/SequenceTokens,
// and a sequence starts SequenceStride after the one before. Only shapes like
// [batch][heads][tokens][HeadDim], or a cache in such blocks, need it.
type View[T Element] struct {
	Data        []T
	Heads       int // heads per token
	TokenStride int // elements from token to token; 0 means Heads*HeadDim
	HeadStride  int // elements from head to head; 0 means HeadDim

	SequenceTokens int // tokens of a sequence, where SequenceStride is set; 0 otherwise
	SequenceStride int // elements from sequence to sequence; 0: all tokens are one sequence
}

// grid is a View whose rows are known to lie inside its Data and apart.
type grid struct {
	sequences, sequenceStride int
	tokens, tokenStride       int // tokens of a sequence
	heads, headStride         int
	dim                       int // elements of a row
}

// problem is what keeps a View from being a grid.
type problem uint8

const (
	none problem = iota
	fewHeads
	manyHeads
	negativeTokenStride
	negativeHeadStride
	negativeSequenceStride
	tokensWithoutStride
	fewTokens
	unevenSequences
	uncountable
	wrongLength
	shortData
	rowsOverlap
)

// grid sets g to the rows of the view for the given number of tokens. (It is
// written field by field: a struct built and copied costs a call of Rotate more
// than the checks.)
func (v *View[T]) grid(g *grid, tokens, dim int) problem {
	g.tokens, g.tokenStride = tokens, v.TokenStride
	g.heads, g.headStride = v.Heads, v.HeadStride
	g.dim = dim
	g.sequences, g.sequenceStride = 1, v.SequenceStride
	packed := v.TokenStride == 0 && v.HeadStride == 0 && v.SequenceStride == 0
	switch {
	case v.Heads < 1:
		return fewHeads
	case v.TokenStride < 0:
		return negativeTokenStride
	case v.HeadStride < 0:
		return negativeHeadStride
	case v.SequenceStride < 0:
		return negativeSequenceStride
	case v.SequenceStride > 0:
		if v.SequenceTokens < 1 {
			return fewTokens
		}
		if tokens%v.SequenceTokens != 0 {
			return unevenSequences
		}
		g.sequences, g.tokens = tokens/v.SequenceTokens, v.SequenceTokens
	case v.SequenceTokens != 0:
		return tokensWithoutStride
	}
	if g.headStride == 0 {
		g.headStride = dim
	}
	if g.tokenStride == 0 {
		var ok bool
		if g.tokenStride, ok = multiply(v.Heads, dim); !ok {
			return manyHeads
		}
	}
	if tokens == 0 {
		if packed && len(v.Data) != 0 {
			return wrongLength
		}
		return none
	}
	need, ok := g.extent()
	switch {
	case !ok:
		return uncountable
	case packed && len(v.Data) != need:
		return wrongLength
	case len(v.Data) < need:
		return shortData
	case !packed && g.selfOverlaps():
		return rowsOverlap
	}
	return none
}

// problem is grid where only what is wrong is asked for, for which views without
// strides that fit need no grid.
func (v *View[T]) problem(g *grid, tokens, dim int) problem {
	if v.packedFits(tokens, dim) {
		return none
	}
	return v.grid(g, tokens, dim)
}

// packedFits reports whether the view has no strides and its Data holds just its
// rows.
func (v *View[T]) packedFits(tokens, dim int) bool {
	if v.TokenStride|v.HeadStride|v.SequenceTokens|v.SequenceStride != 0 || v.Heads < 1 {
		return false
	}
	row, ok := multiply(v.Heads, dim)
	all, fits := multiply(tokens, row)
	return ok && fits && all == len(v.Data)
}

// problemError describes what is wrong with the view that is the named argument.
func (v *View[T]) problemError(p problem, function, argument string, g *grid) error {
	fail := func(kind error, field string, value any, expected string, args ...any) error {
		return argumentError(kind, function, argument+"."+field, value, expected, args...)
	}
	shape := fmt.Sprintf("for %d tokens of %d heads of %d", g.sequences*g.tokens, v.Heads, g.dim)
	switch p {
	case fewHeads:
		return fail(ErrShape, "Heads", v.Heads, "at least 1")
	case manyHeads:
		return fail(ErrShape, "Heads", v.Heads, "a product with rows of %d that fits an int", g.dim)
	case negativeTokenStride:
		return fail(ErrShape, "TokenStride", v.TokenStride, "at least 0")
	case negativeHeadStride:
		return fail(ErrShape, "HeadStride", v.HeadStride, "at least 0")
	case negativeSequenceStride:
		return fail(ErrShape, "SequenceStride", v.SequenceStride, "at least 0")
	case tokensWithoutStride:
		return fail(ErrShape, "SequenceTokens", v.SequenceTokens, "0 where SequenceStride is 0")
	case fewTokens:
		return fail(ErrShape, "SequenceTokens", v.SequenceTokens, "at least 1 where SequenceStride is %d", v.SequenceStride)
	case unevenSequences:
		return fail(ErrShape, "SequenceTokens", v.SequenceTokens, "a divisor of the number of tokens, %d", g.tokens)
	case uncountable:
		return fail(ErrLength, "Data", elements(len(v.Data)), "more than an int can count %s at strides %d, %d and %d", shape, g.sequenceStride, g.tokenStride, g.headStride)
	case wrongLength:
		need := 0
		if g.tokens > 0 {
			need, _ = g.extent()
		}
		return fail(ErrLength, "Data", elements(len(v.Data)), "%d %s", need, shape)
	case shortData:
		need, _ := g.extent()
		return fail(ErrLength, "Data", elements(len(v.Data)), "at least %d %s at strides %d, %d and %d", need, shape, g.sequenceStride, g.tokenStride, g.headStride)
	default:
		return fail(ErrOverlap, "TokenStride", g.tokenStride, "rows of %d that do not overlap, with %d heads at HeadStride %d and %d sequences at SequenceStride %d", g.dim, v.Heads, g.headStride, g.sequences, g.sequenceStride)
	}
}

// extent returns the elements up to the end of the last row, unless they
// overflow an int. There is at least one row.
func (g *grid) extent() (int, bool) {
	b, ok0 := multiply(g.sequences-1, g.sequenceStride)
	t, ok1 := multiply(g.tokens-1, g.tokenStride)
	h, ok2 := multiply(g.heads-1, g.headStride)
	tokens := b + t // a sum of two that overflows is negative
	rows := tokens + h
	sum := rows + g.dim
	return sum, ok0 && ok1 && ok2 && tokens >= 0 && rows >= 0 && sum >= 0
}

// selfOverlaps reports whether two rows share an element.
func (g *grid) selfOverlaps() bool {
	if l := g.levels(); l.nested(g.dim) {
		return false
	}
	for b := range g.sequences {
		if g.overlaps(g, b*g.sequenceStride, b == 0) {
			return true
		}
	}
	return false
}

// levels is the strides of a grid, ascending, and how often each is taken. One
// that is taken no further than its first row has stride 0.
type levels [3]struct{ count, stride int }

func (g *grid) levels() levels {
	l := levels{{g.tokens, g.tokenStride}, {g.heads, g.headStride}, {g.sequences, g.sequenceStride}}
	for i := range l {
		if l[i].count == 1 {
			l[i].stride = 0
		}
	}
	for i := 1; i < len(l); i++ {
		for j := i; j > 0 && l[j].stride < l[j-1].stride; j-- {
			l[j], l[j-1] = l[j-1], l[j]
		}
	}
	return l
}

// nested reports whether rows of dim elements lie apart because each stride
// steps over all that smaller strides reach.
func (l *levels) nested(dim int) bool {
	reach := dim
	for _, level := range l {
		if level.count > 1 {
			if level.stride < reach {
				return false
			}
			reach += (level.count - 1) * level.stride
		}
	}
	return true
}

// meet reports whether one of the rows that the first levels make, as many as
// depth says, shares an element with the row at element at. Of nested levels it
// looks at one or two steps each.
func (l *levels) meet(depth, at, dim int) bool {
	if depth == 0 {
		return at < dim && -at < dim
	}
	level := l[depth-1]
	if level.count == 1 {
		return l.meet(depth-1, at, dim)
	}
	reach := dim
	for _, inner := range l[:depth-1] {
		reach += (inner.count - 1) * inner.stride
	}
	if at+dim <= 0 {
		return false
	}
	first := max(0, at-reach+level.stride) / level.stride // the first that reaches beyond at
	last := min(level.count-1, (at+dim-1)/level.stride)
	for i := first; i <= last; i++ {
		if l.meet(depth-1, at-i*level.stride, dim) {
			return true
		}
	}
	return false
}

// overlaps reports whether a row of the first sequence of g and one of the first
// of o, which has the same strides, share an element, where o starts delta
// elements after g. With self, a row does not overlap itself.
func (g *grid) overlaps(o *grid, delta int, self bool) bool {
	// A row at t*tokenStride+h*headStride meets a row of o when the difference
	// of their starts is less than dim either way. For each pair of heads the
	// starts of the tokens form two arithmetic sequences, of which only their
	// difference counts.
	for dh := -(g.heads - 1); dh < o.heads; dh++ {
		if g.meets(delta+dh*g.headStride, o.tokens, self && dh == 0) {
			return true
		}
	}
	return false
}

// meets reports whether |start + dt*tokenStride| < dim for some difference of
// tokens -g.tokens < dt < tokens, dt != 0 with self.
func (g *grid) meets(start, tokens int, self bool) bool {
	nearest := -start / g.tokenStride
	for _, dt := range [3]int{nearest - 1, nearest, nearest + 1} {
		dt = min(max(dt, 1-g.tokens), tokens-1)
		if self && dt == 0 {
			continue
		}
		if d := start + dt*g.tokenStride; d < g.dim && -d < g.dim {
			return true
		}
	}
	return false
}

// offset returns the elements from the start of a to the start of b.
func offset[T Element](a, b []T) int {
	var zero T
	difference := int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(a))))
	return difference / int(unsafe.Sizeof(zero))
}

// viewsOverlap reports whether two views that are grids share an element.
func viewsOverlap[T Element](a, b *View[T], tokens, dim int) bool {
	delta := offset(a.Data, b.Data)
	if tokens == 0 || delta >= len(a.Data) || -delta >= len(b.Data) {
		return false
	}
	var ga, gb grid
	a.grid(&ga, tokens, dim)
	b.grid(&gb, tokens, dim)
	endA, _ := ga.extent()
	endB, _ := gb.extent()
	if delta >= endA || -delta >= endB {
		return false
	}
	if ga.tokenStride == gb.tokenStride && ga.headStride == gb.headStride && ga.sequenceStride == gb.sequenceStride {
		for d := 1 - ga.sequences; d < gb.sequences; d++ {
			if ga.overlaps(&gb, delta+d*ga.sequenceStride, false) {
				return true
			}
		}
		return false
	}
	// Each row of one is looked for in the other, where it is nested at once.
	la, lb := ga.levels(), gb.levels()
	if !lb.nested(dim) || la.nested(dim) && a.Heads > b.Heads {
		la, lb, delta = lb, la, -delta
	}
	for i := range la[0].count {
		for j := range la[1].count {
			for k := range la[2].count {
				if lb.meet(len(lb), i*la[0].stride+j*la[1].stride+k*la[2].stride-delta, dim) {
					return true
				}
			}
		}
	}
	return false
}

// checkViews returns an error unless every view is a grid and no two share an
// element.
func checkViews[T Element](function string, xs []View[T], tokens, dim int) error {
	var g grid
	for i := range xs {
		if p := xs[i].problem(&g, tokens, dim); p != none {
			return xs[i].problemError(p, function, indexed("xs", i), &g)
		}
	}
	for i := range xs {
		for j := range i {
			if viewsOverlap(&xs[j], &xs[i], tokens, dim) {
				return argumentError(ErrOverlap, function, indexed("xs", i), "sharing elements with "+indexed("xs", j), "views of different elements")
			}
		}
	}
	return nil
}
