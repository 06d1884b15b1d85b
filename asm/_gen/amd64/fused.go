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
	factors                []operand.Op
}

// rmsNormRotate normalizes rows and rotates a slice of each by the same angles.
// What is rounded between the two stays in registers.
func rmsNormRotate(e *emitter, t element, rotate func(f *fusion)) {
	e.normalize(t, func(l *lines, n, weight reg.GPVirtual, factors []operand.Op) {
		f := &fusion{emitter: e, lines: l, weight: weight, factors: factors, left: e.argument("first")}
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

// normalized returns a part of row i, rounded to the type of x.
func (f *fusion) normalized(i int, p part, m masks, from operand.Mem, weights []reg.VecVirtual) []reg.VecVirtual {
	list := f.multiplied(f.t, p, m, from, f.factors[i], weights)
	f.roundPart(f.t, list)
	return list
}

// advance moves the addresses behind a block of pairs, of which each has elements
// at the addresses of the rows and of the weights.
func (f *fusion) advance(pairs, elements int) {
	for _, table := range []reg.GPVirtual{f.cos, f.sin} {
		f.ADDQ(operand.U32(uint32(4*pairs)), table)
	}
	f.ADDQ(operand.U32(uint32(4*pairs*elements)), f.weight)
	f.ADDQ(operand.U32(uint32(f.t.bytes()*pairs*elements)), f.at)
}

func (f *fusion) rotateHalfSplit() {
	partner := f.argument("pairs")
	second := *f.lines
	second.at = f.GP64()
	f.LEAQ(operand.Mem{Base: f.at, Index: partner, Scale: uint8(f.t.bytes())}, second.at)
	f.numberParts(f.t, f.left, func(p part, m masks) {
		table := func(from operand.Mem) []reg.VecVirtual { return f.loadPart(float32s, f.t, p, m, from) }
		c, s := table(operand.Mem{Base: f.cos}), table(operand.Mem{Base: f.sin})
		w1, w2 := table(operand.Mem{Base: f.weight}), table(operand.Mem{Base: f.weight, Index: partner, Scale: 4})
		for i := range f.factors {
			x1 := f.normalized(i, p, m, f.row(i, 0), w1)
			x2 := f.normalized(i, p, m, second.row(i, 0), w2)
			for j := range x1 {
				f.rotatePairs(x1[j], x2[j], c[j], s[j])
			}
			f.savePart(f.t, p, m, x1, f.row(i, 0))
			f.savePart(f.t, p, m, x2, second.row(i, 0))
		}
		f.ADDQ(operand.U32(uint32(f.t.bytes()*p.size)), second.at)
		f.advance(p.size, 1)
	})
	f.MOVQ(second.at, f.at)
	f.LEAQ(operand.Mem{Base: f.weight, Index: partner, Scale: 4}, f.weight)
}

func (f *fusion) rotateInterleaved() {
	switch {
	case f.t == bfloat16s:
		f.rotateInterleavedByTurns()
	case f.avx512:
		f.rotateInterleavedAVX512()
	default:
		f.rotateInterleavedAVX2()
	}
}

func (f *fusion) rotateInterleavedByTurns() {
	f.eachPairs(whole(8, 4, 1), func(p, row part, pairs, elements masks) {
		c, s := f.load(float32s, p, pairs.low, operand.Mem{Base: f.cos}), f.load(float32s, p, pairs.low, operand.Mem{Base: f.sin})
		weights := f.loadPart(float32s, f.t, row, elements, operand.Mem{Base: f.weight})
		for i := range f.factors {
			list := f.normalized(i, row, elements, f.row(i, 0), weights)
			f.rotatePairs(list[0], list[1], c, s)
			f.savePart(f.t, row, elements, list, f.row(i, 0))
		}
	})
}

func (f *fusion) rotateInterleavedAVX2() {
	f.eachPairs(whole(4, 2, 1), func(_, row part, _, elements masks) {
		c, s := f.double(row, operand.Mem{Base: f.cos}), f.double(row, operand.Mem{Base: f.sin})
		weights := f.loadPart(float32s, f.t, row, elements, operand.Mem{Base: f.weight})
		for i := range f.factors {
			list := f.normalized(i, row, elements, f.row(i, 0), weights)
			f.rotateNeighbours(list[0], c, s)
			f.savePart(f.t, row, elements, list, f.row(i, 0))
		}
	})
}

func (f *fusion) rotateInterleavedAVX512() {
	matrix := f.newRotationMatrix()
	f.eachPairs(nil, func(p, _ part, pairs, elements masks) {
		first, second := matrix.columns(
			f.load(float32s, p, pairs.low, operand.Mem{Base: f.cos}),
			f.load(float32s, p, pairs.low, operand.Mem{Base: f.sin}))
		for j := range first {
			m := masks{low: []reg.OpmaskVirtual{elements.low, elements.high}[j]}
			weights := f.loadPart(float32s, f.t, p, m, operand.Mem{Base: f.weight, Disp: 64 * j})
			for i := range f.factors {
				at := f.row(i, 16*f.t.bytes()*j)
				even := f.normalized(i, p, m, at, weights)
				odd := f.ZMM()
				f.VMOVSHDUP(even[0], odd)
				f.VMOVSLDUP(even[0], even[0])
				f.sumOfProducts(even[0], odd, first[j], second[j])
				f.savePart(f.t, p, m, even, at)
			}
		}
	})
}

// eachPairs runs body for parts of the pairs and the elements of them, of sizes
// for AVX2.
func (f *fusion) eachPairs(sizes []part, body func(p, row part, pairs, elements masks)) {
	if f.avx512 {
		sizes = []part{{16, false}, {16, true}}
	}
	f.spans(f.left, sizes, func(p part) {
		var pairs, elements masks
		if p.masked {
			pairs, elements = f.masks(f.left, 16), f.masks(f.twice(f.left), 16)
		}
		body(p, part{2 * p.size, p.masked}, pairs, elements)
		f.advance(p.size, 2)
	})
}
