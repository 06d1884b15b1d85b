package cossin

import (
	"math"
	"slices"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// Frequencies is the inverse frequencies of a rotary embedding, and how they make
// the angles of a token.
type Frequencies struct {
	Axes int // axes of positions that the pairs take

	pairs  int
	ladder Ladder              // of all pairs
	axes   []uint8             // of each pair, where there are several
	blocks []kernels.AxesBlock // of all pairs and their axes, for exact angles
	decay  *Decay
}

// NewFrequencies returns frequencies below 2^50 in magnitude for exact angles or for
// float32 ones. axes is nil or has the axis of each pair; decay is nil or the decay of
// each pair, for one axis.
func NewFrequencies(invFreq []float64, float32Angles bool, axes []uint8, decay *Decay) Frequencies {
	f := Frequencies{Axes: axisCount(axes), pairs: len(invFreq), ladder: NewLadder(invFreq, float32Angles)}
	if f.Axes > 1 {
		f.axes = slices.Clone(axes)
		if !float32Angles {
			f.blocks = axesBlocks(invFreq, axes)
		}
	} else {
		f.decay = decay
	}
	return f
}

// Decays reports whether entries depend on the distance from a center.
func (f *Frequencies) Decays() bool { return f.decay != nil }

// Write writes the rows of tokens. Cosines and sines are multiplied by scaleCos and scaleSin.
func (f *Frequencies) Write(to *Table, p *Positions, scaleCos, scaleSin float32) {
	to.Begin(2 * len(to.Cos))
	if p.Axes > 1 {
		f.writeAxes(to, p, scaleCos, scaleSin)
	} else {
		f.ladder.Write(to, 0, f.pairs, p.Axis(0), scaleCos, scaleSin)
	}
	if f.decay != nil {
		f.decay.apply(to, f.pairs, p.Axis(0))
	}
	to.End()
}

// WriteRow is Write for one token and for at most kernels.TokenPairs pairs. position is one number,
// the same on every axis, or one for each axis.
func (f *Frequencies) WriteRow(cos, sin []float32, position []int32, scaleCos, scaleSin float32) {
	switch {
	case len(position) > 1 || f.decay != nil:
		one := Positions{Call: position, Axes: len(position), Tokens: 1, N: 1}
		f.Write(&Table{Cos: cos, Sin: sin, Stride: len(cos)}, &one, scaleCos, scaleSin)
	case f.ladder.Blocks == nil:
		writeFloat32Row(cos, sin, f.ladder.invFreq32, float32(position[0]), scaleCos, scaleSin)
	default:
		kernels.CosSinExactRow(dispatch.Implementation(), cos, sin, float64(position[0]), &f.ladder.Blocks[0], scaleCos, scaleSin)
	}
}

// WriteOnce is Write; for tokens that all have the same positions it writes one
// row and sets the stride to 0.
func (f *Frequencies) WriteOnce(to *Table, p *Positions, scaleCos, scaleSin float32) {
	if p.N == 1 && p.Axes == 1 && f.decay == nil && f.pairs <= kernels.TokenPairs {
		f.WriteRow(to.Cos[:f.pairs], to.Sin[:f.pairs], p.Call[p.First:p.First+1], scaleCos, scaleSin)
		return
	}
	if p.repeated() {
		f.Write(to, &Positions{p.Call, p.Axes, p.Tokens, p.First, 1}, scaleCos, scaleSin)
		to.Stride = 0
		return
	}
	f.Write(to, p, scaleCos, scaleSin)
}

// WriteFractional writes the rows of n tokens from number first on, of a call with more tokens,
// for positions that need not be integers: [tokens], or [axes][tokens] of several axes. Frequencies
// that decay have none.
func (f *Frequencies) WriteFractional(to *Table, positions []float32, tokens, first, n int, scaleCos, scaleSin float32) {
	if len(positions) > tokens {
		f.writeFractionalAxes(to, positions, tokens, first, n, scaleCos, scaleSin)
		return
	}
	f.ladder.WriteFractional(to, 0, f.pairs, positions[first:first+n], scaleCos, scaleSin)
}

// Decay is the factors of xPos on the entries of pair i at position p:
// 2^(Direction*(p-Center)*(High[i]+Low[i])).
type Decay struct {
	High, Low []float64
	Center    int32
	Direction float64
}

// apply multiplies the rows of positions.
func (d *Decay) apply(to *Table, pairs int, positions []int32) {
	for t, p := range positions {
		row := to.From(t)
		distance := d.Direction * (float64(p) - float64(d.Center))
		for i := range pairs {
			high, low := d.High[i], d.Low[i]
			exponent := distance * high
			factor := generic.Exp2(exponent, math.FMA(distance, high, -exponent)+float64(distance*low))
			row.Cos[i] *= factor
			row.Sin[i] *= factor
		}
	}
}
