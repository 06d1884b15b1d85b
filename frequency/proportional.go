package frequency

// ProportionalParameters are the keys of a configuration with proportional rotary
// embeddings. If the configuration lacks a key, set it to 1.
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
// There is a frequency for every pair of the head, also for the pairs after the first
// rotated ones, which stay as they are. With the half-split layout pair i is (i,
// i+headDim/2). rotated is counted as in transformers: the product is rounded to float64,
// so 0.3 of 20 elements are 3 pairs. With Float32 the frequencies follow the float32 steps
// of transformers.
//
// headDim is even, from 2 to MaxRotaryDim. PartialRotaryFactor is from 0 to 1. Factor is a
// finite number above 0. base is as in [Default].
func Proportional(headDim int, base float64, p ProportionalParameters, rounding Rounding) (Ladder, error) {
	check := begin("Proportional", "headDim", headDim, 2, base, rounding)
	check.require(p.PartialRotaryFactor >= 0 && p.PartialRotaryFactor <= 1, "p.PartialRotaryFactor", p.PartialRotaryFactor, "a number from 0 to 1")
	check.positive("p.Factor", p.Factor)
	rotated := int(p.PartialRotaryFactor*float64(headDim)) / 2
	return check.divided(headDim, base, rotated, func(int) float64 { return p.Factor })
}
