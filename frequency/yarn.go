package frequency

import (
	"cmp"
	"math"
	"math/big"

	"github.com/go-posenc/posenc/internal/elementary"
)

// YaRNParameters are the keys of a YaRN configuration. 0 in a field stands for the default
// that its comment states.
type YaRNParameters struct {
	Factor               float64 // factor; where absent, max_position_embeddings / original_max_position_embeddings
	OriginalMaxPositions int     // original_max_position_embeddings; ggml n_ctx_orig
	BetaFast             float64 // beta_fast: a pair that rotates at least this often over the original length keeps its frequency; 0 means 32
	BetaSlow             float64 // beta_slow: a pair that rotates at most this often has its frequency divided by Factor; 0 means 1
	Untruncated          bool    // truncate is false (gpt-oss): the ramp starts and ends between pairs
	ExtrapolationFactor  float64 // vLLM extrapolation_factor, ggml ext_factor; 0 means 1 (for ggml's 0 use Linear)
	Logarithmic          bool    // Grok's yarn_log: the logarithms of the two frequencies are mixed in place of the frequencies

	AttentionFactor     float64 // attention_factor; 0 means derived from the other fields
	MScale              float64 // mscale; has an effect only together with MScaleAllDim
	MScaleAllDim        float64 // mscale_all_dim
	AttentionMultiplier float64 // vLLM attn_factor, GGUF rope.scaling.attn_factor: multiplies the attention factor; 0 means 1

	// ScaleSoftmax sets SoftmaxScale to g(Factor, MScaleAllDim)^2, as the attention of
	// DeepSeek V2, V3 and models built like them needs it. The keys cannot tell: other
	// models have the same keys and do not scale.
	ScaleSoftmax bool
}

// YaRN returns the frequencies of YaRN (Peng et al. 2023, arXiv:2309.00071; transformers
// rope_type "yarn", vLLM "yarn" and "deepseek_yarn"):
//
//	correction(rotations) = rotaryDim · ln(OriginalMaxPositions/(2π·rotations)) / (2·ln(base))
//	low                   = max(floor(correction(BetaFast)), 0)
//	high                  = min(ceil(correction(BetaSlow)), rotaryDim-1)   and low + 0.001 where that is low
//	ramp                  = min(max((i - low)/(high - low), 0), 1)
//	keep                  = (1 - ramp) · ExtrapolationFactor
//	InvFreq[i]            = base^(-2i/rotaryDim) · ((1 - keep)/Factor + keep)
//	                        base^(-2i/rotaryDim) · Factor^(keep - 1)   with Logarithmic
//	AttentionFactor       = p.AttentionFactor · AttentionMultiplier
//	SoftmaxScale          = 1, or g(Factor, MScaleAllDim)^2 with ScaleSoftmax
//
// Untruncated leaves out floor and ceil. If p.AttentionFactor is 0, it is
//
//	g(Factor, MScale)/g(Factor, MScaleAllDim)     where neither MScale nor MScaleAllDim is 0
//	g(Factor, 1)                                  otherwise
//	g(s, m) = 1 + 0.1·m·ln(s) for s > 1, else 1
//
// For ggml's parameters set Factor = 1/freq_scale, OriginalMaxPositions = n_ctx_orig,
// ExtrapolationFactor = ext_factor and AttentionMultiplier = attn_factor, and leave
// AttentionFactor 0. (This holds for freq_scale up to 1, because g is never below 1 here.
// It describes ggml alone, without the division by which llama.cpp cancels g.)
//
// With Exact, floor and ceil are taken of the real corrections, which are never whole numbers
// because π is transcendental. With Float32 the corrections and the attention factor are computed
// in float64 and the frequencies in float32, step by step as in transformers.
//
// Factor is a finite number above 0, and OriginalMaxPositions is at least 1. BetaFast and
// BetaSlow are finite and above 0, and BetaFast is not less than BetaSlow. ExtrapolationFactor is
// at most 1. The other fields are finite and not negative. low must not be above high: frameworks
// disagree on what follows then. The other arguments are as in [Default].
func YaRN(rotaryDim int, base float64, p YaRNParameters, rounding Rounding) (Ladder, error) {
	check := begin("YaRN", "rotaryDim", rotaryDim, 2, base, rounding)
	p.BetaFast = cmp.Or(p.BetaFast, 32)
	p.BetaSlow = cmp.Or(p.BetaSlow, 1)
	p.ExtrapolationFactor = cmp.Or(p.ExtrapolationFactor, 1)
	p.AttentionMultiplier = cmp.Or(p.AttentionMultiplier, 1)
	check.positive("p.Factor", p.Factor)
	check.Require(p.OriginalMaxPositions >= 1, "p.OriginalMaxPositions", p.OriginalMaxPositions, "at least 1")
	check.Require(p.BetaSlow > 0 && p.BetaSlow <= math.MaxFloat64, "p.BetaSlow", p.BetaSlow, "a finite number above 0")
	check.Require(p.BetaFast >= p.BetaSlow && p.BetaFast <= math.MaxFloat64, "p.BetaFast", p.BetaFast, "a finite number of at least p.BetaSlow = %v", p.BetaSlow)
	check.Require(p.ExtrapolationFactor > 0 && p.ExtrapolationFactor <= 1, "p.ExtrapolationFactor", p.ExtrapolationFactor, "a number above 0 and at most 1")
	check.optional("p.AttentionFactor", p.AttentionFactor)
	check.optional("p.MScale", p.MScale)
	check.optional("p.MScaleAllDim", p.MScaleAllDim)
	check.optional("p.AttentionMultiplier", p.AttentionMultiplier)
	if check.Err != nil {
		return Ladder{}, check.Err
	}
	if rounding == Float32 {
		return yarn32(&check, rotaryDim, base, p)
	}
	ladder := unscaled(rotaryDim / 2)
	logBase := elementary.Log(real(base))
	correction := func(rotations float64) *big.Float {
		log := elementary.Log(quotient(whole(p.OriginalMaxPositions), product(twoPi(), real(rotations))))
		return quotient(product(whole(rotaryDim), log), product(real(2), logBase))
	}
	low, high := correction(p.BetaFast), correction(p.BetaSlow)
	if !p.Untruncated {
		low, high = floor(low), ceiling(high)
	}
	low, high = greatest(low, newReal()), least(high, whole(rotaryDim-1))
	check.Require(low.Cmp(high) <= 0, "p.OriginalMaxPositions", p.OriginalMaxPositions, correctionsApart)
	if check.Err != nil {
		return Ladder{}, check.Err
	}
	if low.Cmp(high) == 0 {
		high = sum(high, quotient(real(1), real(1000)))
	}
	factor, extrapolation, one := real(p.Factor), real(p.ExtrapolationFactor), real(1)
	exact := func(i int, inverse *big.Float) *big.Float {
		ramp := quotient(difference(whole(i), low), difference(high, low))
		ramp = least(greatest(ramp, newReal()), one)
		keep := product(difference(one, ramp), extrapolation)
		if p.Logarithmic {
			return product(inverse, elementary.Exp(product(difference(keep, one), elementary.Log(factor))))
		}
		return product(inverse, sum(quotient(difference(one, keep), factor), keep))
	}
	growth := func(mscale float64) *big.Float {
		if p.Factor <= 1 {
			return one
		}
		return sum(one, quotient(product(real(mscale), elementary.Log(factor)), real(10)))
	}
	attentionFactor := attentionFactorOf(&p, real(p.AttentionFactor), growth, quotient)
	ladder.AttentionFactor = nearest(product(attentionFactor, real(p.AttentionMultiplier)))
	if p.ScaleSoftmax {
		ladder.SoftmaxScale = nearest(product(growth(p.MScaleAllDim), growth(p.MScaleAllDim)))
	}
	return check.filled(ladder, rotaryDim/2, exact, nil)
}

// attentionFactorOf returns the attention factor without AttentionMultiplier.
func attentionFactorOf[T any](p *YaRNParameters, given T, growth func(mscale float64) T, quotient func(a, b T) T) T {
	switch {
	case p.AttentionFactor != 0:
		return given
	case p.MScale != 0 && p.MScaleAllDim != 0:
		return quotient(growth(p.MScale), growth(p.MScaleAllDim))
	}
	return growth(1)
}

func logarithm32(x float32) float32 { return nearest32(elementary.Log(real(float64(x)))) }

const correctionsApart = "a length and a base whose ramp starts at or below its end"

func yarn32(check *checker, rotaryDim int, base float64, p YaRNParameters) (Ladder, error) {
	ladder := unscaled(rotaryDim / 2)
	correction := func(rotations float64) float64 {
		log := logarithm64(float64(p.OriginalMaxPositions) / (rotations * 2 * math.Pi))
		return float64(rotaryDim) * log / (2 * logarithm64(base))
	}
	low, high := correction(p.BetaFast), correction(p.BetaSlow)
	if !p.Untruncated {
		low, high = math.Floor(low), math.Ceil(high)
	}
	low, high = max(low, 0), min(high, float64(rotaryDim-1))
	check.Require(low <= high, "p.OriginalMaxPositions", p.OriginalMaxPositions, correctionsApart)
	if check.Err != nil {
		return Ladder{}, check.Err
	}
	if low == high {
		high += 0.001
	}
	rounded := func(i int, power float32) float32 {
		extrapolated := 1 / power
		interpolated := 1 / (float32(p.Factor) * power)
		ramp := min(max((float32(i)-float32(low))/float32(high-low), 0), 1)
		keep := float32((1 - ramp) * float32(p.ExtrapolationFactor))
		switch {
		case !p.Logarithmic:
			return float32(interpolated*(1-keep)) + float32(extrapolated*keep)
		case !(interpolated > 0 && interpolated <= math.MaxFloat32): // it has no logarithm; check.ladder refuses NaN
			return float32(math.NaN())
		}
		log := float32(logarithm32(extrapolated)*keep) + float32(logarithm32(interpolated)*(1-keep))
		return nearest32(elementary.Exp(real(float64(log))))
	}
	growth := func(mscale float64) float64 {
		if p.Factor <= 1 {
			return 1
		}
		return float64(0.1*mscale*logarithm64(p.Factor)) + 1
	}
	attentionFactor := attentionFactorOf(&p, p.AttentionFactor, growth, func(a, b float64) float64 { return a / b })
	ladder.AttentionFactor = attentionFactor * p.AttentionMultiplier
	if p.ScaleSoftmax {
		ladder.SoftmaxScale = growth(p.MScaleAllDim) * growth(p.MScaleAllDim)
	}
	return check.filled(ladder, rotaryDim/2, nil, rounded)
}
