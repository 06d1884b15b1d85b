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
	if q.e.avx512 {
		q.minus1 = q.e.keep(q.e.wide32("minus1", 1<<32-1))
	}
	for step := 8; step > 0; step /= 2 {
		q.tables = append(q.tables, q.e.kept(q.table(fmt.Sprintf("midpoints%d", step), func(i int) float32 {
			at := (2*i + 1) * step % len(q.levels)
			return (float32(q.levels[at-1]) + float32(q.levels[at])) / 2
		})))
	}
	for from := 0; from < len(q.levels); from += lanes {
		q.values = append(q.values, q.e.kept(q.table(fmt.Sprintf("levels%d", from), func(i int) float32 { return float32(q.levels[from+i]) })))
	}
	q.eachGroup(func(reg.GPVirtual, reg.GPVirtual) {}, nil, func(reg.GPVirtual) {
		amax, largest, magnitudes := q.e.zero(), q.e.zero(), q.e.kept(q.e.magnitudes())
		q.numbers(func(_ int, v reg.VecVirtual) {
			m := q.e.vector()
			q.e.and(magnitudes, v, m)
			q.e.choose(q.e.where(above, amax, m), v, largest, largest)
			q.e.VPMAXUD(m, amax, amax)
		}, func(reg.GPVirtual) {})

		inverse, a, b, codes := q.e.keep(q.e.wide32("one32", 0x3f800000)), q.e.zero(), q.e.zero(), reg.VecVirtual(nil)
		q.e.VDIVPS(q.e.kept(q.e.float32("divisor"+operation.Element(q.e.to).String(), q.divisor)), largest, largest)
		q.e.VDIVPS(largest, inverse, inverse)
		q.numbers(func(i int, v reg.VecVirtual) {
			code, level, product := q.code(v, inverse)
			if i == 0 {
				codes = code
			} else {
				q.e.VPSLLD(operand.Imm(uint64(8*i)), code, code)
				q.e.VPADDD(code, codes, codes)
			}
			q.e.VMULPS(v, v, product)
			q.e.VMULPS(level, product, product)
			q.e.VMULPS(v, product, v)
			q.e.VADDPS(v, a, a)
			q.e.VMULPS(level, product, product)
			q.e.VADDPS(product, b, b)
		}, func(at reg.GPVirtual) { q.e.VMOVUPS(codes, q.fours.Idx(at, uint8(lanes/4))) })

		nan, zero := q.e.keep(q.e.wide32("nan32", 0x7fc00000)), q.e.zero()
		q.e.VDIVPS(b, a, a)
		q.e.choose(q.e.where(ordered, a, a), a, nan, a)
		finite, large := q.e.where(below, q.e.kept(q.e.wide32("exponent32", infinity32)), amax), q.e.where(notBelow, q.e.kept(q.e.float32("leastOfLevels", 1e-15)), amax)
		q.e.choose(finite, a, nan, a)
		q.e.choose(large, a, zero, a)
		q.write(a, func(codes reg.VecVirtual) {
			q.e.choose(finite, codes, zero, codes)
			q.e.choose(large, codes, zero, codes)
		})
	})
}

// numbers goes through the numbers of a group, four at a time: body gets number i of these, of each block.
func (q *levelCoder) numbers(body func(i int, v reg.VecVirtual), end func(at reg.GPVirtual)) {
	loop, at, block := q.e.label("numbers"), q.e.GP64(), q.e.GP64()
	q.e.XORQ(at, at)
	q.e.Label(loop)
	var rows []reg.VecVirtual
	for i := range 4 {
		row := q.e.vector()
		for group := 0; group < q.e.lanes()/4; group++ {
			q.e.MOVQ(q.xs.Offset(8*(4*group+i)), block)
			from := operand.Mem{Base: block, Index: at, Scale: 1}
			switch {
			case group == 0 && q.e.avx512:
				q.e.VBROADCASTF32X4(from, row)
			case group == 0:
				q.e.VBROADCASTF128(from, row)
			case q.e.avx512:
				q.e.VINSERTF32X4(operand.Imm(uint64(group)), from, row, row)
			default:
				q.e.VINSERTF128(operand.Imm(1), from, row, row)
			}
		}
		rows = append(rows, row)
	}
	for i, v := range q.columns(rows) {
		body(i, v)
	}
	end(at)
	q.e.ADDQ(operand.Imm(16), at)
	q.e.CMPQ(at, operand.U32(4*blockNumbers))
	q.e.JB(operand.LabelRef(loop))
}

// columns returns number i of each 16 bytes of four registers, side by side.
func (q *levelCoder) columns(rows []reg.VecVirtual) (list []reg.VecVirtual) {
	var pairs []reg.VecVirtual // numbers 0 and 1 of the first two, of the others, 2 and 3
	for _, unpack := range []func(...operand.Op){q.e.VUNPCKLPS, q.e.VUNPCKHPS} {
		for i := 0; i < 4; i += 2 {
			v := q.e.vector()
			unpack(rows[i+1], rows[i], v)
			pairs = append(pairs, v)
		}
	}
	for i := 0; i < 4; i += 2 {
		low, high := q.e.vector(), q.e.vector()
		q.e.VUNPCKLPD(pairs[i+1], pairs[i], low)
		q.e.VUNPCKHPD(pairs[i+1], pairs[i], high)
		list = append(list, low, high)
	}
	return list
}

// code returns the code of a number, its level, and a register.
func (q *levelCoder) code(x, inverse reg.VecVirtual) (code, level, y reg.VecVirtual) {
	level, y = q.e.vector(), q.e.vector()
	q.e.VMULPS(inverse, x, y)
	upper := q.e.where(atLeast, q.tables[0], y)
	code = q.minus1s(upper) // codes are negative until they are complete
	for _, table := range q.tables[1:] {
		midpoint, twice := q.e.vector(), q.e.vector()
		q.e.VPERMPS(table, code, midpoint)
		q.e.VPADDD(code, code, twice)
		q.subtract1(q.e.where(atLeast, midpoint, y), twice)
		code = twice
	}
	q.e.VPERMPS(q.values[0], code, level)
	if !q.e.avx512 {
		q.e.VPERMPS(q.values[1], code, y)
		q.e.choose(upper, y, level, level)
	}
	q.e.VPABSD(code, code)
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
	if !q.e.avx512 {
		return lanes.(reg.VecVirtual)
	}
	v := q.e.vector()
	q.e.VMOVDQA32_Z(q.minus1, lanes, v)
	return v
}

// subtract1 subtracts 1 in these lanes.
func (q *levelCoder) subtract1(lanes reg.Register, v reg.VecVirtual) {
	if q.e.avx512 {
		q.e.VPADDD(q.minus1, v, lanes, v)
	} else {
		q.e.VPADDD(lanes, v, v)
	}
}

func (e *emitter) zero() reg.VecVirtual {
	v := e.vector()
	e.clear(v)
	return v
}

// table returns the address of numbers that permute finds by -i.
func (q *levelCoder) table(name string, number func(i int) float32) operand.Mem {
	n := q.e.lanes()
	return q.e.controls(fmt.Sprintf("%s%s_%d", name, operation.Element(q.e.to), n), 4, n, func(i uint32) uint32 {
		return math.Float32bits(number((n - int(i)) % n))
	})
}

// write writes blocks whose codes change has changed.
func (q *levelCoder) write(d reg.VecVirtual, change func(codes reg.VecVirtual)) {
	var rows []reg.VecVirtual
	for i := range 4 {
		low, high := q.e.keep(q.fours.Offset(4*q.e.lanes()*i)), q.e.keep(q.fours.Offset(4*q.e.lanes()*(4+i)))
		q.e.VPSLLD(operand.Imm(4), high, high)
		q.e.VPADDD(high, low, low)
		change(low)
		rows = append(rows, low)
	}
	const nearest = operand.U8(0)
	halves, block := q.e.half(), q.e.GP64()
	q.e.VCVTPS2PH(nearest, d, halves)
	columns := q.columns(rows)
	for group := 0; group < q.e.lanes()/4; group++ {
		if group == 2 {
			q.e.VEXTRACTI128(operand.Imm(1), halves, halves.AsX())
		}
		for i, codes := range columns {
			q.e.MOVQ(q.ys.Offset(8*(4*group+i)), block)
			q.e.VPEXTRW(operand.Imm(uint64(4*(group%2)+i)), halves.AsX(), operand.Mem{Base: block})
			to := operand.Mem{Base: block, Disp: q.codes()}
			switch {
			case group == 0:
				q.e.VMOVUPS(codes.AsX(), to)
			case q.e.avx512:
				q.e.VEXTRACTF32X4(operand.Imm(uint64(group)), codes, to)
			default:
				q.e.VEXTRACTF128(operand.Imm(1), codes, to)
			}
		}
	}
}
