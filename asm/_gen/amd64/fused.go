package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fusion is where the normalization and rotation of some rows stands.
type fusion struct {
	*emitter
	*lines
	weight, left, cos, sin reg.GPVirtual // left is elements or pairs
	factors                []factor
}

// rmsNormRotate normalizes rows of float32 and rotates a slice of each by the same
// angles.
func rmsNormRotate(e *emitter, rotate func(f *fusion)) {
	e.normalize(float32s, func(l *lines, n, weight reg.GPVirtual, factors []factor) {
		f := &fusion{emitter: e, lines: l, weight: weight, factors: factors, left: e.argument("first")}
		e.multiplyLines(l, f.left, weight, factors)
		first := e.argument("first")
		f.moveTo(first)
		f.cos, f.sin = e.argument("cos"), e.argument("sin")
		e.Load(e.Param("pairs"), f.left)
		rotate(f)
		e.Load(e.Param("pairs"), f.left)
		e.LEAQ(operand.Mem{Base: e.argument("first"), Index: f.left, Scale: 2}, first)
		f.moveTo(first)
		e.MOVQ(n, f.left)
		e.SUBQ(first, f.left)
		e.multiplyLines(l, f.left, weight, factors)
	})
}

// moveTo sets the addresses to those of an element of the rows.
func (f *fusion) moveTo(element reg.GPVirtual) {
	f.LEAQ(operand.Mem{Base: f.start, Index: element, Scale: 4}, f.at)
	f.LEAQ(operand.Mem{Base: f.argument("weight"), Index: element, Scale: 4}, f.weight)
}

// advance moves the addresses behind a block of pairs, of which each has elements
// at the addresses of the rows and of the weights.
func (f *fusion) advance(pairs, elements int) {
	for _, table := range []reg.GPVirtual{f.cos, f.sin} {
		f.ADDQ(operand.U32(uint32(4*pairs)), table)
	}
	f.ADDQ(operand.U32(uint32(4*pairs*elements)), f.weight)
	f.ADDQ(operand.U32(uint32(4*pairs*elements)), f.at)
}

func (f *fusion) rotateHalfSplit() {
	partner := f.argument("pairs")
	second := *f.lines
	second.at = f.GP64()
	f.LEAQ(operand.Mem{Base: f.at, Index: partner, Scale: 4}, second.at)
	f.numberParts(float32s, f.left, func(p part, m masks, at int) {
		table := func(from operand.Mem) reg.VecVirtual { return f.load(float32s, p, m.low, from.Offset(4*at)) }
		c, s := table(operand.Mem{Base: f.cos}), table(operand.Mem{Base: f.sin})
		w1, w2 := table(operand.Mem{Base: f.weight}), table(operand.Mem{Base: f.weight, Index: partner, Scale: 4})
		for i, factor := range f.factors {
			places := []place{{f.row(i, 4*at), factor, []reg.VecVirtual{w1}}, {second.row(i, 4*at), factor, []reg.VecVirtual{w2}}}
			x := f.multiplied(float32s, p, m, places)
			f.rotatePairs(x[0][0], x[1][0], c, s)
			f.saveParts(float32s, p, m, x, places)
		}
	}, func(size int) {
		f.ADDQ(operand.U32(uint32(4*size)), second.at)
		f.advance(size, 1)
	})
}

func (f *fusion) rotateInterleaved() {
	if f.avx512 {
		f.rotateInterleavedAVX512()
	} else {
		f.rotateInterleavedAVX2()
	}
}

func (f *fusion) rotateInterleavedAVX2() {
	f.spans(f.left, whole(4, 2, 1), func(p part) {
		row := part{size: 2 * p.size}
		c, s := f.double(row, operand.Mem{Base: f.cos}), f.double(row, operand.Mem{Base: f.sin})
		f.eachRow(row, masks{}, 0, func(x reg.VecVirtual) { f.rotateNeighbours(x, c, s) })
		f.advance(p.size, 2)
	})
}

func (f *fusion) rotateInterleavedAVX512() {
	matrix := f.newRotationMatrix()
	f.spans(f.left, []part{{16, false}, {16, true}}, func(p part) {
		var pairs, elements masks
		if p.masked {
			pairs, elements = f.masks(f.left, 16), f.masks(f.twice(f.left), 16)
		}
		first, second := matrix.columns(
			f.load(float32s, p, pairs.low, operand.Mem{Base: f.cos}),
			f.load(float32s, p, pairs.low, operand.Mem{Base: f.sin}))
		for j, m := range []masks{{low: elements.low}, {low: elements.high}} {
			f.eachRow(p, m, 64*j, func(x reg.VecVirtual) {
				odd := f.ZMM()
				f.VMOVSHDUP(x, odd)
				f.VMOVSLDUP(x, x)
				f.sumOfProducts(x, odd, first[j], second[j])
			})
		}
		f.advance(p.size, 2)
	})
}

// eachRow runs body for the normalized part of each row, displacement bytes on,
// and stores it.
func (f *fusion) eachRow(p part, m masks, displacement int, body func(x reg.VecVirtual)) {
	weights := []reg.VecVirtual{f.load(float32s, p, m.low, operand.Mem{Base: f.weight, Disp: displacement})}
	for i, factor := range f.factors {
		places := []place{{f.row(i, displacement), factor, weights}}
		x := f.multiplied(float32s, p, m, places)
		body(x[0][0])
		f.saveParts(float32s, p, m, x, places)
	}
}
