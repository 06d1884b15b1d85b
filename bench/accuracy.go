package main

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/bench/peers"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/exhaustive"
)

// curve is the largest error of one kind of angles in each octave of positions.
type curve struct {
	name, title string
	worst       []float64 // of cosines and sines, at positions 2^i and above, below 2^(i+1)
	fill        func(cos, sin []float32, position int32)
}

// accuracyCurves compares some positions of every octave, the first and the last
// among them, with the cosine and sine of position*invFreq, invFreq in float64.
func accuracyCurves(octaves, positions int, p *progress) []curve {
	curves := []curve{
		{name: "exact", title: "posenc, Exact"},
		{name: "float32", title: "posenc, Float32"},
		{name: "loop", title: "float32 loop: position * frequency", fill: loopRow},
		{name: "recurrence", title: "float32 loop: angle *= base^(-2/dim)", fill: peers.RecurrenceRows(base, headDim)},
	}
	for i, angles := range []frequency.Rounding{frequency.Exact, frequency.Float32} {
		rotary := must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, Base: base, Rounding: angles}))
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
	return curves
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
	return must(frequency.Default(headDim, base, frequency.Exact)).InvFreq
})

// loopRow is the plain loop: everything is float32 except the cosine and sine,
// which are good to float32.
func loopRow(cos, sin []float32, position int32) {
	for i := range cos {
		frequency := float32(1 / float32(math.Pow(base, float64(float32(2*i)/headDim))))
		s, c := math.Sincos(float64(float32(position) * frequency))
		cos[i], sin[i] = float32(c), float32(s)
	}
}

// productReference returns the cosine and sine of position*frequency.
func productReference(position int32, frequency float64) (cos, sin float64) {
	product := new(big.Float).SetInt64(int64(position)) // of 64 bits, frequencies have 53
	return bigReference(product.SetPrec(64+53).Mul(product, big.NewFloat(frequency)))
}

func angleReference(angle float32) (cos, sin float64) {
	return bigReference(big.NewFloat(float64(angle)))
}

func bigReference(angle *big.Float) (cos, sin float64) {
	c, s := exhaustive.RealCosSin(angle)
	cos, _ = c.Float64()
	sin, _ = s.Float64()
	return cos, sin
}

// referenceTime is what the references of a report take: those of the curves, and of
// the peers.
func referenceTime(s setting) time.Duration {
	rows := s.octaves * s.positions
	for _, c := range comparisons(s) {
		rows += c.references(4*s.positions) / pairs
	}
	productReference(1, 1) // makes pi
	start := time.Now()
	for _, w := range ladder() {
		productReference(math.MaxInt32, w)
	}
	return time.Duration(rows) * time.Since(start)
}

// larger returns the larger errors: those so far, or those of got.
func larger(absolute, ulps float64, got float32, want float64) (float64, float64) {
	e := math.Abs(float64(got) - want)
	_, exponent := math.Frexp(want)
	ulp := math.Ldexp(1, max(exponent-24, -149))
	return max(absolute, e), max(ulps, e/ulp)
}
