package exhaustive

import (
	"math"
	"math/big"
	"math/bits"
	"sync"
)

// The reference for cosines and sines. It shares neither code nor method with
// the kernels, which reduce angles and evaluate polynomials in float64:
//
//  1. An angle is a phase, a fraction of a turn in 128 bits of fixed point. Those
//     of a frequency, or of a power of two, come from math/big; a position, or
//     the 24 bits of a float32, multiplies them as an integer.
//
//  2. A table has the cosine and sine of every 256th of a turn, from math/big,
//     and Taylor series the cosine and sine of the rest r, at most pi/256:
//
//     cos(a+r) = cos(a) + (cos(a)(cos(r)-1) - sin(a)sin(r))
//     sin(a+r) = sin(a) + (sin(a)(cos(r)-1) + cos(a)sin(r))
//
//  3. Where the ends of an interval of twice margin round to two float32,
//     math/big decides, with 512 bits.
//
// The float64 of step 2 have relative errors below 2^-49. r is three rounded
// operations from the phase and one from 2*pi, less than 2^-51 of it; whatever is
// below 2^-40 turns, where the last bits of the phase could matter, goes to
// math/big. The series are cut where the next term is below 2^-65, and add 2^-52
// to sin(r). Where a is a multiple of a quarter turn, the result is that of one
// series alone. Elsewhere both cos(a) and sin(a) are at least 0.0245 and the
// result at least half of that; sin(r) below 0.0123 contributes less than 2^-50
// of the result, the table 2^-53 and the last addition 2^-53.
const margin = 0x1p-46

// CosSin returns the correctly rounded cosine and sine of any float32. Hard
// says that math/big decided.
func CosSin(angle float32) (cos, sin float32, hard bool) {
	x := float64(angle)
	magnitude := math.Abs(x)
	if !(magnitude <= math.MaxFloat32) {
		nan := float32(math.NaN())
		return nan, nan, false
	}
	var c, s float64
	ok := true
	if magnitude < 0x1p-7 {
		c, s = cosSinRest(magnitude)
		c++
	} else {
		bits := math.Float32bits(angle)
		c, s, ok = powers()[bits>>23&0xff].times(int64(bits&0x7fffff | 0x800000)).cosSin()
	}
	if ok {
		cos, sin, ok = round(c, s)
	}
	if !ok {
		cos, sin = roundBig(RealCosSin(new(big.Float).SetFloat64(magnitude)))
	}
	return cos, float32(math.Copysign(1, x)) * sin, !ok
}

// Frequency is one that CosSin multiplies by positions.
type Frequency struct {
	value float64
	phase phase
}

// NewFrequency prepares a finite frequency in radians per position.
func NewFrequency(invFreq float64) Frequency {
	return Frequency{invFreq, phaseOf(new(big.Float).SetFloat64(invFreq))}
}

// CosSin returns the correctly rounded cosine and sine of the real product of
// the position and the frequency; the sine of 0 is +0. Hard says that math/big
// decided.
func (f *Frequency) CosSin(position int32) (cos, sin float32, hard bool) {
	if position == 0 || f.value == 0 {
		return 1, 0, false
	}
	c, s, ok := f.phase.times(int64(position)).cosSin()
	if ok {
		cos, sin, ok = round(c, s)
	}
	if ok {
		return cos, sin, false
	}
	p := new(big.Float).SetInt64(int64(position))
	cos, sin = roundBig(RealCosSin(NewReal().Mul(p, new(big.Float).SetFloat64(f.value))))
	return cos, sin, true
}

// phase is an angle in units of 2^-128 of a turn, whole turns dropped, rounded
// down.
type phase struct{ high, low uint64 }

func phaseOf(angle *big.Float) phase {
	turns := NewReal().Quo(angle, NewReal().Mul(RealPi(), big.NewFloat(2)))
	whole, _ := turns.SetMantExp(turns, 128).Int(nil) // towards zero, by which a unit is lost
	low := new(big.Int).SetUint64(math.MaxUint64)
	high := new(big.Int).Rsh(whole, 64)
	return phase{high.And(high, low).Uint64(), low.And(whole, low).Uint64()}
}

// times is wrong by less than n units.
func (p phase) times(n int64) phase {
	high, low := bits.Mul64(p.low, uint64(n))
	high += p.high * uint64(n)
	if n < 0 {
		high -= p.low // uint64(n) is 2^64 more
	}
	return phase{high, low}
}

// cosSin returns the cosine and sine in float64, where the bound holds.
func (p phase) cosSin() (cos, sin float64, ok bool) {
	// 1. p = k/256 turns and a signed rest.
	k := uint8((p.high + 1<<55) >> 56)
	high, low := p.high-uint64(k)<<56, p.low
	negative := int64(high) < 0
	if negative {
		var borrow uint64
		low, borrow = bits.Sub64(0, low, 0)
		high, _ = bits.Sub64(0, high, borrow)
	}
	if high < 1<<(64-40) {
		return 0, 0, false
	}
	r := (float64(high) + float64(low)*0x1p-64) * (2 * math.Pi * 0x1p-64)
	if negative {
		r = -r
	}

	// 2. The sum of k/256 turns and r.
	c1, s := cosSinRest(r)
	at := &table()[k]
	return at.cos + (at.cos*c1 - at.sin*s), at.sin + (at.sin*c1 + at.cos*s), true
}

// cosSinRest returns cos(r)-1 and sin(r) by their Taylor series.
func cosSinRest(r float64) (cosMinus1, sin float64) {
	y := r * r
	cosMinus1 = y * (-1./2 + y*(1./24-y*(1./720)))
	sin = r + r*y*(-1./6+y*(1./120-y*(1./5040)))
	return cosMinus1, sin
}

// round rounds to float32 and reports whether both ends of the error intervals
// round to one number.
func round(c, s float64) (cos, sin float32, ok bool) {
	cos, sin = float32(c*(1-margin)), float32(s*(1-margin))
	return cos, sin, cos == float32(c*(1+margin)) && sin == float32(s*(1+margin))
}

// table has the cosine and sine of every 256th of a turn.
var table = sync.OnceValue(func() *[256]struct{ cos, sin float64 } {
	var t [256]struct{ cos, sin float64 }
	for k := range t {
		angle := NewReal().Mul(RealPi(), big.NewFloat(float64(k)/128))
		c, s := bigSeries(angle)
		t[k].cos, _ = c.Float64()
		t[k].sin, _ = s.Float64()
		if k%64 == 0 { // what pi was rounded by is left of them
			t[k].cos, t[k].sin = math.Round(t[k].cos), math.Round(t[k].sin)
		}
	}
	return &t
})

// powers has the phase of the last bit of a float32 by its exponent.
var powers = sync.OnceValue(func() *[255]phase {
	var t [255]phase
	for exponent := range t {
		t[exponent] = phaseOf(new(big.Float).SetMantExp(big.NewFloat(1), exponent-127-23))
	}
	return &t
})

func roundBig(c, s *big.Float) (cos, sin float32) {
	cos, _ = c.Float32()
	sin, _ = s.Float32()
	return cos, sin
}
