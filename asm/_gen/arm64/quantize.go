package arm64

import (
	"math"

	"github.com/go-posenc/posenc/asm/_gen/operation"
)

// The elements of 8 bits.
const (
	int8s = element(operation.I8)
	e4m3s = element(operation.E4M3)
	q8s   = element(operation.Q8)
)

// A block of Q8_0 is numbers of int8 after their scale, a float16.
const (
	q8Block = 32
	q8Scale = 2 // bytes
)

// nanBits are the bits of the NaN that plain Go writes: quiet, without a sign.
const nanBits = 0x7fc00000

// leastScale is the least scale of a row.
const leastScale = 1e-6

// eachVector runs body for each vector of a conversion, with where it is read and
// written and how many numbers it has.
func (e *emitter) eachVector(body func(to, from, left general)) {
	y, x, n, count := e.argument("y"), e.argument("x"), e.argument("n"), e.argument("count")
	to, from, left := e.general(), e.general(), e.general()
	e.rows(count, func() {
		e.movGeneral(to, y)
		e.movGeneral(from, x)
		e.movGeneral(left, n)
		body(to, from, left)
		e.next(y, "yStride", e.to)
		e.next(x, "xStride", e.from)
	})
}

// quantize writes vectors as blocks of Q8_0, or times a scale as numbers of 8 bits.
func quantize(e *emitter) {
	if e.to == q8s {
		quantizeBlocks(e)
		return
	}
	codes := e.scaledFloat8()
	e.eachVector(func(to, from, left general) {
		e.parts("loop", left, sizes, func(size int) {
			e.storeBytes([]vector{codes(e.loadFloats(from, size))}, to, size)
			e.add(from, 4*size)
			e.add(to, size)
		})
	})
}

// scaledFloat8 returns what multiplies 16 numbers, or 4, by the scale, makes them numbers of
// 8 bits and uses them up.
func (e *emitter) scaledFloat8() func(list []vector) vector {
	scale, f := e.broadcast("scale"), e.loadFloat8(e.to)
	largest, beyond := e.whole(f.largest), e.whole(f.beyond)
	return func(list []vector) vector {
		e.multiplyAll(list, scale)
		signs := e.takeSigns(list)
		for _, v := range list { // a NaN stays one
			e.fmin4s(v, v, largest)
		}
		for _, v := range list {
			e.umin4s(v, v, beyond)
		}
		codes, number := e.float8Codes(f, list), e.vector()
		e.cmhi16b(number, f.nan, codes)
		e.and16b(number, number, f.sign)
		e.bit16b(codes, signs, number)
		e.release(number, signs)
		return codes
	}
}

// float8 has constants of the conversion to numbers of 8 bits.
type float8 struct {
	shift    int    // from the exponent of a float32 to the exponent of the code
	largest  int    // finite number
	beyond   int    // the number whose code is the code of NaN
	exponent vector // its bits
	least    vector // normal number
	unit     vector // the last bit of its product with a power of two is the last bit of the code
	bias     vector // of the exponents in codes
	nan      vector // the code of NaN
	sign     vector // its bit in codes
}

func (e *emitter) loadFloat8(t element) *float8 {
	f, name, least := &float8{shift: 21, largest: 57344, beyond: 114688}, "E5M2", math.Float32bits(0x1p-14)
	if t == e4m3s {
		f, name, least = &float8{shift: 20, largest: 448, beyond: 480}, "E4M3", math.Float32bits(0x1p-6)
	}
	f.exponent = e.load32("exponent32", 0x7f800000)
	f.least = e.load32("least"+name, least)
	f.unit = e.whole(1 << f.shift)
	f.bias = e.load32("bias"+name, least>>f.shift&0xff*0x01010101)
	f.nan = e.load32("nan8", 0x7f7f7f7f)
	f.sign = e.load32("sign8", 0x80808080)
	return f
}

// takeSigns returns the bytes with the signs of 16 numbers, or of 4, and makes these magnitudes.
func (e *emitter) takeSigns(list []vector) vector {
	signs := e.lastBytes(list)
	for _, v := range list {
		e.fabs4s(v, v)
	}
	return signs
}

// float8Codes returns the codes of magnitudes, which it uses up. They are rounded by a
// sum whose last bit is the last bit of the code: its last byte counts from the power of two
// below, whose exponent is added to it.
func (e *emitter) float8Codes(f *float8, list []vector) vector {
	powers := e.vectors(len(list))
	for j, v := range list {
		e.and16b(powers[j], v, f.exponent)
	}
	for _, p := range powers {
		e.umax4s(p, p, f.least)
	}
	for j, v := range list {
		e.fmla4s(v, powers[j], f.unit)
	}
	for j, v := range list {
		e.usra(32, v, powers[j], f.shift)
	}
	e.release(powers...)
	codes := e.firstBytes(list)
	e.sub16b(codes, codes, f.bias)
	return codes
}

// firstBytes and lastBytes return the lowest and the highest bytes of 16 lanes of 32
// bits, or of 4: where e.deinterleaved, in the order of the pairs.
func (e *emitter) firstBytes(list []vector) vector {
	if e.deinterleaved {
		return e.bytes(list, e.trn18h, e.uzp116b)
	}
	return e.bytes(list, e.uzp18h, e.uzp116b)
}

func (e *emitter) lastBytes(list []vector) vector {
	if e.deinterleaved {
		return e.bytes(list, e.trn28h, e.uzp216b)
	}
	return e.bytes(list, e.uzp28h, e.uzp216b)
}

func (e *emitter) bytes(list []vector, halves, bytes func(d, n, m vector)) vector {
	last := len(list) - 1
	low, high := e.vector(), e.vector()
	halves(low, list[0], list[min(1, last)])
	if last > 0 {
		halves(high, list[2], list[3])
		bytes(low, low, high)
	} else {
		bytes(low, low, low)
	}
	e.release(high)
	return low
}

// scaling has constants of the scales that vectors find for themselves.
type scaling struct {
	most     vector // number of the format, by which the largest magnitude is divided
	nan      vector
	one      vector
	infinity vector
}

func (e *emitter) loadScaling(most int) *scaling {
	return &scaling{e.whole(most), e.load32("nan32", nanBits), e.whole(1), e.load32("exponent32", 0x7f800000)}
}

// largest returns the largest bits of the lanes of four vectors, or of one, in as many
// lanes.
func (e *emitter) largest(list []vector) vector {
	d, last := list[0], len(list)-1
	e.umaxp4s(d, d, list[min(1, last)])
	if last > 0 {
		e.umaxp4s(list[2], list[2], list[3])
	}
	e.umaxp4s(d, d, list[min(2, last)])
	return d
}

// magnitudes returns the largest bits of the magnitudes of numbers lane by lane, and uses
// the numbers up.
func (e *emitter) magnitudes(list []vector) vector {
	for _, v := range list {
		e.fabs4s(v, v)
	}
	for len(list) > 1 {
		half := len(list) / 2
		for j := range half {
			e.umax4s(list[j], list[j], list[half+j])
		}
		list = list[:half]
	}
	return list[0]
}

// quantizeBlocks writes vectors as blocks of Q8_0.
func quantizeBlocks(e *emitter) {
	s := e.loadScaling(127)
	e.eachVector(func(to, from, left general) {
		e.parts("loop", left, []int{together * q8Block, q8Block}, func(size int) {
			most := make([]vector, size/q8Block)
			for i := range most {
				list := e.loadFloats(from, q8Block)
				most[i] = e.magnitudes(list)
				e.release(list[1:]...)
				e.add(from, 4*q8Block)
			}
			e.sub(from, 4*size)
			halves, inverses := e.blockScales(s, e.largest(most))
			for i := range most {
				e.op("VST1.P", "%s.H[%d], %d(%s)", halves, i, q8Scale, to)
				e.temporary(func() {
					factor := e.vector()
					e.broadcastLane(factor, inverses, i)
					e.storeBlock(factor, e.loadFloats(from, q8Block), to)
				})
				e.add(from, 4*q8Block)
			}
		})
	})
}

// blockScales returns the scales of blocks as float16, and their inverses, from the largest
// magnitudes in the lanes of d, which it uses up.
func (e *emitter) blockScales(s *scaling, d vector) (halves, inverse vector) {
	inverse, finite := e.vector(), e.vector()
	e.fdiv4s(d, d, s.most)
	e.umin4s(d, d, s.nan)
	e.fdiv4s(inverse, s.one, d)
	e.fcvtn4h(d, d)
	e.facgt4s(finite, s.infinity, inverse)
	e.and16b(inverse, inverse, finite)
	e.release(finite)
	return d, inverse
}

// storeBlock stores the numbers of a block times a factor, uses them up and moves the address
// behind them.
func (e *emitter) storeBlock(factor vector, list []vector, to general) {
	e.multiplyAll(list, factor)
	for _, v := range list {
		e.fcvtas4s(v, v) // 0 for NaN
	}
	e.storeBytes([]vector{e.firstBytes(list[:4]), e.firstBytes(list[4:])}, to, q8Block)
	e.add(to, q8Block)
}

// rowFormat returns the largest number of a row and what makes 16 numbers of it, or 4, codes:
// see int8Row and e4m3Row.
func (e *emitter) rowFormat() (most int, codes func(r *rowScale, list []vector, signs vector) vector) {
	if e.to == e4m3s {
		return 448, e.e4m3Row()
	}
	return 127, e.int8Row()
}

// rowScale is the scale of a vector in every lane.
type rowScale struct {
	scale, inverse vector
	finite         vector // ones, or zeros where the scale is NaN or infinite
}

// quantizeRow writes vectors as numbers of 8 bits and the scale of each.
func quantizeRow(e *emitter) {
	y, scales, x, n, count := e.argument("y"), e.argument("scales"), e.argument("x"), e.argument("n"), e.argument("count")
	var to, from [together]general
	for i := range to {
		to[i], from[i] = e.general(), e.general()
	}
	left := e.general()
	most, codes := e.rowFormat()
	e.parts("rows", count, []int{together, 1}, func(rows int) {
		start := func(at []general, first general, stride string, t element) {
			e.movGeneral(at[0], first)
			for i := 1; i < rows; i++ {
				e.movGeneral(at[i], at[i-1])
				e.next(at[i], stride, t)
			}
			e.movGeneral(left, n)
		}
		start(from[:], x, "xStride", e.from)
		list := e.rowScales(e.largestOfRows(from[:rows], left), most, rows, scales)
		start(to[:], y, "yStride", e.to)
		start(from[:], x, "xStride", e.from)
		e.parts("loop", left, sizes, func(size int) {
			for i, r := range list {
				e.temporary(func() {
					numbers, signs := e.loadFloats(from[i], size), vector(0)
					if e.to == e4m3s {
						signs = e.takeSigns(numbers)
					}
					e.storeBytes([]vector{codes(r, numbers, signs)}, to[i], size)
				})
				e.add(from[i], 4*size)
				e.add(to[i], size)
			}
		})
		for range rows {
			e.next(y, "yStride", e.to)
			e.next(x, "xStride", e.from)
		}
	})
	e.ret()
}

// largestOfRows returns the largest bits of the magnitudes of four rows, or of one, in
// as many lanes.
func (e *emitter) largestOfRows(at []general, left general) vector {
	rows := e.vectors(len(at))
	for _, row := range rows {
		e.clear(row)
	}
	e.parts("largest", left, sizes, func(size int) {
		for i, row := range rows {
			e.temporary(func() {
				e.umax4s(row, row, e.magnitudes(e.loadFloats(at[i], size)))
			})
			e.add(at[i], 4*size)
		}
	})
	return e.largest(rows)
}

// rowScales writes the scales of rows whose largest magnitudes are in the lanes of a
// vector, and returns them.
func (e *emitter) rowScales(scale vector, most int, rows int, to general) []*rowScale {
	list := make([]*rowScale, rows)
	for i := range list {
		list[i] = &rowScale{e.vector(), e.vector(), e.vector()}
	}
	e.temporary(func() {
		s := e.loadRowScaling(most)
		inverses := s.scales(scale)
		for i, r := range list {
			e.st1(32, scale, i, to)
			e.next(to, "scaleStride", float32s)
			e.broadcastLane(r.scale, scale, i)
			e.broadcastLane(r.inverse, inverses, i)
			e.facgt4s(r.finite, s.infinity, r.scale)
		}
	})
	return list
}

// rowScaling is scaling of rows.
type rowScaling struct {
	*emitter
	*scaling
	least vector
}

func (e *emitter) loadRowScaling(most int) *rowScaling {
	return &rowScaling{e, e.loadScaling(most), e.load32("leastScale", math.Float32bits(leastScale))}
}

// scales makes largest magnitudes scales and returns their inverses.
func (s *rowScaling) scales(v vector) (inverse vector) {
	inverse = s.vector()
	s.fdiv4s(v, v, s.most)
	s.umax4s(v, v, s.least)
	s.umin4s(v, v, s.nan)
	s.fdiv4s(inverse, s.one, v)
	return inverse
}

// quotients returns numbers divided by a scale, and uses them up. Near a midpoint of
// numbers of 8 bits, and that is where it matters, the product with the inverse is
// corrected to the quotient's very bits.
func (e *emitter) quotients(r *rowScale, list []vector) []vector {
	q := e.vectors(len(list))
	for j, v := range list {
		e.fmul4s(q[j], v, r.inverse)
	}
	for j, v := range list {
		e.fmls4s(v, q[j], r.scale)
	}
	for j, v := range list {
		e.fmla4s(q[j], v, r.inverse)
	}
	return q
}

// int8Row returns what makes 16 numbers of a row, or 4, codes of int8: their quotients
// are rounded by a sum whose last bit is 1.
func (e *emitter) int8Row() func(r *rowScale, list []vector, _ vector) vector {
	unit := e.whole(3 << 22)
	return func(r *rowScale, list []vector, _ vector) vector {
		q := e.quotients(r, list)
		for _, v := range q {
			e.fadd4s(v, v, unit)
		}
		codes := e.firstBytes(q)
		e.and16b(codes, codes, r.finite)
		return codes
	}
}

// e4m3Row is int8Row to E4M3, of magnitudes and the signs that they had: -0 has one.
func (e *emitter) e4m3Row() func(r *rowScale, list []vector, signs vector) vector {
	f := e.loadFloat8(e4m3s)
	return func(r *rowScale, list []vector, signs vector) vector {
		q := e.quotients(r, list)
		e.release(list...)
		codes := e.float8Codes(f, q)
		e.bit16b(codes, signs, f.sign)
		e.bif16b(codes, f.nan, r.finite)
		return codes
	}
}

// dequantize writes blocks of Q8_0, or vectors of numbers of 8 bits times the scale of
// each.
func dequantize(e *emitter) {
	numbers := e.widen8(e.from)
	if e.from == q8s {
		e.eachVector(func(to, from, left general) {
			e.parts("loop", left, []int{q8Block}, func(int) {
				scale := e.vector()
				e.op("VLD1R.P", "%d(%s), [%s.H8]", q8Scale, from, scale)
				e.fcvtl4s(scale, scale)
				codes := e.loadBytes(from, q8Block)
				for _, c := range codes {
					e.temporary(func() {
						list := numbers(c, 16)
						e.multiplyAll(list, scale)
						e.storeFloats(list, to, 16)
					})
					e.add(to, 64)
				}
				e.add(from, q8Block)
			})
		})
		return
	}
	scales, scale := e.argument("scales"), e.vector()
	e.eachVector(func(to, from, left general) {
		e.ld1r(32, scale, scales)
		multiples := func(factors ...vector) {
			e.parts("loop", left, sizes, func(size int) {
				list := numbers(e.loadBytes(from, size)[0], size)
				for _, f := range factors {
					e.multiplyAll(list, f)
				}
				e.storeFloats(list, to, size)
				e.add(from, size)
				e.add(to, 4*size)
			})
		}
		if e.from == e4m3s {
			e.temporary(func() {
				// Both factors at once, unless their product may be infinite.
				large, product, unit := e.newLabel("large"), e.vector(), e.whole(1<<8)
				e.op("MOVWU", "(%s), %s", scales, scratch)
				e.op("UBFX", "$23, %s, $8, %s", scratch, scratch)
				e.fmul4s(product, scale, unit)
				e.cmp(scratch, 127+120)
				e.branch("BGE", large)
				multiples(product)
				e.label(large)
				multiples(unit, scale)
			})
		} else {
			multiples(scale)
		}
		e.next(scales, "scaleStride", float32s)
	})
}

// widen8 returns what makes the float32 of 16 numbers of 8 bits, or of up to 4, whose
// codes it uses up.
func (e *emitter) widen8(t element) func(codes vector, n int) []vector {
	switch t {
	case e4m3s:
		return e.widenE4M3()
	case int8s, q8s:
		return e.widenI8()
	}
	zero := e.vector()
	e.clear(zero)
	return func(codes vector, n int) []vector { // the upper half of a float16
		return e.widenHalves(zero, codes, n)
	}
}

// widenHalves returns the float32 of float16 of which the bytes are in two vectors.
func (e *emitter) widenHalves(lower, upper vector, n int) (list []vector) {
	for j := range max(1, n/8) {
		words := e.vector()
		if j == 0 {
			e.zip116b(words, lower, upper)
		} else {
			e.zip216b(words, lower, upper)
		}
		list = append(list, e.widen(float16s, words, min(n, 8))...)
		e.release(words)
	}
	return list
}

// widenE4M3 makes bits of float16 from bits of E4M3, whose exponents are 8 smaller.
func (e *emitter) widenE4M3() func(codes vector, n int) []vector {
	sign, nan := e.load32("sign8", 0x80808080), e.load32("ones", 0xffffffff)
	upper := e.load32("upperE4M3", 0xbfbfbfbf)
	return func(codes vector, n int) []vector {
		isNaN, lower := e.vector(), e.vector()
		e.orr16b(isNaN, codes, sign)
		e.cmeq16b(isNaN, isNaN, nan)
		e.shl(8, lower, codes, 7)
		e.sshr16b(codes, codes, 1)
		e.and16b(codes, codes, upper)
		e.orr16b(codes, codes, isNaN)
		return e.widenHalves(lower, codes, n)
	}
}

// widenI8 makes codes the last bytes of 2^23 and more.
func (e *emitter) widenI8() func(codes vector, n int) []vector {
	zero, offset := e.vector(), e.load32("sign8", 0x80808080)
	e.clear(zero)
	upper, base := e.load32("upperI8", 0x4b004b00), e.whole(1<<23+1<<7)
	return func(codes vector, n int) (list []vector) {
		e.eor16b(codes, codes, offset)
		for j := range max(1, n/4) {
			v := e.vector()
			if j%4 < 2 {
				e.zip116b(v, codes, zero)
			} else {
				e.zip216b(v, codes, zero)
			}
			if j%2 == 0 {
				e.zip18h(v, v, upper)
			} else {
				e.zip28h(v, v, upper)
			}
			e.fsub4s(v, v, base)
			list = append(list, v)
		}
		return list
	}
}
