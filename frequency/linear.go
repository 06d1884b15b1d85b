package frequency

// LinearParameters are the keys of a configuration with linear scaling: factor.
type LinearParameters struct{ Factor float64 }

// Linear returns the frequencies of position interpolation (Chen et al. 2023,
// arXiv:2306.15595; transformers rope_type "linear"):
//
//	InvFreq[i] = base^(-2i/rotaryDim) / Factor
//
// With Float32 it is the frequency of [Default] divided by RN32(Factor), in float32.
// Factor is a finite number above 0. The other arguments are as in Default.
func Linear(rotaryDim int, base float64, p LinearParameters, rounding Rounding) (Ladder, error) {
	check := begin("Linear", "rotaryDim", rotaryDim, 2, base, rounding)
	check.positive("p.Factor", p.Factor)
	return check.divided(rotaryDim, base, rotaryDim/2, func(int) float64 { return p.Factor })
}
