package cossin

import "github.com/go-posenc/posenc/kernels"

// axis is the pairs that take their positions from one axis.
type axis struct {
	ladder Ladder
	index  int     // of the axis
	pairs  []int32 // numbers of the pairs, ascending
}

// axesOf sorts the pairs by their axes. An axis without pairs has no entry.
func axesOf(axes []uint8, invFreq []float64, float32Angles bool) []axis {
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
			a.ladder = NewLadder(frequencies, float32Angles)
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

// writeAxes writes rows of all pairs, some tokens at a time, whose pairs fit the
// scratch memory.
func (f *Frequencies) writeAxes(to *Table, p *Positions, scaleCos, scaleSin float32) {
	most := min(kernels.ChunkRows, kernels.ChunkPairs/f.pairs)
	for chunk := (Positions{p.Call, p.Tokens, p.First, 0}); chunk.First < p.First+p.N; chunk.First += chunk.N {
		chunk.N = min(most, p.First+p.N-chunk.First)
		rest := to.From(chunk.First - p.First)
		switch {
		case chunk.alike(f.Axes):
			f.ladder.Write(&rest, 0, f.pairs, chunk.Axis(0), scaleCos, scaleSin)
		case f.sections:
			for i := range f.axes {
				a := &f.axes[i]
				first, _ := a.section()
				a.ladder.Write(&Table{rest.Cos[first:], rest.Sin[first:], rest.Stride, rest.nonTemporal}, 0, len(a.pairs), chunk.Axis(a.index), scaleCos, scaleSin)
			}
		default:
			f.writeScattered(&rest, &chunk, scaleCos, scaleSin)
		}
	}
}

// writeScattered is writeAxes for a chunk and axes whose pairs are no sections. A row
// starts as the one before; only axes whose position is another are written into it,
// as time and height stay the same along a line of an image.
func (f *Frequencies) writeScattered(to *Table, p *Positions, scaleCos, scaleSin float32) {
	var cos, sin [kernels.ChunkPairs]float32
	at := 0
	for i := range f.axes {
		a := &f.axes[i]
		n, positions := len(a.pairs), p.Axis(a.index)
		if equal(positions) { // only the first row is read
			positions = positions[:1]
		}
		a.ladder.Write(&Table{Cos: cos[at:], Sin: sin[at:], Stride: n}, 0, n, positions, scaleCos, scaleSin)
		at += n * p.N
	}
	for t := range p.N {
		row := to.From(t)
		row.Cos, row.Sin = row.Cos[:f.pairs], row.Sin[:f.pairs]
		if t > 0 {
			before := to.From(t - 1)
			copy(row.Cos, before.Cos)
			copy(row.Sin, before.Sin)
		}
		at := 0
		for i := range f.axes {
			a := &f.axes[i]
			n := len(a.pairs)
			if positions := p.Axis(a.index); t == 0 || positions[t] != positions[t-1] {
				cosines, sines := cos[at+t*n:][:n], sin[at+t*n:][:n]
				for k, pair := range a.pairs {
					row.Cos[pair], row.Sin[pair] = cosines[k], sines[k]
				}
			}
			at += n * p.N
		}
	}
}

// writeFractionalAxes is writeAxes for positions that need not be integers.
func (f *Frequencies) writeFractionalAxes(to *Table, positions []float32, tokens, first, n int, scaleCos, scaleSin float32) {
	var cos, sin [kernels.ChunkPairs]float32
	for i := range f.axes {
		a := &f.axes[i]
		pairs := len(a.pairs)
		for t := range n {
			at := a.index*tokens + first + t
			a.ladder.WriteFractional(&Table{Cos: cos[:], Sin: sin[:], Stride: pairs}, 0, pairs, positions[at:at+1], scaleCos, scaleSin)
			row := to.From(t)
			for k, pair := range a.pairs {
				row.Cos[pair], row.Sin[pair] = cos[k], sin[k]
			}
		}
	}
}
