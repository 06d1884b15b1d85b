package frequency

import (
	"math"
	"math/big"

	"github.com/go-posenc/posenc/internal/elementary"
)

// LongRoPEParameters are the keys of a LongRoPE configuration, and the length of the sequence.
type LongRoPEParameters struct {
	ShortFactors         []float64 // short_factor, one for each pair
	LongFactors          []float64 // long_factor, one for each pair
	OriginalMaxPositions int       // original_max_position_embeddings
	Factor               float64   // factor; where absent, max_position_embeddings / original_max_position_embeddings
	ShortAttentionFactor float64   // attention_factor or short_mscale; 0 means derived by the formula
	LongAttentionFactor  float64   // attention_factor or long_mscale; 0 means derived by the formula
	SequenceLength       int       // tokens of the whole context, including those in the cache; 0 means at most OriginalMaxPositions
}

// LongRoPE returns the frequencies of LongRoPE (Ding et al. 2024, arXiv:2402.13753; transformers
// and vLLM rope_type "longrope", formerly "su") for a sequence of SequenceLength tokens:
//
//	factors         = LongFactors if SequenceLength > OriginalMaxPositions, else ShortFactors
//	InvFreq[i]      = 1 / (factors[i] · base^(2i/rotaryDim))
//	AttentionFactor = sqrt(1 + ln(Factor)/ln(OriginalMaxPositions)), and 1 for Factor up to 1
//
// Keys that were rotated with the short factors do not fit queries with the long factors.
// transformers drops its cache at the switch. vLLM passes its longest context for every sequence.
//
// With Float32 the frequencies follow the float32 steps of transformers, and
// AttentionFactor is computed in float64.
//
// Both lists have rotaryDim/2 finite numbers above 0. OriginalMaxPositions is at least 2.
// Factor is a finite number above 0, or 0 if both attention factors are given. The
// attention factors are finite and not negative. SequenceLength is not negative. The other
// arguments are as in [Default].
func LongRoPE(rotaryDim int, base float64, p LongRoPEParameters, rounding Rounding) (Ladder, error) {
	check := begin("LongRoPE", "rotaryDim", rotaryDim, 2, base, rounding)
	check.factors("p.ShortFactors", p.ShortFactors, rotaryDim)
	check.factors("p.LongFactors", p.LongFactors, rotaryDim)
	check.Require(p.OriginalMaxPositions >= 2, "p.OriginalMaxPositions", p.OriginalMaxPositions, "at least 2")
	check.optional("p.ShortAttentionFactor", p.ShortAttentionFactor)
	check.optional("p.LongAttentionFactor", p.LongAttentionFactor)
	if p.Factor != 0 || p.ShortAttentionFactor == 0 || p.LongAttentionFactor == 0 {
		check.Require(p.Factor > 0 && p.Factor <= math.MaxFloat64, "p.Factor", p.Factor, "a finite number above 0")
	}
	check.Require(p.SequenceLength >= 0, "p.SequenceLength", p.SequenceLength, "at least 0")
	if check.Err != nil {
		return Ladder{}, check.Err
	}
	ladder := unscaled(rotaryDim / 2)
	factors, attentionFactor := p.ShortFactors, p.ShortAttentionFactor
	if p.SequenceLength > p.OriginalMaxPositions {
		factors, attentionFactor = p.LongFactors, p.LongAttentionFactor
	}
	switch {
	case attentionFactor != 0:
		ladder.AttentionFactor = attentionFactor
	case p.Factor > 1 && rounding == Float32:
		ladder.AttentionFactor = math.Sqrt(1 + logarithm64(p.Factor)/logarithm64(float64(p.OriginalMaxPositions)))
	case p.Factor > 1:
		ratio := quotient(elementary.Log(real(p.Factor)), elementary.Log(whole(p.OriginalMaxPositions)))
		ladder.AttentionFactor = nearest(newReal().Sqrt(sum(real(1), ratio)))
	}
	return check.filled(ladder, rotaryDim/2,
		func(i int, inverse *big.Float) *big.Float { return quotient(inverse, real(factors[i])) },
		func(i int, power float32) float32 { return 1 / (float32(factors[i]) * power) })
}
