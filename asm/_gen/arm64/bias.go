package arm64

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

// addDistance adds a slope times a distance, or times minus its magnitude.
func addDistance(e *emitter, absolute bool) {
	y, n, rows, stride := e.argument("y"), e.argument("n"), e.argument("rows"), e.stride("stride")
	first, step := e.argument("first"), e.argument("step")
	slope, counts, four := e.broadcast("slope"), e.load("counts", 1<<32, 3<<32|2), e.load32("four", 4)
	at := e.general()
	e.biasRows(y, n, rows, stride, func() { e.movGeneral(at, first) }, func(size int) []vector {
		list := e.vectors(max(1, size/4))
		e.broadcastGeneral(list[0], at)
		e.add4s(list[0], list[0], counts)
		for j := 1; j < len(list); j++ {
			e.add4s(list[j], list[j-1], four)
		}
		for _, v := range list {
			if absolute {
				e.abs4s(v, v)
				e.neg4s(v, v)
			}
			e.scvtf4s(v, v)
			e.fmul4s(v, v, slope)
		}
		e.add(at, size)
		return list
	}, func() { e.addGeneral(first, step) })
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
