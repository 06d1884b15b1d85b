package generic

import "math"

const (
	// Block is the numbers of a block of ggml's formats, and Q8Bytes the bytes of one of Q8_0.
	Block   = 32
	Q8Bytes = 2 + Block

	// LeastScale is the least scale of a row.
	LeastScale = 1e-6
)

// largestMagnitude returns the largest |x[i]|, NaN where a number is NaN.
func largestMagnitude(x []float32) float32 {
	largest := uint32(0) // bits of magnitudes are in order, NaN the last
	for _, v := range x {
		largest = max(largest, math.Float32bits(v)&^(1<<31))
	}
	return math.Float32frombits(largest)
}

func isFinite(x float32) bool { return x-x == 0 }

// QuantizeF32ToQ8 writes x as blocks of 32 numbers of Q8_0, as quantize_row_q8_0_ref of
// ggml does:
//
//	amax = max |x[i]|
//	d    = RN32(amax/127)
//	id   = RN32(1/d), 0 where d is 0
//	q[i] = RN32(x[i]*id) rounded to an integer, halves away from zero
//
// A block is 34 bytes: the float16 nearest to d, little-endian, and the 32 q as int8.
// Where amax is not finite, d is amax, NaN or infinite, and all q are 0; where 1/d is
// infinite, all q are 0. len(x) is a multiple of 32.
func QuantizeF32ToQ8(y []uint8, x []float32) {
	for len(x) >= Block {
		block := x[:Block]
		amax := largestMagnitude(block)
		d := amax / 127
		id := 1 / d
		if !isFinite(amax) || !isFinite(id) {
			id = 0
		}
		bits := Float32ToFloat16(d)
		if amax != amax {
			bits = 0x7e00
		}
		y[0], y[1] = uint8(bits), uint8(bits>>8)
		q := y[2:Q8Bytes]
		for i, v := range block {
			if id == 0 {
				q[i] = 0
				continue
			}
			q[i] = uint8(roundHalfAway(float32(v * id)))
		}
		x, y = x[Block:], y[Q8Bytes:]
	}
}

// mostRotated is the most elements of a head that is rotated and quantized in one step.
const mostRotated = 512

// RotateQuantizeHalfSplitF32ToQ8 sets y to what QuantizeF32ToQ8 makes of a head that
// RotateHalfSplitF32 has rotated, of a multiple of 32 elements and at most 512.
func RotateQuantizeHalfSplitF32ToQ8(y []uint8, x1, x2, cos, sin []float32) {
	var memory [mostRotated]float32
	QuantizeF32ToQ8(y, rotatedHalfSplit(&memory, x1, x2, cos, sin))
}

// RotateQuantizeInterleavedF32ToQ8 is RotateQuantizeHalfSplitF32ToQ8 by
// RotateInterleavedF32.
func RotateQuantizeInterleavedF32ToQ8(y []uint8, x, cos, sin []float32) {
	var memory [mostRotated]float32
	QuantizeF32ToQ8(y, rotatedInterleaved(&memory, x, cos, sin))
}

// RotateQuantizeRowHalfSplitF32ToI8 is QuantizeRowF32ToI8 of a head that RotateHalfSplitF32
// has rotated, of at most 512 elements.
func RotateQuantizeRowHalfSplitF32ToI8(y []int8, x1, x2, cos, sin []float32) (scale float32) {
	var memory [mostRotated]float32
	return QuantizeRowF32ToI8(y, rotatedHalfSplit(&memory, x1, x2, cos, sin))
}

// RotateQuantizeRowInterleavedF32ToI8 is RotateQuantizeRowHalfSplitF32ToI8 by
// RotateInterleavedF32.
func RotateQuantizeRowInterleavedF32ToI8(y []int8, x, cos, sin []float32) (scale float32) {
	var memory [mostRotated]float32
	return QuantizeRowF32ToI8(y, rotatedInterleaved(&memory, x, cos, sin))
}

// RotateQuantizeRowHalfSplitF32ToE4M3 is QuantizeRowF32ToE4M3 of a head that
// RotateHalfSplitF32 has rotated, of at most 512 elements.
func RotateQuantizeRowHalfSplitF32ToE4M3(y []uint8, x1, x2, cos, sin []float32) (scale float32) {
	var memory [mostRotated]float32
	return QuantizeRowF32ToE4M3(y, rotatedHalfSplit(&memory, x1, x2, cos, sin))
}

// RotateQuantizeRowInterleavedF32ToE4M3 is RotateQuantizeRowHalfSplitF32ToE4M3 by
// RotateInterleavedF32.
func RotateQuantizeRowInterleavedF32ToE4M3(y []uint8, x, cos, sin []float32) (scale float32) {
	var memory [mostRotated]float32
	return QuantizeRowF32ToE4M3(y, rotatedInterleaved(&memory, x, cos, sin))
}

// RotateQuantizeScaledHalfSplitF32ToE4M3 is QuantizeF32ToE4M3 of a head that
// RotateHalfSplitF32 has rotated, of at most 512 elements.
func RotateQuantizeScaledHalfSplitF32ToE4M3(y []uint8, x1, x2, cos, sin []float32, scale float32) {
	var memory [mostRotated]float32
	QuantizeF32ToE4M3(y, rotatedHalfSplit(&memory, x1, x2, cos, sin), scale)
}

// RotateQuantizeScaledInterleavedF32ToE4M3 is RotateQuantizeScaledHalfSplitF32ToE4M3 by
// RotateInterleavedF32.
func RotateQuantizeScaledInterleavedF32ToE4M3(y []uint8, x, cos, sin []float32, scale float32) {
	var memory [mostRotated]float32
	QuantizeF32ToE4M3(y, rotatedInterleaved(&memory, x, cos, sin), scale)
}

// RotateQuantizeScaledHalfSplitF32ToE5M2 is QuantizeF32ToE5M2 of a head that
// RotateHalfSplitF32 has rotated, of at most 512 elements.
func RotateQuantizeScaledHalfSplitF32ToE5M2(y []uint8, x1, x2, cos, sin []float32, scale float32) {
	var memory [mostRotated]float32
	QuantizeF32ToE5M2(y, rotatedHalfSplit(&memory, x1, x2, cos, sin), scale)
}

// RotateQuantizeScaledInterleavedF32ToE5M2 is RotateQuantizeScaledHalfSplitF32ToE5M2 by
// RotateInterleavedF32.
func RotateQuantizeScaledInterleavedF32ToE5M2(y []uint8, x, cos, sin []float32, scale float32) {
	var memory [mostRotated]float32
	QuantizeF32ToE5M2(y, rotatedInterleaved(&memory, x, cos, sin), scale)
}

// rotatedHalfSplit returns what RotateHalfSplitF32 makes of a head.
func rotatedHalfSplit(memory *[mostRotated]float32, x1, x2, cos, sin []float32) []float32 {
	n := len(x1)
	RotateHalfSplitF32(memory[:n], memory[n:], x1, x2, cos, sin)
	return memory[:2*n]
}

// rotatedInterleaved returns what RotateInterleavedF32 makes of a head.
func rotatedInterleaved(memory *[mostRotated]float32, x, cos, sin []float32) []float32 {
	RotateInterleavedF32(memory[:], x, cos, sin)
	return memory[:len(x)]
}

// roundHalfAway rounds x to the nearest integer, halves away from zero, for |x| below
// 2^22.
func roundHalfAway(x float32) int32 {
	// With 1/2 itself the sum could be rounded up to an integer.
	half := math.Nextafter32(0.5, 0)
	return int32(x + math.Float32frombits(math.Float32bits(x)&(1<<31)|math.Float32bits(half)))
}

// roundHalfEven rounds x to the nearest integer, halves to even, for |x| up to 2^22.
func roundHalfEven(x float32) int32 {
	const unit = 3 << 22 // its last bit is 1
	return int32(math.Float32bits(x+unit)) - int32(math.Float32bits(unit))
}

// QuantizeRowF32ToI8 writes x as integers of 8 bits and returns their scale:
//
//	amax  = max |x[i]|
//	scale = max(RN32(amax/127), LeastScale)
//	y[i]  = RN32(x[i]/scale) rounded to an integer, halves to even
//
// Where amax is not finite, scale is amax, NaN or infinite, and all y are 0.
func QuantizeRowF32ToI8(y []int8, x []float32) (scale float32) {
	y = y[:len(x)]
	scale = rowScale(x, 127)
	if !isFinite(scale) {
		clear(y)
		return scale
	}
	for i, v := range x {
		y[i] = int8(roundHalfEven(v / scale))
	}
	return scale
}

// rowScale returns the scale by which the numbers of x become at most largest.
func rowScale(x []float32, largest float32) float32 {
	amax := largestMagnitude(x)
	if amax != amax {
		return math.Float32frombits(0x7fc00000)
	}
	return max(amax/largest, LeastScale)
}

// QuantizeRowF32ToE4M3 is QuantizeRowF32ToI8 to E4M3FN numbers, with 448 for 127: y[i] is
// what Float32ToE4M3 returns of RN32(x[i]/scale). Where amax is not finite, all y are
// NaN8.
func QuantizeRowF32ToE4M3(y []uint8, x []float32) (scale float32) {
	y = y[:len(x)]
	scale = rowScale(x, 448)
	for i, v := range x {
		y[i] = NaN8
		if isFinite(scale) {
			y[i] = Float32ToE4M3(v / scale)
		}
	}
	return scale
}

// QuantizeF32ToE4M3 sets y[i] to what Float32ToE4M3 returns of RN32(x[i]*scale).
func QuantizeF32ToE4M3(y []uint8, x []float32, scale float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = Float32ToE4M3(float32(v * scale))
	}
}

// QuantizeF32ToE5M2 sets y[i] to what Float32ToE5M2 returns of RN32(x[i]*scale).
func QuantizeF32ToE5M2(y []uint8, x []float32, scale float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = Float32ToE5M2(float32(v * scale))
	}
}

// DequantizeQ8ToF32 sets y to the numbers of blocks of Q8_0: y[i] = RN32(q[i]*d), d the
// float16 of the block. len(y) is a multiple of 32.
func DequantizeQ8ToF32(y []float32, x []uint8) {
	for len(y) >= Block {
		d := Float16ToFloat32(uint16(x[0]) | uint16(x[1])<<8)
		for i, q := range x[2:Q8Bytes] {
			y[i] = float32(int8(q)) * d
		}
		y, x = y[Block:], x[Q8Bytes:]
	}
}

// DequantizeI8ToF32 sets y[i] = RN32(x[i]*scale) for i < len(y).
func DequantizeI8ToF32(y []float32, x []int8, scale float32) {
	x = x[:len(y)]
	for i, q := range x {
		y[i] = float32(q) * scale
	}
}

// DequantizeE4M3ToF32 is DequantizeI8ToF32 of E4M3FN numbers.
func DequantizeE4M3ToF32(y []float32, x []uint8, scale float32) {
	x = x[:len(y)]
	for i, code := range x {
		y[i] = E4M3ToFloat32(code) * scale
	}
}

// DequantizeE5M2ToF32 is DequantizeI8ToF32 of E5M2 numbers.
func DequantizeE5M2ToF32(y []float32, x []uint8, scale float32) {
	x = x[:len(y)]
	for i, code := range x {
		y[i] = E5M2ToFloat32(code) * scale
	}
}
