package amd64

import (
	"math"
	"slices"

	"github.com/go-posenc/posenc/asm/_gen/operation"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	integers8 = element(operation.I8)
	e4m3s     = element(operation.E4M3)
	e5m2s     = element(operation.E5M2)
	blocksQ8  = element(operation.Q8)
)

const (
	q8Numbers = 32 // of a block of Q8_0
	q8Bytes   = 2 + q8Numbers
)

const infinity32 = 0x7f800000 // bits of a float32

// float8 is a format of 8 bits as generic has it, with the bits of its numbers as
// float32.
type float8 struct {
	name           string
	shift          uint64 // bits of the mantissa of a float32 that it has not
	least, largest uint32 // normal number
}

var float8s = map[element]float8{
	e4m3s: {"E4M3", 20, 0x3c800000, 0x43e00000},
	e5m2s: {"E5M2", 21, 0x38800000, 0x47600000},
}

func quantize(e *emitter) {
	if e.to == blocksQ8 {
		e.eachVector(e.quantizeBlocks)
		return
	}
	f, scale := float8s[e.to], e.broadcast32("scale", e.vector())
	c := e.newCoder(f, true)
	e.eachVector(func(y, x, left reg.GPVirtual) {
		e.bytesOf(y, x, left, e.byteParts(), true, func(list []operand.Op) reg.VecVirtual {
			return c.codesOf(func() (products []reg.VecVirtual) {
				for _, x := range list {
					v := e.vector()
					e.VMULPS(x, scale, v)
					products = append(products, v)
				}
				return products
			})[0]
		})
	})
}

// eachVector runs body with addresses of the numbers of each vector and how many they
// are, which it may change.
func (e *emitter) eachVector(body func(y, x, left reg.GPVirtual)) {
	loop, done := e.label("vector"), e.label("done")
	y, x, n, count := e.argument("y"), e.argument("x"), e.argument("n"), e.argument("count")
	yStride, xStride := e.bytes("yStride", e.to), e.bytes("xStride", e.from)
	yAt, xAt, left := e.GP64(), e.GP64(), e.GP64()
	e.TESTQ(count, count)
	e.JZ(operand.LabelRef(done))
	e.Label(loop)
	e.MOVQ(y, yAt)
	e.MOVQ(x, xAt)
	e.MOVQ(n, left)
	body(yAt, xAt, left)
	e.ADDQ(yStride, y)
	e.ADDQ(xStride, x)
	e.DECQ(count)
	e.JNZ(operand.LabelRef(loop))
	e.Label(done)
	e.VZEROUPPER()
	e.RET()
	for _, write := range e.rare {
		write()
	}
}

// fetchMeanwhile fetches as many bytes as are read from an address on: those that lie
// "ahead" bytes from there.
func (e *emitter) fetchMeanwhile(from operand.Mem, bytes int) {
	if bytes < line/2 {
		return // those before it have fetched the line
	}
	at, ahead := e.GP64(), e.argument("ahead")
	e.LEAQ(from, at)
	e.ADDQ(ahead, at)
	for fetched := 0; fetched < bytes; fetched += line {
		e.prefetch(operand.Mem{Base: at, Disp: fetched})
	}
}

// bytes loads a parameter that counts elements, as bytes.
func (e *emitter) bytes(name string, t element) reg.GPVirtual {
	if t.bytes() == 4 {
		return e.stride(name)
	}
	return e.argument(name)
}

// keep loads a constant into a register.
func (e *emitter) keep(from operand.Mem) reg.VecVirtual {
	v := e.vector()
	e.VMOVUPS(from, v)
	return v
}

// keepAll is keep of a list.
func (e *emitter) keepAll(list []operand.Mem) (kept []reg.VecVirtual) {
	for _, from := range list {
		kept = append(kept, e.keep(from))
	}
	return kept
}

// and sets to to the bits that are in both.
func (e *emitter) and(a operand.Op, b, to reg.VecVirtual) {
	if e.avx512 {
		e.VPANDD(a, b, to)
	} else {
		e.VPAND(a, b, to)
	}
}

// magnitudes is the bits of a float32 without its sign.
func (e *emitter) magnitudes() operand.Mem { return e.wide32("magnitude32", 1<<31-1) }

// byteParts are the numbers that become bytes at once, four registers of them first.
func (e *emitter) byteParts() []part {
	return []part{{4 * e.lanes(), false}, {e.lanes(), false}, {e.lanes(), true}}
}

// bytesOf runs body over the numbers from x on, some registers at a time or one, and
// writes the bytes that it makes of each number. Numbers are in registers or in memory.
func (e *emitter) bytesOf(y, x, left reg.GPVirtual, parts []part, ahead bool, body func(numbers []operand.Op) reg.VecVirtual) {
	lanes := e.lanes()
	e.spans(left, parts, func(p part) {
		from, to := operand.Mem{Base: x}, operand.Mem{Base: y}
		if p.masked {
			low := e.XMM()
			e.VMOVAPS(body([]operand.Op{e.loadUpTo(e.first(left, lanes)[0], from)}).AsX(), low)
			e.storeUpTo(low, left, 1, to)
			return
		}
		if ahead {
			e.fetchMeanwhile(from, 4*p.size)
		}
		var list []operand.Op
		for i := 0; i < p.size; i += lanes {
			list = append(list, from.Offset(4*i))
		}
		v := body(list)
		switch p.size {
		case 8:
			e.VMOVQ(v.AsX(), to)
		case 16:
			e.VMOVUPS(v.AsX(), to)
		default:
			e.VMOVUPS(v, to)
		}
		e.ADDQ(operand.U32(uint32(4*p.size)), x)
		e.ADDQ(operand.U32(uint32(p.size)), y)
	})
}

// upTo says which are the first numbers of a register.
type upTo struct {
	mask reg.OpmaskVirtual // AVX-512
	bits reg.VecVirtual    // AVX2
}

// first returns a mask for each register: which of its numbers are among the first count.
func (e *emitter) first(count reg.GPVirtual, numbers int) (list []upTo) {
	if e.avx512 {
		return []upTo{{mask: e.masks(count, 16).low}}
	}
	counts := e.YMM()
	e.VMOVD(count.As32(), counts.AsX())
	e.VPBROADCASTD(counts.AsX(), counts)
	ordinals := e.controls("ordinals32", 4, 16, func(i uint32) uint32 { return i })
	for i := 0; i < numbers; i += 8 {
		bits := e.YMM()
		e.VPCMPGTD(ordinals.Offset(4*i), counts, bits)
		list = append(list, upTo{bits: bits})
	}
	return list
}

// loadUpTo loads the first numbers and sets the others to 0.
func (e *emitter) loadUpTo(these upTo, from operand.Mem) reg.VecVirtual {
	v := e.vector()
	if e.avx512 {
		e.VMOVUPS_Z(from, these.mask, v)
	} else {
		e.VMASKMOVPS(from, these.bits, v)
	}
	return v
}

// words packs integers of 32 bits, one register or a multiple of two, into integers of 16:
// each 16 bytes have integers of the first register, then of the second. Alone, a
// register is both.
func (e *emitter) words(pack func(...operand.Op), list []reg.VecVirtual) (packed []reg.VecVirtual) {
	for i := 0; i < len(list); i += 2 {
		w := e.vector()
		pack(list[min(i+1, len(list)-1)], list[i], w)
		packed = append(packed, w)
	}
	return packed
}

// packedBytes packs what words has made, of up to 4 registers, into bytes: of each 16
// bytes, one register after the other.
func (e *emitter) packedBytes(pack func(...operand.Op), words []reg.VecVirtual) reg.VecVirtual {
	v := e.vector()
	pack(words[len(words)-1], words[0], v)
	return v
}

// byteOrder is the control of inOrder.
func (e *emitter) byteOrder() operand.Op {
	name, groups := "inOrder256", uint32(2)
	if e.avx512 {
		name, groups = "inOrder512", 4
	}
	return e.kept(e.controls(name, 4, e.lanes(), func(i uint32) uint32 { return 4*(i%groups) + i/groups }))
}

// inOrder brings packed bytes into the order of the registers that they are of, and where
// e.deinterleaved into the order of the pairs. Fewer than 4 pairs come first.
func (e *emitter) inOrder(v reg.VecVirtual, order operand.Op) reg.VecVirtual {
	if e.deinterleaved {
		e.VPSHUFB(e.controls("together8", 2, 16, func(i uint32) uint32 { return i%8 | (8+i%8)<<8 }), v, v)
	}
	if from, ok := order.(operand.Mem); ok {
		order = e.keep(from)
	}
	e.VPERMD(v, order, v)
	return v
}

// kept returns a constant as an operand: AVX-512 has the registers to keep it, AVX2 reads it
// from memory. (Half of the constants of 64 bytes lie across two lines of the cache: the
// linker aligns to 32.)
func (e *emitter) kept(from operand.Mem) operand.Op {
	if e.avx512 {
		return e.keep(from)
	}
	return from
}

// coder makes the codes of a format. Where it limits numbers, the largest is taken for
// those beyond it, and code 0x7f for NaN; else there are no such.
type coder struct {
	e *emitter
	float8
	limits                                        bool
	largest                                       reg.VecVirtual // AVX-512
	power, weights, leastNormal, low7, top, order operand.Op
	beyond                                        operand.Mem // AVX2: what codes are too large by when they are packed
}

func (e *emitter) newCoder(f float8, limits bool) *coder {
	c := &coder{e: e, float8: f, limits: limits}
	name, beyond := "power", uint32(0)
	switch {
	case limits && e.avx512:
		c.largest = e.keep(e.wide32("largest"+f.name, f.largest))
	case limits:
		name, beyond = "limitedPower", 0x7f-f.largestCode()
		c.beyond = e.wide32("beyond"+f.name, beyond*0x01010101)
	}
	// The lower word keeps the parity of counts: an odd rest goes to the upper one.
	rest := beyond&1<<(f.shift-16)<<16 | (beyond&^1-f.excess())&0xffff
	c.power = e.keep(e.wide32(name+f.name, (127+uint32(f.shift))<<23|rest))
	c.weights = e.keep(e.wide32("weights"+f.name, 1<<16|1<<(f.shift-16)))
	c.leastNormal = e.kept(e.wide32("least"+f.name, f.least)) // 16 registers are too few for it, where numbers are rotated
	if e.avx512 {
		c.low7, c.top = e.keep(e.wide32("low7", 0x7f007f)), e.keep(e.wide32("signExponent32", 0xff800000))
	} else {
		c.top = e.keep(e.wide32("exponent32", infinity32))
	}
	c.order = e.byteOrder()
	return c
}

// excess is what a code is too large by as the exponent of the sum and its count.
func (f float8) excess() uint32 { return (f.least + uint32(f.shift)<<23) >> f.shift }

func (f float8) largestCode() uint32 { return (f.largest - f.least + 1<<23) >> f.shift }

// codes returns the bytes of numbers and may change these. On AVX2 the bytes of NaN are wrong:
// codesOf sets them.
//
// A power of two is added whose last bit is the last bit of the result, so that the lower word of
// the sum counts multiples of it; the upper word is the sign and the exponent. A product
// by words brings both counts together, times a power of two. The power has in its last
// bits what the codes are then too large by. On AVX2 they saturate as they are packed,
// and get less so that the largest number is the largest code.
func (c *coder) codes(numbers []reg.VecVirtual) reg.VecVirtual {
	var negative reg.VecVirtual
	if !c.e.avx512 {
		negative = c.e.signBytes(numbers)
	}
	var sums []reg.VecVirtual
	for _, z := range numbers {
		sum := c.e.vector()
		if c.e.avx512 {
			const smaller, larger = operand.U8(2), operand.U8(3) // magnitude, with the sign of the number
			limited := z
			if c.limits {
				limited = c.e.vector()
				c.e.VRANGEPS(smaller, c.largest, z, limited)
			}
			c.e.VRANGEPS(larger, c.leastNormal, limited, sum)
			c.e.VPANDD(c.top, sum, sum)
			c.e.VFMADD132PS(c.power, limited, sum)
		} else {
			c.e.VPAND(c.e.magnitudes(), z, z)
			c.e.VPAND(c.top, z, sum)
			c.e.VPMAXUD(c.leastNormal, sum, sum)
			c.e.VFMADD132PS(c.power, z, sum)
		}
		c.e.VPMADDWD(c.weights, sum, sum)
		sums = append(sums, sum)
	}
	words := c.e.words(c.e.VPACKSSDW, sums)
	for _, w := range words {
		if c.e.avx512 {
			const choose = operand.U8(0xe4)
			sign := c.e.vector()
			c.e.VPSRLW(operand.Imm(8), w, sign)
			c.e.VPSRLW(operand.Imm(c.shift-16), w, w)
			c.e.VPTERNLOGD(choose, c.low7, sign, w)
		} else {
			c.e.VPSRLW(operand.Imm(c.shift-16), w, w)
		}
	}
	if c.e.avx512 {
		v := c.e.inOrder(c.e.packedBytes(c.e.VPACKUSWB, words), c.order)
		if c.limits {
			c.e.replaceNaN(numbers, c.e.nan8(), v)
		}
		return v
	}
	v := c.e.packedBytes(c.e.VPACKSSWB, words)
	if c.limits {
		c.e.VPSUBB(c.beyond, v, v)
	}
	c.e.VPAND(c.e.wide32("signs8", 0x80808080), negative, negative)
	c.e.VPOR(negative, v, v)
	return c.e.inOrder(v, c.order)
}

// nan8 is the code of NaN.
func (e *emitter) nan8() operand.Mem { return e.wide32("nan8", 0x7f7f7f7f) }

// codesOf returns the bytes of the numbers that load returns: one register for up to four.
// On AVX2 the bytes of NaN, which is rare, are set once the numbers have been loaded again.
func (c *coder) codesOf(load func() []reg.VecVirtual) (list []reg.VecVirtual) {
	numbers := load()
	if c.e.avx512 {
		return []reg.VecVirtual{c.codes(numbers)}
	}
	const unordered = operand.U8(3)
	found, done := c.e.label("nan"), c.e.label("numbers")
	sum, last, any := c.e.vector(), len(numbers)-1, c.e.GP32()
	c.e.VMULPS(numbers[last], numbers[0], sum)
	for i := 1; i < len(numbers)/2; i++ {
		c.e.VFMADD231PS(numbers[last-i], numbers[i], sum)
	}
	fours := slices.Collect(slices.Chunk(numbers, 4))
	for _, four := range fours {
		list = append(list, c.codes(four))
	}
	c.e.VCMPPS(unordered, sum, sum, sum)
	c.e.VMOVMSKPS(sum, any)
	c.e.TESTL(any, any)
	c.e.JNZ(operand.LabelRef(found))
	c.e.Label(done)
	c.e.rare = append(c.e.rare, func() {
		c.e.Label(found)
		for i, four := range slices.Collect(slices.Chunk(load(), 4)) {
			for _, z := range four {
				c.e.VCMPPS(unordered, z, z, z)
			}
			c.e.VPBLENDVB(c.e.inOrder(c.e.signBytes(four), c.order), c.e.nan8(), list[i], list[i])
		}
		c.e.JMP(operand.LabelRef(done))
	})
	return list
}

// replaceNaN sets the bytes of those numbers that are NaN, which is rare.
func (e *emitter) replaceNaN(numbers []reg.VecVirtual, by operand.Mem, bytes reg.VecVirtual) {
	const unordered = operand.U8(3)
	found, done := e.label("nan"), e.label("numbers")
	compare := func(a, b reg.VecVirtual) reg.OpmaskVirtual {
		k := e.K()
		e.VCMPPS(unordered, a, b, k)
		return k
	}
	last := len(numbers) - 1
	e.KORTESTW(compare(numbers[0], numbers[last/2]), compare(numbers[last-last/2], numbers[last]))
	e.JNZ(operand.LabelRef(found))
	e.Label(done)
	e.rare = append(e.rare, func() {
		e.Label(found)
		var masks []reg.OpmaskVirtual
		for _, z := range numbers {
			masks = append(masks, compare(z, z))
		}
		if len(masks) == 4 {
			e.KUNPCKWD(masks[0], masks[1], masks[0])
			e.KUNPCKWD(masks[2], masks[3], masks[2])
			e.KUNPCKDQ(masks[0], masks[2], masks[0])
		}
		e.VMOVDQU8(by, masks[0], bytes)
		e.JMP(operand.LabelRef(done))
	})
}

// signBytes returns packed bytes whose highest bits are the signs of numbers. The others may be any.
func (e *emitter) signBytes(numbers []reg.VecVirtual) reg.VecVirtual {
	return e.packedBytes(e.VPACKSSWB, e.words(e.VPACKSSDW, numbers))
}

// larger sets to to the larger of unsigned integers.
func (e *emitter) larger(a, b operand.Op, to reg.VecVirtual) reg.VecVirtual {
	e.VPMAXUD(a, b, to)
	return to
}

// largestOf returns the largest of the unsigned integers in each register, of four or of
// one, which is then in all lanes.
func (e *emitter) largestOf(list []reg.VecVirtual) reg.VecVirtual {
	v := list[0]
	if len(list) == 4 {
		v = e.largestOfFour(list)
	}
	if e.avx512 {
		upper := e.YMM()
		e.VEXTRACTI64X4(operand.Imm(1), v, upper)
		v = e.larger(upper, v.AsY(), upper)
	}
	x := e.XMM()
	e.VEXTRACTI128(operand.Imm(1), v.AsY(), x)
	e.larger(x, v.AsX(), x)
	if len(list) == 1 {
		other := e.XMM()
		for _, order := range []uint64{0x4e, 0xb1} {
			e.VPSHUFD(operand.Imm(order), x, other)
			e.larger(other, x, x)
		}
	}
	return x
}

// largestOfFour returns the largest of each 16 bytes of four registers, side by side.
func (e *emitter) largestOfFour(list []reg.VecVirtual) reg.VecVirtual {
	return e.mostOfFour(e.VPMAXUD, list)
}

// mostOfFour is largestOfFour with a comparison other than that of unsigned integers.
func (e *emitter) mostOfFour(larger func(...operand.Op), list []reg.VecVirtual) reg.VecVirtual {
	var pairs []reg.VecVirtual
	for i := 0; i < 4; i += 2 {
		low, high := e.vector(), e.vector()
		e.VPUNPCKLDQ(list[i+1], list[i], low)
		e.VPUNPCKHDQ(list[i+1], list[i], high)
		larger(high, low, low)
		pairs = append(pairs, low)
	}
	low, high := e.vector(), e.vector()
	e.VPUNPCKLQDQ(pairs[1], pairs[0], low)
	e.VPUNPCKHQDQ(pairs[1], pairs[0], high)
	larger(high, low, low)
	return low
}

// largestOfAll returns the largest numbers, in order, of what largestOfFour has made of four
// registers each: of as many as a vector has groups of 16 bytes.
func (e *emitter) largestOfAll(fours []reg.VecVirtual) reg.VecVirtual {
	return e.mostOfAll(e.VPMAXUD, fours)
}

// mostOfAll is largestOfAll of what mostOfFour has made.
func (e *emitter) mostOfAll(larger func(...operand.Op), fours []reg.VecVirtual) reg.VecVirtual {
	even, odd := uint64(0x20), uint64(0x31) // groups of 16 bytes
	gather := e.VPERM2I128
	if e.avx512 {
		even, odd, gather = 0x88, 0xdd, func(control, b, a, to operand.Op) { e.VSHUFI64X2(control, b, a, to) }
	}
	for ; len(fours) > 1; fours = fours[1:] {
		low, high := e.vector(), e.vector()
		gather(operand.U8(even), fours[1], fours[0], low)
		gather(operand.U8(odd), fours[1], fours[0], high)
		larger(high, low, low)
		fours = append(fours[1:], low)
	}
	return fours[0]
}

// quantizeBlocks writes blocks of Q8_0, as many at a time as there are lanes, four or one.
// The factors of the next blocks are found before these are written: that takes long, and
// the CPU does both at once.
func (e *emitter) quantizeBlocks(y, x, left reg.GPVirtual) {
	const four = 4 * q8Numbers
	group := e.lanes() * q8Numbers
	q := e.newBlockQuantizer()
	loop, last, fours, each := e.label("block"), e.label("last"), e.label("fours"), e.label("each")
	next, block := e.vector(), e.GP64()
	e.CMPQ(left, operand.U32(uint32(group)))
	e.JLT(operand.LabelRef(fours))
	q.writeHalves(operand.Mem{Base: y}, q.scale(operand.Mem{Base: x}, e.lanes(), next), e.lanes())
	e.Label(loop)
	e.VMOVUPS(next, q.factors)
	e.SUBQ(operand.U32(uint32(group)), left)
	e.CMPQ(left, operand.U32(uint32(group)))
	e.JLT(operand.LabelRef(last))
	q.writeHalves(operand.Mem{Base: y, Disp: e.lanes() * q8Bytes}, q.scale(operand.Mem{Base: x, Disp: 4 * group}, e.lanes(), next), e.lanes())
	e.Label(last)
	e.XORQ(block, block)
	e.Label(each)
	e.fetchMeanwhile(operand.Mem{Base: x}, 4*four)
	q.write(y, x, 4, q.factors.Idx(block, 4))
	e.ADDQ(operand.Imm(4), block)
	e.CMPQ(block, operand.Imm(uint64(e.lanes())))
	e.JNE(operand.LabelRef(each))
	e.CMPQ(left, operand.U32(uint32(group)))
	e.JGE(operand.LabelRef(loop))
	e.Label(fours)
	e.spans(left, whole(four, q8Numbers), func(p part) {
		blocks, factors := p.size/q8Numbers, e.XMM()
		q.writeHalves(operand.Mem{Base: y}, q.scale(operand.Mem{Base: x}, blocks, factors), blocks)
		e.VMOVUPS(factors, q.factors)
		if blocks > 1 {
			e.fetchMeanwhile(operand.Mem{Base: x}, 4*p.size)
		}
		q.write(y, x, blocks, q.factors)
	})
}

// blockQuantizer writes blocks of Q8_0.
type blockQuantizer struct {
	e               *emitter
	magnitude       reg.VecVirtual
	lastBit         reg.VecVirtual
	evenWords       reg.VecVirtual // AVX-512
	order           operand.Op     // AVX2
	halves, factors operand.Mem    // d of each block, and what multiplies its numbers
}

func (e *emitter) newBlockQuantizer() *blockQuantizer {
	q := &blockQuantizer{e: e, magnitude: e.keep(e.magnitudes()), lastBit: e.keep(e.wide32("lastBit", 1)), halves: e.AllocLocal(32), factors: e.AllocLocal(64)}
	if e.avx512 {
		q.evenWords = e.keep(e.controls("evenWords", 2, 32, func(i uint32) uint32 { return 2 * i }))
	} else {
		q.order = e.byteOrder()
	}
	return q
}

// scale finds the inverse of the d of each block, and returns their float16.
func (q *blockQuantizer) scale(x operand.Mem, blocks int, inverse reg.VecVirtual) (halves reg.VecVirtual) {
	return q.inverses(q.deltas(q.magnitudesOf(x, blocks)), inverse)
}

// deltas returns the d of blocks with the given largest magnitudes.
func (q *blockQuantizer) deltas(amax reg.VecVirtual) reg.VecVirtual {
	d := q.e.like(amax)
	q.e.VDIVPS(q.e.wide32("largestI8", 0x42fe0000), amax, d)
	return d
}

// inverses is scale of blocks with the given d. The inverse of NaN is NaN. On AVX2 an inverse that
// is not finite is 0.
func (q *blockQuantizer) inverses(d, inverse reg.VecVirtual) (halves reg.VecVirtual) {
	const nearest = operand.U8(0)
	canonical := q.e.like(d)
	halves = q.e.vectorOf(max(4, int(d.Size())/8))
	q.e.VMOVUPS(q.e.wide32("one32", 0x3f800000), inverse)
	q.e.VDIVPS(d, inverse, inverse)
	if !q.e.avx512 {
		const less = operand.U8(0x11)
		finite := q.e.like(d)
		q.e.VCMPPS(less, q.e.wide32("exponent32", infinity32), inverse, finite)
		q.e.VPAND(finite, inverse, inverse)
	}
	q.e.VPMINUD(q.e.wide32("nan32", 0x7fc00000), d, canonical)
	q.e.VCVTPS2PH(nearest, canonical, halves)
	return halves
}

// magnitudesOf returns the bits of the largest magnitude of each block.
func (q *blockQuantizer) magnitudesOf(x operand.Mem, blocks int) reg.VecVirtual {
	each := q8Numbers / q.e.lanes()
	var maxima, fours []reg.VecVirtual
	for i := range blocks * each {
		m := q.e.vector()
		q.e.and(x.Offset(4*q.e.lanes()*i), q.magnitude, m)
		if i%each == 0 {
			maxima = append(maxima, m)
		} else {
			largest := maxima[len(maxima)-1]
			q.e.larger(m, largest, largest)
		}
		if blocks > 4 && (i+1)%(4*each) == 0 {
			fours, maxima = append(fours, q.e.largestOfFour(maxima)), nil
		}
	}
	if blocks > 4 {
		return q.e.largestOfAll(fours)
	}
	return q.e.largestOf(maxima)
}

// writeHalves writes the d of each block.
func (q *blockQuantizer) writeHalves(y operand.Mem, halves reg.VecVirtual, blocks int) {
	if blocks <= 4 {
		for i := range blocks {
			q.e.VPEXTRW(operand.Imm(uint64(i)), halves, y.Offset(i*q8Bytes))
		}
		return
	}
	q.e.VMOVUPS(halves, q.halves)
	q.copyHalves(y, q.halves, blocks)
}

// copyHalves copies the d of each block.
func (q *blockQuantizer) copyHalves(y, halves operand.Mem, blocks int) {
	for i := range blocks {
		half := q.e.GP32()
		q.e.MOVWLZX(halves.Offset(2*i), half)
		q.e.MOVW(half.As16(), y.Offset(i*q8Bytes))
	}
}

// write writes the numbers of blocks, and goes behind them.
//
// Setting the last bit of a product rounds halves away from zero, and changes no
// other rounding: no half has that bit. The numbers of a block whose factor is not finite and
// positive are 0: on AVX-512 as low bytes of the integers that such products are converted to,
// on AVX2 by zeroBlock.
func (q *blockQuantizer) write(y, x reg.GPVirtual, blocks int, factors operand.Mem) {
	for i := range blocks {
		to, done := operand.Mem{Base: y, Disp: i*q8Bytes + 2}, q.e.label("written")
		if !q.e.avx512 {
			q.zeroBlock(factors.Offset(4*i), to, done)
		}
		factor := q.e.vector()
		q.e.VBROADCASTSS(factors.Offset(4*i), factor)
		var list []reg.VecVirtual
		for at := 0; at < q8Numbers; at += q.e.lanes() {
			v := q.e.vector()
			q.e.VMULPS(operand.Mem{Base: x, Disp: 4 * (q8Numbers*i + at)}, factor, v)
			if q.e.avx512 {
				q.e.VPORD(q.lastBit, v, v)
			} else {
				q.e.VPOR(q.lastBit, v, v)
			}
			q.e.VCVTPS2DQ(v, v)
			list = append(list, v)
		}
		q.lowBytes(list, to)
		q.e.Label(done)
	}
	q.e.ADDQ(operand.U32(uint32(4*q8Numbers*blocks)), x)
	q.e.ADDQ(operand.U32(uint32(q8Bytes*blocks)), y)
}

// zeroBlock writes the numbers of a block with the factor 0, which is rare, and goes to done.
func (q *blockQuantizer) zeroBlock(factor, to operand.Mem, done string) {
	rare := q.e.label("zero")
	q.e.CMPL(factor, operand.Imm(0))
	q.e.JEQ(operand.LabelRef(rare))
	q.e.rare = append(q.e.rare, func() {
		q.e.Label(rare)
		v := q.e.vector()
		q.e.VPXOR(v, v, v)
		q.e.VMOVUPS(v, to)
		q.e.JMP(operand.LabelRef(done))
	})
}

// lowBytes writes the low bytes of the integers of a block.
func (q *blockQuantizer) lowBytes(list []reg.VecVirtual, to operand.Mem) {
	if q.e.avx512 {
		low := q.e.YMM()
		q.e.VPERMT2W(list[1], q.evenWords, list[0])
		q.e.VPMOVWB(list[0], low)
		q.e.VMOVUPS(low, to)
		return
	}
	q.e.VMOVUPS(q.e.inOrder(q.e.packedBytes(q.e.VPACKSSWB, q.e.words(q.e.VPACKSSDW, list)), q.order), to)
}

func quantizeRow(e *emitter) {
	e.quantizeRows(func(amax reg.VecVirtual) []reg.VecVirtual {
		scales := e.rowScales(amax)
		return []reg.VecVirtual{e.inverse(scales), scales}
	}, func(of []reg.VecVirtual, list []operand.Op) []reg.VecVirtual { return e.quotients(list, of[1], of[0]) })
}

// quantizeRows writes rows as quotients by their scales. scale returns what rows of these largest magnitudes
// need, their scales last, and quotients takes it. The scales of the next rows, for which
// divisions take long, are found before these are written.
func (e *emitter) quantizeRows(scale func(amax reg.VecVirtual) []reg.VecVirtual, quotients func(of []reg.VecVirtual, numbers []operand.Op) []reg.VecVirtual) {
	done := e.label("done")
	x, n, count, y, scales := e.argument("x"), e.argument("n"), e.argument("count"), e.argument("y"), e.argument("scales")
	l := &lines{t: float32s, at: e.GP64(), stride: e.stride("xStride"), stride3: e.GP64()}
	e.LEAQ(operand.Mem{Base: l.stride, Index: l.stride, Scale: 2}, l.stride3)
	e.TESTQ(count, count)
	e.JZ(operand.LabelRef(done))
	write := e.rowCoder()
	var next, these []operand.Mem
	for _, l.count = range []int{4, 1} {
		loop, last, single, fewer := e.label("rows"), e.label("last"), e.label("row"), e.label("fewer")
		find := func() {
			list := scale(e.largestOf(e.rowMaxima(l, n)))
			for _, m := range []*[]operand.Mem{&next, &these} {
				for len(*m) < len(list) {
					*m = append(*m, e.AllocLocal(16))
				}
			}
			for i, v := range list {
				e.VMOVUPS(v, next[i])
			}
		}
		e.CMPQ(count, operand.Imm(uint64(l.count)))
		e.JLT(operand.LabelRef(fewer))
		e.MOVQ(x, l.at)
		find()
		e.Label(loop)
		e.Comment("1. the scales of the next rows")
		for i := range next {
			v := e.XMM()
			e.VMOVUPS(next[i], v)
			e.VMOVUPS(v, these[i])
		}
		e.SUBQ(operand.Imm(uint64(l.count)), count)
		e.CMPQ(count, operand.Imm(uint64(l.count)))
		e.JLT(operand.LabelRef(last))
		e.LEAQ(operand.Mem{Base: x, Index: l.stride, Scale: uint8(l.count)}, l.at)
		find()
		e.Label(last)
		e.Comment("2. these rows")
		row := e.GP64()
		e.XORQ(row, row)
		e.Label(single)
		var of []operand.Mem
		for _, m := range these {
			of = append(of, m.Idx(row, 4))
		}
		e.writeRow(y, x, n, scales, of, e.byteParts(), func(of []reg.VecVirtual, list []operand.Op) reg.VecVirtual { return write(quotients(of, list)) })
		e.ADDQ(l.stride, x)
		e.ADDQ(e.parameter("yStride"), y)
		e.step(scales, e.argument("scaleStride"), float32s)
		e.INCQ(row)
		e.CMPQ(row, operand.Imm(uint64(l.count)))
		e.JNE(operand.LabelRef(single))
		e.CMPQ(count, operand.Imm(uint64(l.count)))
		e.JGE(operand.LabelRef(loop))
		e.Label(fewer)
	}
	e.Label(done)
	e.VZEROUPPER()
	e.RET()
}

// rowMaxima returns the largest magnitudes of rows, each in some lanes of a register.
func (e *emitter) rowMaxima(l *lines, n reg.GPVirtual) (maxima []reg.VecVirtual) {
	const step = 16 // numbers
	magnitude := e.keep(e.magnitudes())
	for range l.count {
		v := e.vector()
		e.clear(v)
		maxima = append(maxima, v)
	}
	add := func(x operand.Op, row int) {
		m := e.vector()
		e.and(x, magnitude, m)
		e.VPMAXUD(m, maxima[row], maxima[row])
	}
	left := e.GP64()
	loop, rest, done := e.label("magnitudes"), e.label("rest"), e.label("largest")
	e.MOVQ(n, left)
	e.SUBQ(operand.Imm(step), left)
	e.JLT(operand.LabelRef(rest))
	e.Label(loop)
	for i := range l.count {
		e.fetchMeanwhile(l.row(i, 0), 4*step)
		for j := 0; j < step; j += e.lanes() {
			add(l.row(i, 4*j), i)
		}
	}
	e.ADDQ(operand.Imm(4*step), l.at)
	e.SUBQ(operand.Imm(step), left)
	e.JGE(operand.LabelRef(loop))
	e.Label(rest)
	e.ADDQ(operand.Imm(step), left)
	e.JZ(operand.LabelRef(done))
	for j, these := range e.first(left, step) {
		for i := range l.count {
			add(e.loadUpTo(these, l.row(i, 4*j*e.lanes())), i)
		}
	}
	e.Label(done)
	return maxima
}

// rowScales returns the scales of rows with the given largest magnitudes.
func (e *emitter) rowScales(amax reg.VecVirtual) reg.VecVirtual {
	most, least := e.wide32("largestI8", 0x42fe0000), math.Float32bits(1e-6)
	if f, ok := float8s[e.to]; ok {
		most = e.wide32("largest"+f.name, f.largest)
	}
	scale := e.like(amax)
	e.VDIVPS(most, amax, scale)
	e.VPMAXUD(e.wide32("leastScale", least), scale, scale)
	e.VPMINUD(e.wide32("nan32", 0x7fc00000), scale, scale)
	return scale
}

// inverse returns 1/v.
func (e *emitter) inverse(v reg.VecVirtual) reg.VecVirtual {
	inverse := e.like(v)
	e.VMOVUPS(e.wide32("one32", 0x3f800000), inverse)
	e.VDIVPS(v, inverse, inverse)
	return inverse
}

// writeRow writes a row of n numbers, of those parts, and its scale, the last of what write needs. Where that is
// not finite, all bytes are the same.
func (e *emitter) writeRow(y, x, n, scales reg.GPVirtual, of []operand.Mem, parts []part, write func(of []reg.VecVirtual, numbers []operand.Op) reg.VecVirtual) {
	rare, one, done := e.label("rare"), e.label("one"), e.label("written")
	bits, yAt, xAt, left := e.GP32(), e.GP64(), e.GP64(), e.GP64()
	e.MOVQ(y, yAt)
	e.MOVQ(x, xAt)
	e.MOVQ(n, left)
	e.MOVL(of[len(of)-1], bits)
	e.MOVL(bits, operand.Mem{Base: scales})
	e.CMPL(bits, operand.U32(infinity32))
	e.JCC(operand.LabelRef(rare))
	var each []reg.VecVirtual
	for _, m := range of {
		v := e.vector()
		e.VBROADCASTSS(m, v)
		each = append(each, v)
	}
	e.bytesOf(yAt, xAt, left, parts, false, func(list []operand.Op) reg.VecVirtual { return write(each, list) })
	e.JMP(operand.LabelRef(done))
	e.Label(rare)
	code := uint64(0)
	if e.to == e4m3s {
		code = 0x7f
	}
	e.Label(one)
	e.MOVB(operand.Imm(code), operand.Mem{Base: yAt})
	e.INCQ(yAt)
	e.DECQ(left)
	e.JNZ(operand.LabelRef(one))
	e.Label(done)
}

// rowCoder returns what makes the bytes of quotients.
func (e *emitter) rowCoder() func(quotients []reg.VecVirtual) reg.VecVirtual {
	if f, ok := float8s[e.to]; ok {
		return e.newCoder(f, false).codes
	}
	order := e.byteOrder()
	return func(quotients []reg.VecVirtual) reg.VecVirtual {
		for _, q := range quotients {
			e.VCVTPS2DQ(q, q)
		}
		return e.inOrder(e.packedBytes(e.VPACKSSWB, e.words(e.VPACKSSDW, quotients)), order)
	}
}

// quotients returns numbers divided by scale, and changes those in registers. The product
// by the inverse is corrected by what it is too large by: near midpoints of two codes that
// is the quotient correctly rounded, which the exhaustive tests show. So subtracted, what
// is 0 leaves a product -0 as it is.
func (e *emitter) quotients(numbers []operand.Op, scale, inverse reg.VecVirtual) (list []reg.VecVirtual) {
	for _, number := range numbers {
		x, ok := number.(reg.VecVirtual)
		if !ok {
			x = e.keep(number.(operand.Mem))
		}
		q := e.vector()
		e.VMULPS(inverse, x, q)
		e.VFMSUB231PS(scale, q, x)
		e.VFNMADD231PS(inverse, x, q)
		list = append(list, q)
	}
	return list
}

func dequantize(e *emitter) {
	if e.from == blocksQ8 {
		dequantizeBlocks(e)
		return
	}
	scales := e.argument("scales")
	e.eachVector(func(y, x, left reg.GPVirtual) {
		scale := e.vector()
		e.VBROADCASTSS(operand.Mem{Base: scales}, scale)
		e.step(scales, e.argument("scaleStride"), float32s)
		sizes := whole(32, 8, 4, 1)
		if e.avx512 {
			sizes = []part{{64, false}, {16, false}, {16, true}}
		}
		e.spans(left, sizes, func(block part) {
			var mask reg.OpmaskVirtual
			if block.masked {
				mask = e.masks(left, 16).low
			}
			p := part{min(block.size, e.lanes()), block.masked}
			for at := 0; at < block.size; at += p.size {
				v := e.widened(p, mask, operand.Mem{Base: x, Disp: at})
				e.VMULPS(lanesOf(scale, v), v, v)
				e.saveUpTo(float32s, p, left, v, operand.Mem{Base: y, Disp: 4 * at})
			}
			e.ADDQ(operand.U32(uint32(block.size)), x)
			e.ADDQ(operand.U32(uint32(4*block.size)), y)
		})
	})
}

// widened returns numbers of 8 bits as float32.
func (e *emitter) widened(p part, mask reg.OpmaskVirtual, from operand.Mem) reg.VecVirtual {
	v, source := e.vectorOf(p.size), e.loadBytes(p, mask, from)
	if e.from == integers8 {
		e.VPMOVSXBD(source, v)
		e.VCVTDQ2PS(v, v)
		return v
	}
	// As float16, of which E5M2 are the upper half.
	words := e.vectorOf(p.size / 2)
	e.VPMOVSXBW(source, words)
	if e.from == e5m2s {
		e.VPSLLW(operand.Imm(8), words, words)
		e.VCVTPH2PS(words, v)
		return v
	}
	// E4M3 have the mantissa and the exponent where they are in a float16 of 2^-8 times
	// their value. NaN, the largest of them, is the one that a last bit carries beyond:
	// its exponent gets a bit more, which makes it the exponent of NaN.
	const orAnd = operand.U8(0xf8)
	carry := e.vectorOf(p.size / 2)
	e.VPSLLW(operand.Imm(7), words, words)
	e.and(e.wide32("e4m3Words", 0xbf80bf80), words, words)
	e.VPADDW(e.wide32("e4m3Last", 0x800080), words, carry)
	if e.avx512 {
		e.VPTERNLOGD(orAnd, e.wide32("e4m3Carry", 0x40004000), carry, words)
	} else {
		e.VPAND(e.wide32("e4m3Carry", 0x40004000), carry, carry)
		e.VPOR(carry, words, words)
	}
	e.VCVTPH2PS(words, v)
	e.VMULPS(e.wide32("e4m3Unit", 0x43800000), v, v)
	return v
}

// loadBytes returns bytes, in memory where whole parts of them are.
func (e *emitter) loadBytes(p part, mask reg.OpmaskVirtual, from operand.Mem) operand.Op {
	v := e.XMM()
	switch {
	case p.masked:
		e.VMOVDQU8_Z(from, mask, v)
	case p.size == 1:
		e.VPXOR(v, v, v)
		e.VPINSRB(operand.Imm(0), from, v, v)
	case p.size == 4:
		e.VMOVD(from, v)
	default:
		return from
	}
	return v
}
