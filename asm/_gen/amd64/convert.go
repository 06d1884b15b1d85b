package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// convert writes numbers of x's type as numbers of y's type.
func convert(e *emitter) {
	y, x := e.to, e.from
	to, from, n := e.argument("y"), e.argument("x"), e.argument("n")
	var minusZero operand.Mem
	if y == bfloat16s {
		e.loadEvenOddConstants()
		minusZero = e.wide32("signBit32", 1<<31)
	}
	e.numberParts(y, n, func(p part, m masks, at int) {
		list := e.loadPart(x, y, p, m, operand.Mem{Base: from, Disp: x.bytes() * at})
		if y == bfloat16s {
			for _, v := range list { // makes NaNs quiet and changes nothing else
				e.VADDPS(minusZero, v, v)
			}
		}
		e.savePartsUpTo(y, p, n, [][]reg.VecVirtual{list}, []place{{at: operand.Mem{Base: to, Disp: y.bytes() * at}}})
	}, func(block part) {
		e.ADDQ(operand.U32(uint32(x.bytes()*block.size)), from)
		e.ADDQ(operand.U32(uint32(y.bytes()*block.size)), to)
	})
	e.leave()
}
