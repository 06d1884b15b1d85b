package arm64

const blockShift = 32 * 2 * shiftPlane // bytes of the shifts of 64 pairs

// sinusoidalRows writes rows of sines and cosines that are made by the linear shift
// where they belong, or adds them.
func sinusoidalRows(e *emitter, interleaved, add bool) {
	var start, to []general
	for _, name := range map[bool][]string{false: {"cos", "sin"}, true: {"x"}}[interleaved] {
		start, to = append(start, e.argument(name)), append(to, e.general())
	}
	stride, rows := e.stride("stride"), e.argument("rows")
	seed, shift, n := e.argument("seed"), e.argument("shift"), e.argument("n")
	scaling := e.broadcast("scaling")
	var scale vector
	if add {
		scale = e.broadcast("scale")
	}
	left, done, a, b, errors, flag := e.general(), e.general(), e.general(), e.general(), e.general(), e.general()
	e.locals = 32
	column := e.general() // of the 64 pairs of a seed
	bounds, twice := e.margins()
	undecided := e.vector()
	row, main, same, rest, next, exit := e.newLabel("row"), e.newLabel("main"), e.newLabel("same"), e.newLabel("rest"), e.newLabel("next"), e.newLabel("exit")

	// entries returns the next four sines and cosines in neighbouring registers, or
	// leaves for exit.
	entries := func() (sin, cos vector) {
		c, s := e.shifted(a, b, errors, bounds, twice, undecided)
		e.anyBits(flag, undecided)
		e.cbnz(flag, exit)
		sin = e.neighbours()
		e.fmul4s(sin, s, scaling)
		e.fmul4s(sin+1, c, scaling)
		e.release(c, s)
		return sin, sin + 1
	}
	e.clearGeneral(done)
	e.cbz(rows, exit)
	e.label(row)
	e.clear(undecided)
	for j := range to {
		e.movGeneral(to[j], start[j])
	}
	e.movGeneral(left, n)
	e.movGeneral(a, seed)
	e.op("ADD", "$%d, %s, %s", 2*shiftPlane, seed, errors)
	e.movGeneral(b, shift)
	e.clearGeneral(column)
	e.cmp(left, 4)
	e.branch("BLT", rest)
	e.label(main)
	e.temporary(func() {
		sin, cos := entries()
		if interleaved {
			if add {
				x := e.neighbours()
				e.movGeneral(scratch, to[0])
				e.ld2(x, scratch, 4, 32)
				for j, v := range []vector{sin, cos} {
					e.fmul4s(x+vector(j), x+vector(j), scale)
					e.fadd4s(v, v, x+vector(j))
				}
			}
			e.st2(sin, to[0], 4, 32)
			return
		}
		for j, v := range []vector{cos, sin} {
			x := e.vector()
			e.ldr(x, to[j], 0)
			e.fmul4s(x, x, scale)
			e.fadd4s(v, v, x)
			e.str(v, to[j], 0)
			e.add(to[j], 16)
		}
	})
	e.add(done, 4)
	e.add(column, 4)
	e.tbz(column, 6, same)
	e.clearGeneral(column)
	e.add(a, 2*shiftPlane)
	e.add(errors, 2*shiftPlane)
	e.op("ADD", "$%d, %s", blockShift-shiftPlane, b)
	e.label(same)
	e.sub(left, 4)
	e.cmp(left, 4)
	e.branch("BGE", main)
	e.label(rest)
	e.cbz(left, next)
	// Fewer than four pairs go by way of memory on the stack, number by number.
	e.temporary(func() {
		sin, cos := entries()
		e.addGeneral(done, left)
		e.op("MOVD", "$entries-32(SP), %s", scratch)
		if interleaved {
			e.st2(sin, scratch, 4, 32)
			e.addGeneral(left, left)
		} else {
			e.str(cos, scratch, 0)
			e.str(sin, scratch, 16)
		}
		x, v := e.vector(), e.vector()
		for j := range to {
			loop := e.newLabel("number")
			e.op("MOVD", "$entries-%d(SP), %s", 32-16*j, a)
			e.movGeneral(b, left)
			e.label(loop)
			e.ldr32(v, a, 0)
			if add {
				e.ldr32(x, to[j], 0)
				e.fmul4s(x, x, scale)
				e.fadd4s(v, v, x)
			}
			e.str32(v, to[j], 0)
			e.add(a, 4)
			e.add(to[j], 4)
			e.subs(b, 1)
			e.branch("BNE", loop)
		}
	})
	e.label(next)
	for _, r := range start {
		e.addGeneral(r, stride)
	}
	e.add(shift, 2*shiftPlane)
	e.subs(rows, 1)
	e.branch("BNE", row)
	e.label(exit)
	e.result(done, "done")
	e.ret()
}
