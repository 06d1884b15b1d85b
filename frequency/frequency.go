// Package frequency computes the inverse frequencies (inv_freq) of rotary position
// embeddings: for every pair of elements, the radians by which one position rotates it.
//
//	ladder, err := frequency.Linear(128, 10000, frequency.LinearParameters{Factor: 4}, frequency.Exact)
//	rope, err := posenc.NewRotary(posenc.RotaryConfig{
//		HeadDim: 128, InvFreq: ladder.InvFreq, AttentionFactor: ladder.AttentionFactor, Axes: ladder.Axes,
//	})
//
// Package modelconfig chooses the rule and its parameters for you,
// from the config.json or the GGUF keys of a model. A model without a scaling rule needs
// only posenc.RotaryConfig.Base, and nothing from this package.
//
// There is a constructor for each scaling rule; docs/keys.md in the repository has those of
// language models by the rope_type of a config.json, docs/vision.md the others. A constructor is a pure function of its arguments. Where tokens
// have several positions, [Sections], [InterleavedSections] and [AlternatingSections] say from
// which axis each pair takes its position. Errors wrap posenc.ErrConfig.
//
// Frequencies are rounded in one of two ways, [Exact] or [Float32].
//
// With Exact every number of a Ladder is the real number that the rule's equation gives
// for its parameters, rounded to float64 once. floor, ceil and comparisons are taken of
// real numbers. Results have the same bits on every GOARCH, because no float64 logarithm
// or power of package math goes into them.
//
// With Float32 the constructor follows the rule's reference (transformers, or vLLM where
// transformers lacks the rule) operation by operation in the same precision. Every
// operation is correctly rounded; torch's are too, except powers, logarithms and exponentials, which
// may be off in the last place: about one frequency in eighty.
package frequency

import (
	"fmt"
	"math"
	"math/big"

	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/elementary"
)

// Ladder is what a scaling rule gives for one model: the frequencies of all pairs, and the
// factors that go with them.
type Ladder struct {
	InvFreq         []float64 // inv_freq: one for each pair, in radians per position
	AttentionFactor float64   // multiplies cos and sin
	SoftmaxScale    float64   // multiplies the attention scores
	Axes            []uint8   // the axis from which each pair takes its position; nil means one axis for all
}

// Rounding says how frequencies, and the angles that posenc makes of them, are rounded.
type Rounding uint8

const (
	// A frequency is the real number, rounded to float64 once; an angle is the real product
	// position*frequency.
	Exact Rounding = iota

	// Every step is rounded to float32, as Hugging Face transformers computes: an angle is
	// RN32(RN32(position)*RN32(frequency)).
	Float32
)

// MaxRotaryDim is the largest dimension, in elements, for which this package makes
// frequencies: one frequency for each pair of elements. (posenc.NewRotary takes less.)
const MaxRotaryDim = 1 << 16

type checker struct {
	argument.Checker
	rounding Rounding
	dim      int
	base     float64
}

func checkerOf(function string, rounding Rounding) checker {
	return checker{Checker: argument.Checker{Function: "frequency." + function}, rounding: rounding}
}

// begin checks what every constructor takes.
func begin(function, dimension string, dim, least int, base float64, rounding Rounding) checker {
	c := checkerOf(function, rounding)
	c.dim, c.base = dim, base
	c.common(dimension, dim, least, base)
	return c
}

func (c *checker) common(dimension string, dim, least int, base float64) {
	c.Require(dim >= least && dim%2 == 0 && dim <= MaxRotaryDim, dimension, dim, "an even number from %d to %d", least, MaxRotaryDim)
	c.Require(base > 1 && base <= math.MaxFloat64, "base", base, "a finite number above 1")
	c.Require(c.rounding <= Float32, "rounding", c.rounding, "Exact or Float32")
	c.newBase("base", base, base)
}

// newBase checks what a rule made of the base because of a parameter.
func (c *checker) newBase(parameter string, value any, base float64) {
	c.Require(c.rounding != Float32 || float32(base) > 1 && float32(base) <= math.MaxFloat32, parameter, value, "a number that leaves the base finite and above 1 as a float32")
}

// positive checks a number that frequencies are multiplied or divided by.
func (c *checker) positive(parameter string, x float64) {
	c.Require(x > 0 && x <= math.MaxFloat64, parameter, x, "a finite number above 0")
	c.Require(c.rounding != Float32 || float32(x) > 0 && float32(x) <= math.MaxFloat32, parameter, x, "a finite float32 above 0")
}

// optional checks a number whose zero value means a default.
func (c *checker) optional(parameter string, x float64) {
	c.Require(x >= 0 && x <= math.MaxFloat64, parameter, x, "0 or a finite number above 0")
}

func (c *checker) factors(parameter string, factors []float64, rotaryDim int) {
	c.Require(len(factors) == rotaryDim/2, "len("+parameter+")", len(factors), "rotaryDim/2 = %d", rotaryDim/2)
	for i := 0; i < len(factors) && c.Err == nil; i++ {
		c.positive(fmt.Sprintf("%s[%d]", parameter, i), factors[i])
	}
}

// ladder checks the numbers that follow from parameters within their ranges.
func (c *checker) ladder(l Ladder) (Ladder, error) {
	for i, frequency := range l.InvFreq {
		c.Require(frequency >= 0 && frequency <= math.MaxFloat64, fmt.Sprintf("InvFreq[%d]", i), frequency, "parameters that give a finite number")
	}
	c.Require(l.AttentionFactor > 0 && l.AttentionFactor <= math.MaxFloat64, "AttentionFactor", l.AttentionFactor, "parameters that give a finite number above 0")
	c.Require(l.SoftmaxScale > 0 && l.SoftmaxScale <= math.MaxFloat64, "SoftmaxScale", l.SoftmaxScale, "parameters that give a finite number above 0")
	if c.Err != nil {
		return Ladder{}, c.Err
	}
	return l, nil
}

// divided returns frequencies, unless there was an error. The first pairs have the frequencies
// of Default, each divided by its divisor. The others have 0.
func (c *checker) divided(pairs int, divisor func(i int) float64) (Ladder, error) {
	if c.Err != nil {
		return Ladder{}, c.Err
	}
	return c.filled(unscaled(c.dim/2), pairs,
		func(i int, inverse *big.Float) *big.Float { return quotient(inverse, real(divisor(i))) },
		func(i int, power float32) float32 { return 1 / power / float32(divisor(i)) })
}

// filled makes the first pairs of a ladder: exact of base^(-2i/dim), or with Float32 rounded of
// RN32(RN32(base)^RN32(2i/dim)).
func (c *checker) filled(l Ladder, pairs int, exact func(i int, inverse *big.Float) *big.Float, rounded func(i int, power float32) float32) (Ladder, error) {
	if c.rounding == Float32 {
		for i, power := range powers32(c.base, c.dim, pairs) {
			l.InvFreq[i] = float64(rounded(i, power))
		}
		return c.ladder(l)
	}
	step := quotient(product(real(-2), elementary.Log(real(c.base))), whole(c.dim))
	for i, inverse := range geometric(newReal(), step, pairs) {
		l.InvFreq[i] = nearest(exact(i, inverse))
	}
	return c.ladder(l)
}

// unscaled returns a ladder of n frequencies that scales nothing else.
func unscaled(n int) Ladder {
	return Ladder{InvFreq: make([]float64, n), AttentionFactor: 1, SoftmaxScale: 1}
}
