package frequency

import (
	"iter"
	"math"
	"math/big"

	"github.com/go-posenc/posenc/internal/elementary"
)

// Operations of real numbers, rounded to elementary.Precision bits.

func newReal() *big.Float                   { return new(big.Float).SetPrec(elementary.Precision) }
func real(x float64) *big.Float             { return newReal().SetFloat64(x) }
func product(a, b *big.Float) *big.Float    { return newReal().Mul(a, b) }
func quotient(a, b *big.Float) *big.Float   { return newReal().Quo(a, b) }
func sum(a, b *big.Float) *big.Float        { return newReal().Add(a, b) }
func difference(a, b *big.Float) *big.Float { return newReal().Sub(a, b) }
func whole(n int) *big.Float                { return newReal().SetInt64(int64(n)) }

// pi has 330 bits.
const pi = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798"

func twoPi() *big.Float {
	x, _, _ := big.ParseFloat(pi, 10, elementary.Precision, big.ToNearestEven)
	return x.SetMantExp(x, 1)
}

// settle leaves out the last bits, which hold the errors of the functions: a real number midway between two
// floating-point numbers is exactly that again, and is rounded to even.
func settle(x *big.Float) *big.Float { return new(big.Float).SetPrec(elementary.Precision - 56).Set(x) }

// nearest returns x rounded to float64.
func nearest(x *big.Float) float64 {
	rounded, _ := settle(x).Float64()
	return rounded
}

// nearest32 returns x rounded to float32.
func nearest32(x *big.Float) float32 {
	rounded, _ := settle(x).Float32()
	return rounded
}

func floor(x *big.Float) *big.Float {
	n, accuracy := x.Int(nil)
	result := newReal().SetInt(n)
	if accuracy == big.Above {
		result.Sub(result, real(1))
	}
	return result
}

func ceiling(x *big.Float) *big.Float {
	result := floor(newReal().Neg(x))
	return result.Neg(result)
}

func least(a, b *big.Float) *big.Float {
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}

func greatest(a, b *big.Float) *big.Float {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}

// geometric gives e^(first + i·step) for every i < n. Each product adds an error of 2^-precision.
func geometric(first, step *big.Float, n int) iter.Seq2[int, *big.Float] {
	return func(yield func(int, *big.Float) bool) {
		power, ratio := elementary.Exp(first), elementary.Exp(step)
		for i := 0; i < n && yield(i, power); i++ {
			power = product(power, ratio)
		}
	}
}

// powers32 gives RN32(RN32(base)^RN32(2i/dim)) for i < n, whose reciprocals transformers takes.
func powers32(base float64, dim, n int) iter.Seq2[int, float32] {
	return func(yield func(int, float32) bool) {
		logBase := elementary.Log(real(float64(float32(base))))
		step := quotient(product(real(2), logBase), whole(dim))
		for i, power := range geometric(newReal(), step, n) {
			exponent := real(float64(float32(2*i) / float32(dim)))
			if rounded := difference(exponent, quotient(whole(2*i), whole(dim))); rounded.Sign() != 0 {
				power = product(power, elementary.Exp(product(rounded, logBase)))
			}
			if !yield(i, nearest32(power)) {
				return
			}
		}
	}
}

// logarithms returns ln(1) to ln(n).
func logarithms(n int) []*big.Float {
	result := []*big.Float{newReal()}
	for m := 1; m < n; m++ {
		result = append(result, sum(result[m-1], elementary.LogNearOne(quotient(whole(m+1), whole(m)))))
	}
	return result
}

// logarithm64 returns ln(x) rounded to float64, for x from 0 to +Inf.
func logarithm64(x float64) float64 {
	switch {
	case x == 0:
		return math.Inf(-1)
	case x > math.MaxFloat64:
		return x
	}
	return nearest(elementary.Log(real(x)))
}

// power64 returns x^y rounded to float64, for y >= 0; NaN for x < 0.
func power64(x, y float64) float64 {
	switch {
	case y == 0:
		return 1
	case x == 0 || x > math.MaxFloat64:
		return x
	case !(x > 0):
		return math.NaN()
	}
	return nearest(elementary.Exp(product(real(y), elementary.Log(real(x)))))
}
