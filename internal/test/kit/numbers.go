package kit

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/go-posenc/posenc/generic"
)

func SameSlices(a, b []float32) bool { return slices.EqualFunc(a, b, Same) }

func SameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) })
}

// Extremes are bit patterns that arithmetic treats in a way of its own: zeros,
// subnormals, the smallest and the largest numbers, infinities, and quiet and
// signalling NaNs with several payloads.
var Extremes = []uint32{
	0, 1 << 31, 1, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
	0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f000000, 0x7f800000, 0xff800000,
	0x7fc00000, 0xffc00000, 0x7fc12345, 0xffffffff, 0x7f800001, 0xffa5a5a5,
}

// FillRandom sets s to numbers of ordinary size, any bit patterns and extremes.
func FillRandom(r *rand.Rand, s []float32) {
	for i := range s {
		switch r.IntN(8) {
		case 0:
			s[i] = math.Float32frombits(OneOf(r, Extremes))
		case 1:
			s[i] = math.Float32frombits(r.Uint32())
		default:
			s[i] = 2*r.Float32() - 1
		}
	}
}

// Number is what a type of numbers is in memory: float16 and bfloat16 are their
// bits, and so is what kernels only move.
type Number interface{ float32 | uint16 | uint32 }

// Numbers is a type of numbers.
type Numbers[T Number] struct {
	Widen func(T) float32
	Round func(float32) T
	Bits  func(T) uint32
	Fill  func(r *rand.Rand, s []T)
}

var (
	Float32Numbers = Numbers[float32]{
		func(x float32) float32 { return x }, func(x float32) float32 { return x }, math.Float32bits, FillRandom,
	}
	Float16Numbers  = numbers16(generic.Float16ToFloat32, generic.Float32ToFloat16)
	Bfloat16Numbers = numbers16(generic.BFloat16ToFloat32, generic.Float32ToBFloat16)
)

// Bochs says that the CPU is emulated by Bochs 2.7, which is not always right. VCVTPS2PH
// rounds ties up instead of to even. In one of a thousand products a*b, chosen at random,
// VFMADD of a, b and -RN(a*b) gives 0 in place of a remainder of less than 2^-64 of the product.
var Bochs = os.Getenv("POSENC_EMULATOR") == "bochs"

func numbers16(widen func(uint16) float32, round func(float32) uint16) Numbers[uint16] {
	return Numbers[uint16]{widen, round, func(x uint16) uint32 { return uint32(x) }, func(r *rand.Rand, s []uint16) {
		for i := range s {
			switch r.IntN(8) {
			case 0:
				s[i] = round(math.Float32frombits(OneOf(r, Extremes)))
			case 1: // subnormal numbers, infinities and NaNs of both formats too
				s[i] = uint16(r.Uint32())
			default:
				s[i] = round(2*r.Float32() - 1)
			}
		}
	}}
}

// Same reports equal bits or two NaNs.
func (f *Numbers[T]) Same(got, want T) bool {
	a, b := f.Bits(got), f.Bits(want)
	if a == b || f.Widen(got) != f.Widen(got) && f.Widen(want) != f.Widen(want) {
		return true
	}
	return Bochs && any(f) == any(&Float16Numbers) && b%2 == 0 && a == b+1
}

func Same(a, b float32) bool { return Float32Numbers.Same(a, b) }
