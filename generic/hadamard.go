package generic

// HadamardF32 is the Walsh-Hadamard transform of x, whose length is a power of two, in
// natural order:
//
//	x[i] = RN32(x[i]*factor)
//	x[i], x[i+h] = RN32(x[i]+x[i+h]), RN32(x[i]-x[i+h])    i without bit h; h = 1, 2, 4, ...
//
// With factor 1/sqrt(len(x)) it is its own inverse, apart from rounding.
func HadamardF32(x []float32, factor float32) {
	for i := range x {
		x[i] *= factor
	}
	for h := 1; h < len(x); h *= 2 {
		for first := 0; first < len(x); first += 2 * h {
			a, b := x[first:][:h], x[first+h:][:h]
			for i, v := range a {
				a[i], b[i] = v+b[i], v-b[i]
			}
		}
	}
}
