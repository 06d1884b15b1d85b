package arm64

// fusedSizes are the elements of a part, or the pairs: tables, weights and rows
// have to fit the registers together.
var fusedSizes = []int{8, 4, 1}

// fusion is where the normalization and rotation of some rows stands.
type fusion struct {
	*emitter
	*lines
	cos, sin, pairs, other general
}

// rmsNormRotate normalizes rows of float32 and rotates a slice of each by the same
// angles.
func rmsNormRotate(e *emitter, rotate func(f *fusion)) {
	f := &fusion{emitter: e, cos: e.general(), sin: e.general(), pairs: e.general(), other: e.general()}
	e.normalize(float32s, func(l *lines, n general) {
		f.lines = l
		e.loadArgument(l.left, "first")
		e.multiplyLines(float32s, l)
		e.loadArgument(f.cos, "cos")
		e.loadArgument(f.sin, "sin")
		e.loadArgument(f.pairs, "pairs")
		e.movGeneral(l.left, f.pairs)
		rotate(f)
		e.movGeneral(l.left, n)
		e.loadArgument(scratch, "first")
		e.subGeneral(l.left, scratch)
		for range 2 {
			e.subGeneral(l.left, f.pairs)
		}
		e.multiplyLines(float32s, l)
	})
}

func (f *fusion) rotateHalfSplit() {
	f.parts("part", f.left, fusedSizes, func(size int) {
		c, s, w1 := f.loadFloats(f.cos, size), f.loadFloats(f.sin, size), f.loadFloats(f.weight, size)
		f.addShifted(f.other, f.weight, f.pairs, float32s.log2())
		w2 := f.loadFloats(f.other, size)
		for i, row := range f.at {
			f.temporary(func() {
				f.addShifted(f.other, row, f.pairs, float32s.log2())
				x1, x2 := f.loadFloats(row, size), f.loadFloats(f.other, size)
				f.multiply(x1, f.factors[i], w1)
				f.multiply(x2, f.factors[i], w2)
				for j := range x1 {
					f.rotatePairs(x1[j], x2[j], c[j], s[j])
				}
				f.storeFloats(x1, row, size)
				f.storeFloats(x2, f.other, size)
			})
			f.add(row, 4*size)
		}
		f.advance(size, 1)
	})
	for _, row := range f.at {
		f.addShifted(row, row, f.pairs, float32s.log2())
	}
	f.addShifted(f.weight, f.weight, f.pairs, float32s.log2())
}

// rotateInterleaved takes even and odd elements apart as it loads them.
func (f *fusion) rotateInterleaved() {
	f.parts("part", f.left, fusedSizes, func(size int) {
		c, s := f.loadFloats(f.cos, size), f.loadFloats(f.sin, size)
		f.movGeneral(f.other, f.weight)
		w1, w2 := f.loadPairs(float32s, f.other, size)
		for i, row := range f.at {
			f.temporary(func() {
				f.movGeneral(f.other, row)
				x1, x2 := f.loadPairs(float32s, row, size)
				f.multiply(x1, f.factors[i], w1)
				f.multiply(x2, f.factors[i], w2)
				for j := range x1 {
					f.rotatePairs(x1[j], x2[j], c[j], s[j])
				}
				f.storePairs(float32s, x1, x2, f.other, size)
			})
		}
		f.advance(size, 2)
	})
}

// advance moves the addresses of the tables and of the weights, elements for each
// pair, behind some pairs.
func (f *fusion) advance(pairs, elements int) {
	f.add(f.cos, 4*pairs)
	f.add(f.sin, 4*pairs)
	f.add(f.weight, 4*pairs*elements)
}
