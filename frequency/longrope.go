package frequency

// LongRoPEParameters are the keys of a LongRoPE configuration.
type LongRoPEParameters struct {
	ShortFactors         []float64 // short_factor, one for each pair
	LongFactors          []float64 // long_factor, one for each pair
	OriginalMaxPositions int       // original_max_position_embeddings
	Factor               float64   // factor; where absent, max_position_embeddings / original_max_position_embeddings
	ShortAttentionFactor float64   // attention_factor or short_mscale, in place of the derived one; 0 means derived
	LongAttentionFactor  float64   // attention_factor or long_mscale, in place of the derived one; 0 means derived
}

// LongRoPE returns the ladder of LongRoPE (Ding et al. 2024, arXiv:2402.13753;
// transformers and vLLM rope_type "longrope", formerly "su") for a sequence of
// seqLen tokens:
//
//	factors    = LongFactors if seqLen > OriginalMaxPositions, else ShortFactors
//	InvFreq[i] = 1 / (factors[i] · base^(2i/rotaryDim))
//	Scaling    = sqrt(1 + ln(Factor)/ln(OriginalMaxPositions)), and 1 for Factor up to 1
//
// seqLen counts the tokens of the whole context, cached ones included. Keys
// that were rotated by the short factors do not fit the long ones: transformers
// drops its cache at the switch; vLLM passes its longest context for every
// sequence.
//
// With Float32 the frequencies follow the float32 steps of transformers and
// Scaling is computed in float64.
//
// Both lists have rotaryDim/2 finite numbers above 0, OriginalMaxPositions is
// at least 2, Factor a finite number above 0 (or 0 where both attention factors
// are given), the attention factors finite and not negative, seqLen not
// negative, the rest as in Default.
func LongRoPE(rotaryDim int, base float64, p LongRoPEParameters, seqLen int, rounding Rounding) (Ladder, error) {
	return Ladder{}, ErrParameter
}
