package arm64

// convert writes numbers of x's type as numbers of y's type.
func convert(e *emitter) {
	y, x := e.to, e.from
	to, from, n := e.argument("y"), e.argument("x"), e.argument("n")
	var minusZero vector
	if y == bfloat16s || x == bfloat16s {
		e.loadBFloat16()
	}
	if y == bfloat16s {
		minusZero = e.load32("signBit32", 1<<31)
	}
	e.parts("loop", n, sizes, func(size int) {
		list := e.loadNumbers(x, from, size)
		if y == bfloat16s {
			for _, v := range list { // makes NaNs quiet and changes nothing else
				e.fadd4s(v, v, minusZero)
			}
		}
		e.storeNumbers(y, list, to, size)
		e.add(from, x.bytes(size))
		e.add(to, y.bytes(size))
	})
	e.ret()
}

// deinterleave writes the even elements of x, of 4 or 2 bytes, to the first half
// of y and the odd ones to the second.
func deinterleave(e *emitter) {
	bytes := e.to.bytes(1)
	y, x, n, second := e.argument("y"), e.argument("x"), e.argument("pairs"), e.general()
	e.addShifted(second, y, n, bytes/2)
	e.parts("loop", n, []int{16 / bytes, 1}, func(size int) {
		if size == 1 {
			e.moveElement(bytes, y, x, 0, 0)
			e.moveElement(bytes, second, x, 0, bytes)
			e.add(x, 2*bytes)
		} else {
			even := e.neighbours()
			e.ld2(even, x, size, 8*bytes)
			e.str(even, y, 0)
			e.str(even+1, second, 0)
		}
		e.add(y, bytes*size)
		e.add(second, bytes*size)
	})
	e.ret()
}

// interleave writes the elements of the first and of the second half of x to y
// alternately.
func interleave(e *emitter) {
	bytes := e.to.bytes(1)
	y, x, n, second := e.argument("y"), e.argument("x"), e.argument("pairs"), e.general()
	e.addShifted(second, x, n, bytes/2)
	e.parts("loop", n, []int{16 / bytes, 1}, func(size int) {
		if size == 1 {
			e.moveElement(bytes, y, x, 0, 0)
			e.moveElement(bytes, y, second, bytes, 0)
			e.add(y, 2*bytes)
		} else {
			even := e.neighbours()
			e.ldr(even, x, 0)
			e.ldr(even+1, second, 0)
			e.st2(even, y, size, 8*bytes)
		}
		e.add(x, bytes*size)
		e.add(second, bytes*size)
	})
	e.ret()
}
