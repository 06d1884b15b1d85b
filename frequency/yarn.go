package frequency

// YaRNParameters are the keys of a YaRN configuration. A field that is 0 has
// the default that is stated.
type YaRNParameters struct {
	Factor               float64 // factor; where absent, max_position_embeddings / original_max_position_embeddings
	OriginalMaxPositions int     // original_max_position_embeddings; ggml n_ctx_orig
	BetaFast             float64 // beta_fast, turns over the original length from which a pair keeps its frequency; 0 means 32
	BetaSlow             float64 // beta_slow, turns up to which its frequency is divided by Factor; 0 means 1
	Untruncated          bool    // truncate is false (gpt-oss): the ramp starts and ends between pairs
	ExtrapolationFactor  float64 // vLLM extrapolation_factor, ggml ext_factor; 0 means 1 (for ggml's 0 use Linear)

	AttentionFactor     float64 // attention_factor, in place of the derived one; 0 means derived
	MScale              float64 // mscale; counts only together with MScaleAllDim
	MScaleAllDim        float64 // mscale_all_dim
	AttentionMultiplier float64 // multiplies the attention factor: attn_factor of vLLM, rope.scaling.attn_factor of GGUF; 0 means 1

	// ScaleSoftmax asks for SoftmaxScale = g(Factor, MScaleAllDim)^2: what the
	// attention of DeepSeek V2 and V3 and the models built like them does. Other
	// models have the same keys without it, so the keys do not say.
	ScaleSoftmax bool
}

// YaRN returns the ladder of YaRN (Peng et al. 2023, arXiv:2309.00071;
// transformers rope_type "yarn", vLLM "yarn" and "deepseek_yarn"):
//
//	corner(turns) = rotaryDim · ln(OriginalMaxPositions/(2π·turns)) / (2·ln(base))
//	low           = max(floor(corner(BetaFast)), 0)
//	high          = min(ceil(corner(BetaSlow)), rotaryDim-1)     and low + 0.001 where that is low
//	ramp          = min(max((i - low)/(high - low), 0), 1)
//	keep          = (1 - ramp) · ExtrapolationFactor
//	InvFreq[i]    = base^(-2i/rotaryDim) · ((1 - keep)/Factor + keep)
//	Scaling       = AttentionFactor · AttentionMultiplier
//	SoftmaxScale  = 1, or g(Factor, MScaleAllDim)^2 with ScaleSoftmax
//
// Untruncated leaves out floor and ceil. An AttentionFactor of 0 means
//
//	g(Factor, MScale)/g(Factor, MScaleAllDim)     where neither MScale nor MScaleAllDim is 0
//	g(Factor, 1)                                  otherwise
//	g(s, m) = 1 + 0.1·m·ln(s) for s > 1, else 1
//
// ggml's parameters are Factor = 1/freq_scale, OriginalMaxPositions =
// n_ctx_orig, ExtrapolationFactor = ext_factor and AttentionMultiplier =
// attn_factor with the default AttentionFactor (for freq_scale up to 1: g is
// never below 1 here). llama.cpp divides that g out of attn_factor again: of
// its keys, rope.scaling.yarn_log_multiplier is MScaleAllDim/10 with MScale 1.
//
// With Exact, floor and ceil are those of the real corners, which are never
// whole numbers since π is transcendental. With Float32 the corners and the
// attention factor are computed in float64 and the frequencies in float32, step
// by step as transformers does.
//
// Factor is a finite number above 0, OriginalMaxPositions at least 1, BetaFast
// not less than BetaSlow, both finite and above 0, ExtrapolationFactor at most
// 1; the other fields are finite and not negative, and low does not lie above
// high (frameworks disagree on what then follows). The rest is as in Default.
func YaRN(rotaryDim int, base float64, p YaRNParameters, rounding Rounding) (Ladder, error) {
	return Ladder{}, ErrParameter
}
