package amd64

import (
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
	names := "0123456"
	for i := range names {
		t.sine = append(t.sine, e.constant("sine"+names[i:i+1], sineCoefficients[i]))
		t.cosine = append(t.cosine, e.constant("cosine"+names[i:i+1], cosineCoefficients[i]))
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

// orDifference sets bits of all where a and b differ.
func (e *emitter) orDifference(all, a, b reg.VecVirtual) {
	if e.avx512 {
		const orXor = 0xf6 // first | (second ^ third)
		e.VPTERNLOGQ(operand.Imm(orXor), a, b, all)
		return
	}
	e.VPXOR(a, b, b)
	e.VPOR(b, all, all)
}

// zero returns a half vector of zeros.
func (e *emitter) zero() reg.VecVirtual {
	v := e.half()
	if e.avx512 {
		e.VPXORD(v, v, v)
	} else {
		e.VPXOR(v, v, v)
	}
	return v
}

// testBits sets the zero flag where no bit of v is set. VPTEST does not reach
// the upper sixteen registers.
func (e *emitter) testBits(v reg.VecVirtual) {
	if !e.avx512 {
		e.VPTEST(v, v)
		return
	}
	some, bits := e.K(), e.GP32()
	e.VPTESTMD(v, v, some)
	e.KMOVW(some, bits)
	e.TESTL(bits, bits)
}

// returnBits returns 1 in the named result where any bit of v is set, else 0.
func (e *emitter) returnBits(v reg.VecVirtual, result string) {
	flag := e.GP64()
	e.XORQ(flag, flag)
	e.testBits(v)
	e.SETNE(flag.As8())
	e.VZEROUPPER()
	e.Store(flag, e.Return(result))
	e.RET()
}

// row is a loop over the n entries of a row of cosines and sines.
type row struct {
	cos, sin, n, i     reg.GPVirtual
	scaleCos, scaleSin reg.VecVirtual
}

func (e *emitter) newRow() *row {
	r := &row{cos: e.argument("cos"), sin: e.argument("sin"), n: e.argument("n"), i: e.GP64()}
	r.scaleCos = e.broadcast32("scaleCos", e.half())
	r.scaleSin = e.broadcast32("scaleSin", e.half())
	e.XORQ(r.i, r.i)
	return r
}

// loop runs body for every half vector of entries, scales what it returns and
// stores it. Where input is not nil, body gets the half vector of it.
func (e *emitter) loop(r *row, input reg.GPVirtual, body func(in reg.VecVirtual) (cos, sin reg.VecVirtual)) {
	step := operand.Imm(uint64(e.lanes() / 2))
	loop, part, done := e.label("loop"), e.label("part"), e.label("done")
	e.TESTQ(r.n, r.n)
	e.JZ(operand.LabelRef(done))
	e.Label(loop)
	var in reg.VecVirtual
	if input != nil {
		whole, loaded := e.label("whole"), e.label("loaded")
		in = e.half()
		from := operand.Mem{Base: input, Index: r.i, Scale: 4}
		e.CMPQ(r.n, step)
		e.JGE(operand.LabelRef(whole))
		e.loadHalf(in, from, r.n)
		e.JMP(operand.LabelRef(loaded))
		e.Label(whole)
		e.VMOVUPS(from, in)
		e.Label(loaded)
	}
	cos, sin := body(in)
	e.VMULPS(r.scaleCos, cos, cos)
	e.VMULPS(r.scaleSin, sin, sin)
	cosAt := operand.Mem{Base: r.cos, Index: r.i, Scale: 4}
	sinAt := operand.Mem{Base: r.sin, Index: r.i, Scale: 4}
	e.CMPQ(r.n, step)
	e.JLT(operand.LabelRef(part))
	e.VMOVUPS(cos, cosAt)
	e.VMOVUPS(sin, sinAt)
	e.ADDQ(step, r.i)
	e.SUBQ(step, r.n)
	e.JNZ(operand.LabelRef(loop))
	e.JMP(operand.LabelRef(done))
	e.Label(part)
	e.storeHalf(cos, cosAt, r.n)
	e.storeHalf(sin, sinAt, r.n)
	e.Label(done)
}

// accept rounds v-error and v+error to float32 and marks in undecided where
// they differ: elsewhere the result is the correctly rounded one (Ziv's test).
func (e *emitter) accept(v reg.VecVirtual, bound, twice operand.Op, undecided reg.VecVirtual) reg.VecVirtual {
	upper := e.vector()
	e.VADDPD(bound, v, upper)
	return e.acceptUpper(upper, twice, undecided)
}

func (e *emitter) acceptUpper(upper reg.VecVirtual, twice operand.Op, undecided reg.VecVirtual) reg.VecVirtual {
	lower := e.vector()
	e.VSUBPD(twice, upper, lower)
	rounded := e.round32(upper)
	e.orDifference(undecided, rounded, e.round32(lower))
	return rounded
}

func cosSinExact(e *emitter) {
	high, low, reach := e.argument("high"), e.argument("low"), e.argument("margin")
	r := e.newRow()
	x := e.broadcast64("position")
	size := e.vector()
	e.VANDPD(e.magnitude64(), x, size)
	undecided := e.zero()
	t := e.newQuarterTurns()
	bound, twice := e.constant("margin", margin), e.constant("twiceMargin", 2*margin)
	e.loop(r, nil, func(reg.VecVirtual) (reg.VecVirtual, reg.VecVirtual) {
		at := func(base reg.GPVirtual) operand.Op { return operand.Mem{Base: base, Index: r.i, Scale: 8} }
		cos, sin := e.cosSin(t, x, at(high), at(low))
		e.Comment("4. Ziv's test; the error of a sine is in proportion to angles below 1")
		error, twiceError := e.vector(), e.vector()
		e.VMULPD(at(reach), size, error)
		e.VMINPD(bound, error, error)
		e.VADDPD(error, error, twiceError)
		return e.accept(cos, bound, twice, undecided), e.accept(sin, error, twiceError, undecided)
	})
	e.returnBits(undecided, "undecided")
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

func cosSinShift(e *emitter) {
	const plane = 64 * 8 // bytes from the cosines to the sines to the errors
	stride, rows := e.stride("stride", 4), e.argument("rows")
	seed, shift := e.argument("seed"), e.argument("shift")
	r := e.newRow()
	n := e.GP64()
	e.MOVQ(r.n, n)
	done := e.GP64()
	e.XORQ(done, done)
	bound, twice := e.constant("margin", margin), e.constant("twiceMargin", 2*margin)
	rowLoop, exit := e.label("row"), e.label("exit")
	e.TESTQ(rows, rows)
	e.JZ(operand.LabelRef(exit))
	e.Label(rowLoop)
	undecided := e.zero()
	e.XORQ(r.i, r.i)
	e.MOVQ(n, r.n)
	e.loop(r, nil, func(reg.VecVirtual) (reg.VecVirtual, reg.VecVirtual) {
		at := func(base reg.GPVirtual, p int) operand.Mem {
			return operand.Mem{Base: base, Index: r.i, Scale: 8, Disp: p * plane}
		}
		cosA, sinA, cosB, sinB := e.vector(), e.vector(), e.vector(), e.vector()
		error, twiceError := e.vector(), e.vector()
		e.VMOVUPD(at(seed, 0), cosA)
		e.VMOVUPD(at(seed, 1), sinA)
		e.VMOVUPD(at(seed, 2), error)
		e.VMOVUPD(at(shift, 0), cosB)
		e.VMOVUPD(at(shift, 1), sinB)
		e.Comment("1. upper ends of the error intervals: the products plus the error bounds")
		e.VADDPD(error, error, twiceError)
		e.VFMADD231PD(sinA, cosB, error)
		e.VFMADD231PD(cosA, sinB, error)
		cos := e.vector()
		e.VMOVUPD(bound, cos)
		e.VFMADD231PD(cosA, cosB, cos)
		e.VFNMADD231PD(sinA, sinB, cos)
		e.Comment("2. Ziv's test")
		return e.acceptUpper(cos, twice, undecided), e.acceptUpper(error, twiceError, undecided)
	})
	e.testBits(undecided)
	e.JNZ(operand.LabelRef(exit))
	e.ADDQ(stride, r.cos)
	e.ADDQ(stride, r.sin)
	e.ADDQ(operand.U32(2*plane), shift)
	e.INCQ(done)
	e.CMPQ(done, rows)
	e.JLT(operand.LabelRef(rowLoop))
	e.Label(exit)
	e.VZEROUPPER()
	e.Store(done, e.Return("done"))
	e.RET()
}

func cosSinFloat32(e *emitter) {
	invFreq := e.argument("invFreq")
	r := e.newRow()
	position := e.broadcast32("position", e.half())
	beyond := e.zero()
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
	e.returnBits(beyond, "beyond")
}
