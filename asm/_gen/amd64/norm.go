package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lines is rows of x that are worked on together, so that what one waits for is
// time for the others.
type lines struct {
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
	done := e.label("done")
	x, weight, n, count := e.argument("x"), e.argument("weight"), e.argument("n"), e.argument("count")
	l := &lines{at: e.GP64(), stride: e.stride("stride"), stride3: e.GP64()}
	e.LEAQ(operand.Mem{Base: l.stride, Index: l.stride, Scale: 2}, l.stride3)
	e.TESTQ(n, n)
	e.JZ(operand.LabelRef(done))
	tail := &squareTail{}
	if e.avx512 {
		left := e.GP64()
		e.MOVQ(n, left)
		e.ANDQ(operand.Imm(15), left)
		tail.mask = e.tailMask(left)
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

// squareTail is how the last elements of a row are brought to their lanes, with
// zeros in the others: by a mask, or through memory that starts as zeros.
type squareTail struct {
	mask   reg.OpmaskVirtual
	memory operand.Mem
}

// squareSums returns, for each row, the sums of the squares of its elements in
// 16 lanes: one vector or two.
func (e *emitter) squareSums(l *lines, n reg.GPVirtual, tail *squareTail) [][]reg.VecVirtual {
	perRow := 16 / e.lanes()
	sums := make([][]reg.VecVirtual, l.count)
	for i := range sums {
		for range perRow {
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
			v := e.vector()
			e.VMOVUPS(l.row(i, 4*e.lanes()*j), v)
			add(v, sum)
		}
	}
	e.ADDQ(operand.Imm(64), l.at)
	e.SUBQ(operand.Imm(16), left)
	e.JGE(operand.LabelRef(loop))
	e.Label(rest)
	e.ADDQ(operand.Imm(16), left)
	e.JZ(operand.LabelRef(done))
	for i := range sums {
		if e.avx512 {
			v := e.vector()
			e.VMOVUPS_Z(l.row(i, 0), tail.mask, v)
			add(v, sums[i][0])
			continue
		}
		single := e.label("single")
		index, from := e.GP64(), e.GP64()
		e.LEAQ(l.row(i, 0), from)
		e.XORQ(index, index)
		e.Label(single)
		v := e.XMM()
		e.VMOVSS(operand.Mem{Base: from, Index: index, Scale: 4}, v)
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
		e.VMOVHLPS(sum, sum, upper)
		e.VADDPS(upper, sum, sum)
		e.VMOVSHDUP(sum, upper)
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
		e.VADDPS(odd, even, even)
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
	sizes := []int{8, 4, 1}
	if e.avx512 {
		sizes = []int{16, 0}
	}
	e.parts(left, sizes, func(size int, mask reg.OpmaskVirtual) {
		factor := e.load(size, mask, operand.Mem{Base: w})
		for i := range factors {
			v := e.load(size, mask, l.row(i, 0))
			e.VMULPS(as(factors[i], v), v, v)
			e.VMULPS(factor, v, v)
			e.save(size, mask, v, l.row(i, 0))
		}
		e.ADDQ(operand.U32(uint32(4*size)), w)
		e.ADDQ(operand.U32(uint32(4*size)), l.at)
	})
}

// parts runs body over left elements, as many at a time as one of the sizes says,
// 0 for the last ones under a mask.
func (e *emitter) parts(left reg.GPVirtual, sizes []int, body func(size int, mask reg.OpmaskVirtual)) {
	for _, size := range sizes {
		loop, next := e.label("part"), e.label("next")
		if size == 0 {
			e.TESTQ(left, left)
			e.JZ(operand.LabelRef(next))
			body(size, e.tailMask(left))
			e.Label(next)
			continue
		}
		e.CMPQ(left, operand.Imm(uint64(size)))
		e.JLT(operand.LabelRef(next))
		e.Label(loop)
		body(size, nil)
		e.SUBQ(operand.Imm(uint64(size)), left)
		e.CMPQ(left, operand.Imm(uint64(size)))
		e.JGE(operand.LabelRef(loop))
		e.Label(next)
	}
}

// as returns the lanes of v that a register like the other has.
func as(v, other reg.VecVirtual) reg.Register {
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
	done, loop := e.label("done"), e.label("rows")
	x, n, count, stride := e.argument("x"), e.argument("n"), e.argument("count"), e.stride("stride")
	factor := e.broadcast32("factor", e.vector())
	at, left := e.GP64(), e.GP64()
	e.TESTQ(count, count)
	e.JZ(operand.LabelRef(done))
	e.Label(loop)
	e.MOVQ(x, at)
	e.MOVQ(n, left)
	sizes := []int{32, 8, 4, 1}
	if e.avx512 {
		sizes = []int{64, 16, 0}
	}
	e.parts(left, sizes, func(size int, mask reg.OpmaskVirtual) {
		part := min(size, e.lanes())
		for j := range max(1, size/max(part, 1)) {
			place := operand.Mem{Base: at, Disp: 4 * part * j}
			v := e.load(part, mask, place)
			e.VMULPS(as(factor, v), v, v)
			e.save(part, mask, v, place)
		}
		e.ADDQ(operand.U32(uint32(4*size)), at)
	})
	e.ADDQ(stride, x)
	e.DECQ(count)
	e.JNZ(operand.LabelRef(loop))
	e.Label(done)
	e.VZEROUPPER()
	e.RET()
}
