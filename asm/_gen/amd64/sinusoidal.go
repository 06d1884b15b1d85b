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
	e                       *emitter
	to                      []reg.GPVirtual // of sines and cosines alternately, or of cosines and of sines
	seed, shift             reg.GPVirtual
	n, i                    reg.GPVirtual // pairs of a row, and the next of them
	scaling, scale          reg.VecVirtual
	add                     bool
	shifts, least, limits   reg.VecVirtual // in registers: loads set the pace
	halfUnit, above, margin operand.Mem
	order                   reg.VecVirtual // AVX-512: a permutation of two vectors
	exit                    string
	later                   []func() // what is seldom run
}

func sinusoidalRows(e *emitter, interleaved, add bool) {
	s := &sinusoidal{e: e, add: add, exit: e.label("exit")}
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
		if j < len(s.to) { // a line an iteration, for rows in memory
			e.prefetch(to.Offset(4096))
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

// width returns the pairs of an iteration: two vectors of float64, one of float32.
func (s *sinusoidal) width() int { return s.e.lanes() }

// at returns the address of vector j of the next pairs.
func (s *sinusoidal) at(j int) operand.Mem {
	if len(s.to) == 1 {
		return operand.Mem{Base: s.to[0], Index: s.i, Scale: 8, Disp: 4 * s.e.lanes() * j}
	}
	return operand.Mem{Base: s.to[j], Index: s.i, Scale: 4}
}

// loadTest sets what entries needs for its tests.
func (s *sinusoidal) loadTest() {
	const exponent = operation.SmallEntry // of the smallest entry that the short test is for
	// The error bound of such an entry in units of its last place, times 8.
	const margin = 1 << (52 - 49 - exponent + 3)
	halves := func(name string, lower, upper uint32) reg.VecVirtual {
		v := s.e.vector()
		s.e.VMOVUPS(s.e.data(name, 8, uint64(upper)<<32|uint64(lower)), v)
		return v
	}
	s.shifts = halves("entryShifts", 3, 1)
	s.least = halves("entryLeast", -(1<<31+margin+1)&(1<<32-1), -((1023+exponent)<<21)&(1<<32-1))
	s.limits = halves("entryLimits", (1<<32-1)-(2*margin+1), 1<<31-1)
	s.halfUnit, s.above, s.margin = s.e.data("half29", 8, 1<<28), s.e.data("above29", 8, ^uint64(1<<29-1)), s.e.wide("margin", operation.Margin)
}

// entries returns the next cosines and sines in vectors of float64, which float32
// are certain to be rounded from: else it leaves for exit.
//
// Ziv's test is short first: of an entry of at least 2^SmallEntry, whose error bound
// is then at most margin units of the last place, the lowest 29 bits have to be
// further than that from half of a unit of float32. Both is a comparison in every 32
// bits.
func (s *sinusoidal) entries() (cos, sin []reg.VecVirtual) {
	step := s.e.lanes() / 2
	s.e.Comment("1. the linear shift")
	for j := range 2 {
		at := func(base reg.GPVirtual, p int) operand.Mem {
			return operand.Mem{Base: base, Index: s.i, Scale: 8, Disp: 8*j*step + p*plane}
		}
		cosA, sinA, cosB, sinB := s.e.vector(), s.e.vector(), s.e.vector(), s.e.vector()
		s.e.VMOVUPD(at(s.seed, 0), cosA)
		s.e.VMOVUPD(at(s.seed, 1), sinA)
		s.e.VMOVUPD(at(s.shift, 0), cosB)
		s.e.VMOVUPD(at(s.shift, 1), sinB)
		c, v := s.e.vector(), s.e.vector()
		s.e.VMULPD(cosA, cosB, c)
		s.e.VMULPD(sinA, cosB, v)
		s.e.VFNMADD231PD(sinA, sinB, c)
		s.e.VFMADD231PD(cosA, sinB, v)
		cos, sin = append(cos, c), append(sin, v)
	}
	s.e.Comment("2. the short test")
	var most reg.VecVirtual
	for _, v := range []reg.VecVirtual{cos[0], sin[0], cos[1], sin[1]} {
		t := s.e.vector()
		s.e.VPSLLVD(s.shifts, v, t)
		s.e.VPADDD(s.least, t, t)
		if most == nil {
			most = t
		} else {
			s.e.VPMAXUD(t, most, most)
		}
	}
	long, certain := s.e.label("long"), s.e.label("certain")
	if s.e.avx512 {
		const above = 6
		k := s.e.K()
		s.e.VPCMPUD(operand.Imm(above), s.limits, most, k)
		s.e.KORTESTW(k, k)
		s.e.JNZ(operand.LabelRef(long))
	} else {
		// Above the limits where the maximum with them is something else.
		s.e.VPMAXUD(s.limits, most, most)
		s.e.VPXOR(s.limits, most, most)
		s.e.VPTEST(most, most)
		s.e.JNZ(operand.LabelRef(long))
	}
	s.e.Label(certain)
	s.later = append(s.later, func() {
		s.e.Label(long)
		z := &ziv{half: s.halfUnit, mask: s.above, undecided: s.e.vector()}
		s.e.clear(z.undecided)
		for j := range 2 {
			s.e.doubt(z, cos[j], s.margin)
			s.e.doubt(z, sin[j], operand.Mem{Base: s.seed, Index: s.i, Scale: 8, Disp: 8*j*step + 2*plane})
		}
		s.e.testBits(z.undecided, z.mask)
		s.e.JZ(operand.LabelRef(certain))
		s.e.JMP(operand.LabelRef(s.exit))
	})
	return cos, sin
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
		list = append(list, s.joined(s.e.round32(cos[0]), s.e.round32(cos[1])), s.joined(s.e.round32(sin[0]), s.e.round32(sin[1])))
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
	return s.joined(low, high)
}

// joined returns two half vectors as one.
func (s *sinusoidal) joined(low, high reg.VecVirtual) reg.VecVirtual {
	v := s.e.vector()
	if s.e.avx512 {
		s.e.VINSERTF64X4(operand.Imm(1), high, low.AsZ(), v)
	} else {
		s.e.VINSERTF128(operand.Imm(1), high, low.AsY(), v)
	}
	return v
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
