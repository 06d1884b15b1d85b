package amd64

import (
	"fmt"
	"math"

	"github.com/go-posenc/posenc/asm/_gen/operation"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Predicates of VCMPPS. They hold for no NaN, but notBelow does.
const (
	ordered  = operand.U8(0x07)
	below    = operand.U8(0x11)
	notBelow = operand.U8(0x15)
	atLeast  = operand.U8(0x1d)
	above    = operand.U8(0x1e)
)

// levelCoder writes blocks of a format with levels. Their sums have one order, so that each lane has a block.
type levelCoder struct {
	blockGroup
	fours  operand.Mem // codes of four numbers of each block, eight times
	minus1 reg.VecVirtual
	tables []operand.Op // midpoints of levels: of all, of each half, of each quarter, of each eighth
	values []operand.Op // levels, as many as a vector has lanes
}

func quantizeLevels(e *emitter) {
	lanes := e.lanes()
	q := &levelCoder{blockGroup: e.newBlockGroup(), fours: e.AllocLocal(32 * lanes)}
	if q.avx512 {
		q.minus1 = q.keep(q.wide32("minus1", 1<<32-1))
	}
	for step := 8; step > 0; step /= 2 {
		q.tables = append(q.tables, q.kept(q.table(fmt.Sprintf("midpoints%d", step), func(i int) float32 {
			at := (2*i + 1) * step % len(q.levels)
			return (float32(q.levels[at-1]) + float32(q.levels[at])) / 2
		})))
	}
	for from := 0; from < len(q.levels); from += lanes {
		q.values = append(q.values, q.kept(q.table(fmt.Sprintf("levels%d", from), func(i int) float32 { return float32(q.levels[from+i]) })))
	}
	q.eachGroup(func(reg.GPVirtual, reg.GPVirtual) {}, nil, func(reg.GPVirtual) {
		amax, largest, magnitudes := q.zero(), q.zero(), q.kept(q.magnitudes())
		q.numbers(func(_ int, v reg.VecVirtual) {
			m := q.vector()
			q.and(magnitudes, v, m)
			q.choose(q.where(above, amax, m), v, largest, largest)
			q.VPMAXUD(m, amax, amax)
		}, func(reg.GPVirtual) {})

		inverse, a, b, codes := q.keep(q.wide32("one32", 0x3f800000)), q.zero(), q.zero(), reg.VecVirtual(nil)
		q.VDIVPS(q.kept(q.float32("divisor"+operation.Element(q.to).String(), q.divisor)), largest, largest)
		q.VDIVPS(largest, inverse, inverse)
		q.numbers(func(i int, v reg.VecVirtual) {
			code, level, product := q.code(v, inverse)
			if i == 0 {
				codes = code
			} else {
				q.VPSLLD(operand.Imm(uint64(8*i)), code, code)
				q.VPADDD(code, codes, codes)
			}
			q.VMULPS(v, v, product)
			q.VMULPS(level, product, product)
			q.VMULPS(v, product, v)
			q.VADDPS(v, a, a)
			q.VMULPS(level, product, product)
			q.VADDPS(product, b, b)
		}, func(at reg.GPVirtual) { q.VMOVUPS(codes, q.fours.Idx(at, uint8(lanes/4))) })

		nan, zero := q.keep(q.wide32("nan32", 0x7fc00000)), q.zero()
		q.VDIVPS(b, a, a)
		q.choose(q.where(ordered, a, a), a, nan, a)
		finite, large := q.where(below, q.kept(q.wide32("exponent32", infinity32)), amax), q.where(notBelow, q.kept(q.float32("leastOfLevels", 1e-15)), amax)
		q.choose(finite, a, nan, a)
		q.choose(large, a, zero, a)
		q.write(a, func(codes reg.VecVirtual) {
			q.choose(finite, codes, zero, codes)
			q.choose(large, codes, zero, codes)
		})
	})
}

// numbers goes through the numbers of a group, four at a time: body gets number i of these, of each block.
func (q *levelCoder) numbers(body func(i int, v reg.VecVirtual), end func(at reg.GPVirtual)) {
	loop, at, block := q.label("numbers"), q.GP64(), q.GP64()
	q.XORQ(at, at)
	q.Label(loop)
	var rows []reg.VecVirtual
	for i := range 4 {
		row := q.vector()
		for group := 0; group < q.lanes()/4; group++ {
			q.MOVQ(q.xs.Offset(8*(4*group+i)), block)
			from := operand.Mem{Base: block, Index: at, Scale: 1}
			switch {
			case group == 0 && q.avx512:
				q.VBROADCASTF32X4(from, row)
			case group == 0:
				q.VBROADCASTF128(from, row)
			case q.avx512:
				q.VINSERTF32X4(operand.Imm(uint64(group)), from, row, row)
			default:
				q.VINSERTF128(operand.Imm(1), from, row, row)
			}
		}
		rows = append(rows, row)
	}
	for i, v := range q.columns(rows) {
		body(i, v)
	}
	end(at)
	q.ADDQ(operand.Imm(16), at)
	q.CMPQ(at, operand.U32(4*blockNumbers))
	q.JB(operand.LabelRef(loop))
}

// columns returns number i of each 16 bytes of four registers, side by side.
func (q *levelCoder) columns(rows []reg.VecVirtual) (list []reg.VecVirtual) {
	var pairs []reg.VecVirtual // numbers 0 and 1 of the first two, of the others, 2 and 3
	for _, unpack := range []func(...operand.Op){q.VUNPCKLPS, q.VUNPCKHPS} {
		for i := 0; i < 4; i += 2 {
			v := q.vector()
			unpack(rows[i+1], rows[i], v)
			pairs = append(pairs, v)
		}
	}
	for i := 0; i < 4; i += 2 {
		low, high := q.vector(), q.vector()
		q.VUNPCKLPD(pairs[i+1], pairs[i], low)
		q.VUNPCKHPD(pairs[i+1], pairs[i], high)
		list = append(list, low, high)
	}
	return list
}

// code returns the code of a number, its level, and a register.
func (q *levelCoder) code(x, inverse reg.VecVirtual) (code, level, y reg.VecVirtual) {
	level, y = q.vector(), q.vector()
	q.VMULPS(inverse, x, y)
	upper := q.where(atLeast, q.tables[0], y)
	code = q.minus1s(upper) // codes are negative until they are complete
	for _, table := range q.tables[1:] {
		midpoint, twice := q.vector(), q.vector()
		q.VPERMPS(table, code, midpoint)
		q.VPADDD(code, code, twice)
		q.subtract1(q.where(atLeast, midpoint, y), twice)
		code = twice
	}
	q.VPERMPS(q.values[0], code, level)
	if !q.avx512 {
		q.VPERMPS(q.values[1], code, y)
		q.choose(upper, y, level, level)
	}
	q.VPABSD(code, code)
	return code, level, y
}

// where returns the lanes for which a comparison holds: a mask on AVX-512, else -1 in each of them.
func (e *emitter) where(predicate operand.U8, b operand.Op, a reg.VecVirtual) (lanes reg.Register) {
	lanes = e.lanesRegister()
	e.VCMPPS(predicate, b, a, lanes)
	return lanes
}

// lanesRegister returns a register for what where returns.
func (e *emitter) lanesRegister() reg.Register {
	if e.avx512 {
		return e.K()
	}
	return e.vector()
}

// choose sets to to yes in these lanes, elsewhere to no.
func (e *emitter) choose(lanes reg.Register, yes, no, to reg.VecVirtual) {
	if e.avx512 {
		e.blend("VBLENDMPS", yes, no, lanes.(reg.OpmaskVirtual), to)
	} else {
		e.VBLENDVPS(lanes, yes, no, to)
	}
}

// minus1s returns -1 in these lanes and 0 in the others.
func (q *levelCoder) minus1s(lanes reg.Register) reg.VecVirtual {
	if !q.avx512 {
		return lanes.(reg.VecVirtual)
	}
	v := q.vector()
	q.VMOVDQA32_Z(q.minus1, lanes, v)
	return v
}

// subtract1 subtracts 1 in these lanes.
func (q *levelCoder) subtract1(lanes reg.Register, v reg.VecVirtual) {
	if q.avx512 {
		q.VPADDD(q.minus1, v, lanes, v)
	} else {
		q.VPADDD(lanes, v, v)
	}
}

func (e *emitter) zero() reg.VecVirtual {
	v := e.vector()
	e.clear(v)
	return v
}

// table returns the address of numbers that permute finds by -i.
func (q *levelCoder) table(name string, number func(i int) float32) operand.Mem {
	n := q.lanes()
	return q.controls(fmt.Sprintf("%s%s_%d", name, operation.Element(q.to), n), 4, n, func(i uint32) uint32 {
		return math.Float32bits(number((n - int(i)) % n))
	})
}

// write writes blocks whose codes change has changed.
func (q *levelCoder) write(d reg.VecVirtual, change func(codes reg.VecVirtual)) {
	var rows []reg.VecVirtual
	for i := range 4 {
		low, high := q.keep(q.fours.Offset(4*q.lanes()*i)), q.keep(q.fours.Offset(4*q.lanes()*(4+i)))
		q.VPSLLD(operand.Imm(4), high, high)
		q.VPADDD(high, low, low)
		change(low)
		rows = append(rows, low)
	}
	const nearest = operand.U8(0)
	halves, block := q.half(), q.GP64()
	q.VCVTPS2PH(nearest, d, halves)
	columns := q.columns(rows)
	for group := 0; group < q.lanes()/4; group++ {
		if group == 2 {
			q.VEXTRACTI128(operand.Imm(1), halves, halves.AsX())
		}
		for i, codes := range columns {
			q.MOVQ(q.ys.Offset(8*(4*group+i)), block)
			q.VPEXTRW(operand.Imm(uint64(4*(group%2)+i)), halves.AsX(), operand.Mem{Base: block})
			to := operand.Mem{Base: block, Disp: q.codes()}
			switch {
			case group == 0:
				q.VMOVUPS(codes.AsX(), to)
			case q.avx512:
				q.VEXTRACTF32X4(operand.Imm(uint64(group)), codes, to)
			default:
				q.VEXTRACTF128(operand.Imm(1), codes, to)
			}
		}
	}
}
