package amd64

import (
	"fmt"

	"github.com/go-posenc/posenc/asm/_gen/operation"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// quarterTurns holds the constants of generic's cosSin.
type quarterTurns struct {
	toInteger    operand.Op
	dropZeroSign reg.VecVirtual // toInteger in a register, to make every zero angle +0: f + (M-q), not f - (q-M)
	sine, cosine []operand.Mem
	signBit      operand.Op // of float64

	// Of float32: the signs of four quarter turns and, AVX-512, the bit of odd ones and
	// numbers of elements of two vectors.
	cosineSigns, sineSigns operand.Op
	odd, evens             reg.VecVirtual
}

// newQuarterTurns returns the constants for signs of 4 or 8 bytes.
func (e *emitter) newQuarterTurns(bytes int, dropZeroSign bool) *quarterTurns {
	t := &quarterTurns{}
	if dropZeroSign {
		t.dropZeroSign = e.vector()
		e.VMOVUPD(e.wide("toInteger", operation.ToInteger), t.dropZeroSign)
		t.toInteger = t.dropZeroSign
	} else {
		t.toInteger = e.constant("toInteger", operation.ToInteger)
	}
	for i := range operation.Sine {
		t.sine = append(t.sine, e.wide(fmt.Sprint("sine", i), operation.Sine[i]))
		t.cosine = append(t.cosine, e.wide(fmt.Sprint("cosine", i), operation.Cosine[i]))
	}
	switch {
	case bytes == 8:
		t.signBit = e.kept(e.data("signBit", 8, 1<<63))
	case e.avx512:
		t.evens = e.permutation("evens", 4)
	}
	return t
}

// newSigns adds the constants for quadrants of float32.
func (t *quarterTurns) newSigns(e *emitter) {
	if e.avx512 {
		t.odd = e.keep(e.wide32("odd32", 1))
	}
	t.cosineSigns = e.kept(e.controls("cosineSigns", 4, 16, func(q uint32) uint32 { return (q + 1) >> 1 << 31 }))
	t.sineSigns = e.kept(e.controls("sineSigns", 4, 16, func(q uint32) uint32 { return q >> 1 << 31 }))
}

// angles are the operands of one vector of angles (pi/2)*x*(high+low).
type angles struct {
	x         reg.VecVirtual
	high, low operand.Op
}

// vectors is several vectors of float64 on their way to cosines and sines: generic's
// cosSin without the quadrant. The instructions of all alternate, because each vector
// alone is one long chain.
type vectors struct {
	e        *emitter
	t        *quarterTurns
	q        []reg.VecVirtual // has the quadrant in its lowest bits
	quadrant []reg.VecVirtual // these bits of two vectors as one of float32
	f        []reg.VecVirtual
	c, s     []reg.VecVirtual
}

// several returns count new registers.
func (e *emitter) several(count int) []reg.VecVirtual {
	list := make([]reg.VecVirtual, count)
	for j := range list {
		list[j] = e.vector()
	}
	return list
}

// turns writes the first step.
func (e *emitter) turns(t *quarterTurns, in []angles) *vectors {
	e.Comment("1. quarter turns: q = x*high + 1.5*2^52, f = x*(high+low) - nearest integer")
	q, f := e.several(len(in)), e.several(len(in))
	for j, a := range in {
		e.VMOVUPD(a.high, q[j])
	}
	for j, a := range in {
		e.VFMADD213PD(t.toInteger, a.x, q[j])
	}
	for j := range in {
		if t.dropZeroSign != nil {
			e.VSUBPD(q[j], t.dropZeroSign, f[j])
		} else {
			e.VSUBPD(t.toInteger, q[j], f[j])
		}
	}
	for j, a := range in {
		if t.dropZeroSign != nil {
			e.VFMADD231PD(a.high, a.x, f[j])
		} else {
			e.VFMSUB231PD(a.high, a.x, f[j])
		}
	}
	for j, a := range in {
		e.VFMADD231PD(a.low, a.x, f[j])
	}
	return &vectors{e: e, t: t, q: q, f: f}
}

// polynomials writes the second.
func (v *vectors) polynomials() {
	e, t := v.e, v.t
	e.Comment("2. polynomials in y = f*f")
	y := e.several(len(v.f))
	for j, f := range v.f {
		e.VMULPD(f, f, y[j])
	}
	many := len(v.f) > 4 // there are registers for one polynomial at a time
	if many {
		v.quadrants()
		v.s = e.horner(y, t.sine)[0]
	} else {
		both := e.horner(y, t.sine, t.cosine)
		v.s, v.c = both[0], both[1]
	}
	for j := range v.s {
		e.VMULPD(v.f[j], v.s[j], v.s[j])
	}
	if many {
		v.c = e.horner(y, t.cosine)[0]
	}
}

// horner returns polynomials in y, with the instructions of all alternating.
func (e *emitter) horner(y []reg.VecVirtual, polynomials ...[]operand.Mem) (values [][]reg.VecVirtual) {
	for range polynomials {
		values = append(values, e.several(len(y)))
	}
	for j := range y {
		for k, coefficients := range polynomials {
			e.VMOVUPD(coefficients[6], values[k][j])
		}
	}
	for i := 5; i >= 0; i-- {
		for k, coefficients := range polynomials {
			next := e.shared(coefficients[i], len(y))
			for j := range y {
				e.VFMADD213PD(next, y[j], values[k][j])
			}
		}
	}
	return values
}

// shared returns a constant in a register for several vectors: a CPU makes two loads in a
// cycle, and two products.
func (e *emitter) shared(constant operand.Mem, vectors int) operand.Op {
	if vectors == 1 {
		return constant
	}
	v := e.vector()
	e.VMOVUPD(constant, v)
	return v
}

// quadrant64 swaps and negates cosines and sines of float64: bit 0 of q swaps, bit 1
// negates the sine, their sum the cosine.
func (e *emitter) quadrant64(t *quarterTurns, q, c, s reg.VecVirtual) (cos, sin reg.VecVirtual) {
	odd, negateSin, negateCos := e.vector(), e.vector(), e.vector()
	cos, sin = e.vector(), e.vector()
	e.VPSLLQ(operand.Imm(63), q, odd)
	e.VPSLLQ(operand.Imm(62), q, negateSin)
	if e.avx512 {
		swap := e.K()
		e.VPMOVQ2M(odd, swap)
		e.VPXORQ(odd, negateSin, negateCos)
		e.blend("VBLENDMPD", s, c, swap, cos)
		e.blend("VBLENDMPD", c, s, swap, sin)
		e.VPTERNLOGQ(operand.Imm(xorAnd), t.signBit, negateSin, sin)
		e.VPTERNLOGQ(operand.Imm(xorAnd), t.signBit, negateCos, cos)
		return cos, sin
	}
	e.VPXOR(odd, negateSin, negateCos)
	e.VBLENDVPD(odd, s, c, cos)
	e.VBLENDVPD(odd, c, s, sin)
	e.negated(t, negateCos, cos)
	e.negated(t, negateSin, sin)
	return cos, sin
}

const xorAnd = 0x78 // VPTERNLOG: first ^ (second & third)

// negated changes the signs of v where negate has the highest bit set.
func (e *emitter) negated(t *quarterTurns, negate, v reg.VecVirtual) {
	e.VANDPS(t.signBit, negate, negate)
	e.VXORPS(negate, v, v)
}

// quadrants sets the quadrants.
func (v *vectors) quadrants() {
	e, q := v.e, v.q
	for j := 0; j < len(q); j += 2 {
		narrow := e.half()
		switch {
		case j+1 < len(q):
			if e.avx512 {
				narrow = q[j]
				e.VPERMT2PS(q[j+1], v.t.evens, narrow)
			} else {
				narrow = e.vector()
				e.VSHUFPS(operand.Imm(0x88), q[j+1], q[j], narrow)
				e.VPERMQ(operand.Imm(0xd8), narrow, narrow)
			}
		case e.avx512:
			e.VPMOVQD(q[j], narrow)
		default:
			e.VEXTRACTF128(operand.Imm(1), q[j], narrow)
			e.VSHUFPS(operand.Imm(0x88), narrow, q[j].AsX(), narrow)
		}
		v.quadrant = append(v.quadrant, narrow)
	}
}

// rounded returns cosines and sines as float32, two vectors of float64 as one.
func (v *vectors) rounded() (cos, sin []reg.VecVirtual) {
	e := v.e
	if v.quadrant == nil {
		v.quadrants()
	}
	e.Comment("3. rounding, and the quadrant: bit 0 of q swaps, bit 1 negates the sine, their sum the cosine")
	for j := 0; j < len(v.c); j += 2 {
		c, s := e.round32(v.c[j]), e.round32(v.s[j])
		if j+1 < len(v.c) {
			c, s = e.joined(c, e.round32(v.c[j+1])), e.joined(s, e.round32(v.s[j+1]))
		}
		c, s = e.turned(v.t, v.quadrant[j/2], c, s)
		cos, sin = append(cos, c), append(sin, s)
	}
	return cos, sin
}

// turned is quadrant64 for float32: VPERMILPS finds a sign by the two lowest bits of q.
func (e *emitter) turned(t *quarterTurns, q, c, s reg.VecVirtual) (cos, sin reg.VecVirtual) {
	cos, sin = e.like(c), e.like(c)
	if e.avx512 {
		swap := e.K()
		e.VPTESTMD(lanesOf(t.odd, q), q, swap)
		e.blend("VBLENDMPS", s, c, swap, cos)
		e.blend("VBLENDMPS", c, s, swap, sin)
	} else {
		odd := e.like(q)
		e.VPSLLD(operand.Imm(31), q, odd)
		e.VBLENDVPS(odd, s, c, cos)
		e.VBLENDVPS(odd, c, s, sin)
	}
	for _, signed := range []struct {
		v     reg.VecVirtual
		signs operand.Op
	}{{cos, t.cosineSigns}, {sin, t.sineSigns}} {
		signs := e.like(q)
		if m, ok := signed.signs.(operand.Mem); ok {
			e.VMOVUPS(m, signs)
			e.VPERMILPS(q, signs, signs)
		} else {
			e.VPERMILPS(q, lanesOf(signed.signs.(reg.VecVirtual), q), signs)
		}
		e.VXORPS(signs, signed.v, signed.v)
	}
	return cos, sin
}

// blend sets to to first where the mask is set, elsewhere to second. avo takes what was in
// to for an operand, so that it would have a register from the start.
func (e *emitter) blend(opcode string, first, second reg.VecVirtual, mask reg.OpmaskVirtual, to reg.VecVirtual) {
	e.Instruction(&ir.Instruction{
		Opcode: opcode, Operands: []operand.Op{first, second, mask, to},
		Inputs: []operand.Op{first, second, mask}, Outputs: []operand.Op{to}, ISA: []string{"AVX512F"},
	})
}

// round32 converts float64 to float32, on AVX2 in the lower half of the register.
func (e *emitter) round32(v reg.VecVirtual) reg.VecVirtual {
	if e.avx512 {
		half := e.half()
		e.VCVTPD2PS(v, half)
		return half
	}
	e.VCVTPD2PSY(v, v.AsX())
	return v.AsX().(reg.VecVirtual)
}

// clear sets v to zero.
func (e *emitter) clear(v reg.VecVirtual) {
	if e.avx512 {
		e.VPXORD(v, v, v)
	} else {
		e.VPXOR(v, v, v)
	}
}

// scales are the factors of a call.
type scales struct {
	e        *emitter
	cos, sin reg.VecVirtual // nil where there are no registers to keep them
}

func (e *emitter) newScales(inRegisters bool) *scales {
	s := &scales{e: e}
	if inRegisters {
		s.cos, s.sin = e.broadcast32("scaleCos", e.vector()), e.broadcast32("scaleSin", e.vector())
	}
	return s
}

// apply multiplies cosines and sines.
func (s *scales) apply(cos, sin []reg.VecVirtual) (scaledCos, scaledSin []reg.VecVirtual) {
	for j := range cos {
		s.multiply("scaleCos", s.cos, cos[j])
		s.multiply("scaleSin", s.sin, sin[j])
	}
	return cos, sin
}

func (s *scales) multiply(name string, factor, v reg.VecVirtual) {
	switch {
	case factor != nil:
		s.e.VMULPS(lanesOf(factor, v), v, v)
	case s.e.avx512:
		s.e.VMULPS_BCST(s.e.parameter(name), v, v)
	default:
		s.e.VMULPS(s.e.broadcast32(name, s.e.like(v)), v, v)
	}
}

// row is a loop over the n entries of a row of cosines and sines.
type row struct {
	cos, sin, n, i reg.GPVirtual
	half           int // entries of a half vector
	ahead          int // entries after i, in an unrolled loop
}

func (e *emitter) newRow() *row {
	r := &row{cos: e.argument("cos"), sin: e.argument("sin"), n: e.argument("n"), i: e.GP64(), half: e.lanes() / 2}
	e.XORQ(r.i, r.i)
	return r
}

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

// steps are what a loop over a row does with a group of half vectors, of which a row each.
type steps struct {
	begin  func(rows []*row, count reg.GPVirtual) *vectors // the first step; of count entries where count is not nil
	finish func(rows []*row, v *vectors) (cos, sin []reg.VecVirtual)
}

// group returns the rows of count half vectors.
func (r *row) group(after, count int) (rows []*row) {
	for j := range count {
		rows = append(rows, r.after(after+j*r.half))
	}
	return rows
}

// end writes the second step and the others.
func (e *emitter) end(r *row, rows []*row, v *vectors, s steps) {
	v.polynomials()
	cos, sin := s.finish(rows, v)
	for j := range cos {
		e.VMOVUPS(cos[j], rows[2*j].at(r.cos, 4))
		e.VMOVUPS(sin[j], rows[2*j].at(r.sin, 4))
	}
}

// overlapped makes groups of count half vectors and leaves less than ahead of them. A
// group begins before the ones ahead end: in order, a CPU finds too little to do beside the
// chains of one, as its window ends before the next.
func (e *emitter) overlapped(r *row, count, ahead int, s steps) {
	size := count * r.half
	loop, last, next := e.label("main"), e.label("last"), e.label("next")
	entries, most := operand.Imm(uint64(size)), operand.U32(uint32(ahead*size))
	rows := r.group(0, count)
	begin := func(groups int) *vectors {
		v := s.begin(r.group(groups*size, count), nil)
		v.quadrants()
		return v
	}
	e.SUBQ(most, r.n)
	e.JLT(operand.LabelRef(next))
	begun := make([]*vectors, ahead)
	for j := range begun {
		begun[j] = begin(j)
	}
	e.SUBQ(entries, r.n)
	e.JLT(operand.LabelRef(last))
	e.Label(loop)
	following := append(begun[1:ahead:ahead], begin(ahead))
	e.end(r, rows, begun[0], s)
	for j, v := range begun {
		for k := range v.f {
			e.VMOVAPD(following[j].f[k], v.f[k])
		}
		for k := range v.quadrant {
			e.VMOVAPS(following[j].quadrant[k], v.quadrant[k])
		}
	}
	e.ADDQ(entries, r.i)
	e.SUBQ(entries, r.n)
	e.JGE(operand.LabelRef(loop))
	e.Label(last)
	for _, v := range begun {
		e.end(r, rows, v, s)
		e.ADDQ(entries, r.i)
	}
	e.SUBQ(operand.U32(uint32((ahead-1)*size)), r.n)
	e.Label(next)
	e.ADDQ(most, r.n)
}

// loop makes groups of count half vectors and leaves less.
func (e *emitter) loop(r *row, count int, s steps) {
	entries, loop, next := operand.Imm(uint64(count*r.half)), e.label("loop"), e.label("next")
	e.SUBQ(entries, r.n)
	e.JLT(operand.LabelRef(next))
	e.Label(loop)
	rows := r.group(0, count)
	e.end(r, rows, s.begin(rows, nil), s)
	e.ADDQ(entries, r.i)
	e.SUBQ(entries, r.n)
	e.JGE(operand.LabelRef(loop))
	e.Label(next)
	e.ADDQ(entries, r.n)
}

// rest makes the last entries of a row, less than a half vector.
func (e *emitter) rest(r *row, s steps) {
	done := e.label("done")
	e.jumpIfZero(r.n, done)
	rows := []*row{r}
	v := s.begin(rows, r.n)
	v.polynomials()
	cos, sin := s.finish(rows, v)
	e.storeHalf(cos[0], r.at(r.cos, 4), r.n)
	e.storeHalf(sin[0], r.at(r.sin, 4), r.n)
	e.Label(done)
}

func cosSinExact(e *emitter) {
	high, low, margin := e.argument("high"), e.argument("low"), e.argument("margin")
	r := e.newRow()
	z := e.newZiv(false)
	scales, undecided := e.newScales(false), e.label("undecided")
	s := steps{func(rows []*row, _ reg.GPVirtual) *vectors {
		x, t := e.broadcast64("position"), e.newQuarterTurns(4, true) // again for each group, because registers are few
		var in []angles
		for _, r := range rows {
			in = append(in, angles{x, r.at(high, 8), r.at(low, 8)})
		}
		return e.turns(t, in)
	}, func(rows []*row, v *vectors) (cos, sin []reg.VecVirtual) {
		// Of cosines and sines that are not swapped yet, which they are above pi/4 alone: there
		// the bound of the sine is 0.78 of the other, and generic/proof/cossin.g has that.
		test := func() {
			z.test(v.c, v.s, func(j int) operand.Op {
				e.Comment("the error of a sine is in proportion to angles below 1")
				error := e.vector()
				e.VANDPD(e.magnitude64(), e.broadcast64("position"), error)
				e.VMULPD(rows[j].at(margin, 8), error, error)
				e.VMINPD(z.margin, error, error)
				return error
			}, undecided)
		}
		v.t.newSigns(e)
		if !e.avx512 {
			test()
			return scales.apply(v.rounded())
		}
		cos, sin = v.rounded() // first, because the rotation waits for it; AVX2 has no registers for that
		test()
		return scales.apply(cos, sin)
	}}
	counts := []int{2, 1}
	if e.avx512 {
		// A row of 64 entries is one group. Zen 5, cycles, one row after another and until a
		// row is there: 112 and 119. Groups of 4, both begun before the polynomials of the
		// first: 116 and 129. Groups of 2, 2 ahead, take a third longer than one of 8.
		counts = []int{8, 4, 1}
	}
	for _, count := range counts {
		e.loop(r, count, s)
	}
	e.rest(r, s)
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
	t := e.newQuarterTurns(8, true)
	bound := e.constant("margin", operation.Margin)
	loop := e.label("loop")
	e.XORQ(i, i)
	e.Label(loop)
	at := func(base reg.GPVirtual, j int) operand.Mem {
		return operand.Mem{Base: base, Index: i, Scale: 8, Disp: 4 * e.lanes() * j}
	}
	const count = 2
	var in []angles
	for j := range count {
		in = append(in, angles{x, at(high, j), at(low, j)})
	}
	v := e.turns(t, in)
	v.polynomials()
	for j := range count {
		cos, sin := e.quadrant64(t, v.q[j], v.c[j], v.s[j])
		error := e.vector()
		e.VMULPD(at(margin, j), reach, error)
		e.VMINPD(bound, error, error)
		e.VMOVUPD(cos, at(cosTo, j))
		e.VMOVUPD(sin, at(sinTo, j))
		e.VMOVUPD(error, at(errorTo, j))
	}
	e.ADDQ(operand.Imm(uint64(count*e.lanes()/2)), i)
	e.CMPQ(i, n)
	e.JLT(operand.LabelRef(loop))
	e.VZEROUPPER()
	e.RET()
}

func cosSinFloat32(e *emitter) {
	invFreq := e.argument("invFreq")
	r := e.newRow()
	scales := e.newScales(e.avx512)
	largest := e.vector() // of the bits of magnitudes
	e.clear(largest)
	t := e.newQuarterTurns(4, false)
	t.newSigns(e)
	high, low := e.wide("twoOverPiHigh", operation.TwoOverPiHigh), e.wide("twoOverPiLow", operation.TwoOverPiLow)
	magnitude := e.wide32("magnitude32", 1<<31-1)
	size := func(angle reg.VecVirtual) {
		v := e.like(angle)
		e.VANDPS(magnitude, angle, v)
		e.largest(largest, v)
	}
	begin := func(halves []operand.Op) *vectors {
		var list []angles
		for _, half := range halves {
			x := e.vector()
			e.VCVTPS2PD(half, x)
			list = append(list, angles{x, high, low})
		}
		return e.turns(t, list)
	}
	scaled := steps{func(rows []*row, count reg.GPVirtual) *vectors {
		angle := e.vectorOf(e.lanes() / 2 * len(rows))
		if count != nil {
			e.loadHalf(angle, r.at(invFreq, 4), count)
		} else {
			e.VMOVUPS(rows[0].at(invFreq, 4), angle)
		}
		position := e.broadcast32("position", e.like(angle)) // it is loaded each time: AVX2 has no register to keep it
		e.VMULPS(position, angle, angle)
		size(angle)
		if len(rows) == 1 {
			return begin([]operand.Op{angle})
		}
		upper := e.half()
		if e.avx512 {
			e.VEXTRACTF64X4(operand.Imm(1), angle, upper)
			return begin([]operand.Op{angle.AsY(), upper})
		}
		e.VEXTRACTF128(operand.Imm(1), angle, upper)
		return begin([]operand.Op{angle.AsX(), upper})
	}, func(_ []*row, v *vectors) (cos, sin []reg.VecVirtual) { return scales.apply(v.rounded()) }}
	// Zen 5, ns for a pair of 4096 and of rows of 64 that are multiplied, 1 and 2 ahead:
	// 0.37 and 0.37, 0.51 and 0.48. AVX2 has no registers for 2.
	ahead := 1
	if e.avx512 {
		ahead = 2
	}
	multiplied, rest := e.label("multiplied"), e.label("rest")
	some := e.factors("position", "scaleCos", "scaleSin")
	e.TESTQ(some, some)
	e.JNZ(operand.LabelRef(multiplied))
	e.overlapped(r, 2, ahead, steps{func(rows []*row, _ reg.GPVirtual) *vectors {
		angle := e.vector()
		e.VMOVUPS(rows[0].at(invFreq, 4), angle)
		size(angle)
		return begin([]operand.Op{rows[0].at(invFreq, 4), rows[1].at(invFreq, 4)})
	}, func(_ []*row, v *vectors) (cos, sin []reg.VecVirtual) { return v.rounded() }})
	e.JMP(operand.LabelRef(rest))
	e.Label(multiplied)
	e.overlapped(r, 2, ahead, scaled)
	e.Label(rest)
	e.loop(r, 1, scaled)
	e.rest(r, scaled)
	limit := e.vector() // the largest bits below 2^50; the bits of NaN are larger
	e.VMOVUPS(e.wide32("below50", 0x587fffff), limit)
	e.largest(largest, limit)
	e.VXORPS(limit, largest, largest)
	e.returnBits(largest, largest, "beyond")
}

// largest sets v to the larger numbers of it and of other, which may be half as wide.
func (e *emitter) largest(v, other reg.VecVirtual) {
	if other.Size() < v.Size() { // the others stay
		wide := e.vector()
		if other.Size() == 32 {
			e.VMOVAPS(other, wide.AsY())
		} else {
			e.VMOVAPS(other, wide.AsX())
		}
		other = wide
	}
	e.VPMAXUD(other, v, v)
}
