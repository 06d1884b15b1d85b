package view

import (
	"math"
	"unsafe"
)

// SelfOverlaps reports whether two vectors share an element.
func (g *Grid) SelfOverlaps() bool {
	if g.ordered(g.Heads, g.HeadStride, g.Tokens, g.TokenStride) || g.ordered(g.Tokens, g.TokenStride, g.Heads, g.HeadStride) {
		return false // at a glance
	}
	if l := g.levels(); l.nested(g.Dim) {
		return false
	}
	for b := range g.Sequences {
		if g.overlaps(g, b*g.SequenceStride, b == 0) {
			return true
		}
	}
	return false
}

// ordered reports whether vectors lie apart because inner strides are the smallest, outer ones
// step over all that they reach, and sequences over all that both do.
func (g *Grid) ordered(inner, innerStride, outer, outerStride int) bool {
	reach := g.Dim + (inner-1)*innerStride
	return (inner == 1 || innerStride >= g.Dim) && (outer == 1 || outerStride >= reach) &&
		(g.Sequences == 1 || g.SequenceStride >= reach+(outer-1)*outerStride)
}

// levels is the strides of a Grid, ascending, and how often each is taken.
type levels [3]struct{ count, stride int }

func (g *Grid) levels() levels {
	l := levels{{g.Tokens, g.TokenStride}, {g.Heads, g.HeadStride}, {g.Sequences, g.SequenceStride}}
	for i := 1; i < len(l); i++ {
		for j := i; j > 0 && l[j].stride < l[j-1].stride; j-- {
			l[j], l[j-1] = l[j-1], l[j]
		}
	}
	return l
}

// nested reports whether vectors of dim elements lie apart because each stride
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

// meet reports whether one of the vectors that the first levels make, as many as
// depth says, shares an element with the vector at element at. Of nested levels it
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
	first := max(0, at-reach+level.stride) / level.stride // the first that reaches beyond at
	last := min(level.count-1, (at+dim-1)/level.stride)
	for i := first; i <= last; i++ {
		if l.meet(depth-1, at-i*level.stride, dim) {
			return true
		}
	}
	return false
}

// overlaps reports whether a vector of the first sequence of g and one of the first
// of o, which has the same strides, share an element, where o starts delta
// elements after g. With self, a vector does not overlap itself.
func (g *Grid) overlaps(o *Grid, delta int, self bool) bool {
	// A vector at t*tokenStride+h*headStride meets one of o when the difference of their starts
	// is less than dim either way. For each pair of heads the starts of the tokens form two
	// arithmetic sequences, of which only their difference counts.
	for dh := -(g.Heads - 1); dh < o.Heads; dh++ {
		if g.meets(delta+dh*g.HeadStride, o.Tokens, self && dh == 0) {
			return true
		}
	}
	return false
}

// meets reports whether |start + dt*tokenStride| < dim for some difference of
// tokens -g.Tokens < dt < tokens, dt != 0 with self.
func (g *Grid) meets(start, tokens int, self bool) bool {
	nearest := -start / g.TokenStride
	for _, dt := range [3]int{nearest - 1, nearest, nearest + 1} {
		dt = min(max(dt, 1-g.Tokens), tokens-1)
		if self && dt == 0 {
			continue
		}
		if d := start + dt*g.TokenStride; d < g.Dim && -d < g.Dim {
			return true
		}
	}
	return false
}

// offset returns the bytes from the start of a to the start of b.
func offset[T any](a, b []T) int {
	return int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(a))))
}

// inBytes counts strides and elements of g in bytes. A stride that no int holds then is
// of one vector, which takes no step.
func (g *Grid) inBytes(size int) {
	most := math.MaxInt / size
	g.SequenceStride, g.TokenStride, g.HeadStride = min(g.SequenceStride, most)*size, min(g.TokenStride, most)*size, min(g.HeadStride, most)*size
	g.Dim *= size
}

// Overlap reports whether two views, each of some tokens, whose vectors are known to lie
// inside their Data and apart, share a byte. A caller may have made their Data of one
// memory, any number of bytes apart.
func Overlap[T any](a, b *View[T], tokensA, tokensB, dim int) bool {
	size := int(unsafe.Sizeof(*new(T)))
	delta := offset(a.Data, b.Data)
	if tokensA == 0 || tokensB == 0 || delta >= len(a.Data)*size || -delta >= len(b.Data)*size {
		return false
	}
	var ga, gb Grid
	a.set(&ga, tokensA, dim)
	b.set(&gb, tokensB, dim)
	ga.inBytes(size)
	gb.inBytes(size)
	dim = ga.Dim
	endA, _ := ga.Extent()
	endB, _ := gb.Extent()
	if delta >= endA || -delta >= endB {
		return false
	}
	if ga.TokenStride == gb.TokenStride && ga.HeadStride == gb.HeadStride && ga.SequenceStride == gb.SequenceStride {
		for d := 1 - ga.Sequences; d < gb.Sequences; d++ {
			if ga.overlaps(&gb, delta+d*ga.SequenceStride, false) {
				return true
			}
		}
		return false
	}
	// Each vector of one is looked for in the other, where it is nested at once.
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
