package generic

// RotateHalfSplit rotates, in place, the pairs (x1[i], x2[i]) by the angle
// whose cosine and sine are cos[i] and sin[i], for i < len(x1):
//
//	x1[i], x2[i] = RN32(RN32(x1[i]*cos[i]) - RN32(x2[i]*sin[i])),
//	               RN32(RN32(x2[i]*cos[i]) + RN32(x1[i]*sin[i]))
//
// The other slices hold at least len(x1) elements.
func RotateHalfSplit(x1, x2, cos, sin []float32) {
	x2, cos, sin = x2[:len(x1)], cos[:len(x1)], sin[:len(x1)]
	for i, a := range x1 {
		x1[i], x2[i] = rotate(a, x2[i], cos[i], sin[i])
	}
}

// RotateInterleaved rotates, in place, the pairs (x[2i], x[2i+1]) as
// RotateHalfSplit does, for i < len(x)/2. cos and sin hold at least len(x)/2
// elements.
func RotateInterleaved(x, cos, sin []float32) {
	n := len(x) / 2
	cos, sin = cos[:n], sin[:n]
	for i := range n {
		x[2*i], x[2*i+1] = rotate(x[2*i], x[2*i+1], cos[i], sin[i])
	}
}

// rotate converts each product to float32 because Go may otherwise fuse it
// with the addition that follows.
func rotate(x1, x2, c, s float32) (y1, y2 float32) {
	return float32(x1*c) - float32(x2*s), float32(x2*c) + float32(x1*s)
}
