package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// addScaled multiplies numbers of x by scale and adds those of y.
func addScaled(e *emitter) {
	t := e.to
	to, from, n := e.argument("x"), e.argument("y"), e.argument("n")
	scale := e.broadcast32("scale", e.vector())
	width := e.lanes()
	if t == bfloat16s {
		width *= 2
		e.loadTurns()
	}
	sizes := whole(4*width, width)
	if e.avx512 {
		sizes = append(sizes, part{width, true})
	} else {
		sizes = append(sizes, whole(4, 1)...)
	}
	multiplyAdd := func(x, y reg.VecVirtual) {
		e.VMULPS(as(scale, x), x, x)
		e.VADDPS(y, x, x)
	}
	e.spans(n, sizes, func(block part) {
		var m masks
		if block.masked {
			m = e.masks(n, 16)
		}
		p := part{min(block.size, width), block.masked}
		for j := 0; j < block.size; j += p.size {
			x, y := operand.Mem{Base: to, Disp: t.bytes() * j}, operand.Mem{Base: from, Disp: 4 * j}
			if t == bfloat16s && p.size > 1 {
				even, odd := e.loadByTurns(t, p, m, x)
				yEven, yOdd := e.loadByTurns(float32s, p, m, y)
				multiplyAdd(even, yEven)
				multiplyAdd(odd, yOdd)
				e.saveWordsUpTo(p, n, e.roundByTurns([]reg.VecVirtual{even}, []reg.VecVirtual{odd}, true)[0], x)
				continue
			}
			v := e.load(t, p, m.low, x)
			multiplyAdd(v, e.load(float32s, p, m.low, y))
			e.saveUpTo(t, p, n, v, x)
		}
		e.ADDQ(operand.U32(uint32(t.bytes()*block.size)), to)
		e.ADDQ(operand.U32(uint32(4*block.size)), from)
	})
	e.VZEROUPPER()
	e.RET()
}

// as returns the lower part of v that is as wide as other.
func as(v, other reg.VecVirtual) reg.Register {
	switch other.Size() {
	case 16:
		return v.AsX()
	case 32:
		return v.AsY()
	default:
		return v.AsZ()
	}
}
