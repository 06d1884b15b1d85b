package amd64

import (
	"github.com/go-posenc/posenc/asm/_gen/operation"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	plane      = 64 * 8         // bytes from the cosines to the sines to the errors
	blockShift = 32 * 2 * plane // bytes of the shifts of 64 pairs
)

// sinusoidal is a loop over rows of sines and cosines that are made by the linear
// shift and written where they belong, or added.
type sinusoidal struct {
	*emitter
	to                      []reg.GPVirtual // of sines and cosines by turns, or of cosines and of sines
	seed, shift             reg.GPVirtual
	n, i                    reg.GPVirtual // pairs of a row, and the next of them
	scaling, scale          reg.VecVirtual
	add                     bool
	shifts, least, limits   reg.VecVirtual // in registers: loads set the pace
	halfUnit, above, margin operand.Mem
	turns                   reg.VecVirtual // AVX-512: a permutation of two vectors
	exit                    string
	later                   []func() // what is seldom run
}

func sinusoidalRows(e *emitter, interleaved, add bool) {
	s := &sinusoidal{emitter: e, add: add, exit: e.label("exit")}
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
		s.turns = e.permutation("low", 4)
	}
	s.loadTest()
	done := e.GP64()
	e.XORQ(done, done)
	e.XORQ(s.i, s.i)
	row, main, rest, next := e.label("row"), e.label("main"), e.label("rest"), e.label("next")
	e.TESTQ(rows, rows)
	e.JZ(operand.LabelRef(s.exit))
	e.Label(row)
	e.XORQ(s.i, s.i)
	e.MOVQ(seed, s.seed)
	e.MOVQ(shift, s.shift)
	end := e.GP64()
	e.LEAQ(operand.Mem{Base: s.n, Disp: -s.width()}, end)
	e.TESTQ(end, end)
	e.JL(operand.LabelRef(rest))
	e.Label(main)
	list := s.ordered(s.entries())
	for j, v := range list {
		to := s.at(j)
		if j < len(s.to) { // a line a turn, for rows in memory
			e.PREFETCHT0(to.Offset(4096))
		}
		if add {
			x := e.vector()
			e.VMULPS(to, s.scale, x)
			e.VADDPS(x, v, v)
		}
		e.VMOVUPS(v, to)
	}
	e.ADDQ(operand.Imm(uint64(s.width())), s.i)
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
	for _, part := range s.later {
		part()
	}
}

// width returns the pairs of a turn: two vectors of float64, one of float32.
func (s *sinusoidal) width() int { return s.lanes() }

// at returns the address of vector j of the next pairs.
func (s *sinusoidal) at(j int) operand.Mem {
	if len(s.to) == 1 {
		return operand.Mem{Base: s.to[0], Index: s.i, Scale: 8, Disp: 4 * s.lanes() * j}
	}
	return operand.Mem{Base: s.to[j], Index: s.i, Scale: 4}
}

// loadTest sets what entries needs for its tests.
func (s *sinusoidal) loadTest() {
	const exponent = operation.SmallEntry // of the smallest entry that the short test is for
	// The error bound of such an entry in units of its last place, times 8.
	const margin = 1 << (52 - 49 - exponent + 3)
	halves := func(name string, lower, upper uint32) reg.VecVirtual {
		v := s.vector()
		s.VMOVUPS(s.data(name, 8, uint64(upper)<<32|uint64(lower)), v)
		return v
	}
	s.shifts = halves("entryShifts", 3, 1)
	s.least = halves("entryLeast", -(1<<31+margin+1)&(1<<32-1), -((1023+exponent)<<21)&(1<<32-1))
	s.limits = halves("entryLimits", (1<<32-1)-(2*margin+1), 1<<31-1)
	s.halfUnit, s.above, s.margin = s.data("half29", 8, 1<<28), s.data("above29", 8, ^uint64(1<<29-1)), s.wide("margin", operation.Margin)
}

// entries returns the next cosines and sines in vectors of float64, which float32
// are certain to be rounded from: else it leaves for exit.
//
// Ziv's test is short first: of an entry of at least 2^SmallEntry, whose error bound
// is then at most margin units of the last place, the lowest 29 bits have to be
// further than that from half of a unit of float32. Both is a comparison in every 32
// bits.
func (s *sinusoidal) entries() (cos, sin []reg.VecVirtual) {
	step := s.lanes() / 2
	s.Comment("1. the linear shift")
	for j := range 2 {
		at := func(base reg.GPVirtual, p int) operand.Mem {
			return operand.Mem{Base: base, Index: s.i, Scale: 8, Disp: 8*j*step + p*plane}
		}
		cosA, sinA, cosB, sinB := s.vector(), s.vector(), s.vector(), s.vector()
		s.VMOVUPD(at(s.seed, 0), cosA)
		s.VMOVUPD(at(s.seed, 1), sinA)
		s.VMOVUPD(at(s.shift, 0), cosB)
		s.VMOVUPD(at(s.shift, 1), sinB)
		c, v := s.vector(), s.vector()
		s.VMULPD(cosA, cosB, c)
		s.VMULPD(sinA, cosB, v)
		s.VFNMADD231PD(sinA, sinB, c)
		s.VFMADD231PD(cosA, sinB, v)
		cos, sin = append(cos, c), append(sin, v)
	}
	s.Comment("2. the short test")
	var most reg.VecVirtual
	for _, v := range []reg.VecVirtual{cos[0], sin[0], cos[1], sin[1]} {
		t := s.vector()
		s.VPSLLVD(s.shifts, v, t)
		s.VPADDD(s.least, t, t)
		if most == nil {
			most = t
		} else {
			s.VPMAXUD(t, most, most)
		}
	}
	long, certain := s.label("long"), s.label("certain")
	if s.avx512 {
		const above = 6
		k := s.K()
		s.VPCMPUD(operand.Imm(above), s.limits, most, k)
		s.KORTESTW(k, k)
		s.JNZ(operand.LabelRef(long))
	} else {
		// Above the limits where the maximum with them is something else.
		s.VPMAXUD(s.limits, most, most)
		s.VPXOR(s.limits, most, most)
		s.VPTEST(most, most)
		s.JNZ(operand.LabelRef(long))
	}
	s.Label(certain)
	s.later = append(s.later, func() {
		s.Label(long)
		z := &ziv{half: s.halfUnit, mask: s.above, undecided: s.vector()}
		s.clear(z.undecided)
		for j := range 2 {
			s.doubt(z, cos[j], s.margin)
			s.doubt(z, sin[j], operand.Mem{Base: s.seed, Index: s.i, Scale: 8, Disp: 8*j*step + 2*plane})
		}
		s.testBits(z.undecided, z.mask)
		s.JZ(operand.LabelRef(certain))
		s.JMP(operand.LabelRef(s.exit))
	})
	return cos, sin
}

// ordered rounds entries to float32, scales them and puts them into the order of
// memory.
func (s *sinusoidal) ordered(cos, sin []reg.VecVirtual) (list []reg.VecVirtual) {
	s.Comment("3. rounding and order")
	if len(s.to) == 1 {
		for j := range cos {
			list = append(list, s.byTurns(s.round32(sin[j]), s.round32(cos[j])))
		}
	} else {
		list = append(list, s.joined(s.round32(cos[0]), s.round32(cos[1])), s.joined(s.round32(sin[0]), s.round32(sin[1])))
	}
	for _, v := range list {
		s.VMULPS(s.scaling, v, v)
	}
	return list
}

// byTurns returns the elements of two half vectors by turns.
func (s *sinusoidal) byTurns(first, second reg.VecVirtual) reg.VecVirtual {
	if s.avx512 {
		v := s.vector()
		s.VMOVAPS(first.AsZ(), v)
		s.VPERMT2PS(second.AsZ(), s.turns, v)
		return v
	}
	low, high := s.half(), s.half()
	s.VUNPCKLPS(second, first, low)
	s.VUNPCKHPS(second, first, high)
	return s.joined(low, high)
}

// joined returns two half vectors as one.
func (s *sinusoidal) joined(low, high reg.VecVirtual) reg.VecVirtual {
	v := s.vector()
	if s.avx512 {
		s.VINSERTF64X4(operand.Imm(1), high, low.AsZ(), v)
	} else {
		s.VINSERTF128(operand.Imm(1), high, low.AsY(), v)
	}
	return v
}

// tail writes the last pairs of a row, fewer than a turn has: by way of memory on the
// stack, number by number.
func (s *sinusoidal) tail() {
	memory := s.AllocLocal(2 * 4 * s.lanes())
	list := s.ordered(s.entries())
	for j, v := range list {
		s.VMOVUPS(v, memory.Offset(4*s.lanes()*j))
	}
	left, at := s.GP64(), s.GP64()
	for j, to := range s.to {
		s.MOVQ(s.n, left)
		s.SUBQ(s.i, left)
		if len(s.to) == 1 {
			s.SHLQ(operand.Imm(1), left)
			s.LEAQ(operand.Mem{Base: to, Index: s.i, Scale: 8}, at)
		} else {
			s.LEAQ(operand.Mem{Base: to, Index: s.i, Scale: 4}, at)
		}
		from := s.GP64()
		s.LEAQ(memory.Offset(4*s.lanes()*j), from)
		loop := s.label("number")
		s.Label(loop)
		v := s.XMM()
		s.VMOVSS(operand.Mem{Base: from}, v)
		if s.add {
			x := s.XMM()
			s.VMOVSS(operand.Mem{Base: at}, x)
			s.VMULSS(s.scale.AsX(), x, x)
			s.VADDSS(x, v, v)
		}
		s.VMOVSS(v, operand.Mem{Base: at})
		s.ADDQ(operand.Imm(4), from)
		s.ADDQ(operand.Imm(4), at)
		s.DECQ(left)
		s.JNZ(operand.LabelRef(loop))
	}
}
