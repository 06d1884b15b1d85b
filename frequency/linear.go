package frequency

// Default returns the frequencies of the original rotary embedding (Su et al. 2021,
// arXiv:2104.09864). For i < rotaryDim/2
//
//	InvFreq[i] = base^(-2i/rotaryDim)
//
// With Float32 it is RN32(1/RN32(RN32(base)^RN32(2i/rotaryDim))). RN32 rounds to the nearest
// float32, ties to even. rotaryDim is even, from 2 to MaxRotaryDim. base is a finite number
// above 1 (with Float32 also after rounding to float32).
func Default(rotaryDim int, base float64, rounding Rounding) (Ladder, error) {
	check := begin("Default", "rotaryDim", rotaryDim, 2, base, rounding)
	return check.divided(rotaryDim/2, func(int) float64 { return 1 })
}

// LinearParameters are the keys of a configuration with linear scaling: factor.
type LinearParameters struct{ Factor float64 }

// Linear returns the frequencies of position interpolation (Chen et al. 2023,
// arXiv:2306.15595; transformers rope_type "linear"):
//
//	InvFreq[i] = base^(-2i/rotaryDim) / Factor
//
// With Float32 it is the frequency of [Default] divided by RN32(Factor), in float32. Factor is
// a finite number above 0. The other arguments are as in Default.
func Linear(rotaryDim int, base float64, p LinearParameters, rounding Rounding) (Ladder, error) {
	check := begin("Linear", "rotaryDim", rotaryDim, 2, base, rounding)
	check.positive("p.Factor", p.Factor)
	return check.divided(rotaryDim/2, func(int) float64 { return p.Factor })
}

// Factors returns frequencies that each have their own divisor (ggml's freq_factors). In
// GGUF files the divisors are the tensor rope_freqs.weight, with which llama.cpp ships the
// frequencies of Llama 3 and Gemma 4:
//
//	InvFreq[i] = base^(-2i/rotaryDim) / factors[i]
//
// With Float32 it is the frequency of [Default] divided by RN32(factors[i]), in float32.
// (ggml computes the angle of each position by a running product in float32, which no
// frequencies can reproduce.) There are rotaryDim/2 factors, finite numbers above 0. The
// other arguments are as in Default.
func Factors(rotaryDim int, base float64, factors []float64, rounding Rounding) (Ladder, error) {
	check := begin("Factors", "rotaryDim", rotaryDim, 2, base, rounding)
	check.factors("factors", factors, rotaryDim)
	return check.divided(rotaryDim/2, func(i int) float64 { return factors[i] })
}

// ProportionalParameters are the keys of a configuration. If it lacks a key, set it to 1.
type ProportionalParameters struct {
	PartialRotaryFactor float64 // partial_rotary_factor
	Factor              float64 // factor
}

// Proportional returns the frequencies of proportional rotary embeddings (Gemma 4;
// transformers rope_type "proportional"):
//
//	rotated    = floor(PartialRotaryFactor·headDim / 2)
//	InvFreq[i] = base^(-2i/headDim) / Factor    for i < rotated
//	InvFreq[i] = 0                              for rotated <= i < headDim/2
//
// There is a frequency for every pair of the head, also for the pairs after the first rotated
// ones, which stay as they are. With the half-split layout pair i is (i, i+headDim/2). rotated is
// counted as in transformers: the product is rounded to float64, so 0.3 of 20 elements are 3
// pairs. With Float32 the frequencies follow the float32 steps of transformers.
//
// headDim is even, from 2 to MaxRotaryDim. PartialRotaryFactor is from 0 to 1. Factor is a
// finite number above 0. base is as in [Default].
func Proportional(headDim int, base float64, p ProportionalParameters, rounding Rounding) (Ladder, error) {
	check := begin("Proportional", "headDim", headDim, 2, base, rounding)
	check.Require(p.PartialRotaryFactor >= 0 && p.PartialRotaryFactor <= 1, "p.PartialRotaryFactor", p.PartialRotaryFactor, "a number from 0 to 1")
	check.positive("p.Factor", p.Factor)
	rotated := int(p.PartialRotaryFactor*float64(headDim)) / 2
	return check.divided(rotated, func(int) float64 { return p.Factor })
}
