package kit

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/go-posenc/posenc"
)

// EachType runs a test for elements of every type.
func EachType(t *testing.T, float32s, float16s, bfloat16s func(t *testing.T)) {
	t.Run("type=float32", float32s)
	t.Run("type=float16", float16s)
	t.Run("type=bfloat16", bfloat16s)
}

// Widen returns the value of an element.
func Widen[T posenc.Element](x T) float32 {
	switch x := any(x).(type) {
	case posenc.Float16:
		sign, exponent, fraction := 1-float64(x>>15)*2, int(x>>10&31), float64(x&1023)
		switch exponent {
		case 0:
			return float32(math.Copysign(math.Ldexp(fraction, -24), sign))
		case 31:
			if fraction != 0 {
				return float32(math.NaN())
			}
			return float32(math.Inf(int(sign)))
		}
		return float32(sign * math.Ldexp(1024+fraction, exponent-25))
	case posenc.BFloat16:
		return math.Float32frombits(uint32(x) << 16)
	case float32:
		return x
	}
	panic("not an element")
}

// Narrow returns the element nearest to x, ties to even.
func Narrow[T posenc.Element](x float32) (y T) {
	switch y := any(&y).(type) {
	case *posenc.Float16:
		r := nearest(x, 10, -14)
		bits := uint16(math.Float32bits(x) >> 16 & 0x8000)
		switch e := math.Ilogb(r); {
		case x != x:
			bits |= 0x7e00
		case math.Abs(r) >= 1<<16:
			bits |= 0x7c00
		case math.Abs(r) < 0x1p-14:
			bits |= uint16(math.Ldexp(math.Abs(r), 24))
		default:
			bits |= uint16(e+14)<<10 + uint16(math.Ldexp(math.Abs(r), 10-e)) // the first bit of the fraction adds 1 to the exponent
		}
		*y = posenc.Float16(bits)
	case *posenc.BFloat16:
		if x != x {
			*y = 0x7fc0
		} else {
			*y = posenc.BFloat16(math.Float32bits(float32(nearest(x, 7, -126))) >> 16)
		}
	case *float32:
		*y = x
	}
	return y
}

// nearest rounds x to a binary fraction of bits digits; the exponent is at
// least the exponent of the smallest normal number.
func nearest(x float32, bits, least int) float64 {
	v := float64(x)
	if v == 0 || math.IsInf(v, 0) || v != v {
		return v
	}
	unit := math.Ldexp(1, max(math.Ilogb(v), least)-bits)
	return math.RoundToEven(v/unit) * unit
}

func BitsOf[T posenc.Element](x T) uint32 {
	switch x := any(x).(type) {
	case posenc.Float16:
		return uint32(x)
	case posenc.BFloat16:
		return uint32(x)
	case float32:
		return math.Float32bits(x)
	}
	panic("not an element")
}

// OfBits returns the element with the bits of x, of which a type of 16 bits
// takes the upper ones.
func OfBits[T posenc.Element](x uint32) (y T) {
	switch y := any(&y).(type) {
	case *posenc.Float16:
		*y = posenc.Float16(x >> 16)
	case *posenc.BFloat16:
		*y = posenc.BFloat16(x >> 16)
	case *float32:
		*y = math.Float32frombits(x)
	}
	return y
}

// Extremes16 are the extremes of float16; the extremes of bfloat16 are the upper
// halves of the ones of float32.
var Extremes16 = []uint32{0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x83ff, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe01, 0xffff}

// FillElements sets s to numbers of ordinary size, any bit patterns and
// extremes.
func FillElements[T posenc.Element](r *rand.Rand, s []T) {
	for i := range s {
		switch r.IntN(8) {
		case 0:
			s[i] = OfBits[T](OneOf(r, Extremes))
			if r.IntN(2) == 0 {
				s[i] = OfBits[T](OneOf(r, Extremes16) << 16)
			}
		case 1:
			s[i] = OfBits[T](r.Uint32())
		default:
			s[i] = Narrow[T](2*r.Float32() - 1)
		}
	}
}

func RandomElements[T posenc.Element](r *rand.Rand, n int) []T {
	s := make([]T, n)
	FillElements(r, s)
	return s
}
