package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func copyNonTemporal(e *emitter) {
	y, x, n := e.argument("y"), e.argument("x"), e.argument("n")
	// 1. Lines in pairs, 2. what is left, 32 bytes at a time.
	for _, vectors := range []int{4, 1} {
		loop, done := e.label("loop"), e.label("done")
		e.Label(loop)
		e.CMPQ(n, operand.Imm(uint64(8*vectors)))
		e.JLT(operand.LabelRef(done))
		loaded := make([]reg.VecVirtual, vectors)
		for i := range loaded {
			loaded[i] = e.YMM()
			e.VMOVUPS(operand.Mem{Base: x, Disp: 32 * i}, loaded[i])
		}
		for i, v := range loaded {
			e.VMOVNTPS(v, operand.Mem{Base: y, Disp: 32 * i})
		}
		e.ADDQ(operand.U32(uint32(32*vectors)), x)
		e.ADDQ(operand.U32(uint32(32*vectors)), y)
		e.SUBQ(operand.Imm(uint64(8*vectors)), n)
		e.JMP(operand.LabelRef(loop))
		e.Label(done)
	}
	e.VZEROUPPER()
	e.RET()
}

func fenceStores(e *emitter) {
	e.fence()
	e.RET()
}
