package generic

import (
	"math"
	"math/big"
)

// SumAxes is the most axes of CosSinSum.
const SumAxes = 8

// CosSinSum writes the cosine and sine of real sums of products, correctly rounded:
//
//	angle  = position[0]*invFreq[i*n] + ... + position[n-1]*invFreq[i*n+n-1]
//	cos[i] = RN32(cos(angle))
//	sin[i] = RN32(sin(angle))
//
// for i < len(cos), with n = len(position), from 1 to SumAxes. The sine of a zero angle
// is +0. The magnitudes of the products of an angle add up to less than 2^50. sin holds
// at least len(cos) elements, invFreq n times as many.
func CosSinSum(cos, sin, position []float32, invFreq []float64) {
	n := len(position)
	sin = sin[:len(cos)]
	for i := range cos {
		cos[i], sin[i] = cosSinSum(position, invFreq[i*n:][:n])
	}
}

// SumMargin times the sum of the magnitudes of the products, all in quarter turns, bounds
// what the sum of cosSinSum adds to the error of cosines and sines. With S that sum,
// T = position*invFreq*2/pi a product, and n = SumAxes:
//
//	QuarterTurns, high+low against invFreq*2/pi     2^-104 |T|   all of them 2^-104 S
//	rest: |low*x + the rest of high*x| < 2^-51.7 |T|,
//	    rounded once                                2^-104.7 |T|             2^-104.7 S
//	low = RN(low + RN(d + rest)): |d| < 2^-53 S, so that
//	    |low| < n*2^-53 S + 2^-51.7 S < 2^-49.6 S; two roundings of each
//	    product, 2^-53 (2^-51.2 + 2^-49.6) S        n times                  2^-99.4 S
//
// which is below 2^-99 S, and a slope of at most pi/2 makes it 2^-98.3 S. All else is
// exact, and S itself is rounded: 2^-97 leaves room for both.
const SumMargin = 0x1p-97

const (
	// maxSum bounds the sums of magnitudes, in quarter turns, whose low parts stay below
	// 2^-13, as far as the polynomials reach.
	maxSum = 1 << 39
	// minTurns bounds products of which no part loses bits below the smallest number.
	minTurns = 0x1p-400
)

// cosSinSum is Ziv's method, as cosSinExact. The sum is high+low quarter turns, and the
// error of their cosine and sine the error of cosSinExact for position 1, plus SumMargin*size.
func cosSinSum(position []float32, invFreq []float64) (cos, sin float32) {
	var high, low, size float64
	for a, p := range position {
		x, w := float64(p), invFreq[a]
		if x == 0 || w == 0 {
			continue
		}
		turns, turnsLow := QuarterTurns(w)
		product := float64(x * turns)
		if !(math.Abs(product) >= minTurns) {
			return cosSinSumReal(position, invFreq)
		}
		size += math.Abs(product)
		rest := math.FMA(x, turnsLow, math.FMA(x, turns, -product))
		sum, error := twoSum(high, product)
		high, low = sum, low+(error+rest)
	}
	if size == 0 {
		return 1, 0
	}
	if !(size < maxSum) {
		return cosSinSumReal(position, invFreq)
	}
	high, low = twoSum(high, low)
	c, s := cosSin(1, high, low)
	m := float64(SumMargin * size)
	mCos, mSin := Margin+m, float64(Margin*min(1, math.Abs(high)))+m
	cos, cosLow := float32(c+mCos), float32(c-mCos)
	sin, sinLow := float32(s+mSin), float32(s-mSin)
	if cos == cosLow && sin == sinLow && sin != 0 {
		return cos, sin
	}
	return cosSinSumReal(position, invFreq)
}

// twoSum returns a+b rounded, and what that leaves out, exactly (Knuth).
func twoSum(a, b float64) (sum, rest float64) {
	sum = a + b
	part := sum - a
	return sum, (a - (sum - part)) + (b - part)
}

// sumBits holds every sum exactly: products of a float32 and a float64 are multiples of
// 2^-(149+1074), and the sums are below 2^50.
const sumBits = 1536

// cosSinSumReal is cosSinSum with as many bits as it takes. They are finite: the cosine
// and the sine of a rational number other than 0 are transcendental (Lindemann), and so
// neither 0 nor in the middle between two float32.
func cosSinSumReal(position []float32, invFreq []float64) (cos, sin float32) {
	real := func(x float64) *big.Float { return new(big.Float).SetPrec(sumBits).SetFloat64(x) }
	angle := real(0)
	for a, p := range position {
		product := real(float64(p))
		angle.Add(angle, product.Mul(product, real(invFreq[a])))
	}
	if angle.Sign() == 0 {
		return 1, 0
	}
	for precision := uint(192); ; precision *= 2 {
		c, s, cosError, sinError := cosSinBig(angle, precision)
		cos, cosOK := between(c, cosError)
		sin, sinOK := between(s, sinError)
		if cosOK && sinOK {
			return cos, sin
		}
	}
}

// between returns what x-e and x+e are rounded to, and whether that is the same.
func between(x, e *big.Float) (rounded float32, ok bool) {
	low, _ := new(big.Float).Sub(x, e).Float32()
	high, _ := new(big.Float).Add(x, e).Float32()
	return low, math.Float32bits(low) == math.Float32bits(high)
}

// cosSinBig returns the cosine and sine of an angle below 2^50, and bounds of their
// errors: 2^-precision, times the sine for the sine of an angle below pi/4. Numbers
// have 64 bits more. Multiples of pi/2 are below 2^51, so that what is left of the angle
// has an error below 2^-(precision+12); each of the fewer than precision terms of the
// series adds some roundings.
func cosSinBig(angle *big.Float, precision uint) (cos, sin, cosError, sinError *big.Float) {
	bits := precision + 64
	real := func() *big.Float { return new(big.Float).SetPrec(bits) }
	halfPi := halfPiBig(bits)

	// 1. The nearest multiple of pi/2, and the rest.
	turns := real().Quo(angle, halfPi)
	k, _ := turns.Add(turns, big.NewFloat(math.Copysign(0.5, float64(angle.Sign())))).Int64()
	rest := real().Sub(angle, real().Mul(halfPi, real().SetInt64(k)))

	// 2. Taylor's series of the rest; sin is divided by the rest until the end.
	y := real().Mul(rest, rest)
	cos, sin = real().SetInt64(1), real().SetInt64(1)
	term := real().SetInt64(1)
	for n := int64(1); term.Sign() != 0 && term.MantExp(nil) > -int(bits); n++ {
		term.Mul(term, y)
		cos.Add(cos, term.Quo(term, real().SetInt64(-(2*n-1)*2*n)))
		sin.Add(sin, real().Quo(term, real().SetInt64(2*n+1)))
	}
	sin.Mul(sin, rest)

	// 3. Quarter turns.
	unit := real().SetMantExp(real().SetInt64(1), -int(precision))
	cosError, sinError = unit, unit
	if k == 0 {
		sinError = real().Mul(unit, real().Abs(sin))
	}
	if k&1 != 0 {
		cos, sin = sin, cos
	}
	if k&2 != 0 {
		sin.Neg(sin)
	}
	if (k+1)&2 != 0 {
		cos.Neg(cos)
	}
	return cos, sin, cosError, sinError
}

// halfPiBig returns pi/2 by Machin's formula, 8 atan(1/5) - 2 atan(1/239), with an error
// below 2^-(bits-1).
func halfPiBig(bits uint) *big.Float {
	const spare = 32 // for the roundings of up to bits/2 terms
	atan := func(inverse int64) *big.Int {
		square := big.NewInt(inverse * inverse)
		power := new(big.Int).Lsh(big.NewInt(1), bits+spare)
		power.Quo(power, big.NewInt(inverse))
		sum := new(big.Int)
		for n := int64(1); power.Sign() != 0; n += 2 {
			sum.Add(sum, new(big.Int).Quo(power, big.NewInt(n)))
			power.Quo(power, square).Neg(power)
		}
		return sum
	}
	five, other := atan(5), atan(239)
	five.Lsh(five, 3).Sub(five, other.Lsh(other, 1))
	result := new(big.Float).SetPrec(bits).SetInt(five)
	return result.SetMantExp(result, -int(bits+spare))
}
