package amd64

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// unrolledBiases is the number of vectors in one turn of the main loop. Stores set
// its pace where there are no more instructions than that around them.
const unrolledBiases = 8

// addRows adds rows of x to rows of y.
func addRows(e *emitter) {
	y, x, n, rows := e.argument("y"), e.argument("x"), e.argument("n"), e.argument("rows")
	yStride, xStride := e.stride("yStride"), e.stride("xStride")
	from := e.GP64()
	e.biasRows(y, n, rows, yStride, func() { e.MOVQ(x, from) }, func(p part, m masks, to operand.Mem, j int) {
		bias := e.load(float32s, p, m.low, operand.Mem{Base: from, Disp: 4 * j})
		e.addTo(p, m, bias, to)
	}, func(size int) { e.ADDQ(operand.U32(uint32(4*size)), from) }, func() { e.ADDQ(xStride, x) })
}

// addConstant adds one number to rows of y.
func addConstant(e *emitter) {
	y, n, rows, stride := e.argument("y"), e.argument("n"), e.argument("rows"), e.stride("stride")
	value := e.broadcast32("value", e.vector())
	nothing := func() {}
	e.biasRows(y, n, rows, stride, nothing, func(p part, m masks, to operand.Mem, _ int) {
		v := e.vectorOf(p.size)
		e.addTo(p, m, lanesOf(value, v), to)
	}, func(int) {}, nothing)
}

// addDistance adds a slope times a distance, or subtracts it times its magnitude.
func addDistance(e *emitter, absolute bool) {
	y, n, rows, stride := e.argument("y"), e.argument("n"), e.argument("rows"), e.stride("stride")
	first, step, slope := e.broadcast32("first", e.vector()), e.broadcast32("step", e.vector()), e.broadcast32("slope", e.vector())
	at, one := e.vector(), e.vector()
	e.VMOVUPS(e.wide32("float1", math.Float32bits(1)), one)
	var magnitude reg.VecVirtual
	if absolute {
		magnitude = e.vector()
		e.VMOVUPS(e.wide32("magnitude32", 1<<31-1), magnitude)
	}
	var counts []reg.VecVirtual // in registers: one more load is what would cost time
	for j := range unrolledBiases {
		v := e.vector()
		e.VMOVUPS(e.counts(j*e.lanes()), v)
		counts = append(counts, v)
	}
	e.biasRows(y, n, rows, stride, func() { e.VMOVAPS(first, at) }, func(p part, m masks, to operand.Mem, j int) {
		bias := e.vectorOf(p.size)
		e.VADDPS(lanesOf(counts[j/e.lanes()], bias), lanesOf(at, bias), bias)
		if absolute {
			e.VANDPS(lanesOf(magnitude, bias), bias, bias)
		}
		e.VMULPS(lanesOf(slope, bias), bias, bias)
		switch {
		case p.masked || p.size == 1:
			v := e.load(float32s, p, m.low, to)
			if absolute {
				e.VSUBPS(bias, v, bias)
			} else {
				e.VADDPS(v, bias, bias)
			}
		case absolute:
			e.VFMSUB231PS(to, lanesOf(one, bias), bias)
		default:
			e.VFMADD231PS(to, lanesOf(one, bias), bias)
		}
		e.save(float32s, p, m.low, bias, to)
	}, func(size int) { e.VADDPS(e.wide32(fmt.Sprint("float", size), math.Float32bits(float32(size))), at, at) }, func() { e.VADDPS(step, first, first) })
}

// addTo adds numbers to those in memory, which whole vectors read on the way.
func (e *emitter) addTo(p part, m masks, v operand.Op, to operand.Mem) {
	sum := e.vectorOf(p.size)
	switch {
	case p.masked:
		e.VMOVUPS_Z(to, m.low, sum)
		e.VADDPS(v, sum, sum)
	case p.size == 1:
		e.VADDSS(to, v, sum)
	default:
		e.VADDPS(to, v, sum)
	}
	e.save(float32s, p, m.low, sum, to)
}

// biasRows runs body over rows of y, vector by vector: j elements on from where
// the block is. Around it, start comes before a row, advance after a block and
// next after a row.
func (e *emitter) biasRows(y, n, rows, stride reg.GPVirtual, start func(), body func(p part, m masks, to operand.Mem, j int), advance func(size int), next func()) {
	done, loop := e.label("done"), e.label("rows")
	to, left := e.GP64(), e.GP64()
	sizes := append(whole(unrolledBiases*e.lanes(), e.lanes()), part{16, true})
	if !e.avx512 {
		sizes = whole(unrolledBiases*8, 16, 4, 1)
	}
	e.TESTQ(rows, rows)
	e.JZ(operand.LabelRef(done))
	e.Label(loop)
	e.MOVQ(y, to)
	e.MOVQ(n, left)
	start()
	e.spans(left, sizes, func(block part) {
		var m masks
		if block.masked {
			m = e.masks(left, 16)
		}
		p := part{min(block.size, e.lanes()), block.masked}
		for j := 0; j < block.size; j += p.size {
			body(p, m, operand.Mem{Base: to, Disp: 4 * j}, j)
		}
		e.ADDQ(operand.U32(uint32(4*block.size)), to)
		advance(block.size)
	})
	e.ADDQ(stride, y)
	next()
	e.DECQ(rows)
	e.JNZ(operand.LabelRef(loop))
	e.Label(done)
	e.VZEROUPPER()
	e.RET()
}

// counts returns the address of the float32 first, first+1, ... of a full vector.
func (e *emitter) counts(first int) operand.Mem {
	return e.controls(fmt.Sprintf("counts%d", first), 4, 16, func(i uint32) uint32 {
		return math.Float32bits(float32(first + int(i)))
	})
}
