package arm64

// dotProducts multiplies rows of x by vectors, some of these at a time for all
// rows, so that they are in the first cache for all but the first.
func dotProducts(e *emitter) {
	y, vectors, count := e.argument("y"), e.argument("vectors"), e.argument("count")
	d := &dots{x: e.general(), left: e.general(), copied: e.general(), xRest: e.local("xRest", 64), rest: e.local("rest", 64)}
	var at [together]general
	for i := range at {
		at[i] = e.general()
	}
	x, to, rows, done := e.general(), e.general(), e.general(), e.newLabel("done")
	e.clearMemory(d.xRest, d.rest)
	for _, columns := range []int{together, 1} {
		d.at = at[:columns]
		group, row, next := e.newLabel("columns"), e.newLabel("row"), e.newLabel("next")
		e.cmp(count, columns)
		e.branch("BLT", next)
		e.label(group)
		e.loadArgument(x, "x")
		e.loadArgument(rows, "rows")
		e.movGeneral(to, y)
		e.cbz(rows, done)
		e.label(row)
		e.movGeneral(d.x, x)
		e.movGeneral(at[0], vectors)
		for i := 1; i < columns; i++ {
			e.movGeneral(at[i], at[i-1])
			e.next(at[i], "vectorStride", float32s)
		}
		e.temporary(func() {
			e.storeFloats([]vector{e.totals(e.dotSums(d))}, to, columns)
		})
		e.next(x, "xStride", float32s)
		e.next(to, "yStride", float32s)
		e.subs(rows, 1)
		e.branch("BNE", row)
		for range columns {
			e.next(vectors, "vectorStride", float32s)
		}
		e.add(y, 4*columns)
		e.sub(count, columns)
		e.cmp(count, columns)
		e.branch("BGE", group)
		e.label(next)
	}
	e.label(done)
	e.ret()
}

// dots is a row and vectors that are multiplied.
type dots struct {
	x            general
	at           []general // in the vectors
	left, copied general
	xRest, rest  general // memory for the last elements, which starts as zeros
}

// dotSums returns, for each of the vectors, the sums of its products with the row
// in 16 lanes.
func (e *emitter) dotSums(d *dots) [][]vector {
	sums := e.zeros(len(d.at))
	add := func(x []vector, sums []vector, from general) {
		e.temporary(func() {
			for j, v := range e.loadFloats(from, 16) {
				e.fmul4s(v, v, x[j])
				e.fadd4s(sums[j], sums[j], v)
			}
		})
	}
	loop, rest, done := e.newLabel("products"), e.newLabel("rest"), e.newLabel("summed")
	e.loadArgument(d.left, "n")
	e.cmp(d.left, 16)
	e.branch("BLT", rest)
	e.label(loop)
	e.temporary(func() {
		x := e.loadFloats(d.x, 16)
		for i, from := range d.at {
			add(x, sums[i], from)
			e.add(from, 64)
		}
	})
	e.add(d.x, 64)
	e.sub(d.left, 16)
	e.cmp(d.left, 16)
	e.branch("BGE", loop)
	e.label(rest)
	e.cbz(d.left, done)
	e.temporary(func() {
		e.copyRest(float32s, d.left, d.copied, d.xRest, d.x)
		x := e.loadFloats(d.xRest, 16)
		for i, from := range d.at {
			e.copyRest(float32s, d.left, d.copied, d.rest, from)
			add(x, sums[i], d.rest)
		}
	})
	e.label(done)
	return sums
}

// addMultiples adds multiples of vectors to rows of y.
func addMultiples(e *emitter) {
	y, x, rows, n, vectors := e.argument("y"), e.argument("x"), e.argument("rows"), e.argument("n"), e.argument("vectors")
	count, stride := e.argument("count"), e.stride("vectorStride")
	to, column, left, factors, from, more := e.general(), e.general(), e.general(), e.general(), e.general(), e.general()
	e.rows(rows, func() {
		e.movGeneral(to, y)
		e.movGeneral(column, vectors)
		e.movGeneral(left, n)
		e.parts("part", left, []int{32, 16, 4, 1}, func(size int) {
			next := e.newLabel("vectors")
			sums := e.loadFloats(to, size)
			e.movGeneral(factors, x)
			e.movGeneral(from, column)
			e.movGeneral(more, count)
			e.label(next)
			e.temporary(func() {
				factor := e.vector()
				e.ldr32(factor, factors, 0)
				e.broadcastLane(factor, factor, 0)
				for i, v := range e.loadFloats(from, size) {
					e.fmul4s(v, v, factor)
					e.fadd4s(sums[i], sums[i], v)
				}
			})
			e.add(factors, 4)
			e.addGeneral(from, stride)
			e.subs(more, 1)
			e.branch("BNE", next)
			e.storeFloats(sums, to, size)
			e.add(to, 4*size)
			e.add(column, 4*size)
		})
		e.next(y, "yStride", float32s)
		e.next(x, "xStride", float32s)
	}, count)
}
