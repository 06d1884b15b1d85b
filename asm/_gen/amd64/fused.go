package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fusion is where the normalization and rotation of some rows stands.
type fusion struct {
	e *emitter
	*lines
	weight, left, cos, sin reg.GPVirtual // left is elements or pairs
	factors                []factor
}

// rmsNormRotate normalizes rows of float32 and rotates a slice of each by the same
// angles.
func rmsNormRotate(e *emitter, rotate func(f *fusion)) {
	e.normalize(float32s, func(l *lines, n, weight reg.GPVirtual, factors []factor) {
		f := &fusion{e: e, lines: l, weight: weight, factors: factors, left: e.argument("first")}
		e.multiplyLines(l, f.left, weight, factors)
		f.cos, f.sin = e.argument("cos"), e.argument("sin")
		e.Load(e.Param("pairs"), f.left)
		rotate(f)
		e.Load(e.Param("pairs"), f.left)
		e.ADDQ(f.left, f.left)
		e.ADDQ(e.argument("first"), f.left)
		e.NEGQ(f.left)
		e.ADDQ(n, f.left)
		e.multiplyLines(l, f.left, weight, factors)
	})
}

// advance moves the addresses behind a block of pairs, of which each has elements
// at the addresses of the rows and of the weights.
func (f *fusion) advance(block part, elements int) {
	f.e.pass(block, f.left, 4, f.cos)
	f.e.pass(block, f.left, 4, f.sin)
	f.e.pass(block, f.left, 4*elements, f.weight)
	f.e.pass(block, f.left, 4*elements, f.at)
}

func (f *fusion) rotateHalfSplit() {
	partner := f.e.argument("pairs")
	second := *f.lines
	second.at = f.e.GP64()
	f.e.LEAQ(operand.Mem{Base: f.at, Index: partner, Scale: 4}, second.at)
	f.e.numberParts(float32s, f.left, func(p part, m masks, at int) {
		table := func(from operand.Mem) reg.VecVirtual { return f.e.load(float32s, p, m.low, from.Offset(4*at)) }
		c, s := table(operand.Mem{Base: f.cos}), table(operand.Mem{Base: f.sin})
		w1, w2 := table(operand.Mem{Base: f.weight}), table(operand.Mem{Base: f.weight, Index: partner, Scale: 4})
		for i, factor := range f.factors {
			places := []place{{f.row(i, 4*at), factor, []reg.VecVirtual{w1}}, {second.row(i, 4*at), factor, []reg.VecVirtual{w2}}}
			x := f.e.multiplied(float32s, p, m, places)
			f.e.rotatePairs(x[0][0], x[1][0], c, s)
			f.e.savePartsUpTo(float32s, p, f.left, x, places)
		}
	}, func(block part) {
		f.e.pass(block, f.left, 4, second.at)
		f.advance(block, 1)
	})
	f.e.MOVQ(second.at, f.at)
	f.e.LEAQ(operand.Mem{Base: f.weight, Index: partner, Scale: 4}, f.weight)
}

// rotateInterleaved rotates 16 pairs as rotateInterleavedAVX512 does, fewer as on AVX2.
func (f *fusion) rotateInterleaved() {
	sizes := whole(4, 2, 1)
	var d *doubler
	if f.e.avx512 {
		sizes, d = whole(16, 4, 2, 1), f.e.newDoubler()
	}
	f.e.spans(f.left, sizes, func(p part) {
		cos, sin := operand.Mem{Base: f.cos}, operand.Mem{Base: f.sin}
		if p.size == 16 {
			c, s := d.doubled(cos, sin, p.size)
			for j := range c {
				f.eachRow(p, 64*j, func(x reg.VecVirtual) { f.e.rotateNeighbours(x, c[j], s[j]) })
			}
		} else {
			row := part{size: 2 * p.size}
			c, s := f.e.double(row, cos), f.e.double(row, sin)
			f.eachRow(row, 0, func(x reg.VecVirtual) { f.e.rotateNeighbours(x, c, s) })
		}
		f.advance(p, 2)
	})
}

// eachRow runs body for the normalized part of each row, displacement bytes on,
// and stores it.
func (f *fusion) eachRow(p part, displacement int, body func(x reg.VecVirtual)) {
	weights := []reg.VecVirtual{f.e.load(float32s, p, nil, operand.Mem{Base: f.weight, Disp: displacement})}
	for i, factor := range f.factors {
		places := []place{{f.row(i, displacement), factor, weights}}
		x := f.e.multiplied(float32s, p, masks{}, places)
		body(x[0][0])
		f.e.save(float32s, p, x[0][0], places[0].at)
	}
}
