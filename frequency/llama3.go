package frequency

import "math"

// Llama3Parameters are the keys of a Llama 3.1 configuration.
type Llama3Parameters struct {
	Factor               float64 // factor: 8 in Llama 3.1, 32 in Llama 3.2
	LowFreqFactor        float64 // low_freq_factor: 1
	HighFreqFactor       float64 // high_freq_factor: 4
	OriginalMaxPositions int     // original_max_position_embeddings: 8192
}

// Llama3 returns the frequencies of Llama 3.1 (Meta's llama-models; transformers rope_type
// "llama3"). They depend on how often pair i rotates over the original length:
//
//	inv        = base^(-2i/rotaryDim)
//	rotations  = OriginalMaxPositions · inv / (2π)
//	smooth     = (rotations - LowFreqFactor) / (HighFreqFactor - LowFreqFactor)
//	InvFreq[i] = inv                                            where rotations > HighFreqFactor
//	             inv/Factor                                     where rotations < LowFreqFactor
//	             (1 - smooth)·inv/Factor + smooth·inv           between
//
// rotations never equals one of the two factors, because π is transcendental. If the
// factors are equal (Llama 4), no pair lies between them. With Float32 the function
// follows the float32 steps of transformers, which compares and smooths by the wavelength
// 2π/inv. For equal factors smooth is then 0, as in vLLM.
//
// Factor is a finite number above 0. LowFreqFactor and HighFreqFactor are finite numbers
// above 0, and LowFreqFactor is not above HighFreqFactor. OriginalMaxPositions is at least
// 1. The other arguments are as in [Default].
func Llama3(rotaryDim int, base float64, p Llama3Parameters, rounding Rounding) (Ladder, error) {
	check := checker{function: "Llama3", rounding: rounding}
	check.common("rotaryDim", rotaryDim, 2, base)
	check.positive("p.Factor", p.Factor)
	check.positive("p.LowFreqFactor", p.LowFreqFactor)
	check.positive("p.HighFreqFactor", p.HighFreqFactor)
	check.require(p.LowFreqFactor <= p.HighFreqFactor, "p.LowFreqFactor", p.LowFreqFactor, "at most p.HighFreqFactor = %v", p.HighFreqFactor)
	check.require(p.OriginalMaxPositions >= 1, "p.OriginalMaxPositions", p.OriginalMaxPositions, "at least 1")
	if check.err != nil {
		return Ladder{}, check.err
	}
	ladder := unscaled(rotaryDim / 2)
	if rounding == Float32 {
		longest := float32(float64(p.OriginalMaxPositions) / p.LowFreqFactor)
		shortest := float32(float64(p.OriginalMaxPositions) / p.HighFreqFactor)
		between := float32(p.HighFreqFactor - p.LowFreqFactor)
		for i, power := range powers32(base, rotaryDim, rotaryDim/2) {
			inverse := 1 / power
			// torch divides a number by a tensor by its reciprocal.
			wavelength := 1 / inverse * float32(2*math.Pi)
			scaled := inverse
			if wavelength > longest {
				scaled /= float32(p.Factor)
			} else if !(wavelength < shortest) {
				rotations := float32(1 / wavelength * float32(p.OriginalMaxPositions))
				smooth := float32(0)
				if between != 0 {
					smooth = (rotations - float32(p.LowFreqFactor)) / between
				}
				scaled = float32((1-smooth)*inverse/float32(p.Factor)) + float32(smooth*inverse)
			}
			ladder.InvFreq[i] = float64(scaled)
		}
		return check.ladder(ladder)
	}
	factor, low, high := real(p.Factor), real(p.LowFreqFactor), real(p.HighFreqFactor)
	rotationsPerRadian := quotient(whole(p.OriginalMaxPositions), twoPi())
	for i, inverse := range inverses(base, rotaryDim, rotaryDim/2) {
		scaled := quotient(inverse, factor)
		if rotations := product(rotationsPerRadian, inverse); rotations.Cmp(high) > 0 {
			scaled = inverse
		} else if rotations.Cmp(low) > 0 {
			smooth := quotient(difference(rotations, low), difference(high, low))
			scaled = sum(product(difference(real(1), smooth), scaled), product(smooth, inverse))
		}
		ladder.InvFreq[i] = nearest(scaled)
	}
	return check.ladder(ladder)
}
