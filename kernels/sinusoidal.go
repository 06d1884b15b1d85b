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
// Each of the blocks but the last has Width frequencies; shifts are as Shift.Set sets
// them for impl and the blocks.
func SinusoidalRows(impl Implementation, to *Sinusoids, positions []int32, blocks []Block, shifts []Shift) {
	if !impl.seeds() || len(positions) <= FewSinusoidalRowsAtOnce { // less memory to clear
		to.exactRows(impl, 0, positions, blocks)
		return
	}
	var memory [MaxBlocks*3*Width + line - 1]float64
	seeds := (*[MaxBlocks][3][Width]float64)(aligned64(memory[:]))
	n := (len(blocks)-1)*Width + blocks[len(blocks)-1].Len()
	for t := 0; t < len(positions); {
		run := runLength(positions[t:])
		first := int(positions[t] & (shiftRows - 1))
		base := float64(positions[t]) - float64(first)
		reach := math.Abs(base) + shiftRows
		certain := run > FewSinusoidalRowsAtOnce
		for i := range blocks {
			certain = certain && blocks[i].certain(1, reach)
		}
		if !certain {
			for t+run < len(positions) && runLength(positions[t+run:]) <= FewSinusoidalRowsAtOnce {
				run++
			}
			to.exactRows(impl, t, positions[t:t+run], blocks)
			t += run
			continue
		}
		for i := range blocks {
			seed := &seeds[i]
			cosSinSeedF64(impl, &seed[0], &seed[1], &seed[2], &blocks[i], base, reach)
		}
		for r := 0; r < run; r++ {
			pairs := sinusoidalRows(impl, to, t+r, 0, run-r, seeds, shifts, first+r, n)
			r += pairs / n
			if r == run {
				break
			}
			for i := pairs % n; i < n; { // the rest of a row with an entry that was not decided
				block := i / Width
				end := min((block+1)*Width, n)
				var entries [2 * Width]float32
				frequencies := blocks[block].frequencies()[i%Width:]
				generic.CosSinExact(entries[end-i:], entries[:], positions[t+r], frequencies, to.Scaling, to.Scaling)
				to.put(impl, t+r, i, entries[:2*(end-i)])
				i = end
				if i < n {
					i += sinusoidalRows(impl, to, t+r, i/Width, 1, seeds, shifts, first+r, n-i)
				}
			}
		}
		t += run
	}
}

// exactRows writes or adds rows one by one, from number row on.
func (to *Sinusoids) exactRows(impl Implementation, row int, positions []int32, blocks []Block) {
	var entries [2 * Width]float32 // sines, then cosines
	for i := range blocks {
		b := &blocks[i]
		n := b.Len()
		for t, p := range positions {
			if t == 0 || p != positions[t-1] {
				CosSinExactRow(impl, entries[n:2*n], entries[:n], float64(p), b, to.Scaling, to.Scaling)
			}
			to.put(impl, row+t, i*Width, entries[:2*n])
		}
	}
}

// sinusoidalRows writes or adds n pairs of rows from a block on and returns how many
// came before the first that was not decided.
func sinusoidalRows(impl Implementation, to *Sinusoids, row, block, rows int, seeds *[MaxBlocks][3][Width]float64, shifts []Shift, shift, n int) (done int) {
	at := row*to.Stride + block*Width
	seed, first := &seeds[block], shifts[block][shift:]
	switch {
	case !to.Interleaved:
		return addSinusoidalHalfSplitF32(impl, to.Cos[at:], to.Sin[at:], to.Stride, rows, seed, first, n, to.Scaling, to.Scale)
	case to.Add:
		return addSinusoidalInterleavedF32(impl, to.Sin[at+block*Width:], to.Stride, rows, seed, first, n, to.Scaling, to.Scale)
	default:
		return sinusoidalRowsInterleavedF32(impl, to.Sin[at+block*Width:], to.Stride, rows, seed, first, n, to.Scaling)
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
