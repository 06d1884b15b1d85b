package amd64

import (
	"math"

	"github.com/go-posenc/posenc/asm/_gen/operation"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fp4Format is a row of generic's formats with codes of E2M1: see there.
type fp4Format struct {
	numbers, group int  // of a block, and of a scale
	e4m3           bool // scales are E4M3, or else E8M0
	ggml           bool
}

var fp4Formats = map[element]fp4Format{
	element(operation.MXFP4):     {numbers: 32, group: 32},
	element(operation.NVFP4):     {numbers: 16, group: 16, e4m3: true},
	element(operation.GGMLMXFP4): {numbers: 32, group: 32, ggml: true},
	element(operation.GGMLNVFP4): {numbers: 64, group: 16, e4m3: true, ggml: true},
}

// fp4Coder writes blocks. On AVX2 it writes 32 numbers at once: of NVFP4 a block in the lower halves of
// registers, and in the upper halves the next one, if there is one.
type fp4Coder struct {
	*emitter
	fp4Format
	pairs bool
	raise reg.VecVirtual
}

func quantizeFP4(e *emitter) {
	f := fp4Formats[e.to]
	q := fp4Coder{emitter: e, fp4Format: f, pairs: f.e4m3 && !e.avx512}
	if !q.e4m3 {
		q.raise = e.broadcast32("raise", q.narrow())
	}
	e.eachVector(func(y, x, left reg.GPVirtual) {
		e.spans(left, whole(q.numbers), func(part) {
			from, to := operand.Mem{Base: x}, operand.Mem{Base: y}
			each, size := uint32(4*q.numbers), 1+q.numbers/2
			numbers := q.load(from, left)
			amax := q.largest(numbers)
			scale, inverse, lanes := q.scale(amax)
			for _, v := range numbers {
				e.VMULPS(inverse, v, v)
			}
			e.VPEXTRB(operand.Imm(0), scale.AsX(), to)
			if e.avx512 {
				for i, v := range numbers {
					e.VMOVQ(q.packed8(v, lanes), to.Offset(1+8*i))
				}
			} else {
				codes, last := q.packed16(numbers, lanes.(reg.VecVirtual)), e.label("last")
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
	if q.avx512 {
		q.fetchMeanwhile(from, 4*q.numbers)
		for i := 0; i < q.numbers; i += q.lanes() {
			list = append(list, q.keep(from.Offset(4*i)))
		}
		return list
	}
	q.fetchMeanwhile(from, 128)
	for i := range 4 {
		v := q.vector()
		q.VMOVUPS(from.Offset(16*i), v.AsX())
		list = append(list, v)
	}
	loaded := q.label("loaded")
	if q.pairs {
		q.CMPQ(left, operand.Imm(uint64(2*q.numbers)))
		q.JLT(operand.LabelRef(loaded))
	}
	for i, v := range list {
		q.VINSERTF128(operand.Imm(1), from.Offset(16*i+64), v, v)
	}
	q.Label(loaded)
	return list
}

// largest returns the bits of the largest magnitude of a block in all its lanes.
func (q fp4Coder) largest(numbers []reg.VecVirtual) reg.VecVirtual {
	amax, other := q.vector(), q.vector()
	for i, v := range numbers {
		if i == 0 {
			q.and(q.magnitudes(), v, amax)
			continue
		}
		q.and(q.magnitudes(), v, other)
		q.VPMAXUD(other, amax, amax)
	}
	const halves, neighbours = operand.U8(0x4e), operand.U8(0xb1)
	switch {
	case q.avx512:
		q.VSHUFI64X2(halves, amax, amax, other)
		q.VPMAXUD(other, amax, amax)
		q.VSHUFI64X2(neighbours, amax, amax, other)
		q.VPMAXUD(other, amax, amax)
	case !q.pairs:
		q.VPERMQ(halves, amax, other)
		q.VPMAXUD(other, amax, amax)
	}
	for _, order := range []operand.U8{halves, neighbours} {
		q.VPSHUFD(order, amax, other)
		q.VPMAXUD(other, amax, amax)
	}
	return amax
}

// narrow returns a register for a scale: on AVX2 one for each half.
func (q fp4Coder) narrow() reg.VecVirtual {
	if q.avx512 {
		return q.XMM()
	}
	return q.YMM()
}

// scale returns the scale of a block as a byte, its inverse, and the lanes of blocks that are finite, on AVX2 of
// those that are not.
func (q fp4Coder) scale(amax reg.VecVirtual) (scale, inverse reg.VecVirtual, lanes reg.Register) {
	scale, inverse = q.narrow(), q.narrow()
	a, subtract, less, nan := lanesOf(amax, scale), q.VPSUBUSW, q.wide32("two32", 2), uint32(255)
	if q.e4m3 {
		// A power of two is added whose last bit is the last bit of the scale.
		power, unit := q.float32("power20", 1<<20), q.narrow()
		q.VDIVPS(q.float32("six32", 6), a, scale)
		q.VPMAXUD(q.wide32("leastE4M3", float8s[e4m3s].least), scale, scale)
		q.VPMINUD(q.wide32("largestE4M3", float8s[e4m3s].largest), scale, scale)
		q.VPAND(q.wide32("exponent32", infinity32), scale, unit)
		q.VFMADD231PS(power, unit, scale)
		q.VFNMADD231PS(power, unit, scale)
		q.VMOVUPS(q.wide32("one32", 0x3f800000), inverse)
		q.VDIVPS(scale, inverse, inverse)
		q.VPSRLD(operand.Imm(20), scale, scale)
		subtract, less, nan = q.VPSUBD, q.wide32("biasE4M3", (127-7)<<3), 0x7f
	} else {
		// A sixth of the number after 1.5*2^-125 is rounded down to 2^-127.
		q.VPCMPEQD(q.wide32("roundedDown32", 0x01400001), a, scale)
		q.VPADDD(a, scale, scale)
		q.VPADDD(q.raise, scale, scale)
		q.VPSRLD(operand.Imm(23), scale, scale)
	}
	if q.avx512 {
		code := q.narrow()
		finite := q.K()
		q.VPCMPUD(operand.Imm(1), q.wide32("exponent32", infinity32), amax, finite) // less
		q.VMOVUPS(q.wide32("scaleNaN"+operation.Element(q.to).String(), nan), code)
		subtract(less, scale, finite, code)
		scale, lanes = code, finite
	} else {
		nan := q.narrow()
		q.VPCMPGTD(q.wide32("finite32", infinity32-1), amax, nan)
		subtract(less, scale, scale)
		if q.e4m3 { // that of infinity is the code before the NaN
			q.VPSUBD(nan, scale, scale)
		} else {
			q.VPOR(nan, scale, scale)
		}
		lanes = nan
	}
	if !q.e4m3 {
		q.VMOVUPS(q.wide32("exponentOfInverse", 254), inverse)
		q.VPSUBD(scale, inverse, inverse)
		q.VPSLLD(operand.Imm(23), inverse, inverse)
	}
	if q.avx512 {
		wide := q.vector()
		q.VBROADCASTSS(inverse, wide)
		inverse = wide
	}
	return scale, inverse, lanes
}

// code returns the codes of numbers in the low bits of integers: as in generic, the least of three roundings. On
// AVX2 they have no sign.
func (q fp4Coder) code(v reg.VecVirtual) reg.VecVirtual {
	const toInteger = 0x1.8p23
	m, fours := q.vector(), q.keep(q.float32("toFours", toInteger+4))
	halves, ones := q.keep(q.float32("toHalves", toInteger)), q.vector()
	if q.avx512 {
		const lessMagnitude = operand.U8(0x0a)
		q.VRANGEPS(lessMagnitude, q.float32("six32", 6), v, m)
	} else {
		q.VPAND(q.magnitudes(), v, m)
		q.VMINPS(q.float32("six32", 6), m, m)
	}
	q.VFMADD231PS(q.float32("two", 2), m, halves)
	q.VADDPS(q.float32("toOnes", toInteger+2), m, ones)
	q.VFMADD231PS(q.float32("half", 0.5), m, fours)
	q.VPMINUD(halves, ones, ones)
	q.VPMINUD(ones, fours, fours)
	return fours
}

// packed8 returns 8 bytes of the codes of 16 numbers, or of 0 in a block that is not finite.
func (q fp4Coder) packed8(v reg.VecVirtual, finite reg.Register) reg.VecVirtual {
	const orAnd, choose = operand.U8(0xf8), operand.U8(0xe4)
	code, next, packed := q.code(v), q.vector(), q.XMM()
	q.VPSRLD(operand.Imm(28), v, v)
	q.VPTERNLOGD(orAnd, q.wide32("eight32", 8), v, code)
	q.VPSRLQ(operand.Imm(28), code, next)
	q.VPTERNLOGD(choose, q.lowBits(), next, code)
	q.VPMOVQB_Z(code, finite, packed)
	return packed
}

// packed16 returns 16 bytes of the codes of four registers, or of 0 in blocks that are not finite.
func (q fp4Coder) packed16(numbers []reg.VecVirtual, notFinite reg.VecVirtual) reg.VecVirtual {
	var list []reg.VecVirtual
	for _, v := range numbers {
		code := q.code(v)
		q.VPAND(q.wide32("low32", 15), code, code)
		list = append(list, code)
	}
	signs, codes, high := q.signBytes(numbers), q.packedBytes(q.VPACKUSWB, q.words(q.VPACKSSDW, list)), q.XMM()
	q.VPSRLW(operand.Imm(4), signs, signs)
	q.VPAND(q.wide32("eight8", 0x08080808), signs, signs)
	q.VPOR(signs, codes, codes)
	q.VPMADDUBSW(q.wide32("nibbles8", 0x10011001), codes, codes)
	q.VPANDN(codes, notFinite, codes)
	q.VEXTRACTI128(operand.Imm(1), codes, high)
	q.VPACKUSWB(high, codes.AsX(), high)
	return high
}

// dequantizeFP4 looks numbers up, a group at a time, in a table of all codes times its scale. Scales of E4M3 are float16
// of 2^-8 times their value.
func dequantizeFP4(e *emitter) {
	f := fp4Formats[e.from]
	twice := [16]float32{0, 1, 2, 3, 4, 6, 8, 12, float32(math.Copysign(0, -1)), -1, -2, -3, -4, -6, -8, -12}
	name, unit := "e2m1", float32(1)
	if f.ggml {
		twice[8], name = 0, "ggmlE2M1"
	}
	if f.e4m3 {
		name, unit = name+"E4M3", 1<<7
	}
	numbers := e.controls(name, 4, 16, func(i uint32) uint32 { return math.Float32bits(twice[i] * unit) })
	e.eachVector(func(y, x, left reg.GPVirtual) {
		codes := operand.Mem{Base: x, Disp: 1}
		if f.numbers > f.group { // from a scale to its codes
			at := e.GP64()
			e.MOVQ(operand.U32(uint32(f.numbers/f.group)), at)
			codes = operand.Mem{Base: x, Index: at, Scale: 1}
		}
		e.spans(left, whole(f.group), func(part) {
			half, tables := f.half(e, operand.Mem{Base: x}), []reg.VecVirtual(nil)
			for i := 0; i < 16; i += e.lanes() {
				v := e.vector()
				e.VMULPS(numbers.Offset(4*i), half, v)
				tables = append(tables, v)
			}
			f.lookUp(e, tables, codes, operand.Mem{Base: y})
			e.ADDQ(operand.U32(uint32(4*f.group)), y)
			if f.numbers == f.group {
				e.ADDQ(operand.Imm(uint64(1+f.group/2)), x)
				return
			}
			next, at := e.label("group"), codes.Index.(reg.GPVirtual)
			e.INCQ(x)
			e.ADDQ(operand.Imm(uint64(f.group/2-1)), at)
			e.CMPQ(at, operand.Imm(uint64(f.numbers/2)))
			e.JNE(operand.LabelRef(next))
			e.ADDQ(operand.Imm(uint64(f.numbers/2)), x)
			e.MOVQ(operand.U32(uint32(f.numbers/f.group)), at)
			e.Label(next)
		})
	})
}

// half returns half of a scale in every lane.
func (f fp4Format) half(e *emitter, from operand.Mem) reg.VecVirtual {
	v, scale, other, special, found := e.vector(), e.GP32(), e.GP32(), e.label("special"), e.label("scale")
	if f.e4m3 {
		e.MOVBLSX(from, scale)
		rare, word := uint32(0x7e00), uint32(0xbf80)
		if f.ggml {
			rare, word = 0, 0x3f80
			e.CMPL(scale, operand.Imm(0x7f))
		} else {
			e.LEAL(operand.Mem{Base: scale, Disp: 1}, other)
			e.TESTL(operand.U32(0x7f), other)
		}
		e.JEQ(operand.LabelRef(special))
		e.SHLL(operand.Imm(7), scale)
		e.ANDL(operand.U32(word), scale)
		e.Label(found)
		e.VMOVD(scale, v.AsX())
		e.VCVTPH2PS(v.AsX(), v.AsX())
		e.rare = append(e.rare, func() {
			e.Label(special)
			e.MOVL(operand.U32(rare), scale)
			e.JMP(operand.LabelRef(found))
		})
	} else {
		const least, nan = 0x00200000, 0x7fc00000 // 2^-128
		normal := uint32(253)                     // scales from 2 on
		if f.ggml {
			normal++
		}
		e.MOVBLZX(from, scale)
		e.LEAL(operand.Mem{Base: scale, Disp: -2}, other)
		e.CMPL(other, operand.U32(normal))
		e.JCC(operand.LabelRef(special))
		e.INCL(other)
		e.SHLL(operand.Imm(23), other)
		e.Label(found)
		e.VMOVD(other, v.AsX())
		e.rare = append(e.rare, func() {
			e.Label(special)
			e.MOVL(operand.U32(least), other)
			e.SHLXL(scale, other, other)
			if !f.ggml {
				e.CMPL(scale, operand.Imm(2))
				e.JCS(operand.LabelRef(found))
				e.MOVL(operand.U32(nan), other)
			}
			e.JMP(operand.LabelRef(found))
		})
	}
	e.VBROADCASTSS(v.AsX(), v)
	return v
}

// lookUp writes the numbers of a group.
func (f fp4Format) lookUp(e *emitter, tables []reg.VecVirtual, from, to operand.Mem) {
	write := func(codes reg.VecVirtual, at int) {
		v := e.vector()
		e.VPERMPS(tables[0], codes, v)
		if !e.avx512 {
			negative := e.vector()
			e.VPERMPS(tables[1], codes, negative)
			e.VPSLLD(operand.Imm(28), codes, codes)
			e.VBLENDVPS(codes, negative, v, v)
		}
		e.VMOVUPS(v, to.Offset(4*at))
	}
	lanes := e.lanes()
	for at := 0; at < f.group/2; at += lanes / 2 {
		codes, upper := e.vector(), e.vector()
		switch {
		case !f.ggml && e.avx512:
			e.VPMOVZXBQ(from.Offset(at), codes)
			e.VPSLLQ(operand.Imm(28), codes, upper)
			e.VPORD(upper, codes, codes)
			write(codes, 2*at)
		case !f.ggml:
			e.VPBROADCASTD(from.Offset(at), codes)
			e.VPSRLVD(e.controls("nibbles32", 4, 8, func(i uint32) uint32 { return 4 * i }), codes, codes)
			write(codes, 2*at)
		case f.group/2 < lanes:
			e.VPMOVZXBD(from, codes.AsY())
			e.VPSRLD(operand.Imm(4), codes.AsY(), upper.AsY())
			e.VINSERTI64X4(operand.Imm(1), upper.AsY(), codes, codes)
			write(codes, 0)
		case at%lanes == 0:
			e.VPMOVZXBD(from.Offset(at), codes)
			e.VPSRLD(operand.Imm(4), codes, upper)
			write(codes, at)
			write(upper, at+f.group/2)
		}
	}
}
