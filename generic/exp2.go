package generic

import (
	"math"
	"math/big"
)

// Exp2 returns RN32(2^(high+low)), the power of the real sum, correctly
// rounded. |low| is at most half an ulp of high.
func Exp2(high, low float64) float32 {
	switch {
	case high != high:
		return float32(high)
	case high > 129:
		return float32(math.Inf(1))
	case high < -151:
		return 0
	}
	// The Taylor polynomial of 2^f, |f| <= 1/2, is off by less than 2^-56, and its
	// evaluation by less than 2^-51.
	const margin = 0x1p-49
	const ln = math.Ln2
	k := math.RoundToEven(high)
	f := (high - k) + low
	v := 1.0 * ln * ln * ln * ln * ln * ln * ln * ln * ln * ln * ln * ln * ln * ln / 87178291200
	for _, c := range [...]float64{
		ln * ln * ln * ln * ln * ln * ln * ln * ln * ln * ln * ln * ln / 6227020800,
		ln * ln * ln * ln * ln * ln * ln * ln * ln * ln * ln * ln / 479001600,
		ln * ln * ln * ln * ln * ln * ln * ln * ln * ln * ln / 39916800,
		ln * ln * ln * ln * ln * ln * ln * ln * ln * ln / 3628800,
		ln * ln * ln * ln * ln * ln * ln * ln * ln / 362880,
		ln * ln * ln * ln * ln * ln * ln * ln / 40320,
		ln * ln * ln * ln * ln * ln * ln / 5040,
		ln * ln * ln * ln * ln * ln / 720,
		ln * ln * ln * ln * ln / 120,
		ln * ln * ln * ln / 24,
		ln * ln * ln / 6,
		ln * ln / 2,
		ln,
		1,
	} {
		v = math.FMA(v, f, c)
	}
	v = math.Ldexp(v, int(k))
	error := v * margin
	if below, above := float32(v-error), float32(v+error); below == above {
		return below
	}
	return exp2Exactly(high, low, k)
}

// exp2Exactly is Exp2 by more than 200 bits. Powers that are dyadic, 2^k, come
// out exact.
func exp2Exactly(high, low, k float64) float32 {
	const precision = 256
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }
	ln2, _, _ := big.ParseFloat("0.693147180559945309417232121458176568075500134360255254120680009493393621969694715605863326996418687", 10, precision, big.ToNearestEven)
	x := number(high - k) // exact
	x.Add(x, number(low))
	x.Mul(x, ln2)
	sum, term := number(1), number(1)
	for n := 1.0; n < 60; n++ {
		term.Mul(term, x)
		term.Quo(term, number(n))
		sum.Add(sum, term)
	}
	sum.SetMantExp(sum, int(k))
	result, _ := sum.Float32()
	return result
}
