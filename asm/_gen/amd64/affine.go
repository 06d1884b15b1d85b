package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// stream is the memory that a slice has for vectors: where the next begins, and where the numbers of this one go on.
type stream struct {
	next, at reg.GPVirtual
	stride   string // the parameter, in elements of a power of two of bytes; "" if all vectors have the same
	shift    uint64
	eight    int // bytes of 8 numbers
}

func (e *emitter) stream(name, stride string, eight int) *stream {
	s := &stream{next: e.argument(name), at: e.GP64(), stride: stride, eight: eight}
	if eight == 32 {
		s.shift = 2
	}
	return s
}

func (s *stream) offset(numbers int) operand.Mem {
	return operand.Mem{Base: s.at, Disp: numbers * s.eight / 8}
}

// eachAffine runs body over the parts of vectors, which begin has begun.
func (e *emitter) eachAffine(streams []*stream, begin func(), sizes []part, body func(p part), end func()) {
	left := e.GP64()
	e.rows(e.argument("count"), func() {
		e.MOVQ(e.parameter("n"), left)
		for _, s := range streams {
			e.MOVQ(s.next, s.at)
		}
		begin()
		e.spans(left, sizes, func(p part) {
			body(p)
			for _, s := range streams {
				e.ADDQ(operand.U32(uint32(p.size*s.eight/8)), s.at)
			}
		})
		end()
		for _, s := range streams {
			if s.stride != "" {
				stride := e.argument(s.stride)
				e.SHLQ(operand.Imm(s.shift), stride)
				e.ADDQ(stride, s.next)
			}
		}
	})
}

// affineScale is a scale or a zero point: one of a vector in a register, or those of its numbers in memory.
type affineScale struct {
	*stream
	all reg.VecVirtual
}

// affineScales returns what names say. begin loads those of a vector.
func (e *emitter) affineScales(columns bool, names ...string) (list []affineScale, streams []*stream, begin func()) {
	for _, name := range names {
		s := affineScale{}
		if columns {
			s.stream = e.stream(name, "", 32)
			streams = append(streams, s.stream)
		} else {
			s.stream, s.all = &stream{next: e.argument(name)}, e.vector()
		}
		list = append(list, s)
	}
	return list, streams, func() {
		for _, s := range list {
			if !columns {
				e.VBROADCASTSS(operand.Mem{Base: s.next}, s.all)
				e.step(s.next, e.argument("scaleStride"), float32s)
			}
		}
	}
}

// of returns the scales of a register of numbers, which begins that many behind the stream.
func (s affineScale) of(v reg.VecVirtual, numbers int) operand.Op {
	if s.at != nil {
		return s.offset(numbers)
	}
	return lanesOf(s.all, v)
}

// eights are parts of whole vectors, then of 8.
func (e *emitter) eights(sizes ...int) []part {
	if e.avx512 {
		sizes = append(sizes, 8)
	}
	return whole(sizes...)
}

func (e *emitter) xor(a operand.Op, b, to reg.VecVirtual) {
	if e.avx512 {
		e.VPXORD(a, b, to)
	} else {
		e.VPXOR(a, b, to)
	}
}

// quantizeAffine lets packing limit codes at the lower end: less the least, they are then not negative.
func quantizeAffine(e *emitter, columns bool) {
	y, x := e.stream("y", "yStride", 8), e.stream("x", "xStride", 32)
	scales, streams, begin := e.affineScales(columns, "inverse", "zero")
	largest, least, flip := e.broadcast32("largest", e.vector()), e.broadcast32("least", e.vector()), e.broadcast32("flip", e.vector())
	e.VCVTPS2DQ(least, least)
	e.VPACKSSDW(least, least, least)
	order := e.byteOrder()
	e.eachAffine(append(streams, y, x), begin, e.eights(4*e.lanes(), e.lanes()), func(p part) {
		var codes []reg.VecVirtual
		for i := 0; i < p.size; i += e.lanes() {
			code := e.vector()
			v := code
			if p.size < e.lanes() {
				v = code.AsY().(reg.VecVirtual)
			}
			e.VMOVUPS(x.offset(i), v)
			if columns {
				factor := e.like(v)
				e.VMOVUPS(scales[0].of(v, i), factor)
				e.VFMADD213PS(scales[1].of(v, i), factor, v)
			} else {
				e.VFMADD213PS(scales[1].of(v, i), scales[0].of(v, i), v)
			}
			e.VMINPS(lanesOf(largest, v), v, v) // of a NaN the largest
			e.VCVTPS2DQ(v, v)
			codes = append(codes, code)
		}
		words := e.words(e.VPACKSSDW, codes)
		for _, w := range words {
			e.VPSUBSW(least, w, w)
		}
		v := e.inOrder(e.packedBytes(e.VPACKUSWB, words), order)
		e.xor(flip, v, v)
		switch p.size {
		case 8:
			e.VMOVQ(v.AsX(), y.offset(0))
		case 16:
			e.VMOVUPS(v.AsX(), y.offset(0))
		default:
			e.VMOVUPS(v, y.offset(0))
		}
	}, func() {})
}

func dequantizeAffine(e *emitter, columns bool) {
	y, x := e.stream("y", "yStride", 32), e.stream("x", "xStride", 8)
	scales, streams, begin := e.affineScales(columns, "scale", "zero")
	flip := e.broadcast32("flip", e.vector())
	e.eachAffine(append(streams, y, x), begin, e.eights(4*e.lanes(), e.lanes()), func(p part) {
		for i := 0; i < p.size; i += e.lanes() {
			v := e.vectorOf(min(p.size, e.lanes()))
			e.VPMOVZXBD(x.offset(i), v)
			e.xor(lanesOf(flip, v), v, v)
			e.VCVTDQ2PS(v, v)
			e.VSUBPS(scales[1].of(v, i), v, v)
			e.VMULPS(scales[0].of(v, i), v, v)
			e.VMOVUPS(v, y.offset(i))
		}
	}, func() {})
}

// extremes are the largest of the bits of some numbers as unsigned and as signed integers, and the least as unsigned ones. The
// first is the least number, if any is negative, the second the largest, if any is not, and the third what then is left.
type extremes [3]reg.VecVirtual

func (e *emitter) newExtremes(size int) (r extremes) {
	for i := range r {
		r[i] = e.vectorOf(size)
	}
	return r
}

// steps are what finds extremes.
func (e *emitter) steps() [3]func(...operand.Op) {
	return [3]func(...operand.Op){e.VPMAXUD, e.VPMAXSD, e.VPMINUD}
}

// none begins with no numbers.
func (e *emitter) none(r extremes) {
	e.clear(r[0])
	e.VMOVUPS(e.wide32("signBit32", 1<<31), r[1])
	e.VMOVUPS(e.wide32("allBits", 1<<32-1), r[2])
}

// widen takes in the 8 or 16 numbers of a part.
func (e *emitter) widen(r extremes, size int, from operand.Mem) {
	v := e.like(r[0])
	if size*4 < int(v.Size()) {
		e.VBROADCASTF64X4(from, v)
	} else {
		e.VMOVUPS(from, v)
	}
	for i, step := range e.steps() {
		step(v, r[i], r[i])
	}
}

// found sets the first to the least number and the second to the largest.
func (e *emitter) found(r extremes) {
	if e.avx512 {
		e.choose(e.signs(r[0]), r[0], r[2], r[0])
		e.choose(e.signs(r[1]), r[2], r[1], r[1])
		return
	}
	e.VBLENDVPS(r[0], r[0], r[2], r[0])
	e.VBLENDVPS(r[1], r[2], r[1], r[1])
}

// signs returns which numbers are negative.
func (e *emitter) signs(v reg.VecVirtual) reg.OpmaskVirtual {
	k := e.K()
	e.VPMOVD2M(v, k)
	return k
}

func rangeOf(e *emitter) {
	x, least, largest := e.stream("x", "xStride", 32), e.argument("least"), e.argument("largest")
	r := e.newExtremes(e.lanes())
	e.eachAffine([]*stream{x}, func() { e.none(r) }, e.eights(4*e.lanes(), e.lanes()), func(p part) {
		for i := 0; i < p.size; i += e.lanes() {
			e.widen(r, p.size, x.offset(i))
		}
	}, func() {
		var low extremes
		for i, step := range e.steps() {
			low[i] = e.across(step, r[i])
		}
		e.found(low)
		e.VMOVD(low[0], operand.Mem{Base: least})
		e.VMOVD(low[1], operand.Mem{Base: largest})
		stride := e.argument("scaleStride")
		e.step(least, stride, float32s)
		e.step(largest, stride, float32s)
	})
}

// across returns what an operation makes of all lanes of v, which it changes.
func (e *emitter) across(op func(...operand.Op), v reg.VecVirtual) reg.VecVirtual {
	upper, x, other := e.YMM(), e.XMM(), e.XMM()
	if e.avx512 {
		e.VEXTRACTI64X4(operand.Imm(1), v, upper)
		op(upper, v.AsY(), v.AsY())
	}
	e.VEXTRACTI128(operand.Imm(1), v.AsY(), x)
	op(v.AsX(), x, x)
	for _, order := range []uint64{0x4e, 0xb1} {
		e.VPSHUFD(operand.Imm(order), x, other)
		op(other, x, x)
	}
	return x
}

// ordered makes integers of float32 that are ordered as these are, or float32 of such integers.
func (e *emitter) ordered(v reg.VecVirtual) reg.VecVirtual {
	sign := e.like(v)
	e.VPSRAD(operand.Imm(31), v, sign)
	e.VPSRLD(operand.Imm(1), sign, sign)
	e.xor(sign, v, v)
	return v
}

// rangeColumns goes down 16 columns at once.
func rangeColumns(e *emitter) {
	done, left, at := e.label("done"), e.GP64(), e.GP64()
	x, least, largest := e.argument("x"), e.argument("least"), e.argument("largest")
	n, count, stride := e.argument("n"), e.argument("count"), e.stride("xStride")
	e.TESTQ(count, count)
	e.JZ(operand.LabelRef(done))
	e.spans(n, whole(16, 8), func(p part) {
		var list []extremes
		size := min(p.size, e.lanes())
		for i := 0; i < p.size; i += size {
			r := e.newExtremes(size)
			e.none(r)
			list = append(list, r)
		}
		e.MOVQ(x, at)
		e.MOVQ(count, left)
		loop := e.label("row")
		e.Label(loop)
		for i, r := range list {
			e.widen(r, size, operand.Mem{Base: at, Disp: 4 * size * i})
		}
		e.ADDQ(stride, at)
		e.DECQ(left)
		e.JNZ(operand.LabelRef(loop))
		for i, r := range list {
			e.found(r)
			for j, address := range []reg.GPVirtual{least, largest} {
				here, before := operand.Mem{Base: address, Disp: 4 * size * i}, e.vectorOf(size)
				e.VMOVUPS(here, before)
				op := []func(...operand.Op){e.VPMINSD, e.VPMAXSD}[j]
				op(e.ordered(before), e.ordered(r[j]), r[j])
				e.VMOVUPS(e.ordered(r[j]), here)
			}
		}
		for _, address := range []reg.GPVirtual{x, least, largest} {
			e.ADDQ(operand.U32(uint32(4*p.size)), address)
		}
	})
	e.Label(done)
	e.leave()
}

func scalesOfRanges(e *emitter) {
	const equal, less, unordered = operand.U8(0), operand.U8(0x11), operand.U8(3)
	scale, zero, inverse, n := e.argument("scale"), e.argument("zero"), e.argument("inverse"), e.argument("n")
	divisor, factor := e.broadcast32("divisor", e.vector()), e.broadcast32("factor", e.vector())
	none, one, sign := e.vector(), e.keep(e.float32("one32", 1)), e.keep(e.wide32("signBit32", 1<<31))
	e.clear(none)
	e.spans(n, whole(e.lanes()), func(p part) {
		s, z, inv, magnitude := e.vector(), e.vector(), e.vector(), e.vector()
		e.VMOVUPS(operand.Mem{Base: scale}, s)
		e.VMOVUPS(operand.Mem{Base: zero}, z)
		e.VMAXPS(s, e.keep(e.wide32("leastFinite", 0xff7fffff)), s) // of NaN, NaN
		e.VMINPS(z, e.keep(e.wide32("largestFinite", 0x7f7fffff)), z)
		e.VSUBPS(z, s, s)
		e.VMULPS(factor, s, s)
		e.VDIVPS(divisor, s, s)
		e.choose(e.where(equal, none, s), e.keep(e.float32("leastAffine", 0.0001)), s, s)
		e.xor(sign, z, z)
		e.VDIVPS(s, z, z)
		e.choose(e.where(unordered, z, z), e.keep(e.wide32("nan32", 0x7fc00000)), z, z)
		e.choose(e.where(unordered, s, s), z, s, s)
		e.VDIVPS(s, one, inv)
		e.and(e.magnitudes(), inv, magnitude)
		e.choose(e.where(less, e.wide32("exponent32", infinity32), magnitude), inv, none, inv)
		e.VMOVUPS(s, operand.Mem{Base: scale})
		e.VMOVUPS(z, operand.Mem{Base: zero})
		e.VMOVUPS(inv, operand.Mem{Base: inverse})
		for _, address := range []reg.GPVirtual{scale, zero, inverse} {
			e.ADDQ(operand.U32(uint32(4*p.size)), address)
		}
	})
	e.leave()
}

// nibbles returns shift, and 4 more than it, as counts of shifts.
func (e *emitter) nibbles() (shift, shift4 reg.VecVirtual) {
	count := e.GP32()
	shift, shift4 = e.XMM(), e.XMM()
	e.MOVBLZX(e.parameter("shift"), count)
	e.VMOVD(count, shift)
	e.ADDL(operand.Imm(4), count)
	e.VMOVD(count, shift4)
	return shift, shift4
}

func (e *emitter) or(a operand.Op, b, to reg.VecVirtual) {
	if e.avx512 {
		e.VPORD(a, b, to)
	} else {
		e.VPOR(a, b, to)
	}
}

// packNibbles shifts the first code of each word to its place, and the second.
func packNibbles(e *emitter) {
	y, x := e.stream("y", "yStride", 4), e.stream("x", "xStride", 8)
	shift, shift4 := e.nibbles()
	e.eachAffine([]*stream{y, x}, func() {}, whole(4*e.lanes(), 8), func(p part) {
		first, second := e.vectorOf(p.size/4), e.vectorOf(p.size/4)
		if p.size == 8 {
			e.VMOVQ(x.offset(0), first)
		} else {
			e.VMOVUPS(x.offset(0), first)
		}
		e.VPSRLW(shift4, first, second)
		e.VPSLLW(shift, first, first)
		e.or(second, first, first)
		if p.size > 32 {
			e.VPMOVWB(first, y.offset(0))
			return
		}
		e.and(e.wide32("lowBytes", 0x00ff00ff), first, first)
		e.VPACKUSWB(first, first, first)
		if p.size == 8 {
			e.VMOVD(first, y.offset(0))
			return
		}
		e.VPERMQ(operand.U8(0x08), first, first)
		e.VMOVUPS(first.AsX(), y.offset(0))
	}, func() {})
}

func unpackNibbles(e *emitter) {
	y, x := e.stream("y", "yStride", 8), e.stream("x", "xStride", 4)
	shift, shift4 := e.nibbles()
	e.eachAffine([]*stream{y, x}, func() {}, whole(4*e.lanes(), 8), func(p part) {
		first, second := e.vectorOf(p.size/4), e.vectorOf(p.size/4)
		if p.size == 8 {
			e.VMOVD(x.offset(0), first)
			e.VPMOVZXBW(first, first)
		} else {
			e.VPMOVZXBW(x.offset(0), first)
		}
		e.VPSLLW(shift4, first, second)
		e.VPSRLW(shift, first, first)
		e.or(second, first, first)
		e.and(e.wide32("nibbles8", 0x0f0f0f0f), first, first)
		if p.size == 8 {
			e.VMOVQ(first, y.offset(0))
		} else {
			e.VMOVUPS(first, y.offset(0))
		}
	}, func() {})
}
