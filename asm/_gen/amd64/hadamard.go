package amd64

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// hadamard transforms rows of each length by code of its own. As many numbers as there
// are registers for go through all stages in them. What is longer takes the last stages
// in a further pass.
func hadamard(e *emitter) {
	done := e.label("done")
	x, n, count, stride := e.argument("x"), e.argument("n"), e.argument("count"), e.stride("stride")
	h := &hadamardStages{e: e, factor: e.broadcast32("factor", e.vector()), numbers: 64}
	if e.avx512 {
		h.numbers = 256
	}
	for distance := 1; distance < e.lanes(); distance *= 2 {
		h.alternate = append(h.alternate, e.keep(e.controls(fmt.Sprint("alternate", distance), 4, 16, func(i uint32) uint32 {
			return 0x3f800000 | i/uint32(distance)%2<<31
		})))
	}
	e.TESTQ(count, count)
	e.JZ(operand.LabelRef(done))
	for length := 32; length <= 512; length *= 2 {
		loop, next := e.label("row"), e.label("next")
		e.CMPQ(n, operand.U32(uint32(length)))
		e.JNE(operand.LabelRef(next))
		e.Label(loop)
		h.row(x, length)
		e.ADDQ(stride, x)
		e.DECQ(count)
		e.JNZ(operand.LabelRef(loop))
		e.JMP(operand.LabelRef(done))
		e.Label(next)
	}
	e.Label(done)
	e.VZEROUPPER()
	e.RET()
}

type hadamardStages struct {
	e         *emitter
	factor    reg.VecVirtual
	numbers   int              // that fit into registers
	alternate []reg.VecVirtual // 1 and -1, as many of each as the stage has between two numbers
}

func (h *hadamardStages) row(x reg.GPVirtual, length int) {
	if length <= h.numbers {
		h.save(x, 4*h.e.lanes(), h.across(h.within(x, length)))
		return
	}
	at, left := h.e.GP64(), h.e.GP64()
	parts, vectors := h.e.label("part"), h.e.label("vectors")
	h.e.MOVQ(x, at)
	h.e.MOVQ(operand.U32(uint32(length/h.numbers)), left)
	h.e.Label(parts)
	h.save(at, 4*h.e.lanes(), h.across(h.within(at, h.numbers)))
	h.e.ADDQ(operand.U32(uint32(4*h.numbers)), at)
	h.e.DECQ(left)
	h.e.JNZ(operand.LabelRef(parts))
	h.e.MOVQ(x, at)
	h.e.MOVQ(operand.U32(uint32(h.numbers/h.e.lanes())), left)
	h.e.Label(vectors)
	var list []reg.VecVirtual
	for first := 0; first < length; first += h.numbers {
		list = append(list, h.e.keep(operand.Mem{Base: at, Disp: 4 * first}))
	}
	h.save(at, 4*h.numbers, h.across(list))
	h.e.ADDQ(operand.U32(uint32(4*h.e.lanes())), at)
	h.e.DECQ(left)
	h.e.JNZ(operand.LabelRef(vectors))
}

// within loads numbers, multiplies them by the factor and does the stages within a register:
// each number, times 1 or -1, and the one that it meets are added.
func (h *hadamardStages) within(x reg.GPVirtual, count int) (list []reg.VecVirtual) {
	h.e.prefetchAhead(operand.Mem{Base: x}, 4*count)
	for i := 0; i < count; i += h.e.lanes() {
		from := operand.Mem{Base: x, Disp: 4 * i}
		v, met := h.e.vector(), h.e.vector()
		h.e.VMULPS(from, h.factor, v)
		const neighbours, halves = operand.U8(0xb1), operand.U8(0x4e) // change places
		for stage, alternate := range h.alternate {
			switch {
			case stage == 0:
				h.e.VPERMILPS(neighbours, v, met)
			case stage == 1:
				h.e.VPERMILPS(halves, v, met)
			case !h.e.avx512:
				h.e.VPERM2F128(operand.U8(1), v, v, met)
			case stage == 2:
				h.e.VSHUFF32X4(neighbours, v, v, met)
			default:
				h.e.VSHUFF32X4(halves, v, v, met)
			}
			h.e.VFMADD213PS(met, alternate, v)
		}
		list = append(list, v)
	}
	return list
}

// across does the stages of numbers in different registers.
func (h *hadamardStages) across(list []reg.VecVirtual) []reg.VecVirtual {
	for distance := 1; distance < len(list); distance *= 2 {
		for i := range list {
			if i&distance != 0 {
				continue
			}
			a, b, sum := list[i], list[i+distance], h.e.vector()
			h.e.VADDPS(b, a, sum)
			h.e.VSUBPS(b, a, b)
			list[i] = sum
		}
	}
	return list
}

// save stores registers at a distance in bytes.
func (h *hadamardStages) save(x reg.GPVirtual, apart int, list []reg.VecVirtual) {
	for i, v := range list {
		h.e.VMOVUPS(v, operand.Mem{Base: x, Disp: i * apart})
	}
}
