// Package frequency makes the inverse-frequency ladders of rotary position
// embeddings: the radians per position of every pair of elements.
//
// Results have the same bits on every GOARCH: no float64 logarithm or power of
// package math goes into them.
package frequency

import (
	"errors"
	"fmt"
	"math"
)

// Ladder is what a scaling rule gives for one model.
type Ladder struct {
	InvFreq      []float64 // radians per position, one for each pair
	Scaling      float64   // multiplies cos and sin
	SoftmaxScale float64   // multiplies the attention scores
}

// Rounding says how the frequencies of a ladder are rounded.
type Rounding uint8

const (
	Exact   Rounding = iota // the real number, rounded to float64 once
	Float32                 // every step rounded to float32, as Hugging Face transformers does
)

// ErrParameter is wrapped by every error.
var ErrParameter = errors.New("frequency: invalid parameter")

// MaxRotaryDim bounds the length of a ladder.
const MaxRotaryDim = 1 << 16

// Default returns the ladder of the original rotary embedding (Su et al. 2021),
// for i < rotaryDim/2:
//
//	InvFreq[i] = base^(-2i/rotaryDim)
//
// With Float32 it is RN32(1/RN32(RN32(base)^RN32(2i/rotaryDim))). rotaryDim is
// even, from 2 to MaxRotaryDim, base a finite number above 1.
func Default(rotaryDim int, base float64, rounding Rounding) (Ladder, error) {
	if rotaryDim < 2 || rotaryDim%2 != 0 || rotaryDim > MaxRotaryDim {
		return Ladder{}, fmt.Errorf("frequency.Default: rotaryDim is %d, want an even number from 2 to %d: %w", rotaryDim, MaxRotaryDim, ErrParameter)
	}
	if !(base > 1 && base <= math.MaxFloat64) {
		return Ladder{}, fmt.Errorf("frequency.Default: base is %v, want a finite number above 1: %w", base, ErrParameter)
	}
	if rounding > Float32 {
		return Ladder{}, fmt.Errorf("frequency.Default: rounding is %d, want Exact or Float32: %w", rounding, ErrParameter)
	}
	if rounding == Float32 && !(float32(base) > 1 && float32(base) <= math.MaxFloat32) {
		return Ladder{}, fmt.Errorf("frequency.Default: base is %v, want a float32 above 1: %w", base, ErrParameter)
	}
	var f functions
	ladder := Ladder{InvFreq: make([]float64, rotaryDim/2), Scaling: 1, SoftmaxScale: 1}
	if rounding == Float32 {
		logBase := f.logarithm(real(float64(float32(base))))
		for i := range ladder.InvFreq {
			exponent := float32(2*i) / float32(rotaryDim)
			power, _ := f.exponential(product(logBase, real(float64(exponent)))).Float32()
			ladder.InvFreq[i] = float64(1 / power)
		}
		return ladder, nil
	}
	// Powers of the ratio of two neighbours; each product adds an error of
	// 2^-precision.
	step := quotient(product(real(-2), f.logarithm(real(base))), real(float64(rotaryDim)))
	ratio := f.exponential(step)
	power := real(1)
	for i := range ladder.InvFreq {
		ladder.InvFreq[i], _ = power.Float64()
		power = product(power, ratio)
	}
	return ladder, nil
}
