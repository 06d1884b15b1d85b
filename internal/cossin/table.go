// Package cossin writes rows of cosines and sines of the angles
// position*invFreq[i] of tokens, in all the ways in which a model forms its angles.
package cossin

import (
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// Table is where rows of cosines and sines are: row t is Cos[t*Stride:] and
// Sin[t*Stride:], an entry for each pair.
type Table struct {
	Cos, Sin    []float32
	Stride      int
	nonTemporal bool // rows are written by non-temporal stores, where they are aligned for it
}

// From returns the rows from number t on.
func (to *Table) From(t int) Table {
	return Table{to.Cos[t*to.Stride:], to.Sin[t*to.Stride:], to.Stride, to.nonTemporal}
}

// Begin says how many entries a call writes, cosines and sines together: whether they are
// more than a cache holds. End has to follow once all are written.
func (to *Table) Begin(entries int) {
	to.nonTemporal = dispatch.Implementation().NonTemporalTable(entries)
}

// End lets others read what the call has written.
func (to *Table) End() {
	if to.nonTemporal {
		kernels.FenceStores(dispatch.Implementation())
	}
}

// Positions are the positions of consecutive tokens of a call.
type Positions struct {
	Call     []int32 // of the whole call, [Axes][Tokens]
	Axes     int     // 1: each token has one position, the same on every axis of the frequencies
	Tokens   int     // of the whole call
	First, N int     // the tokens that are meant
}

// Axis returns the positions on one axis of Call.
func (p *Positions) Axis(axis int) []int32 {
	return p.Call[axis*p.Tokens+p.First:][:p.N]
}

// sameOnAxes reports whether the first tokens have one position on all axes, as text has in
// a model of images, and how many tokens are of that kind. A single token that is like text,
// as on the diagonal of an image, counts with the tokens around it.
func (p *Positions) sameOnAxes() (n int, onAll bool) {
	same := func(t int) bool {
		for a := 1; a < p.Axes; a++ {
			if p.Call[a*p.Tokens+p.First+t] != p.Call[p.First+t] {
				return false
			}
		}
		return true
	}
	before := same(0)
	onAll = before && p.N == 1
	for n = 1; n < p.N; n++ {
		now := same(n)
		switch {
		case n == 1 && before && now:
			onAll = true
		case onAll && !now:
			return n, true
		case !onAll && before && now:
			return n - 1, false
		}
		before = now
	}
	return p.N, onAll
}

// repeated reports whether all tokens have the same positions.
func (p *Positions) repeated() bool {
	for a := range p.Axes {
		positions := p.Axis(a)
		for _, position := range positions {
			if position != positions[0] {
				return false
			}
		}
	}
	return true
}
