package generic

import (
	"math"
	"math/bits"
)

// cosSinProduct returns the correctly rounded cosine and sine of the real
// product p*w, for p of at most 31 significant bits and any finite w,
// |p*w| < 2^128.
//
// It decides what float64 arithmetic could not: the angle is reduced exactly
// and evaluated in 256-bit fixed point, with an error below 2^-251. That one of
// all products of 84 bits came as close as that to a rounding boundary would be
// chance of one in 2^80.
func cosSinProduct(p, w float64) (cos, sin float32) {
	product := math.Abs(p * w)
	if !(product < 0x1p128) {
		return float32(math.NaN()), float32(math.NaN())
	}
	if product < tinyProduct {
		return 1, sinTiny(p, w)
	}
	c, s, cosNegative, sinNegative := cosSinReduced(p, w)
	return signed(c.float32(), cosNegative), signed(s.float32(), sinNegative)
}

func signed[T float32 | float64](magnitude T, negative bool) T {
	if negative {
		return -magnitude
	}
	return magnitude
}

// tinyProduct bounds the products p*w whose sine differs from the product by less
// than 2^-92 of it. What lies between a product of 84 bits and a midpoint of two
// floating-point numbers is 0 or more than 2^-84 of it.
const tinyProduct = 0x1p-45

// cosSinReduced returns the magnitudes and signs of the cosine and sine of p*w,
// which is at least tinyProduct.
func cosSinReduced(p, w float64) (cos, sin fixed, cosNegative, sinNegative bool) {
	p, w = integral(p, w)
	negative := (p < 0) != (w < 0)
	f, quarter, below := quarterTurns(math.Abs(p), math.Abs(w))
	cos, sin = cosSinFixed(f)
	if quarter&1 != 0 {
		cos, sin = sin, cos
	}
	// f was taken as a magnitude: the sine of the part below zero is negative,
	// and an odd quarter turn hands that sign to the cosine.
	sinNegative = quarter&2 != 0
	cosNegative = (quarter+1)&2 != 0
	if below {
		if quarter&1 == 0 {
			sinNegative = !sinNegative
		} else {
			cosNegative = !cosNegative
		}
	}
	return cos, sin, cosNegative, sinNegative != negative
}

// integral returns an integer and a number with the product of p and w, which is
// at least tinyProduct: so both are exact.
func integral(p, w float64) (integer, rest float64) {
	if math.Abs(p) < 1<<31 && p == math.Trunc(p) {
		return p, w
	}
	fraction, exponent := math.Frexp(p)
	return math.Ldexp(fraction, 31), math.Ldexp(w, exponent-31)
}

// sinTiny returns the correctly rounded sine of p*w for |p*w| < tinyProduct,
// which is the product moved towards zero by less than 2^-92 of itself: not as
// far as its 84 bits reach. Rounding to odd at 53 bits keeps what the last
// rounding to 24 bits has to know.
func sinTiny(p, w float64) float32 {
	product := p * w
	if p == 0 || w == 0 {
		return 0
	}
	if math.Abs(product) < 0x1p-1000 { // not exact, and far below float32
		return float32(product)
	}
	rest := math.FMA(p, w, -product)
	if rest == 0 || (rest < 0) != (product < 0) {
		product = math.Nextafter(product, 0)
	}
	return float32(math.Float64frombits(math.Float64bits(product) | 1))
}

// fixed is an unsigned number below 4 in units of 2^-254, most significant
// word first.
type fixed [4]uint64

// twoOverPi holds the first 640 bits of 2/pi, most significant word first.
var twoOverPi = [10]uint64{
	0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
	0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
	0xe99c7026b45f7e41, 0x3991d639835339f4,
}

// halfPi is pi/2 in units of 2^-254, rounded down.
var halfPi = fixed{0x6487ed5110b4611a, 0x62633145c06e0e68, 0x948127044533e63a, 0x0105df531d89cd91}

var one = fixed{1 << 62}

// quarterTurns reduces the angle p*w, p and w positive: it returns the distance
// f of p*w*2/pi to the nearest integer, that integer modulo 4, and whether f
// lies below it.
func quarterTurns(p, w float64) (f fixed, quarter uint64, below bool) {
	// 1. p*w = mantissa * 2^exponent, exactly.
	fraction, exponent := math.Frexp(w)
	exponent -= 53
	high, low := bits.Mul64(uint64(p), uint64(math.Ldexp(fraction, 53)))

	// 2. window = floor(2/pi * 2^bit) modulo 2^448, so that the product with the
	// mantissa has 64 bits for the integer, 256 for the fraction and 128 to
	// spare, of which the truncation spoils 84.
	bit := exponent + 384
	var window [7]uint64
	for i := range window {
		window[i] = twoOverPiBits(bit - 448 + 64*i)
	}

	// 3. product = mantissa * window modulo 2^448.
	var product [7]uint64
	for i := len(window) - 1; i >= 0; i-- {
		multiplyAdd(&product, i, low, window[i])
		multiplyAdd(&product, i-1, high, window[i])
	}

	// 4. Round to the nearest integer and keep the distance as a magnitude.
	quarter = product[0]
	fractionBits := [4]uint64(product[1:5])
	if fractionBits[0]>>63 != 0 {
		below = true
		quarter++
		var borrow uint64
		for i := 3; i >= 0; i-- {
			fractionBits[i], borrow = bits.Sub64(0, fractionBits[i], borrow)
		}
	}
	f[0] = fractionBits[0] >> 2
	for i := 1; i < 4; i++ {
		f[i] = fractionBits[i-1]<<62 | fractionBits[i]>>2
	}
	return f, quarter, below
}

// twoOverPiBits returns the 64 bits of 2/pi from 2^-(first+1) on.
func twoOverPiBits(first int) uint64 {
	word := func(i int) uint64 {
		if i < 0 || i >= len(twoOverPi) {
			return 0
		}
		return twoOverPi[i]
	}
	i, shift := first>>6, uint(first&63)
	return word(i)<<shift | word(i+1)>>(64-shift)
}

// multiplyAdd adds a*b to the words of sum that end at index i.
func multiplyAdd(sum *[7]uint64, i int, a, b uint64) {
	if i < 0 {
		return
	}
	high, low := bits.Mul64(a, b)
	var carry uint64
	sum[i], carry = bits.Add64(sum[i], low, 0)
	for i--; i >= 0; i-- {
		sum[i], carry = bits.Add64(sum[i], high, carry)
		high = 0
	}
}

// cosSinFixed returns the cosine and sine of f quarter turns, f <= 1/2, by
// Taylor's series in the form 1 - y/(1*2)(1 - y/(3*4)(...)). The last term
// taken is below 2^-254.
func cosSinFixed(f fixed) (cos, sin fixed) {
	const terms = 29
	angle := f.times(halfPi)
	y := angle.times(angle)
	cos, sin = one, one
	for k := uint64(terms); k > 0; k-- {
		cos = one.minus(y.times(cos).over((2*k - 1) * (2 * k)))
		sin = one.minus(y.times(sin).over((2 * k) * (2*k + 1)))
	}
	return cos, angle.times(sin)
}

// times returns a*b rounded down.
func (a fixed) times(b fixed) fixed {
	var product [8]uint64
	for i := 3; i >= 0; i-- {
		var carry uint64
		for j := 3; j >= 0; j-- {
			high, low := bits.Mul64(a[i], b[j])
			var c uint64
			low, c = bits.Add64(low, carry, 0)
			high += c
			product[i+j+1], c = bits.Add64(product[i+j+1], low, 0)
			carry = high + c
		}
		product[i] = carry
	}
	var result fixed
	for i := range result {
		result[i] = product[i]<<2 | product[i+1]>>62
	}
	return result
}

func (a fixed) minus(b fixed) (result fixed) {
	var borrow uint64
	for i := 3; i >= 0; i-- {
		result[i], borrow = bits.Sub64(a[i], b[i], borrow)
	}
	return result
}

// over returns a/divisor rounded down.
func (a fixed) over(divisor uint64) (result fixed) {
	var remainder uint64
	for i := range a {
		result[i], remainder = bits.Div64(remainder, a[i], divisor)
	}
	return result
}

// float32 rounds to the nearest float32, ties to even. The value is zero or a
// normal float32.
func (a fixed) float32() float32 {
	word, exponent := a.leading()
	// Keep 53 bits rounded to odd, which float64 holds exactly.
	odd := word >> 11
	if word<<53 != 0 {
		odd |= 1
	}
	return float32(math.Ldexp(float64(odd), exponent+11))
}

// float64 rounds to the nearest float64, ties to even. The value is zero or at
// least 2^-200.
func (a fixed) float64() float64 {
	word, exponent := a.leading()
	return math.Ldexp(float64(int64(word>>1|word&1)), exponent+1)
}

// leading returns the 64 bits from the first that is set on, the last of them
// set too where others follow, and the exponent of the unit of the last: the
// value is word*2^exponent. Zero is 0.
func (a fixed) leading() (word uint64, exponent int) {
	for i, word := range a {
		if word == 0 {
			continue
		}
		zeros := uint(bits.LeadingZeros64(word))
		if i < 3 {
			word = word<<zeros | a[i+1]>>(64-zeros)
		} else {
			word <<= zeros
		}
		for _, rest := range a[min(i+1, 3):] {
			if rest != 0 {
				word |= 1 // far below the rounding bit
			}
		}
		return word, 64*(4-i) - int(zeros) - 254 - 64
	}
	return 0, 0
}
