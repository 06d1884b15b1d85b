package frequency

import (
	"math"
	"math/big"
)

// The ladders of sinusoidal encodings are frequencies alone, in radians per
// position, rounded to float64 once.

// Sinusoidal returns the ladder of a sinusoidal encoding: for k < pairs
//
//	invFreq[k] = first * base^(-k/denominator)
//
// With base 10000 and first 1, for d channels:
//
//	Vaswani et al. 2017 (arXiv:1706.03762), Marian, Transformer-XL   pairs d/2, denominator d/2
//	fairseq, tensor2tensor, Whisper                                  pairs d/2, denominator d/2-1
//	MAE, each of two axes                                            pairs d/4, denominator d/4
//
// pairs is from 1 to MaxRotaryDim/2; first and denominator are positive, base is
// above 1, all are finite, and so are the frequencies, which are at least 2^-900.
// Errors wrap ErrParameter.
func Sinusoidal(pairs int, first, base, denominator float64) ([]float64, error) {
	c := checker{function: "Sinusoidal"}
	c.pairs(pairs)
	c.positive("first", first)
	c.require(base > 1 && base <= math.MaxFloat64, "base", base, "a finite number above 1")
	c.positive("denominator", denominator)
	if c.err != nil {
		return nil, c.err
	}
	var f functions
	return c.progression(&f, f.logarithm(real(first)), quotient(f.logarithm(real(base)), real(-denominator)), pairs)
}

// TimingSignal returns the ladder of tensor2tensor's get_timing_signal_1d: for
// k < pairs
//
//	invFreq[k] = minTimescale * (maxTimescale/minTimescale)^(-k/max(pairs-1, 1))
//
// minTimescale multiplies, as it does there, although wavelengths grow with a
// timescale: the two agree where it is 1. Both are positive and finite, and so
// are the frequencies, which are at least 2^-900. Errors wrap ErrParameter.
func TimingSignal(pairs int, minTimescale, maxTimescale float64) ([]float64, error) {
	c := checker{function: "TimingSignal"}
	c.pairs(pairs)
	c.positive("minTimescale", minTimescale)
	c.positive("maxTimescale", maxTimescale)
	if c.err != nil {
		return nil, c.err
	}
	var f functions
	least, most := f.logarithm(real(minTimescale)), f.logarithm(real(maxTimescale))
	return c.progression(&f, least, quotient(difference(least, most), whole(max(pairs-1, 1))), pairs)
}

// Geometric returns frequencies from first to last at equal ratios: for k < pairs
//
//	invFreq[k] = first * (last/first)^(k/(pairs-1))
//
// as MLX does from its max_freq to its min_freq; a single one is first. first and
// last are positive and finite and at least 2^-900. Errors wrap ErrParameter.
func Geometric(pairs int, first, last float64) ([]float64, error) {
	c := checker{function: "Geometric"}
	c.pairs(pairs)
	c.positive("first", first)
	c.positive("last", last)
	if c.err != nil {
		return nil, c.err
	}
	var f functions
	start := f.logarithm(real(first))
	return c.progression(&f, start, quotient(difference(f.logarithm(real(last)), start), whole(max(pairs-1, 1))), pairs)
}

func (c *checker) pairs(pairs int) {
	c.require(pairs >= 1 && pairs <= MaxRotaryDim/2, "pairs", pairs, "from 1 to %d", MaxRotaryDim/2)
}

// progression returns e^(first + k*step) for every k < pairs.
func (c *checker) progression(f *functions, first, step *big.Float, pairs int) ([]float64, error) {
	invFreq := make([]float64, pairs)
	for k, frequency := range f.geometric(first, step, pairs) {
		if frequency.Sign() != 0 && !frequency.IsInf() {
			invFreq[k] = nearest(frequency)
		}
		c.require(invFreq[k] >= 0x1p-900 && invFreq[k] <= math.MaxFloat64, "a frequency", invFreq[k], "parameters that give finite numbers of at least 2^-900")
	}
	if c.err != nil {
		return nil, c.err
	}
	return invFreq, nil
}
