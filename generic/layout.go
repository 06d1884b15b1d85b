package generic

// Deinterleave writes the pairs (x[2i], x[2i+1]) as two halves:
//
//	y[i], y[n+i] = x[2i], x[2i+1]    n = len(x)/2, i < n
//
// y holds at least 2n elements and shares none with x.
func Deinterleave[T any](y, x []T) {
	n := len(x) / 2
	y = y[:2*n]
	for i := range n {
		y[i], y[n+i] = x[2*i], x[2*i+1]
	}
}

// Interleave is the inverse of Deinterleave:
//
//	y[2i], y[2i+1] = x[i], x[n+i]    n = len(x)/2, i < n
//
// y holds at least 2n elements and shares none with x.
func Interleave[T any](y, x []T) {
	n := len(x) / 2
	y = y[:2*n]
	for i := range n {
		y[2*i], y[2*i+1] = x[i], x[n+i]
	}
}
