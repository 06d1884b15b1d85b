package posenc

// Shift turns rows at positions t into rows at positions t+delta, in place and
// without their positions: by the linear shift property of sinusoids
//
//	sin((t+delta)*w) = sin(t*w)*cos(delta*w) + cos(t*w)*sin(delta*w)
//	cos((t+delta)*w) = cos(t*w)*cos(delta*w) - sin(t*w)*sin(delta*w)
//
// with the cosines and sines of delta*w correctly rounded to float32, and each
// product and each sum rounded. Rows that SinusoidalRows wrote, with Scaling 1,
// come within 2^-22 of the real sines and cosines at t+delta. A row of zeros
// stays one, as do the elements beyond the axes.
//
// rows is [tokens][Dim], deltas has one element for each token, or is
// [axes][tokens]. A call allocates nothing.
//
// Errors wrap ErrConfig (s, also one whose rows leave an element out), ErrLength,
// ErrOverlap or ErrPosition (an angle of 2^50 or beyond).
func (s *Sinusoidal) Shift(rows []float32, deltas []int32) error {
	const function = "Sinusoidal.Shift"
	tokens, err := checkSinusoidal(function, s, "deltas", deltas, "rows", rows)
	if err == nil {
		err = s.checkPairs(function)
	}
	if err != nil || tokens == 0 {
		return err
	}
	for axis := range s.axes {
		x := View[float32]{Data: rows[2*axis*s.pairs:], Heads: 1, TokenStride: s.dim}
		if s.order == CosThenSin {
			err = Rotate(s.shift, deltas[axis*tokens:][:tokens], x)
		} else { // a rotation of (cos, sin) is the inverse one of (sin, cos)
			err = RotateInverse(s.shift, deltas[axis*tokens:][:tokens], x)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ShiftMatrix writes the matrix T of a shift, with which
//
//	row(t+delta) = T * row(t)
//
// for every t. It has a rotation by delta*w for each frequency w, correctly
// rounded to float32, and is zero elsewhere. matrix is [Dim][Dim]; deltas has one
// element for each axis.
//
// Errors wrap ErrConfig (s, also one whose rows leave an element out), ErrLength,
// ErrOverlap or ErrPosition (an angle of 2^50 or beyond).
func (s *Sinusoidal) ShiftMatrix(matrix []float32, deltas []int32) error {
	const function = "Sinusoidal.ShiftMatrix"
	if s == nil || s.dim == 0 {
		return argumentError(ErrConfig, function, "s", "nil or zero", "a Sinusoidal from NewSinusoidal")
	}
	if err := s.checkPairs(function); err != nil {
		return err
	}
	if len(deltas) != s.axes {
		return argumentError(ErrLength, function, "deltas", elements(len(deltas)), "%d, one for each axis", s.axes)
	}
	if err := checkAngles(function, s, "deltas", deltas); err != nil {
		return err
	}
	if want, ok := multiply(s.dim, s.dim); !ok || len(matrix) != want {
		return argumentError(ErrLength, function, "matrix", elements(len(matrix)), "%d*%d", s.dim, s.dim)
	}
	if memoryOverlaps(matrix, deltas) {
		return argumentError(ErrOverlap, function, "matrix", "sharing memory with deltas", "another slice")
	}
	clear(matrix)
	var cos, sin [sinusoidalColumns]float32
	for axis := range s.axes {
		for column := 0; column < s.pairs; column += sinusoidalColumns {
			n := min(sinusoidalColumns, s.pairs-column)
			s.ladder.rows(&rows{cos[:], sin[:], n}, column, n, deltas[axis:axis+1], 1, 1)
			for i := range n {
				sinAt, cosAt := s.places(column + i)
				sinAt, cosAt = sinAt+2*axis*s.pairs, cosAt+2*axis*s.pairs
				matrix[sinAt*s.dim+sinAt], matrix[sinAt*s.dim+cosAt] = cos[i], sin[i]
				matrix[cosAt*s.dim+sinAt], matrix[cosAt*s.dim+cosAt] = -sin[i], cos[i]
			}
		}
	}
	return nil
}

// checkPairs checks that there is a cosine for each sine.
func (s *Sinusoidal) checkPairs(function string) error {
	if s.lacksOne() {
		return argumentError(ErrConfig, function, "s", "an encoding that leaves the last element out", "pairs of a sine and a cosine")
	}
	return nil
}
