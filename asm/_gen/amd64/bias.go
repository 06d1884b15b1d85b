package amd64

import (
	"fmt"
	"math"

	"github.com/go-posenc/posenc/asm/_gen/operation"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// addRows adds rows of x to rows of y, in order or by number.
func addRows(e *emitter) {
	y, x, n, rows := e.argument("y"), e.argument("x"), e.argument("n"), e.argument("rows")
	yStride, xStride, ids := e.stride("yStride"), e.stride("xStride"), e.argument("ids")
	e.ADDQ(e.stride("xFirst"), x)
	from, row := e.GP64(), e.GP64()
	e.XORQ(row, row)
	bias := func(p part, from, to operand.Mem) reg.VecVirtual {
		return e.sum(p, masks{}, e.load(float32s, p, nil, from), to)
	}
	e.biasRows(y, n, rows, yStride, &biasRow{
		start: func() {
			inOrder := e.label("inOrder")
			e.MOVQ(row, from)
			e.jumpIfZero(ids, inOrder)
			e.MOVLQSX(operand.Mem{Base: ids, Index: row, Scale: 4}, from)
			e.Label(inOrder)
			e.IMULQ(xStride, from)
			e.ADDQ(x, from)
		},
		sum: func(p part, to operand.Mem, j int) reg.VecVirtual {
			return bias(p, operand.Mem{Base: from, Disp: 4 * j}, to)
		},
		last:    func(p part, to operand.Mem) reg.VecVirtual { return bias(p, end(from, n, p), to) },
		advance: func(size int) { e.ADDQ(operand.U32(uint32(4*size)), from) },
		next:    func() { e.INCQ(row) },
	})
}

// addClamped adds elements of x to rows of y, and where there are none the first or
// the last of them. Vectors that begin before x or at its last equal elements have
// one number.
func addClamped(e *emitter) {
	y, x, n, rows := e.argument("y"), e.argument("x"), e.argument("n"), e.argument("rows")
	stride, first, width := e.stride("stride"), e.argument("first"), e.argument("width")
	step := e.parameter("step")
	low, high := e.vector(), e.vector()
	e.VBROADCASTSS(operand.Mem{Base: x}, low)
	e.VBROADCASTSS(operand.Mem{Base: x, Index: width, Scale: 4, Disp: -4}, high)
	to, index, left := e.GP64(), e.GP64(), e.GP64()
	vector, element, here := part{e.lanes(), false}, part{1, false}, operand.Mem{Base: to}
	// clamped loads what an index is clamped to.
	clamped := func(p part, m masks, at operand.Mem) reg.VecVirtual {
		from, limit := e.GP64(), e.GP64()
		e.LEAQ(at, from)
		e.LEAQ(operand.Mem{Base: width, Disp: -p.size}, limit)
		e.CMPQ(from, limit)
		e.moveIf("GT", limit, from)
		e.XORL(limit.As32(), limit.As32())
		e.TESTQ(from, from)
		e.moveIf("LT", limit, from)
		return e.load(float32s, p, m.low, operand.Mem{Base: x, Index: from, Scale: 4})
	}
	// vectors runs over the vectors of the left elements that begin before an index.
	vectors := func(end operand.Mem, bias func(j int) reg.VecVirtual) {
		count := e.GP64()
		e.LEAQ(end.Offset(e.lanes()-1), count)
		e.SUBQ(index, count)
		e.ANDQ(operand.I32(-e.lanes()), count)
		e.CMPQ(count, left)
		e.moveIf("GT", left, count)
		e.spans(count, e.vectorSizes()[1:], func(block part) {
			e.prefetchAhead(here, 4*block.size)
			for j := 0; j < block.size; j += e.lanes() {
				at := here.Offset(4 * j)
				e.VMOVUPS(e.sum(vector, masks{}, bias(j), at), at)
			}
			e.ADDQ(operand.U32(uint32(4*block.size)), to)
			e.ADDQ(operand.U32(uint32(block.size)), index)
			e.SUBQ(operand.U32(uint32(block.size)), left)
		})
	}
	segments := func() {
		start := e.GP64()
		e.XORL(start.As32(), start.As32())
		vectors(operand.Mem{Base: start}, func(int) reg.VecVirtual { return low })
		vectors(operand.Mem{Base: width, Disp: -operation.ClampedEnds}, func(j int) reg.VecVirtual {
			return e.load(float32s, vector, nil, operand.Mem{Base: x, Index: index, Scale: 4, Disp: 4 * j})
		})
		vectors(operand.Mem{Base: index, Index: left, Scale: 1}, func(int) reg.VecVirtual { return high })
	}
	e.rows(rows, func() {
		next := e.label("nextRow")
		e.MOVQ(y, to)
		e.MOVQ(first, index)
		e.MOVQ(n, left)
		short := e.label("short")
		e.CMPQ(n, operand.Imm(uint64(e.lanes())))
		e.JLT(operand.LabelRef(short))
		last := e.sum(vector, masks{}, clamped(vector, masks{}, operand.Mem{Base: index, Index: n, Scale: 1, Disp: -e.lanes()}), end(y, n, vector))
		e.DECQ(left)
		e.ANDQ(operand.I32(-e.lanes()), left)
		segments()
		e.VMOVUPS(last, end(y, n, vector))
		e.JMP(operand.LabelRef(next))
		e.Label(short)
		if e.avx512 {
			p, m := part{e.lanes(), true}, e.masks(left, e.lanes())
			e.saveUpTo(float32s, p, left, e.sum(p, m, clamped(p, m, operand.Mem{Base: index}), here), here)
		} else {
			e.spans(left, []part{element}, func(part) {
				e.VMOVSS(e.sum(element, masks{}, clamped(element, masks{}, operand.Mem{Base: index}), here), here)
				e.ADDQ(operand.Imm(4), to)
				e.INCQ(index)
			})
		}
		e.Label(next)
		e.ADDQ(stride, y)
		e.ADDQ(step, first)
	})
}

// addDistance adds a slope times a distance, or subtracts it times its magnitude.
func addDistance(e *emitter, absolute bool) {
	y, n, rows, stride := e.argument("y"), e.argument("n"), e.argument("rows"), e.stride("stride")
	first, step, slope := e.broadcast32("first", e.vector()), e.broadcast32("step", e.vector()), e.broadcast32("slope", e.vector())
	at, one := e.vector(), e.vector()
	e.VMOVUPS(e.wide32("float1", math.Float32bits(1)), one)
	var magnitude reg.VecVirtual
	if absolute {
		magnitude = e.vector()
		e.VMOVUPS(e.wide32("magnitude32", 1<<31-1), magnitude)
	}
	var counts []reg.VecVirtual // in registers: one more load is what would cost time
	for j := range e.vectorSizes()[0].size / e.lanes() {
		v := e.vector()
		e.VMOVUPS(e.counts(j*e.lanes()), v)
		counts = append(counts, v)
	}
	// from the first distance of a row to the distances of its last vector
	toLast, ends, whole := e.AllocLocal(4*e.lanes()), e.vector(), e.label("whole")
	before := e.GP64()
	e.LEAQ(operand.Mem{Base: n, Disp: -e.lanes()}, before)
	if e.avx512 {
		e.TESTQ(before, before)
		e.JGE(operand.LabelRef(whole))
		e.ADDQ(operand.Imm(8), before)
		e.Label(whole)
	}
	e.VCVTSI2SSQ(before, counts[0].AsX(), ends.AsX())
	e.VBROADCASTSS(ends.AsX(), ends)
	e.VADDPS(counts[0], ends, ends)
	e.VMOVUPS(ends, toLast)
	bias := func(p part, distances reg.VecVirtual, to operand.Mem) reg.VecVirtual {
		bias := distances
		if absolute {
			e.VANDPS(lanesOf(magnitude, bias), bias, bias)
		}
		e.VMULPS(lanesOf(slope, bias), bias, bias)
		switch {
		case p.size == 1:
			v := e.load(float32s, p, nil, to)
			if absolute {
				e.VSUBPS(bias, v, bias)
			} else {
				e.VADDPS(v, bias, bias)
			}
		case absolute:
			e.VFMSUB231PS(to, lanesOf(one, bias), bias)
		default:
			e.VFMADD231PS(to, lanesOf(one, bias), bias)
		}
		return bias
	}
	e.biasRows(y, n, rows, stride, &biasRow{
		// Zen 5, AddALiBi with lines fetched and without, GB/s at 256 KiB, 4 and 64 MiB: AVX2
		// 111, 102, 34.0 and 107, 87, 29.6, AVX-512 150, 92, 34.1 and 162, 98, 33.9. AddT5 on
		// AVX-512, 256 KiB and 128 MiB: 23.2 us, 5.4 ms and 25.1 us, 6.5 ms.
		resident: e.avx512,
		start:    func() { e.VMOVAPS(first, at) },
		sum: func(p part, to operand.Mem, j int) reg.VecVirtual {
			distances := e.vectorOf(p.size)
			e.VADDPS(lanesOf(counts[j/e.lanes()], distances), lanesOf(at, distances), distances)
			return bias(p, distances, to)
		},
		last: func(p part, to operand.Mem) reg.VecVirtual {
			distances := e.vectorOf(p.size)
			e.VADDPS(toLast, lanesOf(first, distances), distances)
			return bias(p, distances, to)
		},
		advance: func(size int) {
			e.VADDPS(e.wide32(fmt.Sprint("float", size), math.Float32bits(float32(size))), at, at)
		},
		next: func() { e.VADDPS(step, first, first) },
	})
}

// sum returns the sums of numbers and those in memory, which whole vectors read on
// the way.
func (e *emitter) sum(p part, m masks, v reg.VecVirtual, from operand.Mem) reg.VecVirtual {
	sum := e.vectorOf(p.size)
	switch {
	case p.masked:
		e.VMOVUPS_Z(from, m.low, sum)
		e.VADDPS(lanesOf(v, sum), sum, sum)
	case p.size == 1:
		e.VADDSS(from, v.AsX(), sum)
	default:
		e.VADDPS(from, lanesOf(v, sum), sum)
	}
	return sum
}

// biasRow is what is done to a row of y.
type biasRow struct {
	resident bool // nothing is fetched ahead of time

	start   func()                                             // before a row
	sum     func(p part, to operand.Mem, j int) reg.VecVirtual // j elements on from where a block is
	last    func(p part, to operand.Mem) reg.VecVirtual        // the last vector of a row
	advance func(size int)                                     // after a block
	next    func()                                             // after a row
}

// biasRows runs over rows of y, vector by vector. The last vector takes in some of the
// one before it: its sums are made before that is written. (A store under a mask would be
// shorter, but see saveUpTo.)
func (e *emitter) biasRows(y, n, rows, stride reg.GPVirtual, row *biasRow) {
	to, left := e.GP64(), e.GP64()
	block := func(block part) {
		p := part{min(block.size, e.lanes()), false}
		if !row.resident {
			e.prefetchAhead(operand.Mem{Base: to}, 4*block.size)
		}
		for j := 0; j < block.size; j += p.size {
			at := operand.Mem{Base: to, Disp: 4 * j}
			e.save(float32s, p, row.sum(p, at, j), at)
		}
		e.ADDQ(operand.U32(uint32(4*block.size)), to)
		row.advance(block.size)
	}
	e.rows(rows, func() {
		next := e.label("nextRow")
		e.MOVQ(y, to)
		e.MOVQ(n, left)
		row.start()
		sizes := e.vectorSizes()
		for _, vector := range whole(16, 8) {
			if vector.size > e.lanes() {
				continue
			}
			short, rest := e.label("short"), e.label("rest")
			e.CMPQ(n, operand.Imm(uint64(vector.size)))
			e.JLT(operand.LabelRef(short))
			e.TESTQ(operand.U32(uint32(vector.size-1)), n)
			e.JNZ(operand.LabelRef(rest))
			e.spans(left, sizes, block)
			e.JMP(operand.LabelRef(next))
			e.Label(rest)
			last := row.last(vector, end(y, n, vector))
			e.spans(left, sizes, block)
			e.save(float32s, vector, last, end(y, n, vector))
			e.JMP(operand.LabelRef(next))
			e.Label(short)
			sizes = whole(8)
		}
		e.spans(left, whole(4, 1), block)
		e.Label(next)
		e.ADDQ(stride, y)
		row.next()
	})
}

// vectorSizes are parts of whole vectors, each half of the one before: of the smaller
// ones a row has one at most, which branches foretell better than how often a loop
// runs.
func (e *emitter) vectorSizes() []part {
	return whole(8*e.lanes(), 4*e.lanes(), 2*e.lanes(), e.lanes())
}

// end returns the address of the last vector of n float32.
func end(base, n reg.GPVirtual, vector part) operand.Mem {
	return operand.Mem{Base: base, Index: n, Scale: 4, Disp: -4 * vector.size}
}

// counts returns the address of the float32 first, first+1, ... of a full vector.
func (e *emitter) counts(first int) operand.Mem {
	return e.controls(fmt.Sprintf("counts%d", first), 4, 16, func(i uint32) uint32 {
		return math.Float32bits(float32(first + int(i)))
	})
}
