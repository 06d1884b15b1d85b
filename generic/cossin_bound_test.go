package generic

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/go-posenc/posenc/internal/test/exhaustive"
)

// What the scripts in proof assume of the polynomials and of the parts of 2/pi.
const (
	polynomialReach = 0x1.002p-1 // largest |f|
	sinRelative     = 0x1.bp-55  // |sin((pi/2)*f)/P(f) - 1|
	cosRelative     = 0x1.38p-54 // |cos((pi/2)*f)/Q(f) - 1|
	parts           = 0x1p-162   // |twoOverPi0+twoOverPi1+twoOverPi2 - 2/pi|

	highRelative  = 0x1.92p-53 // |high/W - 1|, W the angle in quarter turns
	lowRelative   = 0x1.92p-53 // |low/high|
	turnsRelative = 0x1.2p-105 // |(high+low)/W - 1|
)

// The polynomials in y = f*f are within their bounds on the whole range: on each
// of the intervals that cover it, the difference from Taylor's series is bounded
// by the sum of the magnitudes of its terms about the middle. The terms left out
// and the roundings at precision bits are below 2^-110.
func TestPolynomialBounds(t *testing.T) {
	const intervals, terms = 512, 16
	halfPi := exhaustive.NewReal().Quo(exhaustive.RealPi(), big.NewFloat(2))
	for _, tt := range []struct {
		name         string
		coefficients []float64
		first        int64 // exponent of the first term of the series
		bound        float64
	}{
		{"sine", []float64{sin0, sin1, sin2, sin3, sin4, sin5, sin6}, 1, sinRelative},
		{"cosine", []float64{1, cos1, cos2, cos3, cos4, cos5, cos6}, 0, cosRelative},
	} {
		polynomial, difference := make([]*big.Float, terms), make([]*big.Float, terms)
		term := exhaustive.NewReal().SetInt64(1)
		if tt.first == 1 {
			term.Set(halfPi)
		}
		for k := range difference {
			polynomial[k] = exhaustive.NewReal()
			if k < len(tt.coefficients) {
				polynomial[k].SetFloat64(tt.coefficients[k])
			}
			difference[k] = exhaustive.NewReal().Sub(polynomial[k], term)
			n := 2*int64(k) + tt.first
			term.Mul(term, halfPi).Mul(term, halfPi)
			term.Quo(term, exhaustive.NewReal().SetInt64(-(n+1)*(n+2)))
		}
		radius := exhaustive.NewReal().SetFloat64(polynomialReach * polynomialReach / (2 * intervals))
		worst := 0.0
		for i := range int64(intervals) {
			middle := exhaustive.NewReal().Mul(radius, exhaustive.NewReal().SetInt64(2*i+1))
			_, most := aboutMiddle(difference, middle, radius)
			least, _ := aboutMiddle(polynomial[:len(tt.coefficients)], middle, radius)
			most.Add(most, exhaustive.NewReal().SetFloat64(0x1p-110))
			relative, _ := most.Quo(most, least).Float64()
			worst = max(worst, relative)
		}
		t.Logf("%s: relative error below 2^%.3f", tt.name, math.Log2(worst))
		if worst > tt.bound {
			t.Errorf("%s: relative error up to %x, want at most %x", tt.name, worst, tt.bound)
		}
	}
}

// aboutMiddle bounds the magnitude of a polynomial between middle-radius and
// middle+radius.
func aboutMiddle(coefficients []*big.Float, middle, radius *big.Float) (least, most *big.Float) {
	shifted := make([]*big.Float, len(coefficients))
	for i, c := range coefficients {
		shifted[i] = exhaustive.NewReal().Set(c)
	}
	for i := range shifted { // Horner's scheme, again and again
		for j := len(shifted) - 2; j >= i; j-- {
			shifted[j].Add(shifted[j], exhaustive.NewReal().Mul(shifted[j+1], middle))
		}
	}
	rest, power := exhaustive.NewReal(), exhaustive.NewReal().Set(radius)
	for _, c := range shifted[1:] {
		rest.Add(rest, exhaustive.NewReal().Mul(exhaustive.NewReal().Abs(c), power))
		power.Mul(power, radius)
	}
	value := exhaustive.NewReal().Abs(shifted[0])
	return exhaustive.NewReal().Sub(value, rest), exhaustive.NewReal().Add(value, rest)
}

func TestTwoOverPiParts(t *testing.T) {
	exact := exhaustive.NewReal().Quo(big.NewFloat(2), exhaustive.RealPi())
	sum := func(parts ...float64) *big.Float {
		s := exhaustive.NewReal()
		for _, p := range parts {
			s.Add(s, exhaustive.NewReal().SetFloat64(p))
		}
		return s
	}
	check := func(what string, value *big.Float, bound float64) {
		if v, _ := value.Float64(); !(math.Abs(v) <= bound) {
			t.Errorf("%s: %x, want at most %x", what, v, bound)
		}
	}
	relative := func(value *big.Float) *big.Float {
		return exhaustive.NewReal().Quo(exhaustive.NewReal().Sub(value, exact), exact)
	}
	check("three parts", exhaustive.NewReal().Sub(sum(twoOverPi0, twoOverPi1, twoOverPi2), exact), parts)
	// The float32 angles take the truncated parts as QuarterTurns of 1.
	check("high", relative(sum(twoOverPiHigh)), highRelative)
	check("low", exhaustive.NewReal().SetFloat64(twoOverPiLow/twoOverPiHigh), lowRelative)
	check("high and low", relative(sum(twoOverPiHigh, twoOverPiLow)), turnsRelative)
	for i, word := range twoOverPi[:5] { // the large angles of other tests need the rest
		digits := exhaustive.NewReal().SetMantExp(exact, 64*(i+1))
		floor, _ := digits.Int(nil)
		if got := new(big.Int).And(floor, new(big.Int).SetUint64(math.MaxUint64)).Uint64(); got != word {
			t.Errorf("word %d of 2/pi: %#x, want %#x", i, word, got)
		}
	}
}

// quarterTurnDistance is how close a product from tinyProduct to 2^128 can come
// to a multiple of pi/2 other than 0, in quarter turns.
const quarterTurnDistance = 0x1p-90

// Of all m below 2^84 that one brings m*alpha closest to an integer which is the
// denominator of the last convergent of alpha's continued fraction before 2^84.
// Products are m*2^e, and alpha is 2^e*2/pi. Below the first e of the loop half a
// quarter turn is not reached.
func TestNoProductNearQuarterTurn(t *testing.T) {
	limit := new(big.Int).Lsh(big.NewInt(1), 84)
	closest := 1.0
	for e := -86; e <= 45; e++ {
		alpha := exhaustive.NewReal().Quo(big.NewFloat(2), exhaustive.RealPi())
		alpha.SetMantExp(alpha, e)
		// p/q, and the convergent before it.
		p0, q0, p, q := big.NewInt(1), big.NewInt(0), new(big.Int), big.NewInt(1)
		alpha.Int(p)
		rest := exhaustive.NewReal().Sub(alpha, exhaustive.NewReal().SetInt(p))
		for {
			rest.Quo(big.NewFloat(1), rest)
			a, _ := rest.Int(nil)
			rest.Sub(rest, exhaustive.NewReal().SetInt(a))
			nextP := new(big.Int).Mul(a, p)
			nextQ := new(big.Int).Mul(a, q)
			nextP.Add(nextP, p0)
			nextQ.Add(nextQ, q0)
			if nextQ.Cmp(limit) >= 0 {
				break
			}
			p0, q0, p, q = p, q, nextP, nextQ
		}
		distance := exhaustive.NewReal().Sub(exhaustive.NewReal().Mul(alpha, exhaustive.NewReal().SetInt(q)), exhaustive.NewReal().SetInt(p))
		d, _ := distance.Float64()
		closest = min(closest, math.Abs(d))
	}
	t.Logf("2^%.2f quarter turns", math.Log2(closest))
	if closest < quarterTurnDistance {
		t.Errorf("a product comes within %x quarter turns, want at least %x", closest, quarterTurnDistance)
	}
}

// fixedError bounds the absolute error of cosSinReduced: see the README of proof.
const fixedError = 0x1p-251

func TestFixedPointBound(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	worst := 0.0
	compare := func(got fixed, negative bool, want *big.Float) {
		value := new(big.Int)
		for _, word := range got {
			value.Lsh(value, 64).Or(value, new(big.Int).SetUint64(word))
		}
		f := exhaustive.NewReal().SetInt(value)
		f.SetMantExp(f, -254)
		if negative {
			f.Neg(f)
		}
		e, _ := f.Sub(f, want).Float64()
		worst = max(worst, math.Abs(e))
	}
	for i := range rounds(4000) {
		p, w := randomPair(r)
		if i%2 == 0 {
			p, w = hardPairs(r)
		}
		if !(math.Abs(float64(p)*w) >= tinyProduct) {
			continue
		}
		cos, sin, cosNegative, sinNegative := cosSinReduced(float64(p), w)
		wantCos, wantSin := exhaustive.RealCosSin(bigProduct(p, w))
		compare(cos, cosNegative, wantCos)
		compare(sin, sinNegative, wantSin)
	}
	t.Logf("error up to 2^%.2f", math.Log2(worst))
	if worst == 0 || worst > fixedError {
		t.Errorf("error up to %x, want at most %x and not 0", worst, fixedError)
	}
}
