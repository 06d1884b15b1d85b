package frequency

// Llama3Parameters are the keys of a Llama 3.1 configuration.
type Llama3Parameters struct {
	Factor               float64 // factor: 8 in Llama 3.1, 32 in Llama 3.2
	LowFreqFactor        float64 // low_freq_factor: 1
	HighFreqFactor       float64 // high_freq_factor: 4
	OriginalMaxPositions int     // original_max_position_embeddings: 8192
}

// Llama3 returns the ladder of Llama 3.1 (Meta's llama-models; transformers
// rope_type "llama3"). With the turns of pair i over the original length,
//
//	inv        = base^(-2i/rotaryDim)
//	turns      = OriginalMaxPositions · inv / (2π)
//	smooth     = (turns - LowFreqFactor) / (HighFreqFactor - LowFreqFactor)
//	InvFreq[i] = inv                                            where turns > HighFreqFactor
//	             inv/Factor                                     where turns < LowFreqFactor
//	             (1 - smooth)·inv/Factor + smooth·inv           between
//
// turns never equals one of the two factors, since π is transcendental. With
// Float32 it follows the float32 steps of transformers, which compares and
// smooths by the wavelength 2π/inv.
//
// Factor is a finite number above 0, LowFreqFactor above 0 and below
// HighFreqFactor, both finite, OriginalMaxPositions at least 1, the rest as in
// Default.
func Llama3(rotaryDim int, base float64, p Llama3Parameters, rounding Rounding) (Ladder, error) {
	return Ladder{}, ErrParameter
}
