package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lines is rows of x that are worked on together, so that what one waits for is
// time for the others.
type lines struct {
	t       element
	count   int
	at      reg.GPVirtual // in the first row
	stride  reg.GPVirtual // in bytes
	stride3 reg.GPVirtual
}

// row returns the address of a row, displacement bytes on.
func (l *lines) row(i, displacement int) operand.Mem {
	m := operand.Mem{Base: l.at, Disp: displacement}
	switch i {
	case 1, 2:
		m.Index, m.Scale = l.stride, uint8(i)
	case 3:
		m.Index, m.Scale = l.stride3, 1
	}
	return m
}

func rmsNorm(e *emitter, t element) {
	done := e.label("done")
	x, weight, n, count := e.argument("x"), e.argument("weight"), e.argument("n"), e.argument("count")
	l := &lines{t: t, at: e.GP64(), stride: e.byteStride(t), stride3: e.GP64()}
	e.LEAQ(operand.Mem{Base: l.stride, Index: l.stride, Scale: 2}, l.stride3)
	e.TESTQ(n, n)
	e.JZ(operand.LabelRef(done))
	if t == bfloat16s {
		e.loadTurns()
	}
	tail := &squareTail{}
	if e.avx512 {
		left := e.GP64()
		e.MOVQ(n, left)
		e.ANDQ(operand.Imm(15), left)
		tail.mask = e.masks(left).low
	} else {
		tail.memory = e.AllocLocal(64)
		zero := e.YMM()
		e.VXORPS(zero, zero, zero)
		e.VMOVUPS(zero, tail.memory)
		e.VMOVUPS(zero, tail.memory.Offset(32))
	}
	for _, l.count = range []int{4, 1} {
		loop, next := e.label("rows"), e.label("next")
		e.CMPQ(count, operand.Imm(uint64(l.count)))
		e.JLT(operand.LabelRef(next))
		e.Label(loop)
		e.MOVQ(x, l.at)
		inverses := e.inverseRoots(e.squareSums(l, n, tail), n)
		e.MOVQ(x, l.at)
		e.multiplyLines(l, n, weight, inverses)
		e.LEAQ(operand.Mem{Base: x, Index: l.stride, Scale: uint8(l.count)}, x)
		e.SUBQ(operand.Imm(uint64(l.count)), count)
		e.CMPQ(count, operand.Imm(uint64(l.count)))
		e.JGE(operand.LabelRef(loop))
		e.Label(next)
	}
	e.Label(done)
	e.VZEROUPPER()
	e.RET()
}

// byteStride loads the stride of x in bytes.
func (e *emitter) byteStride(t element) reg.GPVirtual {
	stride := e.argument("stride")
	shift := map[int]uint64{4: 2, 2: 1}[t.bytes()]
	e.SHLQ(operand.Imm(shift), stride)
	return stride
}

// squareTail is how the last elements of a row are brought to their lanes, with
// zeros in the others: by a mask, or through memory that starts as zeros.
type squareTail struct {
	mask   reg.OpmaskVirtual
	memory operand.Mem
}

// squareSums returns, for each row, the sums of the squares of its elements in
// 16 lanes: one vector or two.
func (e *emitter) squareSums(l *lines, n reg.GPVirtual, tail *squareTail) [][]reg.VecVirtual {
	sums := make([][]reg.VecVirtual, l.count)
	for i := range sums {
		for range 16 / e.lanes() {
			sum := e.vector()
			e.VXORPS(sum, sum, sum)
			sums[i] = append(sums[i], sum)
		}
	}
	add := func(v, sum reg.VecVirtual) {
		e.VMULPS(v, v, v)
		e.VADDPS(v, sum, sum)
	}
	left := e.GP64()
	loop, rest, done := e.label("squares"), e.label("rest"), e.label("summed")
	e.MOVQ(n, left)
	e.SUBQ(operand.Imm(16), left)
	e.JLT(operand.LabelRef(rest))
	e.Label(loop)
	for i := range sums {
		for j, sum := range sums[i] {
			add(e.widened(l.t, part{size: e.lanes()}, nil, l.row(i, j*e.lanes()*l.t.bytes())), sum)
		}
	}
	e.ADDQ(operand.Imm(uint64(16*l.t.bytes())), l.at)
	e.SUBQ(operand.Imm(16), left)
	e.JGE(operand.LabelRef(loop))
	e.Label(rest)
	e.ADDQ(operand.Imm(16), left)
	e.JZ(operand.LabelRef(done))
	for i := range sums {
		if e.avx512 {
			add(e.widened(l.t, part{16, true}, tail.mask, l.row(i, 0)), sums[i][0])
			continue
		}
		single := e.label("single")
		index, from := e.GP64(), e.GP64()
		e.LEAQ(l.row(i, 0), from)
		e.XORQ(index, index)
		e.Label(single)
		v := e.load(l.t, part{size: 1}, nil, operand.Mem{Base: from, Index: index, Scale: uint8(l.t.bytes())})
		e.VMOVSS(v, tail.memory.Idx(index, 4))
		e.INCQ(index)
		e.CMPQ(index, left)
		e.JNE(operand.LabelRef(single))
		for j, sum := range sums[i] {
			v := e.vector()
			e.VMOVUPS(tail.memory.Offset(32*j), v)
			add(v, sum)
		}
	}
	e.Label(done)
	return sums
}

// widened loads a vector of numbers in order.
func (e *emitter) widened(t element, p part, mask reg.OpmaskVirtual, from operand.Mem) reg.VecVirtual {
	if t != bfloat16s {
		return e.load(t, p, mask, from)
	}
	v := e.vectorOf(p.size)
	e.VPMOVZXWD(e.loadWords(p, mask, from), v)
	e.VPSLLD(operand.Imm(16), v, v)
	return v
}

// inverseRoots returns the inverses of the root mean squares of rows, in as many
// lanes.
func (e *emitter) inverseRoots(sums [][]reg.VecVirtual, n reg.GPVirtual) reg.VecVirtual {
	var quads []reg.VecVirtual // sums[l]+sums[l+8], then +4
	for _, row := range sums {
		upper, quad := e.YMM(), e.XMM()
		half := row[0].AsY()
		if e.avx512 {
			e.VEXTRACTF32X8(operand.Imm(1), row[0], upper)
			e.VADDPS(upper, half, half)
			e.VEXTRACTF32X4(operand.Imm(1), half, quad)
		} else {
			e.VADDPS(row[1], half, half)
			e.VEXTRACTF128(operand.Imm(1), half, quad)
		}
		e.VADDPS(row[0].AsX(), quad, quad)
		quads = append(quads, quad)
	}
	sum := quads[0]
	if len(quads) == 1 {
		upper := e.XMM()
		e.VMOVHLPS(sum, sum, upper) // +2
		e.VADDPS(upper, sum, sum)
		e.VMOVSHDUP(sum, upper) // +1
		e.VADDPS(upper, sum, sum)
	} else {
		var pairs [2]reg.VecVirtual // +2, of two rows each
		for i := range pairs {
			low, high := e.XMM(), e.XMM()
			e.VUNPCKLPD(quads[2*i+1], quads[2*i], low)
			e.VUNPCKHPD(quads[2*i+1], quads[2*i], high)
			e.VADDPS(high, low, low)
			pairs[i] = low
		}
		const evens, odds = operand.U8(0x88), operand.U8(0xdd)
		even, odd := e.XMM(), e.XMM()
		e.VSHUFPS(evens, pairs[1], pairs[0], even)
		e.VSHUFPS(odds, pairs[1], pairs[0], odd)
		e.VADDPS(odd, even, even) // +1
		sum = even
	}
	length, epsilon, one := e.XMM(), e.broadcast32("epsilon", e.XMM()), e.XMM()
	e.VXORPS(length, length, length)
	e.VCVTSI2SSQ(n, length, length)
	e.VBROADCASTSS(length, length)
	e.VDIVPS(length, sum, sum)
	e.VADDPS(epsilon, sum, sum)
	e.VSQRTPS(sum, sum)
	e.VMOVUPS(e.wide32("one32", 0x3f800000), one)
	e.VDIVPS(sum, one, sum)
	return sum
}

// multiplyLines multiplies each row by its lane of inverses, and by weight.
func (e *emitter) multiplyLines(l *lines, n, weight reg.GPVirtual, inverses reg.VecVirtual) {
	factors := make([]reg.VecVirtual, l.count)
	for i := range factors {
		lane := inverses
		if i > 0 {
			lane = e.XMM()
			e.VPERMILPS(operand.U8(uint8(i)), inverses, lane)
		}
		factors[i] = e.vector()
		e.VBROADCASTSS(lane, factors[i])
	}
	w, left := e.GP64(), e.GP64()
	e.MOVQ(weight, w)
	e.MOVQ(n, left)
	e.steps(l.t, left, func(p step) {
		weights := e.loadStep(float32s, p, operand.Mem{Base: w})
		for i := range factors {
			list := e.loadStep(l.t, p, l.row(i, 0))
			for j, v := range list {
				e.VMULPS(lanesOf(factors[i], v), v, v)
				e.VMULPS(weights[j], v, v)
			}
			e.saveStep(l.t, p, list, l.row(i, 0))
		}
		e.ADDQ(operand.U32(uint32(4*p.size)), w)
		e.ADDQ(operand.U32(uint32(l.t.bytes()*p.size)), l.at)
	})
}

// step is a part and how it is moved.
type step struct {
	part
	byTurns bool
	masks   masks
}

// steps runs body over left elements. bfloat16 goes by turns, as far as it can.
func (e *emitter) steps(t element, left reg.GPVirtual, body func(p step)) {
	list := []step{{part: part{size: 8}}, {part: part{size: 4}}, {part: part{size: 1}}}
	switch {
	case t == bfloat16s && e.avx512:
		list = []step{{part: part{size: 32}, byTurns: true}, {part: part{32, true}, byTurns: true}}
	case t == bfloat16s:
		list = []step{{part: part{size: 16}, byTurns: true}, {part: part{size: 4}, byTurns: true}, {part: part{size: 1}}}
	case e.avx512:
		list = []step{{part: part{size: 16}}, {part: part{16, true}}}
	}
	for _, p := range list {
		loop, next := e.label("part"), e.label("next")
		if p.masked {
			e.TESTQ(left, left)
			e.JZ(operand.LabelRef(next))
			p.masks = e.masks(left)
			body(p)
			e.Label(next)
			continue
		}
		e.CMPQ(left, operand.Imm(uint64(p.size)))
		e.JLT(operand.LabelRef(next))
		e.Label(loop)
		body(p)
		e.SUBQ(operand.Imm(uint64(p.size)), left)
		e.CMPQ(left, operand.Imm(uint64(p.size)))
		e.JGE(operand.LabelRef(loop))
		e.Label(next)
	}
}

func (e *emitter) loadStep(t element, p step, from operand.Mem) []reg.VecVirtual {
	if p.byTurns {
		even, odd := e.loadByTurns(t, p.part, p.masks, from)
		return []reg.VecVirtual{even, odd}
	}
	return []reg.VecVirtual{e.load(t, p.part, p.masks.low, from)}
}

func (e *emitter) saveStep(t element, p step, list []reg.VecVirtual, to operand.Mem) {
	if p.byTurns {
		e.saveByTurns(p.part, p.masks, list[0], list[1], to)
	} else {
		e.save(t, p.part, p.masks.low, list[0], to)
	}
}

// lanesOf returns as many lanes of v as the other has.
func lanesOf(v, other reg.VecVirtual) reg.Register {
	switch other.Size() {
	case 64:
		return v.AsZ()
	case 32:
		return v.AsY()
	default:
		return v.AsX()
	}
}

// scaleRows multiplies rows by one factor.
func scaleRows(e *emitter, t element) {
	done, loop := e.label("done"), e.label("rows")
	x, n, count, stride := e.argument("x"), e.argument("n"), e.argument("count"), e.byteStride(t)
	factor := e.broadcast32("factor", e.vector())
	if t == bfloat16s {
		e.loadTurns()
	}
	at, left := e.GP64(), e.GP64()
	e.TESTQ(count, count)
	e.JZ(operand.LabelRef(done))
	e.Label(loop)
	e.MOVQ(x, at)
	e.MOVQ(n, left)
	e.steps(t, left, func(p step) {
		list := e.loadStep(t, p, operand.Mem{Base: at})
		for _, v := range list {
			e.VMULPS(lanesOf(factor, v), v, v)
		}
		e.saveStep(t, p, list, operand.Mem{Base: at})
		e.ADDQ(operand.U32(uint32(t.bytes()*p.size)), at)
	})
	e.ADDQ(stride, x)
	e.DECQ(count)
	e.JNZ(operand.LabelRef(loop))
	e.Label(done)
	e.VZEROUPPER()
	e.RET()
}
