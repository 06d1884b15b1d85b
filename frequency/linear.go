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
	return check.divided(rotaryDim, base, rotaryDim/2, func(int) float64 { return factor })
}
