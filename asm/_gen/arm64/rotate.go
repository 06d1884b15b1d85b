package arm64

// rotation is where the loops of both layouts stand.
type rotation struct {
	y, x     general // the next elements of one head
	cos, sin general // those of its table rows
	n        general // pairs left
}

// sizes are the pairs of an iteration, from the most to the least.
var sizes = []int{16, 4, 1}

// rotate runs row at the start of every row of every token, then body over its
// pairs. Tokens are inside heads: several streams of memory at once run faster
// than one where x comes from DRAM. Strides have no registers: they are read
// where they are due.
func (e *emitter) rotate(yType, xType element, row func(r *rotation), body func(r *rotation, size int)) {
	head, token, done := e.general(), e.general(), e.newLabel("done")
	for _, name := range []string{"heads", "pairs", "tokens"} {
		e.loadArgument(scratch, name)
		e.cbz(scratch, done)
	}
	y, x, cos, sin := e.general(), e.general(), e.general(), e.general()
	r := &rotation{y: e.general(), x: e.general(), cos: e.general(), sin: e.general(), n: e.general()}
	sides := []struct {
		name  string
		row   general
		units element
	}{{"y", y, yType}, {"x", x, xType}}
	headLoop, tokenLoop := e.newLabel("head"), e.newLabel("token")
	e.clearGeneral(head)

	e.label(headLoop)
	for _, s := range sides {
		e.loadArgument(s.row, s.name+"HeadStride")
		e.mul(s.row, s.row, head)
		e.loadArgument(scratch, s.name)
		e.addShifted(s.row, scratch, s.row, s.units.log2())
	}
	e.loadArgument(cos, "cos")
	e.loadArgument(sin, "sin")
	e.loadArgument(token, "tokens")

	e.label(tokenLoop)
	e.movGeneral(r.y, y)
	e.movGeneral(r.x, x)
	e.movGeneral(r.cos, cos)
	e.movGeneral(r.sin, sin)
	e.loadArgument(r.n, "pairs")
	row(r)
	e.parts("loop", r.n, sizes, func(size int) {
		body(r, size)
		e.add(r.cos, 4*size)
		e.add(r.sin, 4*size)
	})
	for _, s := range sides {
		e.loadArgument(scratch, s.name+"TokenStride")
		e.addShifted(s.row, s.row, scratch, s.units.log2())
	}
	e.loadArgument(scratch, "tableStride")
	e.addShifted(cos, cos, scratch, float32s.log2())
	e.addShifted(sin, sin, scratch, float32s.log2())
	e.subs(token, 1)
	e.branch("BNE", tokenLoop)
	e.add(head, 1)
	e.loadArgument(scratch, "heads")
	e.cmpGeneral(head, scratch)
	e.branch("BNE", headLoop)
	e.label(done)
	e.ret()
}

// rotatePairs sets x1, x2 = x1*c - x2*s, x2*c + x1*s, each product and each sum
// rounded.
func (e *emitter) rotatePairs(x1, x2, c, s vector) {
	x1s, x2s := e.vector(), e.vector()
	e.fmul4s(x2s, x2, s)
	e.fmul4s(x1s, x1, s)
	e.fmul4s(x1, x1, c)
	e.fmul4s(x2, x2, c)
	e.fsub4s(x1, x1, x2s)
	e.fadd4s(x2, x2, x1s)
	e.release(x1s, x2s)
}

func rotateHalfSplit(e *emitter) {
	y, x := e.to, e.from
	partner, y2, x2 := e.argument("partner"), e.general(), e.general()
	if y == bfloat16s {
		e.loadBFloat16()
	}
	row := func(r *rotation) {
		e.addShifted(y2, r.y, partner, y.log2())
		e.addShifted(x2, r.x, partner, x.log2())
	}
	e.rotate(y, x, row, func(r *rotation, size int) {
		c, s := e.loadFloats(r.cos, size), e.loadFloats(r.sin, size)
		a, b := e.loadNumbers(x, r.x, size), e.loadNumbers(x, x2, size)
		for j := range a {
			e.rotatePairs(a[j], b[j], c[j], s[j])
		}
		e.storeNumbers(y, a, r.y, size)
		e.storeNumbers(y, b, y2, size)
		e.add(r.y, y.bytes(size))
		e.add(y2, y.bytes(size))
		e.add(r.x, x.bytes(size))
		e.add(x2, x.bytes(size))
	})
}

// rotateInterleaved takes even and odd elements apart as it loads them.
func rotateInterleaved(e *emitter) {
	y, x := e.to, e.from
	if y == bfloat16s {
		e.loadBFloat16()
	}
	e.rotate(y, x, func(*rotation) {}, func(r *rotation, size int) {
		c, s := e.loadFloats(r.cos, size), e.loadFloats(r.sin, size)
		a, b := e.loadPairs(x, r.x, size)
		for j := range a {
			e.rotatePairs(a[j], b[j], c[j], s[j])
		}
		e.storePairs(y, a, b, r.y, size)
	})
}
