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

// linearShift makes cosines and sines by the linear shift of a seed.
type linearShift struct {
	e              *emitter
	seed, shift, i reg.GPVirtual // of a block, and the next pair of it
	ziv            *ziv
	exit           string // where an entry is not certain
	rounded        *roundedAngles
}

// roundedAngles are the float32 angles next to exact ones, or nil.
type roundedAngles struct {
	invFreq  reg.GPVirtual
	position reg.VecVirtual
	turn     turning
}

type turning func(e *emitter, cos, sin []reg.VecVirtual, rest [2]reg.VecVirtual)

// rest returns the exact angles minus the float32 ones, which is a float32, as two vectors
// of float64.
func (r *roundedAngles) rest(e *emitter, i reg.GPVirtual) (rest [2]reg.VecVirtual) {
	e.Comment("exact angles minus float32 ones")
	w, angle := e.vector(), e.vector()
	e.VMOVUPS(operand.Mem{Base: r.invFreq, Index: i, Scale: 4}, w)
	e.VMULPS(r.position, w, angle)
	e.VFMSUB231PS(r.position, w, angle)
	upper := e.half()
	rest = [2]reg.VecVirtual{e.vector(), e.vector()}
	if e.avx512 {
		e.VEXTRACTF64X4(operand.Imm(1), angle, upper)
		e.VCVTPS2PD(angle.AsY(), rest[0])
	} else {
		e.VEXTRACTF128(operand.Imm(1), angle, upper)
		e.VCVTPS2PD(angle.AsX(), rest[0])
	}
	e.VCVTPS2PD(upper, rest[1])
	return rest
}

// turn turns cosines and sines back by the rest.
func (e *emitter) turn(cos, sin []reg.VecVirtual, rest [2]reg.VecVirtual) {
	e.Comment("from the exact angle to the float32 one")
	half := [2]reg.VecVirtual{e.vector(), e.vector()}
	for j, r := range rest {
		e.VMULPD(e.wide("half64", 0.5), r, half[j])
	}
	for j := range rest {
		e.VFMADD231PD(half[j], sin[j], cos[j])
	}
	for j, r := range rest {
		e.VFNMADD231PD(r, cos[j], sin[j])
	}
	for j := range rest {
		e.VFMADD231PD(half[j], sin[j], cos[j])
	}
}

// turn3 is turn by one term more.
func (e *emitter) turn3(cos, sin []reg.VecVirtual, rest [2]reg.VecVirtual) {
	e.Comment("from the exact angle to the float32 one, by three terms")
	for j, r := range rest {
		factor, toCos, toSin := e.vector(), e.vector(), e.vector()
		e.VMULPD(e.wide("third64", 1./3), r, factor)
		e.VMOVAPD(cos[j], toCos)
		e.VMOVAPD(sin[j], toSin)
		e.VFMADD231PD(factor, sin[j], toCos)
		e.VFNMADD231PD(factor, cos[j], toSin)
		e.VMULPD(e.wide("half64", 0.5), r, factor)
		e.VFNMADD213PD(sin[j], factor, toCos)
		e.VFMADD213PD(cos[j], factor, toSin)
		e.VFMADD231PD(r, toCos, cos[j])
		e.VFNMADD231PD(r, toSin, sin[j])
	}
}

// entries returns the cosines and sines of the next pairs, two vectors of float64 each,
// which float32 are certain to be rounded from: else it leaves for exit.
func (s *linearShift) entries() (cos, sin []reg.VecVirtual) {
	e := s.e
	at := func(base reg.GPVirtual, j, p int) operand.Mem {
		return operand.Mem{Base: base, Index: s.i, Scale: 8, Disp: 8*j*e.lanes()/2 + p*plane}
	}
	var rest [2]reg.VecVirtual
	if s.rounded != nil {
		rest = s.rounded.rest(e, s.i) // first, because it takes longest
	}
	e.Comment("the linear shift")
	for j := range 2 {
		cosA, sinA, cosB, sinB := e.vector(), e.vector(), e.vector(), e.vector()
		e.VMOVUPD(at(s.seed, j, 0), cosA)
		e.VMOVUPD(at(s.seed, j, 1), sinA)
		e.VMOVUPD(at(s.shift, j, 0), cosB)
		e.VMOVUPD(at(s.shift, j, 1), sinB)
		c, v := e.vector(), e.vector()
		e.VMULPD(cosA, cosB, c)
		e.VMULPD(sinA, cosB, v)
		e.VFNMADD231PD(sinA, sinB, c)
		e.VFMADD231PD(cosA, sinB, v)
		cos, sin = append(cos, c), append(sin, v)
	}
	bound := func(j int) operand.Op { return at(s.seed, j, 2) }
	if s.rounded != nil {
		s.rounded.turn(e, cos, sin, rest)
		bound = func(j int) operand.Op {
			v := e.vector()
			e.VMOVUPD(at(s.seed, j, 2), v)
			e.VMULPD(e.wide("roundedRatio", operation.RoundedMargin/operation.Margin), v, v)
			return v
		}
	}
	s.ziv.test(cos, sin, bound, s.exit)
	return cos, sin
}

// joined returns two half vectors as one.
func (e *emitter) joined(low, high reg.VecVirtual) reg.VecVirtual {
	v := e.vector()
	if e.avx512 {
		e.VINSERTF64X4(operand.Imm(1), high, low.AsZ(), v)
	} else {
		e.VINSERTF128(operand.Imm(1), high, low.AsY(), v)
	}
	return v
}

// cosSinShift makes float32 angles where turn, which turns exact ones, is not nil.
func cosSinShift(e *emitter, nonTemporal bool, turn turning) {
	s := linearShift{e: e, seed: e.argument("seed"), shift: e.argument("shift"), i: e.GP64(), exit: e.label("exit")}
	if turn != nil {
		s.ziv = e.newZivOf("rounded", operation.RoundedMargin, operation.RoundedEntry, true)
		s.rounded = &roundedAngles{e.argument("invFreq"), e.broadcast32("position", e.vector()), turn}
	} else {
		s.ziv = e.newZiv(true)
	}
	stride, rows, n := e.stride("stride"), e.argument("rows"), e.argument("n")
	to := []reg.GPVirtual{e.argument("cos"), e.argument("sin")}
	scales := []reg.VecVirtual{e.broadcast32("scaleCos", e.vector()), e.broadcast32("scaleSin", e.vector())}
	done, left, scaling := e.GP64(), e.GP64(), e.factors("scaleCos", "scaleSin")
	row, unscaled, main, rest, next := e.label("row"), e.label("unscaled"), e.label("main"), e.label("rest"), e.label("next")
	rounded := func(scaled bool) []reg.VecVirtual {
		cos, sin := s.entries()
		e.Comment("rounding")
		list := []reg.VecVirtual{e.joined(e.round32(cos[0]), e.round32(cos[1])), e.joined(e.round32(sin[0]), e.round32(sin[1]))}
		for j, v := range list {
			if scaled {
				e.VMULPS(scales[j], v, v)
			}
		}
		return list
	}
	at := func(base reg.GPVirtual) operand.Mem { return operand.Mem{Base: base, Index: s.i, Scale: 4} }
	width := operand.Imm(uint64(e.lanes()))
	loop := func(label string, scaled bool) {
		e.Label(label)
		for j, v := range rounded(scaled) {
			if nonTemporal {
				e.VMOVNTPS(v, at(to[j]))
			} else {
				e.VMOVUPS(v, at(to[j]))
			}
		}
		e.ADDQ(width, s.i)
		e.SUBQ(width, left)
		e.JGE(operand.LabelRef(label))
	}
	e.XORQ(done, done)
	e.TESTQ(rows, rows)
	e.JZ(operand.LabelRef(s.exit))
	e.Label(row)
	e.XORQ(s.i, s.i)
	e.MOVQ(n, left)
	e.SUBQ(width, left)
	e.JL(operand.LabelRef(rest))
	e.TESTQ(scaling, scaling)
	e.JZ(operand.LabelRef(unscaled))
	loop(main, true)
	e.JMP(operand.LabelRef(rest))
	loop(unscaled, false)
	e.Label(rest)
	e.ADDQ(width, left)
	e.JZ(operand.LabelRef(next))
	for j, v := range rounded(true) {
		e.storeFirst(v, at(to[j]), left)
	}
	e.Label(next)
	for _, to := range to {
		e.ADDQ(stride, to)
	}
	e.ADDQ(operand.U32(2*plane), s.shift)
	if turn != nil {
		e.VADDPS(e.wide32("one32", 0x3f800000), s.rounded.position, s.rounded.position)
	}
	e.INCQ(done)
	e.CMPQ(done, rows)
	e.JLT(operand.LabelRef(row))
	e.Label(s.exit)
	e.VZEROUPPER()
	e.Store(done, e.Return("done"))
	e.RET()
	s.ziv.finish()
}

// factors returns 0 where the named float32 parameters are all 1, else another number.
func (e *emitter) factors(names ...string) reg.GPVirtual {
	const one = 0x3f800000
	some := e.GP64()
	e.XORQ(some, some)
	for _, name := range names {
		bits := e.GP32()
		e.MOVL(e.parameter(name), bits)
		e.XORL(operand.U32(one), bits)
		e.ORL(bits, some.As32())
	}
	return some
}

// storeFirst stores the lowest count float32 of a vector, count below its lanes.
func (e *emitter) storeFirst(v reg.VecVirtual, to operand.Mem, count reg.GPVirtual) {
	if e.avx512 {
		e.VMOVUPS(v, e.tailMask(count), to)
		return
	}
	low := e.label("low")
	part, at := e.XMM(), e.GP64()
	e.VMOVAPS(v.AsX(), part)
	e.LEAQ(to, at)
	e.TESTQ(operand.U32(4), count)
	e.JZ(operand.LabelRef(low))
	e.VMOVUPS(part, operand.Mem{Base: at})
	e.VEXTRACTF128(operand.Imm(1), v, part)
	e.ADDQ(operand.Imm(16), at)
	e.Label(low)
	e.storeHalf(part, operand.Mem{Base: at}, count)
}
