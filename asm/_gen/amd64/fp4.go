package amd64

import (
	"math"

	"github.com/go-posenc/posenc/asm/_gen/operation"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fp4Format is a row of generic's formats with codes of E2M1: see there.
type fp4Format struct {
	numbers int  // of a block
	e4m3    bool // scales are E4M3, or else E8M0
}

var fp4Formats = map[element]fp4Format{
	element(operation.MXFP4): {numbers: 32},
	element(operation.NVFP4): {numbers: 16, e4m3: true},
}

// fp4Coder writes blocks. On AVX2 it writes 32 numbers at once: of NVFP4 a block in the lower halves of
// registers, and in the upper halves the next one, if there is one.
type fp4Coder struct {
	e *emitter
	fp4Format
	pairs bool
	raise reg.VecVirtual

	toHalves, toFours reg.VecVirtual // sums with them are integers in the low bits
}

const toInteger = 0x1.8p23

func quantizeFP4(e *emitter) {
	f := fp4Formats[e.to]
	q := fp4Coder{e: e, fp4Format: f, pairs: f.e4m3 && !e.avx512}
	q.toHalves, q.toFours = q.e.keep(q.e.float32("toHalves", toInteger)), q.e.keep(q.e.float32("toFours", toInteger+4))
	if !q.e4m3 {
		q.raise = e.broadcast32("raise", q.narrow())
	}
	e.eachVector(func(y, x, left reg.GPVirtual) {
		e.spans(left, whole(q.numbers), func(part) {
			from, to := operand.Mem{Base: x}, operand.Mem{Base: y}
			each, size := uint32(4*q.numbers), 1+q.numbers/2
			numbers := q.load(from, left)
			magnitudes := q.magnitudesOf(numbers)
			var signs reg.VecVirtual
			if !e.avx512 {
				signs = q.e.signBytes(numbers)
			}
			scale, inverse, lanes := q.scale(q.largest(magnitudes))
			for _, m := range magnitudes {
				e.VMULPS(inverse, m, m)
			}
			e.VPEXTRB(operand.Imm(0), scale.AsX(), to)
			if e.avx512 {
				for i, v := range numbers {
					e.VMOVQ(q.packed8(magnitudes[i], v, lanes), to.Offset(1+8*i))
				}
			} else {
				codes, last := q.packed16(magnitudes, signs, lanes.(reg.VecVirtual)), e.label("last")
				if q.pairs {
					e.VMOVQ(codes, to.Offset(1))
					e.CMPQ(left, operand.Imm(uint64(2*q.numbers)))
					e.JLT(operand.LabelRef(last))
					e.VEXTRACTI128(operand.Imm(1), scale, scale.AsX())
					e.VPEXTRB(operand.Imm(0), scale.AsX(), to.Offset(size))
					e.VPEXTRQ(operand.Imm(1), codes, to.Offset(size+1))
					e.SUBQ(operand.Imm(uint64(q.numbers)), left)
					e.ADDQ(operand.U32(each), x)
					e.ADDQ(operand.Imm(uint64(size)), y)
					e.Label(last)
				} else {
					e.VMOVUPS(codes, to.Offset(1))
				}
			}
			e.ADDQ(operand.U32(each), x)
			e.ADDQ(operand.Imm(uint64(size)), y)
		})
	})
}

// load loads numbers: on AVX2 so that packing the registers gives each half of the numbers in order.
func (q fp4Coder) load(from operand.Mem, left reg.GPVirtual) (list []reg.VecVirtual) {
	if q.e.avx512 {
		q.e.fetchMeanwhile(from, 4*q.numbers)
		for i := 0; i < q.numbers; i += q.e.lanes() {
			list = append(list, q.e.keep(from.Offset(4*i)))
		}
		return list
	}
	q.e.fetchMeanwhile(from, 128)
	for i := range 4 {
		v := q.e.vector()
		q.e.VMOVUPS(from.Offset(16*i), v.AsX())
		list = append(list, v)
	}
	loaded := q.e.label("loaded")
	if q.pairs {
		q.e.CMPQ(left, operand.Imm(uint64(2*q.numbers)))
		q.e.JLT(operand.LabelRef(loaded))
	}
	for i, v := range list {
		q.e.VINSERTF128(operand.Imm(1), from.Offset(16*i+64), v, v)
	}
	q.e.Label(loaded)
	return list
}

func (q fp4Coder) magnitudesOf(numbers []reg.VecVirtual) (list []reg.VecVirtual) {
	for _, v := range numbers {
		m := q.e.vector()
		q.e.and(q.e.magnitudes(), v, m)
		list = append(list, m)
	}
	return list
}

// largest returns the bits of the largest magnitude of a block in all its lanes.
func (q fp4Coder) largest(magnitudes []reg.VecVirtual) reg.VecVirtual {
	amax, other := magnitudes[0], q.e.vector()
	larger := func(v reg.VecVirtual) {
		most := q.e.vector()
		q.e.VPMAXUD(v, amax, most)
		amax = most
	}
	for _, m := range magnitudes[1:] {
		larger(m)
	}
	const halves, neighbours = operand.U8(0x4e), operand.U8(0xb1)
	switch {
	case q.e.avx512:
		q.e.VSHUFI64X2(halves, amax, amax, other)
		larger(other)
		q.e.VSHUFI64X2(neighbours, amax, amax, other)
		larger(other)
	case !q.pairs:
		q.e.VPERMQ(halves, amax, other)
		larger(other)
	}
	for _, order := range []operand.U8{halves, neighbours} {
		q.e.VPSHUFD(order, amax, other)
		larger(other)
	}
	return amax
}

// narrow returns a register for a scale: on AVX2 one for each half.
func (q fp4Coder) narrow() reg.VecVirtual {
	if q.e.avx512 {
		return q.e.XMM()
	}
	return q.e.YMM()
}

// scale returns the scale of a block as a byte, its inverse, and the lanes of blocks that are finite, on AVX2 of
// those that are not.
func (q fp4Coder) scale(amax reg.VecVirtual) (scale, inverse reg.VecVirtual, lanes reg.Register) {
	scale, inverse = q.narrow(), q.narrow()
	a, subtract, less, nan := lanesOf(amax, scale), q.e.VPSUBUSW, q.e.wide32("two32", 2), uint32(255)
	if q.e4m3 {
		// A power of two is added whose last bit is the last bit of the scale.
		power, unit := q.e.float32("power20", 1<<20), q.narrow()
		q.e.VDIVPS(q.e.float32("six32", 6), a, scale)
		q.e.VPMAXUD(q.e.wide32("leastE4M3", float8s[e4m3s].least), scale, scale)
		q.e.VPMINUD(q.e.wide32("largestE4M3", float8s[e4m3s].largest), scale, scale)
		q.e.VPAND(q.e.wide32("exponent32", infinity32), scale, unit)
		q.e.VFMADD231PS(power, unit, scale)
		q.e.VFNMADD231PS(power, unit, scale)
		q.e.VMOVUPS(q.e.wide32("one32", 0x3f800000), inverse)
		q.e.VDIVPS(scale, inverse, inverse)
		q.e.VPSRLD(operand.Imm(20), scale, scale)
		subtract, less, nan = q.e.VPSUBD, q.e.wide32("biasE4M3", (127-7)<<3), 0x7f
	} else {
		// A sixth of the number after 1.5*2^-125 is rounded down to 2^-127.
		q.e.VPCMPEQD(q.e.wide32("roundedDown32", 0x01400001), a, scale)
		q.e.VPADDD(a, scale, scale)
		q.e.VPADDD(q.raise, scale, scale)
		q.e.VPSRLD(operand.Imm(23), scale, scale)
	}
	if q.e.avx512 {
		code := q.narrow()
		finite := q.e.K()
		q.e.VPCMPUD(operand.Imm(1), q.e.wide32("exponent32", infinity32), amax, finite) // less
		q.e.VMOVUPS(q.e.wide32("scaleNaN"+operation.Element(q.e.to).String(), nan), code)
		subtract(less, scale, finite, code)
		scale, lanes = code, finite
	} else {
		nan := q.narrow()
		q.e.VPCMPGTD(q.e.wide32("finite32", infinity32-1), amax, nan)
		subtract(less, scale, scale)
		if q.e4m3 { // that of infinity is the code before the NaN
			q.e.VPSUBD(nan, scale, scale)
		} else {
			q.e.VPOR(nan, scale, scale)
		}
		lanes = nan
	}
	if !q.e4m3 {
		q.e.VMOVUPS(q.e.wide32("exponentOfInverse", 254), inverse)
		q.e.VPSUBD(scale, inverse, inverse)
		q.e.VPSLLD(operand.Imm(23), inverse, inverse)
	}
	if q.e.avx512 {
		wide := q.e.vector()
		q.e.VBROADCASTSS(inverse, wide)
		inverse = wide
	}
	return scale, inverse, lanes
}

// code returns the codes of magnitudes in the low bits of toInteger: as in generic, the least of three roundings.
func (q fp4Coder) code(m reg.VecVirtual) reg.VecVirtual {
	halves, ones, fours := q.e.vector(), q.e.vector(), q.e.vector()
	q.e.VMOVAPS(q.toHalves, halves)
	q.e.VMOVAPS(q.toFours, fours)
	q.e.VFMADD231PS(q.e.float32("two", 2), m, halves)
	q.e.VADDPS(q.e.float32("toOnes", toInteger+2), m, ones)
	q.e.VFMADD231PS(q.e.float32("half", 0.5), m, fours)
	q.e.VPMINUD(halves, ones, ones)
	q.e.VPMINUD(ones, fours, fours)
	return fours
}

// packed8 returns 8 bytes of the codes of 16 numbers, or of 0 in a block that is not finite.
func (q fp4Coder) packed8(m, v reg.VecVirtual, finite reg.Register) reg.VecVirtual {
	const orAnd, choose = operand.U8(0xf8), operand.U8(0xe4)
	code, next, packed := q.code(m), q.e.vector(), q.e.XMM()
	q.e.VPMINUD(q.e.float32("toLargest", toInteger+7), code, code)
	q.e.VPSRLD(operand.Imm(28), v, v)
	q.e.VPTERNLOGD(orAnd, q.e.wide32("eight32", 8), v, code)
	q.e.VPSRLQ(operand.Imm(28), code, next)
	q.e.VPTERNLOGD(choose, q.e.lowBits(), next, code)
	q.e.VPMOVQB_Z(code, finite, packed)
	return packed
}

// packed16 returns 16 bytes of the codes of four registers, or of 0 in blocks that are not finite.
func (q fp4Coder) packed16(magnitudes []reg.VecVirtual, signs, notFinite reg.VecVirtual) reg.VecVirtual {
	var list []reg.VecVirtual
	for _, m := range magnitudes {
		code := q.code(m)
		q.e.VPSUBD(q.toHalves, code, code)
		list = append(list, code)
	}
	codes, high := q.e.packedBytes(q.e.VPACKUSWB, q.e.words(q.e.VPACKSSDW, list)), q.e.XMM()
	q.e.VPMINUB(q.e.wide32("largestE2M1", 0x07070707), codes, codes)
	q.e.VPSRLW(operand.Imm(4), signs, signs)
	q.e.VPAND(q.e.wide32("eight8", 0x08080808), signs, signs)
	q.e.VPOR(signs, codes, codes)
	q.e.VPMADDUBSW(q.e.wide32("nibbles8", 0x10011001), codes, codes)
	q.e.VPANDN(codes, notFinite, codes)
	q.e.VEXTRACTI128(operand.Imm(1), codes, high)
	q.e.VPACKUSWB(high, codes.AsX(), high)
	return high
}

// fp4Reader writes the numbers of blocks: twice each number times half the scale.
type fp4Reader struct {
	e *emitter
	fp4Format
	twice        reg.VecVirtual // AVX-512: of each code
	upper, lower reg.VecVirtual // AVX2: bytes of it, of which there are two
	zero         reg.VecVirtual
}

// dequantizeFP4 writes a block at a time. Halves of scales of E4M3 are 2^-7 times too small.
func dequantizeFP4(e *emitter) {
	r := fp4Reader{e: e, fp4Format: fp4Formats[e.from], twice: e.vector()}
	twice := [16]float32{0, 1, 2, 3, 4, 6, 8, 12, float32(math.Copysign(0, -1)), -1, -2, -3, -4, -6, -8, -12}
	name, unit := "e2m1", float32(1)
	if r.e4m3 {
		name, unit = name+"E4M3", 1<<7
	}
	bits := func(i int) uint32 { return math.Float32bits(twice[i] * unit) }
	upper, lower := e.eachByte(name+"Upper", 16, func(i int) uint32 { return bits(i) >> 24 }), e.eachByte(name+"Lower", 16, func(i int) uint32 { return bits(i) >> 16 })
	r.upper, r.lower, r.zero = e.vector(), e.vector(), e.vector()
	if e.avx512 {
		e.VPMOVZXBD(upper, r.upper)
		e.VPMOVZXBD(lower, r.lower)
		e.VPSLLD(operand.Imm(24), r.upper, r.upper)
		e.VPSLLD(operand.Imm(16), r.lower, r.lower)
		e.VPORD(r.upper, r.lower, r.twice)
	} else {
		e.VBROADCASTI128(upper, r.upper)
		e.VBROADCASTI128(lower, r.lower)
		e.clear(r.zero)
	}
	e.eachVector(func(y, x, left reg.GPVirtual) {
		e.spans(left, whole(r.numbers), func(part) {
			r.write(r.half(operand.Mem{Base: x}), operand.Mem{Base: x, Disp: 1}, operand.Mem{Base: y})
			e.ADDQ(operand.U32(uint32(4*r.numbers)), y)
			e.ADDQ(operand.Imm(uint64(1+r.numbers/2)), x)
		})
	})
}

// eachByte returns the address of n bytes.
func (e *emitter) eachByte(name string, n int, each func(i int) uint32) operand.Mem {
	return e.controls(name, 4, n/4, func(i uint32) (four uint32) {
		for j := range 4 {
			four |= each(4*int(i)+j) & 255 << (8 * j)
		}
		return four
	})
}

// half returns half of a scale in every lane.
func (r fp4Reader) half(from operand.Mem) reg.VecVirtual {
	v, scale, other, special, found := r.e.vector(), r.e.GP32(), r.e.GP32(), r.e.label("special"), r.e.label("scale")
	if r.e4m3 {
		r.e.MOVBLSX(from, scale)
		const nan = 0x7e00 // of float16
		r.e.LEAL(operand.Mem{Base: scale, Disp: 1}, other)
		r.e.TESTL(operand.U32(0x7f), other)
		r.e.JEQ(operand.LabelRef(special))
		r.e.SHLL(operand.Imm(7), scale)
		r.e.ANDL(operand.U32(0xbf80), scale)
		r.e.Label(found)
		r.e.VMOVD(scale, v.AsX())
		r.e.VCVTPH2PS(v.AsX(), v.AsX())
		r.e.rare = append(r.e.rare, func() {
			r.e.Label(special)
			r.e.MOVL(operand.U32(nan), scale)
			r.e.JMP(operand.LabelRef(found))
		})
	} else {
		const nan = 0x7fc00000
		const normal = 253 // scales from 2 on
		r.e.MOVBLZX(from, scale)
		r.e.LEAL(operand.Mem{Base: scale, Disp: -2}, other)
		r.e.CMPL(other, operand.U32(normal))
		r.e.JCC(operand.LabelRef(special))
		r.e.INCL(other)
		r.e.SHLL(operand.Imm(23), other)
		r.e.Label(found)
		r.e.VMOVD(other, v.AsX())
		r.e.rare = append(r.e.rare, func() {
			r.e.Label(special)
			r.e.LEAL(operand.Mem{Base: scale, Disp: 1}, other) // half of the scale 0 is 2^-128, the float32 of the bits 1<<21
			r.e.SHLL(operand.Imm(21), other)
			r.e.CMPL(scale, operand.Imm(2))
			r.e.JCS(operand.LabelRef(found))
			r.e.MOVL(operand.U32(nan), other)
			r.e.JMP(operand.LabelRef(found))
		})
	}
	r.e.VBROADCASTSS(v.AsX(), v)
	return v
}

// write writes the numbers of a block.
func (r fp4Reader) write(half reg.VecVirtual, from, to operand.Mem) {
	if r.e.avx512 {
		r.e.VMULPS(r.twice, half, half)
		put := func(codes reg.VecVirtual, at int) {
			v := r.e.vector()
			r.e.VPERMPS(half, codes, v)
			r.e.VMOVUPS(v, to.Offset(4*at))
		}
		codes, upper := r.e.vector(), r.e.vector()
		for at := 0; at < r.numbers; at += 16 {
			r.e.VPMOVZXBQ(from.Offset(at/2), codes)
			r.e.VPSLLQ(operand.Imm(28), codes, upper)
			r.e.VPORD(upper, codes, codes)
			put(codes, at)
		}
		return
	}
	codes, upper := r.e.YMM(), r.e.YMM()
	if r.numbers == 16 {
		r.e.VPBROADCASTQ(from, codes)
	} else {
		r.e.VBROADCASTI128(from, codes)
	}
	number := func(i int) int { return i%16/4*8 + i/16*4 + i%4 } // of byte i, so that unpacking gives registers in order
	r.e.VPSHUFB(r.e.eachByte("byteOfPair", 32, func(i int) uint32 { return uint32(number(i)/2 | i%2<<7) }), codes, codes)
	r.e.VPSLLW(operand.Imm(4), codes, upper)
	r.e.VPOR(upper, codes, codes)
	r.e.VPAND(r.e.lowBits(), codes, codes)
	r.e.VPSHUFB(codes, r.upper, upper)
	r.e.VPSHUFB(codes, r.lower, codes)
	for i, pair := range []func(...operand.Op){r.e.VPUNPCKLBW, r.e.VPUNPCKHBW}[:r.numbers/16] {
		words := r.e.YMM()
		pair(upper, codes, words)
		for j, unpack := range []func(...operand.Op){r.e.VPUNPCKLWD, r.e.VPUNPCKHWD} {
			v := r.e.YMM()
			unpack(words, r.zero, v)
			r.e.VMULPS(half, v, v)
			r.e.VMOVUPS(v, to.Offset(64*i+32*j))
		}
	}
}
