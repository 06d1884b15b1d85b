package posenc

import (
	"slices"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
)

// rotateFullWidth rotates by a table with an entry for each element, token by
// token. Where the two entries of every pair are equal, a row is one of half the
// width.
func rotateFullWidth[T Element](r *Rotary, positions []int32, tokens int, xs []View[T], m *manner) {
	var memory [4][2 * chunkPairs]float32
	dim, pairs := r.rotaryDim, r.rotaryDim/2
	s := span{positions, tokens, 0, 1}
	for ; s.first < tokens; s.first++ {
		full := r.table.rows(rows{memory[0][:], memory[1][:], dim}, 0, dim, &s, m.direction)
		cos, sin := memory[2][:dim], memory[3][:dim]
		copy(cos, full.cos[:dim])
		copy(sin, full.sin[:dim])
		if r.out == Interleaved {
			deinterleave(cos, full.cos)
			deinterleave(sin, full.sin)
		}
		half := slices.Equal(cos[:pairs], cos[pairs:]) && slices.Equal(sin[:pairs], sin[pairs:])
		var x operand
		for i := range xs {
			operandOf(&x, &xs[i], r.headDim)
			at := x.token(s.first)
			if half {
				r.turn(&x, &x, at, at, 1, 0, pairs, rows{cos, sin, pairs}, m)
				continue
			}
			for h := range x.heads {
				r.turnFullWidth(&x, at+h*x.headStride+r.offset, cos, sin, m)
			}
		}
	}
}

// deinterleave copies the even elements of x to the first half of y and the odd
// ones to the second.
func deinterleave(y, x []float32) {
	half := len(y) / 2
	for i := range half {
		y[i], y[half+i] = x[2*i], x[2*i+1]
	}
}

// turnFullWidth rotates the row of x from element at on. The first halves of cos
// and sin are the entries of the first elements of the pairs.
func (r *Rotary) turnFullWidth(x *operand, at int, cos, sin []float32, m *manner) {
	var memory [2][2 * chunkPairs]float32
	wide := operand{data: unsafe.Pointer(&memory[0]), length: r.rotaryDim, kind: kindFloat32}
	convert(&wide, x, 0, at, r.rotaryDim)
	pairs := r.rotaryDim / 2
	y1, y2 := memory[1][:pairs], memory[1][pairs:2*pairs]
	for i := range pairs {
		a, b := memory[0][i], memory[0][i+pairs]
		if m.in == Interleaved {
			a, b = memory[0][2*i], memory[0][2*i+1]
		}
		y1[i], _ = generic.RotatePair(a, b, cos[i], sin[i])
		_, y2[i] = generic.RotatePair(a, b, cos[pairs+i], sin[pairs+i])
	}
	for i := range pairs {
		if m.out == Interleaved {
			memory[0][2*i], memory[0][2*i+1] = y1[i], y2[i]
		} else {
			memory[0][i], memory[0][pairs+i] = y1[i], y2[i]
		}
	}
	convert(x, &wide, at, 0, r.rotaryDim)
}
