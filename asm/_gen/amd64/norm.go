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
	e.normalize(t, func(l *lines, n, weight reg.GPVirtual, factors []operand.Op) {
		left := e.GP64()
		e.MOVQ(n, left)
		e.multiplyLines(l, left, weight, factors)
	})
}

// normalize runs body for some rows at a time. It multiplies the n elements of
// each by its lane of factors and by weight.
func (e *emitter) normalize(t element, body func(l *lines, n, weight reg.GPVirtual, factors []operand.Op)) {
	done := e.label("done")
	x, n, count := e.argument("x"), e.argument("n"), e.argument("count")
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
		tail.mask = e.masks(left, 16).low
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
		factors := e.eachLane(l, e.inverseRoots(e.squareSums(l, n, tail), n))
		e.MOVQ(x, l.at)
		body(l, n, e.argument("weight"), factors)
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
			add(e.load(l.t, part{size: e.lanes()}, nil, l.row(i, j*e.lanes()*l.t.bytes())), sum)
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
			add(e.load(l.t, part{16, true}, tail.mask, l.row(i, 0)), sums[i][0])
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

// eachLane returns each lane of v, one for each row, in all lanes: in registers,
// or in memory where the ways by turns of AVX2 leave none.
func (e *emitter) eachLane(l *lines, v reg.VecVirtual) (list []operand.Op) {
	for i := range l.count {
		lane := v
		if i > 0 {
			lane = e.XMM()
			e.VPERMILPS(operand.U8(uint8(i)), v, lane)
		}
		all := e.vector()
		e.VBROADCASTSS(lane, all)
		if l.t != bfloat16s || e.avx512 {
			list = append(list, all)
			continue
		}
		memory := e.AllocLocal(32)
		e.VMOVUPS(all, memory)
		list = append(list, memory)
	}
	return list
}

// multiplyLines multiplies n elements of each row by its factor and by weight, and
// moves all addresses behind them.
func (e *emitter) multiplyLines(l *lines, n, weight reg.GPVirtual, factors []operand.Op) {
	e.numberParts(l.t, n, func(p part, m masks) {
		weights := e.loadPart(float32s, l.t, p, m, operand.Mem{Base: weight})
		for i, factor := range factors {
			e.savePart(l.t, p, m, e.multiplied(l.t, p, m, l.row(i, 0), factor, weights), l.row(i, 0))
		}
		e.ADDQ(operand.U32(uint32(4*p.size)), weight)
		e.ADDQ(operand.U32(uint32(l.t.bytes()*p.size)), l.at)
	})
}

// multiplied loads a part of numbers and multiplies it by a factor and weights.
func (e *emitter) multiplied(t element, p part, m masks, from operand.Mem, factor operand.Op, weights []reg.VecVirtual) []reg.VecVirtual {
	list := e.loadPart(t, t, p, m, from)
	for j, v := range list {
		e.VMULPS(lanesOf(factor, v), v, v)
		e.VMULPS(weights[j], v, v)
	}
	return list
}

// numberParts runs body over n elements. bfloat16 goes by turns, but for a last
// single one.
func (e *emitter) numberParts(t element, n reg.GPVirtual, body func(p part, m masks)) {
	sizes := whole(8, 4, 1)
	switch {
	case t == bfloat16s && e.avx512:
		sizes = []part{{32, false}, {32, true}}
	case t == bfloat16s:
		sizes = whole(16, 4, 1)
	case e.avx512:
		sizes = []part{{16, false}, {16, true}}
	}
	e.spans(n, sizes, func(p part) {
		var m masks
		if p.masked {
			m = e.masks(n, 16)
		}
		body(p, m)
	})
}

// loadPart loads a part of numbers that meets one of numbers of another type,
// and goes as that does.
func (e *emitter) loadPart(t, other element, p part, m masks, from operand.Mem) []reg.VecVirtual {
	if other == bfloat16s && p.size > 1 {
		even, odd := e.loadByTurns(t, p, m, from)
		return []reg.VecVirtual{even, odd}
	}
	return []reg.VecVirtual{e.load(t, p, m.low, from)}
}

func (e *emitter) savePart(t element, p part, m masks, list []reg.VecVirtual, to operand.Mem) {
	if len(list) == 2 {
		words := e.roundByTurns(list[:1], list[1:], true)
		e.saveWords(p, m.low, words[0], to)
		return
	}
	e.save(t, p, m.low, list[0], to)
}

// lanesOf returns as many lanes of v, a register or memory, as the other has.
func lanesOf(v operand.Op, other reg.VecVirtual) operand.Op {
	register, ok := v.(reg.VecVirtual)
	if !ok {
		return v
	}
	switch other.Size() {
	case 64:
		return register.AsZ()
	case 32:
		return register.AsY()
	default:
		return register.AsX()
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
	e.numberParts(t, left, func(p part, m masks) {
		list := e.loadPart(t, t, p, m, operand.Mem{Base: at})
		for _, v := range list {
			e.VMULPS(lanesOf(factor, v), v, v)
		}
		e.savePart(t, p, m, list, operand.Mem{Base: at})
		e.ADDQ(operand.U32(uint32(t.bytes()*p.size)), at)
	})
	e.ADDQ(stride, x)
	e.DECQ(count)
	e.JNZ(operand.LabelRef(loop))
	e.Label(done)
	e.VZEROUPPER()
	e.RET()
}
