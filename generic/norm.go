package generic

import "math"

// RMSNormF32 divides x by its root mean square and multiplies it by weight, which
// holds as many elements:
//
//	sums[l] = RN32(sums[l] + RN32(x[i]*x[i]))    i = l, l+16, l+32, ...; l < 16
//	sums[l] = RN32(sums[l] + sums[l+d])          l < d; d = 8, 4, 2, 1
//	mean    = RN32(sums[0] / RN32(len(x)))
//	inverse = RN32(1 / RN32(sqrt(RN32(mean + epsilon))))
//	x[i]    = RN32(RN32(x[i]*inverse)*weight[i])
//
// The sums start at 0.
func RMSNormF32(x, weight []float32, epsilon float32) {
	var sums laneSums
	for i, v := range x {
		sums.add(i, v, v)
	}
	inverse := inverseRoot(&sums, len(x), epsilon)
	for i, v := range x {
		x[i] = float32(v*inverse) * weight[i]
	}
}

// RMSNormF16 is RMSNormF32 of float16 numbers, widened and rounded once at the
// end.
func RMSNormF16(x []uint16, weight []float32, epsilon float32) {
	var sums laneSums
	for i, v := range x {
		wide := Float16ToFloat32(v)
		sums.add(i, wide, wide)
	}
	inverse := inverseRoot(&sums, len(x), epsilon)
	for i, v := range x {
		x[i] = Float32ToFloat16(float32(Float16ToFloat32(v)*inverse) * weight[i])
	}
}

// RMSNormBF16 is RMSNormF32 of bfloat16 numbers, widened and rounded once at the
// end.
func RMSNormBF16(x []uint16, weight []float32, epsilon float32) {
	var sums laneSums
	for i, v := range x {
		wide := BFloat16ToFloat32(v)
		sums.add(i, wide, wide)
	}
	inverse := inverseRoot(&sums, len(x), epsilon)
	for i, v := range x {
		x[i] = Float32ToBFloat16(float32(BFloat16ToFloat32(v)*inverse) * weight[i])
	}
}

// inverseRoot returns the inverse of the root mean square of n elements, from the
// sums of their squares.
func inverseRoot(squares *laneSums, n int, epsilon float32) float32 {
	mean := squares.total() / float32(n)
	return 1 / float32(math.Sqrt(float64(mean+epsilon)))
}

// ScaleF32 multiplies x by factor: x[i] = RN32(x[i]*factor).
func ScaleF32(x []float32, factor float32) {
	for i := range x {
		x[i] *= factor
	}
}

// ScaleF16 is ScaleF32 of float16 numbers, widened and rounded once at the end.
func ScaleF16(x []uint16, factor float32) {
	for i, v := range x {
		x[i] = Float32ToFloat16(Float16ToFloat32(v) * factor)
	}
}

// ScaleBF16 is ScaleF32 of bfloat16 numbers, widened and rounded once at the end.
func ScaleBF16(x []uint16, factor float32) {
	for i, v := range x {
		x[i] = Float32ToBFloat16(BFloat16ToFloat32(v) * factor)
	}
}
