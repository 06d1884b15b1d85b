package cossin

import (
	"math"

	"github.com/go-posenc/posenc/generic"
)

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
