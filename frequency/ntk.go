package frequency

import (
	"math"
	"math/big"

	"github.com/go-posenc/posenc/internal/elementary"
)

// DynamicNTKParameters are the keys of a configuration with dynamic NTK scaling, and the
// length of the sequence.
type DynamicNTKParameters struct {
	Factor         float64 // factor
	MaxPositions   int     // max_position_embeddings, not original_max_position_embeddings
	SequenceLength int     // tokens of the whole context, including those in the cache; 0 means at most MaxPositions
}

// DynamicNTK returns the frequencies of dynamic NTK-aware scaling (transformers rope_type
// "dynamic") for a sequence of SequenceLength tokens:
//
//	n          = max(SequenceLength, MaxPositions)
//	newBase    = base · (Factor·n/MaxPositions - (Factor - 1))^(rotaryDim/(rotaryDim-2))
//	InvFreq[i] = newBase^(-2i/rotaryDim)
//
// Up to MaxPositions tokens these are the frequencies of [Default]. Longer sequences have
// different frequencies for each length, and keys that were rotated at a shorter length keep
// theirs. vLLM uses the same frequencies for all lengths: SequenceLength = Factor·MaxPositions.
//
// With Float32 the new base is computed in float64 up to MaxPositions. Beyond, it is
// computed by float32 steps, as in transformers, whose sequence length is a tensor then.
//
// rotaryDim is even, from 4 to MaxRotaryDim. Factor is a finite number above 0, MaxPositions is
// at least 1, and SequenceLength is not negative. The other arguments are as in Default.
func DynamicNTK(rotaryDim int, base float64, p DynamicNTKParameters, rounding Rounding) (Ladder, error) {
	check := begin("DynamicNTK", "rotaryDim", rotaryDim, 4, base, rounding)
	check.positive("p.Factor", p.Factor)
	check.Require(p.MaxPositions >= 1, "p.MaxPositions", p.MaxPositions, "at least 1")
	check.Require(p.SequenceLength >= 0, "p.SequenceLength", p.SequenceLength, "at least 0")
	if check.Err != nil {
		return Ladder{}, check.Err
	}
	if rounding == Exact {
		beyond := whole(max(p.SequenceLength, p.MaxPositions) - p.MaxPositions)
		stretch := sum(real(1), quotient(product(real(p.Factor), beyond), whole(p.MaxPositions)))
		return check.stretched("p.Factor", p.Factor, stretch)
	}
	exponent := float64(rotaryDim) / float64(rotaryDim-2)
	if p.SequenceLength <= p.MaxPositions {
		length := float64(p.MaxPositions)
		newBase := base * power64(p.Factor*length/length-(p.Factor-1), exponent)
		return check.ofBase32("p.Factor", p.Factor, newBase, 1)
	}
	stretch := float32(p.Factor)*float32(p.SequenceLength)/float32(p.MaxPositions) - float32(p.Factor-1)
	// torch raises a single element to the exponent in float64.
	newBase := float32(base) * float32(power64(float64(stretch), exponent))
	return check.ofBase32("p.Factor", p.Factor, float64(newBase), 1)
}

// NTKParameters are the keys of a configuration with fixed NTK scaling: factor.
type NTKParameters struct{ Factor float64 }

// NTK returns the frequencies of fixed NTK scaling (Su 2023, https://kexue.fm/archives/9706; rope
// type "ntk" of vLLM and of the GTE models, without key mixed_b):
//
//	InvFreq[i] = (base·Factor)^(-2i/rotaryDim) / Factor^(2/rotaryDim)
//
// With Float32 it follows the float32 steps of vLLM. Factor is a finite number above 0,
// and base·Factor is above 1. The other arguments are as in [Default].
func NTK(rotaryDim int, base float64, p NTKParameters, rounding Rounding) (Ladder, error) {
	check := begin("NTK", "rotaryDim", rotaryDim, 2, base, rounding)
	check.positive("p.Factor", p.Factor)
	if check.Err != nil {
		return Ladder{}, check.Err
	}
	if rounding == Float32 {
		return check.ofBase32("p.Factor", p.Factor, base*p.Factor, power64(p.Factor, 2/float64(rotaryDim)))
	}
	logFactor := elementary.Log(real(p.Factor))
	return check.ofLogarithm("p.Factor", p.Factor, logFactor, sum(elementary.Log(real(base)), logFactor))
}

// NTKMixedParameters are the keys of a configuration with mixed NTK scaling: factor, mixed_b.
type NTKMixedParameters struct{ Factor, MixedB float64 }

// NTKMixed returns the frequencies of mixed NTK scaling (Su 2023, https://kexue.fm/archives/9706;
// rope type "ntk" of vLLM and of the GTE models, keys factor and mixed_b):
//
//	InvFreq[i] = base^(-2i/rotaryDim) / exp(a·(i+1)^MixedB)
//	a          = ln(Factor) / (rotaryDim/2)^MixedB
//
// With Float32 it follows the float32 steps of vLLM, with MixedB rounded to float32.
// (torch rounds MixedB in its vector loops and not in the rest of a loop, which depends on
// the processor.) Factor is a finite number above 0. MixedB is finite and not negative.
// The other arguments are as in [Default].
func NTKMixed(rotaryDim int, base float64, p NTKMixedParameters, rounding Rounding) (Ladder, error) {
	check := begin("NTKMixed", "rotaryDim", rotaryDim, 2, base, rounding)
	check.positive("p.Factor", p.Factor)
	check.Require(p.MixedB >= 0 && p.MixedB <= math.MaxFloat64, "p.MixedB", p.MixedB, "a finite number of at least 0")
	check.Require(rounding != Float32 || p.MixedB <= math.MaxFloat32, "p.MixedB", p.MixedB, "a finite float32")
	if check.Err != nil {
		return Ladder{}, check.Err
	}
	logs := logarithms(rotaryDim / 2)
	logFactor := elementary.Log(real(p.Factor))
	exact := func(i int, inverse *big.Float) *big.Float {
		// (i+1)^MixedB / (rotaryDim/2)^MixedB, at most 1
		share := elementary.Exp(product(real(p.MixedB), difference(logs[i], logs[len(logs)-1])))
		return quotient(inverse, elementary.Exp(product(share, logFactor)))
	}
	var a float32
	if rounding == Float32 {
		a = logarithm32(float32(p.Factor)) / float32(power64(float64(rotaryDim)/2, p.MixedB))
	}
	rounded := func(i int, power float32) float32 {
		exponent := a * nearest32(elementary.Exp(product(real(float64(float32(p.MixedB))), logs[i])))
		check.Require(exponent <= math.MaxFloat32 && exponent >= -math.MaxFloat32, "p.MixedB", p.MixedB, "an exponent whose powers of the numbers up to %d are finite float32", rotaryDim/2)
		if check.Err != nil {
			return 0
		}
		return 1 / power / nearest32(elementary.Exp(real(float64(exponent))))
	}
	return check.filled(unscaled(rotaryDim/2), rotaryDim/2, exact, rounded)
}

// NTKAlphaParameters are the keys of a configuration with NTK-aware scaling by a fixed alpha.
type NTKAlphaParameters struct{ Alpha float64 }

// NTKAlpha returns the frequencies of NTK-aware scaling by a fixed alpha (HunYuan;
// transformers and vLLM rope_type "dynamic" or "xdrope" with key alpha):
//
//	InvFreq[i] = (base · Alpha^(rotaryDim/(rotaryDim-2)))^(-2i/rotaryDim)
//
// With Float32 the new base is computed in float64. rotaryDim is even, from 4 to
// MaxRotaryDim. Alpha is a finite number above 0 that leaves the new base above 1. The
// other arguments are as in [Default].
func NTKAlpha(rotaryDim int, base float64, p NTKAlphaParameters, rounding Rounding) (Ladder, error) {
	check := begin("NTKAlpha", "rotaryDim", rotaryDim, 4, base, rounding)
	check.positive("p.Alpha", p.Alpha)
	if check.Err != nil {
		return Ladder{}, check.Err
	}
	if rounding == Exact {
		return check.stretched("p.Alpha", p.Alpha, real(p.Alpha))
	}
	newBase := base * power64(p.Alpha, float64(rotaryDim)/float64(rotaryDim-2))
	return check.ofBase32("p.Alpha", p.Alpha, newBase, 1)
}

// stretched returns the Exact frequencies of base·stretch^(dim/(dim-2)).
func (c *checker) stretched(parameter string, value float64, stretch *big.Float) (Ladder, error) {
	exponent := quotient(whole(c.dim), whole(c.dim-2))
	return c.ofLogarithm(parameter, value, newReal(), sum(elementary.Log(real(c.base)), product(exponent, elementary.Log(stretch))))
}

// ofLogarithm returns the Exact frequencies e^(-2(first + i·logBase)/dim), of a logarithm that a
// parameter has changed.
func (c *checker) ofLogarithm(parameter string, value float64, first, logBase *big.Float) (Ladder, error) {
	c.Require(logBase.Sign() > 0, parameter, value, "a number that leaves the base above 1")
	if c.Err != nil {
		return Ladder{}, c.Err
	}
	ladder, perPair := unscaled(c.dim/2), quotient(real(-2), whole(c.dim))
	for i, inverse := range geometric(product(perPair, first), product(perPair, logBase), c.dim/2) {
		ladder.InvFreq[i] = nearest(inverse)
	}
	return c.ladder(ladder)
}

// ofBase32 returns the Float32 frequencies, divided, of a base that a parameter has changed.
func (c *checker) ofBase32(parameter string, value, base, divisor float64) (Ladder, error) {
	c.newBase(parameter, value, base)
	c.base = base
	return c.divided(c.dim/2, func(int) float64 { return divisor })
}
