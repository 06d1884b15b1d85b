// Package elementary has elementary functions of real numbers, for results that are rounded once.
package elementary

import (
	"math/big"
	"sync"
)

// Precision is the bits of all numbers. It leaves more than 150 beyond float64 after all roundings.
const Precision = 256

func number(x int64) *big.Float { return new(big.Float).SetPrec(Precision).SetInt64(x) }

func quotient(a, b *big.Float) *big.Float { return number(0).Quo(a, b) }

var (
	once sync.Once
	ln2  *big.Float
)

// Ln2 returns ln(2), which callers must not change.
func Ln2() *big.Float {
	once.Do(func() { ln2 = LogNearOne(number(2)) }) // sync.OnceValue links all methods of big.Float
	return ln2
}

// Log returns ln(x) for x > 0.
func Log(x *big.Float) *big.Float {
	mantissa := number(0)
	exponent := x.MantExp(mantissa)
	if mantissa.Cmp(big.NewFloat(0.7)) < 0 {
		exponent--
		mantissa.SetMantExp(mantissa, 1)
	}
	result := number(int64(exponent))
	return result.Mul(result, Ln2()).Add(result, LogNearOne(mantissa))
}

// LogNearOne returns ln(x) = 2 atanh((x-1)/(x+1)) by its series.
func LogNearOne(x *big.Float) *big.Float {
	z := quotient(number(0).Sub(x, number(1)), number(0).Add(x, number(1)))
	square, result := number(0).Mul(z, z), number(0)
	for k := int64(1); z.Sign() != 0 && (result.Sign() == 0 || z.MantExp(nil) > result.MantExp(nil)-Precision); k += 2 {
		result.Add(result, quotient(z, number(k)))
		z.Mul(z, square)
	}
	return result.SetMantExp(result, 1)
}

// Exp returns e^x, and 0 or +Inf where that is far beyond float64.
func Exp(x *big.Float) *big.Float {
	const (
		seriesExponent = -12 // |rest| < 2^-12
		lastExponent   = 20  // |x| < 2^20
	)
	if x.MantExp(nil) > lastExponent {
		if x.Sign() < 0 {
			return number(0)
		}
		return number(0).SetInf(false)
	}
	twos, _ := quotient(x, Ln2()).Int64()
	rest := number(twos)
	rest.Sub(x, rest.Mul(rest, Ln2()))
	halvings := max(rest.MantExp(nil)-seriesExponent, 0)
	rest.SetMantExp(rest, -halvings)
	result, term := number(1), number(1)
	for k := int64(1); term.Sign() != 0 && term.MantExp(nil) > -Precision; k++ {
		term.Mul(term, rest).Quo(term, number(k))
		result.Add(result, term)
	}
	for range halvings {
		result.Mul(result, result)
	}
	return result.SetMantExp(result, int(twos))
}
