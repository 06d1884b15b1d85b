package arm64

// hadamardBlock is how many numbers of a row are in registers at once.
const hadamardBlock = 64

// hadamard transforms rows: blocks first, then the numbers of one place in all blocks.
func hadamard(e *emitter) {
	x, n, count, stride := e.argument("x"), e.argument("n"), e.argument("count"), e.byteStride(e.to)
	h := &butterflies{e.broadcast("factor"), e.load("signs1", pair(1, -1), pair(1, -1)), e.load("signs2", pair(1, 1), pair(-1, -1))}
	at, far, left := e.general(), e.general(), e.general()
	for _, length := range e.lengths {
		other := e.newLabel("other")
		e.cmp(n, length)
		e.branch("BNE", other)
		e.rows(count, func() {
			if length <= hadamardBlock {
				e.temporary(func() {
					e.storeFloats(e.transform(h, e.loadFloats(x, length)), x, length)
				})
			} else {
				e.transformBlocks(h, length/hadamardBlock, x, at, far, left)
			}
			e.addGeneral(x, stride)
		})
		e.label(other)
	}
	e.ret()
}

// butterflies has constants of the transform.
type butterflies struct {
	factor, signs1, signs2 vector
}

// transform multiplies the numbers of some vectors by the factor and makes all their
// stages. A number that is multiplied by 1 or -1 is rounded once, with the sum.
func (e *emitter) transform(h *butterflies, list []vector) []vector {
	e.multiplyAll(list, h.factor)
	for i, v := range list {
		list[i] = e.vector()
		e.rev644s(list[i], v)
		e.fmla4s(list[i], v, h.signs1)
		e.release(v)
	}
	for i, v := range list {
		list[i] = e.vector()
		e.upperHalf(list[i], v)
		e.fmla4s(list[i], v, h.signs2)
		e.release(v)
	}
	e.combine(list)
	return list
}

// combine makes the stages of the numbers of one lane.
func (e *emitter) combine(list []vector) {
	for distance := 1; distance < len(list); distance *= 2 {
		for i, a := range list {
			if i&distance != 0 {
				continue
			}
			b := list[i+distance]
			list[i] = e.vector()
			e.fadd4s(list[i], a, b)
			e.fsub4s(b, a, b)
			e.release(a)
		}
	}
}

func (e *emitter) multiplyAll(list []vector, factor vector) {
	for _, v := range list {
		e.fmul4s(v, v, factor)
	}
}

// transformBlocks transforms a row of several blocks.
func (e *emitter) transformBlocks(h *butterflies, blocks int, x, at, far, left general) {
	const bytes = 4 * hadamardBlock
	e.movGeneral(at, x)
	e.times("block", left, blocks, func() {
		e.storeFloats(e.transform(h, e.loadFloats(at, hadamardBlock)), at, hadamardBlock)
		e.add(at, bytes)
	})
	// Pairs of loads and stores reach four blocks.
	const reach = 4
	e.movGeneral(at, x)
	e.op("ADD", "$%d, %s, %s", reach*bytes, x, far)
	e.times("loop", left, hadamardBlock/8, func() {
		low, high := e.vectors(blocks), e.vectors(blocks)
		each := func(move func(d1, d2 vector, base general, offset int)) {
			for i := range blocks {
				base := at
				if i >= reach {
					base = far
				}
				move(low[i], high[i], base, i%reach*bytes)
			}
		}
		each(e.ldp)
		for _, list := range [][]vector{low, high} {
			e.combine(list)
		}
		each(e.stp)
		e.add(at, 32)
		e.add(far, 32)
	})
}

// times runs body a fixed number of times.
func (e *emitter) times(name string, left general, times int, body func()) {
	again := e.newLabel(name)
	e.op("MOVD", "$%d, %s", times, left)
	e.label(again)
	e.temporary(body)
	e.subs(left, 1)
	e.branch("BNE", again)
}
