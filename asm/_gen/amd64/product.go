package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dotProducts multiplies rows of x by vectors, some of these at a time for all
// rows, so that they are in the first cache for all but the first.
func dotProducts(e *emitter) {
	done := e.label("done")
	y, vectors, n, count := e.argument("y"), e.argument("vectors"), e.argument("n"), e.argument("count")
	l := &lines{t: float32s, at: e.GP64(), stride: e.stride("vectorStride"), stride3: e.GP64()}
	e.LEAQ(operand.Mem{Base: l.stride, Index: l.stride, Scale: 2}, l.stride3)
	last := &rest{count: e.GP64()}
	e.MOVQ(n, last.count)
	e.ANDQ(operand.Imm(15), last.count)
	if e.avx512 {
		last.mask = e.masks(last.count, 16).low
	}
	x, to, rows := e.GP64(), e.GP64(), e.GP64()
	for _, l.count = range []int{4, 1} {
		columns, row, next := e.label("columns"), e.label("row"), e.label("next")
		e.CMPQ(count, operand.Imm(uint64(l.count)))
		e.JLT(operand.LabelRef(next))
		e.Label(columns)
		e.Load(e.Param("x"), x)
		e.Load(e.Param("rows"), rows)
		e.MOVQ(y, to)
		e.jumpIfZero(rows, done)
		e.Label(row)
		e.MOVQ(vectors, l.at)
		e.save(float32s, part{size: l.count}, e.totals(e.dotSums(l, x, n, last)), operand.Mem{Base: to})
		e.next(x, "xStride")
		e.next(to, "yStride")
		e.DECQ(rows)
		e.JNZ(operand.LabelRef(row))
		e.LEAQ(operand.Mem{Base: vectors, Index: l.stride, Scale: uint8(l.count)}, vectors)
		e.ADDQ(operand.Imm(uint64(4*l.count)), y)
		e.SUBQ(operand.Imm(uint64(l.count)), count)
		e.CMPQ(count, operand.Imm(uint64(l.count)))
		e.JGE(operand.LabelRef(columns))
		e.Label(next)
	}
	e.Label(done)
	e.leave()
}

// next moves an address by a stride of float32.
func (e *emitter) next(address reg.GPVirtual, stride string) {
	e.LEAQ(operand.Mem{Base: address, Index: e.argument(stride), Scale: 4}, address)
}

// rest is the last elements of a vector, fewer than 16: how many, and their mask.
type rest struct {
	count reg.GPVirtual
	mask  reg.OpmaskVirtual
}

// dotSums returns, for each of the vectors, the sums of its products with the n
// elements at x in 16 lanes.
func (e *emitter) dotSums(l *lines, x, n reg.GPVirtual, r *rest) [][]reg.VecVirtual {
	sums := e.zeros(l.count)
	from, left := e.GP64(), e.GP64()
	e.MOVQ(x, from)
	e.MOVQ(n, left)
	// add adds the products of a vector of lanes, those from number j on.
	add := func(j int, load func(m operand.Mem) operand.Op) {
		v := e.vector()
		e.VMOVUPS(load(operand.Mem{Base: from, Disp: 4 * j}), v)
		for i := range sums {
			product, sum := e.vector(), sums[i][j/e.lanes()]
			e.VMULPS(load(l.row(i, 4*j)), v, product)
			e.VADDPS(product, sum, sum)
		}
	}
	whole := func(m operand.Mem) operand.Op { return m }
	loop, last, done := e.label("products"), e.label("last"), e.label("summed")
	e.SUBQ(operand.Imm(16), left)
	e.JLT(operand.LabelRef(last))
	e.Label(loop)
	for j := 0; j < 16; j += e.lanes() {
		add(j, whole)
	}
	e.ADDQ(operand.Imm(64), from)
	e.ADDQ(operand.Imm(64), l.at)
	e.SUBQ(operand.Imm(16), left)
	e.JGE(operand.LabelRef(loop))
	e.Label(last)
	if e.avx512 {
		e.jumpIfZero(r.count, done)
		add(0, func(m operand.Mem) operand.Op { return e.load(float32s, part{16, true}, r.mask, m) })
		e.Label(done)
		return sums
	}
	short := e.label("short")
	e.MOVQ(r.count, left)
	e.ANDQ(operand.Imm(7), left)
	fewer := func(m operand.Mem) operand.Op { return e.loadFewer(m, left) }
	e.jumpUnless(r.count, 8, short)
	add(0, whole)
	e.jumpIfZero(left, done)
	add(8, fewer)
	e.JMP(operand.LabelRef(done))
	e.Label(short)
	e.jumpIfZero(left, done)
	add(0, fewer)
	e.Label(done)
	return sums
}

// loadFewer loads the lowest count float32 of a vector of AVX2, count below 8, and
// sets the others to zero. (Of a masked load an emulator may fault on lanes that the
// mask leaves out.)
func (e *emitter) loadFewer(from operand.Mem, count reg.GPVirtual) reg.VecVirtual {
	v, high := e.YMM(), e.XMM()
	few, done := e.label("few"), e.label("fewer")
	at, more := e.GP64(), e.GP64()
	e.LEAQ(from, at)
	e.VXORPS(v, v, v)
	e.MOVQ(count, more)
	e.ANDQ(operand.Imm(3), more)
	e.jumpUnless(count, 4, few)
	e.VMOVUPS(operand.Mem{Base: at}, v.AsX())
	e.loadHalf(high, operand.Mem{Base: at, Disp: 16}, more)
	e.VINSERTF128(operand.Imm(1), high, v, v)
	e.JMP(operand.LabelRef(done))
	e.Label(few)
	e.loadHalf(high, operand.Mem{Base: at}, more)
	e.VMOVAPS(high, v.AsX())
	e.Label(done)
	return v
}

// unrolledMultiples is the registers that sums are kept in, and that vectors are
// added to together.
const unrolledMultiples = 8

// addMultiples adds multiples of vectors to rows of y.
func addMultiples(e *emitter) {
	done, loop := e.label("done"), e.label("rows")
	y, x, rows, stride := e.argument("y"), e.argument("x"), e.argument("rows"), e.stride("vectorStride")
	to, column, left := e.GP64(), e.GP64(), e.GP64()
	factors, count, from := e.GP64(), e.GP64(), e.GP64()
	sizes := whole(unrolledMultiples*e.lanes(), unrolledMultiples/2*e.lanes(), unrolledMultiples/4*e.lanes(), e.lanes())
	if e.avx512 {
		sizes = append(sizes, part{16, true})
	} else {
		sizes = append(sizes, whole(4, 1)...)
	}
	e.CMPQ(e.argument("count"), operand.Imm(0))
	e.JE(operand.LabelRef(done))
	e.jumpIfZero(rows, done)
	e.Label(loop)
	e.MOVQ(y, to)
	e.Load(e.Param("vectors"), column)
	e.Load(e.Param("n"), left)
	e.spans(left, sizes, func(block part) {
		var m masks
		if block.masked {
			m = e.masks(left, 16)
		}
		p := part{min(block.size, e.lanes()), block.masked}
		each := func(body func(i int, m operand.Mem)) {
			for i := range block.size / p.size {
				body(i, operand.Mem{Disp: 4 * i * p.size})
			}
		}
		var sums []reg.VecVirtual
		each(func(_ int, at operand.Mem) {
			at.Base = to
			sums = append(sums, e.load(float32s, p, m.low, at))
		})
		vectors := e.label("vectors")
		e.MOVQ(x, factors)
		e.MOVQ(column, from)
		e.Load(e.Param("count"), count)
		e.Label(vectors)
		factor := e.vectorOf(p.size)
		e.VBROADCASTSS(operand.Mem{Base: factors}, factor)
		each(func(i int, at operand.Mem) {
			at.Base = from
			v := e.load(float32s, p, m.low, at)
			e.VMULPS(factor, v, v)
			e.VADDPS(v, sums[i], sums[i])
		})
		e.ADDQ(operand.Imm(4), factors)
		e.ADDQ(stride, from)
		e.DECQ(count)
		e.JNZ(operand.LabelRef(vectors))
		each(func(i int, at operand.Mem) {
			at.Base = to
			e.saveUpTo(float32s, p, left, sums[i], at)
		})
		e.ADDQ(operand.U32(uint32(4*block.size)), to)
		e.ADDQ(operand.U32(uint32(4*block.size)), column)
	})
	e.next(y, "yStride")
	e.next(x, "xStride")
	e.DECQ(rows)
	e.JNZ(operand.LabelRef(loop))
	e.Label(done)
	e.leave()
}
