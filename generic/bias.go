package generic

// AddF32 adds x to y, which holds at most as many elements:
//
//	y[i] = RN32(y[i] + x[i])
func AddF32(y, x []float32) {
	x = x[:len(y)]
	for i := range y {
		y[i] += x[i]
	}
}

// AddClampedF32 adds elements of x from number first on, and the first or the last
// of them where there are none:
//
//	y[i] = RN32(y[i] + x[min(max(first+i, 0), len(x)-1)])
func AddClampedF32(y, x []float32, first int) {
	for i := range y {
		y[i] += x[min(max(first+i, 0), len(x)-1)]
	}
}

// AddDistanceF32 adds a bias that is linear in a distance, first for the first
// element and one more for each that follows:
//
//	y[i] = RN32(y[i] + RN32(slope*RN32(first+i)))
//
// Distances fit an int32.
func AddDistanceF32(y []float32, slope float32, first int) {
	for i := range y {
		y[i] += float32(slope * float32(first+i))
	}
}

// SubAbsoluteDistanceF32 subtracts a bias that is linear in the magnitude of the
// distance:
//
//	y[i] = RN32(y[i] - RN32(slope*RN32(|first+i|)))
func SubAbsoluteDistanceF32(y []float32, slope float32, first int) {
	for i := range y {
		d := first + i
		y[i] -= float32(slope * float32(max(d, -d)))
	}
}
