package amd64

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// addRows adds rows of x to rows of y.
func addRows(e *emitter) {
	y, x, n, rows := e.argument("y"), e.argument("x"), e.argument("n"), e.argument("rows")
	yStride, xStride := e.stride("yStride"), e.stride("xStride")
	from := e.GP64()
	e.biasRows(y, n, rows, yStride, func() { e.MOVQ(x, from) }, func(p part, m masks, to operand.Mem, j int) {
		bias := e.load(float32s, p, m.low, operand.Mem{Base: from, Disp: 4 * j})
		v := e.load(float32s, p, m.low, to)
		e.VADDPS(bias, v, v)
		e.save(float32s, p, m.low, v, to)
	}, func(size int) { e.ADDQ(operand.U32(uint32(4*size)), from) }, func() { e.ADDQ(xStride, x) })
}

// addDistance adds a slope times a distance, or times minus its magnitude.
func addDistance(e *emitter, absolute bool) {
	y, n, rows, stride := e.argument("y"), e.argument("n"), e.argument("rows"), e.stride("stride")
	first, step := e.argument("first"), e.argument("step")
	slope := e.broadcast32("slope", e.vector())
	zero := e.vector()
	if absolute {
		e.VXORPS(zero, zero, zero)
	}
	at, start := e.GP64(), e.vector()
	e.biasRows(y, n, rows, stride, func() { e.MOVQ(first, at) }, func(p part, m masks, to operand.Mem, j int) {
		if j == 0 {
			e.VMOVD(at.As32(), start.AsX())
			e.VPBROADCASTD(start.AsX(), start)
		}
		bias := e.vectorOf(p.size)
		e.VPADDD(e.counts(j), lanesOf(start, bias), bias)
		if absolute {
			e.VPABSD(bias, bias)
			e.VPSUBD(bias, lanesOf(zero, bias), bias)
		}
		e.VCVTDQ2PS(bias, bias)
		e.VMULPS(lanesOf(slope, bias), bias, bias)
		v := e.load(float32s, p, m.low, to)
		e.VADDPS(bias, v, v)
		e.save(float32s, p, m.low, v, to)
	}, func(size int) { e.ADDQ(operand.U32(uint32(size)), at) }, func() { e.ADDQ(step, first) })
}

// biasRows runs body over rows of y, vector by vector: j elements on from where
// the block is. Around it, start comes before a row, advance after a block and
// next after a row.
func (e *emitter) biasRows(y, n, rows, stride reg.GPVirtual, start func(), body func(p part, m masks, to operand.Mem, j int), advance func(size int), next func()) {
	done, loop := e.label("done"), e.label("rows")
	to, left := e.GP64(), e.GP64()
	sizes := append(whole(4*e.lanes(), e.lanes()), part{16, true})
	if !e.avx512 {
		sizes = whole(32, 8, 4, 1)
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

// counts returns the address of the 32-bit integers first, first+1, ... of a
// full vector.
func (e *emitter) counts(first int) operand.Mem {
	name := fmt.Sprintf("counts%d", first)
	if m, ok := e.constants[name]; ok {
		return m
	}
	m := e.StaticGlobal(name)
	e.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		e.AddDatum(4*i, operand.U32(uint32(first+i)))
	}
	e.constants[name] = m
	return m
}
