package frequency

import (
	"math"
	"math/big"
)

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
	check := begin("Llama3", "rotaryDim", rotaryDim, 2, base, rounding)
	check.positive("p.Factor", p.Factor)
	check.positive("p.LowFreqFactor", p.LowFreqFactor)
	check.positive("p.HighFreqFactor", p.HighFreqFactor)
	check.Require(p.LowFreqFactor <= p.HighFreqFactor, "p.LowFreqFactor", p.LowFreqFactor, "at most p.HighFreqFactor = %v", p.HighFreqFactor)
	check.Require(p.OriginalMaxPositions >= 1, "p.OriginalMaxPositions", p.OriginalMaxPositions, "at least 1")
	if check.Err != nil {
		return Ladder{}, check.Err
	}
	longest := float32(float64(p.OriginalMaxPositions) / p.LowFreqFactor)
	shortest := float32(float64(p.OriginalMaxPositions) / p.HighFreqFactor)
	between := float32(p.HighFreqFactor - p.LowFreqFactor)
	rounded := func(_ int, power float32) float32 {
		inverse := 1 / power
		// torch divides a number by a tensor by its reciprocal.
		wavelength := 1 / inverse * float32(2*math.Pi)
		switch {
		case wavelength > longest:
			return inverse / float32(p.Factor)
		case wavelength < shortest:
			return inverse
		}
		rotations := float32(1 / wavelength * float32(p.OriginalMaxPositions))
		smooth := float32(0)
		if between != 0 {
			smooth = (rotations - float32(p.LowFreqFactor)) / between
		}
		return float32((1-smooth)*inverse/float32(p.Factor)) + float32(smooth*inverse)
	}
	factor, low, high := real(p.Factor), real(p.LowFreqFactor), real(p.HighFreqFactor)
	rotationsPerRadian := quotient(whole(p.OriginalMaxPositions), twoPi())
	exact := func(_ int, inverse *big.Float) *big.Float {
		rotations, scaled := product(rotationsPerRadian, inverse), quotient(inverse, factor)
		switch {
		case rotations.Cmp(high) > 0:
			return inverse
		case rotations.Cmp(low) <= 0:
			return scaled
		}
		smooth := quotient(difference(rotations, low), difference(high, low))
		return sum(product(difference(real(1), smooth), scaled), product(smooth, inverse))
	}
	return check.filled(unscaled(rotaryDim/2), rotaryDim/2, exact, rounded)
}
