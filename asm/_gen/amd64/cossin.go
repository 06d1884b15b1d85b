package amd64

import (
	"fmt"

	"github.com/go-posenc/posenc/asm/_gen/operation"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// quarterTurns holds the constants of generic's cosSin.
type quarterTurns struct {
	toInteger, signBit operand.Op
	dropZeroSign       reg.VecVirtual // toInteger in a register, to make every zero angle +0: f + (M-q), not f - (q-M)
	sine, cosine       []operand.Op
}

func (e *emitter) newQuarterTurns(dropZeroSign bool) *quarterTurns {
	t := &quarterTurns{
		toInteger: e.constant("toInteger", operation.ToInteger),
	}
	if dropZeroSign {
		t.dropZeroSign = e.vector()
		e.VMOVUPD(e.wide("toInteger", operation.ToInteger), t.dropZeroSign)
		t.toInteger = t.dropZeroSign
	}
	const kept = 2 // coefficients in registers, where there are enough
	for i := range operation.Sine {
		keep := e.constant
		if i >= kept {
			keep = func(name string, value float64) operand.Op { return e.wide(name, value) }
		}
		t.sine = append(t.sine, keep(fmt.Sprint("sine", i), operation.Sine[i]))
		t.cosine = append(t.cosine, keep(fmt.Sprint("cosine", i), operation.Cosine[i]))
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

// angles are the operands of one vector of angles (pi/2)*x*(high+low).
type angles struct {
	x         reg.VecVirtual
	high, low operand.Op
}

// cosSin writes generic's cosSin for several vectors at once: their instructions
// take turns, because each vector alone is one long chain.
func (e *emitter) cosSin(t *quarterTurns, in []angles) (cos, sin []reg.VecVirtual) {
	vectors := func() []reg.VecVirtual {
		list := make([]reg.VecVirtual, len(in))
		for j := range list {
			list[j] = e.vector()
		}
		return list
	}
	e.Comment("1. quarter turns: q = x*high + 1.5*2^52, f = x*(high+low) - nearest integer")
	q, k, f, y := vectors(), vectors(), vectors(), vectors()
	for j, a := range in {
		e.VMOVUPD(a.high, q[j])
		e.VMOVAPD(q[j], f[j])
	}
	for j, a := range in {
		e.VFMADD213PD(t.toInteger, a.x, q[j])
	}
	for j := range in {
		if t.dropZeroSign != nil {
			e.VSUBPD(q[j], t.dropZeroSign, k[j])
		} else {
			e.VSUBPD(t.toInteger, q[j], k[j])
		}
	}
	for j, a := range in {
		if t.dropZeroSign != nil {
			e.VFMADD213PD(k[j], a.x, f[j])
		} else {
			e.VFMSUB213PD(k[j], a.x, f[j])
		}
	}
	for j, a := range in {
		e.VFMADD231PD(a.low, a.x, f[j])
	}
	for j := range in {
		e.VMULPD(f[j], f[j], y[j])
	}
	e.Comment("2. polynomials in y = f*f")
	s, c := vectors(), vectors()
	for j := range in {
		e.VMOVUPD(t.sine[6], s[j])
		e.VMOVUPD(t.cosine[6], c[j])
	}
	for i := 5; i >= 0; i-- {
		for j := range in {
			e.VFMADD213PD(t.sine[i], y[j], s[j])
			e.VFMADD213PD(t.cosine[i], y[j], c[j])
		}
	}
	for j := range in {
		e.VMULPD(f[j], s[j], s[j])
	}
	e.Comment("3. quadrant: bit 0 of q swaps, bit 1 negates the sine, their sum the cosine")
	for j := range in {
		jCos, jSin := e.quadrant(t, q[j], c[j], s[j])
		cos, sin = append(cos, jCos), append(sin, jSin)
	}
	return cos, sin
}

func (e *emitter) quadrant(t *quarterTurns, q, c, s reg.VecVirtual) (cos, sin reg.VecVirtual) {
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

// row is a loop over the n entries of a row of cosines and sines.
type row struct {
	cos, sin, n, i     reg.GPVirtual
	ahead              int // entries after i, in an unrolled loop
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

// after returns the row that many entries on.
func (r *row) after(entries int) *row {
	next := *r
	next.ahead += entries
	return &next
}

// loop runs body for every half vector of entries, in the main loop for
// unrolled ones at once, scales what it returns and stores it. body gets a row
// for each; where input is not nil, also the half vectors of it.
func (e *emitter) loop(r *row, input reg.GPVirtual, body func(rows []*row, in []reg.VecVirtual) (cos, sin []reg.VecVirtual)) {
	step := e.lanes() / 2
	main, single, part, done := e.label("main"), e.label("single"), e.label("part"), e.label("done")
	scaled := func(rows []*row, in []reg.VecVirtual) (cos, sin []reg.VecVirtual) {
		cos, sin = body(rows, in)
		for j := range rows {
			e.VMULPS(r.scaleCos, cos[j], cos[j])
			e.VMULPS(r.scaleSin, sin[j], sin[j])
		}
		return cos, sin
	}
	whole := func(count int) {
		var rows []*row
		var in []reg.VecVirtual
		for j := range count {
			rows = append(rows, r.after(j*step))
			if input != nil {
				v := e.half()
				e.VMOVUPS(rows[j].at(input, 4), v)
				in = append(in, v)
			}
		}
		cos, sin := scaled(rows, in)
		for j, row := range rows {
			e.VMOVUPS(cos[j], row.at(r.cos, 4))
			e.VMOVUPS(sin[j], row.at(r.sin, 4))
		}
		e.ADDQ(operand.Imm(uint64(count*step)), r.i)
		e.SUBQ(operand.Imm(uint64(count*step)), r.n)
	}
	e.CMPQ(r.n, operand.Imm(uint64(unrolled*step)))
	e.JLT(operand.LabelRef(single))
	e.Label(main)
	whole(unrolled)
	e.CMPQ(r.n, operand.Imm(uint64(unrolled*step)))
	e.JGE(operand.LabelRef(main))
	e.Label(single)
	e.CMPQ(r.n, operand.Imm(uint64(step)))
	e.JLT(operand.LabelRef(part))
	whole(1)
	e.JMP(operand.LabelRef(single))
	e.Label(part)
	e.TESTQ(r.n, r.n)
	e.JZ(operand.LabelRef(done))
	var in []reg.VecVirtual
	if input != nil {
		in = append(in, e.half())
		e.loadHalf(in[0], r.at(input, 4), r.n)
	}
	cos, sin := scaled([]*row{r}, in)
	e.storeHalf(cos[0], r.at(r.cos, 4), r.n)
	e.storeHalf(sin[0], r.at(r.sin, 4), r.n)
	e.Label(done)
}

func cosSinExact(e *emitter) {
	high, low, margin := e.argument("high"), e.argument("low"), e.argument("margin")
	r := e.newRow()
	x := e.broadcast64("position")
	z := e.newZiv(false)
	t := e.newQuarterTurns(true)
	undecided := e.label("undecided")
	e.loop(r, nil, func(rows []*row, _ []reg.VecVirtual) (cos, sin []reg.VecVirtual) {
		var in []angles
		for _, r := range rows {
			in = append(in, angles{x, r.at(high, 8), r.at(low, 8)})
		}
		cos, sin = e.cosSin(t, in)
		z.test(cos, sin, func(j int) operand.Op {
			e.Comment("the error of a sine is in proportion to angles below 1")
			error := e.vector()
			e.VANDPD(e.magnitude64(), x, error)
			e.VMULPD(rows[j].at(margin, 8), error, error)
			e.VMINPD(z.margin, error, error)
			return error
		}, undecided)
		for j := range rows {
			cos[j], sin[j] = e.round32(cos[j]), e.round32(sin[j])
		}
		return cos, sin
	})
	e.result("undecided", 0)
	e.Label(undecided)
	e.result("undecided", 1)
	z.finish()
}

// result returns value in the named result.
func (e *emitter) result(name string, value uint32) {
	r := e.GP64()
	e.MOVQ(operand.U32(value), r)
	e.VZEROUPPER()
	e.Store(r, e.Return(name))
	e.RET()
}

func (e *emitter) magnitude64() operand.Op { return e.data("magnitude64", 8, 1<<63-1) }

func cosSinSeed(e *emitter) {
	cosTo, sinTo, errorTo := e.argument("cos"), e.argument("sin"), e.argument("error")
	high, low, margin := e.argument("high"), e.argument("low"), e.argument("margin")
	n, i := e.argument("n"), e.GP64()
	x, reach := e.broadcast64("position"), e.broadcast64("reach")
	t := e.newQuarterTurns(true)
	bound := e.constant("margin", operation.Margin)
	loop := e.label("loop")
	e.XORQ(i, i)
	e.Label(loop)
	at := func(base reg.GPVirtual) operand.Mem { return operand.Mem{Base: base, Index: i, Scale: 8} }
	cosines, sines := e.cosSin(t, []angles{{x, at(high), at(low)}})
	cos, sin := cosines[0], sines[0]
	error := e.vector()
	e.VMULPD(at(margin), reach, error)
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

func cosSinFloat32(e *emitter) {
	invFreq := e.argument("invFreq")
	r := e.newRow()
	position := e.broadcast32("position", e.half())
	beyond := e.half()
	e.clear(beyond)
	t := e.newQuarterTurns(false)
	high, low := e.constant("twoOverPiHigh", operation.TwoOverPiHigh), e.constant("twoOverPiLow", operation.TwoOverPiLow)
	limit := e.wide32("two50", 0x58800000)
	magnitude := e.wide32("magnitude32", 1<<31-1)
	e.loop(r, invFreq, func(_ []*row, in []reg.VecVirtual) (cos, sin []reg.VecVirtual) {
		var list []angles
		for _, v := range in {
			angle, size, outside, x := e.half(), e.half(), e.half(), e.vector()
			e.VMULPS(position, v, angle)
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
			list = append(list, angles{x, high, low})
		}
		cos, sin = e.cosSin(t, list)
		for j := range cos {
			cos[j], sin[j] = e.round32(cos[j]), e.round32(sin[j])
		}
		return cos, sin
	})
	e.returnBits(beyond, beyond, "beyond")
}
