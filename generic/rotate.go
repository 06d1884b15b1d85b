package generic

// RotateHalfSplitF32 rotates the pairs (x1[i], x2[i]) by the angle whose cosine
// and sine are cos[i] and sin[i], for i < len(x1):
//
//	y1[i], y2[i] = RN32(RN32(x1[i]*cos[i]) - RN32(x2[i]*sin[i])),
//	               RN32(RN32(x2[i]*cos[i]) + RN32(x1[i]*sin[i]))
//
// The other slices hold at least len(x1) elements. y1 may be x1 and y2 be x2.
func RotateHalfSplitF32(y1, y2, x1, x2, cos, sin []float32) {
	n := len(x1)
	y1, y2, x2, cos, sin = y1[:n], y2[:n], x2[:n], cos[:n], sin[:n]
	for i, a := range x1 {
		y1[i], y2[i] = rotate(a, x2[i], cos[i], sin[i])
	}
}

// RotateHalfSplitF16 is RotateHalfSplitF32 of float16 numbers,
// widened and rounded once at the end.
func RotateHalfSplitF16(y1, y2, x1, x2 []uint16, cos, sin []float32) {
	n := len(x1)
	y1, y2, x2, cos, sin = y1[:n], y2[:n], x2[:n], cos[:n], sin[:n]
	for i, a := range x1 {
		a, b := rotate(Float16ToFloat32(a), Float16ToFloat32(x2[i]), cos[i], sin[i])
		y1[i], y2[i] = Float32ToFloat16(a), Float32ToFloat16(b)
	}
}

// RotateHalfSplitBF16 is RotateHalfSplitF32 of bfloat16 numbers,
// widened and rounded once at the end.
func RotateHalfSplitBF16(y1, y2, x1, x2 []uint16, cos, sin []float32) {
	n := len(x1)
	y1, y2, x2, cos, sin = y1[:n], y2[:n], x2[:n], cos[:n], sin[:n]
	for i, a := range x1 {
		a, b := rotate(BFloat16ToFloat32(a), BFloat16ToFloat32(x2[i]), cos[i], sin[i])
		y1[i], y2[i] = Float32ToBFloat16(a), Float32ToBFloat16(b)
	}
}

// RotateHalfSplitF32ToF16 is RotateHalfSplitF32 of float32 numbers to float16 ones,
// rounded once more at the end.
func RotateHalfSplitF32ToF16(y1, y2 []uint16, x1, x2, cos, sin []float32) {
	n := len(x1)
	y1, y2, x2, cos, sin = y1[:n], y2[:n], x2[:n], cos[:n], sin[:n]
	for i, a := range x1 {
		a, b := rotate(a, x2[i], cos[i], sin[i])
		y1[i], y2[i] = Float32ToFloat16(a), Float32ToFloat16(b)
	}
}

// RotateHalfSplitF32ToBF16 is RotateHalfSplitF32 of float32 numbers to bfloat16 ones,
// rounded once more at the end.
func RotateHalfSplitF32ToBF16(y1, y2 []uint16, x1, x2, cos, sin []float32) {
	n := len(x1)
	y1, y2, x2, cos, sin = y1[:n], y2[:n], x2[:n], cos[:n], sin[:n]
	for i, a := range x1 {
		a, b := rotate(a, x2[i], cos[i], sin[i])
		y1[i], y2[i] = Float32ToBFloat16(a), Float32ToBFloat16(b)
	}
}

// RotateInterleavedF32 rotates the pairs (x[2i], x[2i+1]) to (y[2i], y[2i+1]) as
// RotateHalfSplitF32 does, for i < len(x)/2. y holds at least len(x) elements,
// cos and sin half as many. y may be x.
func RotateInterleavedF32(y, x, cos, sin []float32) {
	n := len(x) / 2
	y, cos, sin = y[:2*n], cos[:n], sin[:n]
	for i := range n {
		y[2*i], y[2*i+1] = rotate(x[2*i], x[2*i+1], cos[i], sin[i])
	}
}

// RotateInterleavedF16 is RotateInterleavedF32 of float16 numbers,
// widened and rounded once at the end.
func RotateInterleavedF16(y, x []uint16, cos, sin []float32) {
	n := len(x) / 2
	y, cos, sin = y[:2*n], cos[:n], sin[:n]
	for i := range n {
		a, b := rotate(Float16ToFloat32(x[2*i]), Float16ToFloat32(x[2*i+1]), cos[i], sin[i])
		y[2*i], y[2*i+1] = Float32ToFloat16(a), Float32ToFloat16(b)
	}
}

// RotateInterleavedBF16 is RotateInterleavedF32 of bfloat16 numbers,
// widened and rounded once at the end.
func RotateInterleavedBF16(y, x []uint16, cos, sin []float32) {
	n := len(x) / 2
	y, cos, sin = y[:2*n], cos[:n], sin[:n]
	for i := range n {
		a, b := rotate(BFloat16ToFloat32(x[2*i]), BFloat16ToFloat32(x[2*i+1]), cos[i], sin[i])
		y[2*i], y[2*i+1] = Float32ToBFloat16(a), Float32ToBFloat16(b)
	}
}

// RotateInterleavedF32ToF16 is RotateInterleavedF32 of float32 numbers to float16 ones,
// rounded once more at the end.
func RotateInterleavedF32ToF16(y []uint16, x, cos, sin []float32) {
	n := len(x) / 2
	y, cos, sin = y[:2*n], cos[:n], sin[:n]
	for i := range n {
		a, b := rotate(x[2*i], x[2*i+1], cos[i], sin[i])
		y[2*i], y[2*i+1] = Float32ToFloat16(a), Float32ToFloat16(b)
	}
}

// RotateInterleavedF32ToBF16 is RotateInterleavedF32 of float32 numbers to bfloat16 ones,
// rounded once more at the end.
func RotateInterleavedF32ToBF16(y []uint16, x, cos, sin []float32) {
	n := len(x) / 2
	y, cos, sin = y[:2*n], cos[:n], sin[:n]
	for i := range n {
		a, b := rotate(x[2*i], x[2*i+1], cos[i], sin[i])
		y[2*i], y[2*i+1] = Float32ToBFloat16(a), Float32ToBFloat16(b)
	}
}

// RotateHalfSplitF16ToF32 is RotateHalfSplitF32 of float16 numbers, widened.
func RotateHalfSplitF16ToF32(y1, y2 []float32, x1, x2 []uint16, cos, sin []float32) {
	n := len(x1)
	x2, y1, y2, cos, sin = x2[:n], y1[:n], y2[:n], cos[:n], sin[:n]
	for i := range n {
		y1[i], y2[i] = rotate(Float16ToFloat32(x1[i]), Float16ToFloat32(x2[i]), cos[i], sin[i])
	}
}

// RotateHalfSplitBF16ToF32 is RotateHalfSplitF32 of bfloat16 numbers, widened.
func RotateHalfSplitBF16ToF32(y1, y2 []float32, x1, x2 []uint16, cos, sin []float32) {
	n := len(x1)
	x2, y1, y2, cos, sin = x2[:n], y1[:n], y2[:n], cos[:n], sin[:n]
	for i := range n {
		y1[i], y2[i] = rotate(BFloat16ToFloat32(x1[i]), BFloat16ToFloat32(x2[i]), cos[i], sin[i])
	}
}

// RotateInterleavedF16ToF32 is RotateInterleavedF32 of float16 numbers, widened.
func RotateInterleavedF16ToF32(y []float32, x []uint16, cos, sin []float32) {
	n := len(x) / 2
	y, cos, sin = y[:2*n], cos[:n], sin[:n]
	for i := range n {
		y[2*i], y[2*i+1] = rotate(Float16ToFloat32(x[2*i]), Float16ToFloat32(x[2*i+1]), cos[i], sin[i])
	}
}

// RotateInterleavedBF16ToF32 is RotateInterleavedF32 of bfloat16 numbers, widened.
func RotateInterleavedBF16ToF32(y []float32, x []uint16, cos, sin []float32) {
	n := len(x) / 2
	y, cos, sin = y[:2*n], cos[:n], sin[:n]
	for i := range n {
		y[2*i], y[2*i+1] = rotate(BFloat16ToFloat32(x[2*i]), BFloat16ToFloat32(x[2*i+1]), cos[i], sin[i])
	}
}

// rotate converts each product to float32 because Go may otherwise fuse it
// with the addition that follows.
func rotate(x1, x2, c, s float32) (y1, y2 float32) {
	return float32(x1*c) - float32(x2*s), float32(x2*c) + float32(x1*s)
}
