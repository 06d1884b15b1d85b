package amd64

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// margin is generic.Margin.
const margin = 0x1p-49

// coefficients are those of generic: see there for where they come from.
var (
	sineCoefficients = []float64{
		0x1.921fb54442d18p+0, -0x1.4abbce625be09p-1, 0x1.466bc67754fffp-4, -0x1.32d2ccdfe9424p-8,
		0x1.50782d5f14823p-13, -0x1.e2fe76fdff885p-19, 0x1.e357ef99c063fp-25,
	}
	cosineCoefficients = []float64{
		1, -0x1.3bd3cc9be459dp+0, 0x1.03c1f081b0e01p-2, -0x1.55d3c7dc3b7f3p-6,
		0x1.e1f4fb8227886p-11, -0x1.a6c9c96ed0743p-16, 0x1.f3dca8530df2bp-22,
	}
)

// quarterTurns holds the constants of generic's cosSin.
type quarterTurns struct {
	toInteger, signBit operand.Op
	sine, cosine       []operand.Op
}

func (e *emitter) newQuarterTurns() *quarterTurns {
	t := &quarterTurns{
		toInteger: e.constant("toInteger", 0x1.8p52),
	}
	const kept = 4 // coefficients in registers, where there are enough
	for i := range sineCoefficients {
		keep := e.constant
		if i >= kept {
			keep = func(name string, value float64) operand.Op { return e.wide(name, value) }
		}
		t.sine = append(t.sine, keep(fmt.Sprint("sine", i), sineCoefficients[i]))
		t.cosine = append(t.cosine, keep(fmt.Sprint("cosine", i), cosineCoefficients[i]))
	}
	signBit := e.data("signBit", 8, 1<<63)
	t.signBit = signBit
	if e.avx512 {
		v := e.vector()
		e.VMOVUPD(signBit, v)
		t.signBit = v
	}
	return t
}

// cosSin writes generic's cosSin: the cosines and sines of (pi/2)*x*(high+low).
func (e *emitter) cosSin(t *quarterTurns, x reg.VecVirtual, high, low operand.Op) (cos, sin reg.VecVirtual) {
	e.Comment("1. quarter turns: q = x*high + 1.5*2^52, f = x*(high+low) - nearest integer")
	q, k, f, y := e.vector(), e.vector(), e.vector(), e.vector()
	e.VMOVUPD(high, q)
	e.VMOVAPD(q, f)
	e.VFMADD213PD(t.toInteger, x, q)
	e.VSUBPD(t.toInteger, q, k)
	e.VFMSUB213PD(k, x, f)
	e.VFMADD231PD(low, x, f)
	e.VMULPD(f, f, y)
	e.Comment("2. polynomials in y = f*f")
	s, c := e.vector(), e.vector()
	e.VMOVUPD(t.sine[6], s)
	e.VMOVUPD(t.cosine[6], c)
	for i := 5; i >= 0; i-- {
		e.VFMADD213PD(t.sine[i], y, s)
		e.VFMADD213PD(t.cosine[i], y, c)
	}
	e.VMULPD(f, s, s)
	e.Comment("3. quadrant: bit 0 of q swaps, bit 1 negates the sine, their sum the cosine")
	odd, negateSin, negateCos := e.vector(), e.vector(), e.vector()
	cos, sin = e.vector(), e.vector()
	e.VPSLLQ(operand.Imm(63), q, odd)
	e.VPSLLQ(operand.Imm(62), q, negateSin)
	if e.avx512 {
		swap := e.K()
		e.VPMOVQ2M(odd, swap)
		e.VPXORQ(odd, negateSin, negateCos)
		e.VBLENDMPD(s, c, swap, cos)
		e.VBLENDMPD(c, s, swap, sin)
		const xorAnd = 0x78 // first ^ (second & third)
		e.VPTERNLOGQ(operand.Imm(xorAnd), t.signBit, negateSin, sin)
		e.VPTERNLOGQ(operand.Imm(xorAnd), t.signBit, negateCos, cos)
		return cos, sin
	}
	e.VPXOR(odd, negateSin, negateCos)
	e.VBLENDVPD(odd, s, c, cos)
	e.VBLENDVPD(odd, c, s, sin)
	e.VPAND(t.signBit, negateSin, negateSin)
	e.VPAND(t.signBit, negateCos, negateCos)
	e.VPXOR(negateSin, sin, sin)
	e.VPXOR(negateCos, cos, cos)
	return cos, sin
}

// round32 converts float64 to float32.
func (e *emitter) round32(v reg.VecVirtual) reg.VecVirtual {
	r := e.half()
	if e.avx512 {
		e.VCVTPD2PS(v, r)
	} else {
		e.VCVTPD2PSY(v, r)
	}
	return r
}

// clear sets v to zero.
func (e *emitter) clear(v reg.VecVirtual) {
	if e.avx512 {
		e.VPXORD(v, v, v)
	} else {
		e.VPXOR(v, v, v)
	}
}

// testBits sets the zero flag where v has no bit of mask set. VPTEST does not
// reach the upper sixteen registers.
func (e *emitter) testBits(v reg.VecVirtual, mask operand.Op) {
	if !e.avx512 {
		e.VPTEST(mask, v)
		return
	}
	some, bits := e.K(), e.GP32()
	e.VPTESTMD(mask, v, some)
	e.KMOVW(some, bits)
	e.TESTL(bits, bits)
}

// returnBits returns 1 in the named result where v has a bit of mask set, else
// 0.
func (e *emitter) returnBits(v reg.VecVirtual, mask operand.Op, result string) {
	flag := e.GP64()
	e.XORQ(flag, flag)
	e.testBits(v, mask)
	e.SETNE(flag.As8())
	e.VZEROUPPER()
	e.Store(flag, e.Return(result))
	e.RET()
}

// row is a loop over the n entries of a row of cosines and sines.
type row struct {
	cos, sin, n, i     reg.GPVirtual
	nonTemporal        bool // whole half vectors are stored past the caches
	ahead              int  // entries after i, in an unrolled loop
	scaleCos, scaleSin reg.VecVirtual
}

func (e *emitter) newRow() *row {
	r := &row{cos: e.argument("cos"), sin: e.argument("sin"), n: e.argument("n"), i: e.GP64()}
	r.scaleCos = e.broadcast32("scaleCos", e.half())
	r.scaleSin = e.broadcast32("scaleSin", e.half())
	e.XORQ(r.i, r.i)
	return r
}

// unrolled is the number of half vectors in one turn of the main loop.
const unrolled = 2

// at returns the address of the current entries in an array of size bytes each.
func (r *row) at(base reg.GPVirtual, size int) operand.Mem {
	return operand.Mem{Base: base, Index: r.i, Scale: uint8(size), Disp: r.ahead * size}
}

// loop runs body for every half vector of entries, scales what it returns and
// stores it. Where input is not nil, body gets the half vector of it.
func (e *emitter) loop(r *row, input reg.GPVirtual, body func(in reg.VecVirtual) (cos, sin reg.VecVirtual)) {
	step := e.lanes() / 2
	main, single, done := e.label("main"), e.label("single"), e.label("done")
	advance := func(n int) {
		e.ADDQ(operand.Imm(uint64(n)), r.i)
		e.SUBQ(operand.Imm(uint64(n)), r.n)
	}
	whole := func() {
		var in reg.VecVirtual
		if input != nil {
			in = e.half()
			e.VMOVUPS(r.at(input, 4), in)
		}
		cos, sin := e.scaled(r, in, body)
		move := e.VMOVUPS
		if r.nonTemporal {
			move = func(operands ...operand.Op) { e.VMOVNTPS(operands[0], operands[1]) }
		}
		move(cos, r.at(r.cos, 4))
		move(sin, r.at(r.sin, 4))
	}
	e.CMPQ(r.n, operand.Imm(uint64(unrolled*step)))
	e.JLT(operand.LabelRef(single))
	e.Label(main)
	for r.ahead = 0; r.ahead < unrolled*step; r.ahead += step {
		whole()
	}
	r.ahead = 0
	advance(unrolled * step)
	e.CMPQ(r.n, operand.Imm(uint64(unrolled*step)))
	e.JGE(operand.LabelRef(main))
	e.Label(single)
	part := e.label("part")
	e.CMPQ(r.n, operand.Imm(uint64(step)))
	e.JLT(operand.LabelRef(part))
	whole()
	advance(step)
	e.JMP(operand.LabelRef(single))
	e.Label(part)
	e.TESTQ(r.n, r.n)
	e.JZ(operand.LabelRef(done))
	var in reg.VecVirtual
	if input != nil {
		in = e.half()
		e.loadHalf(in, r.at(input, 4), r.n)
	}
	cos, sin := e.scaled(r, in, body)
	e.storeHalf(cos, r.at(r.cos, 4), r.n)
	e.storeHalf(sin, r.at(r.sin, 4), r.n)
	e.Label(done)
}

func (e *emitter) scaled(r *row, in reg.VecVirtual, body func(in reg.VecVirtual) (cos, sin reg.VecVirtual)) (cos, sin reg.VecVirtual) {
	cos, sin = body(in)
	e.VMULPS(r.scaleCos, cos, cos)
	e.VMULPS(r.scaleSin, sin, sin)
	return cos, sin
}

// ziv is Ziv's test: a value is certain when both ends of its error interval
// round to the same float32. On the bits of a float64 that means the same bits
// above the lowest 29 once half of their unit is added.
type ziv struct {
	half      operand.Op
	undecided reg.VecVirtual // has bits of mask set where some value failed
	mask      operand.Op
}

func (e *emitter) newZiv(inRegister bool) *ziv {
	z := &ziv{half: e.data("half29", 8, 1<<28), mask: e.data("above29", 8, ^uint64(1<<29-1)), undecided: e.vector()}
	if e.avx512 || inRegister {
		half := e.vector()
		e.VMOVUPD(z.half, half)
		z.half = half
	}
	e.clear(z.undecided)
	return z
}

// round rounds v to float32 and notes in z where that is not certain for an
// error of bound.
func (e *emitter) round(z *ziv, v reg.VecVirtual, bound operand.Op) reg.VecVirtual {
	upper, lower := e.vector(), e.vector()
	e.VADDPD(bound, v, upper)
	e.VSUBPD(bound, v, lower)
	e.VPADDQ(z.half, upper, upper)
	e.VPADDQ(z.half, lower, lower)
	if e.avx512 {
		const orXor = 0xf6 // first | (second ^ third)
		e.VPTERNLOGQ(operand.Imm(orXor), upper, lower, z.undecided)
	} else {
		e.VPXOR(upper, lower, lower)
		e.VPOR(lower, z.undecided, z.undecided)
	}
	return e.round32(v)
}

func cosSinExact(e *emitter) {
	high, low, reach := e.argument("high"), e.argument("low"), e.argument("margin")
	r := e.newRow()
	x := e.broadcast64("position")
	size := e.vector()
	e.VANDPD(e.magnitude64(), x, size)
	z := e.newZiv(false)
	t := e.newQuarterTurns()
	bound := e.constant("margin", margin)
	e.loop(r, nil, func(reg.VecVirtual) (reg.VecVirtual, reg.VecVirtual) {
		cos, sin := e.cosSin(t, x, r.at(high, 8), r.at(low, 8))
		e.Comment("4. Ziv's test; the error of a sine is in proportion to angles below 1")
		error := e.vector()
		e.VMULPD(r.at(reach, 8), size, error)
		e.VMINPD(bound, error, error)
		return e.round(z, cos, bound), e.round(z, sin, error)
	})
	e.returnBits(z.undecided, z.mask, "undecided")
}

func (e *emitter) magnitude64() operand.Op { return e.data("magnitude64", 8, 1<<63-1) }

func cosSinSeed(e *emitter) {
	cosTo, sinTo, errorTo := e.argument("cos"), e.argument("sin"), e.argument("error")
	high, low, factor := e.argument("high"), e.argument("low"), e.argument("margin")
	n, i := e.argument("n"), e.GP64()
	x, reach := e.broadcast64("position"), e.broadcast64("reach")
	t := e.newQuarterTurns()
	bound := e.constant("margin", margin)
	loop := e.label("loop")
	e.XORQ(i, i)
	e.Label(loop)
	at := func(base reg.GPVirtual) operand.Mem { return operand.Mem{Base: base, Index: i, Scale: 8} }
	cos, sin := e.cosSin(t, x, at(high), at(low))
	error := e.vector()
	e.VMULPD(at(factor), reach, error)
	e.VMINPD(bound, error, error)
	e.VMOVUPD(cos, at(cosTo))
	e.VMOVUPD(sin, at(sinTo))
	e.VMOVUPD(error, at(errorTo))
	e.ADDQ(operand.Imm(uint64(e.lanes()/2)), i)
	e.CMPQ(i, n)
	e.JLT(operand.LabelRef(loop))
	e.VZEROUPPER()
	e.RET()
}

func cosSinShift(e *emitter, nonTemporal bool) {
	const plane = 64 * 8 // bytes from the cosines to the sines to the errors
	stride, rows := e.stride("stride", 4), e.argument("rows")
	seed, shift := e.argument("seed"), e.argument("shift")
	r := e.newRow()
	r.nonTemporal = nonTemporal
	n := e.GP64()
	e.MOVQ(r.n, n)
	done := e.GP64()
	e.XORQ(done, done)
	bound := e.vector()
	e.VMOVUPD(e.wide("margin", margin), bound)
	z := e.newZiv(true)
	rowLoop, exit := e.label("row"), e.label("exit")
	e.TESTQ(rows, rows)
	e.JZ(operand.LabelRef(exit))
	e.Label(rowLoop)
	e.clear(z.undecided)
	e.XORQ(r.i, r.i)
	e.MOVQ(n, r.n)
	e.loop(r, nil, func(reg.VecVirtual) (reg.VecVirtual, reg.VecVirtual) {
		at := func(base reg.GPVirtual, p int) operand.Mem {
			return r.at(base, 8).Offset(p * plane)
		}
		cosA, sinA, cosB, sinB := e.vector(), e.vector(), e.vector(), e.vector()
		e.VMOVUPD(at(seed, 0), cosA)
		e.VMOVUPD(at(seed, 1), sinA)
		e.VMOVUPD(at(shift, 0), cosB)
		e.VMOVUPD(at(shift, 1), sinB)
		e.Comment("1. the linear shift")
		cos, sin := e.vector(), e.vector()
		e.VMULPD(cosA, cosB, cos)
		e.VMULPD(sinA, cosB, sin)
		e.VFNMADD231PD(sinA, sinB, cos)
		e.VFMADD231PD(cosA, sinB, sin)
		e.Comment("2. Ziv's test")
		error := e.vector()
		e.VMOVUPD(at(seed, 2), error)
		return e.round(z, cos, bound), e.round(z, sin, error)
	})
	e.testBits(z.undecided, z.mask)
	e.JNZ(operand.LabelRef(exit))
	e.ADDQ(stride, r.cos)
	e.ADDQ(stride, r.sin)
	e.ADDQ(operand.U32(2*plane), shift)
	e.INCQ(done)
	e.CMPQ(done, rows)
	e.JLT(operand.LabelRef(rowLoop))
	e.Label(exit)
	if nonTemporal {
		e.fence()
	}
	e.VZEROUPPER()
	e.Store(done, e.Return("done"))
	e.RET()
}

func cosSinFloat32(e *emitter) {
	invFreq := e.argument("invFreq")
	r := e.newRow()
	position := e.broadcast32("position", e.half())
	beyond := e.half()
	e.clear(beyond)
	t := e.newQuarterTurns()
	high, low := e.constant("twoOverPiHigh", 0x1.45f306dc9c882p-1), e.constant("twoOverPiLow", 0x1.4a7f09d5f47d5p-54)
	limit := e.wide32("two50", 0x58800000)
	magnitude := e.wide32("magnitude32", 1<<31-1)
	e.loop(r, invFreq, func(in reg.VecVirtual) (reg.VecVirtual, reg.VecVirtual) {
		angle, size, outside, x := e.half(), e.half(), e.half(), e.vector()
		e.VMULPS(position, in, angle)
		e.VANDPS(magnitude, angle, size)
		const notLess = 5 // true for NaN too
		if e.avx512 {
			k := e.K()
			e.VCMPPS(operand.Imm(notLess), limit, size, k)
			e.VPMOVM2D(k, outside)
			e.VPORD(outside, beyond, beyond)
		} else {
			e.VCMPPS(operand.Imm(notLess), limit, size, outside)
			e.VPOR(outside, beyond, beyond)
		}
		e.VCVTPS2PD(angle, x)
		cos, sin := e.cosSin(t, x, high, low)
		return e.round32(cos), e.round32(sin)
	})
	e.returnBits(beyond, beyond, "beyond")
}
