package posenc_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

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
		cfg := posenc.RotaryConfig{HeadDim: headDim, RotaryDim: rotaryDim, Offset: offset, Layout: posenc.Layout(mode & 1), Angles: posenc.AngleRounding(mode >> 1 & 1)}
		pairs := rotaryDim / 2
		if rotaryDim == 0 {
			pairs = headDim / 2
		}
		if pairs > 0 && pairs < 1<<12 {
			cfg.InvFreq = testkit.Repeat64(pairs, frequencyData)
		} else if headDim > 1<<13 {
			cfg.HeadDim = 1 << 13 // a ladder from a base takes memory in proportion
		}
		rotary, err := posenc.NewRotary(cfg)
		if err != nil {
			return
		}
		tokens = testkit.Quick(tokens, cfg.InvFreq)
		view := posenc.View[float32]{Heads: heads, TokenStride: tokenStride, HeadStride: headStride}
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
		testkit.Repeat32(before, data)
		positions := testkit.RepeatPositions(tokens, positionData, run)
		rotate, direction := posenc.Rotate[float32], float32(1)
		if mode&4 != 0 {
			rotate, direction = posenc.RotateInverse[float32], -1
		}
		var want []float32
		testkit.OnEach(func(impl kernels.Implementation) {
			x := slices.Clone(before)
			view.Data = x[start:]
			if err := rotate(rotary, positions, view); err != nil {
				if !testkit.SameBits(x, before) {
					t.Fatalf("%s: wrote before the error %v", impl, err)
				}
				return
			}
			if want == nil {
				want = slices.Clone(before)
				if tokens > 0 {
					cos, sin := testkit.TablesOf(t, cfg, positions, direction)
					p := testkit.Placed{Views: []posenc.View[float32]{view}, Starts: []int{start}}
					p.RotateViews(cfg, want, cos, sin, tokens)
				}
			}
			if !testkit.SameSlices(x, want) {
				t.Fatalf("%s differs from generic: %+v, view %d heads at %d and %d, positions %v", impl, cfg, heads, tokenStride, headStride, positions)
			}
		})
	})
}

// FuzzCosSin writes tables of any positions and frequencies.
func FuzzCosSin(f *testing.F) {
	f.Add(9, uint8(40), uint8(3), uint8(200), []byte{30, 0, 0, 0}, []byte(nil))
	f.Add(64, uint8(1), uint8(0), uint8(0), []byte{0, 0, 0, 128}, binary.LittleEndian.AppendUint64(nil, 1))
	f.Add(130, uint8(150), uint8(8), uint8(255), []byte{255, 255, 255, 127}, binary.LittleEndian.AppendUint64(nil, math.Float64bits(-0x1p18)))
	f.Fuzz(func(t *testing.T, pairs int, tokens, misaligned, run uint8, positionData, frequencyData []byte) {
		pairs = (pairs%140 + 140) % 140 // those in fixed point take microseconds each
		tokens %= 160
		invFreq := testkit.Repeat64(pairs, frequencyData)
		tokens = uint8(testkit.Quick(int(tokens), invFreq))
		positions := testkit.RepeatPositions(int(tokens), positionData, run)
		start, size := int(misaligned%16), int(tokens)*pairs
		before := make([]float32, start+size)
		testkit.Repeat32(before, frequencyData)
		wantCos, wantSin := slices.Clone(before), slices.Clone(before)
		var made bool
		testkit.OnEach(func(impl kernels.Implementation) {
			cos, sin := slices.Clone(before), slices.Clone(before)
			if err := posenc.CosSin(cos[start:], sin[start:], positions, invFreq); err != nil {
				if !testkit.SameBits(cos, before) || !testkit.SameBits(sin, before) {
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
			if !testkit.SameSlices(cos, wantCos) || !testkit.SameSlices(sin, wantSin) {
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
		testkit.Repeat32(angles, data)
		wantCos, wantSin := make([]float32, n), make([]float32, n)
		generic.CosSinFloat32(wantCos, wantSin, angles, 1, 1, 1)
		testkit.OnEach(func(impl kernels.Implementation) {
			cos, sin := make([]float32, n+start)[start:], make([]float32, n)
			if err := posenc.CosSinAngles(cos, sin, angles); err != nil {
				t.Fatal(err)
			}
			if !testkit.SameSlices(cos, wantCos) || !testkit.SameSlices(sin, wantSin) {
				t.Fatalf("%s differs from generic: %x", impl, angles)
			}
		})
	})
}
