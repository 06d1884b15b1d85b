package kernels

import (
	"math"
	"slices"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
)

// Block holds up to Width neighbouring frequencies of a ladder as the kernels
// read them.
type Block struct {
	n                 int
	invFreq           [Width]float64
	high, low, margin [Width]float64
	largest, smallest float64 // |invFreq|, the smallest that is not 0
}

// Set prepares the block for invFreq, at most Width frequencies.
func (b *Block) Set(invFreq []float64) {
	b.n, b.largest, b.smallest = copy(b.invFreq[:], invFreq), 0, math.MaxFloat64
	BeforeFMA()
	for i, w := range invFreq {
		if w != 0 {
			b.smallest = min(b.smallest, math.Abs(w))
		}
		b.largest = max(b.largest, math.Abs(w))
		b.high[i], b.low[i] = generic.QuarterTurns(w)
		b.margin[i] = generic.Margin * math.Abs(w)
	}
}

// certain reports whether the error bounds of the kernels hold for positions
// that are 0 or from least to most in magnitude. Sines that may be subnormal
// float32 are not for Ziv's test on bits.
func (b *Block) certain(least, most float64) bool {
	return least*b.smallest >= 0x1p-120 && most*b.largest < generic.MarginAngle
}

func (b *Block) frequencies() []float64 { return b.invFreq[:b.n] }

// Len returns the number of frequencies.
func (b *Block) Len() int { return b.n }

// padded returns the number of frequencies as the seeds count them.
func (b *Block) padded() int { return (b.n + 15) &^ 15 }

// Shift holds the cosines and sines of the positions 0 to 31 times the
// frequencies of a block, in float64.
//
// By the linear shift property of sinusoids, the row of a position is the row of
// the multiple of 32 below it, the seed, shifted by one of these:
//
//	cos(a+b) = cos(a)cos(b) - sin(a)sin(b)
//	sin(a+b) = sin(a)cos(b) + cos(a)sin(b)
type Shift [shiftRows][2][Width]float64

// Set prepares the shift for a block.
func (s *Shift) Set(impl Implementation, b *Block) {
	if !impl.seeds() {
		return // the plain Go rows do without
	}
	var unused [Width]float64
	for p := range s {
		cosSinSeedF64(impl, &s[p][0], &s[p][1], &unused, b, float64(p), 0)
	}
}

// CosSinExactRow writes the row of one position, a number of at most 31
// significant bits: see generic.CosSinExact.
func CosSinExactRow(impl Implementation, cos, sin []float32, position float64, b *Block, scaleCos, scaleSin float32) {
	magnitude := math.Abs(position)
	if magnitude == 0 {
		magnitude = 1
	}
	if !b.certain(magnitude, magnitude) || !cosSinExactF32(impl, cos, sin, position, b, scaleCos, scaleSin) {
		BeforeFMA()
		generic.CosSinExactAt(cos, sin, position, b.frequencies(), scaleCos, scaleSin)
	}
}

// CosSinExactRows writes row t at cos[t*stride] and sin[t*stride] for each of
// the positions. Runs of positions one after another share their seeds; a
// position like the one before takes its row. With
// nonTemporal, rows that are aligned for it are stored by non-temporal stores.
func CosSinExactRows(impl Implementation, cos, sin []float32, stride int, positions []int32, b *Block, shift *Shift, scaleCos, scaleSin float32, nonTemporal bool) {
	var memory [3*Width + line - 1]float64
	seed := (*[3][Width]float64)(aligned64(memory[:]))
	n := b.Len()
	nonTemporal = nonTemporal && aligned(cos, sin, stride, n)
	for t := 0; t < len(positions); {
		if t > 0 && positions[t] == positions[t-1] {
			at := t * stride
			copy(cos[at:at+n], cos[at-stride:])
			copy(sin[at:at+n], sin[at-stride:])
			t++
			continue
		}
		run := runLength(positions[t:])
		first := int(positions[t] & (shiftRows - 1))
		base := float64(positions[t]) - float64(first)
		reach := math.Abs(base) + shiftRows
		if !impl.seeds() || run < shortRun || !b.certain(1, reach) {
			for end := t + run; t < end; t++ {
				at := t * stride
				CosSinExactRow(impl, cos[at:at+n], sin[at:at+n], float64(positions[t]), b, scaleCos, scaleSin)
			}
			continue
		}
		cosSinSeedF64(impl, &seed[0], &seed[1], &seed[2], b, base, reach)
		for done := 0; done < run; {
			at := (t + done) * stride
			if nonTemporal {
				done += cosSinShiftNonTemporalF32(impl, cos[at:], sin[at:], stride, run-done, seed, shift[first+done:], n, scaleCos, scaleSin)
			} else {
				done += cosSinShiftF32(impl, cos[at:], sin[at:], stride, run-done, seed, shift[first+done:], n, scaleCos, scaleSin)
			}
			if done < run {
				at = (t + done) * stride
				CosSinExactRow(impl, cos[at:at+n], sin[at:at+n], float64(positions[t+done]), b, scaleCos, scaleSin)
				done++
			}
		}
		t += run
	}
}

// aligned reports whether every row may be written by non-temporal stores of whole
// lines: n and stride are multiples of 16 entries and the rows start at multiples of 64
// bytes.
func aligned(cos, sin []float32, stride, n int) bool {
	address := uintptr(unsafe.Pointer(unsafe.SliceData(cos))) | uintptr(unsafe.Pointer(unsafe.SliceData(sin)))
	return address%64 == 0 && (stride|n)%16 == 0
}

// runLength counts the positions from the first on that follow one another
// without leaving the shiftRows positions of its seed.
func runLength(positions []int32) int {
	n := min(len(positions), shiftRows-int(positions[0]&(shiftRows-1)))
	for i := 1; i < n; i++ {
		if positions[i] != positions[0]+int32(i) {
			return i
		}
	}
	return n
}

// CosSinFloat32 writes the row of one position: see generic.CosSinFloat32.
func CosSinFloat32(impl Implementation, cos, sin, invFreq []float32, position, scaleCos, scaleSin float32) {
	if cosSinFloat32F32(impl, cos, sin, invFreq, position, scaleCos, scaleSin) {
		return
	}
	for i, w := range invFreq {
		if a := position * w; !(a > -generic.MaxAngle && a < generic.MaxAngle) {
			generic.CosSinFloat32(cos[i:i+1], sin[i:i+1], invFreq[i:i+1], position, scaleCos, scaleSin)
		}
	}
}

// Float32Block holds up to Width neighbouring frequencies of float32 angles.
type Float32Block struct {
	n       int
	invFreq [Width]float32
	exact   *Block // of the same frequencies, and their shift: or nil where rows share no work
	shift   *Shift
}

// Set prepares the block for invFreq, at most Width frequencies. Of a frequency of 0 the sine
// may be -0, which the exact ones are not.
func (b *Float32Block) Set(impl Implementation, invFreq []float32) {
	*b = Float32Block{n: len(invFreq)}
	copy(b.invFreq[:], invFreq)
	if !impl.sharesFloat32() || slices.Contains(invFreq, 0) {
		return
	}
	var exact [Width]float64
	for i, w := range invFreq {
		exact[i] = float64(w)
	}
	b.exact, b.shift = new(Block), new(Shift)
	b.exact.Set(exact[:b.n])
	b.shift.Set(impl, b.exact)
}

// CosSinFloat32Rows is CosSinExactRows for float32 angles: see generic.CosSinFloat32. What
// rows share is the exact angles next to them.
func CosSinFloat32Rows(impl Implementation, cos, sin []float32, stride int, positions []int32, b *Float32Block, scaleCos, scaleSin float32) {
	var memory [3*Width + line - 1]float64
	seed := (*[3][Width]float64)(aligned64(memory[:]))
	n := b.n
	for t := 0; t < len(positions); {
		if t > 0 && positions[t] == positions[t-1] {
			at := t * stride
			copy(cos[at:at+n], cos[at-stride:])
			copy(sin[at:at+n], sin[at-stride:])
			t++
			continue
		}
		run := runLength(positions[t:])
		first := int(positions[t] & (shiftRows - 1))
		base := float64(positions[t]) - float64(first)
		reach := math.Abs(base) + shiftRows
		shared := run >= float32Run && b.shares(reach, roundedReach3)
		near := shared && b.shares(reach, roundedReach)
		if shared {
			cosSinSeedF64(impl, &seed[0], &seed[1], &seed[2], b.exact, base, reach)
		}
		for done := 0; done < run; done++ {
			at := (t + done) * stride
			switch {
			case near:
				done += cosSinShiftRoundedF32(impl, cos[at:], sin[at:], stride, run-done, seed, b.shift[first+done:], n, &b.invFreq, float32(positions[t+done]), scaleCos, scaleSin)
			case shared:
				done += cosSinShiftRounded3F32(impl, cos[at:], sin[at:], stride, run-done, seed, b.shift[first+done:], n, &b.invFreq, float32(positions[t+done]), scaleCos, scaleSin)
			}
			if done < run {
				at = (t + done) * stride
				CosSinFloat32(impl, cos[at:at+n], sin[at:at+n], b.invFreq[:n], float32(positions[t+done]), scaleCos, scaleSin)
			}
		}
		t += run
	}
}

// shares reports whether angles of positions up to reach, which are float32, are made from
// exact ones: those below most.
func (b *Float32Block) shares(reach, most float64) bool {
	return b.exact != nil && reach <= 1<<24 && b.exact.certain(1, reach) && reach*b.exact.largest < most
}

const line = 8 // float64 of a line of the cache

// aligned64 returns the first float64 at the start of a line. Seeds that cross lines make
// each load of a vector of 64 bytes two.
func aligned64(memory []float64) unsafe.Pointer {
	start := unsafe.Pointer(unsafe.SliceData(memory))
	return unsafe.Add(start, -uintptr(start)&(8*line-1))
}
