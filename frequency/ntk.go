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
// different frequencies for each length, and keys that were rotated at a shorter length
// keep theirs. vLLM uses the same frequencies for all lengths: SequenceLength =
// Factor·MaxPositions.
//
// With Float32 the new base is computed in float64 up to MaxPositions. Beyond, it is
// computed by float32 steps, as in transformers, whose sequence length is a tensor then.
//
// rotaryDim is even, from 4 to MaxRotaryDim. Factor is a finite number above 0,
// MaxPositions is at least 1, and SequenceLength is not negative. The other arguments are
// as in Default.
func DynamicNTK(rotaryDim int, base float64, p DynamicNTKParameters, rounding Rounding) (Ladder, error) {
	check := begin("DynamicNTK", "rotaryDim", rotaryDim, 4, base, rounding)
	check.positive("p.Factor", p.Factor)
	check.require(p.MaxPositions >= 1, "p.MaxPositions", p.MaxPositions, "at least 1")
	check.require(p.SequenceLength >= 0, "p.SequenceLength", p.SequenceLength, "at least 0")
	if check.err != nil {
		return Ladder{}, check.err
	}
	if rounding == Exact {
		beyond := whole(max(p.SequenceLength, p.MaxPositions) - p.MaxPositions)
		stretch := sum(real(1), quotient(product(real(p.Factor), beyond), whole(p.MaxPositions)))
		return stretchedBase(&check, "p.Factor", p.Factor, rotaryDim, base, stretch)
	}
	exponent := float64(rotaryDim) / float64(rotaryDim-2)
	if p.SequenceLength <= p.MaxPositions {
		length := float64(p.MaxPositions)
		newBase := base * power64(p.Factor*length/length-(p.Factor-1), exponent)
		return newBase32(&check, "p.Factor", p.Factor, rotaryDim, newBase)
	}
	stretch := float32(p.Factor)*float32(p.SequenceLength)/float32(p.MaxPositions) - float32(p.Factor-1)
	// torch raises a single element to the exponent in float64.
	newBase := float32(base) * float32(power64(float64(stretch), exponent))
	return newBase32(&check, "p.Factor", p.Factor, rotaryDim, float64(newBase))
}

// NTKParameters are the keys of a configuration with fixed NTK scaling: factor.
type NTKParameters struct{ Factor float64 }

// NTK returns the frequencies of fixed NTK scaling (Su 2023,
// https://kexue.fm/archives/9706; rope type "ntk" of vLLM and of the GTE models, without
// key mixed_b):
//
//	InvFreq[i] = (base·Factor)^(-2i/rotaryDim) / Factor^(2/rotaryDim)
//
// With Float32 it follows the float32 steps of vLLM. Factor is a finite number above 0,
// and base·Factor is above 1. The other arguments are as in [Default].
func NTK(rotaryDim int, base float64, p NTKParameters, rounding Rounding) (Ladder, error) {
	check := begin("NTK", "rotaryDim", rotaryDim, 2, base, rounding)
	check.positive("p.Factor", p.Factor)
	if check.err != nil {
		return Ladder{}, check.err
	}
	ladder := unscaled(rotaryDim / 2)
	if rounding == Float32 {
		check.newBase("p.Factor", p.Factor, base*p.Factor)
		if check.err != nil {
			return Ladder{}, check.err
		}
		divisor := float32(power64(p.Factor, 2/float64(rotaryDim)))
		for i, power := range powers32(base*p.Factor, rotaryDim, rotaryDim/2) {
			ladder.InvFreq[i] = float64(1 / power / divisor)
		}
		return check.ladder(ladder)
	}
	logFactor := elementary.Log(real(p.Factor))
	logBase := sum(elementary.Log(real(base)), logFactor)
	check.require(logBase.Sign() > 0, "p.Factor", p.Factor, "a number that leaves the base above 1")
	if check.err != nil {
		return Ladder{}, check.err
	}
	perPair := quotient(real(-2), whole(rotaryDim))
	for i, inverse := range geometric(product(perPair, logFactor), product(perPair, logBase), rotaryDim/2) {
		ladder.InvFreq[i] = nearest(inverse)
	}
	return check.ladder(ladder)
}

// NTKMixedParameters are the keys of a configuration with mixed NTK scaling: factor, mixed_b.
type NTKMixedParameters struct{ Factor, MixedB float64 }

// NTKMixed returns the frequencies of mixed NTK scaling (Su 2023,
// https://kexue.fm/archives/9706; rope type "ntk" of vLLM and of the GTE models, keys
// factor and mixed_b):
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
	check.require(p.MixedB >= 0 && p.MixedB <= math.MaxFloat64, "p.MixedB", p.MixedB, "a finite number of at least 0")
	check.require(rounding != Float32 || p.MixedB <= math.MaxFloat32, "p.MixedB", p.MixedB, "a finite float32")
	if check.err != nil {
		return Ladder{}, check.err
	}
	ladder := unscaled(rotaryDim / 2)
	logs := logarithms(rotaryDim / 2)
	if rounding == Float32 {
		a := nearest32(elementary.Log(real(float64(float32(p.Factor)))))
		a /= float32(power64(float64(rotaryDim)/2, p.MixedB))
		for i, power := range powers32(base, rotaryDim, rotaryDim/2) {
			exponent := a * nearest32(elementary.Exp(product(real(float64(float32(p.MixedB))), logs[i])))
			check.require(exponent <= math.MaxFloat32 && exponent >= -math.MaxFloat32, "p.MixedB", p.MixedB, "an exponent whose powers of the numbers up to %d are finite float32", rotaryDim/2)
			if check.err != nil {
				return Ladder{}, check.err
			}
			divisor := nearest32(elementary.Exp(real(float64(exponent))))
			ladder.InvFreq[i] = float64(1 / power / divisor)
		}
		return check.ladder(ladder)
	}
	logFactor := elementary.Log(real(p.Factor))
	for i, inverse := range inverses(base, rotaryDim, rotaryDim/2) {
		// (i+1)^MixedB / (rotaryDim/2)^MixedB, at most 1
		share := elementary.Exp(product(real(p.MixedB), difference(logs[i], logs[len(logs)-1])))
		ladder.InvFreq[i] = nearest(quotient(inverse, elementary.Exp(product(share, logFactor))))
	}
	return check.ladder(ladder)
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
	if check.err != nil {
		return Ladder{}, check.err
	}
	if rounding == Exact {
		return stretchedBase(&check, "p.Alpha", p.Alpha, rotaryDim, base, real(p.Alpha))
	}
	newBase := base * power64(p.Alpha, float64(rotaryDim)/float64(rotaryDim-2))
	return newBase32(&check, "p.Alpha", p.Alpha, rotaryDim, newBase)
}

// stretchedBase returns the Exact frequencies of base·stretch^(rotaryDim/(rotaryDim-2)).
func stretchedBase(check *checker, parameter string, value float64, rotaryDim int, base float64, stretch *big.Float) (Ladder, error) {
	exponent := quotient(whole(rotaryDim), whole(rotaryDim-2))
	logBase := sum(elementary.Log(real(base)), product(exponent, elementary.Log(stretch)))
	check.require(logBase.Sign() > 0, parameter, value, "a number that leaves the base above 1")
	if check.err != nil {
		return Ladder{}, check.err
	}
	ladder := unscaled(rotaryDim / 2)
	step := quotient(product(real(-2), logBase), whole(rotaryDim))
	for i, inverse := range geometric(newReal(), step, rotaryDim/2) {
		ladder.InvFreq[i] = nearest(inverse)
	}
	return check.ladder(ladder)
}

// newBase32 returns the Float32 frequencies of a base that a parameter has changed.
func newBase32(check *checker, parameter string, value float64, rotaryDim int, newBase float64) (Ladder, error) {
	check.newBase(parameter, value, newBase)
	return check.divided(rotaryDim, newBase, rotaryDim/2, one)
}
