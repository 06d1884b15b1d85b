package main

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"sync"

	"github.com/go-posenc/posenc"
)

// curve is the largest error of one kind of angles in each octave of positions.
type curve struct {
	name, title string
	worst       []float64 // of cosines and sines, at positions 2^i and above, below 2^(i+1)
	fill        func(cos, sin []float32, position int32)
}

// accuracyCurves compares some positions of every octave, the first and the last
// among them, with the cosine and sine of position*invFreq, invFreq in float64.
func accuracyCurves(octaves, positions int, p *progress) ([]curve, error) {
	curves := []curve{
		{name: "exact", title: "posenc, Exact"},
		{name: "float32", title: "posenc, Float32"},
		{name: "loop", title: "float32 loop: position * frequency", fill: loopRow},
		{name: "recurrence", title: "float32 loop: angle *= base^(-2/dim)", fill: recurrenceRow},
	}
	for i, angles := range []posenc.AngleRounding{posenc.ExactAngles, posenc.Float32Angles} {
		rotary, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Base: base, AngleRounding: angles})
		if err != nil {
			return nil, err
		}
		curves[i].fill = func(cos, sin []float32, position int32) { rotary.CosSin(cos, sin, []int32{position}) }
	}
	frequencies, random := ladder(), rand.New(rand.NewPCG(5, 6))
	cos, sin := make([]float32, pairs), make([]float32, pairs)
	for octave := range octaves {
		first := int32(1) << octave
		for c := range curves {
			curves[c].worst = append(curves[c].worst, 0)
		}
		for i := range positions {
			position := first + random.Int32N(first)
			switch i {
			case 0:
				position = first
			case 1:
				position = first + (first - 1)
			}
			var wantCos, wantSin [pairs]float64
			for pair, w := range frequencies {
				wantCos[pair], wantSin[pair] = productReference(position, w)
			}
			for c := range curves {
				curves[c].fill(cos, sin, position)
				for pair := range pairs {
					e := max(math.Abs(float64(cos[pair])-wantCos[pair]), math.Abs(float64(sin[pair])-wantSin[pair]))
					curves[c].worst[octave] = max(curves[c].worst[octave], e)
				}
			}
		}
		p.step("accuracy", octave+1, octaves)
	}
	return curves, nil
}

// accuracyLines are the curves in the format of benchmarks.
func accuracyLines(curves []curve) []string {
	var lines []string
	for _, c := range curves {
		for octave, e := range c.worst {
			lines = append(lines, fmt.Sprintf("BenchmarkAccuracy/angles=%s/positions=2^%d \t       1\t%g max-error\n", c.name, octave, e))
		}
	}
	return lines
}

// ladder has the frequencies of posenc.RotaryConfig.Base, in float64.
var ladder = sync.OnceValue(func() []float64 {
	// base^(-2i/dim) = (1/base)^(i/64): six square roots, then products.
	step := new(big.Float).SetPrec(precision).SetInt64(base)
	step.Quo(big.NewFloat(1), step)
	for n := 1; n < pairs; n *= 2 {
		step.Sqrt(step)
	}
	power := new(big.Float).SetPrec(precision).SetInt64(1)
	frequencies := make([]float64, pairs)
	for i := range frequencies {
		frequencies[i], _ = power.Float64()
		power.Mul(power, step)
	}
	return frequencies
})

// loopRow is the plain loop: everything is float32 but for the cosine and sine,
// which are good to float32.
func loopRow(cos, sin []float32, position int32) {
	for i := range cos {
		frequency := float32(1 / float32(math.Pow(base, float64(float32(2*i)/headDim))))
		s, c := math.Sincos(float64(float32(position) * frequency))
		cos[i], sin[i] = float32(c), float32(s)
	}
}

// recurrenceRow is the loop of ggml.
func recurrenceRow(cos, sin []float32, position int32) {
	ratio, angle := float32(math.Pow(base, -2./headDim)), float32(position)
	for i := range cos {
		s, c := math.Sincos(float64(angle))
		cos[i], sin[i] = float32(c), float32(s)
		angle *= ratio
	}
}

// The reference: Taylor series in math/big, with some 100 bits more than a
// float32 next to a multiple of pi/2 at the largest position could lose.
const precision = 256

// productReference returns the cosine and sine of position*frequency.
func productReference(position int32, frequency float64) (cos, sin float64) {
	angle := new(big.Float).SetPrec(precision).SetInt64(int64(position))
	return bigReference(angle.Mul(angle, big.NewFloat(frequency)))
}

func angleReference(angle float32) (cos, sin float64) {
	return bigReference(new(big.Float).SetPrec(precision).SetFloat64(float64(angle)))
}

func bigReference(angle *big.Float) (cos, sin float64) {
	number := func() *big.Float { return new(big.Float).SetPrec(precision) }
	turn := twoPi()
	turns, _ := number().Quo(angle, turn).Int(nil)
	rest := number().Sub(angle, number().Mul(turn, number().SetInt(turns)))
	sums := [2]*big.Float{number(), number()}
	term := number().SetInt64(1)
	for n := int64(0); term.Sign() != 0 && term.MantExp(nil) > rest.MantExp(nil)-precision/2; n++ {
		sum := sums[n%2]
		if n%4 < 2 {
			sum.Add(sum, term)
		} else {
			sum.Sub(sum, term)
		}
		term.Mul(term, rest)
		term.Quo(term, number().SetInt64(n+1))
	}
	cos, _ = sums[0].Float64()
	sin, _ = sums[1].Float64()
	return cos, sin
}

// twoPi is Machin's 32 arctan(1/5) - 8 arctan(1/239).
var twoPi = sync.OnceValue(func() *big.Float {
	number := func(v int64) *big.Float { return new(big.Float).SetPrec(precision).SetInt64(v) }
	arctan := func(inverse int64) *big.Float {
		sum, power := number(0), number(1)
		power.Quo(power, number(inverse))
		for n := int64(1); power.MantExp(nil) > -precision; n += 2 {
			part := number(0).Quo(power, number(n))
			if n%4 == 3 {
				part.Neg(part)
			}
			sum.Add(sum, part)
			power.Quo(power, number(inverse*inverse))
		}
		return sum
	}
	return number(0).Sub(number(0).Mul(number(32), arctan(5)), number(0).Mul(number(8), arctan(239)))
})

// larger returns the larger errors: those so far, or those of got.
func larger(absolute, ulps float64, got float32, want float64) (float64, float64) {
	e := math.Abs(float64(got) - want)
	_, exponent := math.Frexp(want)
	ulp := math.Ldexp(1, max(exponent-24, -149))
	return max(absolute, e), max(ulps, e/ulp)
}
