package arm64

// rotation is where the loops of both layouts stand.
type rotation struct {
	y, x     general // a block of one head
	cos, sin general // the same block of the table rows
	n        general // pairs left
}

// sizes are the pairs of a block, from the most to the least.
var sizes = []int{16, 4, 1}

// rotate runs row at the start of every row of every token, then block over its
// pairs. Tokens are inside heads: several streams of memory at once run faster
// than one where x comes from DRAM. Strides have no registers: they are read
// where they are due.
func (e *emitter) rotate(row func(r *rotation), block func(r *rotation, size int)) {
	head, token, done := e.general(), e.general(), e.newLabel("done")
	for _, name := range []string{"heads", "pairs", "tokens"} {
		e.loadArgument(scratch, name)
		e.cbz(scratch, done)
	}
	y, x, cos, sin := e.general(), e.general(), e.general(), e.general()
	r := &rotation{y: e.general(), x: e.general(), cos: e.general(), sin: e.general(), n: e.general()}
	sides := []struct {
		name string
		row  general
	}{{"y", y}, {"x", x}}
	headLoop, tokenLoop := e.newLabel("head"), e.newLabel("token")
	e.clearGeneral(head)

	e.label(headLoop)
	for _, s := range sides {
		e.loadArgument(s.row, s.name+"HeadStride")
		e.mul(s.row, s.row, head)
		e.loadArgument(scratch, s.name)
		e.addShifted(s.row, scratch, s.row, 2)
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
	for _, size := range sizes {
		loop, next := e.newLabel("pairs"), e.newLabel("next")
		e.cmp(r.n, size)
		e.branch("BLT", next)
		e.label(loop)
		e.temporary(func() { block(r, size) })
		e.add(r.cos, 4*size)
		e.add(r.sin, 4*size)
		e.sub(r.n, size)
		e.cmp(r.n, size)
		e.branch("BGE", loop)
		e.label(next)
	}
	for _, s := range sides {
		e.loadArgument(scratch, s.name+"TokenStride")
		e.addShifted(s.row, s.row, scratch, 2)
	}
	e.loadArgument(scratch, "tableStride")
	e.addShifted(cos, cos, scratch, 2)
	e.addShifted(sin, sin, scratch, 2)
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
// rounded, and uses c and s up.
func (e *emitter) rotatePairs(x1, x2, c, s vector) {
	x2s := e.vector()
	e.fmul4s(x2s, x2, s)
	e.fmul4s(s, x1, s)
	e.fmul4s(x1, x1, c)
	e.fmul4s(x2, x2, c)
	e.fsub4s(x1, x1, x2s)
	e.fadd4s(x2, x2, s)
	e.release(x2s)
}

func rotateHalfSplit(e *emitter) {
	partner, y2, x2 := e.argument("partner"), e.general(), e.general()
	row := func(r *rotation) {
		e.addShifted(y2, r.y, partner, 2)
		e.addShifted(x2, r.x, partner, 2)
	}
	e.rotate(row, func(r *rotation, size int) {
		c, s := e.loadFloats(r.cos, size), e.loadFloats(r.sin, size)
		a, b := e.loadFloats(r.x, size), e.loadFloats(x2, size)
		for j := range a {
			e.rotatePairs(a[j], b[j], c[j], s[j])
		}
		e.storeFloats(a, r.y, size)
		e.storeFloats(b, y2, size)
		for _, at := range []general{r.y, y2, r.x, x2} {
			e.add(at, 4*size)
		}
	})
}

// rotateInterleaved takes even and odd elements apart as it loads them.
func rotateInterleaved(e *emitter) {
	e.rotate(func(*rotation) {}, func(r *rotation, size int) {
		c, s := e.loadFloats(r.cos, size), e.loadFloats(r.sin, size)
		if size == 1 {
			a, b := e.vector(), e.vector()
			e.ldr32(a, r.x, 0)
			e.ldr32(b, r.x, 4)
			e.rotatePairs(a, b, c[0], s[0])
			e.str32(a, r.y, 0)
			e.str32(b, r.y, 4)
			e.add(r.x, 8)
			e.add(r.y, 8)
			return
		}
		even := make([]vector, len(c))
		for j := range even {
			even[j] = e.neighbours()
			e.ld2(even[j], r.x)
		}
		for j := range even {
			e.rotatePairs(even[j], even[j]+1, c[j], s[j])
			e.st2(even[j], r.y)
		}
	})
}
