package arm64

// together is how many rows are worked on at once, so that what one waits for is
// time for the others.
const together = 4

func rmsNorm(e *emitter) {
	t := e.to
	e.normalize(t, func(l *lines, n general) {
		e.movGeneral(l.left, n)
		e.multiplyLines(t, l)
	})
}

// lines is rows that are worked on together.
type lines struct {
	at           []general // in the rows
	weight, left general
	factors      []vector // of the rows
}

// normalize runs body for some rows at a time. It multiplies the n elements of
// each by its factor and by weight.
func (e *emitter) normalize(t element, body func(l *lines, n general)) {
	x, n, count, stride := e.argument("x"), e.argument("n"), e.argument("count"), e.byteStride(t)
	var at [together]general
	for i := range at {
		at[i] = e.general()
	}
	left, weight, tail, copied := e.general(), e.general(), e.local("tail", 64), e.general()
	done := e.newLabel("done")
	e.cbz(n, done)
	e.clearMemory(tail)
	if t == bfloat16s {
		e.loadBFloat16()
	}
	e.parts("rows", count, []int{together, 1}, func(rows int) {
		start := func() {
			e.movGeneral(at[0], x)
			for i := 1; i < rows; i++ {
				e.movGeneral(at[i], at[i-1])
				e.addGeneral(at[i], stride)
			}
			e.movGeneral(left, n)
		}
		start()
		inverses := e.inverseRoots(e.squareSums(t, at[:rows], left, tail, copied), n)
		l := &lines{at[:rows], weight, left, e.vectors(rows)}
		for i, f := range l.factors {
			e.broadcastLane(f, inverses, i)
		}
		e.release(inverses)
		start()
		e.loadArgument(weight, "weight")
		body(l, n)
		for range rows {
			e.addGeneral(x, stride)
		}
	})
	e.label(done)
	e.ret()
}

// squareSums returns, for each row, the sums of the squares of its elements in
// 16 lanes. The last elements come to their lanes through the memory at tail,
// which starts as zeros.
func (e *emitter) squareSums(t element, at []general, left, tail, copied general) [][]vector {
	sums := e.zeros(len(at))
	add := func(row []vector, t element, from general) {
		e.temporary(func() {
			for j, v := range e.loadNumbers(t, from, 16) {
				e.fmul4s(v, v, v)
				e.fadd4s(row[j], row[j], v)
			}
		})
	}
	loop, rest, done := e.newLabel("squares"), e.newLabel("rest"), e.newLabel("summed")
	e.cmp(left, 16)
	e.branch("BLT", rest)
	e.label(loop)
	for i, row := range sums {
		add(row, t, at[i])
		e.add(at[i], t.bytes(16))
	}
	e.sub(left, 16)
	e.cmp(left, 16)
	e.branch("BGE", loop)
	e.label(rest)
	e.cbz(left, done)
	for i, row := range sums {
		e.copyRest(t, left, copied, tail, at[i])
		add(row, float32s, tail)
	}
	e.label(done)
	return sums
}

// clearMemory writes 64 bytes of zeros to each of some places.
func (e *emitter) clearMemory(places ...general) {
	zero := e.vector()
	e.clear(zero)
	for _, to := range places {
		e.stp(zero, zero, to, 0)
		e.stp(zero, zero, to, 32)
	}
	e.release(zero)
}

// zeros returns 16 lanes of zeros for each of some rows.
func (e *emitter) zeros(rows int) [][]vector {
	sums := make([][]vector, rows)
	for i := range sums {
		sums[i] = e.vectors(4)
		for _, sum := range sums[i] {
			e.clear(sum)
		}
	}
	return sums
}

// copyRest copies the elements that are left to memory one by one, as float32.
func (e *emitter) copyRest(t element, left, copied, to, from general) {
	single := e.newLabel("single")
	e.movGeneral(scratch, left)
	e.movGeneral(copied, to)
	e.label(single)
	e.temporary(func() { e.storeFloats(e.loadNumbers(t, from, 1), copied, 1) })
	e.add(from, t.bytes(1))
	e.add(copied, 4)
	e.subs(scratch, 1)
	e.branch("BNE", single)
}

// inverseRoots returns the inverses of the root mean squares of rows, in as many
// lanes.
func (e *emitter) inverseRoots(sums [][]vector, n general) vector {
	sum, length := e.totals(sums), e.vector()
	e.scvtf(length, n)
	e.fdiv4s(sum, sum, length)
	e.fadd4s(sum, sum, e.broadcast("epsilon"))
	e.fsqrt4s(sum, sum)
	e.fdiv4s(sum, e.load32("one32", 0x3f800000), sum)
	for _, row := range sums {
		e.release(row...)
	}
	return sum
}

// totals returns the sums of 16 lanes each, of four rows or of one, in as many
// lanes.
func (e *emitter) totals(sums [][]vector) vector {
	var quads [together]vector
	for i, row := range sums {
		e.fadd4s(row[0], row[0], row[2]) // +8
		e.fadd4s(row[1], row[1], row[3])
		e.fadd4s(row[0], row[0], row[1]) // +4
		quads[i] = row[0]
	}
	for i := len(sums); i < together; i++ {
		quads[i] = quads[0]
	}
	var pairs [2]vector // +2, of two rows each
	for i := range pairs {
		low, high := e.vector(), e.vector()
		e.zip12d(low, quads[2*i], quads[2*i+1])
		e.zip22d(high, quads[2*i], quads[2*i+1])
		e.fadd4s(low, low, high)
		pairs[i] = low
	}
	sum := e.vector()
	e.faddp4s(sum, pairs[0], pairs[1])
	return sum
}

// multiplyLines multiplies the elements left of each row by its factor and by
// weight.
func (e *emitter) multiplyLines(t element, l *lines) {
	e.parts("part", l.left, sizes, func(size int) {
		w := e.loadFloats(l.weight, size)
		for i, row := range l.at {
			e.temporary(func() {
				list := e.loadNumbers(t, row, size)
				e.multiply(list, l.factors[i], w)
				e.storeNumbers(t, list, row, size)
			})
			e.add(row, t.bytes(size))
		}
		e.add(l.weight, 4*size)
	})
}

// multiply multiplies vectors by a factor and by weights.
func (e *emitter) multiply(list []vector, factor vector, weights []vector) {
	for j, v := range list {
		e.fmul4s(v, v, factor)
		e.fmul4s(v, v, weights[j])
	}
}

// byteStride loads the stride of x in bytes.
func (e *emitter) byteStride(t element) general {
	stride := e.argument("stride")
	e.op("LSL", "$%d, %s", t.log2(), stride)
	return stride
}

// scaleRows multiplies rows by one factor.
func scaleRows(e *emitter) {
	t := e.to
	x, n, count, stride := e.argument("x"), e.argument("n"), e.argument("count"), e.byteStride(t)
	at, left := e.general(), e.general()
	factor := e.broadcast("factor")
	if t == bfloat16s {
		e.loadBFloat16()
	}
	e.rows(count, func() {
		e.movGeneral(at, x)
		e.movGeneral(left, n)
		e.parts("part", left, sizes, func(size int) {
			list := e.loadNumbers(t, at, size)
			for _, v := range list {
				e.fmul4s(v, v, factor)
			}
			e.storeNumbers(t, list, at, size)
			e.add(at, t.bytes(size))
		})
		e.addGeneral(x, stride)
	})
}
