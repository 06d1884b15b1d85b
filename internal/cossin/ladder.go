package posenc

import (
	"fmt"
	"math"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/kernels"
)

// ladder is frequencies as the kernels read them.
type ladder struct {
	blocks    []kernels.Block // Exact angles: kernels.Width frequencies at a time
	shifts    []kernels.Shift
	invFreq32 []float32 // Float32 angles
}

func (l *ladder) set(invFreq []float64, angles Angles) {
	if angles == Float32 {
		l.invFreq32 = make([]float32, len(invFreq))
		for i, w := range invFreq {
			l.invFreq32[i] = float32(w)
		}
		return
	}
	blocks := (len(invFreq) + kernels.Width - 1) / kernels.Width
	l.blocks = make([]kernels.Block, blocks)
	l.shifts = make([]kernels.Shift, blocks)
	for i := range l.blocks {
		first := i * kernels.Width
		l.blocks[i].Set(invFreq[first:min(first+kernels.Width, len(invFreq))])
		l.shifts[i].Set(implementation, &l.blocks[i])
	}
}

// rows writes the pairs from number column on, pairs of them, of the rows of
// positions.
func (l *ladder) rows(to *rows, column, pairs int, positions []int32, scaleCos, scaleSin float32) {
	cos, sin, stride := to.cos, to.sin, to.stride
	if len(positions) == 0 {
		return
	}
	if l.blocks == nil {
		invFreq := l.invFreq32[column : column+pairs]
		for t, p := range positions {
			at := t * stride
			if t > 0 && p == positions[t-1] {
				copy(cos[at:at+pairs], cos[at-stride:])
				copy(sin[at:at+pairs], sin[at-stride:])
				continue
			}
			cosSinFloat32(cos[at:at+pairs], sin[at:at+pairs], invFreq, float32(p), scaleCos, scaleSin)
		}
		return
	}
	for done := 0; done < pairs; done += kernels.Width {
		i := (column + done) / kernels.Width
		b := &l.blocks[i]
		if len(positions) == 1 {
			end := done + b.Len()
			kernels.CosSinExactRow(implementation, cos[done:end], sin[done:end], float64(positions[0]), b, scaleCos, scaleSin)
		} else {
			kernels.CosSinExactRows(implementation, cos[done:], sin[done:], stride, positions, b, &l.shifts[i], scaleCos, scaleSin, pastCaches(len(cos)))
		}
	}
}

// fractionalRows is rows of all pairs for positions that need not be integers.
func (l *ladder) fractionalRows(to *rows, pairs int, positions []float32, scaleCos, scaleSin float32) {
	for t, p := range positions {
		row := to.from(t)
		if l.blocks == nil {
			cosSinFloat32(row.cos[:pairs], row.sin[:pairs], l.invFreq32, p, scaleCos, scaleSin)
			continue
		}
		for i := range l.blocks {
			b := &l.blocks[i]
			first := i * kernels.Width
			kernels.CosSinExactRow(implementation, row.cos[first:first+b.Len()], row.sin[first:first+b.Len()], float64(p), b, scaleCos, scaleSin)
		}
	}
}

// axis is the pairs that take their positions from one axis.
type axis struct {
	ladder
	index int     // of the axis
	pairs []int32 // numbers of the pairs, ascending
}

// axesOf sorts the pairs by their axes. An axis without pairs has no entry.
func axesOf(axes []uint8, invFreq []float64, angles Angles) []axis {
	var all []axis
	for index := range axisCount(axes) {
		a := axis{index: index}
		var frequencies []float64
		for j, of := range axes {
			if int(of) == index {
				a.pairs = append(a.pairs, int32(j))
				frequencies = append(frequencies, invFreq[j])
			}
		}
		if len(a.pairs) > 0 {
			a.set(frequencies, angles)
			all = append(all, a)
		}
	}
	return all
}

// axisCount returns the number of axes of positions, one where axes is empty.
func axisCount(axes []uint8) int {
	count := 1
	for _, a := range axes {
		count = max(count, int(a)+1)
	}
	return count
}

// section returns the first of the pairs, and whether they are neighbours.
func (a *axis) section() (first int, ok bool) {
	first, last := int(a.pairs[0]), int(a.pairs[len(a.pairs)-1])
	return first, last-first == len(a.pairs)-1
}

// axisRows writes the rows of at most chunkRows tokens of several axes, whose
// pairs fit the scratch memory.
func (r *Rotary) axisRows(to *rows, s *span, scaleCos, scaleSin float32) {
	for i := range r.axes {
		if _, ok := r.axes[i].section(); !ok {
			r.scatteredRows(to, s, scaleCos, scaleSin)
			return
		}
	}
	for i := range r.axes {
		a := &r.axes[i]
		first, _ := a.section()
		a.ladder.rows(&rows{to.cos[first:], to.sin[first:], to.stride}, 0, len(a.pairs), s.of(a.index), scaleCos, scaleSin)
	}
}

// scatteredRows is axisRows for axes whose pairs are no sections. A row starts as
// the one before; only axes whose position is another are written into it, as time
// and height stay the same along a line of an image.
func (r *Rotary) scatteredRows(to *rows, s *span, scaleCos, scaleSin float32) {
	var cos, sin [chunkPairs]float32
	pairs := r.rotaryDim / 2
	at := 0
	for i := range r.axes {
		a := &r.axes[i]
		n, positions := len(a.pairs), s.of(a.index)
		if equal(positions) { // only the first row is read
			positions = positions[:1]
		}
		a.ladder.rows(&rows{cos[at:], sin[at:], n}, 0, n, positions, scaleCos, scaleSin)
		at += n * s.n
	}
	for t := range s.n {
		row := to.from(t)
		row.cos, row.sin = row.cos[:pairs], row.sin[:pairs]
		if t > 0 {
			before := to.from(t - 1)
			copy(row.cos, before.cos)
			copy(row.sin, before.sin)
		}
		at := 0
		for i := range r.axes {
			a := &r.axes[i]
			n := len(a.pairs)
			if positions := s.of(a.index); t == 0 || positions[t] != positions[t-1] {
				cosines, sines := cos[at+t*n:][:n], sin[at+t*n:][:n]
				for k, pair := range a.pairs {
					row.cos[pair], row.sin[pair] = cosines[k], sines[k]
				}
			}
			at += n * s.n
		}
	}
}

// decay is the factors of xPos: 2^(direction*(p-center)*(high[i]+low[i])).
type decay struct {
	high, low []float64
	center    int32
	direction float64
}

// apply multiplies the pairs from number column on, pairs of them, of the rows
// of positions.
func (d *decay) apply(to *rows, column, pairs int, positions []int32) {
	for t, p := range positions {
		row := to.from(t)
		distance := d.direction * (float64(p) - float64(d.center))
		for i := range pairs {
			high, low := d.high[column+i], d.low[column+i]
			exponent := distance * high
			factor := generic.Exp2(exponent, math.FMA(distance, high, -exponent)+float64(distance*low))
			row.cos[i] *= factor
			row.sin[i] *= factor
		}
	}
}

// span is consecutive tokens of a call.
type span struct {
	positions []int32 // of the whole call, [axes][tokens]
	tokens    int     // of the whole call
	first, n  int     // the tokens of the span
}

// of returns the positions of the span on one axis.
func (s *span) of(axis int) []int32 {
	return s.positions[axis*s.tokens+s.first:][:s.n]
}

// alike reports whether every token of the span has the same position on all
// axes, as text has in a model of images.
func (s *span) alike(axes int) bool {
	positions := s.of(0)
	for a := 1; a < axes; a++ {
		for t, p := range s.of(a) {
			if p != positions[t] {
				return false
			}
		}
	}
	return true
}

// repeated reports whether all tokens of the span, of which there are several,
// have the same positions.
func (s *span) repeated(axes int) bool {
	if s.n < 2 || s.positions == nil {
		return false
	}
	for a := range axes {
		if !equal(s.of(a)) {
			return false
		}
	}
	return true
}

// equal reports whether all positions, at least one, are the same.
func equal(positions []int32) bool {
	for _, p := range positions[1:] {
		if p != positions[0] {
			return false
		}
	}
	return true
}

// rows is cosines and sines, row t at cos[t*stride] and sin[t*stride].
type rows struct {
	cos, sin []float32
	stride   int
}

// rows writes the pairs from number column on, pairs of them, of the rows of the
// tokens of a span, or points to where a table has them. The sines are
// multiplied by direction.
func (r *Rotary) rows(to *rows, column, pairs int, s *span, scaling, direction float32) {
	if r.table != nil {
		r.table.rows(to, column, pairs, s, direction)
		return
	}
	if r.axisCount == 1 {
		r.ladder.rows(to, column, pairs, s.of(0), scaling, scaling*direction)
		if r.decay != nil {
			r.decay.apply(to, column, pairs, s.of(0))
		}
		return
	}
	// The rows of several axes fit the scratch memory, so that column is 0.
	most := min(chunkRows, chunkPairs/pairs)
	for part := (span{s.positions, s.tokens, s.first, 0}); part.first < s.first+s.n; part.first += part.n {
		part.n = min(most, s.first+s.n-part.first)
		rest := to.from(part.first - s.first)
		if part.alike(r.axisCount) {
			r.ladder.rows(&rest, 0, pairs, part.of(0), scaling, scaling*direction)
		} else {
			r.axisRows(&rest, &part, scaling, scaling*direction)
		}
	}
}

// from returns the rows from number t on.
func (r *rows) from(t int) rows {
	return rows{r.cos[t*r.stride:], r.sin[t*r.stride:], r.stride}
}

// largestMagnitude returns the largest |w| and its index; a NaN is the largest
// of all.
func largestMagnitude(invFreq []float64) (largest float64, index int) {
	for i, w := range invFreq {
		if m := math.Abs(w); !(m <= largest) {
			largest, index = m, i
			if m != m {
				break
			}
		}
	}
	return largest, index
}

// lastPosition returns the largest |position|, up to 2^31, for which
// position*largest stays below 2^50.
func lastPosition(largest float64) int64 {
	if largest < 1<<19 { // 2^31 * 2^19 is 2^50
		return 1 << 31
	}
	// The quotient may be rounded up to where the product is 2^50.
	return int64(math.Nextafter(maxAngle/largest, 0))
}

func frequencyError(function, argument string, index int, value float64) error {
	return argumentError(ErrConfig, function, indexed(argument, index), value, "a finite number below 2^50 in magnitude")
}

// tokenCount returns the number of tokens that the positions, the named
// argument, are of.
func (r *Rotary) tokenCount(function, argument string, positions []int32) (int, error) {
	if r == nil || r.rotaryDim == 0 {
		return 0, argumentError(ErrConfig, function, "r", "nil or zero", "a Rotary from NewRotary")
	}
	if r.table != nil {
		return r.table.tokenCount(function, positions)
	}
	if len(positions)%r.axisCount != 0 {
		return 0, argumentError(ErrLength, function, argument, elements(len(positions)), "a multiple of %d, for [axes][tokens] of %d axes", r.axisCount, r.axisCount)
	}
	return len(positions) / r.axisCount, checkPositions(function, argument, positions, r.lastPosition)
}

// checkPositions returns an error for the first position beyond last.
func checkPositions(function, argument string, positions []int32, last int64) error {
	if last >= 1<<31 {
		return nil
	}
	for i, p := range positions {
		if int64(p) > last || int64(p) < -last {
			return argumentError(ErrPosition, function, indexed(argument, i), p, "at most %s", positionLimit(last))
		}
	}
	return nil
}

// positionLimit says how large a position may be, and why.
func positionLimit(last int64) string {
	if last == 1<<31 {
		return "2^31 in magnitude"
	}
	return fmt.Sprintf("%d in magnitude, so that angles stay below 2^50", last)
}
