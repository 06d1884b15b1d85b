package frequency

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
	return check.divided(rotaryDim, base, rotaryDim/2, func(i int) float64 { return factors[i] })
}
