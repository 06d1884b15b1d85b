package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// addScaled multiplies numbers of x by scale and adds numbers of y.
func addScaled(e *emitter) {
	t := e.to
	to, from, n := e.argument("x"), e.argument("y"), e.argument("n")
	scale := e.broadcast32("scale", e.vector())
	if t == bfloat16s {
		e.loadEvenOddConstants()
	}
	e.numberParts(t, n, func(p part, m masks, at int) {
		x := operand.Mem{Base: to, Disp: t.bytes() * at}
		list, added := e.loadPart(t, t, p, m, x), e.loadPart(float32s, t, p, m, operand.Mem{Base: from, Disp: 4 * at})
		for j, v := range list {
			e.VMULPS(lanesOf(scale, v), v, v)
			e.VADDPS(added[j], v, v)
		}
		e.savePartsUpTo(t, p, n, [][]reg.VecVirtual{list}, []place{{at: x}})
	}, func(block part) {
		e.prefetchAhead(operand.Mem{Base: to}, t.bytes()*block.size)
		e.prefetchAhead(operand.Mem{Base: from}, 4*block.size)
		e.ADDQ(operand.U32(uint32(t.bytes()*block.size)), to)
		e.ADDQ(operand.U32(uint32(4*block.size)), from)
	})
	e.leave()
}
