package arm64

import (
	"math"

	"github.com/go-posenc/posenc/asm/_gen/operation"
)

// addRows adds rows of x to rows of y, in order or by number.
func addRows(e *emitter) {
	y, x, n, rows, ids := e.argument("y"), e.argument("x"), e.argument("n"), e.argument("rows"), e.argument("ids")
	yStride, xStride := e.stride("yStride"), e.stride("xStride")
	from, row := e.stride("xFirst"), e.general()
	e.addGeneral(x, from)
	e.clearGeneral(row)
	e.biasRows(y, n, rows, yStride, func() {
		inOrder := e.newLabel("inOrder")
		e.movGeneral(from, row)
		e.cbz(ids, inOrder)
		e.op("MOVW.P", "4(%s), %s", ids, from)
		e.label(inOrder)
		e.mul(from, from, xStride)
		e.addGeneral(from, x)
	}, func(size int) []vector {
		list := e.loadFloats(from, size)
		e.add(from, 4*size)
		return list
	}, func() { e.add(row, 1) })
}

// addClamped adds elements of x to rows of y, and where there are none the first or
// the last of them. Vectors that begin before x or at its last equal elements have
// one number.
func addClamped(e *emitter) {
	y, x, n, rows := e.argument("y"), e.argument("x"), e.argument("n"), e.argument("rows")
	stride, first, step, width := e.stride("stride"), e.argument("first"), e.argument("step"), e.argument("width")
	to, index, left, count, from, end := e.general(), e.general(), e.general(), e.general(), e.general(), e.general()
	low, high := e.vector(), e.vector()
	e.addShifted(from, x, width, 2)
	e.ld1r(32, low, x)
	e.sub(from, 4)
	e.ld1r(32, high, from)
	e.op("SUB", "$%d, %s, %s", operation.ClampedEnds, width, end)
	e.sub(width, 1)
	// vectors runs over the vectors of the left elements that begin before an index.
	vectors := func(bias func(size int) []vector) {
		e.add(count, 3)
		e.op("AND", "$-4, %s", count)
		e.cmpGeneral(count, left)
		e.op("CSEL", "GT, %s, %s, %s", left, count, count)
		e.parts("part", count, []int{16, 4}, func(size int) {
			e.addBiases(to, bias(size), size)
			e.add(index, size)
			e.sub(left, size)
		})
	}
	constant := func(value vector) func(size int) []vector {
		return func(int) []vector { return []vector{value, value, value, value} }
	}
	e.rows(rows, func() {
		e.movGeneral(to, y)
		e.movGeneral(index, first)
		e.op("AND", "$-4, %s, %s", n, left)
		e.op("NEG", "%s, %s", index, count)
		vectors(constant(low))
		e.op("SUB", "%s, %s, %s", index, end, count)
		vectors(func(size int) []vector {
			e.addShifted(from, x, index, 2)
			return e.loadFloats(from, size)
		})
		e.movGeneral(count, left)
		vectors(constant(high))
		e.op("AND", "$3, %s, %s", n, left)
		e.parts("part", left, []int{1}, func(int) {
			e.cmpGeneral(index, width)
			e.op("CSEL", "GT, %s, %s, %s", width, index, from)
			e.cmp(from, 0)
			e.op("CSEL", "LT, ZR, %s, %s", from, from)
			e.addShifted(from, x, from, 2)
			e.addBiases(to, e.loadFloats(from, 1), 1)
			e.add(index, 1)
		})
		e.addGeneral(y, stride)
		e.addGeneral(first, step)
	})
}

// addDistance adds a slope times a distance, or minus it times its magnitude.
func addDistance(e *emitter, absolute bool) {
	y, n, rows, stride := e.argument("y"), e.argument("n"), e.argument("rows"), e.stride("stride")
	first, step, slope := e.broadcast("first"), e.broadcast("step"), e.broadcast("slope")
	counts := e.load("counts", pair(0, 1), pair(2, 3))
	sized := map[int]vector{}
	for _, size := range sizes {
		sized[size] = e.whole(size)
	}
	at := e.vector()
	e.biasRows(y, n, rows, stride, func() { e.fadd4s(at, first, counts) }, func(size int) []vector {
		list := e.vectors(max(1, size/4))
		e.op("VMOV", "%s.B16, %s.B16", at, list[0])
		for j := 1; j < len(list); j++ {
			e.fadd4s(list[j], list[j-1], sized[4])
		}
		for _, v := range list {
			if absolute {
				e.fabs4s(v, v)
			}
			e.fmul4s(v, v, slope)
			if absolute {
				e.fneg4s(v, v)
			}
		}
		e.fadd4s(at, at, sized[size])
		return list
	}, func() { e.fadd4s(first, first, step) })
}

// pair returns the bits of two float32.
func pair(low, high float32) uint64 {
	return uint64(math.Float32bits(high))<<32 | uint64(math.Float32bits(low))
}

// biasRows adds what bias returns to rows of y. start comes before a row, next
// after it.
func (e *emitter) biasRows(y, n, rows, stride general, start func(), bias func(size int) []vector, next func()) {
	to, left := e.general(), e.general()
	e.rows(rows, func() {
		e.movGeneral(to, y)
		e.movGeneral(left, n)
		start()
		e.parts("part", left, sizes, func(size int) {
			e.addBiases(to, bias(size), size)
		})
		e.addGeneral(y, stride)
		next()
	})
}

// addBiases adds biases to the next scores of a row.
func (e *emitter) addBiases(to general, biases []vector, size int) {
	list := e.loadFloats(to, size)
	for j, v := range list {
		e.fadd4s(v, v, biases[j])
	}
	e.storeFloats(list, to, size)
	e.add(to, 4*size)
}
