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
	return Ladder{}, ErrParameter
}
