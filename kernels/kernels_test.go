package kernels_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/internal/test/operations"
	"github.com/go-posenc/posenc/kernels"
)

func TestImplementationNames(t *testing.T) {
	for impl, want := range map[kernels.Implementation]string{kernels.Generic: "generic", kernels.AVX2: "avx2", kernels.AVX512: "avx512", kernels.NEON: "neon", 200: "unknown"} {
		if impl.String() != want {
			t.Errorf("%d is %q, want %q", impl, impl, want)
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
		if got := kernels.RunLength(positions); got != want {
			t.Fatalf("%v: got %d, want %d", positions, got, want)
		}
	}
}

// A block that is set anew keeps nothing of what it was, nor the slice that it was set to. It
// is certain unless sines may be subnormal.
func TestBlockSetAnew(t *testing.T) {
	var block kernels.Block
	set := func(certain bool, invFreq ...float64) {
		given := slices.Clone(invFreq)
		block.Set(given)
		clear(given)
		if n := len(invFreq); kernels.Certain(&block, 1, 1) != certain || block.Len() != n || !slices.Equal(kernels.Frequencies(&block), invFreq) {
			t.Errorf("%d frequencies %x: got %d, %x, certain is %t", n, invFreq, block.Len(), kernels.Frequencies(&block), !certain)
		}
		for _, impl := range kit.Supported() {
			var got, want [2][kernels.Width]float32
			kernels.CosSinExactRow(impl, got[0][:len(invFreq)], got[1][:len(invFreq)], 321, &block, 1, 1)
			generic.CosSinExact(want[0][:], want[1][:], 321, invFreq, 1, 1)
			if got != want {
				t.Errorf("%s, frequencies %x: got %x, want %x", impl, invFreq, got, want)
			}
		}
	}
	for _, w := range []float64{0, 1, -1, 0x1p-100} {
		set(false, slices.Repeat([]float64{0x1p-140, 1 << 40}, kernels.Width/2)...)
		set(true, 1, w, 1)
	}
	for _, w := range []float64{0x1p-126, -0x1p-126, 0x1.fffp-127, math.SmallestNonzeroFloat64} {
		set(false, 1, w, 1)
	}
}

// eachKernel runs f for every implementation with kernels.
func eachKernel(t *testing.T, f func(t *testing.T, impl kernels.Implementation)) {
	kit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		if impl == kernels.Generic {
			t.Skip("plain Go decides everything, has no bound and no seeds")
		}
		f(t, impl)
	})
}

// A kernel that is never certain would be right and slow.
func TestUndecided(t *testing.T) {
	eachKernel(t, func(t *testing.T, impl kernels.Implementation) {
		r := rand.New(rand.NewPCG(2, 2))
		const rows = 3000
		var cos, sin [kernels.Width]float32
		undecided := 0
		for range rows {
			var block kernels.Block
			p := int32(1 + r.IntN(1<<20))
			n := 1 + r.IntN(kernels.Width) // the last part of a row has code of its own
			invFreq := kit.LadderOf(kernels.Width)[:n]
			invFreq[r.IntN(n)] *= -1
			block.Set(invFreq)
			if !kernels.CosSinExactF32(impl, cos[:], sin[:], float64(p), &block, 1, 1) {
				undecided++
			}
		}
		if undecided > rows/100 {
			t.Errorf("%d of %d ordinary rows were undecided", undecided, rows)
		}
	})
}

// What lies within its error bound of a midpoint of two float32 is undecided, however small
// it is and for anything that lies beside it.
func TestNearMidpoints(t *testing.T) {
	eachKernel(t, func(t *testing.T, impl kernels.Implementation) {
		r := kit.NewRand(7)
		var block kernels.Block
		var cos, sin [kernels.Width]float32
		for exponent := -24; exponent < 0; exponent++ {
			for range 200 {
				low := float32(math.Ldexp(1+r.Float64(), exponent))
				midpoint := (float64(low) + float64(math.Nextafter32(low, 2))) / 2
				// The rest of the bound is for the errors of the angle and of the kernel.
				off := math.Copysign(0.6*generic.Margin, r.Float64()-0.5)
				invFreq := kit.LadderOf(kernels.Width)[:1+r.IntN(kernels.Width)]
				invFreq[0] = math.Acos(midpoint + off)
				if r.IntN(2) == 0 {
					invFreq[0] = math.Asin(midpoint + off*midpoint)
				}
				name := invFreq[0]
				r.Shuffle(len(invFreq), func(i, j int) { invFreq[i], invFreq[j] = invFreq[j], invFreq[i] })
				block.Set(invFreq)
				if kernels.CosSinExactF32(impl, cos[:], sin[:], 1, &block, 1, 1) {
					t.Fatalf("angle %x, which has an entry near %x, is decided beside %x", name, midpoint, invFreq)
				}
			}
		}
	})
}

// CosSinFloat32 leaves to plain Go the rows that have an angle beyond its reach, and no
// others: these would be right, but slow.
func TestBeyondFloat32(t *testing.T) {
	nan, infinity := float32(math.NaN()), float32(math.Inf(1))
	reach := math.Nextafter32(generic.MaxAngle, 0)
	eachKernel(t, func(t *testing.T, impl kernels.Implementation) {
		r := kit.NewRand(8)
		for n := 1; n < 131; n++ {
			cos, sin, angles := make([]float32, n), make([]float32, n), make([]float32, n)
			for _, x := range []float32{0, 1, reach, generic.MaxAngle, infinity, nan} {
				for i := range angles {
					angles[i] = 2*r.Float32() - 1
				}
				angles[r.IntN(n)] = math.Float32frombits(math.Float32bits(x) ^ r.Uint32()&(1<<31))
				if got, want := kernels.CosSinFloat32F32(impl, cos, sin, angles, 1, 1, 1), x <= reach; got != want {
					t.Fatalf("%d angles up to %v: within reach is %t, want %t", n, x, got, want)
				}
			}
		}
	})
}

// The error bounds hold that Ziv's test goes by. Half of a bound is for the
// seed, the other half for what shifts it: a seed is off by at most 2^-50, in
// proportion for the sines of angles below 1.
func TestSeedError(t *testing.T) {
	const tries = 100
	eachKernel(t, func(t *testing.T, impl kernels.Implementation) {
		allowed := 0
		if kit.Bochs {
			allowed = tries * kernels.Width / 1000 // its VFMADD, see there
		}
		wrong := 0
		r := rand.New(rand.NewPCG(4, 4))
		var block kernels.Block
		var seed [3][kernels.Width]float64
		var cos, sin [kernels.Width]float64
		invFreq := kit.LadderOf(kernels.Width)
		for range tries {
			p := float64(r.IntN(1 << (1 + r.IntN(30))))
			for i := range invFreq {
				if r.IntN(4) == 0 {
					invFreq[i] = math.Copysign(r.Float64(), r.Float64()-0.5)
				}
			}
			block.Set(invFreq)
			kernels.CosSinSeedF64(impl, &seed[0], &seed[1], &seed[2], &block, p, p)
			generic.CosSinExactF64(cos[:], sin[:], p, invFreq)
			for i, w := range invFreq {
				bound := generic.Margin * min(1, p*math.Abs(w))
				if !(seed[2][i] >= 0.99*bound && seed[2][i] <= 1.01*bound) {
					t.Fatalf("position %v, frequency %x: the error bound is %x, want %x", p, w, seed[2][i], bound)
				}
				cosError, sinError := math.Abs(seed[0][i]-cos[i]), math.Abs(seed[1][i]-sin[i])
				if cosError <= generic.Margin/2 && sinError <= bound/2 {
					continue
				}
				if wrong++; wrong > allowed {
					t.Fatalf("position %v, frequency %x: the cosine is off by %x, the sine by %x", p, w, cosError, sinError)
				}
			}
		}
	})
}

// CosSinShift stops at the row with a hard entry: the rows before it are right,
// those after it untouched.
func TestShiftStops(t *testing.T) {
	eachKernel(t, func(t *testing.T, impl kernels.Implementation) {
		r := rand.New(rand.NewPCG(3, 3))
		stopped := 0
		const tries = 300
		for range tries {
			n := 1 + r.IntN(kernels.Width)
			base := int32(r.IntN(1<<15)) * kernels.ShiftRows
			row := r.IntN(kernels.ShiftRows)
			if base == 0 && row == 0 {
				continue
			}
			invFreq := kit.LadderOf(kernels.Width)[:n]
			invFreq[r.IntN(n)] = kit.HardFrequency(r, base+int32(row))
			var block kernels.Block
			var shift kernels.Shift
			var seed [3][kernels.Width]float64
			block.Set(invFreq)
			shift.Set(impl, &block)
			kernels.CosSinSeedF64(impl, &seed[0], &seed[1], &seed[2], &block, float64(base), float64(base)+kernels.ShiftRows)
			cos, sin := make([]float32, kernels.ShiftRows*n), make([]float32, kernels.ShiftRows*n)
			for i := range cos {
				cos[i], sin[i] = 7, 8
			}
			done := kernels.CosSinShiftF32(impl, cos, sin, n, kernels.ShiftRows, &seed, shift[:], n, 1, 1)
			if done < 0 || done > kernels.ShiftRows {
				t.Fatalf("%d of %d rows done", done, kernels.ShiftRows)
			}
			if done == row {
				stopped++
			}
			var wantCos, wantSin [kernels.Width]float32
			for i := range done {
				generic.CosSinExact(wantCos[:], wantSin[:], base+int32(i), invFreq, 1, 1)
				if !slices.Equal(cos[i*n:][:n], wantCos[:n]) || !slices.Equal(sin[i*n:][:n], wantSin[:n]) {
					t.Fatalf("row %d of %d done is wrong: position %d, frequencies %x", i, done, base+int32(i), invFreq)
				}
			}
			for i := min(done+1, kernels.ShiftRows) * n; i < len(cos); i++ {
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
	memory := kit.Aligned(128)
	for _, tt := range []struct {
		cos, sin, stride, n int
		want                bool
	}{
		{0, 0, 16, 16, true}, {16, 32, 64, 48, true}, {0, 1, 16, 16, false}, {8, 0, 16, 16, false},
		{0, 0, 24, 16, false}, {0, 0, 16, 8, false}, {0, 0, 17, 16, false}, {2, 14, 16, 16, false},
	} {
		if got := kernels.Aligned(memory[tt.cos:], memory[tt.sin:], tt.stride, tt.n); got != tt.want {
			t.Errorf("%+v: got %t", tt, got)
		}
	}
}

// everyOperation returns the operations of the list.
func everyOperation() []*operations.Operation { return slices.Concat(operations.Registry, private) }

// Every operation on every implementation is its definition, to the last bit: at every
// length up to several vectors and round those of more, at any start, with any strides,
// on ordinary numbers, extremes and any bits.
func TestOperations(t *testing.T) {
	operations.EachOperation(t, operations.Regular(), func(t *testing.T, o *operations.Operation) {
		r := kit.NewRand(1)
		for n := range kit.Lengths(134) {
			for range kit.Rounds(10) {
				o.Try(t, r, o.Problem(r, n, false), operations.Padded(r, o))
			}
		}
		for _, n := range []int{200, 255, 256, 257, 1000} {
			rounds := kit.Rounds(20)
			if kit.Bochs {
				rounds = 1
			}
			for range rounds {
				o.Try(t, r, o.Problem(r, n, false), operations.Padded(r, o))
			}
		}
	})
}

// Numbers at and next to all midpoints of numbers of 16 bits are rounded to even, as
// generic does, where an operation leaves them as they are until then.
func TestRounding(t *testing.T) {
	all := hardToRound(kit.NewRand(4))
	is16 := func(s operations.Slice) bool { return s.Written && s.Element.Size == 2 && s.Element.Set != nil }
	operations.EachOperation(t, operations.Regular(), func(t *testing.T, o *operations.Operation) {
		if !slices.ContainsFunc(o.Slices, is16) {
			return
		}
		r := kit.NewRand(5)
		const most = 1000
		for values := range slices.Chunk(all, most) {
			p := o.Problem(r, len(values), true)
			for p.Rotation.Tokens > 1 {
				p = o.Problem(r, len(values), true)
			}
			p.InPlace = false
			for name := range p.Number {
				p.Number[name] = 1
			}
			random := p.Prepare
			p.Prepare = func(r *rand.Rand, a *operations.Arguments) {
				if random != nil {
					random(r, a)
				}
				// What is multiplied is 1 or 0, what is added 0.
				for _, s := range o.Slices {
					memory := a.Memory[s.Name]
					for i := range len(memory) / s.Element.Size {
						x := values[i%len(values)]
						switch {
						case o.Geometry == "Rotation" && s.Name == "x":
							x = float32(1 - i%2)
							if o.Layout == "HalfSplit" {
								x = float32(1 - i/len(values)%2)
							}
						case s.Name == "sin":
							x = values[len(values)-1-i%len(values)]
						case s.Written && o.Geometry == "":
							x = 0
						}
						if s.Element.Set != nil {
							s.Element.Set(memory[i*s.Element.Size:], x)
						}
					}
				}
			}
			o.Try(t, r, p, operations.Padded(r, o))
		}
	})
}

// hardToRound returns float32 at and next to all midpoints of numbers of 16 bits,
// the NaNs that a carry would make zeros, and any bits.
func hardToRound(r *rand.Rand) (all []float32) {
	all = append(all, math.Float32frombits(0x7fffffff), math.Float32frombits(0xffffffff))
	for bits := range uint32(1 << 16) {
		if testing.Short() && r.IntN(16) != 0 {
			continue
		}
		for _, f := range []func(uint16) float32{generic.Float16ToFloat32, generic.BFloat16ToFloat32} {
			x, next := f(uint16(bits)), f(uint16(bits)+1)
			midpoint := float32((float64(x) + float64(next)) / 2)
			all = append(all, x, midpoint, math.Nextafter32(midpoint, x), math.Nextafter32(midpoint, next))
		}
		all = append(all, math.Float32frombits(r.Uint32()), math.Float32frombits(kit.OneOf(r, kit.Extremes)))
	}
	return all
}

// All numbers of 16 bits are widened as generic does.
func TestWidening(t *testing.T) {
	operations.EachOperation(t, operations.Regular(), func(t *testing.T, o *operations.Operation) {
		if o.Geometry != "" || o.Has("scale") || o.Slices[1].Element.Size != 2 {
			return
		}
		p := o.Problem(kit.NewRand(6), 1<<16, true)
		p.Prepare = func(_ *rand.Rand, a *operations.Arguments) {
			x := operations.Elements[uint16](a, o.Slices[1].Name)
			for i := range x {
				x[i] = uint16(i)
			}
		}
		r := kit.NewRand(7)
		o.Try(t, r, p, operations.Padded(r, o))
	})
}

// Nothing to do is done by doing nothing.
func TestNothing(t *testing.T) {
	operations.EachOperation(t, operations.Regular(), func(t *testing.T, o *operations.Operation) {
		r := kit.NewRand(8)
		for empty := range 3 {
			p := o.Problem(r, 8, false)
			if o.Geometry == "" {
				p = o.Problem(r, 0, false)
			} else if o.Lengths != nil && empty == 0 {
				continue // rows have one of these lengths, and none is 0
			}
			p.Split = func(*operations.Arguments) []*operations.Arguments { return nil }
			p.Lines.Count, p.Fusion.Count, p.Tile.Rows, p.Conversion.Count, p.Affine.Count = 0, 0, 0, 0, 0
			*[]*int{&p.Rotation.Pairs, &p.Rotation.Tokens, &p.Rotation.Heads}[empty] = 0
			*[]*int{&p.Matrices.Rows, &p.Matrices.Columns, &p.Matrices.Rows}[empty] = 0
			o.Try(t, r, p, operations.Padded(r, o))
		}
	})
}
