package generic

import "math"

// Float16ToFloat32 returns the value of the IEEE 754 binary16 number with the
// given bits: float32 has them all.
func Float16ToFloat32(bits uint16) float32 {
	sign, magnitude := uint32(bits&0x8000)<<16, uint32(bits&0x7fff)
	switch {
	case magnitude >= 0x7c00: // infinity or NaN
		magnitude = 0x7f800000 | magnitude<<13
	case magnitude >= 0x0400:
		magnitude = magnitude<<13 + (127-15)<<23
	default: // zero or subnormal
		magnitude = math.Float32bits(float32(magnitude) * 0x1p-24)
	}
	return math.Float32frombits(sign | magnitude)
}

// Float32ToFloat16 returns the bits of the binary16 number nearest to x, ties to
// even: subnormal numbers are kept, from 65520 on it is infinity, and NaN stays
// NaN.
func Float32ToFloat16(x float32) uint16 {
	bits := math.Float32bits(x)
	sign, magnitude := bits>>16&0x8000, bits&0x7fffffff
	switch {
	case magnitude > 0x7f800000: // NaN, made quiet
		magnitude = 0x7e00 | magnitude>>13&0x3ff
	case magnitude >= 0x47800000: // 65536
		magnitude = 0x7c00
	case magnitude >= 0x38800000: // 0x1p-14, the smallest normal number
		magnitude -= (127 - 15) << 23
		magnitude = (magnitude + 0xfff + magnitude>>13&1) >> 13
	default:
		// In float32 the sum is a multiple of 0x1p-24, the smallest subnormal.
		magnitude = math.Float32bits(math.Float32frombits(magnitude)+0.5) - math.Float32bits(0.5)
	}
	return uint16(sign | magnitude)
}
