package generic

import "math"

// BFloat16ToFloat32 returns the value of the bfloat16 number with the given
// bits, which are the upper half of a float32.
func BFloat16ToFloat32(bits uint16) float32 { return math.Float32frombits(uint32(bits) << 16) }

// Float32ToBFloat16 returns the bits of the bfloat16 number nearest to x, ties
// to even: subnormal numbers are kept, what rounds beyond the largest one is
// infinity, and NaN stays NaN.
func Float32ToBFloat16(x float32) uint16 {
	bits := math.Float32bits(x)
	if x != x {
		return uint16(bits>>16 | 0x40) // made quiet
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}
