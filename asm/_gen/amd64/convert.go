package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// convert writes numbers of x as those of y.
func convert(e *emitter) {
	y, x := e.to, e.from
	to, from, n := e.argument("y"), e.argument("x"), e.argument("n")
	width := e.lanes()
	var minusZero operand.Mem
	if y == bfloat16s {
		width *= 2
		e.loadTurns()
		minusZero = e.wide32("signBit32", 1<<31)
	}
	sizes := whole(4*width, width)
	if e.avx512 {
		sizes = append(sizes, part{width, true})
	} else {
		sizes = append(sizes, whole(4, 1)...)
	}
	// The sum with -0 makes NaNs quiet and changes nothing else.
	quiet := func(list ...reg.VecVirtual) {
		for _, v := range list {
			e.VADDPS(minusZero, v, v)
		}
	}
	e.spans(n, sizes, func(block part) {
		var m masks
		if block.masked {
			m = e.masks(n, 16)
		}
		p := part{min(block.size, width), block.masked}
		for j := 0; j < block.size; j += p.size {
			read, write := operand.Mem{Base: from, Disp: x.bytes() * j}, operand.Mem{Base: to, Disp: y.bytes() * j}
			if y == bfloat16s && p.size > 1 {
				even, odd := e.loadByTurns(x, p, m, read)
				quiet(even, odd)
				e.saveWords(p, m.low, e.roundByTurns([]reg.VecVirtual{even}, []reg.VecVirtual{odd}, true)[0], write)
				continue
			}
			v := e.load(x, p, m.low, read)
			if y == bfloat16s {
				quiet(v)
			}
			e.save(y, p, m.low, v, write)
		}
		e.ADDQ(operand.U32(uint32(x.bytes()*block.size)), from)
		e.ADDQ(operand.U32(uint32(y.bytes()*block.size)), to)
	})
	e.VZEROUPPER()
	e.RET()
}
