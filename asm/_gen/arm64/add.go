package arm64

// addScaled multiplies numbers of x by scale and adds numbers of y.
func addScaled(e *emitter) {
	t := e.to
	to, from, n, scale := e.argument("x"), e.argument("y"), e.argument("n"), e.broadcast("scale")
	if t == bfloat16s {
		e.loadBFloat16()
	}
	e.parts("loop", n, sizes, func(size int) {
		list, added := e.loadNumbers(t, to, size), e.loadFloats(from, size)
		for j, v := range list {
			e.fmul4s(v, v, scale)
			e.fadd4s(v, v, added[j])
		}
		e.storeNumbers(t, list, to, size)
		e.add(to, t.bytes(size))
		e.add(from, 4*size)
	})
	e.ret()
}
