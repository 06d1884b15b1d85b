package absolute

import (
	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// Shift turns rows at positions t into rows at positions t+delta, in place. It does not need the
// positions, as [posenc.Shift] does not for keys. It uses the linear shift property of sinusoids:
//
//	sin((t+delta)*w) = sin(t*w)*cos(delta*w) + cos(t*w)*sin(delta*w)
//	cos((t+delta)*w) = cos(t*w)*cos(delta*w) - sin(t*w)*sin(delta*w)
//
// The cosines and sines of delta*w are correctly rounded to float32; each product and each
// sum is rounded. Rows that [SinusoidalRows] wrote with Amplitude 1 come within 2^-22 of the
// real sines and cosines at t+delta. Rows of zeros, and elements beyond the axes, stay zero.
//
// rows is [tokens][Dim]. deltas has one element for each token; with several axes it is
// [axes][tokens]. Errors wrap ErrConfig (s, also where Dim is 2*n*Axes-1), [posenc.ErrLength],
// [posenc.ErrOverlap] or [posenc.ErrPosition] (an angle of 2^50 or beyond).
func (s *Sinusoidal) Shift(rows []float32, deltas []int32) error {
	const function = "absolute.Sinusoidal.Shift"
	tokens, err := checkRows(function, s, "rows", rows, "deltas", deltas)
	if err == nil {
		err = s.checkPairs(function)
	}
	if err != nil || tokens == 0 {
		return err
	}
	if tokens <= kernels.FewSinusoidalRowsAtOnce { // less memory to clear
		var scratch [2 * kernels.Width * kernels.FewSinusoidalRowsAtOnce]float32
		s.rotate(rows, deltas, tokens, scratch[:])
		return nil
	}
	var scratch [2 * kernels.Width * kernels.SinusoidalRowsAtOnce]float32
	s.rotate(rows, deltas, tokens, scratch[:])
	return nil
}

// rotate rotates the pairs of as many rows as scratch holds, kernels.Width pairs at a time.
func (s *Sinusoidal) rotate(rows []float32, deltas []int32, tokens int, scratch []float32) {
	direction := float32(-1) // (sin, cos) turns the other way round than (cos, sin)
	if s.order == CosThenSin {
		direction = 1
	}
	most := len(scratch) / (2 * kernels.Width)
	for first := 0; first < tokens; first += most {
		count := min(most, tokens-first)
		for axis := range s.axes {
			x := rows[first*s.dim+2*axis*s.pairs:]
			for column := 0; column < s.pairs; column += kernels.Width {
				n := min(kernels.Width, s.pairs-column)
				table := sinThenCos(scratch, n)
				s.ladder.Write(&table, column, n, deltas[axis*tokens+first:][:count], 1, direction)
				k := kernels.Rotation{Pairs: n, Partner: s.pairs, Tokens: count, XTokenStride: s.dim, YTokenStride: s.dim, Heads: 1, TableStride: table.Stride}
				if s.order == SinCosInterleaved {
					kernels.RotateInterleavedF32(dispatch.Implementation(), x[2*column:], x[2*column:], table.Cos, table.Sin, &k)
				} else {
					kernels.RotateHalfSplitF32(dispatch.Implementation(), x[column:], x[column:], table.Cos, table.Sin, &k)
				}
			}
		}
	}
}

// ShiftMatrix writes the matrix T that shifts rows by delta: for every t
//
//	row(t+delta) = T * row(t)
//
// T has a rotation by delta*w for each frequency w, correctly rounded to float32, and is zero
// elsewhere. matrix is [Dim][Dim]; deltas has one element for each axis. Errors are as in Shift.
func (s *Sinusoidal) ShiftMatrix(matrix []float32, deltas []int32) error {
	const function = "absolute.Sinusoidal.ShiftMatrix"
	if err := s.checkExists(function); err != nil {
		return err
	}
	if err := s.checkPairs(function); err != nil {
		return err
	}
	if len(deltas) != s.axes {
		return argument.Error(posenc.ErrLength, function, "deltas", argument.Elements(len(deltas)), "%d, one for each axis", s.axes)
	}
	if err := checkAngles(function, s, "deltas", deltas); err != nil {
		return err
	}
	if err := checkLength(function, "matrix", len(matrix), "Dim*Dim", s.dim, s.dim); err != nil {
		return err
	}
	if argument.Overlap(matrix, deltas) {
		return argument.Error(posenc.ErrOverlap, function, "matrix", "sharing memory with deltas", "another slice")
	}
	clear(matrix)
	var scratch [2 * kernels.Width]float32
	for axis := range s.axes {
		for column := 0; column < s.pairs; column += kernels.Width {
			n := min(kernels.Width, s.pairs-column)
			table := sinThenCos(scratch[:], n)
			s.ladder.Write(&table, column, n, deltas[axis:axis+1], 1, 1)
			for i := range n {
				sinAt, cosAt := s.places(column + i)
				sinAt, cosAt = sinAt+2*axis*s.pairs, cosAt+2*axis*s.pairs
				matrix[sinAt*s.dim+sinAt], matrix[sinAt*s.dim+cosAt] = table.Cos[i], table.Sin[i]
				matrix[cosAt*s.dim+sinAt], matrix[cosAt*s.dim+cosAt] = -table.Sin[i], table.Cos[i]
			}
		}
	}
	return nil
}

// checkPairs checks that every sine has its cosine.
func (s *Sinusoidal) checkPairs(function string) error {
	if s.lacksOne() {
		return argument.Error(posenc.ErrConfig, function, "s", "an encoding that leaves out the last cosine", "one with a cosine for every sine")
	}
	return nil
}
