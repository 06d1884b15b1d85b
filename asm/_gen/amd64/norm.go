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

func rmsNorm(e *emitter) {
	e.normalize(e.to, func(l *lines, n, weight reg.GPVirtual, factors []factor) {
		left := e.GP64()
		e.MOVQ(n, left)
		e.multiplyLines(l, left, weight, factors)
	})
}

// normalize runs body for some rows at a time. It multiplies the n elements of
// each by its lane of factors and by weight.
func (e *emitter) normalize(t element, body func(l *lines, n, weight reg.GPVirtual, factors []factor)) {
	done := e.label("done")
	x, n, count := e.argument("x"), e.argument("n"), e.argument("count")
	l := &lines{t: t, at: e.GP64(), stride: e.byteStride(t), stride3: e.GP64()}
	e.LEAQ(operand.Mem{Base: l.stride, Index: l.stride, Scale: 2}, l.stride3)
	e.TESTQ(n, n)
	e.JZ(operand.LabelRef(done))
	if t == bfloat16s {
		e.loadEvenOddConstants()
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
	inverses, these := e.AllocLocal(16), e.AllocLocal(16)
	for _, l.count = range []int{4, 1} {
		loop, last, next := e.label("rows"), e.label("last"), e.label("next")
		sum := func() {
			e.VMOVUPS(e.inverseRoots(e.squareSums(l, n, tail), n), inverses)
		}
		e.CMPQ(count, operand.Imm(uint64(l.count)))
		e.JLT(operand.LabelRef(next))
		e.MOVQ(x, l.at)
		sum()
		e.Label(loop)
		e.Comment("1. the sums of the next rows, whose roots take long, before these are multiplied")
		factors := e.eachFactor(l, inverses, these)
		e.SUBQ(operand.Imm(uint64(l.count)), count)
		e.CMPQ(count, operand.Imm(uint64(l.count)))
		e.JLT(operand.LabelRef(last))
		e.LEAQ(operand.Mem{Base: x, Index: l.stride, Scale: uint8(l.count)}, l.at)
		sum()
		e.Label(last)
		e.Comment("2. these rows")
		e.MOVQ(x, l.at)
		body(l, n, e.argument("weight"), factors)
		e.LEAQ(operand.Mem{Base: x, Index: l.stride, Scale: uint8(l.count)}, x)
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
// 16 lanes.
func (e *emitter) squareSums(l *lines, n reg.GPVirtual, tail *squareTail) [][]reg.VecVirtual {
	sums := e.zeros(l.count)
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
		e.prefetchAhead(l.row(i, 0), 16*l.t.bytes())
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

// zeros returns 16 lanes of zeros for each of some rows: one vector or two.
func (e *emitter) zeros(rows int) [][]reg.VecVirtual {
	sums := make([][]reg.VecVirtual, rows)
	for i := range sums {
		for range 16 / e.lanes() {
			sum := e.vector()
			e.VXORPS(sum, sum, sum)
			sums[i] = append(sums[i], sum)
		}
	}
	return sums
}

// inverseRoots returns the inverses of the root mean squares of rows, in as many
// lanes.
func (e *emitter) inverseRoots(sums [][]reg.VecVirtual, n reg.GPVirtual) reg.VecVirtual {
	sum := e.totals(sums)
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

// totals returns the sums of 16 lanes each, of four rows or of one, in as many
// lanes.
func (e *emitter) totals(sums [][]reg.VecVirtual) reg.VecVirtual {
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
	return sum
}

// factor returns a number in all lanes, as many as the other register has.
type factor func(other reg.VecVirtual) reg.Register

// eachFactor returns the factors of rows, which from holds. They stay in registers, or
// come from a copy each time where even and odd elements apart leave AVX2 none.
func (e *emitter) eachFactor(l *lines, from, copied operand.Mem) (list []factor) {
	if l.t == bfloat16s && !e.avx512 {
		all := e.XMM()
		e.VMOVUPS(from, all)
		e.VMOVUPS(all, copied)
	}
	for i := range l.count {
		if l.t == bfloat16s && !e.avx512 {
			list = append(list, func(other reg.VecVirtual) reg.Register {
				v := e.like(other)
				e.VBROADCASTSS(copied.Offset(4*i), v)
				return v
			})
			continue
		}
		v := e.vector()
		e.VBROADCASTSS(from.Offset(4*i), v)
		list = append(list, func(other reg.VecVirtual) reg.Register { return lanesOf(v, other) })
	}
	return list
}

// multiplyLines multiplies n elements of each row by its factor and by weight, and
// moves all addresses behind them.
func (e *emitter) multiplyLines(l *lines, n, weight reg.GPVirtual, factors []factor) {
	e.numberParts(l.t, n, func(p part, m masks, at int) {
		weights := e.loadPart(float32s, l.t, p, m, operand.Mem{Base: weight, Disp: 4 * at})
		for i := 0; i < l.count; i += sideBySide {
			var places []place
			for j := i; j < min(i+sideBySide, l.count); j++ {
				places = append(places, place{l.row(j, l.t.bytes()*at), factors[j], weights})
			}
			e.savePartsUpTo(l.t, p, n, e.multiplied(l.t, p, m, places), places)
		}
	}, func(block part) {
		e.pass(block, n, 4, weight)
		e.pass(block, n, l.t.bytes(), l.at)
	})
}

// sideBySide is the parts whose instructions alternate, because each alone is one
// long chain.
const sideBySide = 2

// place is where a part of numbers lies and what multiplies it.
type place struct {
	at      operand.Mem
	factor  factor
	weights []reg.VecVirtual
}

// multiplied loads parts of numbers and multiplies them by their factors and
// weights.
func (e *emitter) multiplied(t element, p part, m masks, places []place) (parts [][]reg.VecVirtual) {
	for _, from := range places {
		parts = append(parts, e.loadPart(t, t, p, m, from.at))
	}
	for i, list := range parts {
		f := places[i].factor(list[0])
		for _, v := range list {
			e.VMULPS(f, v, v)
		}
	}
	for i, list := range parts {
		for j, v := range list {
			e.VMULPS(places[i].weights[j], v, v)
		}
	}
	return parts
}

// numberParts runs body over n elements, part by part, and advance behind several of
// them. at is the elements of those before. Of bfloat16 a part is even and odd elements
// apart, except a last single one.
func (e *emitter) numberParts(t element, n reg.GPVirtual, body func(p part, m masks, at int), advance func(block part)) {
	const unrolled = 4
	sizes := whole(8, 4, 1)
	switch {
	case t == bfloat16s && e.avx512:
		sizes = []part{{32, false}, {32, true}}
	case t == bfloat16s:
		sizes = whole(16, 4, 1)
	case e.avx512:
		sizes = []part{{16, false}, {16, true}}
	}
	widest := sizes[0].size
	e.spans(n, append(whole(unrolled*widest), sizes...), func(block part) {
		var m masks
		if block.masked {
			m = e.masks(n, 16)
		}
		p := part{min(block.size, widest), block.masked}
		for at := 0; at < block.size; at += p.size {
			body(p, m, at)
		}
		advance(block)
	})
}

// pass moves an address behind a block of elements, each of the given bytes, of which a
// masked one has those that are left.
func (e *emitter) pass(block part, left reg.GPVirtual, bytes int, address reg.GPVirtual) {
	if block.masked {
		e.LEAQ(operand.Mem{Base: address, Index: left, Scale: uint8(bytes)}, address)
		return
	}
	e.ADDQ(operand.U32(uint32(bytes*block.size)), address)
}

// loadPart loads a part of numbers that meets one of numbers of another type,
// and goes as that does.
func (e *emitter) loadPart(t, other element, p part, m masks, from operand.Mem) []reg.VecVirtual {
	if other == bfloat16s && p.size > 1 {
		even, odd := e.loadEvenOdd(t, p, m, from)
		return []reg.VecVirtual{even, odd}
	}
	return []reg.VecVirtual{e.load(t, p, m.low, from)}
}

// savePartsUpTo rounds parts to numbers and stores them, several step by step. left counts
// the elements of parts under masks: see saveUpTo.
func (e *emitter) savePartsUpTo(t element, p part, left reg.GPVirtual, parts [][]reg.VecVirtual, to []place) {
	if len(parts[0]) == 2 {
		var evens, odds []reg.VecVirtual
		for _, list := range parts {
			evens, odds = append(evens, list[0]), append(odds, list[1])
		}
		for i, words := range e.roundEvenOdd(evens, odds, true) {
			e.saveWordsUpTo(p, left, words, to[i].at)
		}
		return
	}
	for i, list := range parts {
		e.saveUpTo(t, p, left, list[0], to[i].at)
	}
}

// saveUpTo is save, but stores the numbers of a part under a mask without it.
//
// Rows and calls often lie one behind the other. A store under a mask is to the CPU one of
// a whole vector, so that the loads of the next row would wait until it has reached the
// cache: 5 ns.
func (e *emitter) saveUpTo(t element, p part, left reg.GPVirtual, v reg.VecVirtual, to operand.Mem) {
	switch {
	case !p.masked:
		e.save(t, p, v, to)
	case t == float16s:
		const nearest = operand.U8(0)
		words := e.vectorOf(p.size / 2)
		e.VCVTPS2PH(nearest, v, words)
		e.saveWordsUpTo(p, left, words, to)
	default:
		e.storeUpTo(v, left, t.bytes(), to)
	}
}

// saveWordsUpTo is saveUpTo of numbers of 16 bits.
func (e *emitter) saveWordsUpTo(p part, left reg.GPVirtual, v reg.VecVirtual, to operand.Mem) {
	if !p.masked {
		e.saveWords(p, v, to)
		return
	}
	e.storeUpTo(v, left, 2, to)
}

// storeUpTo stores the first elements of a vector, fewer than it has, and leaves it
// changed: of the powers of 2 that make their number the largest first.
func (e *emitter) storeUpTo(v reg.VecVirtual, count reg.GPVirtual, bytes int, to operand.Mem) {
	const upper = operand.U8(1)
	at := e.GP64()
	e.LEAQ(to, at)
	for size := int(v.Size()) / 2; size >= bytes; size /= 2 {
		next, here := e.label("fewer"), operand.Mem{Base: at}
		e.TESTQ(operand.U32(uint32(size/bytes)), count)
		e.JZ(operand.LabelRef(next))
		switch size {
		case 32:
			e.VMOVUPS(v.AsY(), here)
			e.VEXTRACTF64X4(upper, v.AsZ(), v.AsY())
		case 16:
			e.VMOVUPS(v.AsX(), here)
			e.VEXTRACTF128(upper, v.AsY(), v.AsX())
		case 8:
			e.VMOVLPS(v.AsX(), here)
			e.VPSRLDQ(operand.Imm(8), v.AsX(), v.AsX())
		case 4:
			e.VMOVSS(v.AsX(), here)
			e.VPSRLDQ(operand.Imm(4), v.AsX(), v.AsX())
		case 2:
			e.VPEXTRW(operand.Imm(0), v.AsX(), here)
			if bytes == 1 {
				e.VPSRLDQ(operand.Imm(2), v.AsX(), v.AsX())
			}
		case 1:
			e.VPEXTRB(operand.Imm(0), v.AsX(), here)
		}
		if size > bytes {
			e.ADDQ(operand.U32(uint32(size)), at)
		}
		e.Label(next)
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
func scaleRows(e *emitter) {
	t := e.to
	done, loop := e.label("done"), e.label("rows")
	x, n, count, stride := e.argument("x"), e.argument("n"), e.argument("count"), e.byteStride(t)
	factor := e.broadcast32("factor", e.vector())
	if t == bfloat16s {
		e.loadEvenOddConstants()
	}
	at, left := e.GP64(), e.GP64()
	e.TESTQ(count, count)
	e.JZ(operand.LabelRef(done))
	e.Label(loop)
	e.MOVQ(x, at)
	e.MOVQ(n, left)
	e.numberParts(t, left, func(p part, m masks, after int) {
		here := operand.Mem{Base: at, Disp: t.bytes() * after}
		list := e.loadPart(t, t, p, m, here)
		for _, v := range list {
			e.VMULPS(lanesOf(factor, v), v, v)
		}
		e.savePartsUpTo(t, p, left, [][]reg.VecVirtual{list}, []place{{at: here}})
	}, func(block part) { e.pass(block, left, t.bytes(), at) })
	e.ADDQ(stride, x)
	e.DECQ(count)
	e.JNZ(operand.LabelRef(loop))
	e.Label(done)
	e.VZEROUPPER()
	e.RET()
}
