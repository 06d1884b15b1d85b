package frequency

import (
	"math"
	"math/big"

	"github.com/go-posenc/posenc/internal/elementary"
)

// SinusoidalParameters are the numbers of a sinusoidal encoding. None has a default.
type SinusoidalParameters struct {
	First       float64 // the first frequency: 1; scale of diffusers
	Base        float64 // 10000: max_period of diffusers, temperature of DETR
	Denominator float64 // the number of pairs over which frequencies fall by a factor of Base
}

// Sinusoidal returns the frequencies of a sinusoidal encoding. For k < pairs
//
//	invFreq[k] = First * Base^(-k/Denominator)
//
// With Base 10000 and First 1, for d channels:
//
//	Vaswani et al. 2017 (arXiv:1706.03762), Marian, Transformer-XL   pairs d/2, Denominator d/2
//	fairseq, tensor2tensor, Whisper                                  pairs d/2, Denominator d/2-1
//	MAE, each of two axes                                            pairs d/4, Denominator d/4
//
// pairs is from 1 to MaxRotaryDim/2. First and Denominator are above 0, Base is above 1,
// and all three are finite. The frequencies must be finite and at least 2^-900. They are
// rounded to float64 once.
func Sinusoidal(pairs int, p SinusoidalParameters) ([]float64, error) {
	c := checkerOf("Sinusoidal", Exact)
	c.pairs(pairs)
	c.positive("p.First", p.First)
	c.Require(p.Base > 1 && p.Base <= math.MaxFloat64, "p.Base", p.Base, "a finite number above 1")
	c.positive("p.Denominator", p.Denominator)
	if c.Err != nil {
		return nil, c.Err
	}
	return c.progression(elementary.Log(real(p.First)), quotient(elementary.Log(real(p.Base)), real(-p.Denominator)), pairs)
}

// TimingSignalParameters are the arguments of tensor2tensor's timing signals. None has a default.
type TimingSignalParameters struct {
	MinTimescale float64 // min_timescale: 1
	MaxTimescale float64 // max_timescale: 10000
}

// TimingSignal returns the frequencies of tensor2tensor's get_timing_signal_1d. For k < pairs
//
//	invFreq[k] = MinTimescale * (MaxTimescale/MinTimescale)^(-k/max(pairs-1, 1))
//
// tensor2tensor multiplies by MinTimescale too, although wavelengths grow with a timescale. Both
// timescales are finite and above 0. The rest is as in [Sinusoidal].
func TimingSignal(pairs int, p TimingSignalParameters) ([]float64, error) {
	c := checkerOf("TimingSignal", Exact)
	c.pairs(pairs)
	c.positive("p.MinTimescale", p.MinTimescale)
	c.positive("p.MaxTimescale", p.MaxTimescale)
	if c.Err != nil {
		return nil, c.Err
	}
	least, most := elementary.Log(real(p.MinTimescale)), elementary.Log(real(p.MaxTimescale))
	return c.progression(least, quotient(difference(least, most), whole(max(pairs-1, 1))), pairs)
}

// GeometricParameters are the first and the last frequency. Neither has a default.
type GeometricParameters struct {
	First float64 // max_freq of MLX: 1
	Last  float64 // min_freq of MLX: 0.0001
}

// Geometric returns frequencies from First to Last at equal ratios. For k < pairs
//
//	invFreq[k] = First * (Last/First)^(k/(pairs-1))
//
// MLX computes them like this from its max_freq and min_freq. With one pair the frequency
// is First. First and Last are finite and at least 2^-900. The rest is as in [Sinusoidal].
func Geometric(pairs int, p GeometricParameters) ([]float64, error) {
	c := checkerOf("Geometric", Exact)
	c.pairs(pairs)
	c.positive("p.First", p.First)
	c.positive("p.Last", p.Last)
	if c.Err != nil {
		return nil, c.Err
	}
	start := elementary.Log(real(p.First))
	return c.progression(start, quotient(difference(elementary.Log(real(p.Last)), start), whole(max(pairs-1, 1))), pairs)
}

func (c *checker) pairs(pairs int) {
	c.Require(pairs >= 1 && pairs <= MaxRotaryDim/2, "pairs", pairs, "from 1 to %d", MaxRotaryDim/2)
}

// progression returns e^(first + k*step) for every k < pairs.
func (c *checker) progression(first, step *big.Float, pairs int) ([]float64, error) {
	invFreq := make([]float64, pairs)
	for k, frequency := range geometric(first, step, pairs) {
		if frequency.Sign() != 0 && !frequency.IsInf() {
			invFreq[k] = nearest(frequency)
		}
		c.Require(invFreq[k] >= 0x1p-900 && invFreq[k] <= math.MaxFloat64, "a frequency", invFreq[k], "parameters that give finite numbers of at least 2^-900")
	}
	if c.Err != nil {
		return nil, c.Err
	}
	return invFreq, nil
}
