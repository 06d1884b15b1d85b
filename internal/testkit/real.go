package testkit

import (
	"math"
	"math/big"
)

// AnglesInRange reports whether the positions are ones that a Rotary takes: up to
// 2^31 in magnitude, with angles below 2^50.
func AnglesInRange(invFreq, positions []float64) bool {
	largest := 0.0
	for _, w := range invFreq {
		largest = max(largest, math.Abs(w))
	}
	for _, p := range positions {
		// lastPosition rounds down to an integer.
		if last := math.Floor(math.Nextafter(0x1p50/largest, 0)); !(math.Abs(p) <= 1<<31) || largest >= 1<<18 && math.Abs(p) > last {
			return false
		}
	}
	return true
}

const realBits = 400

func NewReal() *big.Float { return new(big.Float).SetPrec(realBits) }

func RealOf(x float64) *big.Float { return NewReal().SetFloat64(x) }

// realPi is pi by Machin's formula.
var realPi = func() *big.Float {
	arctangent := func(n float64) *big.Float { // of 1/n
		sum, power := NewReal(), NewReal().Quo(RealOf(1), RealOf(n))
		for k, sign := 1.0, 1.0; power.MantExp(nil) > -realBits; k, sign = k+2, -sign {
			sum.Add(sum, NewReal().Quo(power, RealOf(sign*k)))
			power.Quo(power, RealOf(n*n))
		}
		return sum
	}
	return NewReal().Sub(NewReal().Mul(RealOf(16), arctangent(5)), NewReal().Mul(RealOf(4), arctangent(239)))
}()

// RealCosSin returns the cosine and the sine of an angle below 2^50.
func RealCosSin(angle *big.Float) (cos, sin *big.Float) {
	turn := NewReal().Mul(RealOf(2), realPi)
	turns, _ := NewReal().Quo(angle, turn).Int(nil)
	x := NewReal().Sub(angle, NewReal().Mul(turn, NewReal().SetInt(turns)))
	sums, term := [2]*big.Float{NewReal(), NewReal()}, RealOf(1)
	for n := 0; n < 2 || term.Sign() != 0 && term.MantExp(nil) > 64-realBits; n++ {
		if n%4 < 2 {
			sums[n%2].Add(sums[n%2], term)
		} else {
			sums[n%2].Sub(sums[n%2], term)
		}
		term = NewReal().Quo(NewReal().Mul(term, x), RealOf(float64(n+1)))
	}
	const tiny = -100 // below 2^tiny the cube may be beyond realBits: the sine is less by next to nothing
	if x.Sign() != 0 && x.MantExp(nil) < tiny {
		sums[1].Sub(sums[1], NewReal().SetMantExp(x, 2*tiny))
	}
	return sums[0], sums[1]
}

// RealLogarithm returns ln(x): with r the 2^100th root of x it is 2^100*ln(r), and
// ln(r) is d - d^2/2 + d^3/3 for d = r-1 but for 2^-300 of it.
func RealLogarithm(x *big.Float) *big.Float {
	r := new(big.Float).SetPrec(2 * realBits).Set(x)
	for range 100 {
		r.Sqrt(r)
	}
	d := r.Sub(r, RealOf(1))
	square := NewReal().Mul(d, d)
	sum := NewReal().Sub(d, NewReal().Quo(square, RealOf(2)))
	sum.Add(sum, NewReal().Quo(NewReal().Mul(square, d), RealOf(3)))
	return sum.SetMantExp(sum, 100)
}

// RealExponential returns e^x, |x| < 2^10, as the 2^80th power of that of x/2^80,
// which is 1 + y + y^2/2 + y^3/6 but for 2^-280.
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
