package arm64

// every64 runs body for every 64 float32 of x.
func (e *emitter) every64(body func(x general)) {
	x, n := e.argument("x"), e.argument("n")
	loop, done := e.newLabel("loop"), e.newLabel("done")
	e.cbz(n, done)
	e.label(loop)
	e.temporary(func() { body(x) })
	e.add(x, 256)
	e.subs(n, 64)
	e.branch("BNE", loop)
	e.label(done)
	e.ret()
}

// inPlace does an instruction to each vector of x with a number, the argument of that
// name.
func (e *emitter) inPlace(instruction func(d, n, m vector), name string, prefetch bool) {
	number := e.broadcast(name)
	e.every64(func(x general) {
		for at := 0; at < 256; at += 32 {
			if prefetch && at%64 == 0 {
				e.op("PRFM", "%d(%s), PSTL1KEEP", at+4096, x)
			}
			a, b := e.vector(), e.vector()
			e.ldp(a, b, x, at)
			instruction(a, a, number)
			instruction(b, b, number)
			e.stp(a, b, x, at)
		}
	})
}

func store(e *emitter, nonTemporal bool) {
	value := e.broadcast("value")
	e.every64(func(x general) {
		for at := 0; at < 256; at += 32 {
			if nonTemporal {
				e.stnp(value, value, x, at)
			} else {
				e.stp(value, value, x, at)
			}
		}
	})
}

func storeHalves(e *emitter) {
	value := e.broadcast("value")
	x, n, second := e.argument("x"), e.argument("n"), e.general()
	loop, done := e.newLabel("loop"), e.newLabel("done")
	e.addShifted(second, x, n, 1)
	e.cbz(n, done)
	e.label(loop)
	for at := 0; at < 256; at += 64 {
		for _, half := range []general{x, second} {
			e.stnp(value, value, half, at)
			e.stnp(value, value, half, at+32)
		}
	}
	e.add(x, 256)
	e.add(second, 256)
	e.subs(n, 128)
	e.branch("BNE", loop)
	e.label(done)
	e.ret()
}
