package frequency

// DynamicNTK returns the ladder of dynamic NTK-aware scaling for a sequence of
// seqLen tokens (transformers rope_type "dynamic"; keys factor and
// max_position_embeddings, never original_max_position_embeddings):
//
//	n          = max(seqLen, maxPositions)
//	newBase    = base · (factor·n/maxPositions - (factor - 1))^(rotaryDim/(rotaryDim-2))
//	InvFreq[i] = newBase^(-2i/rotaryDim)
//
// Up to maxPositions tokens that is Default; seqLen 0 asks for it. Longer
// sequences have a ladder for each length: keys rotated by the ladder of a
// shorter one keep that. vLLM uses one for all lengths: seqLen =
// factor·maxPositions.
//
// With Float32 the new base is computed in float64 up to maxPositions and by
// float32 steps beyond, as transformers does, whose sequence length is a tensor
// then.
//
// rotaryDim is even, from 4 to MaxRotaryDim, factor a finite number above 0,
// maxPositions at least 1, seqLen not negative, the rest as in Default.
func DynamicNTK(rotaryDim int, base, factor float64, maxPositions, seqLen int, rounding Rounding) (Ladder, error) {
	return Ladder{}, ErrParameter
}

// NTK returns the ladder of fixed NTK scaling (Su 2023,
// https://kexue.fm/archives/9706; rope type "ntk" of vLLM and of the GTE
// models, key factor without mixed_b):
//
//	InvFreq[i] = (base·factor)^(-2i/rotaryDim) / factor^(2/rotaryDim)
//
// With Float32 it follows the float32 steps of vLLM. factor is a finite number
// above 0, base·factor above 1, the rest as in Default.
func NTK(rotaryDim int, base, factor float64, rounding Rounding) (Ladder, error) {
	return Ladder{}, ErrParameter
}

// NTKMixed returns the ladder of mixed NTK scaling (Su 2023,
// https://kexue.fm/archives/9706; rope type "ntk" of vLLM and of the GTE
// models, keys factor and mixed_b):
//
//	InvFreq[i] = base^(-2i/rotaryDim) / exp(a·(i+1)^mixedB)
//	a          = ln(factor) / (rotaryDim/2)^mixedB
//
// With Float32 it follows the float32 steps of vLLM. factor is a finite number
// above 0, mixedB a finite number from 0, the rest as in Default.
func NTKMixed(rotaryDim int, base, factor, mixedB float64, rounding Rounding) (Ladder, error) {
	return Ladder{}, ErrParameter
}

// NTKAlpha returns the ladder of NTK-aware scaling by a fixed alpha (HunYuan;
// transformers and vLLM rope_type "dynamic" or "xdrope" with key alpha):
//
//	InvFreq[i] = (base · alpha^(rotaryDim/(rotaryDim-2)))^(-2i/rotaryDim)
//
// With Float32 the new base is computed in float64. rotaryDim is even, from 4
// to MaxRotaryDim, alpha a finite number above 0 that leaves the new base above
// 1, the rest as in Default.
func NTKAlpha(rotaryDim int, base, alpha float64, rounding Rounding) (Ladder, error) {
	return Ladder{}, ErrParameter
}
