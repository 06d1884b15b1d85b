package arm64

import (
	"fmt"
	"math"
)

// addRows adds rows of x to rows of y.
func addRows(e *emitter) {
	y, x, n, rows := e.argument("y"), e.argument("x"), e.argument("n"), e.argument("rows")
	yStride, xStride := e.stride("yStride"), e.stride("xStride")
	from := e.general()
	e.biasRows(y, n, rows, yStride, func() { e.movGeneral(from, x) }, func(size int) []vector {
		list := e.loadFloats(from, size)
		e.add(from, 4*size)
		return list
	}, func() { e.addGeneral(x, xStride) })
}

// addConstant adds one number to rows of y.
func addConstant(e *emitter) {
	y, n, rows, stride, value := e.argument("y"), e.argument("n"), e.argument("rows"), e.stride("stride"), e.broadcast("value")
	nothing := func() {}
	e.biasRows(y, n, rows, stride, nothing, func(size int) []vector {
		list := make([]vector, max(1, size/4))
		for j := range list {
			list[j] = value
		}
		return list
	}, nothing)
}

// addDistance adds a slope times a distance, or minus it times its magnitude.
func addDistance(e *emitter, absolute bool) {
	y, n, rows, stride := e.argument("y"), e.argument("n"), e.argument("rows"), e.stride("stride")
	first, step, slope := e.broadcast("first"), e.broadcast("step"), e.broadcast("slope")
	counts := e.load("counts", pair(0, 1), pair(2, 3))
	sized := map[int]vector{}
	for _, size := range sizes {
		sized[size] = e.load32(fmt.Sprint("float", size), math.Float32bits(float32(size)))
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
	to, left, done, loop := e.general(), e.general(), e.newLabel("done"), e.newLabel("rows")
	e.cbz(rows, done)
	e.label(loop)
	e.movGeneral(to, y)
	e.movGeneral(left, n)
	start()
	e.parts(left, sizes, func(size int) {
		biases, list := bias(size), e.loadFloats(to, size)
		for j, v := range list {
			e.fadd4s(v, v, biases[j])
		}
		e.storeFloats(list, to, size)
		e.add(to, 4*size)
	})
	e.addGeneral(y, stride)
	next()
	e.subs(rows, 1)
	e.branch("BNE", loop)
	e.label(done)
	e.ret()
}
