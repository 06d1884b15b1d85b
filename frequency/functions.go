package frequency

import "math/big"

// precision leaves more than 150 bits beyond float64 after all roundings.
const precision = 256

func newReal() *big.Float { return new(big.Float).SetPrec(precision) }

func real(x float64) *big.Float { return newReal().SetFloat64(x) }

func product(a, b *big.Float) *big.Float { return newReal().Mul(a, b) }

func quotient(a, b *big.Float) *big.Float { return newReal().Quo(a, b) }

// functions computes logarithms and powers and keeps what they share.
type functions struct{ ln2 *big.Float }

func (f *functions) logarithmOf2() *big.Float {
	if f.ln2 == nil {
		f.ln2 = logarithmNearOne(real(2))
	}
	return f.ln2
}

// logarithm returns ln(x) for x > 0.
func (f *functions) logarithm(x *big.Float) *big.Float {
	mantissa := newReal()
	exponent := x.MantExp(mantissa)
	sum := product(real(float64(exponent)), f.logarithmOf2())
	return sum.Add(sum, logarithmNearOne(mantissa))
}

// logarithmNearOne returns ln(x) = 2 atanh((x-1)/(x+1)) by its series.
func logarithmNearOne(x *big.Float) *big.Float {
	one := real(1)
	z := quotient(newReal().Sub(x, one), newReal().Add(x, one))
	square := product(z, z)
	sum := newReal()
	for k := 1; z.Sign() != 0 && (sum.Sign() == 0 || z.MantExp(nil) > sum.MantExp(nil)-precision); k += 2 {
		sum.Add(sum, quotient(z, real(float64(k))))
		z = product(z, square)
	}
	return sum.Mul(sum, real(2))
}

// exponential returns e^x.
func (f *functions) exponential(x *big.Float) *big.Float {
	const halvings = 12
	twos, _ := quotient(x, f.logarithmOf2()).Int64()
	rest := newReal().Sub(x, product(real(float64(twos)), f.logarithmOf2()))
	rest.SetMantExp(rest, -halvings)
	sum, term := real(1), real(1)
	for k := 1; term.Sign() != 0 && term.MantExp(nil) > -precision; k++ {
		term = quotient(product(term, rest), real(float64(k)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum = product(sum, sum)
	}
	return sum.SetMantExp(sum, int(twos))
}
