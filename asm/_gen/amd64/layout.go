package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Elements of 4 or 2 bytes change places; nothing looks at what they mean.

// deinterleave writes the even elements of x to the first half of y and the odd
// ones to the second.
func deinterleave(e *emitter) {
	l := e.newLayout("evens", "odds")
	l.run(l.x, l.y, func(p part, pairs, elements masks, halves [2]operand.Mem) {
		if p.size == 1 {
			l.move(operand.Mem{Base: l.x}, halves[0])
			l.move(operand.Mem{Base: l.x, Disp: l.bytes}, halves[1])
			return
		}
		even, odd := l.split(p, elements)
		l.save(p, pairs.low, even, halves[0])
		l.save(p, pairs.low, odd, halves[1])
	})
}

// interleave writes the elements of the first and of the second half of x to y
// alternately.
func interleave(e *emitter) {
	l := e.newLayout("low", "high")
	l.run(l.y, l.x, func(p part, pairs, elements masks, halves [2]operand.Mem) {
		if p.size == 1 {
			l.move(halves[0], operand.Mem{Base: l.y})
			l.move(halves[1], operand.Mem{Base: l.y, Disp: l.bytes})
			return
		}
		low, high := l.join(l.load(p, pairs.low, halves[0]), l.load(p, pairs.low, halves[1]))
		l.save(p, elements.low, low, operand.Mem{Base: l.y})
		l.save(p, elements.high, high, operand.Mem{Base: l.y, Disp: l.bytes * l.width})
	})
}

// layout is a change of places under way.
type layout struct {
	e             *emitter
	bytes, width  int // of an element, and the elements of a vector
	y, x, n       reg.GPVirtual
	first, second reg.VecVirtual // AVX-512: permutations of two vectors
}

func (e *emitter) newLayout(first, second string) *layout {
	bytes := e.to.bytes()
	l := &layout{e: e, bytes: bytes, width: e.lanes() * 4 / bytes}
	l.y, l.x, l.n = e.argument("y"), e.argument("x"), e.argument("pairs")
	if e.avx512 {
		l.first, l.second = e.permutation(first, bytes), e.permutation(second, bytes)
	}
	return l
}

// run runs body over all pairs, which lie alternately at one address and in two halves at
// the other, and moves the addresses on.
func (l *layout) run(alternately, inHalves reg.GPVirtual, body func(p part, pairs, elements masks, halves [2]operand.Mem)) {
	second := l.e.GP64()
	l.e.LEAQ(operand.Mem{Base: inHalves, Index: l.n, Scale: uint8(l.bytes)}, second)
	sizes := whole(l.width, 1)
	if l.e.avx512 {
		sizes[1] = part{l.width, true}
	}
	l.e.spans(l.n, sizes, func(p part) {
		var pairs, elements masks
		if p.masked {
			pairs, elements = l.e.masks(l.n, l.width), l.e.masks(l.e.twice(l.n), l.width)
		}
		body(p, pairs, elements, [2]operand.Mem{{Base: inHalves}, {Base: second}})
		l.e.ADDQ(operand.U32(uint32(2*l.bytes*p.size)), alternately)
		l.e.ADDQ(operand.U32(uint32(l.bytes*p.size)), inHalves)
		l.e.ADDQ(operand.U32(uint32(l.bytes*p.size)), second)
	})
	l.e.leave()
}

// move moves one element.
func (l *layout) move(from, to operand.Mem) {
	v := l.e.GP32()
	if l.bytes == 4 {
		l.e.MOVL(from, v)
		l.e.MOVL(v, to)
	} else {
		l.e.MOVWLZX(from, v)
		l.e.MOVW(v.As16(), to)
	}
}

func (l *layout) load(p part, mask reg.OpmaskVirtual, from operand.Mem) reg.VecVirtual {
	v := l.e.vector()
	switch {
	case !p.masked:
		l.e.VMOVUPS(from, v)
	case l.bytes == 4:
		l.e.VMOVUPS_Z(from, mask, v)
	default:
		l.e.VMOVDQU16_Z(from, mask, v)
	}
	return v
}

func (l *layout) save(p part, mask reg.OpmaskVirtual, v reg.VecVirtual, to operand.Mem) {
	switch {
	case !p.masked:
		l.e.VMOVUPS(v, to)
	case l.bytes == 4:
		l.e.VMOVUPS(v, mask, to)
	default:
		l.e.VMOVDQU16(v, mask, to)
	}
}

// split returns the even and the odd elements of two vectors of x.
func (l *layout) split(p part, m masks) (even, odd reg.VecVirtual) {
	from := operand.Mem{Base: l.x}
	if l.e.avx512 {
		return l.permute(l.load(p, m.low, from), l.load(p, m.high, from.Offset(64)))
	}
	low, high := l.e.quarters(from)
	even, odd = l.e.vector(), l.e.vector()
	if l.bytes == 4 {
		l.e.VSHUFPS(operand.U8(0x88), high, low, even)
		l.e.VSHUFPS(operand.U8(0xdd), high, low, odd)
		return even, odd
	}
	apart := l.e.shuffle("evenOddWords", []uint16{0, 2, 4, 6, 1, 3, 5, 7})
	l.e.VPSHUFB(apart, low, low)
	l.e.VPSHUFB(apart, high, high)
	l.e.VPUNPCKLQDQ(high, low, even)
	l.e.VPUNPCKHQDQ(high, low, odd)
	return even, odd
}

// join returns the elements of two vectors alternately.
func (l *layout) join(first, second reg.VecVirtual) (low, high reg.VecVirtual) {
	if l.e.avx512 {
		return l.permute(first, second)
	}
	even, odd := l.e.vector(), l.e.vector() // the lower and the upper half of each 16 bytes
	if l.bytes == 4 {
		l.e.VUNPCKLPS(second, first, even)
		l.e.VUNPCKHPS(second, first, odd)
	} else {
		l.e.VPUNPCKLWD(second, first, even)
		l.e.VPUNPCKHWD(second, first, odd)
	}
	low, high = l.e.vector(), l.e.vector()
	l.e.VPERM2F128(operand.U8(0x20), odd, even, low)
	l.e.VPERM2F128(operand.U8(0x31), odd, even, high)
	return low, high
}

// permute returns both permutations of two vectors.
func (l *layout) permute(low, high reg.VecVirtual) (first, second reg.VecVirtual) {
	first, second = l.e.vector(), l.e.vector()
	l.e.VMOVAPS(low, first)
	l.e.VMOVAPS(low, second)
	if l.bytes == 4 {
		l.e.VPERMT2PS(high, l.first, first)
		l.e.VPERMT2PS(high, l.second, second)
	} else {
		l.e.VPERMT2W(high, l.first, first)
		l.e.VPERMT2W(high, l.second, second)
	}
	return first, second
}
