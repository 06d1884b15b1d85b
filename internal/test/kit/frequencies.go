package kit

import (
	"math"
	"math/rand/v2"
)

// farthest is the largest magnitude of an int32.
const farthest = 1 << 31

// randomFrequency returns one of a size that models have, zero, or any number
// whose angles stay below 2^50 at the given distance; without tiny, not one
// whose sine may be a subnormal float32.
func randomFrequency(r *rand.Rand, distance float64, tiny bool) float64 {
	switch r.IntN(8) {
	case 0:
		if tiny {
			return OneOf(r, []float64{math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 0x1p-149, 0x1p-150, 0x1.8p-127})
		}
		return OneOf(r, []float64{0, math.Copysign(0, -1), 1, -1, math.Pi / 2, math.Pi, 0x1p-120, -0x1p-120})
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

// HardFrequency returns one whose cosine or sine at position p lies so close to
// the midpoint of two float32 that float64 arithmetic cannot round it: kernels
// have to notice.
func HardFrequency(r *rand.Rand, p int32) float64 {
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

// LargeFrequency returns one whose angle at position p lies between 2^29 and
// 2^50, an odd number of eighths of a turn: there the reduction of float64 loses
// what its polynomials need.
func LargeFrequency(r *rand.Rand, p int32) float64 {
	k := math.Floor(math.Ldexp(1+r.Float64(), 29+r.IntN(20))) + 0.5
	return k * math.Pi / 2 / max(1, math.Abs(float64(p)))
}

// RandomFrequencies returns n frequencies; with hard, every fourth is hard at
// one of the positions.
func RandomFrequencies(r *rand.Rand, n int, positions []int32, hard bool) []float64 {
	s := make([]float64, n)
	tiny := r.IntN(4) == 0 // one is enough to keep a block from the kernels
	for i := range s {
		s[i] = randomFrequency(r, farthest, tiny)
		if hard && i%4 == 0 {
			s[i] = HardFrequency(r, OneOf(r, positions))
		}
	}
	return s
}

// HardAngles are float32 angles on both sides of the limit of the fast path,
// the largest ones, and those whose cosine lies closest to a midpoint.
var HardAngles = []uint32{
	0x58800000, 0x587fffff, 0x58800001, 0x7f7fffff, 0x5f18b878, 0x6115cb11, 0x7908cd73, 0x6f79be45, 0x5c98f6b2, 0x73243f06,
	0x3f490fdb, 0x3fc90fdb, 0x40490fdb, 0x00000001, 0x00800000,
}

// LadderOf returns frequencies of ordinary size, without the cost of rounding
// those from a base correctly.
func LadderOf(pairs int) []float64 {
	s := make([]float64, pairs)
	for i := range s {
		s[i] = math.Pow(10000, -float64(i)/float64(pairs))
	}
	return s
}

// AnglesInRange reports whether the positions are ones that a Rotary takes: up to
// 2^31 in magnitude, with angles below 2^50.
func AnglesInRange[P int32 | float32 | float64](invFreq []float64, positions []P) bool {
	largest := 0.0
	for _, w := range invFreq {
		largest = max(largest, math.Abs(w))
	}
	for _, p := range positions {
		// lastPosition rounds down to an integer.
		if last := math.Floor(math.Nextafter(0x1p50/largest, 0)); !(math.Abs(float64(p)) <= 1<<31) || largest >= 1<<18 && math.Abs(float64(p)) > last {
			return false
		}
	}
	return true
}
