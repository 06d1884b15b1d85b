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
	e *emitter
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
	group, lane, next, last, found, full, done := q.e.label("group"), q.e.label("lane"), q.e.label("next"), q.e.label("last"), q.e.label("found"), q.e.label("full"), q.e.label("done")
	y, x, count, n := q.e.argument("y"), q.e.argument("x"), q.e.argument("count"), q.e.argument("n")
	yAt, xAt, left, at, stride := q.e.GP64(), q.e.GP64(), q.e.GP64(), q.e.GP64(), q.e.GP64()
	q.e.jumpIfZero(count, done)
	q.e.jumpIfZero(n, done)
	q.e.MOVQ(y, yAt)
	q.e.MOVQ(x, xAt)
	q.e.MOVQ(n, left)
	q.e.Label(group)
	q.e.XORQ(at, at)
	q.e.Label(lane)
	q.e.MOVQ(xAt, q.xs.Idx(at, 8))
	q.e.MOVQ(yAt, q.ys.Idx(at, 8))
	q.e.fetchMeanwhile(operand.Mem{Base: xAt}, 4*blockNumbers)
	each(xAt, at)
	q.e.CMPQ(left, operand.Imm(blockNumbers))
	q.e.JBE(operand.LabelRef(next))
	q.e.SUBQ(operand.Imm(blockNumbers), left)
	q.e.ADDQ(operand.U32(4*blockNumbers), xAt)
	q.e.ADDQ(operand.Imm(uint64(q.size())), yAt)
	q.e.Label(found)
	q.e.INCQ(at)
	q.e.CMPQ(at, operand.Imm(uint64(q.e.lanes())))
	q.e.JB(operand.LabelRef(lane))
	q.e.Label(full)
	body(at)
	q.e.TESTQ(count, count)
	q.e.JNZ(operand.LabelRef(group))
	if fewer != nil {
		q.e.XORQ(at, at)
		q.e.JMP(operand.LabelRef(full))
	}
	q.e.Label(done)
	q.e.leave()
	for _, write := range q.e.rare {
		write()
	}
	q.e.Label(next)
	q.e.CMPQ(count, operand.Imm(1))
	q.e.JBE(operand.LabelRef(last))
	q.e.DECQ(count)
	q.e.MOVQ(q.e.parameter("xStride"), stride)
	q.e.LEAQ(operand.Mem{Base: x, Index: stride, Scale: 4}, x)
	q.e.ADDQ(q.e.parameter("yStride"), y)
	q.e.MOVQ(x, xAt)
	q.e.MOVQ(y, yAt)
	q.e.MOVQ(q.e.parameter("n"), left)
	q.e.JMP(operand.LabelRef(found))
	q.e.Label(last)
	q.e.XORQ(count, count)
	if fewer != nil {
		q.e.INCQ(at)
		fewer(at)
		q.e.JMP(operand.LabelRef(full))
	} else {
		q.e.JMP(operand.LabelRef(found))
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
	for i := 0; i < blockNumbers; i += q.e.lanes() {
		list = append(list, q.e.keep(operand.Mem{Base: x, Disp: 4 * i}))
	}
	var found []reg.VecVirtual
	for _, op := range q.comparisons() {
		v := q.e.vector()
		op(list[1], list[0], v)
		for _, w := range list[2:] {
			op(w, v, v)
		}
		found = append(found, v)
	}
	if q.minimum {
		const unordered = operand.U8(3)
		nan, store := q.e.label("nan"), q.e.label("store")
		if q.e.avx512 {
			k := q.e.K()
			q.e.VCMPPS(unordered, list[1], list[0], k)
			q.e.KORTESTW(k, k)
		} else {
			any := q.e.GP32()
			q.e.VCMPPS(unordered, list[1], list[0], list[0])
			q.e.VCMPPS(unordered, list[3], list[2], list[2])
			q.e.VORPS(list[0], list[2], list[0])
			q.e.VMOVMSKPS(list[0], any)
			q.e.TESTL(any, any)
		}
		q.e.JNZ(operand.LabelRef(nan))
		q.e.Label(store)
		q.e.rare = append(q.e.rare, func() {
			q.e.Label(nan)
			q.e.VMOVUPS(q.e.wide32("nan32", 0x7fc00000), found[1])
			q.e.JMP(operand.LabelRef(store))
		})
	}
	row := q.row(at)
	for i, v := range found {
		q.e.VMOVUPS(v, q.extremes[i].Idx(row, 1))
	}
}

// row returns where the registers of a block are among those of all.
func (q blockCoder) row(at reg.GPVirtual) reg.GPVirtual {
	row := q.e.GP64()
	q.e.MOVQ(at, row)
	q.e.SHLQ(operand.Imm(uint64(bits.TrailingZeros(uint(4*q.e.lanes())))), row)
	return row
}

// clearMissing sets the extremes of missing blocks to 0: with what is on the stack divisions may take long.
func (q blockCoder) clearMissing(at reg.GPVirtual) {
	row, zero, missing, done := q.row(at), q.e.zero(), q.e.label("missing"), q.e.label("cleared")
	q.e.Label(missing)
	q.e.CMPQ(row, operand.U32(uint32(4*q.e.lanes()*q.e.lanes())))
	q.e.JAE(operand.LabelRef(done))
	for _, m := range q.extremes {
		q.e.VMOVUPS(zero, m.Idx(row, 1))
	}
	q.e.ADDQ(operand.Imm(uint64(4*q.e.lanes())), row)
	q.e.JMP(operand.LabelRef(missing))
	q.e.Label(done)
}

func (q blockCoder) comparisons() [2]func(...operand.Op) {
	if q.minimum {
		return [2]func(...operand.Op){q.e.VMINPS, q.e.VMAXPS}
	}
	return [2]func(...operand.Op){q.e.VPMAXSD, q.e.VPMAXUD}
}

// scale finds the heads and the inverses of the blocks of a group, and bits: those from 16 on of blocks that are not
// finite, those before of these and of blocks whose first number is to be looked up.
func (q blockCoder) scale(bits reg.GPVirtual) {
	const equal, nearest = operand.U8(0), operand.U8(0)
	var found [2]reg.VecVirtual
	for i, op := range q.comparisons() {
		var fours []reg.VecVirtual
		for row := 0; row < q.e.lanes(); row += 4 {
			var rows []reg.VecVirtual
			for j := range 4 {
				rows = append(rows, q.e.keep(q.extremes[i].Offset(4*q.e.lanes()*(row+j))))
			}
			fours = append(fours, q.e.mostOfFour(op, rows))
		}
		found[i] = q.e.mostOfAll(op, fours)
	}
	zero, chosen, d, statistic, head, inverse := q.e.zero(), found[1], q.e.vector(), q.e.vector(), q.e.vector(), q.e.vector()
	halves, magnitudes, infinity, one := q.e.half(), q.e.kept(q.e.magnitudes()), q.e.kept(q.e.wide32("exponent32", infinity32)), q.e.wide32("one32", 0x3f800000)
	var doubt reg.Register
	name := operation.Element(q.e.to).String()
	if q.minimum {
		chosen, one = found[0], q.e.float32("minusOne", -1)
		q.e.VSUBPS(chosen, found[1], statistic)
		q.e.and(magnitudes, statistic, statistic)
		q.e.VDIVPS(q.e.kept(q.e.float32("divisor"+name, q.divisor)), statistic, d)
		doubt = q.e.where(equal, zero, chosen)
	} else {
		other := q.e.vector()
		for _, v := range found {
			q.e.VADDPS(zero, v, v) // of zeros the positive one
		}
		q.e.and(magnitudes, found[0], other)
		q.e.and(magnitudes, chosen, statistic)
		q.e.VPMAXUD(other, statistic, statistic)
		doubt = q.e.lanesRegister()
		q.e.VPSUBD(chosen, found[0], d)
		q.e.VPCMPEQD(q.e.wide32("sign32", 1<<31), d, doubt)
		q.e.choose(q.e.where(equal, statistic, found[0]), found[0], chosen, chosen)
		q.e.VMULPS(q.e.kept(q.e.float32("divided"+name, 1/q.divisor)), chosen, d)
	}
	q.e.VMOVUPS(chosen, q.chosen)
	q.e.VCVTPS2PH(nearest, d, halves)
	q.e.VPMOVZXWD(halves, head)
	if q.minimum {
		m := q.e.vector()
		q.e.VCVTPS2PH(nearest, chosen, halves)
		q.e.VPMOVZXWD(halves, m)
		q.e.VPSLLD(operand.Imm(16), m, m)
		q.e.VPADDD(m, head, head)
	}
	q.e.VMOVUPS(head, q.heads)
	q.e.VMOVUPS(one, inverse)
	q.e.VDIVPS(d, inverse, inverse)
	q.e.and(magnitudes, inverse, d)
	q.e.choose(q.e.where(below, infinity, d), inverse, zero, inverse)
	q.e.VMOVUPS(inverse, q.inverses)
	notFinite := q.e.GP32()
	move := q.e.VMOVMSKPS
	if q.e.avx512 {
		move = q.e.KMOVW
	}
	move(doubt, bits.As32())
	move(q.e.where(notBelow, infinity, statistic), notFinite)
	q.e.ORL(notFinite, bits.As32())
	q.e.SHLL(operand.Imm(16), notFinite)
	q.e.ORL(notFinite, bits.As32())
}

// writeBlocks writes the blocks of a group.
func (q blockCoder) writeBlocks(blocks, bits reg.GPVirtual) {
	block, usual, special, next, same, first, done := q.e.label("block"), q.e.label("usual"), q.e.label("special"), q.e.label("next"), q.e.label("same"), q.e.label("first"), q.e.label("written")
	at, x, y, head, inverse, least := q.e.GP64(), q.e.GP64(), q.e.GP64(), q.e.GP32(), q.e.vector(), q.e.vector()
	to := operand.Mem{Base: y}
	q.e.XORQ(at, at)
	q.e.jumpIfZero(blocks, done)
	q.e.Label(block)
	q.e.MOVQ(q.these[0].Idx(at, 8), x)
	q.e.MOVQ(q.these[1].Idx(at, 8), y)
	q.e.BTL(at.As32(), bits.As32())
	q.e.JCS(operand.LabelRef(special))
	q.e.Label(usual)
	q.e.MOVL(q.heads.Idx(at, 4), head)
	q.e.VBROADCASTSS(q.inverses.Idx(at, 4), inverse)
	if q.minimum {
		q.e.MOVL(head, to)
		q.e.VBROADCASTSS(q.chosen.Idx(at, 4), least)
	} else {
		q.e.MOVW(head.As16(), to)
	}
	var list []reg.VecVirtual
	for i := 0; i < blockNumbers; i += q.e.lanes() {
		v, from := q.e.vector(), operand.Mem{Base: x, Disp: 4 * i}
		if q.minimum {
			q.e.VSUBPS(from, least, v)
			q.e.VMULPS(inverse, v, v)
		} else {
			q.e.VMULPS(from, inverse, v)
		}
		list = append(list, v)
	}
	q.write(to, list)
	q.e.Label(next)
	q.e.INCQ(at)
	q.e.CMPQ(at, blocks)
	q.e.JB(operand.LabelRef(block))
	q.e.Label(done)
	q.e.rare = append(q.e.rare, func() {
		q.e.Label(special)
		i, number, v := q.e.GP64(), head, q.e.XMM()
		q.e.LEAL(operand.Mem{Base: at, Disp: 16}, i.As32())
		q.e.BTL(i.As32(), bits.As32())
		q.e.JCC(operand.LabelRef(same))
		q.e.VPXOR(v, v, v)
		q.e.VMOVQ(v, to)
		q.e.VMOVUPS(v, to.Offset(q.size()-16))
		q.e.MOVW(operand.U16(0x7e00), to)
		q.e.JMP(operand.LabelRef(next))
		q.e.Label(same)
		q.e.XORQ(i, i)
		q.e.Label(first)
		q.e.CMPQ(i, operand.Imm(blockNumbers)) // x may be changed meanwhile
		q.e.JE(operand.LabelRef(usual))
		q.e.MOVL(operand.Mem{Base: x, Index: i, Scale: 4}, number)
		q.e.INCQ(i)
		q.e.XORL(q.chosen.Idx(at, 4), number)
		q.e.ADDL(number, number)
		q.e.JNZ(operand.LabelRef(first))
		q.e.JCC(operand.LabelRef(usual)) // it has the same sign
		if q.minimum {
			q.e.XORL(operand.U32(1<<31), q.heads.Idx(at, 4))
		} else {
			q.e.XORL(operand.U32(1<<15), q.heads.Idx(at, 4))
			q.e.XORL(operand.U32(1<<31), q.inverses.Idx(at, 4))
		}
		q.e.JMP(operand.LabelRef(usual))
	})
}

// write writes the codes of numbers that have been divided by d.
func (q blockCoder) write(to operand.Mem, numbers []reg.VecVirtual) {
	half, largest := q.e.float32("half"+operation.Element(q.e.to).String(), q.bias+0.5), uint32(15)
	if q.fifth {
		largest = 31
	}
	for _, v := range numbers {
		q.e.VADDPS(half, v, v)
		q.e.VCVTTPS2DQ(v, v)
	}
	if q.e.avx512 {
		low, high := numbers[0], numbers[1]
		for _, v := range numbers {
			q.e.VPMINSD(q.e.wide32("largestCode"+operation.Element(q.e.to).String(), largest), v, v)
		}
		if q.fifth {
			k, k2, bit := q.e.K(), q.e.K(), q.e.wide32("fifth32", 16)
			q.e.VPTESTMD(bit, low, k)
			q.e.VPTESTMD(bit, high, k2)
			q.e.KUNPCKWD(k, k2, k)
			q.e.KMOVD(k, to.Offset(q.fifths()))
			for _, v := range numbers {
				q.e.VPANDD(q.e.wide32("low32", 15), v, v)
			}
		}
		q.e.VPSLLD(operand.Imm(4), high, high)
		q.e.VPORD(high, low, low)
		q.e.VPMOVDB(low, to.Offset(q.codes()))
		return
	}
	codes, high := q.e.inOrder(q.e.packedBytes(q.e.VPACKUSWB, q.e.words(q.e.VPACKSSDW, numbers)), q.order), q.e.XMM()
	q.e.VPMINUB(q.e.wide32("largestCodes"+operation.Element(q.e.to).String(), largest*0x01010101), codes, codes)
	if q.fifth {
		bits, mask := q.e.vector(), q.e.GP32()
		q.e.VPSLLW(operand.Imm(3), codes, bits)
		q.e.VPMOVMSKB(bits, mask)
		q.e.MOVL(mask, to.Offset(q.fifths()))
		q.e.VPAND(q.e.lowBits(), codes, codes)
	}
	q.e.VEXTRACTI128(operand.Imm(1), codes, high)
	q.e.VPSLLW(operand.Imm(4), high, high)
	q.e.VPOR(high, codes.AsX(), high)
	q.e.VMOVUPS(high, to.Offset(q.codes()))
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
