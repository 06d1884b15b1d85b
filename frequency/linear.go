package frequency

// Linear returns the ladder of position interpolation (Chen et al. 2023,
// arXiv:2306.15595; transformers rope_type "linear", key factor):
//
//	InvFreq[i] = base^(-2i/rotaryDim) / factor
//
// With Float32 it is the frequency of Default divided by RN32(factor), in float32.
// factor is a finite number above 0, the rest as in Default. Errors wrap
// ErrParameter.
func Linear(rotaryDim int, base, factor float64, rounding Rounding) (Ladder, error) {
	check := checker{function: "Linear", rounding: rounding}
	check.common("rotaryDim", rotaryDim, 2, base)
	check.positive("factor", factor)
	if check.err != nil {
		return Ladder{}, check.err
	}
	var f functions
	ladder := unscaled(rotaryDim / 2)
	if rounding == Float32 {
		for i, power := range f.powers32(base, rotaryDim, rotaryDim/2) {
			ladder.InvFreq[i] = float64(1 / power / float32(factor))
		}
		return check.ladder(ladder)
	}
	for i, inverse := range f.inverses(base, rotaryDim, rotaryDim/2) {
		ladder.InvFreq[i] = nearest(quotient(inverse, real(factor)))
	}
	return check.ladder(ladder)
}
