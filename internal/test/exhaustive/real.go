package exhaustive

import (
	"math/big"
	"sync"
)

// Real numbers by math/big.

// precision is the precision of math/big: the largest angle has 128 bits before the
// point, and the float32 closest to a multiple of pi/2 loses 32 of those behind.
const precision = 512

func NewReal() *big.Float { return new(big.Float).SetPrec(precision) }

func RealOf(x float64) *big.Float { return NewReal().SetFloat64(x) }

// RealPi is Machin's 16 arctan(1/5) - 4 arctan(1/239).
var RealPi = sync.OnceValue(func() *big.Float {
	arctan := func(inverse int64) *big.Float {
		sum, term, square := NewReal(), NewReal().Quo(big.NewFloat(1), new(big.Float).SetInt64(inverse)), new(big.Float).SetInt64(inverse*inverse)
		for n := int64(1); term.MantExp(nil) > -precision; n += 2 {
			part := NewReal().Quo(term, new(big.Float).SetInt64(n))
			if n%4 == 3 {
				part.Neg(part)
			}
			sum.Add(sum, part)
			term.Quo(term, square)
		}
		return sum
	}
	return NewReal().Sub(NewReal().Mul(big.NewFloat(16), arctan(5)), NewReal().Mul(big.NewFloat(4), arctan(239)))
})

// RealCosSin returns the cosine and sine of any angle.
func RealCosSin(angle *big.Float) (cos, sin *big.Float) {
	turn := NewReal().Mul(RealPi(), big.NewFloat(2))
	turns, _ := NewReal().Quo(angle, turn).Int(nil)
	rest := NewReal().Sub(angle, NewReal().Mul(turn, NewReal().SetInt(turns)))
	return bigSeries(rest)
}

// bigSeries is the Taylor series of cosine and sine, for angles up to 2*pi.
func bigSeries(angle *big.Float) (cos, sin *big.Float) {
	cos, sin = NewReal(), NewReal()
	term := NewReal().SetInt64(1)
	for n := int64(0); term.Sign() != 0 && term.MantExp(nil) > angle.MantExp(nil)-precision; n++ {
		sum := cos
		if n%2 == 1 {
			sum = sin
		}
		if n%4 < 2 {
			sum.Add(sum, term)
		} else {
			sum.Sub(sum, term)
		}
		term = NewReal().Quo(NewReal().Mul(term, angle), NewReal().SetInt64(n+1))
	}
	return cos, sin
}

// RealLogarithm returns ln(x): with r the 2^100th root of x it is 2^100*ln(r), and
// ln(r) is d - d^2/2 + d^3/3 for d = r-1, to within 2^-300 of it.
func RealLogarithm(x *big.Float) *big.Float {
	r := new(big.Float).SetPrec(2 * precision).Set(x)
	for range 100 {
		r.Sqrt(r)
	}
	d := r.Sub(r, RealOf(1))
	square := NewReal().Mul(d, d)
	sum := NewReal().Sub(d, NewReal().Quo(square, RealOf(2)))
	sum.Add(sum, NewReal().Quo(NewReal().Mul(square, d), RealOf(3)))
	return sum.SetMantExp(sum, 100)
}

// RealExponential returns e^x, |x| < 2^10, as the 2^80th power of e^(x/2^80),
// which is 1 + y + y^2/2 + y^3/6 to within 2^-280, y = x/2^80.
func RealExponential(x *big.Float) *big.Float {
	y := NewReal().SetMantExp(x, -80)
	square := NewReal().Mul(y, y)
	result := NewReal().Add(RealOf(1), y)
	result.Add(result, NewReal().Quo(square, RealOf(2)))
	result.Add(result, NewReal().Quo(NewReal().Mul(square, y), RealOf(6)))
	for range 80 {
		result.Mul(result, result)
	}
	return result
}
