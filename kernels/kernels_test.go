package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/generic"
)

// What the kernels compute is tested in the root package, on all their
// implementations. Here is what it cannot see.

func each(t *testing.T, f func(t *testing.T, impl Implementation)) {
	for _, impl := range available() {
		t.Run("impl="+impl.String(), func(t *testing.T) { f(t, impl) })
	}
}

func TestImplementationNames(t *testing.T) {
	for impl, want := range map[Implementation]string{Generic: "generic", AVX2: "avx2", AVX512: "avx512", NEON: "neon", 200: "unknown"} {
		if impl.String() != want {
			t.Errorf("%d is %q, want %q", impl, impl, want)
		}
	}
}

// A row that a switch lacks fails, and says which.
func TestMissingRowPanics(t *testing.T) {
	var block Block
	var row [Width]float64
	block.Set([]float64{1})
	for _, impl := range append(foreign, 200) {
		for name, call := range map[string]func(){
			"RotateHalfSplitF32":           func() { RotateHalfSplitF32(impl, nil, nil, nil, nil, &Rows{}) },
			"RotateHalfSplitF16":           func() { RotateHalfSplitF16(impl, nil, nil, nil, nil, &Rows{}) },
			"RotateHalfSplitBF16":          func() { RotateHalfSplitBF16(impl, nil, nil, nil, nil, &Rows{}) },
			"RotateHalfSplitF32ToF16":      func() { RotateHalfSplitF32ToF16(impl, nil, nil, nil, nil, &Rows{}) },
			"RotateHalfSplitF32ToBF16":     func() { RotateHalfSplitF32ToBF16(impl, nil, nil, nil, nil, &Rows{}) },
			"RotateInterleavedF32":         func() { RotateInterleavedF32(impl, nil, nil, nil, nil, &Rows{}) },
			"RotateInterleavedF16":         func() { RotateInterleavedF16(impl, nil, nil, nil, nil, &Rows{}) },
			"RotateInterleavedBF16":        func() { RotateInterleavedBF16(impl, nil, nil, nil, nil, &Rows{}) },
			"RotateInterleavedF32ToF16":    func() { RotateInterleavedF32ToF16(impl, nil, nil, nil, nil, &Rows{}) },
			"RotateInterleavedF32ToBF16":   func() { RotateInterleavedF32ToBF16(impl, nil, nil, nil, nil, &Rows{}) },
			"RMSNormF32":                   func() { RMSNormF32(impl, nil, nil, &Lines{}, 0) },
			"ScaleRowsF32":                 func() { ScaleRowsF32(impl, nil, 0, &Lines{}) },
			"RMSNormF16":                   func() { RMSNormF16(impl, nil, nil, &Lines{}, 0) },
			"ScaleRowsF16":                 func() { ScaleRowsF16(impl, nil, 0, &Lines{}) },
			"RMSNormBF16":                  func() { RMSNormBF16(impl, nil, nil, &Lines{}, 0) },
			"ScaleRowsBF16":                func() { ScaleRowsBF16(impl, nil, 0, &Lines{}) },
			"RMSNormRotateHalfSplitF32":    func() { RMSNormRotateHalfSplitF32(impl, nil, nil, nil, nil, &Fusion{}, 0) },
			"RMSNormRotateInterleavedF32":  func() { RMSNormRotateInterleavedF32(impl, nil, nil, nil, nil, &Fusion{}, 0) },
			"AddRowsF32":                   func() { AddRowsF32(impl, nil, nil, 0, 0, nil, &Tile{}) },
			"AddClampedF32":                func() { AddClampedF32(impl, nil, nil, 0, 0, &Tile{}) },
			"AddDistanceF32":               func() { AddDistanceF32(impl, nil, 0, 0, 0, &Tile{}) },
			"SubAbsoluteDistanceF32":       func() { SubAbsoluteDistanceF32(impl, nil, 0, 0, 0, &Tile{}) },
			"DotProductsF32":               func() { DotProductsF32(impl, nil, nil, nil, &Matrices{}) },
			"AddMultiplesF32":              func() { AddMultiplesF32(impl, nil, nil, nil, &Matrices{}) },
			"ConvertF16ToF32":              func() { ConvertF16ToF32(impl, nil, nil) },
			"ConvertBF16ToF32":             func() { ConvertBF16ToF32(impl, nil, nil) },
			"ConvertF32ToF16":              func() { ConvertF32ToF16(impl, nil, nil) },
			"ConvertF32ToBF16":             func() { ConvertF32ToBF16(impl, nil, nil) },
			"AddScaledF32":                 func() { AddScaledF32(impl, nil, nil, 1) },
			"AddScaledF16":                 func() { AddScaledF16(impl, nil, nil, 1) },
			"AddScaledBF16":                func() { AddScaledBF16(impl, nil, nil, 1) },
			"DeinterleaveB32":              func() { DeinterleaveB32(impl, nil, nil) },
			"DeinterleaveB16":              func() { DeinterleaveB16(impl, nil, nil) },
			"InterleaveB32":                func() { InterleaveB32(impl, nil, nil) },
			"InterleaveB16":                func() { InterleaveB16(impl, nil, nil) },
			"CosSinExactF32":               func() { cosSinExactF32(impl, nil, nil, 0, &block, 1, 1) },
			"CosSinSeedF64":                func() { cosSinSeedF64(impl, &row, &row, &row, &block, 0, 0) },
			"SinusoidalRowsInterleavedF32": func() { sinusoidalRowsInterleavedF32(impl, nil, 0, 0, nil, nil, 0, 1) },
			"AddSinusoidalInterleavedF32":  func() { addSinusoidalInterleavedF32(impl, nil, 0, 0, nil, nil, 0, 1, 1) },
			"AddSinusoidalHalfSplitF32":    func() { addSinusoidalHalfSplitF32(impl, nil, nil, 0, 0, nil, nil, 0, 1, 1) },
			"CosSinShiftF32":               func() { cosSinShiftF32(impl, nil, nil, 0, 0, nil, nil, 0, 1, 1) },
			"CosSinFloat32F32":             func() { cosSinFloat32F32(impl, nil, nil, nil, 1, 1, 1) },
		} {
			func() {
				defer func() {
					message := fmt.Sprint(recover())
					if !strings.Contains(message, name+" has no row") || !strings.Contains(message, impl.String()) {
						t.Errorf("%s on %s: %s", name, impl, message)
					}
				}()
				call()
			}()
		}
	}
}

func TestRunLength(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		positions := make([]int32, 1+r.IntN(80))
		p := int32(r.Uint32()) >> r.IntN(32)
		if r.IntN(8) == 0 {
			p = math.MaxInt32 - int32(r.IntN(80))
		}
		for i := range positions {
			positions[i] = p
			p++
			if r.IntN(40) == 0 {
				p += int32(r.IntN(3)) - 1
			}
		}
		// The run goes on while the block of 32 stays and the next one is 1 more.
		want := 1
		for want < len(positions) && int64(positions[want]) == int64(positions[want-1])+1 && positions[want]>>5 == positions[0]>>5 {
			want++
		}
		if got := runLength(positions); got != want {
			t.Fatalf("%v: got %d, want %d", positions, got, want)
		}
	}
}

// A block that is set anew keeps nothing of what it was.
func TestBlockSetAnew(t *testing.T) {
	long := make([]float64, Width)
	for i := range long {
		long[i] = 0x1p-140 // subnormal sines
	}
	var fresh, used Block
	used.Set(long)
	if used.certain(1, 1) || used.Len() != Width {
		t.Errorf("Len() is %d, subnormal is %t", used.Len(), !used.certain(1, 1))
	}
	short := []float64{1, 0.5, 0}
	fresh.Set(short)
	used.Set(short)
	short[0] = 7 // not kept
	if !used.certain(1, 1) || used.Len() != 3 || !slices.Equal(used.frequencies(), []float64{1, 0.5, 0}) {
		t.Errorf("got %v, subnormal %t", used.frequencies(), !used.certain(1, 1))
	}
	each(t, func(t *testing.T, impl Implementation) {
		var a, b [2][3]float32
		CosSinExactRow(impl, a[0][:], a[1][:], 12345, &fresh, 1, 1)
		CosSinExactRow(impl, b[0][:], b[1][:], 12345, &used, 1, 1)
		if a != b {
			t.Errorf("got %v, want %v", b, a)
		}
	})
}

// Blocks whose sines may be subnormal are told from others.
func TestBlockSubnormal(t *testing.T) {
	for w, want := range map[float64]bool{0: false, 1: false, -1: false, 0x1p-126: true, -0x1p-126: true, 0x1.fffp-127: true, math.SmallestNonzeroFloat64: true, 0x1p-100: false} {
		var block Block
		block.Set([]float64{1, w, 1})
		if !block.certain(1, 1) != want {
			t.Errorf("frequency %x: got %t, want %t", w, !block.certain(1, 1), want)
		}
	}
}

// hard returns a frequency whose cosine at position p is next to the midpoint
// of two float32.
func hard(r *rand.Rand, p int32) float64 {
	low := math.Float32frombits(0x3f000000 + r.Uint32N(0x7f0000))
	midpoint := (float64(low) + float64(math.Nextafter32(low, 1))) / 2
	return math.Acos(midpoint) / float64(p)
}

func ladder() []float64 {
	s := make([]float64, Width)
	for i := range s {
		s[i] = math.Pow(10000, -float64(i)/Width)
	}
	return s
}

// A kernel that is never certain would be right and slow, one that is always
// certain fast and wrong.
func TestUndecided(t *testing.T) {
	each(t, func(t *testing.T, impl Implementation) {
		if impl == Generic {
			t.Skip("plain Go decides everything")
		}
		r := rand.New(rand.NewPCG(2, 2))
		const rows = 3000
		var cos, sin [Width]float32
		var easy, near int
		for range rows {
			var block Block
			p := int32(1 + r.IntN(1<<20))
			n := 1 + r.IntN(Width) // the last part of a row has code of its own
			invFreq := ladder()[:n]
			invFreq[r.IntN(n)] *= -1
			block.Set(invFreq)
			if !cosSinExactF32(impl, cos[:], sin[:], float64(p), &block, 1, 1) {
				easy++
			}
			invFreq[r.IntN(n)] = hard(r, p)
			block.Set(invFreq)
			if !cosSinExactF32(impl, cos[:], sin[:], float64(p), &block, 1, 1) {
				near++
			}
		}
		t.Logf("of %d rows %d were undecided, of hard ones %d", rows, easy, near)
		if easy > rows/100 {
			t.Errorf("%d of %d ordinary rows were undecided", easy, rows)
		}
		if near < rows*9/10 {
			t.Errorf("%d of %d hard rows were undecided", near, rows)
		}
	})
}

// The float64 of a kernel are not accurate enough for angles near 2^50, of which
// this one is known to be rounded wrongly: none is left to kernels.
func TestLargeAngle(t *testing.T) {
	each(t, func(t *testing.T, impl Implementation) {
		var block Block
		var cos, sin, wantCos, wantSin [1]float32
		invFreq := []float64{0x1.cacc4a048d5e8p+49}
		block.Set(invFreq)
		CosSinExactRow(impl, cos[:], sin[:], 1, &block, 1, 1)
		generic.CosSinExact(wantCos[:], wantSin[:], 1, invFreq, 1, 1)
		if cos != wantCos || sin != wantSin {
			t.Errorf("cosine and sine %x, %x, want %x, %x", cos, sin, wantCos, wantSin)
		}
	})
}

// The error bounds hold that Ziv's test goes by. Half of a bound is for the
// seed, the other half for what shifts it: a seed is off by at most 2^-50, in
// proportion for the sines of angles below 1.
func TestSeedError(t *testing.T) {
	each(t, func(t *testing.T, impl Implementation) {
		if impl == Generic {
			t.Skip("plain Go has no seeds")
		}
		r := rand.New(rand.NewPCG(4, 4))
		var block Block
		var seed [3][Width]float64
		var cos, sin [Width]float64
		invFreq := ladder()
		for range 100 {
			p := float64(r.IntN(1 << (1 + r.IntN(30))))
			for i := range invFreq {
				if r.IntN(4) == 0 {
					invFreq[i] = math.Copysign(r.Float64(), r.Float64()-0.5)
				}
			}
			block.Set(invFreq)
			cosSinSeedF64(impl, &seed[0], &seed[1], &seed[2], &block, p, p)
			generic.CosSinExactF64(cos[:], sin[:], p, invFreq)
			for i, w := range invFreq {
				bound := generic.Margin * min(1, p*math.Abs(w))
				if !(seed[2][i] >= 0.99*bound && seed[2][i] <= 1.01*bound) {
					t.Errorf("position %v, frequency %x: the error bound is %x, want %x", p, w, seed[2][i], bound)
				}
				if error := math.Abs(seed[0][i] - cos[i]); !(error <= generic.Margin/2) {
					t.Errorf("position %v, frequency %x: the cosine is off by %x", p, w, error)
				}
				if error := math.Abs(seed[1][i] - sin[i]); !(error <= bound/2) {
					t.Errorf("position %v, frequency %x: the sine is off by %x", p, w, error)
				}
			}
			if t.Failed() {
				return
			}
		}
	})
}

// CosSinShift stops at the row with a hard entry: the rows before it are right,
// those after it untouched.
func TestShiftStops(t *testing.T) {
	each(t, func(t *testing.T, impl Implementation) {
		if impl == Generic {
			t.Skip("plain Go has no seeds")
		}
		r := rand.New(rand.NewPCG(3, 3))
		stopped := 0
		const tries = 300
		for range tries {
			n := 1 + r.IntN(Width)
			base := int32(r.IntN(1<<15)) * shiftRows
			row := r.IntN(shiftRows)
			if base == 0 && row == 0 {
				continue
			}
			invFreq := ladder()[:n]
			invFreq[r.IntN(n)] = hard(r, base+int32(row))
			var block Block
			var shift Shift
			var seed [3][Width]float64
			block.Set(invFreq)
			shift.Set(impl, &block)
			cosSinSeedF64(impl, &seed[0], &seed[1], &seed[2], &block, float64(base), float64(base)+shiftRows)
			cos, sin := make([]float32, shiftRows*n), make([]float32, shiftRows*n)
			for i := range cos {
				cos[i], sin[i] = 7, 8
			}
			done := cosSinShiftF32(impl, cos, sin, n, shiftRows, &seed, shift[:], n, 1, 1)
			if done < 0 || done > shiftRows {
				t.Fatalf("%d of %d rows done", done, shiftRows)
			}
			if done == row {
				stopped++
			}
			var wantCos, wantSin [Width]float32
			for i := range done {
				generic.CosSinExact(wantCos[:], wantSin[:], base+int32(i), invFreq, 1, 1)
				if !slices.Equal(cos[i*n:][:n], wantCos[:n]) || !slices.Equal(sin[i*n:][:n], wantSin[:n]) {
					t.Fatalf("row %d of %d done is wrong: position %d, frequencies %x", i, done, base+int32(i), invFreq)
				}
			}
			for i := min(done+1, shiftRows) * n; i < len(cos); i++ {
				if cos[i] != 7 || sin[i] != 8 {
					t.Fatalf("row %d was written, %d done", i/n, done)
				}
			}
		}
		if stopped < tries*8/10 {
			t.Errorf("stopped at the hard row %d times of %d", stopped, tries)
		}
	})
}

func TestAligned(t *testing.T) {
	memory := make([]float32, 64)
	start := 0
	for !aligned(memory[start:], memory[start:], 8, 8) {
		if start++; start > 8 {
			t.Fatal("no start is aligned")
		}
	}
	for _, tt := range []struct {
		cos, sin, stride, n int
		want                bool
	}{
		{0, 0, 8, 8, true}, {8, 16, 64, 16, true}, {0, 1, 8, 8, false}, {4, 0, 8, 8, false},
		{0, 0, 12, 8, false}, {0, 0, 8, 4, false}, {0, 0, 9, 8, false}, {2, 6, 8, 8, false},
	} {
		if got := aligned(memory[start+tt.cos:], memory[start+tt.sin:], tt.stride, tt.n); got != tt.want {
			t.Errorf("%+v: got %t", tt, got)
		}
	}
}
