package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func swapMXCSR(e *emitter) {
	control, before := e.argument("control"), e.GP64()
	memory := e.AllocLocal(8)
	e.VSTMXCSR(memory)
	e.MOVL(memory, before.As32())
	e.MOVL(control.As32(), memory)
	e.VLDMXCSR(memory)
	e.Store(before, e.Return("before"))
	e.RET()
}

// halves is the registers that have an upper half without AVX-512.
var halves = []reg.VecPhysical{reg.X0, reg.X1, reg.X2, reg.X3, reg.X4, reg.X5, reg.X6, reg.X7, reg.X8, reg.X9, reg.X10, reg.X11, reg.X12, reg.X13, reg.X14, reg.X15}

// upperHalves counts the registers whose upper half is not 0.
func upperHalves(e *emitter) {
	count, one := e.GP64(), e.GP64()
	e.XORQ(count, count)
	for _, x := range halves {
		e.VEXTRACTF128(operand.Imm(1), x.AsY(), x)
		e.XORQ(one, one)
		e.VPTEST(x, x)
		e.SETNE(one.As8())
		e.ADDQ(one, count)
	}
	e.VZEROUPPER()
	e.Store(count, e.Return("registers"))
	e.RET()
}

func useUpperHalves(e *emitter) {
	for _, x := range halves {
		e.VCMPPS(operand.Imm(15), x.AsY(), x.AsY(), x.AsY()) // always true
	}
	e.RET()
}

func clearUpperHalves(e *emitter) {
	e.VZEROUPPER()
	e.RET()
}
