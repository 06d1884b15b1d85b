package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sinusoidal is a loop over rows of sines and cosines that are made by the linear
// shift and written where they belong, or added.
type sinusoidal struct {
	linearShift
	to             []reg.GPVirtual // of sines and cosines alternately, or of cosines and of sines
	n              reg.GPVirtual   // pairs of a row
	scaling, scale reg.VecVirtual
	add            bool
	order          reg.VecVirtual // AVX-512: a permutation of two vectors
}

func sinusoidalRows(e *emitter, interleaved, add bool) {
	s := &sinusoidal{add: add}
	s.e, s.exit = e, e.label("exit")
	if interleaved {
		s.to = append(s.to, e.argument("x"))
	} else {
		s.to = append(s.to, e.argument("cos"), e.argument("sin"))
	}
	stride, rows := e.stride("stride"), e.argument("rows")
	seed, shift := e.argument("seed"), e.argument("shift")
	s.seed, s.shift, s.n, s.i = e.GP64(), e.GP64(), e.argument("n"), e.GP64()
	s.scaling = e.broadcast32("scaling", e.vector())
	if add {
		s.scale = e.broadcast32("scale", e.vector())
	}
	if interleaved && e.avx512 {
		s.order = e.permutation("low", 4)
	}
	s.ziv = e.newZiv(true)
	done := e.GP64()
	e.XORQ(done, done)
	e.XORQ(s.i, s.i)
	row, main, rest, next := e.label("row"), e.label("main"), e.label("rest"), e.label("next")
	e.jumpIfZero(rows, s.exit)
	e.Label(row)
	e.XORQ(s.i, s.i)
	e.MOVQ(seed, s.seed)
	e.MOVQ(shift, s.shift)
	end := e.GP64()
	e.LEAQ(operand.Mem{Base: s.n, Disp: -e.lanes()}, end)
	e.TESTQ(end, end)
	e.JL(operand.LabelRef(rest))
	e.Label(main)
	list := s.ordered(s.entries())
	for j, v := range list {
		to := s.at(j)
		if len(s.to) > 1 || 4*e.lanes()*j%64 == 0 { // every line, for rows in memory
			e.prefetch(to.Offset(ahead))
		}
		if add {
			x := e.vector()
			e.VMULPS(to, s.scale, x)
			e.VADDPS(x, v, v)
		}
		e.VMOVUPS(v, to)
	}
	e.ADDQ(operand.Imm(uint64(e.lanes())), s.i)
	same := e.label("same")
	e.TESTQ(operand.U32(63), s.i)
	e.JNZ(operand.LabelRef(same))
	e.Comment("the next 64 pairs, for addresses that i has moved on already")
	e.ADDQ(operand.U32(2*plane), s.seed)
	e.ADDQ(operand.U32(blockShift-plane), s.shift)
	e.Label(same)
	e.CMPQ(s.i, end)
	e.JLE(operand.LabelRef(main))
	e.Label(rest)
	e.CMPQ(s.i, s.n)
	e.JGE(operand.LabelRef(next))
	s.tail()
	e.Label(next)
	for _, to := range s.to {
		e.ADDQ(stride, to)
	}
	e.ADDQ(operand.U32(2*plane), shift)
	e.ADDQ(s.n, done)
	e.DECQ(rows)
	e.JNZ(operand.LabelRef(row))
	e.XORQ(s.i, s.i)
	e.Label(s.exit)
	e.ADDQ(s.i, done)
	e.VZEROUPPER()
	e.Store(done, e.Return("done"))
	e.RET()
	s.ziv.finish()
}

// at returns the address of vector j of the next pairs.
func (s *sinusoidal) at(j int) operand.Mem {
	if len(s.to) == 1 {
		return operand.Mem{Base: s.to[0], Index: s.i, Scale: 8, Disp: 4 * s.e.lanes() * j}
	}
	return operand.Mem{Base: s.to[j], Index: s.i, Scale: 4}
}

// ordered rounds entries to float32, scales them and puts them into the order of
// memory.
func (s *sinusoidal) ordered(cos, sin []reg.VecVirtual) (list []reg.VecVirtual) {
	s.e.Comment("3. rounding and order")
	if len(s.to) == 1 {
		for j := range cos {
			list = append(list, s.alternating(s.e.round32(sin[j]), s.e.round32(cos[j])))
		}
	} else {
		list = append(list, s.e.joined(s.e.round32(cos[0]), s.e.round32(cos[1])), s.e.joined(s.e.round32(sin[0]), s.e.round32(sin[1])))
	}
	for _, v := range list {
		s.e.VMULPS(s.scaling, v, v)
	}
	return list
}

// alternating returns the elements of two half vectors alternately.
func (s *sinusoidal) alternating(first, second reg.VecVirtual) reg.VecVirtual {
	if s.e.avx512 {
		v := s.e.vector()
		s.e.VMOVAPS(first.AsZ(), v)
		s.e.VPERMT2PS(second.AsZ(), s.order, v)
		return v
	}
	low, high := s.e.half(), s.e.half()
	s.e.VUNPCKLPS(second, first, low)
	s.e.VUNPCKHPS(second, first, high)
	return s.e.joined(low, high)
}

// tail writes the last pairs of a row, fewer than an iteration has: by way of memory on the
// stack, number by number.
func (s *sinusoidal) tail() {
	memory := s.e.AllocLocal(2 * 4 * s.e.lanes())
	list := s.ordered(s.entries())
	for j, v := range list {
		s.e.VMOVUPS(v, memory.Offset(4*s.e.lanes()*j))
	}
	left, at := s.e.GP64(), s.e.GP64()
	for j, to := range s.to {
		s.e.MOVQ(s.n, left)
		s.e.SUBQ(s.i, left)
		if len(s.to) == 1 {
			s.e.SHLQ(operand.Imm(1), left)
			s.e.LEAQ(operand.Mem{Base: to, Index: s.i, Scale: 8}, at)
		} else {
			s.e.LEAQ(operand.Mem{Base: to, Index: s.i, Scale: 4}, at)
		}
		from := s.e.GP64()
		s.e.LEAQ(memory.Offset(4*s.e.lanes()*j), from)
		loop := s.e.label("number")
		s.e.Label(loop)
		v := s.e.XMM()
		s.e.VMOVSS(operand.Mem{Base: from}, v)
		if s.add {
			x := s.e.XMM()
			s.e.VMOVSS(operand.Mem{Base: at}, x)
			s.e.VMULSS(s.scale.AsX(), x, x)
			s.e.VADDSS(x, v, v)
		}
		s.e.VMOVSS(v, operand.Mem{Base: at})
		s.e.ADDQ(operand.Imm(4), from)
		s.e.ADDQ(operand.Imm(4), at)
		s.e.DECQ(left)
		s.e.JNZ(operand.LabelRef(loop))
	}
}
