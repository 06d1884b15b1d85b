package generic

import (
	"encoding/binary"
	"math"
	"slices"
)

// The numbers of a block of ggml's formats, and the bytes of one of each format.
const (
	Block       = 32
	Q8Bytes     = 2 + Block
	Q4_0Bytes   = 2 + Block/2
	Q4_1Bytes   = 4 + Block/2
	Q5_0Bytes   = 2 + Block/8 + Block/2
	Q5_1Bytes   = 4 + Block/8 + Block/2
	IQ4_NLBytes = 2 + Block/2
)

// blockFormat is one of ggml's formats. A block is, in little-endian order,
//
//	d      float16
//	m      float16, if minimum
//	q      32 int8, if integers, else
//	fifth  uint32, whose bit i is bit 4 of q[i], if largest is 31
//	low    16 bytes: the lower four bits of q[i], and above them those of q[i+16]
//
// and its number i is RN32(levels[q[i]]*d), RN32(RN32(q[i]*d)+m) if minimum, or RN32((q[i]-bias)*d).
type blockFormat struct {
	divisor  float32 // d is a statistic of the numbers divided by it:
	integers bool    // the largest magnitude,
	minimum  bool    // the largest number less the least, or else the first number of the largest magnitude
	bias     float32
	largest  uint8 // code
	levels   *[16]float32
}

var (
	q8_0   = blockFormat{divisor: 127, integers: true}
	q4_0   = blockFormat{divisor: -8, bias: 8, largest: 15}
	q4_1   = blockFormat{divisor: 15, minimum: true, largest: 15}
	q5_0   = blockFormat{divisor: -16, bias: 16, largest: 31}
	q5_1   = blockFormat{divisor: 31, minimum: true, largest: 31}
	iq4_nl = blockFormat{divisor: -127, largest: 15, levels: &[16]float32{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}}
)

// QuantizeF32ToQ8 writes x as blocks of 32 numbers of Q8_0, as quantize_row_q8_0_ref of ggml does:
//
//	amax = max |x[i]|
//	d    = RN32(amax/127)
//	id   = RN32(1/d), 0 where that is infinite
//	q[i] = RN32(x[i]*id) rounded to an integer, halves away from zero
//
// A block is 34 bytes: the float16 nearest to d, and the 32 q as int8. Where amax is not finite, d is amax, NaN
// as 0x7e00, and all q are 0. len(x) is a multiple of 32.
func QuantizeF32ToQ8(y []uint8, x []float32) { q8_0.quantize(y, x) }

// QuantizeF32ToQ4_0 writes x as blocks of 32 numbers of Q4_0, as quantize_row_q4_0_ref of ggml does:
//
//	max  = the first x[i] of the largest magnitude, +0 where all are 0
//	d    = RN32(max/-8)
//	id   = RN32(1/d), 0 where that is infinite
//	q[i] = RN32(RN32(x[i]*id)+8.5) cut to an integer, at most 15
//
// A block is 18 bytes: the float16 nearest to d, and q[i] with q[i+16] above it for i < 16. Where x has a
// number that is not finite, d is the NaN 0x7e00 and the other bytes are 0. len(x) is a multiple of 32.
func QuantizeF32ToQ4_0(y []uint8, x []float32) { q4_0.quantize(y, x) }

// QuantizeF32ToQ5_0 is QuantizeF32ToQ4_0 with -16 for -8, 16.5 for 8.5 and 31 for 15, as
// quantize_row_q5_0_ref of ggml does. A block is 22 bytes: before the lower four bits of q are 32 bits,
// bit i of them bit 4 of q[i].
func QuantizeF32ToQ5_0(y []uint8, x []float32) { q5_0.quantize(y, x) }

// QuantizeF32ToQ4_1 writes x as blocks of 32 numbers of Q4_1, as quantize_row_q4_1_ref of ggml does:
//
//	m    = the first of the least x[i]
//	d    = RN32(RN32(max x[i]-m)/15)
//	id   = RN32(1/d), 0 where that is infinite
//	q[i] = RN32(RN32(RN32(x[i]-m)*id)+0.5) cut to an integer, at most 15
//
// A block is 20 bytes: d and m as the nearest float16, and q as in Q4_0. Where x has a number that is not
// finite, or d is infinite as a float32, d is the NaN 0x7e00 and the other bytes are 0.
func QuantizeF32ToQ4_1(y []uint8, x []float32) { q4_1.quantize(y, x) }

// QuantizeF32ToQ5_1 is QuantizeF32ToQ4_1 with 31 for 15, as quantize_row_q5_1_ref of ggml does. A block is
// 24 bytes: d, m, and q as in Q5_0.
func QuantizeF32ToQ5_1(y []uint8, x []float32) { q5_1.quantize(y, x) }

// QuantizeF32ToIQ4_NL writes x as blocks of 32 numbers of IQ4_NL, as quantize_row_iq4_nl_ref of ggml does.
// v are the levels -127 -104 -83 -65 -49 -35 -22 -10 1 13 25 38 53 69 89 113:
//
//	max  = the first x[i] of the largest magnitude
//	id   = RN32(1/RN32(max/-127))
//	q[i] = the index of the v nearest to RN32(x[i]*id), of two the larger
//	a, b = the sums over i, in order, of RN32(RN32(w*v[q[i]])*x[i]) and of
//	       RN32(RN32(w*v[q[i]])*v[q[i]]), w = RN32(x[i]*x[i]), each rounded to float32
//	d    = RN32(a/b)
//
// A block is 18 bytes as in Q4_0. All are 0 where |max| is below 1e-15. A d that is NaN is 0x7e00.
func QuantizeF32ToIQ4_NL(y []uint8, x []float32) { iq4_nl.quantize(y, x) }

// DequantizeQ8ToF32 sets y to the numbers of blocks of Q8_0: y[i] = RN32(q[i]*d). len(y) is a multiple of 32.
func DequantizeQ8ToF32(y []float32, x []uint8) { q8_0.dequantize(y, x) }

// DequantizeQ4_0ToF32 sets y to the numbers of blocks of Q4_0: y[i] = RN32((q[i]-8)*d). len(y) is a
// multiple of 32.
func DequantizeQ4_0ToF32(y []float32, x []uint8) { q4_0.dequantize(y, x) }

// DequantizeQ5_0ToF32 is DequantizeQ4_0ToF32 of Q5_0, with 16 for 8.
func DequantizeQ5_0ToF32(y []float32, x []uint8) { q5_0.dequantize(y, x) }

// DequantizeQ4_1ToF32 is DequantizeQ4_0ToF32 of Q4_1: y[i] = RN32(RN32(q[i]*d)+m).
func DequantizeQ4_1ToF32(y []float32, x []uint8) { q4_1.dequantize(y, x) }

// DequantizeQ5_1ToF32 is DequantizeQ4_1ToF32 of Q5_1.
func DequantizeQ5_1ToF32(y []float32, x []uint8) { q5_1.dequantize(y, x) }

// DequantizeIQ4_NLToF32 is DequantizeQ4_0ToF32 of IQ4_NL: y[i] = RN32(v[q[i]]*d).
func DequantizeIQ4_NLToF32(y []float32, x []uint8) { iq4_nl.dequantize(y, x) }

func (f *blockFormat) quantize(y []uint8, x []float32) {
	for ; len(x) >= Block; x = x[Block:] {
		var codes [Block]uint8
		d, m := f.encode(&codes, x[:Block])
		y = f.pack(y, &codes, d, m)
	}
}

// encode finds the codes of a block, which are 0. They stay so where a number or d is not finite.
func (f *blockFormat) encode(codes *[Block]uint8, x []float32) (d, m float32) {
	amax := largestMagnitude(x)
	statistic := float32(0)
	switch {
	case f.integers:
		statistic = amax
	case f.minimum:
		m = x[0]
		for _, v := range x {
			if v < m {
				m = v
			}
		}
		statistic = slices.Max(x) - m
	default:
		for _, v := range x {
			if math.Float32bits(v)&^(1<<31) > math.Float32bits(statistic)&^(1<<31) {
				statistic = v
			}
		}
	}
	d = statistic / f.divisor
	id := 1 / d
	switch {
	case !isFinite(amax) || !isFinite(statistic):
		if !f.integers {
			d = float32(math.NaN())
		}
		return d, 0
	case f.levels != nil && amax < 1e-15:
		return 0, 0
	case !isFinite(id):
		id = 0
	}
	if f.integers {
		for i, v := range x {
			codes[i] = uint8(roundHalfAway(float32(v * id)))
		}
		return d, 0
	}
	for i, v := range x {
		codes[i] = f.code(float32(float32(v-m) * id))
	}
	if f.levels != nil {
		d = f.refit(codes, x)
	}
	return d, m
}

// code returns the code of a number that has been divided by d.
func (f *blockFormat) code(y float32) (q uint8) {
	if f.levels == nil {
		return uint8(min(int(y+(f.bias+0.5)), int(f.largest)))
	}
	for q < f.largest && y+y >= f.levels[q]+f.levels[q+1] {
		q++
	}
	return q
}

// refit returns the d with the least error, weighted by squares, of the codes found with another one.
func (f *blockFormat) refit(codes *[Block]uint8, x []float32) float32 {
	a, b := float32(0), float32(0)
	for i, v := range x {
		level := f.levels[codes[i]]
		weighted := float32(float32(v*v) * level)
		a += float32(weighted * v)
		b += float32(weighted * level)
	}
	return a / b
}

// pack writes a block and returns what is behind it.
func (f *blockFormat) pack(y []uint8, codes *[Block]uint8, d, m float32) []uint8 {
	put := func(v float32) {
		half := Float32ToFloat16(v)
		if v != v {
			half = 0x7e00
		}
		binary.LittleEndian.PutUint16(y, half)
		y = y[2:]
	}
	put(d)
	if f.minimum {
		put(m)
	}
	if f.integers {
		return y[copy(y, codes[:]):]
	}
	fifth := uint32(0)
	for i, q := range codes {
		fifth |= uint32(q>>4) << i
	}
	if f.largest > 15 {
		binary.LittleEndian.PutUint32(y, fifth)
		y = y[4:]
	}
	for i := range y[:Block/2] {
		y[i] = codes[i]&15 | codes[i+Block/2]<<4
	}
	return y[Block/2:]
}

func (f *blockFormat) dequantize(y []float32, x []uint8) {
	for ; len(y) >= Block; y = y[Block:] {
		d, m, fifth := Float16ToFloat32(binary.LittleEndian.Uint16(x)), float32(0), uint32(0)
		x = x[2:]
		if f.integers {
			for i, q := range x[:Block] {
				y[i] = float32(int8(q)) * d
			}
			x = x[Block:]
			continue
		}
		if f.minimum {
			m, x = Float16ToFloat32(binary.LittleEndian.Uint16(x)), x[2:]
		}
		if f.largest > 15 {
			fifth, x = binary.LittleEndian.Uint32(x), x[4:]
		}
		for i := range y[:Block] {
			q := x[i%(Block/2)]>>(i/(Block/2)*4)&15 | uint8(fifth>>i&1<<4)
			number := float32(q) - f.bias
			if f.levels != nil {
				number = f.levels[q]
			}
			y[i] = float32(number * d)
			if f.minimum {
				y[i] += m
			}
		}
		x = x[Block/2:]
	}
}
