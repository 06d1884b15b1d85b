package amd64

import (
	"math"
	"math/bits"

	"github.com/go-posenc/posenc/asm/_gen/operation"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// blockFormat is a row of generic's formats of blocks: see there.
type blockFormat struct {
	divisor  float32
	integers bool
	minimum  bool
	bias     float32
	fifth    bool // codes have 5 bits
	levels   []int8
}

var blockFormats = map[element]blockFormat{
	blocksQ8:                  {divisor: 127, integers: true},
	element(operation.Q4_0):   {divisor: -8, bias: 8},
	element(operation.Q4_1):   {divisor: 15, minimum: true},
	element(operation.Q5_0):   {divisor: -16, bias: 16, fifth: true},
	element(operation.Q5_1):   {divisor: 31, minimum: true, fifth: true},
	element(operation.IQ4_NL): {divisor: -127, levels: []int8{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}},
}

const blockNumbers = 32

// fifths and codes return where the fifth bits and the rest of the codes begin, size how long a block is.
func (f blockFormat) fifths() int {
	if f.minimum {
		return 4
	}
	return 2
}

func (f blockFormat) codes() int {
	if f.fifth {
		return f.fifths() + blockNumbers/8
	}
	return f.fifths()
}

func (f blockFormat) size() int {
	if f.integers {
		return 2 + blockNumbers
	}
	return f.codes() + blockNumbers/2
}

func (e *emitter) float32(name string, v float32) operand.Mem {
	return e.wide32(name, math.Float32bits(v))
}

func quantizeBlocks(e *emitter) {
	switch {
	case fp4Formats[e.to].numbers > 0:
		quantizeFP4(e)
		return
	case blockFormats[e.to].levels != nil:
		quantizeLevels(e)
		return
	}
	lanes := e.lanes()
	vectors := func(n int) operand.Mem { return e.AllocLocal(4 * n * lanes) }
	q := blockCoder{blockGroup: e.newBlockGroup(), these: [2]operand.Mem{vectors(2), vectors(2)}, extremes: [2]operand.Mem{vectors(lanes), vectors(lanes)}, heads: vectors(1), inverses: vectors(1), chosen: vectors(1)}
	if !e.avx512 {
		q.order = e.keep(e.byteOrder().(operand.Mem))
	}
	blocks, bits := e.GP64(), e.GP64()
	e.XORQ(blocks, blocks)
	q.eachGroup(q.findExtremes, q.clearMissing, func(found reg.GPVirtual) {
		more := e.label("more")
		q.writeBlocks(blocks, bits)
		e.TESTQ(found, found)
		e.JNZ(operand.LabelRef(more))
		e.leave()
		e.Label(more)
		e.MOVQ(found, blocks)
		for i := 0; i < 8*lanes; i += 4 * lanes {
			for j, next := range []operand.Mem{q.xs, q.ys} {
				e.VMOVUPS(e.keep(next.Offset(i)), q.these[j].Offset(i))
			}
		}
		q.scale(bits)
	})
}

// blockGroup is as many blocks as there are lanes, of one vector or of several.
type blockGroup struct {
	*emitter
	blockFormat
	xs, ys operand.Mem // addresses of the blocks
}

func (e *emitter) newBlockGroup() blockGroup {
	return blockGroup{e, blockFormats[e.to], e.AllocLocal(8 * e.lanes()), e.AllocLocal(8 * e.lanes())}
}

// eachGroup runs each for each block of a group, and then body for the group. Where fewer blocks are left than there
// are lanes, the last is in several lanes. With fewer the group has that many, fewer runs before body, and body runs
// once more in the end, for no blocks, and leaves the kernel.
func (q blockGroup) eachGroup(each func(x, at reg.GPVirtual), fewer func(at reg.GPVirtual), body func(blocks reg.GPVirtual)) {
	group, lane, next, last, found, full, done := q.label("group"), q.label("lane"), q.label("next"), q.label("last"), q.label("found"), q.label("full"), q.label("done")
	y, x, count, n := q.argument("y"), q.argument("x"), q.argument("count"), q.argument("n")
	yAt, xAt, left, at, stride := q.GP64(), q.GP64(), q.GP64(), q.GP64(), q.GP64()
	q.jumpIfZero(count, done)
	q.jumpIfZero(n, done)
	q.MOVQ(y, yAt)
	q.MOVQ(x, xAt)
	q.MOVQ(n, left)
	q.Label(group)
	q.XORQ(at, at)
	q.Label(lane)
	q.MOVQ(xAt, q.xs.Idx(at, 8))
	q.MOVQ(yAt, q.ys.Idx(at, 8))
	q.fetchMeanwhile(operand.Mem{Base: xAt}, 4*blockNumbers)
	each(xAt, at)
	q.CMPQ(left, operand.Imm(blockNumbers))
	q.JBE(operand.LabelRef(next))
	q.SUBQ(operand.Imm(blockNumbers), left)
	q.ADDQ(operand.U32(4*blockNumbers), xAt)
	q.ADDQ(operand.Imm(uint64(q.size())), yAt)
	q.Label(found)
	q.INCQ(at)
	q.CMPQ(at, operand.Imm(uint64(q.lanes())))
	q.JB(operand.LabelRef(lane))
	q.Label(full)
	body(at)
	q.TESTQ(count, count)
	q.JNZ(operand.LabelRef(group))
	if fewer != nil {
		q.XORQ(at, at)
		q.JMP(operand.LabelRef(full))
	}
	q.Label(done)
	q.leave()
	for _, write := range q.rare {
		write()
	}
	q.Label(next)
	q.CMPQ(count, operand.Imm(1))
	q.JBE(operand.LabelRef(last))
	q.DECQ(count)
	q.MOVQ(q.parameter("xStride"), stride)
	q.LEAQ(operand.Mem{Base: x, Index: stride, Scale: 4}, x)
	q.ADDQ(q.parameter("yStride"), y)
	q.MOVQ(x, xAt)
	q.MOVQ(y, yAt)
	q.MOVQ(q.parameter("n"), left)
	q.JMP(operand.LabelRef(found))
	q.Label(last)
	q.XORQ(count, count)
	if fewer != nil {
		q.INCQ(at)
		fewer(at)
		q.JMP(operand.LabelRef(full))
	} else {
		q.JMP(operand.LabelRef(found))
	}
}

// blockCoder writes blocks without levels.
//
// Of two numbers of each block, one has the largest magnitude: the largest as signed integers, which is negative only
// if all are, and the largest as unsigned ones. Where these have the same magnitude, which is rare, the first of them
// is looked up. With a minimum they are the least and the largest; where the least is a zero, of which a minimum in
// vectors may have the other sign, the first zero is looked up.
//
// A group is written once the extremes of the next one have been found: the scale takes long, and the CPU does both
// at once.
type blockCoder struct {
	blockGroup
	these    [2]operand.Mem // addresses of the group that is written
	extremes [2]operand.Mem // two registers of each block
	heads    operand.Mem    // d and m of each block, as float16
	inverses operand.Mem    // of each d; with a minimum negative
	chosen   operand.Mem    // the number of the largest magnitude, of two the positive one, or the least
	order    operand.Op     // AVX2
}

// findExtremes finds the extremes of each lane of a block. With a minimum, those of a block with NaN are NaN.
func (q blockCoder) findExtremes(x, at reg.GPVirtual) {
	var list []reg.VecVirtual
	for i := 0; i < blockNumbers; i += q.lanes() {
		list = append(list, q.keep(operand.Mem{Base: x, Disp: 4 * i}))
	}
	var found []reg.VecVirtual
	for _, op := range q.comparisons() {
		v := q.vector()
		op(list[1], list[0], v)
		for _, w := range list[2:] {
			op(w, v, v)
		}
		found = append(found, v)
	}
	if q.minimum {
		const unordered = operand.U8(3)
		nan, store := q.label("nan"), q.label("store")
		if q.avx512 {
			k := q.K()
			q.VCMPPS(unordered, list[1], list[0], k)
			q.KORTESTW(k, k)
		} else {
			any := q.GP32()
			q.VCMPPS(unordered, list[1], list[0], list[0])
			q.VCMPPS(unordered, list[3], list[2], list[2])
			q.VORPS(list[0], list[2], list[0])
			q.VMOVMSKPS(list[0], any)
			q.TESTL(any, any)
		}
		q.JNZ(operand.LabelRef(nan))
		q.Label(store)
		q.rare = append(q.rare, func() {
			q.Label(nan)
			q.VMOVUPS(q.wide32("nan32", 0x7fc00000), found[1])
			q.JMP(operand.LabelRef(store))
		})
	}
	row := q.row(at)
	for i, v := range found {
		q.VMOVUPS(v, q.extremes[i].Idx(row, 1))
	}
}

// row returns where the registers of a block are among those of all.
func (q blockCoder) row(at reg.GPVirtual) reg.GPVirtual {
	row := q.GP64()
	q.MOVQ(at, row)
	q.SHLQ(operand.Imm(uint64(bits.TrailingZeros(uint(4*q.lanes())))), row)
	return row
}

// clearMissing sets the extremes of missing blocks to 0: with what is on the stack divisions may take long.
func (q blockCoder) clearMissing(at reg.GPVirtual) {
	row, zero, missing, done := q.row(at), q.zero(), q.label("missing"), q.label("cleared")
	q.Label(missing)
	q.CMPQ(row, operand.U32(uint32(4*q.lanes()*q.lanes())))
	q.JAE(operand.LabelRef(done))
	for _, m := range q.extremes {
		q.VMOVUPS(zero, m.Idx(row, 1))
	}
	q.ADDQ(operand.Imm(uint64(4*q.lanes())), row)
	q.JMP(operand.LabelRef(missing))
	q.Label(done)
}

func (q blockCoder) comparisons() [2]func(...operand.Op) {
	if q.minimum {
		return [2]func(...operand.Op){q.VMINPS, q.VMAXPS}
	}
	return [2]func(...operand.Op){q.VPMAXSD, q.VPMAXUD}
}

// scale finds the heads and the inverses of the blocks of a group, and bits: those from 16 on of blocks that are not
// finite, those before of these and of blocks whose first number is to be looked up.
func (q blockCoder) scale(bits reg.GPVirtual) {
	const equal, nearest = operand.U8(0), operand.U8(0)
	var found [2]reg.VecVirtual
	for i, op := range q.comparisons() {
		var fours []reg.VecVirtual
		for row := 0; row < q.lanes(); row += 4 {
			var rows []reg.VecVirtual
			for j := range 4 {
				rows = append(rows, q.keep(q.extremes[i].Offset(4*q.lanes()*(row+j))))
			}
			fours = append(fours, q.mostOfFour(op, rows))
		}
		found[i] = q.mostOfAll(op, fours)
	}
	zero, chosen, d, statistic, head, inverse := q.zero(), found[1], q.vector(), q.vector(), q.vector(), q.vector()
	halves, magnitudes, infinity, one := q.half(), q.kept(q.magnitudes()), q.kept(q.wide32("exponent32", infinity32)), q.wide32("one32", 0x3f800000)
	var doubt reg.Register
	name := operation.Element(q.to).String()
	if q.minimum {
		chosen, one = found[0], q.float32("minusOne", -1)
		q.VSUBPS(chosen, found[1], statistic)
		q.and(magnitudes, statistic, statistic)
		q.VDIVPS(q.kept(q.float32("divisor"+name, q.divisor)), statistic, d)
		doubt = q.where(equal, zero, chosen)
	} else {
		other := q.vector()
		for _, v := range found {
			q.VADDPS(zero, v, v) // of zeros the positive one
		}
		q.and(magnitudes, found[0], other)
		q.and(magnitudes, chosen, statistic)
		q.VPMAXUD(other, statistic, statistic)
		doubt = q.lanesRegister()
		q.VPSUBD(chosen, found[0], d)
		q.VPCMPEQD(q.wide32("sign32", 1<<31), d, doubt)
		q.choose(q.where(equal, statistic, found[0]), found[0], chosen, chosen)
		q.VMULPS(q.kept(q.float32("divided"+name, 1/q.divisor)), chosen, d)
	}
	q.VMOVUPS(chosen, q.chosen)
	q.VCVTPS2PH(nearest, d, halves)
	q.VPMOVZXWD(halves, head)
	if q.minimum {
		m := q.vector()
		q.VCVTPS2PH(nearest, chosen, halves)
		q.VPMOVZXWD(halves, m)
		q.VPSLLD(operand.Imm(16), m, m)
		q.VPADDD(m, head, head)
	}
	q.VMOVUPS(head, q.heads)
	q.VMOVUPS(one, inverse)
	q.VDIVPS(d, inverse, inverse)
	q.and(magnitudes, inverse, d)
	q.choose(q.where(below, infinity, d), inverse, zero, inverse)
	q.VMOVUPS(inverse, q.inverses)
	notFinite := q.GP32()
	move := q.VMOVMSKPS
	if q.avx512 {
		move = q.KMOVW
	}
	move(doubt, bits.As32())
	move(q.where(notBelow, infinity, statistic), notFinite)
	q.ORL(notFinite, bits.As32())
	q.SHLL(operand.Imm(16), notFinite)
	q.ORL(notFinite, bits.As32())
}

// writeBlocks writes the blocks of a group.
func (q blockCoder) writeBlocks(blocks, bits reg.GPVirtual) {
	block, usual, special, next, same, first, done := q.label("block"), q.label("usual"), q.label("special"), q.label("next"), q.label("same"), q.label("first"), q.label("written")
	at, x, y, head, inverse, least := q.GP64(), q.GP64(), q.GP64(), q.GP32(), q.vector(), q.vector()
	to := operand.Mem{Base: y}
	q.XORQ(at, at)
	q.jumpIfZero(blocks, done)
	q.Label(block)
	q.MOVQ(q.these[0].Idx(at, 8), x)
	q.MOVQ(q.these[1].Idx(at, 8), y)
	q.BTL(at.As32(), bits.As32())
	q.JCS(operand.LabelRef(special))
	q.Label(usual)
	q.MOVL(q.heads.Idx(at, 4), head)
	q.VBROADCASTSS(q.inverses.Idx(at, 4), inverse)
	if q.minimum {
		q.MOVL(head, to)
		q.VBROADCASTSS(q.chosen.Idx(at, 4), least)
	} else {
		q.MOVW(head.As16(), to)
	}
	var list []reg.VecVirtual
	for i := 0; i < blockNumbers; i += q.lanes() {
		v, from := q.vector(), operand.Mem{Base: x, Disp: 4 * i}
		if q.minimum {
			q.VSUBPS(from, least, v)
			q.VMULPS(inverse, v, v)
		} else {
			q.VMULPS(from, inverse, v)
		}
		list = append(list, v)
	}
	q.write(to, list)
	q.Label(next)
	q.INCQ(at)
	q.CMPQ(at, blocks)
	q.JB(operand.LabelRef(block))
	q.Label(done)
	q.rare = append(q.rare, func() {
		q.Label(special)
		i, number, v := q.GP64(), head, q.XMM()
		q.LEAL(operand.Mem{Base: at, Disp: 16}, i.As32())
		q.BTL(i.As32(), bits.As32())
		q.JCC(operand.LabelRef(same))
		q.VPXOR(v, v, v)
		q.VMOVQ(v, to)
		q.VMOVUPS(v, to.Offset(q.size()-16))
		q.MOVW(operand.U16(0x7e00), to)
		q.JMP(operand.LabelRef(next))
		q.Label(same)
		q.XORQ(i, i)
		q.Label(first)
		q.CMPQ(i, operand.Imm(blockNumbers)) // x may be changed meanwhile
		q.JE(operand.LabelRef(usual))
		q.MOVL(operand.Mem{Base: x, Index: i, Scale: 4}, number)
		q.INCQ(i)
		q.XORL(q.chosen.Idx(at, 4), number)
		q.ADDL(number, number)
		q.JNZ(operand.LabelRef(first))
		q.JCC(operand.LabelRef(usual)) // it has the same sign
		if q.minimum {
			q.XORL(operand.U32(1<<31), q.heads.Idx(at, 4))
		} else {
			q.XORL(operand.U32(1<<15), q.heads.Idx(at, 4))
			q.XORL(operand.U32(1<<31), q.inverses.Idx(at, 4))
		}
		q.JMP(operand.LabelRef(usual))
	})
}

// write writes the codes of numbers that have been divided by d.
func (q blockCoder) write(to operand.Mem, numbers []reg.VecVirtual) {
	half, largest := q.float32("half"+operation.Element(q.to).String(), q.bias+0.5), uint32(15)
	if q.fifth {
		largest = 31
	}
	for _, v := range numbers {
		q.VADDPS(half, v, v)
		q.VCVTTPS2DQ(v, v)
	}
	if q.avx512 {
		low, high := numbers[0], numbers[1]
		for _, v := range numbers {
			q.VPMINSD(q.wide32("largestCode"+operation.Element(q.to).String(), largest), v, v)
		}
		if q.fifth {
			k, k2, bit := q.K(), q.K(), q.wide32("fifth32", 16)
			q.VPTESTMD(bit, low, k)
			q.VPTESTMD(bit, high, k2)
			q.KUNPCKWD(k, k2, k)
			q.KMOVD(k, to.Offset(q.fifths()))
			for _, v := range numbers {
				q.VPANDD(q.wide32("low32", 15), v, v)
			}
		}
		q.VPSLLD(operand.Imm(4), high, high)
		q.VPORD(high, low, low)
		q.VPMOVDB(low, to.Offset(q.codes()))
		return
	}
	codes, high := q.inOrder(q.packedBytes(q.VPACKUSWB, q.words(q.VPACKSSDW, numbers)), q.order), q.XMM()
	q.VPMINUB(q.wide32("largestCodes"+operation.Element(q.to).String(), largest*0x01010101), codes, codes)
	if q.fifth {
		bits, mask := q.vector(), q.GP32()
		q.VPSLLW(operand.Imm(3), codes, bits)
		q.VPMOVMSKB(bits, mask)
		q.MOVL(mask, to.Offset(q.fifths()))
		q.VPAND(q.lowBits(), codes, codes)
	}
	q.VEXTRACTI128(operand.Imm(1), codes, high)
	q.VPSLLW(operand.Imm(4), high, high)
	q.VPOR(high, codes.AsX(), high)
	q.VMOVUPS(high, to.Offset(q.codes()))
}

// lowBits is the lower four bits of bytes.
func (e *emitter) lowBits() operand.Mem { return e.wide32("low8", 0x0f0f0f0f) }

func dequantizeBlocks(e *emitter) {
	if fp4Formats[e.from].numbers > 0 {
		dequantizeFP4(e)
		return
	}
	f := blockFormats[e.from]
	e.eachVector(func(y, x, left reg.GPVirtual) {
		e.spans(left, whole(blockNumbers), func(part) {
			from, to := operand.Mem{Base: x}, operand.Mem{Base: y}
			half := func(from operand.Mem) reg.VecVirtual {
				v, halves := e.vector(), e.half()
				e.VPBROADCASTW(from, halves)
				e.VCVTPH2PS(halves, v)
				return v
			}
			d, m := half(from), reg.VecVirtual(nil)
			if f.minimum {
				m = half(from.Offset(2))
			}
			number := func(i int) operand.Op { return from.Offset(2 + i) }
			if !f.integers {
				number = e.codesOf(f, from)
			}
			for i := 0; i < blockNumbers; i += e.lanes() {
				v := e.vector()
				e.VPMOVSXBD(number(i), v)
				e.VCVTDQ2PS(v, v)
				e.VMULPS(d, v, v)
				if f.minimum {
					e.VADDPS(m, v, v)
				}
				e.VMOVUPS(v, to.Offset(4*i))
			}
			e.ADDQ(operand.Imm(uint64(f.size())), x)
			e.ADDQ(operand.U32(4*blockNumbers), y)
		})
	})
}

// codesOf loads the codes of a block, and returns what returns those from one on as integers of 8 bits.
func (e *emitter) codesOf(f blockFormat, from operand.Mem) func(i int) operand.Op {
	codes, high := e.YMM(), e.XMM()
	e.VMOVUPS(from.Offset(f.codes()), codes.AsX())
	e.VPSRLW(operand.Imm(4), codes.AsX(), high)
	e.VINSERTI128(operand.Imm(1), high, codes, codes)
	e.VPAND(e.lowBits(), codes, codes)
	if f.fifth {
		bits, each := e.YMM(), e.controls("bitOfByte", 2, 16, func(i uint32) uint32 { return 0x0201 << (2 * (i % 4)) })
		e.VPBROADCASTD(from.Offset(f.fifths()), bits)
		e.VPSHUFB(e.controls("byteOfBit", 2, 16, func(i uint32) uint32 { return i / 4 * 0x0101 }), bits, bits)
		e.VPAND(each, bits, bits)
		e.VPCMPEQB(each, bits, bits)
		e.VPAND(e.wide32("fifth8", 0x10101010), bits, bits)
		e.VPOR(bits, codes, codes)
	}
	if f.levels != nil {
		levels := e.YMM()
		e.VMOVUPS(e.controls("levels", 2, 16, func(i uint32) uint32 {
			return uint32(uint8(f.levels[2*i%16])) | uint32(uint8(f.levels[2*i%16+1]))<<8
		}), levels)
		e.VPSHUFB(codes, levels, codes)
	} else if f.bias != 0 {
		e.VPSUBB(e.wide32("bias"+operation.Element(e.from).String(), uint32(f.bias)*0x01010101), codes, codes)
	}
	return func(i int) operand.Op {
		some := codes.AsX()
		if i >= blockNumbers/2 {
			some = e.XMM()
			e.VEXTRACTI128(operand.Imm(1), codes, some)
		}
		if i%(blockNumbers/2) != 0 {
			rest := e.XMM()
			e.VPSHUFD(operand.Imm(0xee), some, rest)
			some = rest
		}
		return some
	}
}
