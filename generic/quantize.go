package generic

import "math"

// LeastScale is the least scale of a row.
const LeastScale = 1e-6

// largestMagnitude returns the largest |x[i]|, NaN where a number is NaN.
func largestMagnitude(x []float32) float32 {
	largest := uint32(0) // bits of magnitudes are in order, NaN the last
	for _, v := range x {
		largest = max(largest, math.Float32bits(v)&^(1<<31))
	}
	return math.Float32frombits(largest)
}

func isFinite(x float32) bool { return x-x == 0 }

// roundHalfAway rounds x to the nearest integer, halves away from zero, for |x| below
// 2^22.
func roundHalfAway(x float32) int32 {
	const half = 0x3effffff // bits of the number before 1/2, with which no sum is rounded up to an integer
	return int32(x + math.Float32frombits(math.Float32bits(x)&(1<<31)|half))
}

// roundHalfEven rounds x to the nearest integer, halves to even, for |x| up to 2^22.
func roundHalfEven(x float32) int32 {
	const unit = 3 << 22 // its last bit is 1
	return int32(math.Float32bits(x+unit)) - int32(math.Float32bits(unit))
}

// QuantizeRowF32ToI8 writes x as int8 and returns their scale:
//
//	amax  = max |x[i]|
//	scale = max(RN32(amax/127), LeastScale)
//	y[i]  = RN32(x[i]/scale) rounded to an integer, halves to even
//
// Where amax is not finite, scale is amax, NaN or infinite, and all y are 0.
func QuantizeRowF32ToI8(y []uint8, x []float32) (scale float32) {
	return integer8.quantizeRow(y, x, 0, LeastScale, 0)
}

// QuantizeRowF32ToE4M3 is QuantizeRowF32ToI8 to E4M3FN numbers, with 448 for 127: y[i] is
// what Float32ToE4M3 returns of RN32(x[i]/scale). Where amax is not finite, all y are
// NaN8.
func QuantizeRowF32ToE4M3(y []uint8, x []float32) (scale float32) {
	return e4m3.quantizeRow(y, x, 0, LeastScale, 0)
}

// QuantizeF32ToE4M3 sets y[i] to what Float32ToE4M3 returns of RN32(x[i]*scale).
func QuantizeF32ToE4M3(y []uint8, x []float32, scale float32) { e4m3.quantize(y, x, scale) }

// QuantizeF32ToE5M2 sets y[i] to what Float32ToE5M2 returns of RN32(x[i]*scale).
func QuantizeF32ToE5M2(y []uint8, x []float32, scale float32) { e5m2.quantize(y, x, scale) }

// DequantizeI8ToF32 sets y[i] = RN32(x[i]*scale) for i < len(y), x being int8.
func DequantizeI8ToF32(y []float32, x []uint8, scale float32) { integer8.dequantize(y, x, scale) }

// DequantizeE4M3ToF32 is DequantizeI8ToF32 of E4M3FN numbers.
func DequantizeE4M3ToF32(y []float32, x []uint8, scale float32) { e4m3.dequantize(y, x, scale) }

// DequantizeE5M2ToF32 is DequantizeI8ToF32 of E5M2 numbers.
func DequantizeE5M2ToF32(y []float32, x []uint8, scale float32) { e5m2.dequantize(y, x, scale) }

// quantizeRow is the equation of QuantizeGroupF32ToE4M3 for any format.
func (f *format8) quantizeRow(y []uint8, x []float32, leastAmax, leastScale float32, fraction uint32) (scale float32) {
	y, scale = y[:len(x)], largestMagnitude(x)
	switch {
	case scale != scale:
		scale = math.Float32frombits(0x7fc00000)
	case isFinite(scale):
		scale = max(max(scale, leastAmax)/f.largest, leastScale)
		scale = math.Float32frombits((math.Float32bits(scale) + fraction) &^ fraction)
	}
	for i, v := range x {
		switch {
		case !isFinite(scale):
			y[i] = f.none
		case f.mantissa == 0:
			y[i] = uint8(roundHalfEven(v / scale))
		default:
			y[i] = f.code(v / scale)
		}
	}
	return scale
}

func (f *format8) quantize(y []uint8, x []float32, scale float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = f.code(float32(v * scale))
	}
}

func (f *format8) dequantize(y []float32, x []uint8, scale float32) {
	x = x[:len(y)]
	for i, code := range x {
		y[i] = f.values[code] * scale
	}
}
