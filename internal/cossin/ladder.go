package cossin

import (
	"slices"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// Ladder is inverse frequencies as the kernels read them.
type Ladder struct {
	Blocks        []kernels.Block // exact angles: kernels.Width frequencies at a time
	Shifts        []kernels.Shift // of the blocks
	invFreq32     []float32       // float32 angles
	float32Blocks []kernels.Float32Block
}

// NewLadder returns the ladder of frequencies below 2^50 in magnitude, for exact
// angles or for float32 ones.
func NewLadder(invFreq []float64, float32Angles bool) Ladder {
	var l Ladder
	if float32Angles {
		l.invFreq32 = make([]float32, len(invFreq))
		for i, w := range invFreq {
			l.invFreq32[i] = float32(w)
		}
		for block := range slices.Chunk(l.invFreq32, kernels.Width) {
			var b kernels.Float32Block
			b.Set(dispatch.Implementation(), block)
			l.float32Blocks = append(l.float32Blocks, b)
		}
		return l
	}
	blocks := (len(invFreq) + kernels.Width - 1) / kernels.Width
	l.Blocks = make([]kernels.Block, blocks)
	l.Shifts = make([]kernels.Shift, blocks)
	for i := range l.Blocks {
		first := i * kernels.Width
		l.Blocks[i].Set(invFreq[first:min(first+kernels.Width, len(invFreq))])
		l.Shifts[i].Set(dispatch.Implementation(), &l.Blocks[i])
	}
	return l
}

// Write writes the pairs from number column on, a multiple of kernels.Width, and pairs of them,
// of the rows of positions. Cosines and sines are multiplied by scaleCos and scaleSin.
func (l *Ladder) Write(to *Table, column, pairs int, positions []int32, scaleCos, scaleSin float32) {
	switch {
	case len(positions) == 0:
	case l.Blocks == nil && len(positions) == 1:
		writeFloat32Row(to.Cos[:pairs], to.Sin[:pairs], l.invFreq32[column:column+pairs], float32(positions[0]), scaleCos, scaleSin)
	case l.Blocks == nil:
		for done := 0; done < pairs; done += kernels.Width {
			b := &l.float32Blocks[(column+done)/kernels.Width]
			kernels.CosSinFloat32Rows(dispatch.Implementation(), to.Cos[done:], to.Sin[done:], to.Stride, positions, b, scaleCos, scaleSin)
		}
	case len(positions) == 1:
		l.writeExactRow(to.Cos, to.Sin, column, pairs, float64(positions[0]), scaleCos, scaleSin)
	default:
		for done := 0; done < pairs; done += kernels.Width {
			i := (column + done) / kernels.Width
			kernels.CosSinExactRows(dispatch.Implementation(), to.Cos[done:], to.Sin[done:], to.Stride, positions, &l.Blocks[i], &l.Shifts[i], scaleCos, scaleSin, to.nonTemporal)
		}
	}
}

// WriteFractional is Write for positions that need not be integers.
func (l *Ladder) WriteFractional(to *Table, column, pairs int, positions []float32, scaleCos, scaleSin float32) {
	for t, p := range positions {
		row := to.From(t)
		if l.Blocks == nil {
			writeFloat32Row(row.Cos[:pairs], row.Sin[:pairs], l.invFreq32[column:column+pairs], p, scaleCos, scaleSin)
		} else {
			l.writeExactRow(row.Cos, row.Sin, column, pairs, float64(p), scaleCos, scaleSin)
		}
	}
}

func (l *Ladder) writeExactRow(cos, sin []float32, column, pairs int, position float64, scaleCos, scaleSin float32) {
	for done := 0; done < pairs; done += kernels.Width {
		b := &l.Blocks[(column+done)/kernels.Width]
		end := done + b.Len()
		kernels.CosSinExactRow(dispatch.Implementation(), cos[done:end], sin[done:end], position, b, scaleCos, scaleSin)
	}
}

func writeFloat32Row(cos, sin, invFreq []float32, position, scaleCos, scaleSin float32) {
	const call = kernels.MaxCallAngles
	for ; len(invFreq) > call; cos, sin, invFreq = cos[call:], sin[call:], invFreq[call:] {
		kernels.CosSinFloat32(dispatch.Implementation(), cos[:call], sin[:call], invFreq[:call], position, scaleCos, scaleSin)
	}
	kernels.CosSinFloat32(dispatch.Implementation(), cos, sin, invFreq, position, scaleCos, scaleSin)
}

// WriteAngles writes the cosines and sines of float32 angles.
func WriteAngles(cos, sin, angles []float32) { writeFloat32Row(cos, sin, angles, 1, 1, 1) }

// WriteExact writes rows of len(invFreq) entries for frequencies that no Ladder keeps.
func WriteExact(cos, sin []float32, positions []int32, invFreq []float64) {
	if len(positions) == 0 {
		return
	}
	whole := Table{Cos: cos, Sin: sin, Stride: len(invFreq)}
	whole.Begin(2 * len(cos))
	for column := 0; column < len(invFreq); column += kernels.Width {
		block := invFreq[column:min(column+kernels.Width, len(invFreq))]
		var b kernels.Block
		b.Set(block)
		if len(positions) >= kernels.ShiftedRows {
			writeShifted(cos[column:], sin[column:], len(invFreq), positions, &b, whole.nonTemporal)
			continue
		}
		for t, p := range positions {
			at := t*len(invFreq) + column
			end := at + len(block)
			kernels.CosSinExactRow(dispatch.Implementation(), cos[at:end], sin[at:end], float64(p), &b, 1, 1)
		}
	}
	whole.End()
}

func writeShifted(cos, sin []float32, stride int, positions []int32, block *kernels.Block, nonTemporal bool) {
	var shift kernels.Shift
	shift.Set(dispatch.Implementation(), block)
	kernels.CosSinExactRows(dispatch.Implementation(), cos, sin, stride, positions, block, &shift, 1, 1, nonTemporal)
}
