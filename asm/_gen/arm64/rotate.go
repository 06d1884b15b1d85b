package arm64

// rotation is where the loops of both layouts stand.
type rotation struct {
	y, x     general // a block of one head
	cos, sin general // the same block of the table rows
	n        general // pairs left
}

// sizes are the pairs of an iteration, from the most to the least.
var sizes = []int{16, 4, 1}

// rotate runs startHead at the start of every head of every token, then block over its
// pairs in parts of the given sizes. Strides have no registers: they are read where they
// are due.
func (e *emitter) rotate(yType, xType element, sizes []int, startHead func(r *rotation), block func(r *rotation, size int)) {
	head, token, done := e.general(), e.general(), e.newLabel("done")
	for _, name := range []string{"heads", "pairs"} {
		e.loadArgument(scratch, name)
		e.cbz(scratch, done)
	}
	e.loadArgument(token, "tokens")
	e.cbz(token, done)
	type side struct {
		name        string
		token, head general // where those begin
		units       element
	}
	y, x := side{"y", e.argument("y"), e.general(), yType}, side{"x", e.argument("x"), e.general(), xType}
	cos, sin := e.argument("cos"), e.argument("sin")
	r := &rotation{y: e.general(), x: e.general(), cos: e.general(), sin: e.general(), n: e.general()}
	headLoop, tokenLoop := e.newLabel("head"), e.newLabel("token")

	e.label(tokenLoop)
	e.movGeneral(y.head, y.token)
	e.movGeneral(x.head, x.token)
	e.loadArgument(head, "heads")

	e.label(headLoop)
	e.movGeneral(r.y, y.head)
	e.movGeneral(r.x, x.head)
	e.movGeneral(r.cos, cos)
	e.movGeneral(r.sin, sin)
	e.loadArgument(r.n, "pairs")
	startHead(r)
	e.parts("loop", r.n, sizes, func(size int) {
		block(r, size)
		e.add(r.cos, 4*size)
		e.add(r.sin, 4*size)
	})
	for _, s := range []side{y, x} {
		e.next(s.head, s.name+"HeadStride", s.units)
	}
	e.subs(head, 1)
	e.branch("BNE", headLoop)
	for _, s := range []side{y, x} {
		e.next(s.token, s.name+"TokenStride", s.units)
	}
	e.next(cos, "tableStride", float32s)
	e.next(sin, "tableStride", float32s)
	e.subs(token, 1)
	e.branch("BNE", tokenLoop)
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
	if y == bfloat16s || x == bfloat16s {
		e.loadBFloat16()
	}
	startHead := func(r *rotation) {
		e.addShifted(y2, r.y, partner, y.log2())
		e.addShifted(x2, r.x, partner, x.log2())
	}
	e.rotate(y, x, sizes, startHead, func(r *rotation, size int) {
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
	if y == bfloat16s || x == bfloat16s {
		e.loadBFloat16()
	}
	e.rotate(y, x, sizes, func(*rotation) {}, func(r *rotation, size int) {
		c, s := e.loadFloats(r.cos, size), e.loadFloats(r.sin, size)
		a, b := e.loadPairs(x, r.x, size)
		for j := range a {
			e.rotatePairs(a[j], b[j], c[j], s[j])
		}
		e.storePairs(y, a, b, r.y, size)
	})
}
