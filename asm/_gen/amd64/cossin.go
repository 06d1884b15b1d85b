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
	toInteger, signBit operand.Op
	dropZeroSign       reg.VecVirtual // toInteger in a register, to make every zero angle +0: f + (M-q), not f - (q-M)
	sine, cosine       []operand.Mem
	evens              reg.VecVirtual // AVX-512: numbers of elements of two vectors
}

// newQuarterTurns returns the constants for signs of so many bytes.
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
	signBit := e.data("signBit", 8, 1<<63)
	if bytes == 4 {
		signBit = e.wide32("signBit32", 1<<31)
	}
	t.signBit = signBit
	if e.avx512 {
		v := e.vector()
		e.VMOVUPD(signBit, v)
		t.signBit = v
		if bytes == 4 {
			t.evens = e.permutation("evens", 4)
		}
	}
	return t
}

// angles are the operands of one vector of angles (pi/2)*x*(high+low).
type angles struct {
	x         reg.VecVirtual
	high, low operand.Op
}

// vectors is several vectors of float64 on their way to cosines and sines: generic's
// cosSin but for the quadrant. The instructions of all alternate, because each vector
// alone is one long chain.
type vectors struct {
	e       *emitter
	t       *quarterTurns
	q, f, y []reg.VecVirtual // q has the quadrant in its lowest bits
	c, s    []reg.VecVirtual
	narrow  []reg.VecVirtual // the quadrants of two vectors as 32-bit numbers; nil: still in q
}

// several returns so many new registers.
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
	q, k, f, y := e.several(len(in)), e.several(len(in)), e.several(len(in)), e.several(len(in))
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
	return &vectors{e: e, t: t, q: q, f: f, y: y}
}

// polynomials writes the second.
func (v *vectors) polynomials() {
	e, t := v.e, v.t
	e.Comment("2. polynomials in y = f*f")
	many := len(v.q) > 4 // there are registers for one polynomial at a time, and for narrow quadrants
	if many {
		v.narrow = v.narrowed()
		v.s = v.horner(t.sine)[0]
	} else {
		both := v.horner(t.sine, t.cosine)
		v.s, v.c = both[0], both[1]
	}
	for j := range v.s {
		e.VMULPD(v.f[j], v.s[j], v.s[j])
	}
	if many {
		v.c = v.horner(t.cosine)[0]
	}
}

// horner returns polynomials in y, with the instructions of all alternating.
func (v *vectors) horner(coefficients ...[]operand.Mem) [][]reg.VecVirtual {
	e := v.e
	p, next := make([][]reg.VecVirtual, len(coefficients)), make([]operand.Op, len(coefficients))
	for k := range p {
		p[k] = e.several(len(v.y))
	}
	for j := range v.y {
		for k, c := range coefficients {
			e.VMOVUPD(c[6], p[k][j])
		}
	}
	for i := 5; i >= 0; i-- {
		for k, c := range coefficients {
			next[k] = e.shared(c[i], len(v.y))
		}
		for j := range v.y {
			for k := range p {
				e.VFMADD213PD(next[k], v.y[j], p[k][j])
			}
		}
	}
	return p
}

// shared returns a constant of several vectors in a register, where there are enough.
func (e *emitter) shared(constant operand.Mem, vectors int) operand.Op {
	if !e.avx512 || vectors == 1 {
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
	e.signs(t, negateCos, cos)
	e.signs(t, negateSin, sin)
	return cos, sin
}

const xorAnd = 0x78 // VPTERNLOG: first ^ (second & third)

// signs changes the signs of v where negate has the highest bit set.
func (e *emitter) signs(t *quarterTurns, negate, v reg.VecVirtual) {
	e.VANDPS(t.signBit, negate, negate)
	e.VXORPS(negate, v, v)
}

// quadrant32 is quadrant64 once cosines and sines are rounded and q narrowed.
func (e *emitter) quadrant32(t *quarterTurns, q, c, s reg.VecVirtual) (cos, sin reg.VecVirtual) {
	odd, negateSin, negateCos := e.like(q), e.like(q), e.like(q)
	cos, sin = e.like(q), e.like(q)
	e.VPSLLD(operand.Imm(31), q, odd)
	e.VPSLLD(operand.Imm(30), q, negateSin)
	if e.avx512 {
		swap := e.K()
		e.VPMOVD2M(odd, swap)
		e.VPXORD(odd, negateSin, negateCos)
		e.blend("VBLENDMPS", s, c, swap, cos)
		e.blend("VBLENDMPS", c, s, swap, sin)
		signBit := lanesOf(t.signBit.(reg.VecVirtual), q)
		e.VPTERNLOGD(operand.Imm(xorAnd), signBit, negateSin, sin)
		e.VPTERNLOGD(operand.Imm(xorAnd), signBit, negateCos, cos)
		return cos, sin
	}
	e.VPXOR(odd, negateSin, negateCos)
	e.VBLENDVPS(odd, s, c, cos)
	e.VBLENDVPS(odd, c, s, sin)
	e.signs(t, negateCos, cos)
	e.signs(t, negateSin, sin)
	return cos, sin
}

// narrowed returns the quadrants of two vectors as one of 32-bit numbers.
func (v *vectors) narrowed() (narrow []reg.VecVirtual) {
	e, q := v.e, v.q
	for j := 0; j < len(q); j += 2 {
		n := e.half()
		switch {
		case j+1 < len(q) && e.avx512:
			n = q[j]
			e.VPERMT2PS(q[j+1], v.t.evens, n)
		case j+1 < len(q):
			n = e.vector()
			e.VSHUFPS(operand.Imm(0x88), q[j+1], q[j], n)
			e.VPERMQ(operand.Imm(0xd8), n, n)
		case e.avx512:
			e.VPMOVQD(q[j], n)
		default:
			e.VEXTRACTF128(operand.Imm(1), q[j], n)
			e.VSHUFPS(operand.Imm(0x88), n, q[j].AsX(), n)
		}
		narrow = append(narrow, n)
	}
	return narrow
}

// rounded returns cosines and sines as float32, two vectors of float64 as one.
func (v *vectors) rounded() (cos, sin []reg.VecVirtual) {
	e, c, s := v.e, v.c, v.s
	e.Comment("3. rounding, and the quadrant: bit 0 of q swaps, bit 1 negates the sine, their sum the cosine")
	if v.narrow == nil {
		v.narrow = v.narrowed()
	}
	for i, narrow := range v.narrow {
		j := 2 * i
		c32, s32 := e.round32(c[j]), e.round32(s[j])
		if j+1 < len(c) {
			c32, s32 = e.joined(c32, e.round32(c[j+1])), e.joined(s32, e.round32(s[j+1]))
		}
		jCos, jSin := e.quadrant32(v.t, narrow, c32, s32)
		cos, sin = append(cos, jCos), append(sin, jSin)
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
	ahead              int        // entries after i, in an unrolled loop
	scaleCos, scaleSin operand.Op // in every lane of a register, or once in memory
}

// newRow returns the row at its start. Only AVX-512 takes factors in memory.
func (e *emitter) newRow(scalesInMemory bool) *row {
	r := &row{cos: e.argument("cos"), sin: e.argument("sin"), n: e.argument("n"), i: e.GP64()}
	if scalesInMemory {
		r.scaleCos, r.scaleSin = e.parameter("scaleCos"), e.parameter("scaleSin")
	} else {
		r.scaleCos, r.scaleSin = e.broadcast32("scaleCos", e.vector()), e.broadcast32("scaleSin", e.vector())
	}
	e.XORQ(r.i, r.i)
	return r
}

// scale multiplies v by a factor of a row.
func (e *emitter) scale(factor operand.Op, v reg.VecVirtual) {
	if m, ok := factor.(operand.Mem); ok {
		e.VMULPS_BCST(m, v, v)
		return
	}
	e.VMULPS(lanesOf(factor.(reg.VecVirtual), v), v, v)
}

// order says how the loops over a row arrange what they do.
type order struct {
	iterations []int // half vectors of an iteration, loop by loop, from the most to 1
	group      int   // of them, those whose instructions alternate
	ahead      int   // groups that begin before the polynomials of one
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

// loop makes the entries of a row: begin writes the first step for a group of half vectors,
// with a row for each and, where input is not nil, vectors of it, two half vectors as one;
// finish what follows on the polynomials. It scales what finish returns, two half vectors as
// one, and stores it.
//
// A group ends among the beginning of a later one: in order, a CPU finds too little to do
// beside the chains of one, as its window ends before the next.
func (e *emitter) loop(o order, r *row, input reg.GPVirtual, begin func(rows []*row, in []reg.VecVirtual) *vectors, finish func(rows []*row, v *vectors) (cos, sin []reg.VecVirtual)) {
	half := e.lanes() / 2
	finished := func(rows []*row, v *vectors) (cos, sin []reg.VecVirtual) {
		cos, sin = finish(rows, v)
		for j := range cos {
			e.scale(r.scaleCos, cos[j])
			e.scale(r.scaleSin, sin[j])
		}
		return cos, sin
	}
	whole := func(count int) {
		var groups [][]*row
		for j := range count {
			if j%o.group == 0 {
				groups = append(groups, nil)
			}
			last := &groups[len(groups)-1]
			*last = append(*last, r.after(j*half))
		}
		started := make([]*vectors, len(groups))
		start := func(g int) {
			if g >= len(groups) {
				return
			}
			rows := groups[g]
			var in []reg.VecVirtual
			for j := 0; input != nil && j < len(rows); j += 2 {
				v := e.vectorOf(half * min(2, len(rows)))
				e.VMOVUPS(rows[j].at(input, 4), v)
				in = append(in, v)
			}
			started[g] = begin(rows, in)
		}
		for g := range o.ahead {
			start(g)
		}
		for g, rows := range groups {
			started[g].polynomials()
			e.together(func() {
				cos, sin := finished(rows, started[g])
				for j := range cos {
					e.VMOVUPS(cos[j], rows[2*j].at(r.cos, 4))
					e.VMOVUPS(sin[j], rows[2*j].at(r.sin, 4))
				}
			}, func() { start(g + o.ahead) })
		}
		e.ADDQ(operand.Imm(uint64(count*half)), r.i)
		e.SUBQ(operand.Imm(uint64(count*half)), r.n)
	}
	for _, count := range o.iterations {
		entries, loop, next := operand.Imm(uint64(count*half)), e.label("main"), e.label("next")
		e.CMPQ(r.n, entries)
		e.JLT(operand.LabelRef(next))
		e.Label(loop)
		whole(count)
		e.CMPQ(r.n, entries)
		e.JGE(operand.LabelRef(loop))
		e.Label(next)
	}
	done := e.label("done")
	e.TESTQ(r.n, r.n)
	e.JZ(operand.LabelRef(done))
	var in []reg.VecVirtual
	if input != nil {
		in = append(in, e.half())
		e.loadHalf(in[0], r.at(input, 4), r.n)
	}
	rows := []*row{r}
	v := begin(rows, in)
	v.polynomials()
	cos, sin := finished(rows, v)
	e.storeHalf(cos[0], r.at(r.cos, 4), r.n)
	e.storeHalf(sin[0], r.at(r.sin, 4), r.n)
	e.Label(done)
}

// together writes the instructions of both alternately. A label stays behind what comes
// before it. Flags are for the first alone, and only the first may branch.
func (e *emitter) together(first, second func()) {
	file, err := e.Result()
	if err != nil {
		panic(err)
	}
	functions := file.Functions()
	f := functions[len(functions)-1]
	start := len(f.Nodes)
	run := func(write func()) (list [][]ir.Node) {
		before := len(f.Nodes)
		write()
		comment := false
		for _, node := range f.Nodes[before:] {
			_, label := node.(ir.Label)
			if len(list) > 0 && (label || comment) {
				list[len(list)-1] = append(list[len(list)-1], node)
			} else {
				list = append(list, []ir.Node{node})
			}
			_, comment = node.(*ir.Comment)
		}
		return list
	}
	a, b := run(first), run(second)
	f.Nodes = f.Nodes[:start]
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if j == len(b) || i < len(a) && (2*i+1)*len(b) <= (2*j+1)*len(a) {
			f.Nodes = append(f.Nodes, a[i]...)
			i++
		} else {
			f.Nodes = append(f.Nodes, b[j]...)
			j++
		}
	}
}

func cosSinExact(e *emitter) {
	high, low, margin := e.argument("high"), e.argument("low"), e.argument("margin")
	r := e.newRow(e.avx512)
	z := e.newZiv(false)
	undecided := e.label("undecided")
	o := order{[]int{2, 1}, 2, 1} // AVX2 has no registers for a group that begins before another ends
	if e.avx512 {
		// A row of 64 entries is one group. Zen 5, cycles, one row after another and until a
		// row is there: 112 and 119. Groups of 4, both begun before the polynomials of the
		// first: 116 and 129. Groups of 2, 2 ahead, take a third longer than one of 8.
		o = order{[]int{8, 4, 1}, 8, 1}
	}
	e.loop(o, r, nil, func(rows []*row, _ []reg.VecVirtual) *vectors {
		x, t := e.broadcast64("position"), e.newQuarterTurns(4, true) // again for each group, because registers are few
		var in []angles
		for _, r := range rows {
			in = append(in, angles{x, r.at(high, 8), r.at(low, 8)})
		}
		return e.turns(t, in)
	}, func(rows []*row, v *vectors) (cos, sin []reg.VecVirtual) {
		// Of cosines and sines that are not swapped yet, which they are above pi/4 alone: there
		// the bound of the sine is 0.78 of the other, and proof/cossin.g has that.
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
		if !e.avx512 {
			test()
			return v.rounded()
		}
		cos, sin = v.rounded() // first, because the rotation waits for it; AVX2 has no registers for that
		test()
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
	r := e.newRow(false)
	position, largest := e.broadcast32("position", e.vector()), e.vector() // of the bits of magnitudes
	e.clear(largest)
	t := e.newQuarterTurns(4, false)
	high, low := e.wide("twoOverPiHigh", operation.TwoOverPiHigh), e.wide("twoOverPiLow", operation.TwoOverPiLow)
	magnitude := e.wide32("magnitude32", 1<<31-1)
	// Zen 5, AVX-512, cycles for 8 pairs: groups of 4 that are an iteration each 16.0, so
	// 13.4, the same instructions without dependencies 10.1; two multipliers need 10.
	o := order{[]int{2, 1}, 2, 1}
	if e.avx512 {
		o = order{[]int{8, 4, 1}, 2, 2}
	}
	e.loop(o, r, invFreq, func(_ []*row, in []reg.VecVirtual) *vectors {
		var list []angles
		for _, v := range in {
			angle, size := e.like(v), e.like(v)
			e.VMULPS(lanesOf(position, v), v, angle)
			e.VANDPS(magnitude, angle, size)
			e.largest(largest, size)
			halves := []reg.Register{angle}
			if v.Size() == largest.Size() {
				upper := e.half()
				if e.avx512 {
					e.VEXTRACTF64X4(operand.Imm(1), angle, upper)
					halves = []reg.Register{angle.AsY(), upper}
				} else {
					e.VEXTRACTF128(operand.Imm(1), angle, upper)
					halves = []reg.Register{angle.AsX(), upper}
				}
			}
			for _, half := range halves {
				x := e.vector()
				e.VCVTPS2PD(half, x)
				list = append(list, angles{x, high, low})
			}
		}
		return e.turns(t, list)
	}, func(_ []*row, v *vectors) (cos, sin []reg.VecVirtual) { return v.rounded() })
	limit := e.vector() // the largest bits below 2^50; those of NaN are larger
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
