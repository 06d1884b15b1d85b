package amd64

import (
	"math"

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
	q := blockCoder{e, blockFormats[e.to]}
	e.eachVector(func(y, x, left reg.GPVirtual) {
		e.spans(left, whole(blockNumbers), func(part) {
			from, to := operand.Mem{Base: x}, operand.Mem{Base: y}
			notFinite, done := e.label("notFinite"), e.label("written")
			e.fetchMeanwhile(from, 4*blockNumbers)
			numbers := q.load(from)
			if q.minimum {
				q.spread(x, to, numbers, notFinite)
			} else {
				q.largest(x, to, numbers, notFinite)
			}
			q.write(to, numbers)
			e.Label(done)
			e.ADDQ(operand.U32(4*blockNumbers), x)
			e.ADDQ(operand.Imm(uint64(q.size())), y)
			e.rare = append(e.rare, func() {
				e.Label(notFinite)
				zero := e.XMM()
				e.VPXOR(zero, zero, zero)
				e.VMOVQ(zero, to)
				e.VMOVUPS(zero, to.Offset(q.size()-16))
				e.MOVW(operand.U16(0x7e00), to)
				e.JMP(operand.LabelRef(done))
			})
		})
	})
}

// blockCoder writes blocks.
type blockCoder struct {
	*emitter
	blockFormat
}

// load loads a block: on AVX-512 in order, on AVX2 so that packing the registers gives each
// half of the numbers in order.
func (q blockCoder) load(from operand.Mem) (list []reg.VecVirtual) {
	for i := 0; i < blockNumbers/q.lanes(); i++ {
		v := q.vector()
		if q.avx512 {
			q.VMOVUPS(from.Offset(64*i), v)
		} else {
			q.VMOVUPS(from.Offset(16*i), v.AsX())
			q.VINSERTF128(operand.Imm(1), from.Offset(16*i+64), v, v)
		}
		list = append(list, v)
	}
	return list
}

// of returns op of all numbers, in every lane.
func (q blockCoder) of(op func(...operand.Op), list []reg.VecVirtual) reg.VecVirtual {
	v, x, other := q.vector(), q.XMM(), q.XMM()
	op(list[1], list[0], v)
	for _, w := range list[2:] {
		op(w, v, v)
	}
	if q.avx512 {
		upper := q.YMM()
		q.VEXTRACTI64X4(operand.Imm(1), v, upper)
		op(upper, v.AsY(), v.AsY())
	}
	q.VEXTRACTI128(operand.Imm(1), v.AsY(), x)
	op(v.AsX(), x, x)
	for _, order := range []uint64{0x4e, 0xb1} {
		q.VPSHUFD(operand.Imm(order), x, other)
		op(other, x, x)
	}
	q.VBROADCASTSS(x, v)
	return v
}

// first returns the first number for which a comparison of its register holds.
func (q blockCoder) first(x reg.GPVirtual, list []reg.VecVirtual, compare func(v reg.VecVirtual, to operand.Op)) reg.VecVirtual {
	at, v := q.GP64(), q.XMM()
	if q.avx512 {
		low, high := q.K(), q.K()
		compare(list[0], low)
		compare(list[1], high)
		q.KUNPCKWD(low, high, low)
		q.KMOVD(low, at.As32())
	} else {
		var equal []reg.VecVirtual
		for _, v := range list {
			is := q.vector()
			compare(v, is)
			equal = append(equal, is)
		}
		q.VPMOVMSKB(q.packedBytes(q.VPACKSSWB, q.words(q.VPACKSSDW, equal)), at.As32())
	}
	q.BSFL(at.As32(), at.As32())
	q.VMOVSS(operand.Mem{Base: x, Index: at, Scale: 4}, v)
	return v
}

// putHalf writes a float32 as float16.
func (q blockCoder) putHalf(v reg.VecVirtual, to operand.Mem) {
	const nearest = operand.U8(0)
	half := q.XMM()
	q.VCVTPS2PH(nearest, v, half)
	q.VPEXTRW(operand.Imm(0), half, to)
}

// unlessFinite goes to a label where a positive number is infinite or NaN.
func (q blockCoder) unlessFinite(v reg.VecVirtual, label string) {
	bits := q.GP32()
	q.VMOVD(v.AsX(), bits)
	q.CMPL(bits, operand.U32(infinity32))
	q.JCC(operand.LabelRef(label))
}

// scale writes a statistic divided, and multiplies numbers by the inverse of that, or by 0 where it is infinite.
func (q blockCoder) scale(d reg.VecVirtual, to operand.Mem, numbers []reg.VecVirtual) {
	const less = operand.U8(0x11)
	inverse, finite, all := q.XMM(), q.XMM(), q.vector()
	q.putHalf(d, to)
	q.VMOVUPS(q.wide32("one32", 0x3f800000), inverse)
	q.VDIVPS(d, inverse, inverse)
	q.VPAND(q.magnitudes(), inverse, finite)
	q.VCMPPS(less, q.wide32("exponent32", infinity32), finite, finite)
	q.VPAND(finite, inverse, inverse)
	q.VBROADCASTSS(inverse, all)
	for _, v := range numbers {
		q.VMULPS(all, v, v)
	}
}

// largest divides numbers by the d of the number of the largest magnitude.
func (q blockCoder) largest(x reg.GPVirtual, to operand.Mem, numbers []reg.VecVirtual, notFinite string) {
	var magnitudes []reg.VecVirtual
	for _, v := range numbers {
		m := q.vector()
		q.and(q.magnitudes(), v, m)
		magnitudes = append(magnitudes, m)
	}
	amax := q.of(q.VPMAXUD, magnitudes)
	q.unlessFinite(amax, notFinite)
	d, zero := q.first(x, magnitudes, func(v reg.VecVirtual, to operand.Op) { q.VPCMPEQD(amax, v, to) }), q.XMM()
	q.VXORPS(zero, zero, zero)
	q.VADDPS(zero, d, d) // of zeros the positive one
	q.VMULPS(q.float32("divided"+operation.Element(q.to).String(), 1/q.divisor), d, d)
	q.scale(d, to, numbers)
}

// spread subtracts the least number, and divides by the d of the range. Of zeros the first is the least: a
// minimum in vectors may have the other sign.
func (q blockCoder) spread(x reg.GPVirtual, to operand.Mem, numbers []reg.VecVirtual, notFinite string) {
	const equal, unordered = operand.U8(0), operand.U8(3)
	any, zero, signed := q.GP32(), q.label("zero"), q.label("signed")
	if q.avx512 {
		k := q.K()
		q.VCMPPS(unordered, numbers[1], numbers[0], k)
		q.KORTESTW(k, k)
	} else {
		a, b := q.vector(), q.vector()
		q.VCMPPS(unordered, numbers[1], numbers[0], a)
		q.VCMPPS(unordered, numbers[3], numbers[2], b)
		q.VORPS(a, b, a)
		q.VMOVMSKPS(a, any)
		q.TESTL(any, any)
	}
	q.JNZ(operand.LabelRef(notFinite))
	least, most, m, d, bits := q.of(q.VMINPS, numbers), q.of(q.VMAXPS, numbers), q.XMM(), q.XMM(), q.GP32()
	q.VSUBPS(least.AsX(), most.AsX(), d)
	q.VPAND(q.magnitudes(), d, d)
	q.unlessFinite(d, notFinite)
	q.VMOVAPS(least.AsX(), m)
	q.VMOVD(m, bits)
	q.ADDL(bits, bits)
	q.JZ(operand.LabelRef(zero))
	q.Label(signed)
	q.rare = append(q.rare, func() {
		q.Label(zero)
		q.VMOVAPS(q.first(x, numbers, func(v reg.VecVirtual, to operand.Op) { q.VCMPPS(equal, least, v, to) }), m)
		q.JMP(operand.LabelRef(signed))
	})
	q.putHalf(m, to.Offset(2))
	for _, v := range numbers {
		q.VSUBPS(least, v, v)
	}
	q.VDIVPS(q.float32("divisor"+operation.Element(q.to).String(), q.divisor), d, d)
	q.scale(d, to, numbers)
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
	codes, high := q.packedBytes(q.VPACKUSWB, q.words(q.VPACKSSDW, numbers)), q.XMM()
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
