package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// every64 runs body for every 64 float32 of x.
func (e *emitter) every64(body func(x reg.GPVirtual)) {
	x, n := e.argument("x"), e.argument("n")
	loop, done := e.label("loop"), e.label("done")
	e.jumpIfZero(n, done)
	e.Label(loop)
	body(x)
	e.ADDQ(operand.U32(256), x)
	e.SUBQ(operand.Imm(64), n)
	e.JNZ(operand.LabelRef(loop))
	e.Label(done)
}

// inPlace does an instruction to each vector of x with a number, the parameter of that
// name.
func (e *emitter) inPlace(instruction func(...operand.Op), name string, prefetch bool) {
	number := e.broadcast32(name, e.vector())
	e.every64(func(x reg.GPVirtual) {
		for d := 0; d < 256; d += 4 * e.lanes() {
			if prefetch && d%64 == 0 {
				e.prefetch(operand.Mem{Base: x, Disp: d + ahead})
			}
			v := e.vector()
			instruction(operand.Mem{Base: x, Disp: d}, number, v)
			e.VMOVUPS(v, operand.Mem{Base: x, Disp: d})
		}
	})
	e.leave()
}

func store(e *emitter, nonTemporal bool) {
	value := e.broadcast32("value", e.vector())
	e.every64(func(x reg.GPVirtual) {
		for d := 0; d < 256; d += 4 * e.lanes() {
			at := operand.Mem{Base: x, Disp: d}
			if nonTemporal {
				e.VMOVNTPS(value, at)
			} else {
				e.VMOVUPS(value, at)
			}
		}
	})
	if nonTemporal {
		e.fence()
	}
	e.leave()
}

func storeHalves(e *emitter) {
	value := e.broadcast32("value", e.vector())
	x, n, second := e.argument("x"), e.argument("n"), e.GP64()
	loop, done := e.label("loop"), e.label("done")
	e.LEAQ(operand.Mem{Base: x, Index: n, Scale: 2}, second)
	e.jumpIfZero(n, done)
	e.Label(loop)
	for d := 0; d < 256; d += 64 {
		for _, half := range []reg.GPVirtual{x, second} {
			for at := d; at < d+64; at += 4 * e.lanes() {
				e.VMOVNTPS(value, operand.Mem{Base: half, Disp: at})
			}
		}
	}
	e.ADDQ(operand.U32(256), x)
	e.ADDQ(operand.U32(256), second)
	e.SUBQ(operand.U32(128), n)
	e.JNZ(operand.LabelRef(loop))
	e.Label(done)
	e.fence()
	e.leave()
}

func loadStore(e *emitter, prefetch bool) {
	x, n, y, bytes, due := e.argument("x"), e.argument("n"), e.argument("y"), e.argument("bytes"), e.GP64()
	loop, next, done := e.label("loop"), e.label("next"), e.label("done")
	v := e.vector()
	e.XORQ(due, due) // bytes that are to be stored
	e.jumpIfZero(n, done)
	e.Label(loop)
	for d := 0; d < 128; d += 4 * e.lanes() {
		if prefetch && d%line == 0 {
			e.prefetch(operand.Mem{Base: x, Disp: d + ahead})
		}
		e.VMOVUPS(operand.Mem{Base: x, Disp: d}, v)
	}
	e.ADDQ(bytes, due)
	e.CMPQ(due, operand.Imm(line))
	e.JLT(operand.LabelRef(next))
	e.SUBQ(operand.Imm(line), due)
	for d := 0; d < line; d += 4 * e.lanes() {
		e.VMOVNTPS(v, operand.Mem{Base: y, Disp: d})
	}
	e.ADDQ(operand.Imm(line), y)
	e.Label(next)
	e.ADDQ(operand.U32(128), x)
	e.SUBQ(operand.Imm(32), n)
	e.JNZ(operand.LabelRef(loop))
	e.Label(done)
	e.fence()
	e.leave()
}
