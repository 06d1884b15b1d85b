package generic

// QuantizeGroupF32ToE4M3 writes x as E4M3FN numbers and returns their scale:
//
//	amax  = max |x[i]|
//	s     = max(RN32(max(amax, leastAmax)/448), leastScale)
//	scale = s, or with fraction 1<<23 - 1 the least power of two that is not below s
//	y[i]  = what Float32ToE4M3 returns of RN32(x[i]/scale)
//
// fraction is the bits of a float32 that become 0, or 0 for none. leastAmax is at least 0 and leastScale at least
// 2^-126. Where amax is not finite, scale is amax, NaN or infinite, and all y are NaN8.
func QuantizeGroupF32ToE4M3(y []uint8, x []float32, leastAmax, leastScale float32, fraction uint32) (scale float32) {
	return e4m3.quantizeRow(y, x, leastAmax, leastScale, fraction)
}
