package frequency

import (
	"math"
	"math/big"

	"github.com/go-posenc/posenc/internal/elementary"
)

// XPos returns the rates at which xPos (Sun et al. 2022, arXiv:2212.10554) lets each pair
// decay, in powers of two per position. For i < rotaryDim/2
//
//	high[i]+low[i] = log2((2i + 0.4*rotaryDim)/(1.4*rotaryDim)) / scaleBase
//
// The sum of the two float64 is the rounded real number. posenc.RotaryConfig.XPos computes
// the rates itself. rotaryDim is even, from 2 to MaxRotaryDim. scaleBase is a finite
// number of at least 2^-50 (512 in the paper).
func XPos(rotaryDim int, scaleBase float64) (high, low []float64, err error) {
	c := checkerOf("XPos", Exact)
	c.Require(rotaryDim >= 2 && rotaryDim%2 == 0 && rotaryDim <= MaxRotaryDim, "rotaryDim", rotaryDim, "an even number from 2 to %d", MaxRotaryDim)
	c.Require(scaleBase >= 0x1p-50 && scaleBase <= math.MaxFloat64, "scaleBase", scaleBase, "a finite number of at least 2^-50")
	if c.Err != nil {
		return nil, nil, c.Err
	}
	high, low = make([]float64, rotaryDim/2), make([]float64, rotaryDim/2)
	divisor := product(elementary.Ln2(), real(scaleBase))
	for i := range high {
		ratio := quotient(real(float64(10*i+2*rotaryDim)), real(float64(7*rotaryDim)))
		rate := quotient(elementary.Log(ratio), divisor)
		high[i], _ = rate.Float64()
		low[i], _ = new(big.Float).SetPrec(elementary.Precision).Sub(rate, real(high[i])).Float64()
	}
	return high, low, nil
}
