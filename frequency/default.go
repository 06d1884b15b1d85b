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
	return check.divided(rotaryDim, base, rotaryDim/2, one)
}
