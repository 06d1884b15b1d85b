package posenc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/kernels"
)

// eachImplementation runs f once for every implementation that this GOARCH has,
// with the package switched to it.
func eachImplementation(t *testing.T, f func(t *testing.T, impl kernels.Implementation)) {
	t.Helper()
	for _, impl := range compiled() {
		t.Run("impl="+impl.String(), func(t *testing.T) {
			if !slices.Contains(supported(), impl) {
				t.Skipf("NOT TESTED: the CPU, the operating system or GODEBUG does not allow %s", impl)
			}
			defer use(impl)()
			f(t, impl)
		})
	}
}

// use switches the package to impl and returns what switches it back.
func use(impl kernels.Implementation) (restore func()) {
	saved := implementation
	implementation = impl
	return func() { implementation = saved }
}

// lengths brackets every lane count of the kernels and the width of a block.
var lengths = []int{1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129}

// tokenCounts brackets the rows of a chunk and of a seed.
var tokenCounts = []int{1, 2, 3, 7, 8, 9, 33}

var headCounts = []int{1, 2, 3, 8}

// rounds returns n, or fewer for -short.
func rounds(n int) int {
	if testing.Short() {
		return max(1, n/10)
	}
	return n
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 20210420)) }

// oneOf returns an element of list.
func oneOf[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// extremes are bit patterns that arithmetic treats in a way of its own: zeros,
// subnormals, the smallest and the largest numbers, infinities, and quiet and
// signalling NaNs with several payloads.
var extremes = []uint32{
	0, 1 << 31, 1, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
	0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f000000, 0x7f800000, 0xff800000,
	0x7fc00000, 0xffc00000, 0x7fc12345, 0xffffffff, 0x7f800001, 0xffa5a5a5,
}

// fillRandom sets s to numbers of ordinary size, any bit patterns and extremes.
func fillRandom(r *rand.Rand, s []float32) {
	for i := range s {
		switch r.IntN(8) {
		case 0:
			s[i] = math.Float32frombits(oneOf(r, extremes))
		case 1:
			s[i] = math.Float32frombits(r.Uint32())
		default:
			s[i] = 2*r.Float32() - 1
		}
	}
}

// number is what a type of numbers is in memory: float16 and bfloat16 are their
// bits, and so is what kernels only move.
type number interface{ float32 | uint16 | uint32 }

// numbers is a type of numbers.
type numbers[T number] struct {
	widen func(T) float32
	round func(float32) T
	bits  func(T) uint32
	fill  func(r *rand.Rand, s []T)
}

var (
	float32Numbers = numbers[float32]{
		func(x float32) float32 { return x }, func(x float32) float32 { return x }, math.Float32bits, fillRandom,
	}
	float16Numbers  = numbers16(generic.Float16ToFloat32, generic.Float32ToFloat16)
	bfloat16Numbers = numbers16(generic.BFloat16ToFloat32, generic.Float32ToBFloat16)
)

// float16TiesUp says that the CPU is emulated by Bochs, whose VCVTPS2PH rounds
// ties up instead of to even: other than hardware, which other legs test.
var float16TiesUp = os.Getenv("POSENC_EMULATOR") == "bochs"

func numbers16(widen func(uint16) float32, round func(float32) uint16) numbers[uint16] {
	return numbers[uint16]{widen, round, func(x uint16) uint32 { return uint32(x) }, func(r *rand.Rand, s []uint16) {
		for i := range s {
			switch r.IntN(8) {
			case 0:
				s[i] = round(math.Float32frombits(oneOf(r, extremes)))
			case 1: // subnormal numbers, infinities and NaNs of both formats too
				s[i] = uint16(r.Uint32())
			default:
				s[i] = round(2*r.Float32() - 1)
			}
		}
	}}
}

// same reports equal bits or two NaNs.
func (f *numbers[T]) same(got, want T) bool {
	a, b := f.bits(got), f.bits(want)
	if a == b || f.widen(got) != f.widen(got) && f.widen(want) != f.widen(want) {
		return true
	}
	return float16TiesUp && any(f) == any(&float16Numbers) && b%2 == 0 && a == b+1
}

func same(a, b float32) bool { return float32Numbers.same(a, b) }

// padded is a slice with random elements before and after it that nothing may
// write to: its canaries.
type padded[T number] struct {
	numbers *numbers[T]
	all     []T
	first   int
	n       int
}

const padding = 40

// newPadded returns n random float32 that start misaligned by 0 to 15 elements.
func newPadded(r *rand.Rand, n, misaligned int) padded[float32] {
	return newPaddedOf(r, &float32Numbers, n, misaligned)
}

func newPaddedOf[T number](r *rand.Rand, of *numbers[T], n, misaligned int) padded[T] {
	p := padded[T]{of, make([]T, n+2*padding+misaligned), padding + misaligned, n}
	of.fill(r, p.all)
	return p
}

func (p padded[T]) slice() []T { return p.all[p.first : p.first+p.n : p.first+p.n] }

func (p padded[T]) clone() padded[T] {
	p.all = slices.Clone(p.all)
	return p
}

// check compares with want: the elements of the slice that touched marks have
// to be the same, everything else has to have the very bits of want.
func (p padded[T]) check(t testing.TB, name string, want padded[T], touched func(i int) bool) {
	t.Helper()
	bits := p.numbers.bits
	for i, got := range p.all {
		w, at := want.all[i], i-p.first
		if bits(got) == bits(w) {
			continue
		}
		inside := at >= 0 && at < p.n && touched(at)
		if inside && p.numbers.same(got, w) {
			continue
		}
		what := "is not to be written"
		if inside {
			what = "is wrong"
		}
		t.Fatalf("%s[%d of %d] %s: got %#08x (%v), want %#08x (%v)", name, at, p.n, what, bits(got), p.numbers.widen(got), bits(w), p.numbers.widen(w))
	}
}

// every marks all elements as touched.
func every(int) bool { return true }

// positionKinds are sequences of positions by what they do to runs of seeds.
var positionKinds = map[string]func(r *rand.Rand, s []int32){
	"sequential": func(r *rand.Rand, s []int32) { countFrom(s, int32(r.IntN(1<<20)), 1) },
	"zero":       func(r *rand.Rand, s []int32) { countFrom(s, 0, 1) },
	"crossing":   func(r *rand.Rand, s []int32) { countFrom(s, int32(r.IntN(1<<26))<<5-int32(r.IntN(len(s)+1)), 1) },
	"negative":   func(r *rand.Rand, s []int32) { countFrom(s, -int32(r.IntN(100)), 1) },
	"last":       func(r *rand.Rand, s []int32) { countFrom(s, math.MaxInt32-int32(r.IntN(len(s)+1)), 1) }, // wraps
	"descending": func(r *rand.Rand, s []int32) { countFrom(s, int32(r.IntN(1<<20)), -1) },
	"repeated":   func(r *rand.Rand, s []int32) { countFrom(s, int32(r.Uint32()), 0) },
	"random": func(r *rand.Rand, s []int32) {
		for i := range s {
			s[i] = int32(r.Uint32()) >> r.IntN(32)
		}
	},
	"extremes": func(r *rand.Rand, s []int32) {
		for i := range s {
			s[i] = oneOf(r, []int32{0, 1, -1, 31, 32, 33, math.MinInt32, math.MinInt32 + 1, math.MaxInt32, math.MaxInt32 - 1})
		}
	},
	"runs": func(r *rand.Rand, s []int32) { // of the lengths where seeds begin to pay
		for len(s) > 0 {
			n := 1 + r.IntN(min(6, len(s)))
			countFrom(s[:n], int32(r.Uint32())>>r.IntN(32), 1)
			s = s[n:]
		}
	},
}

func countFrom(s []int32, first, step int32) {
	for i := range s {
		s[i] = first
		first += step
	}
}

// positionNames lists positionKinds in one order for all runs.
var positionNames = func() (names []string) {
	for name := range positionKinds {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}()

func randomPositions(r *rand.Rand, kind string, n int) []int32 {
	s := make([]int32, n)
	positionKinds[kind](r, s)
	return s
}

// farthest is the largest magnitude of an int32.
const farthest = 1 << 31

// randomFrequency returns one of a size that models have, zero, or any number
// whose angles stay below 2^50 at the given distance; without tiny, not one
// whose sine may be a subnormal float32.
func randomFrequency(r *rand.Rand, distance float64, tiny bool) float64 {
	switch r.IntN(8) {
	case 0:
		if tiny {
			return oneOf(r, []float64{math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 0x1p-149, 0x1p-150, 0x1.8p-127})
		}
		return oneOf(r, []float64{0, math.Copysign(0, -1), 1, -1, math.Pi / 2, math.Pi, 0x1p-120, -0x1p-120})
	case 1:
		exponent := r.IntN(139) - 89
		if tiny {
			exponent = r.IntN(250) - 200
		}
		w := math.Ldexp(1+r.Float64(), exponent) / max(1, distance)
		return math.Copysign(w, r.Float64()-0.5)
	default:
		return math.Pow(500000, -r.Float64())
	}
}

// hardFrequency returns one whose cosine or sine at position p lies so close to
// the midpoint of two float32 that float64 arithmetic cannot round it: kernels
// have to notice.
func hardFrequency(r *rand.Rand, p int32) float64 {
	if p == 0 {
		return 1
	}
	low := math.Float32frombits(0x3d800000 + r.Uint32N(0x3f7fff00-0x3d800000)) // 1/16 to 1
	midpoint := (float64(low) + float64(math.Nextafter32(low, 2))) / 2
	angle := math.Acos(midpoint)
	if r.IntN(2) == 0 {
		angle = math.Asin(midpoint)
	}
	if r.IntN(2) == 0 {
		angle = math.Pi - angle
	}
	return angle / float64(p)
}

// largeFrequency returns one whose angle at position p lies between 2^29 and
// 2^50, an odd number of eighths of a turn: there the reduction of float64 loses
// what its polynomials need.
func largeFrequency(r *rand.Rand, p int32) float64 {
	k := math.Floor(math.Ldexp(1+r.Float64(), 29+r.IntN(20))) + 0.5
	return k * math.Pi / 2 / max(1, math.Abs(float64(p)))
}

// randomFrequencies returns n frequencies; with hard, every fourth is hard at
// one of the positions.
func randomFrequencies(r *rand.Rand, n int, positions []int32, hard bool) []float64 {
	s := make([]float64, n)
	tiny := r.IntN(4) == 0 // one is enough to keep a block from the kernels
	for i := range s {
		s[i] = randomFrequency(r, farthest, tiny)
		if hard && i%4 == 0 {
			s[i] = hardFrequency(r, oneOf(r, positions))
		}
	}
	return s
}

// randomScales returns what multiplies cosines and sines.
func randomScales(r *rand.Rand) (cos, sin float32) {
	scales := []float32{1, -1, 1.2079441541679836, 0.5, -3.3e-20, 2.5e38}
	return oneOf(r, scales), oneOf(r, scales)
}

// blockLengths are numbers of frequencies up to the width of a block.
var blockLengths = slices.DeleteFunc(slices.Clone(lengths), func(n int) bool { return n > kernels.Width })

func TestCosSinExactRowKernels(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(4)
		for range rounds(20) {
			for n := range kernels.Width + 1 {
				for _, p := range []int32{0, 1, math.MinInt32, math.MaxInt32, int32(r.Uint32()) >> r.IntN(32)} {
					invFreq := randomFrequencies(r, n, []int32{p}, r.IntN(4) == 0)
					if n > 0 && r.IntN(4) == 0 {
						invFreq[r.IntN(n)] = largeFrequency(r, p)
					}
					scaleCos, scaleSin := randomScales(r)
					cos, sin := newPadded(r, n, r.IntN(16)), newPadded(r, n, r.IntN(16))
					wantCos, wantSin := cos.clone(), sin.clone()
					generic.CosSinExact(wantCos.slice(), wantSin.slice(), p, invFreq, scaleCos, scaleSin)
					var block kernels.Block
					block.Set(invFreq)
					kernels.CosSinExactRow(impl, cos.slice(), sin.slice(), float64(p), &block, scaleCos, scaleSin)
					name := fmt.Sprintf("position %d, %d frequencies %x: ", p, n, invFreq)
					cos.check(t, name+"cos", wantCos, every)
					sin.check(t, name+"sin", wantSin, every)
				}
			}
		}
	})
}

func TestCosSinExactRowsKernels(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, kind := range positionNames {
			t.Run("positions="+kind, func(t *testing.T) {
				r := newRand(5)
				for range rounds(10) {
					for _, n := range blockLengths {
						checkExactRows(t, r, impl, randomPositions(r, kind, oneOf(r, append(tokenCounts, 4, 5, 31, 32, 65, 100))), n)
					}
				}
			})
		}
	})
}

// Rows whose alignment lets them be stored past the caches.
func TestCosSinExactRowsNonTemporal(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(6)
		for range rounds(10) {
			for n := 8; n <= kernels.Width; n += 8 {
				for _, gap := range []int{0, 8, 64} {
					positions := randomPositions(r, oneOf(r, positionNames), 70)
					stride := n + gap
					size := (len(positions)-1)*stride + n
					invFreq := randomFrequencies(r, n, positions, r.IntN(2) == 0)
					cos, sin := newPadded(r, size, 0), newPadded(r, size, 0)
					for cos.address()%32 != 0 {
						cos = newPadded(r, size, r.IntN(16))
					}
					for sin.address()%32 != 0 {
						sin = newPadded(r, size, r.IntN(16))
					}
					wantCos, wantSin := cos.clone(), sin.clone()
					for i, p := range positions {
						generic.CosSinExact(wantCos.slice()[i*stride:], wantSin.slice()[i*stride:], p, invFreq, 1, -1)
					}
					var block kernels.Block
					var shift kernels.Shift
					block.Set(invFreq)
					shift.Set(impl, &block)
					kernels.CosSinExactRows(impl, cos.slice(), sin.slice(), stride, positions, &block, &shift, 1, -1, true)
					inRow := func(i int) bool { return i%stride < n }
					name := fmt.Sprintf("%d frequencies %x, stride %d: ", n, invFreq, stride)
					cos.check(t, name+"cos", wantCos, inRow)
					sin.check(t, name+"sin", wantSin, inRow)
				}
			}
		}
	})
}

func (p padded[T]) address() uintptr { return uintptr(unsafe.Pointer(&p.slice()[0])) }

func checkExactRows(t *testing.T, r *rand.Rand, impl kernels.Implementation, positions []int32, n int) {
	t.Helper()
	invFreq := randomFrequencies(r, n, positions, r.IntN(2) == 0)
	if r.IntN(8) == 0 {
		invFreq[r.IntN(n)] = largeFrequency(r, positions[0])
	}
	scaleCos, scaleSin := randomScales(r)
	stride := n + r.IntN(2)*r.IntN(70)
	size := (len(positions)-1)*stride + n
	cos, sin := newPadded(r, size, r.IntN(16)), newPadded(r, size, r.IntN(16))
	wantCos, wantSin := cos.clone(), sin.clone()
	for i, p := range positions {
		generic.CosSinExact(wantCos.slice()[i*stride:], wantSin.slice()[i*stride:], p, invFreq, scaleCos, scaleSin)
	}
	var block kernels.Block
	var shift kernels.Shift
	block.Set(invFreq)
	shift.Set(impl, &block)
	kernels.CosSinExactRows(impl, cos.slice(), sin.slice(), stride, positions, &block, &shift, scaleCos, scaleSin, r.IntN(2) == 0)
	name := fmt.Sprintf("positions %d, stride %d, %d frequencies %x: ", positions, stride, n, invFreq)
	inRow := func(i int) bool { return i%stride < n }
	cos.check(t, name+"cos", wantCos, inRow)
	sin.check(t, name+"sin", wantSin, inRow)
}

// hardAngles are float32 angles on both sides of the limit of the fast path,
// the largest ones, and those whose cosine lies closest to a midpoint.
var hardAngles = []uint32{
	0x58800000, 0x587fffff, 0x58800001, 0x7f7fffff, 0x5f18b878, 0x6115cb11, 0x7908cd73, 0x6f79be45, 0x5c98f6b2, 0x73243f06,
	0x3f490fdb, 0x3fc90fdb, 0x40490fdb, 0x00000001, 0x00800000,
}

func TestCosSinFloat32Kernels(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(6)
		for range rounds(20) {
			for n := range 131 {
				angles := newPadded(r, n, r.IntN(16))
				for i := range angles.slice() {
					switch r.IntN(4) {
					case 0:
						angles.slice()[i] = math.Float32frombits(oneOf(r, hardAngles) | r.Uint32()&(1<<31))
					case 1: // below the limit, so that whole rows take the fast path
						angles.slice()[i] = float32(math.Ldexp(r.Float64()*2-1, r.IntN(49)))
					}
				}
				kind := r.IntN(4)
				for i, a := range angles.slice() {
					switch {
					case kind == 0: // on both sides of the limit, and not far from it
						angles.slice()[i] = float32(math.Ldexp(math.Copysign(1+r.Float64(), float64(a)), 48+r.IntN(4)))
					case kind > 1 && !(math.Abs(float64(a)) < 0x1p49):
						angles.slice()[i] = r.Float32()
					}
				}
				position := oneOf(r, []float32{1, 0, -1, 2, 1 << 20, math.MinInt32, r.Float32(), 0x1p-100, float32(math.Inf(1)), float32(math.NaN())})
				scaleCos, scaleSin := randomScales(r)
				cos, sin := newPadded(r, n, r.IntN(16)), newPadded(r, n, r.IntN(16))
				wantCos, wantSin, wantAngles := cos.clone(), sin.clone(), angles.clone()
				generic.CosSinFloat32(wantCos.slice(), wantSin.slice(), angles.slice(), position, scaleCos, scaleSin)
				kernels.CosSinFloat32(impl, cos.slice(), sin.slice(), angles.slice(), position, scaleCos, scaleSin)
				name := fmt.Sprintf("position %v, angles %x: ", position, angles.slice())
				cos.check(t, name+"cos", wantCos, every)
				sin.check(t, name+"sin", wantSin, every)
				angles.check(t, name+"angles", wantAngles, func(int) bool { return false })
			}
		}
	})
}
