package generic

// DotF32 returns the dot product of x with y, which holds at least as many elements:
//
//	sums[l] = RN32(sums[l] + RN32(x[i]*y[i]))    i = l, l+16, l+32, ...; l < 16
//	sums[l] = RN32(sums[l] + sums[l+d])          l < d; d = 8, 4, 2, 1
//
// It is sums[0]. The sums start at 0.
func DotF32(x, y []float32) float32 {
	y = y[:len(x)]
	var sums laneSums
	for len(x) >= len(sums) {
		a, b := (*[len(sums)]float32)(x), (*[len(sums)]float32)(y)
		for i, v := range a {
			sums.add(i, v, b[i])
		}
		x, y = x[len(sums):], y[len(sums):]
	}
	for i, v := range x {
		sums.add(i, v, y[i])
	}
	return sums.total()
}

// AddMultipleF32 adds a multiple of x, which holds at least as many elements, to y:
//
//	y[i] = RN32(y[i] + RN32(factor*x[i]))
func AddMultipleF32(y, x []float32, factor float32) {
	x = x[:len(y)]
	for i := range y {
		y[i] += float32(factor * x[i])
	}
}

// laneSums are the sums of every sixteenth of some products.
type laneSums [16]float32

// add adds product i. It converts it to float32 because Go may otherwise fuse it
// with the addition.
func (s *laneSums) add(i int, x, y float32) { s[i%16] += float32(x * y) }

// total returns the sum of the sums.
func (s *laneSums) total() float32 {
	for d := 8; d > 0; d /= 2 {
		for l := range d {
			s[l] += s[l+d]
		}
	}
	return s[0]
}
