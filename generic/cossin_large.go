package generic

import (
	"math"
	"math/bits"
)

// cosSinLarge returns the correctly rounded cosine and sine of a float32 of at
// least 2^50 in magnitude.
//
// The angle is counted in quarter turns in 128 bits of fixed point, the last 24
// of which are spoiled by the rest of 2/pi. What float64 cannot round with
// certainty is left to cosSinProduct.
func cosSinLarge(x float32) (cos, sin float32) {
	// 1. |x| = mantissa * 2^exponent, exactly.
	word := math.Float32bits(x) &^ (1 << 31)
	mantissa, exponent := uint64(word&0x7fffff|0x800000), int(word>>23)-150

	// 2. The product with 2/pi modulo 4, in units of 2^-126.
	high, low := bits.Mul64(mantissa, twoOverPiBits(exponent+62))
	high += mantissa * twoOverPiBits(exponent-2)

	// 3. The nearest integer and the distance from it.
	quarter := (high + 1<<61) >> 62
	high -= quarter << 62
	below := int64(high) < 0
	if below {
		var borrow uint64
		low, borrow = bits.Sub64(0, low, 0)
		high, _ = bits.Sub64(0, high, borrow)
	}
	f := (float64(high) + float64(low)*0x1p-64) * 0x1p-62
	if f < 0x1p-45 {
		return cosSinProduct(1, float64(x))
	}
	if below {
		f = -f
	}

	// 4. Its cosine and sine, with relative errors below 2^-50, and Ziv's test.
	c, s := cosSin(f, 1, 0)
	c, s = turn(c, s, quarter)
	if x < 0 {
		s = -s
	}
	cos, sin = float32(c*(1+Margin)), float32(s*(1+Margin))
	if cos != float32(c*(1-Margin)) || sin != float32(s*(1-Margin)) {
		return cosSinProduct(1, float64(x))
	}
	return cos, sin
}
