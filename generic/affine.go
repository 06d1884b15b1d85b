package generic

import "math"

// The steps of CacheFormat, as kernels take them.

// ordered returns an integer that is ordered as x is, and -0 below +0. NaNs are beyond the infinities of their
// sign. It is its own inverse.
func ordered(bits int32) int32 { return bits ^ int32(uint32(bits>>31)>>1) }

// RangeColumnsF32 makes least[i] and largest[i] the lesser and the larger of what they are and x[i], in the order of
// ordered.
func RangeColumnsF32(least, largest, x []float32) {
	of := func(x float32) int32 { return ordered(int32(math.Float32bits(x))) }
	back := func(n int32) float32 { return math.Float32frombits(uint32(ordered(n))) }
	for i, v := range x {
		least[i], largest[i] = back(min(of(least[i]), of(v))), back(max(of(largest[i]), of(v)))
	}
}

// RangeF32 writes the least and the largest number of x, as RangeColumnsF32 finds them.
func RangeF32(least, largest, x []float32) {
	least[0], largest[0] = x[0], x[0]
	for i := range x {
		RangeColumnsF32(least, largest, x[i:i+1])
	}
}

// AffineScalesF32 makes scales, zero points and inverses of the least and the largest number of each group, which are in
// zero and in scale:
//
//	scale = (largest-least)*factor/divisor, or 0.0001 where that is 0
//	zero = -least/scale
//	inverse = 1/scale, or 0 where that is not finite
//
// Each operation is rounded. Least is at most the largest finite number, and largest at least minus that. A NaN is 0x7fc00000.
func AffineScalesF32(scale, zero, inverse []float32, divisor, factor float32) {
	for i := range scale {
		least, largest := min(zero[i], math.MaxFloat32), max(scale[i], -math.MaxFloat32)
		s := float32(largest-least) * factor / divisor
		if s == 0 {
			s = 0.0001
		}
		z := -least / s
		if z != z { // the bits of a NaN are the processor's
			z = math.Float32frombits(0x7fc00000)
		}
		if s != s {
			s = z
		}
		scale[i], zero[i], inverse[i] = s, z, 1/s
		if v := inverse[i]; v-v != 0 {
			inverse[i] = 0
		}
	}
}

// QuantizeAffineF32ToU8 writes codes, from least to largest: x*inverse+zero, rounded once, then to an integer, halves to
// even; of a NaN the largest. A byte is the code less least, with the bits of flip changed. Inverse and zero are of all numbers, or of each.
func QuantizeAffineF32ToU8(y []uint8, x, inverse, zero []float32, least, largest float32, flip uint8) {
	for i, v := range x {
		of := min(i, len(inverse)-1)
		code := FMA32(v, inverse[of], zero[of])
		switch {
		case !(code < largest):
			code = largest
		case code < least:
			code = least
		}
		y[i] = uint8(int(roundHalfEven(code))-int(least)) ^ flip
	}
}

// DequantizeAffineU8ToF32 writes (code-zero)*scale, each rounded. A code is a byte with the bits of flip changed. Scale
// and zero are of all codes, or of each.
func DequantizeAffineU8ToF32(y []float32, x []uint8, scale, zero []float32, flip uint8) {
	for i, code := range x {
		of := min(i, len(scale)-1)
		y[i] = float32(float32(code^flip)-zero[of]) * scale[of]
	}
}

// PackNibblesU8ToU4 writes two codes below 16 to a byte, shift being the bits below the first: 0 or 4.
func PackNibblesU8ToU4(y, x []uint8, shift uint8) {
	for i := range y {
		y[i] = x[2*i]<<shift | x[2*i+1]<<(4-shift)
	}
}

// UnpackNibblesU4ToU8 writes a byte for each code, as PackNibblesU8ToU4 takes them.
func UnpackNibblesU4ToU8(y, x []uint8, shift uint8) {
	for i, v := range x {
		y[2*i], y[2*i+1] = v>>shift&15, v>>(4-shift)&15
	}
}
