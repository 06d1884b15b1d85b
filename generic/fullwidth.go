package generic

// RotateFullWidth rotates the pairs (x1[i], x2[i]) into (y1[i], y2[i]), for
// i < len(x1), where each element of a pair has a cosine and a sine of its own:
// cos[i] and sin[i] for the first, cos[len(x1)+i] and sin[len(x1)+i] for the
// second.
//
//	y1[i] = RN32(RN32(x1[i]*cos[i]) - RN32(x2[i]*sin[i]))
//	y2[i] = RN32(RN32(x2[i]*cos[len(x1)+i]) + RN32(x1[i]*sin[len(x1)+i]))
func RotateFullWidth(y1, y2, x1, x2, cos, sin []float32) {
	n := len(x1)
	for i := range n {
		y1[i], _ = rotate(x1[i], x2[i], cos[i], sin[i])
		_, y2[i] = rotate(x1[i], x2[i], cos[n+i], sin[n+i])
	}
}
