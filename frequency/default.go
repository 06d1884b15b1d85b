package frequency

// Default returns the ladder of the original rotary embedding (Su et al. 2021,
// arXiv:2104.09864), for i < rotaryDim/2:
//
//	InvFreq[i] = base^(-2i/rotaryDim)
//
// With Float32 it is RN32(1/RN32(RN32(base)^RN32(2i/rotaryDim))). rotaryDim is even,
// from 2 to MaxRotaryDim, base a finite number above 1 (with Float32 also after
// rounding to float32). Errors wrap ErrParameter.
func Default(rotaryDim int, base float64, rounding Rounding) (Ladder, error) {
	check := checker{function: "Default", rounding: rounding}
	check.common("rotaryDim", rotaryDim, 2, base)
	if check.err != nil {
		return Ladder{}, check.err
	}
	var f functions
	ladder := unscaled(rotaryDim / 2)
	if rounding == Float32 {
		for i, power := range f.powers32(base, rotaryDim, rotaryDim/2) {
			ladder.InvFreq[i] = float64(1 / power)
		}
		return check.ladder(ladder)
	}
	for i, inverse := range f.inverses(base, rotaryDim, rotaryDim/2) {
		ladder.InvFreq[i] = nearest(inverse)
	}
	return check.ladder(ladder)
}
