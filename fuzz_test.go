package posenc

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/kernels"
)

// repeat32 fills s with the 32-bit words of data over and over, so that a few
// bytes of a fuzzer reach every element.
func repeat32(s []float32, data []byte) {
	words := len(data) / 4
	for i := range s {
		bits := uint32(i) * 0x9e3779b9
		if words > 0 {
			bits = binary.LittleEndian.Uint32(data[i%words*4:])
		}
		s[i] = math.Float32frombits(bits)
	}
}

// repeatPositions makes n positions: those of data, each followed by run more.
func repeatPositions(n int, data []byte, run uint8) []int32 {
	positions := make([]int32, n)
	words := len(data) / 4
	for i := range positions {
		start, step := i/(int(run)+1), i%(int(run)+1)
		if words > 0 {
			positions[i] = int32(binary.LittleEndian.Uint32(data[start%words*4:]))
		}
		positions[i] += int32(step)
	}
	return positions
}

// repeat64 makes n frequencies of any bits.
func repeat64(n int, data []byte) []float64 {
	frequencies := make([]float64, n)
	words := len(data) / 8
	for i := range frequencies {
		frequencies[i] = math.Pow(500000, -float64(i)/float64(n))
		if words > 0 && i%2 == 0 {
			frequencies[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[i/2%words*8:]))
		}
	}
	return frequencies
}

// quick returns how many of so many tokens a fuzzer should take: few where angles
// may reach 2^40, from which on they are slow, so that it does not think they hang.
func quick(tokens int, invFreq []float64) int {
	if largest, _ := largestMagnitude(invFreq); largest > 1<<9 {
		return min(tokens, max(1, 1<<11/len(invFreq)))
	}
	return tokens
}

func sameSlices(a, b []float32) bool { return slices.EqualFunc(a, b, same) }

// onEach calls f with the package switched to every implementation here.
func onEach(f func(impl kernels.Implementation)) {
	for _, impl := range supported() {
		restore := use(impl)
		f(impl)
		restore()
	}
}

// FuzzRotate rotates one view of any shape, valid or not, on every
// implementation: the same error and untouched data, or the bits of generic.
func FuzzRotate(f *testing.F) {
	one := binary.LittleEndian.AppendUint64(nil, math.Float64bits(1))
	f.Add(128, 0, 0, 32, 0, 0, 4, uint8(0), uint8(0), uint8(200), []byte{1, 0, 0, 0}, one, []byte("some data here.."))
	f.Add(80, 20, 8, 3, 0, 0, 33, uint8(3), uint8(1), uint8(0), []byte{0, 0, 0, 128, 255, 255, 255, 127}, []byte(nil), []byte{0, 0, 128, 127, 1, 0, 0, 0})
	f.Add(8, 6, 2, 2, 100, 9, 5, uint8(7), uint8(2), uint8(3), []byte{9, 9, 9, 9}, one, []byte{0, 0, 192, 127})
	f.Add(16, 16, 0, 4, 16, 80, 5, uint8(1), uint8(6), uint8(1), []byte{1, 2, 3, 4}, []byte(nil), []byte{0, 0, 0, 128})
	f.Add(-1, 3, math.MaxInt, math.MinInt, -5, math.MaxInt, 7, uint8(255), uint8(255), uint8(255), one, one, one)
	f.Fuzz(func(t *testing.T, headDim, rotaryDim, offset, heads, tokenStride, headStride, tokens int, misaligned, mode, run uint8, positionData, frequencyData, data []byte) {
		tokens = (tokens%64 + 64) % 64
		cfg := RotaryConfig{HeadDim: headDim, RotaryDim: rotaryDim, Offset: offset, Layout: Layout(mode & 1), Angles: Angles(mode >> 1 & 1)}
		pairs := rotaryDim / 2
		if rotaryDim == 0 {
			pairs = headDim / 2
		}
		if pairs > 0 && pairs < 1<<12 {
			cfg.InvFreq = repeat64(pairs, frequencyData)
		} else if headDim > 1<<13 {
			cfg.HeadDim = 1 << 13 // a ladder from a base takes memory in proportion
		}
		rotary, err := NewRotary(cfg)
		if err != nil {
			return
		}
		tokens = quick(tokens, cfg.InvFreq)
		view := View[float32]{Heads: heads, TokenStride: tokenStride, HeadStride: headStride}
		const most = 1 << 16
		size := most
		if tokenStride == 0 && headStride == 0 {
			if size = tokens * cfg.HeadDim * (heads%256 + 1); size < 0 || size > most {
				size = most
			}
			if exact := tokens * cfg.HeadDim * heads; heads > 0 && heads < most && exact >= 0 && exact <= most {
				size = exact
			}
		}
		start := int(misaligned % 16)
		before := make([]float32, start+size)
		repeat32(before, data)
		positions := repeatPositions(tokens, positionData, run)
		rotate, direction := Rotate[float32], float32(1)
		if mode&4 != 0 {
			rotate, direction = RotateInverse[float32], -1
		}
		var want []float32
		onEach(func(impl kernels.Implementation) {
			x := slices.Clone(before)
			view.Data = x[start:]
			if err := rotate(rotary, positions, view); err != nil {
				if !sameBits(x, before) {
					t.Fatalf("%s: wrote before the error %v", impl, err)
				}
				return
			}
			if want == nil {
				want = slices.Clone(before)
				if tokens > 0 {
					cos, sin := tablesOf(t, cfg, positions, direction)
					p := placed{views: []View[float32]{view}, starts: []int{start}}
					p.rotateViews(cfg, want, cos, sin, tokens)
				}
			}
			if !sameSlices(x, want) {
				t.Fatalf("%s differs from generic: %+v, view %d heads at %d and %d, positions %v", impl, cfg, heads, tokenStride, headStride, positions)
			}
		})
	})
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) })
}

// FuzzCosSin writes tables of any positions and frequencies.
func FuzzCosSin(f *testing.F) {
	f.Add(9, uint8(40), uint8(3), uint8(200), []byte{30, 0, 0, 0}, []byte(nil))
	f.Add(64, uint8(1), uint8(0), uint8(0), []byte{0, 0, 0, 128}, binary.LittleEndian.AppendUint64(nil, 1))
	f.Add(130, uint8(150), uint8(8), uint8(255), []byte{255, 255, 255, 127}, binary.LittleEndian.AppendUint64(nil, math.Float64bits(-0x1p18)))
	f.Fuzz(func(t *testing.T, pairs int, tokens, misaligned, run uint8, positionData, frequencyData []byte) {
		pairs = (pairs%140 + 140) % 140 // those in fixed point take microseconds each
		tokens %= 160
		invFreq := repeat64(pairs, frequencyData)
		tokens = uint8(quick(int(tokens), invFreq))
		positions := repeatPositions(int(tokens), positionData, run)
		start, size := int(misaligned%16), int(tokens)*pairs
		before := make([]float32, start+size)
		repeat32(before, frequencyData)
		wantCos, wantSin := slices.Clone(before), slices.Clone(before)
		var made bool
		onEach(func(impl kernels.Implementation) {
			cos, sin := slices.Clone(before), slices.Clone(before)
			if err := CosSin(cos[start:], sin[start:], positions, invFreq); err != nil {
				if !sameBits(cos, before) || !sameBits(sin, before) {
					t.Fatalf("%s: wrote before the error %v", impl, err)
				}
				return
			}
			if !made {
				made = true
				for i, p := range positions {
					at := start + i*pairs
					generic.CosSinExact(wantCos[at:], wantSin[at:], p, invFreq, 1, 1)
				}
			}
			if !sameSlices(cos, wantCos) || !sameSlices(sin, wantSin) {
				t.Fatalf("%s differs from generic: positions %v, frequencies %x", impl, positions, invFreq)
			}
		})
	})
}

// FuzzSinCosFloat32 takes cosines and sines of float32 of any bits.
func FuzzSinCosFloat32(f *testing.F) {
	f.Add(uint8(0), []byte{0, 0, 0, 0, 0, 0, 128, 63, 0, 0, 0, 128})
	f.Add(uint8(3), []byte{0, 0, 128, 127, 120, 184, 24, 95, 17, 203, 21, 97, 115, 205, 8, 121, 1, 0, 192, 255, 255, 255, 127, 88, 0, 0, 128, 88})
	f.Fuzz(func(t *testing.T, misaligned uint8, data []byte) {
		n, start := len(data)/4, int(misaligned%16)
		angles := make([]float32, start+n)[start:]
		repeat32(angles, data)
		wantCos, wantSin := make([]float32, n), make([]float32, n)
		generic.CosSinFloat32(wantCos, wantSin, angles, 1, 1, 1)
		onEach(func(impl kernels.Implementation) {
			cos, sin := make([]float32, n+start)[start:], make([]float32, n)
			if err := CosSinAngles(cos, sin, angles); err != nil {
				t.Fatal(err)
			}
			if !sameSlices(cos, wantCos) || !sameSlices(sin, wantSin) {
				t.Fatalf("%s differs from generic: %x", impl, angles)
			}
		})
	})
}
