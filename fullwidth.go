package posenc

import (
	"math"

	"github.com/go-posenc/posenc/generic"
)

// rotateFullWidth rotates by a table with an entry for each element, token by
// token. Where the two entries of every pair have the same bits, a row is one
// of half the width.
func rotateFullWidth[T Element](r *Rotary, positions []int32, tokens int, xs []View[T], m *manner) {
	var memory [4][2 * chunkPairs]float32
	dim, pairs := r.rotaryDim, r.rotaryDim/2
	s := span{positions, tokens, 0, 1}
	for ; s.first < tokens; s.first++ {
		full := rows{memory[0][:], memory[1][:], dim}
		r.table.rows(&full, 0, dim, &s, m.direction)
		cos, sin := memory[2][:dim], memory[3][:dim]
		reorderFloat32s(cos, full.cos[:dim], r.out, HalfSplit)
		reorderFloat32s(sin, full.sin[:dim], r.out, HalfSplit)
		half := equalBits(cos[:pairs], cos[pairs:]) && equalBits(sin[:pairs], sin[pairs:])
		for i := range xs {
			x := operandOf(&xs[i], r.headDim)
			at := x.token(s.first)
			if half {
				r.turn(&x, &x, at, at, 1, 0, pairs, &rows{cos, sin, pairs}, 0, m)
				continue
			}
			for h := range x.heads {
				r.turnFullWidth(&x, at+h*x.headStride+r.offset, cos, sin, m)
			}
		}
	}
}

// equalBits reports whether a and b, of the same length, have the same bits: to
// a sum of zeros the sign of a zero matters.
func equalBits(a, b []float32) bool {
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return true
}

// turnFullWidth rotates the row of x from element at on. The first halves of cos
// and sin are the entries of the first elements of the pairs.
func (r *Rotary) turnFullWidth(x *operand, at int, cos, sin []float32, m *manner) {
	var row, ordered, turned [2 * chunkPairs]float32
	dim, pairs := r.rotaryDim, r.rotaryDim/2
	wide := operandOver(row[:dim])
	convert(&wide, x, 0, at, dim)
	reorderFloat32s(ordered[:dim], row[:dim], m.in, HalfSplit)
	generic.RotateFullWidth(turned[:pairs], turned[pairs:dim], ordered[:pairs], ordered[pairs:dim], cos, sin)
	reorderFloat32s(row[:dim], turned[:dim], HalfSplit, m.out)
	convert(x, &wide, at, 0, dim)
}
