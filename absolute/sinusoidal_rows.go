package absolute

import (
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// SinusoidalRows writes one row of s for each position. The sine and the cosine of frequency
// w[k] at position p are
//
//	RN32(RN32(sin(p*w[k])) * RN32(Amplitude))    RN32(RN32(cos(p*w[k])) * RN32(Amplitude))
//
// The product p*w[k] is exact. An Amplitude other than 1 rounds once more, and so do 16-bit
// elements. The order within a row is s's [SinusoidalOrder].
//
// dst is [tokens][Dim]. With several axes positions is [axes][tokens], and axis a fills the
// elements from 2*n*a on, for n frequencies. Where Dim is larger than 2*n*Axes, the remaining
// elements are zero. Where it is 2*n*Axes-1, the last element of the last axis is left out.
// Errors wrap ErrConfig (s), [posenc.ErrLength], [posenc.ErrOverlap] or [posenc.ErrPosition] (a
// NaN, a position beyond 2^31 in magnitude or an angle of 2^50 or beyond).
func SinusoidalRows[T posenc.Element, P Position](dst []T, s *Sinusoidal, positions []P) error {
	tokens, err := checkRows("absolute.SinusoidalRows", s, "dst", dst, "positions", positions)
	if err != nil || tokens == 0 {
		return err
	}
	makeRows(&destination{Operand: operandOf(dst)}, s, positions, tokens)
	return nil
}

// AddSinusoidal scales embeddings and adds the rows of their positions, in place and in one pass:
//
//	x[i] = RN(RN32(RN32(x[i]*scale) + row[i]))
//
// row is the float32 row that [SinusoidalRows] writes, and RN rounds once to 16-bit elements.
// scale is the factor by which the model scales its token embeddings: sqrt(Dim) in Vaswani
// et al., 1 if there is none. 0 multiplies by 0; it is no default.
//
// x is [tokens][Dim]. Errors are as in SinusoidalRows, and ErrConfig for a scale that is not
// finite.
func AddSinusoidal[T posenc.Element, P Position](x []T, s *Sinusoidal, positions []P, scale float32) error {
	const function = "absolute.AddSinusoidal"
	tokens, err := checkRows(function, s, "x", x, "positions", positions)
	if err != nil {
		return err
	}
	if !(math.Abs(float64(scale)) <= math.MaxFloat32) {
		return argument.Error(posenc.ErrConfig, function, "scale", scale, "a finite number")
	}
	if tokens > 0 {
		makeRows(&destination{operandOf(x), true, scale}, s, positions, tokens)
	}
	return nil
}

// SinusoidalRows64 is [SinusoidalRows] in float64, as MAE makes its tables:
//
//	RN64(RN64(sin(p*w[k])) * RN32(Amplitude))    RN64(RN64(cos(p*w[k])) * RN32(Amplitude))
//
// Sine and cosine are correctly rounded: within half a unit in the last place. Each pair takes
// microseconds, so use it for tables that are made once. Errors are as in SinusoidalRows.
func SinusoidalRows64[P Position](dst []float64, s *Sinusoidal, positions []P) error {
	tokens, err := checkRows("absolute.SinusoidalRows64", s, "dst", dst, "positions", positions)
	if err != nil || tokens == 0 {
		return err
	}
	clear(dst)
	var cos, sin [kernels.Width]float64
	for t := range tokens {
		if s.isPadding(float64(positions[t])) {
			continue
		}
		for axis := range s.axes {
			row := dst[t*s.dim:][2*axis*s.pairs : min(2*(axis+1)*s.pairs, s.dim)]
			for first := 0; first < s.pairs; first += kernels.Width {
				invFreq := s.invFreq[first:min(first+kernels.Width, s.pairs)]
				kernels.BeforeFMA()
				generic.CosSinExactF64(cos[:], sin[:], float64(positions[axis*tokens+t]), invFreq)
				for i := range invFreq {
					sinAt, cosAt := s.places(first + i)
					if sinAt < len(row) {
						row[sinAt] = sin[i] * float64(s.scaling)
					}
					if cosAt < len(row) {
						row[cosAt] = cos[i] * float64(s.scaling)
					}
				}
			}
		}
	}
	return nil
}

// destination is the elements that a call writes rows to. With add it scales them and adds
// the rows.
type destination struct {
	view.Operand
	add   bool
	scale float32
}

// makeRows writes or adds the rows of positions. Kernels write float32 rows of integer
// positions straight to their place; others go through scratch memory.
func makeRows[P Position](dst *destination, s *Sinusoidal, positions []P, tokens int) {
	integers, ok := any(positions).([]int32)
	switch {
	case !ok || dst.Kind != kernels.KindFloat32 || s.lacksOne():
		makeInScratch(dst, s, positions, tokens)
	case s.order == SinCosInterleaved || dst.add:
		s.makeInPlace(dst, integers, tokens)
	default:
		s.writeHalves(dst, integers, tokens)
	}
}

// writeHalves writes rows whose sines and cosines lie apart, as in a cos/sin cache.
func (s *Sinusoidal) writeHalves(dst *destination, positions []int32, tokens int) {
	x := dst.Float32s(0)
	sinAt, cosAt := s.places(0)
	table := cossin.Table{Stride: s.dim}
	table.Begin(len(x))
	for axis := range s.axes {
		at := 2 * axis * s.pairs
		table.Cos, table.Sin = x[at+cosAt:], x[at+sinAt:]
		s.ladder.Write(&table, 0, s.pairs, positions[axis*tokens:][:tokens], s.scaling, s.scaling)
	}
	table.End()
	for t := range tokens {
		clear(x[t*s.dim:][s.filled(float64(positions[t])):s.dim])
	}
}

// makeInPlace writes or adds rows in one pass over them. It takes the rows that share a seed
// together.
func (s *Sinusoidal) makeInPlace(dst *destination, positions []int32, tokens int) {
	x := dst.Float32s(0)
	to := kernels.Sinusoids{Stride: s.dim, Interleaved: s.order == SinCosInterleaved, Add: dst.add, Scaling: s.scaling, Scale: dst.scale}
	for first, count := 0, 0; first < tokens; first += count {
		count = s.together(positions[first:tokens])
		filled := s.filled(float64(positions[first]))
		for axis := 0; 2*axis*s.pairs < filled; axis++ {
			at := first*s.dim + 2*axis*s.pairs
			for block := 0; block < len(s.ladder.Blocks); block += kernels.MaxBlocks {
				end := min(block+kernels.MaxBlocks, len(s.ladder.Blocks))
				sinAt, cosAt := s.places(block * kernels.Width)
				to.Sin, to.Cos = x[at+sinAt:], x[at+cosAt:]
				kernels.SinusoidalRows(dispatch.Implementation(), &to, positions[axis*tokens+first:][:count], s.ladder.Blocks[block:end], s.ladder.Shifts[block:end])
			}
		}
		for t := first; t < first+count && filled < s.dim; t++ {
			dst.putZeros(t*s.dim+filled, s.dim-filled)
		}
	}
}

// together returns how many tokens, from the first on, share a seed if their positions count
// up, and are either all padding or all not.
func (s *Sinusoidal) together(positions []int32) int {
	n := min(kernels.SinusoidalRowsAtOnce-int(positions[0]&(kernels.SinusoidalRowsAtOnce-1)), len(positions))
	if s.padded {
		for t, p := range positions[:n] {
			if (p == s.padding) != (positions[0] == s.padding) {
				return t
			}
		}
	}
	return n
}

func makeInScratch[P Position](dst *destination, s *Sinusoidal, positions []P, tokens int) {
	if tokens <= kernels.FewSinusoidalRowsAtOnce { // less memory to clear
		var scratch [2*kernels.Width*kernels.FewSinusoidalRowsAtOnce + kernels.Line]float32
		makeInChunks(dst, s, positions, tokens, kernels.LineAligned(scratch[:]))
		return
	}
	var scratch [2*kernels.Width*kernels.SinusoidalRowsAtOnce + kernels.Line]float32
	makeInChunks(dst, s, positions, tokens, kernels.LineAligned(scratch[:]))
}

// makeInChunks makes pairs of as many rows as scratch holds, kernels.Width at a time.
func makeInChunks[P Position](dst *destination, s *Sinusoidal, positions []P, tokens int, scratch []float32) {
	var interleaved [2 * kernels.Width]float32
	most := len(scratch) / (2 * kernels.Width)
	for first := 0; first < tokens; first += most {
		count := min(most, tokens-first)
		for axis := range s.axes {
			for column := 0; column < s.pairs; column += kernels.Width {
				n := min(kernels.Width, s.pairs-column)
				table := sinThenCos(scratch, n)
				switch p := any(positions[axis*tokens+first:][:count]).(type) {
				case []int32:
					s.ladder.Write(&table, column, n, p, s.scaling, s.scaling)
				case []float32:
					s.ladder.WriteFractional(&table, column, n, p, s.scaling, s.scaling)
				}
				for t := range count {
					if !s.isPadding(float64(positions[first+t])) {
						dst.putPairs(s, first+t, axis, column, scratch[2*n*t:][:2*n], interleaved[:2*n])
					}
				}
			}
		}
		for t := first; t < first+count; t++ {
			filled := s.filled(float64(positions[t]))
			dst.putZeros(t*s.dim+filled, s.dim-filled)
		}
	}
}

// sinThenCos returns a table over scratch, whose rows are n sines, then n cosines.
func sinThenCos(scratch []float32, n int) cossin.Table {
	return cossin.Table{Cos: scratch[n:], Sin: scratch, Stride: 2 * n}
}

// putPairs puts the sines, then cosines, in values to their places in row t. They are those
// of an axis from frequency column on. interleaved is scratch memory.
func (dst *destination) putPairs(s *Sinusoidal, t, axis, column int, values, interleaved []float32) {
	n := len(values) / 2
	sinAt, cosAt := s.places(column)
	at, room := t*s.dim+2*axis*s.pairs, s.dim-2*axis*s.pairs // which lacks an element where s does
	if s.order != SinCosInterleaved {
		dst.put(at+sinAt, values[:min(n, room-sinAt)])
		dst.put(at+cosAt, values[n:][:min(n, room-cosAt)])
		return
	}
	if dst.Kind == kernels.KindFloat32 && !dst.add && 2*n <= room-sinAt {
		view.ReorderFloat32s(dst.Float32s(at + sinAt)[:2*n], values, view.HalfSplit, view.Interleaved)
		return
	}
	view.ReorderFloat32s(interleaved, values, view.HalfSplit, view.Interleaved)
	dst.put(at+sinAt, interleaved[:min(2*n, room-sinAt)])
}

// put writes values to the elements from index at on, or adds them.
func (dst *destination) put(at int, values []float32) {
	switch {
	case dst.add:
		addScaled(&dst.Operand, at, values, dst.scale)
	case dst.Kind == kernels.KindFloat32:
		copy(dst.Float32s(at), values)
	default:
		from := view.Over(values)
		view.Convert(&dst.Operand, &from, at, 0, len(values))
	}
}

// putZeros writes zeros to n elements from index at on, or adds them.
func (dst *destination) putZeros(at, n int) {
	for end := at + n; at < end; at += len(zeros) {
		dst.put(at, zeros[:min(len(zeros), end-at)])
	}
}

var zeros [2 * kernels.Width]float32

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
