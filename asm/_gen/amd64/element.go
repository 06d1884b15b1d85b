package amd64

import (
	"fmt"

	"github.com/go-posenc/posenc/asm/_gen/operation"
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// element is a type of elements in memory. In registers all numbers are float32.
type element operation.Element

const (
	float32s  = element(operation.F32)
	float16s  = element(operation.F16)
	bfloat16s = element(operation.BF16)
)

func (t element) bytes() int { return operation.Element(t).Bytes() }

// part is some numbers of a block that are moved at once, in one of two ways.
//
// In order, they are one vector of float32: 16, 8, 4, 2 or 1 of them, or up to
// 16 under a mask. Even and odd apart, they are two vectors, of the even numbers and
// of the odd: 32, 16, 8, 4 or 2 of them, or up to 32 under masks. That is how
// bfloat16 comes cheapest: its bits are the upper half of a float32, so that of
// each 32 bits the odd number needs no more than a mask and the even one a shift.
type part struct {
	size   int
	masked bool
}

// half is what one of the two vectors of a part holds.
func (p part) half() part { return part{p.size / 2, p.masked} }

// whole returns parts of the given sizes.
func whole(sizes ...int) (list []part) {
	for _, size := range sizes {
		list = append(list, part{size, false})
	}
	return list
}

// spans runs body over n elements in parts of the given sizes, from the largest
// down to 1, or to a last one under masks.
func (e *emitter) spans(n reg.GPVirtual, sizes []part, body func(p part)) {
	for _, p := range sizes {
		loop, next := e.label("block"), e.label("next")
		if p.masked {
			e.TESTQ(n, n)
			e.JZ(operand.LabelRef(next))
			body(p)
			e.Label(next)
			continue
		}
		e.CMPQ(n, operand.Imm(uint64(p.size)))
		e.JLT(operand.LabelRef(next))
		e.Label(loop)
		body(p)
		e.SUBQ(operand.Imm(uint64(p.size)), n)
		e.CMPQ(n, operand.Imm(uint64(p.size)))
		e.JGE(operand.LabelRef(loop))
		e.Label(next)
	}
}

// masks cover the elements of a last part that fit into one vector, and those
// that fit into a second.
type masks struct {
	low, high reg.OpmaskVirtual
}

// masks returns the masks of count elements; the first vector has first of them.
func (e *emitter) masks(count reg.GPVirtual, first int) masks {
	bits := e.GP64()
	e.MOVQ(operand.U64(^uint64(0)), bits)
	e.BZHIQ(count, bits, bits)
	m := masks{e.K(), e.K()}
	e.KMOVD(bits.As32(), m.low)
	e.SHRQ(operand.Imm(uint64(first)), bits)
	e.KMOVD(bits.As32(), m.high)
	return m
}

// twice returns a new register of twice n.
func (e *emitter) twice(n reg.GPVirtual) reg.GPVirtual {
	doubled := e.GP64()
	e.LEAQ(operand.Mem{Base: n, Index: n, Scale: 1}, doubled)
	return doubled
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

// load loads numbers in order.
func (e *emitter) load(t element, p part, mask reg.OpmaskVirtual, from operand.Mem) reg.VecVirtual {
	v := e.vectorOf(p.size)
	switch {
	case t == bfloat16s:
		if p.size >= 4 && !p.masked {
			e.VPMOVZXWD(from, v)
		} else {
			e.VPMOVZXWD(e.loadWords(p, mask, from), v)
		}
		e.VPSLLD(operand.Imm(16), v, v)
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
func (e *emitter) save(t element, p part, v reg.VecVirtual, to operand.Mem) {
	switch {
	case t == bfloat16s:
		e.saveWords(p, e.roundEvenOdd([]reg.VecVirtual{v}, []reg.VecVirtual{v}, true)[0], to)
	case t == float16s: // not to memory at once: that takes Zen twice as long
		const nearest = operand.U8(0)
		words := e.vectorOf(p.size / 2)
		e.VCVTPS2PH(nearest, v, words)
		e.saveWords(p, words, to)
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

func (e *emitter) saveWords(p part, v reg.VecVirtual, to operand.Mem) {
	switch {
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

// evenOddConstants are for even and odd numbers apart. AVX-512 has the registers to
// keep them, AVX2 reads them from memory.
type evenOddConstants struct {
	upperHalf   operand.Op        // of every 32 bits
	one         operand.Op        // in every 16 bits
	negativeNaN operand.Op        // bits just above the bits of -infinity
	oddWords    reg.OpmaskVirtual // AVX-512
	evens, odds reg.VecVirtual    // AVX-512: numbers of elements of two vectors
}

func (e *emitter) loadEvenOddConstants() {
	e.evenOdd = evenOddConstants{
		upperHalf:   e.wide32("upperHalf", 0xffff0000),
		one:         e.wide32("one16", 1<<16|1),
		negativeNaN: e.wide32("negativeNaN", 0xff810000),
	}
	if !e.avx512 {
		return
	}
	keep := func(from operand.Mem) reg.VecVirtual {
		v := e.vector()
		e.VMOVUPS(from, v)
		return v
	}
	e.evenOdd.upperHalf = keep(e.evenOdd.upperHalf.(operand.Mem))
	e.evenOdd.one = keep(e.evenOdd.one.(operand.Mem))
	e.evenOdd.evens, e.evenOdd.odds = e.permutation("evens", 4), e.permutation("odds", 4)
	e.evenOdd.oddWords = e.K()
	bits := e.GP32()
	e.MOVL(operand.U32(0xaaaaaaaa), bits)
	e.KMOVD(bits, e.evenOdd.oddWords)
}

// loadEvenOdd loads the even and the odd numbers, float32 or bfloat16.
func (e *emitter) loadEvenOdd(t element, p part, m masks, from operand.Mem) (even, odd reg.VecVirtual) {
	even, odd = e.vectorOf(p.size/2), e.vectorOf(p.size/2)
	if t == bfloat16s {
		words := e.loadWords(p, m.low, from)
		e.VPSLLD(operand.Imm(16), words, even)
		if e.avx512 {
			e.VPANDD(asWide(e.evenOdd.upperHalf, words), words, odd)
		} else {
			e.VPAND(e.evenOdd.upperHalf, words, odd)
		}
		return even, odd
	}
	const evens, odds = operand.U8(0x88), operand.U8(0xdd)
	switch p.size {
	case 32:
		low, high := e.load(t, p.half(), m.low, from), e.load(t, p.half(), m.high, from.Offset(64))
		e.VMOVAPS(low, even)
		e.VPERMT2PS(high, e.evenOdd.evens, even)
		e.VMOVAPS(low, odd)
		e.VPERMT2PS(high, e.evenOdd.odds, odd)
	case 16:
		low, high := e.quarters(from)
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

// roundEvenOdd returns even and odd numbers as words of bfloat16, several of both
// step by step. NaNs have to be quiet, as those that arithmetic makes are.
//
// The upper half of a float32 is rounded up where the lower half is above
// 0x8000, or is 0x8000 and the upper is odd. Of what is no NaN that leaves the
// sign alone. NaNs keep theirs too: 0x7fff by saturation, and 0xffff by a maximum
// with what it was, or without one where none of them has lower bits.
func (e *emitter) roundEvenOdd(evens, odds []reg.VecVirtual, nanBits bool) (words []reg.VecVirtual) {
	uppers, lowers := make([]reg.VecVirtual, len(evens)), make([]reg.VecVirtual, len(evens))
	for i, even := range evens {
		uppers[i], lowers[i] = e.like(even), e.like(even)
		words = append(words, e.like(even))
		e.VPSRLD(operand.Imm(16), even, uppers[i])
		e.VPSLLD(operand.Imm(16), odds[i], lowers[i])
	}
	for i, even := range evens {
		e.joinWords(odds[i], uppers[i], uppers[i])
		e.joinWords(lowers[i], even, lowers[i])
	}
	for i, upper := range uppers {
		if e.avx512 {
			e.VPANDND(asWide(e.evenOdd.one, upper), upper, words[i])
		} else {
			e.VPANDN(e.evenOdd.one, upper, words[i])
		}
	}
	for i, up := range words {
		e.VPSUBUSW(up, lowers[i], up)
	}
	for _, up := range words {
		e.VPSRLW(operand.Imm(15), up, up)
	}
	for i, up := range words {
		e.VPADDSW(up, uppers[i], up)
		if nanBits {
			e.VPMAXUW(uppers[i], up, up)
		}
	}
	return words
}

// asWide returns a constant, in memory or in a register, as wide as v.
func asWide(constant operand.Op, v reg.VecVirtual) operand.Op {
	if r, ok := constant.(reg.VecVirtual); ok {
		return lanesOf(r, v)
	}
	return constant
}

// joinWords takes the odd words of odd and the even words of even.
func (e *emitter) joinWords(odd, even, to reg.VecVirtual) {
	if e.avx512 {
		e.VPBLENDMW(odd, even, e.evenOdd.oddWords, to)
	} else {
		e.VPBLENDW(operand.U8(0xaa), odd, even, to)
	}
}

// clearNaNBits makes all negative NaNs one without lower bits, so that none of
// them becomes 0xffff with lower bits when arithmetic makes it quiet.
func (e *emitter) clearNaNBits(list ...reg.VecVirtual) {
	for _, v := range list {
		e.VPMINUD(e.evenOdd.negativeNaN, v, v)
	}
}

// like returns a new register as wide as v.
func (e *emitter) like(v reg.VecVirtual) reg.VecVirtual { return e.vectorOf(int(v.Size()) / 4) }

// quarters loads 64 bytes into two vectors of AVX2: of the four times 16 bytes,
// the first and the third, and the second and the fourth.
func (e *emitter) quarters(from operand.Mem) (low, high reg.VecVirtual) {
	low, high = e.YMM(), e.YMM()
	e.VMOVUPS(from, low)
	e.VINSERTF128(operand.Imm(1), from.Offset(32), low, low)
	e.VMOVUPS(from.Offset(16), high)
	e.VINSERTF128(operand.Imm(1), from.Offset(48), high, high)
	return low, high
}

// permutations take elements of two vectors, counted through both of them.
var permutations = map[string]func(i, width uint32) uint32{
	"evens": func(i, _ uint32) uint32 { return 2 * i },
	"odds":  func(i, _ uint32) uint32 { return 2*i + 1 },
	"low":   func(i, width uint32) uint32 { return i/2 + width*(i&1) },
	"high":  func(i, width uint32) uint32 { return width/2 + i/2 + width*(i&1) },
}

// permutation loads the control of a permutation of elements of two vectors.
func (e *emitter) permutation(name string, bytes int) reg.VecVirtual {
	v := e.vector()
	e.VMOVUPS(e.controls(fmt.Sprintf("%s%d", name, 8*bytes), bytes, 64/bytes, func(i uint32) uint32 {
		return permutations[name](i, uint32(64/bytes))
	}), v)
	return v
}

// shuffle returns the control of VPSHUFB that takes words of each 16 bytes.
func (e *emitter) shuffle(name string, words []uint16) operand.Mem {
	return e.controls(name, 2, 16, func(i uint32) uint32 {
		w := uint32(words[i%8])
		return 2*w | (2*w+1)<<8
	})
}

// controls returns the address of n controls of 4 or 2 bytes.
func (e *emitter) controls(name string, bytes, n int, control func(i uint32) uint32) operand.Mem {
	if m, ok := e.constants[name]; ok {
		return m
	}
	m := e.StaticGlobal(name)
	e.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range n {
		if bytes == 4 {
			e.AddDatum(4*i, operand.U32(control(uint32(i))))
		} else {
			e.AddDatum(2*i, operand.U16(control(uint32(i))))
		}
	}
	e.constants[name] = m
	return m
}
