package kernels

import (
	"math"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
)

// Sinusoids says where the sines and cosines of rows are written or added, and how
// they are scaled.
//
// Of row t, sine and cosine i are elements t*Stride+2i and t*Stride+2i+1 of Sin where
// Interleaved, and else elements t*Stride+i of Sin and of Cos. Add scales what is
// there by Scale and adds to it (see generic.AddScaledF32); it is set where
// Interleaved is not.
type Sinusoids struct {
	Sin, Cos         []float32
	Stride           int
	Interleaved, Add bool
	Scaling          float32 // multiplies sines and cosines, see generic.CosSinExact
	Scale            float32
}

// SinusoidalRows writes or adds the rows of positions as CosSinExactRows makes them.
// shift is as Shift.Set sets it for impl and b.
func SinusoidalRows(impl Implementation, to *Sinusoids, positions []int32, b *Block, shift *Shift) {
	var seed [3][Width]float64
	var row [2 * Width]float32 // sines, then cosines
	n := b.Len()
	made := false // the row of the position before
	for t := 0; t < len(positions); {
		run := runLength(positions[t:])
		first := int(positions[t] & (shiftRows - 1))
		base := float64(positions[t]) - float64(first)
		reach := math.Abs(base) + shiftRows
		if impl == Generic || run < shortRun || !b.certain(1, reach) {
			for range run {
				if !made || positions[t] != positions[t-1] {
					CosSinExactRow(impl, row[n:2*n], row[:n], float64(positions[t]), b, to.Scaling, to.Scaling)
				}
				to.put(impl, t, 0, row[:2*n])
				made = true
				t++
			}
			continue
		}
		made = false
		cosSinSeed(impl, &seed[0], &seed[1], &seed[2], b, base, reach)
		for done := 0; done < run; done++ {
			pairs := sinusoidalRows(impl, to, t+done, run-done, &seed, shift[first+done:], n)
			done += pairs / n
			if done < run {
				i := pairs % n
				rest := n - i
				generic.CosSinExact(row[rest:], row[:rest], positions[t+done], b.frequencies()[i:], to.Scaling, to.Scaling)
				to.put(impl, t+done, i, row[:2*rest])
			}
		}
		t += run
	}
}

// sinusoidalRows writes or adds rows from a seed and returns how many pairs came
// before the first that was not decided.
func sinusoidalRows(impl Implementation, to *Sinusoids, row, rows int, seed *[3][Width]float64, shift [][2][Width]float64, n int) (done int) {
	at := row * to.Stride
	switch {
	case !to.Interleaved:
		return addSinusoidalHalfSplit(impl, to.Cos[at:], to.Sin[at:], to.Stride, rows, seed, shift, n, to.Scaling, to.Scale)
	case to.Add:
		return addSinusoidalInterleaved(impl, to.Sin[at:], to.Stride, rows, seed, shift, n, to.Scaling, to.Scale)
	default:
		return sinusoidalRowsInterleaved(impl, to.Sin[at:], to.Stride, rows, seed, shift, n, to.Scaling)
	}
}

// put writes or adds the pairs of a row from number i on: sines, then cosines.
func (to *Sinusoids) put(impl Implementation, row, i int, entries []float32) {
	at, n := row*to.Stride, len(entries)/2
	if !to.Interleaved {
		AddScaledF32(impl, to.Sin[at+i:][:n], entries[:n], to.Scale)
		AddScaledF32(impl, to.Cos[at+i:][:n], entries[n:], to.Scale)
		return
	}
	x := to.Sin[at+2*i:][:2*n]
	if !to.Add {
		InterleaveB32(impl, wordsOf(x), wordsOf(entries))
		return
	}
	var ordered [2 * Width]float32
	InterleaveB32(impl, wordsOf(ordered[:2*n]), wordsOf(entries))
	AddScaledF32(impl, x, ordered[:2*n], to.Scale)
}

func wordsOf(x []float32) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}
