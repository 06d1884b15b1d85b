package amd64

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// element is a type of numbers in memory. In registers all are float32.
type element int

const (
	float32s element = iota
	float16s
	bfloat16s
)

func (t element) bytes() int {
	if t == float32s {
		return 4
	}
	return 2
}

// part is some numbers of a block that are moved at once, in one of two ways.
//
// In order, they are one vector of float32: 16, 8, 4, 2 or 1 of them, or up to
// 16 under a mask. By turns, they are two vectors, of the even numbers and of
// the odd: 32, 16, 8, 4 or 2 of them, or up to 32 under masks. That is how
// bfloat16 comes cheapest: its bits are the upper half of a float32, so that of
// each 32 bits the odd number needs no more than a mask and the even one a shift.
type part struct {
	size   int
	masked bool
}

// half is what one vector of a part by turns holds.
func (p part) half() part { return part{p.size / 2, p.masked} }

// masks cover the numbers of a last part: up to 32 of them, or where they are
// taken 16 at a time, the first and the second 16.
type masks struct {
	low, high reg.OpmaskVirtual
}

// masks returns those of count numbers, count at most 32.
func (e *emitter) masks(count reg.GPVirtual) masks {
	bits := e.GP64()
	e.MOVQ(operand.U64(^uint64(0)), bits)
	e.BZHIQ(count, bits, bits)
	m := masks{e.K(), e.K()}
	e.KMOVD(bits.As32(), m.low)
	e.SHRQ(operand.Imm(16), bits)
	e.KMOVD(bits.As32(), m.high)
	return m
}

// vectorOf is a register for size float32, or for twice as many words.
func (e *emitter) vectorOf(size int) reg.VecVirtual {
	switch size {
	case 16:
		return e.ZMM()
	case 8:
		return e.YMM()
	default:
		return e.XMM()
	}
}

// load loads numbers in order. Of bfloat16 it is one at most.
func (e *emitter) load(t element, p part, mask reg.OpmaskVirtual, from operand.Mem) reg.VecVirtual {
	v := e.vectorOf(p.size)
	switch {
	case t == bfloat16s:
		e.VPSLLD(operand.Imm(16), e.loadWords(p, mask, from), v)
	case t == float16s && p.size >= 4 && !p.masked:
		e.VCVTPH2PS(from, v)
	case t == float16s:
		e.VCVTPH2PS(e.loadWords(p, mask, from), v)
	case p.masked:
		e.VMOVUPS_Z(from, mask, v)
	case p.size == 1:
		e.VMOVSS(from, v)
	case p.size == 2:
		e.VMOVSD(from, v)
	default:
		e.VMOVUPS(from, v)
	}
	return v
}

// save stores numbers in order. Of bfloat16 it is one at most.
func (e *emitter) save(t element, p part, mask reg.OpmaskVirtual, v reg.VecVirtual, to operand.Mem) {
	const nearest = operand.U8(0)
	switch {
	case t == bfloat16s:
		e.saveWords(p, mask, e.roundByTurns(v, v), to)
	case t == float16s && p.size >= 4 && !p.masked:
		e.VCVTPS2PH(nearest, v, to)
	case t == float16s:
		words := e.vectorOf(p.size / 2)
		e.VCVTPS2PH(nearest, v, words)
		e.saveWords(p, mask, words, to)
	case p.masked:
		e.VMOVUPS(v, mask, to)
	case p.size == 1:
		e.VMOVSS(v, to)
	case p.size == 2:
		e.VMOVSD(v, to)
	default:
		e.VMOVUPS(v, to)
	}
}

// loadWords loads numbers of 16 bits as they are.
func (e *emitter) loadWords(p part, mask reg.OpmaskVirtual, from operand.Mem) reg.VecVirtual {
	v := e.vectorOf(p.size / 2)
	switch {
	case p.masked:
		e.VMOVDQU16_Z(from, mask, v)
	case p.size == 1:
		e.VPXOR(v, v, v)
		e.VPINSRW(operand.Imm(0), from, v, v)
	case p.size == 2:
		e.VMOVD(from, v)
	case p.size == 4:
		e.VMOVQ(from, v)
	default:
		e.VMOVUPS(from, v)
	}
	return v
}

func (e *emitter) saveWords(p part, mask reg.OpmaskVirtual, v reg.VecVirtual, to operand.Mem) {
	switch {
	case p.masked:
		e.VMOVDQU16(v, mask, to)
	case p.size == 1:
		e.VPEXTRW(operand.Imm(0), v, to)
	case p.size == 2:
		e.VMOVD(v, to)
	case p.size == 4:
		e.VMOVQ(v, to)
	default:
		e.VMOVUPS(v, to)
	}
}

// turns are constants of the ways by turns. AVX-512 has the registers to keep
// them, AVX2 reads them from memory.
type turns struct {
	upperHalf   operand.Op        // of every 32 bits
	one         operand.Op        // in every 16 bits
	oddWords    reg.OpmaskVirtual // AVX-512
	evens, odds reg.VecVirtual    // AVX-512: numbers of elements of two vectors
}

func (e *emitter) loadTurns() {
	upperHalf, one := e.wide32("upperHalf", 0xffff0000), e.wide32("one16", 1<<16|1)
	if !e.avx512 {
		e.turns = turns{upperHalf: upperHalf, one: one}
		return
	}
	keep := func(from operand.Mem) reg.VecVirtual {
		v := e.vector()
		e.VMOVUPS(from, v)
		return v
	}
	e.turns = turns{
		upperHalf: keep(upperHalf),
		one:       keep(one),
		oddWords:  e.K(),
		evens:     keep(e.elements("evenElements", func(i uint32) uint32 { return 2 * i })),
		odds:      keep(e.elements("oddElements", func(i uint32) uint32 { return 2*i + 1 })),
	}
	bits := e.GP32()
	e.MOVL(operand.U32(0xaaaaaaaa), bits)
	e.KMOVD(bits, e.turns.oddWords)
}

// loadByTurns loads the even and the odd numbers, float32 or bfloat16.
func (e *emitter) loadByTurns(t element, p part, m masks, from operand.Mem) (even, odd reg.VecVirtual) {
	even, odd = e.vectorOf(p.size/2), e.vectorOf(p.size/2)
	if t == bfloat16s {
		words := e.loadWords(p, m.low, from)
		e.VPSLLD(operand.Imm(16), words, even)
		if e.avx512 {
			e.VPANDD(e.turns.upperHalf, words, odd)
		} else {
			e.VPAND(e.turns.upperHalf, words, odd)
		}
		return even, odd
	}
	const evens, odds = operand.U8(0x88), operand.U8(0xdd)
	switch p.size {
	case 32:
		low, high := e.load(t, p.half(), m.low, from), e.load(t, p.half(), m.high, from.Offset(64))
		e.VMOVAPS(low, even)
		e.VPERMT2PS(high, e.turns.evens, even)
		e.VMOVAPS(low, odd)
		e.VPERMT2PS(high, e.turns.odds, odd)
	case 16:
		low, high := e.YMM(), e.YMM() // numbers 0-3 and 8-11, 4-7 and 12-15
		e.VMOVUPS(from, low)
		e.VINSERTF128(operand.Imm(1), from.Offset(32), low, low)
		e.VMOVUPS(from.Offset(16), high)
		e.VINSERTF128(operand.Imm(1), from.Offset(48), high, high)
		e.VSHUFPS(evens, high, low, even)
		e.VSHUFPS(odds, high, low, odd)
	case 8:
		low, high := e.load(t, p.half(), m.low, from), e.load(t, p.half(), m.low, from.Offset(16))
		e.VSHUFPS(evens, high, low, even)
		e.VSHUFPS(odds, high, low, odd)
	default: // the upper lanes have numbers anew
		v := e.load(t, p, m.low, from)
		e.VSHUFPS(evens, v, v, even)
		e.VSHUFPS(odds, v, v, odd)
	}
	return even, odd
}

// saveByTurns stores even and odd numbers as bfloat16.
func (e *emitter) saveByTurns(p part, m masks, even, odd reg.VecVirtual, to operand.Mem) {
	e.saveWords(p, m.low, e.roundByTurns(even, odd), to)
}

// roundByTurns returns even and odd numbers as words of bfloat16. NaNs have to
// be quiet, as those that arithmetic makes are.
//
// The upper half of a float32 is rounded up where the lower half is above
// 0x8000, or is 0x8000 and the upper is odd. Of finite numbers that leaves the
// sign alone. A NaN of ones would become a zero: saturation keeps 0x7fff, and the
// maximum brings 0xffff back.
func (e *emitter) roundByTurns(even, odd reg.VecVirtual) reg.VecVirtual {
	upper, lower, up := e.like(even), e.like(even), e.like(even)
	e.VPSRLD(operand.Imm(16), even, upper)
	e.VPSLLD(operand.Imm(16), odd, lower)
	if e.avx512 {
		e.VPBLENDMW(odd, upper, e.turns.oddWords, upper)
		e.VPBLENDMW(lower, even, e.turns.oddWords, lower)
		e.VPANDND(e.turns.one, upper, up)
	} else {
		const oddWords = operand.U8(0xaa)
		e.VPBLENDW(oddWords, odd, upper, upper)
		e.VPBLENDW(oddWords, lower, even, lower)
		e.VPANDN(e.turns.one, upper, up)
	}
	e.VPSUBUSW(up, lower, up)
	e.VPSRLW(operand.Imm(15), up, up)
	e.VPADDSW(up, upper, up)
	e.VPMAXUW(upper, up, up)
	return up
}

// like returns a new register as wide as v.
func (e *emitter) like(v reg.VecVirtual) reg.VecVirtual { return e.vectorOf(int(v.Size()) / 4) }

// elements returns the numbers of elements that a permutation takes.
func (e *emitter) elements(name string, number func(i uint32) uint32) operand.Mem {
	if m, ok := e.constants[name]; ok {
		return m
	}
	m := e.StaticGlobal(name)
	e.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range uint32(16) {
		e.AddDatum(int(4*i), operand.U32(number(i)))
	}
	e.constants[name] = m
	return m
}
