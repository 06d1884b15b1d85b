package frequency

// Proportional returns the ladder of proportional rotary embeddings (Gemma 4;
// transformers rope_type "proportional", keys partial_rotary_factor, 1 where
// absent, and factor, 1 where absent):
//
//	rotated    = floor(partialRotaryFactor·headDim / 2)
//	InvFreq[i] = base^(-2i/headDim) / factor    for i < rotated
//	InvFreq[i] = 0                              for rotated <= i < headDim/2
//
// The ladder is as wide as the head: the pairs beyond the rotated ones do not
// turn, and pair i is (i, i+headDim/2) with the half-split layout. rotated is
// the source's count: the product is rounded to float64, so that 0.3 of 20
// elements are 3 pairs. With Float32 the frequencies follow the float32 steps
// of transformers.
//
// headDim is even, from 2 to MaxRotaryDim, partialRotaryFactor from 0 to 1,
// factor a finite number above 0, base as in Default.
func Proportional(headDim int, base, partialRotaryFactor, factor float64, rounding Rounding) (Ladder, error) {
	check := checker{function: "Proportional", rounding: rounding}
	check.common("headDim", headDim, 2, base)
	check.require(partialRotaryFactor >= 0 && partialRotaryFactor <= 1, "partialRotaryFactor", partialRotaryFactor, "a number from 0 to 1")
	check.positive("factor", factor)
	if check.err != nil {
		return Ladder{}, check.err
	}
	var f functions
	ladder := unscaled(headDim / 2)
	rotated := int(partialRotaryFactor*float64(headDim)) / 2
	if rounding == Float32 {
		for i, power := range f.powers32(base, headDim, rotated) {
			ladder.InvFreq[i] = float64(1 / power / float32(factor))
		}
		return check.ladder(ladder)
	}
	for i, inverse := range f.inverses(base, headDim, rotated) {
		ladder.InvFreq[i] = nearest(quotient(inverse, real(factor)))
	}
	return check.ladder(ladder)
}
