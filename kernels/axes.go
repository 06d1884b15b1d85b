package kernels

import "math"

// AxesBlock is up to Width neighbouring frequencies of a ladder, each of which takes its
// position from one of several axes.
type AxesBlock struct {
	n    int
	axes []blockAxis // those that have frequencies
}

// blockAxis is the frequencies of an axis.
type blockAxis struct {
	index int // of the axis
	pairs []uint8
	block Block
	shift Shift // of all pairs: by nothing for pairs of other axes
}

// Set prepares the block for invFreq, at most Width frequencies, and the axis of each.
func (b *AxesBlock) Set(impl Implementation, invFreq []float64, axes []uint8) {
	b.n, b.axes = len(invFreq), nil
	last := 0
	for _, axis := range axes {
		last = max(last, int(axis))
	}
	for index := range last + 1 {
		a := blockAxis{index: index}
		var frequencies []float64
		var all [Width]float64
		for j, w := range invFreq {
			if int(axes[j]) == index {
				a.pairs = append(a.pairs, uint8(j))
				frequencies = append(frequencies, w)
				all[j] = w
			}
		}
		if len(a.pairs) > 0 {
			var whole Block
			whole.Set(all[:])
			a.shift.Set(impl, &whole)
			a.block.Set(frequencies)
			b.axes = append(b.axes, a)
		}
	}
}

// CosSinAxisRow writes those entries of a row whose positions are of one axis: all have
// the same, a number of at most 31 significant bits.
func CosSinAxisRow(impl Implementation, cos, sin []float32, b *AxesBlock, axis int, position float64, scaleCos, scaleSin float32) {
	for i := range b.axes {
		if b.axes[i].index == axis {
			b.axes[i].row(impl, cos, sin, position, scaleCos, scaleSin)
		}
	}
}

func (a *blockAxis) row(impl Implementation, cos, sin []float32, position float64, scaleCos, scaleSin float32) {
	var c, s [Width]float32
	n := len(a.pairs)
	CosSinExactRow(impl, c[:n], s[:n], position, &a.block, scaleCos, scaleSin)
	for k, pair := range a.pairs {
		cos[pair], sin[pair] = c[k&(Width-1)], s[k&(Width-1)]
	}
}

// CosSinAxesRows writes n rows, row t at cos[t*stride] and sin[t*stride]. The position of
// row t on an axis is positions[axis*tokens+t].
//
// Where one axis counts up and the others stay, as along a line of an image, rows share a
// seed, whose angles are each of its own axis.
func CosSinAxesRows(impl Implementation, cos, sin []float32, stride int, positions []int32, tokens, n int, b *AxesBlock, scaleCos, scaleSin float32, nonTemporal bool) {
	var memory [2*3*Width + line - 1]float64
	seeds := (*[2][3][Width]float64)(aligned64(memory[:]))
	seed := &seeds[0]
	last, lastMoving := -1, 0      // the row that the seed is of, and the axis that it is shifted along
	for j := b.n; j < Width; j++ { // padding is certain to be rounded
		seed[0][j] = 1
	}
	nonTemporal = nonTemporal && aligned(cos, sin, stride, b.n)
	for t := 0; t < n; {
		at := t * stride
		moving, run := -1, 1
		if impl.seeds() {
			moving, run = b.run(positions[t:], tokens, n-t)
		}
		if run >= shortRun && b.certain(positions[t:], tokens) {
			for i := range b.axes {
				a := &b.axes[i]
				p := positions[a.index*tokens:]
				if last >= 0 && lastMoving == moving && p[last] == p[t] {
					continue // as all lines of an image begin at one column
				}
				a.seed(impl, seed, &seeds[1], float64(p[t]), i == moving)
			}
			last, lastMoving = t, moving
			shift, done := b.axes[moving].shift[:], 0
			if nonTemporal {
				done = cosSinShiftNonTemporalF32(impl, cos[at:], sin[at:], stride, run, seed, shift, b.n, scaleCos, scaleSin)
			} else {
				done = cosSinShiftF32(impl, cos[at:], sin[at:], stride, run, seed, shift, b.n, scaleCos, scaleSin)
			}
			if done > 0 {
				t += done
				continue
			}
		}
		if t > 0 {
			copy(cos[at:at+b.n], cos[at-stride:])
			copy(sin[at:at+b.n], sin[at-stride:])
		}
		for i := range b.axes {
			a := &b.axes[i]
			if p := positions[a.index*tokens:]; t == 0 || p[t] != p[t-1] {
				a.row(impl, cos[at:at+b.n], sin[at:at+b.n], float64(p[t]), scaleCos, scaleSin)
			}
		}
		t++
	}
}

// run counts the rows, n at most, from the first on in which one axis, number moving of the
// block, counts up and the others stay.
func (b *AxesBlock) run(positions []int32, tokens, n int) (moving, run int) {
	moving = -1
	if n < 2 {
		return moving, 1
	}
	for i := range b.axes {
		switch p := positions[b.axes[i].index*tokens:]; {
		case p[1] == p[0]:
		case moving < 0 && int64(p[1]) == int64(p[0])+1:
			moving = i
		default:
			return -1, 1
		}
	}
	if moving < 0 {
		return moving, 1
	}
	n = min(n, shiftRows)
	for i := range b.axes {
		p, step := positions[b.axes[i].index*tokens:][:n], int64(0)
		if i == moving {
			step = 1
		}
		for run = 2; run < n && int64(p[run]) == int64(p[0])+int64(run)*step; {
			run++
		}
		n = run
	}
	return moving, n
}

// certain reports whether the error bounds of the kernels hold for the seed of a first row, on
// each axis that may be shifted.
func (b *AxesBlock) certain(positions []int32, tokens int) bool {
	for i := range b.axes {
		a := &b.axes[i]
		if !a.block.certain(1, math.Abs(float64(positions[a.index*tokens]))+shiftRows) {
			return false
		}
	}
	return true
}

// seed writes the entries of the axis into the seed of a block. part is scratch memory.
func (a *blockAxis) seed(impl Implementation, seed, part *[3][Width]float64, position float64, moving bool) {
	reach := math.Abs(position)
	if moving {
		reach += shiftRows
	}
	cosSinSeedF64(impl, &part[0], &part[1], &part[2], &a.block, position, reach)
	for k, pair := range a.pairs {
		j, k := pair&(Width-1), k&(Width-1)
		seed[0][j], seed[1][j], seed[2][j] = part[0][k], part[1][k], part[2][k]
	}
}
