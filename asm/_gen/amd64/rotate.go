package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rotation is where the loops of both layouts stand.
type rotation struct {
	y, x       reg.GPVirtual // a block of one head
	cos, sin   reg.GPVirtual // the same block of the table rows
	pairs, row masks         // of the last block: in the tables, in y and x
}

// blocks says how a layout rotates one block of pairs. table loads a block of
// the table rows into registers, apply rotates a block of x by it. Sizes are in
// pairs, from the largest down to 1, or to a last block under masks.
type blocks struct {
	y, x       element
	elements   int // of y and x, one after another, for each pair
	oneToken   []part
	manyTokens []part
	twoHeads   bool // of up to two tokens at once
	table      func(r *rotation, block part)
	apply      func(r *rotation, block part)
}

// rotate writes the two ways through the rows. With one token, a block of its
// table rows stays in registers over all heads: the fastest where x is in a
// cache. With several, the tokens are the inner loop and every row is done from
// its start to its end: several streams of memory at once, which is the fastest
// where x comes from DRAM.
func (e *emitter) rotate(b blocks) {
	b.twoHeads = b.x == float32s && !e.avx512 // where Rotate has two tokens at once
	many, done := e.label("many"), e.label("done")
	tokens := e.argument("tokens")
	for _, name := range []string{"heads", "pairs"} {
		count := e.argument(name)
		e.TESTQ(count, count)
		e.JZ(operand.LabelRef(done))
	}
	e.CMPQ(tokens, operand.Imm(1))
	e.JLT(operand.LabelRef(done))
	e.JNE(operand.LabelRef(many))
	e.rotateToken(b)
	e.JMP(operand.LabelRef(done))
	e.Label(many)
	e.rotateTokens(b)
	e.Label(done)
	e.VZEROUPPER()
	e.RET()
}

func (e *emitter) rotateToken(b blocks) {
	heads, head := e.argument("heads"), e.GP64()
	yHeadStride, xHeadStride := e.argument("yHeadStride"), e.argument("xHeadStride")
	y, x, n := e.argument("y"), e.argument("x"), e.argument("pairs")
	r := &rotation{y: e.GP64(), x: e.GP64(), cos: e.argument("cos"), sin: e.argument("sin")}
	e.rotateBlocks(r, n, b.elements, b.oneToken, func(block part) {
		headLoop := e.label("head")
		b.table(r, block)
		e.MOVQ(y, r.y)
		e.MOVQ(x, r.x)
		e.MOVQ(heads, head)
		e.Label(headLoop)
		b.apply(r, block)
		e.step(r.y, yHeadStride, b.y)
		e.step(r.x, xHeadStride, b.x)
		e.DECQ(head)
		e.JNZ(operand.LabelRef(headLoop))
		b.advance(e, block, y, x)
	})
}

// rotateTokens rotates one head after another, each of all tokens. With twoHeads
// and no more than two tokens it rotates two, which share what is loaded of the
// table. (Of four tokens two heads are slower from DRAM.) It has no register for a
// stride: it reads them where they are due.
func (e *emitter) rotateTokens(b blocks) {
	head := e.GP64()
	headLoop, single, exit := e.label("head"), e.label("single"), e.label("exit")
	e.XORQ(head, head)
	e.Label(headLoop)
	if b.twoHeads {
		next := e.GP64()
		e.CMPQ(e.argument("tokens"), operand.Imm(2))
		e.JG(operand.LabelRef(single))
		e.LEAQ(operand.Mem{Base: head, Disp: 2}, next)
		e.CMPQ(next, e.argument("heads"))
		e.JG(operand.LabelRef(single))
		e.rotateHeads(b, head, 2)
		e.ADDQ(operand.Imm(2), head)
		e.JMP(operand.LabelRef(headLoop))
		e.Label(single)
	}
	e.CMPQ(head, e.argument("heads"))
	e.JGE(operand.LabelRef(exit))
	e.rotateHeads(b, head, 1)
	e.INCQ(head)
	e.JMP(operand.LabelRef(headLoop))
	e.Label(exit)
}

// rotateHeads rotates one or two heads, from number head on, of all tokens.
func (e *emitter) rotateHeads(b blocks, head reg.GPVirtual, count int) {
	token, cos, sin, n := e.GP64(), e.GP64(), e.GP64(), e.GP64()
	y, x := e.GP64(), e.GP64()
	r := []*rotation{{y: e.GP64(), x: e.GP64(), cos: e.GP64(), sin: e.GP64()}}
	if count == 2 {
		r = append(r, &rotation{y: e.GP64(), x: e.GP64(), cos: r[0].cos, sin: r[0].sin})
	}
	sides := []struct {
		name  string
		row   reg.GPVirtual
		units element
		rows  func(r *rotation) reg.GPVirtual
	}{
		{"y", y, b.y, func(r *rotation) reg.GPVirtual { return r.y }},
		{"x", x, b.x, func(r *rotation) reg.GPVirtual { return r.x }},
	}
	tokenLoop := e.label("token")
	for _, s := range sides {
		e.Load(e.Param(s.name+"HeadStride"), s.row)
		e.IMULQ(head, s.row)
		e.LEAQ(operand.Mem{Base: e.argument(s.name), Index: s.row, Scale: uint8(s.units.bytes())}, s.row)
	}
	e.Load(e.Param("cos"), cos)
	e.Load(e.Param("sin"), sin)
	e.Load(e.Param("tokens"), token)
	e.Label(tokenLoop)
	for _, s := range sides {
		e.MOVQ(s.row, s.rows(r[0]))
		if count == 2 {
			e.LEAQ(operand.Mem{Base: s.row, Index: e.argument(s.name + "HeadStride"), Scale: uint8(s.units.bytes())}, s.rows(r[1]))
		}
	}
	e.MOVQ(cos, r[0].cos)
	e.MOVQ(sin, r[0].sin)
	e.Load(e.Param("pairs"), n)
	e.rotateBlocks(r[0], n, b.elements, b.manyTokens, func(block part) {
		b.table(r[0], block)
		for _, each := range r {
			each.pairs, each.row = r[0].pairs, r[0].row
			b.apply(each, block)
			b.advance(e, block, each.y, each.x)
		}
	})
	for _, s := range sides {
		e.step(s.row, e.argument(s.name+"TokenStride"), s.units)
	}
	tableStride := e.argument("tableStride")
	e.step(cos, tableStride, float32s)
	e.step(sin, tableStride, float32s)
	e.DECQ(token)
	e.JNZ(operand.LabelRef(tokenLoop))
}

// advance moves the addresses behind a block.
func (b *blocks) advance(e *emitter, block part, y, x reg.GPVirtual) {
	e.ADDQ(operand.U32(uint32(b.y.bytes()*b.elements*block.size)), y)
	e.ADDQ(operand.U32(uint32(b.x.bytes()*b.elements*block.size)), x)
}

// rotateBlocks runs body over n pairs, and advances the table rows.
func (e *emitter) rotateBlocks(r *rotation, n reg.GPVirtual, elements int, sizes []part, body func(block part)) {
	e.spans(n, sizes, func(block part) {
		if !block.masked {
			body(block)
			e.ADDQ(operand.U32(uint32(4*block.size)), r.cos)
			e.ADDQ(operand.U32(uint32(4*block.size)), r.sin)
			return
		}
		r.pairs = e.masks(n, 16)
		r.row = r.pairs
		if elements == 2 {
			r.row = e.masks(e.twice(n), 16)
		}
		body(block)
	})
}

// step moves an address by a stride in elements.
func (e *emitter) step(address, stride reg.GPVirtual, units element) {
	e.LEAQ(operand.Mem{Base: address, Index: stride, Scale: uint8(units.bytes())}, address)
}

// rotatePairs sets x1, x2 = x1*c - x2*s, x2*c + x1*s, each product and each sum
// rounded.
func (e *emitter) rotatePairs(x1, x2, c, s reg.VecVirtual) {
	x1s, x2s := e.like(x1), e.like(x1)
	e.VMULPS(s, x1, x1s)
	e.VMULPS(s, x2, x2s)
	e.VMULPS(c, x1, x1)
	e.VMULPS(c, x2, x2)
	e.VSUBPS(x2s, x1, x1)
	e.VADDPS(x1s, x2, x2)
}

// rotateHalfSplit takes numbers in order, or by turns where y is bfloat16.
func rotateHalfSplit(e *emitter) {
	y, x := e.to, e.from
	partner := e.argument("partner")
	b := blocks{y: y, x: x, elements: 1, oneToken: whole(32, 8, 4, 1)}
	width := e.lanes() // of a whole part
	if y == bfloat16s {
		e.loadTurns()
		width *= 2
		b.oneToken = whole(32, 16, 8, 4, 1)
	}
	if e.avx512 {
		b.oneToken = append(whole(64, width), part{width, true})
	}
	b.manyTokens = b.oneToken
	parts := func(block part) (p part, count int) {
		p = part{min(block.size, width), block.masked}
		return p, block.size / p.size
	}
	load := func(t element, p part, m masks, from operand.Mem) []reg.VecVirtual {
		if y == bfloat16s && p.size > 1 {
			even, odd := e.loadByTurns(t, p, m, from)
			return []reg.VecVirtual{even, odd}
		}
		return []reg.VecVirtual{e.load(t, p, m.low, from)}
	}
	var cos, sin [][]reg.VecVirtual
	b.table = func(r *rotation, block part) {
		cos, sin = nil, nil
		p, count := parts(block)
		for j := range count {
			c := load(float32s, p, r.pairs, operand.Mem{Base: r.cos, Disp: 4 * p.size * j})
			s := load(float32s, p, r.pairs, operand.Mem{Base: r.sin, Disp: 4 * p.size * j})
			if x == bfloat16s && len(c) == 2 {
				e.clearNaNBits(append(c, s...)...)
			}
			cos, sin = append(cos, c), append(sin, s)
		}
	}
	b.apply = func(r *rotation, block part) {
		p, count := parts(block)
		for j := range count {
			halves := func(row reg.GPVirtual, t element) (first, second operand.Mem) {
				first = operand.Mem{Base: row, Disp: t.bytes() * p.size * j}
				second = first
				second.Index, second.Scale = partner, uint8(t.bytes())
				return first, second
			}
			first, second := halves(r.x, x)
			x1, x2 := load(x, p, r.row, first), load(x, p, r.row, second)
			for i := range x1 {
				e.rotatePairs(x1[i], x2[i], cos[j][i], sin[j][i])
			}
			first, second = halves(r.y, y)
			if len(x1) == 1 {
				e.save(y, p, r.row.low, x1[0], first)
				e.save(y, p, r.row.low, x2[0], second)
				continue
			}
			words := e.roundByTurns([]reg.VecVirtual{x1[0], x2[0]}, []reg.VecVirtual{x1[1], x2[1]}, x == float32s)
			e.saveWords(p, r.row.low, words[0], first)
			e.saveWords(p, r.row.low, words[1], second)
		}
	}
	e.rotate(b)
}

func rotateInterleaved(e *emitter) {
	y, x := e.to, e.from
	switch {
	case y == bfloat16s:
		rotateInterleavedByTurns(e, y, x)
	case e.avx512:
		rotateInterleavedAVX512(e, y, x)
	default:
		rotateInterleavedAVX2(e, y, x)
	}
}

// rotateInterleavedByTurns has the first of all pairs in one vector and the
// second in another.
func rotateInterleavedByTurns(e *emitter, y, x element) {
	e.loadTurns()
	b := blocks{y: y, x: x, elements: 2, oneToken: whole(32, 8, 4, 1)}
	if e.avx512 {
		b.oneToken = append(whole(64, 16), part{16, true})
	}
	b.manyTokens = b.oneToken
	parts := func(block part) (table, row part, count int) {
		table = part{min(block.size, e.lanes()), block.masked}
		return table, part{2 * table.size, table.masked}, block.size / table.size
	}
	var cos, sin []reg.VecVirtual
	b.table = func(r *rotation, block part) {
		cos, sin = nil, nil
		table, _, count := parts(block)
		for j := range count {
			c := e.load(float32s, table, r.pairs.low, operand.Mem{Base: r.cos, Disp: 4 * table.size * j})
			s := e.load(float32s, table, r.pairs.low, operand.Mem{Base: r.sin, Disp: 4 * table.size * j})
			if x == bfloat16s {
				e.clearNaNBits(c, s)
			}
			cos, sin = append(cos, c), append(sin, s)
		}
	}
	b.apply = func(r *rotation, block part) {
		_, row, count := parts(block)
		for first := 0; first < count; first += 2 {
			var x1, x2 []reg.VecVirtual
			for j := first; j < min(first+2, count); j++ {
				a, b := e.loadByTurns(x, row, r.row, operand.Mem{Base: r.x, Disp: x.bytes() * row.size * j})
				e.rotatePairs(a, b, cos[j], sin[j])
				x1, x2 = append(x1, a), append(x2, b)
			}
			for i, words := range e.roundByTurns(x1, x2, x == float32s) {
				e.saveWords(row, r.row.low, words, operand.Mem{Base: r.y, Disp: y.bytes() * row.size * (first + i)})
			}
		}
	}
	e.rotate(b)
}

// rotateInterleavedAVX2 multiplies the elements by the cosines and the elements
// with their neighbours swapped by the sines; the difference goes to the even
// elements, the sum to the odd. Table entries are doubled in registers.
func rotateInterleavedAVX2(e *emitter, y, x element) {
	var cos, sin []reg.VecVirtual
	parts := func(block part) (p part, count int) {
		p.size = min(2*block.size, 8)
		return p, 2 * block.size / p.size
	}
	b := blocks{y: y, x: x, elements: 2, oneToken: whole(16, 4, 2, 1), manyTokens: whole(16, 4, 2, 1)}
	b.table = func(r *rotation, block part) {
		cos, sin = nil, nil
		p, count := parts(block)
		for j := range count {
			cos = append(cos, e.double(p, operand.Mem{Base: r.cos, Disp: 2 * p.size * j}))
			sin = append(sin, e.double(p, operand.Mem{Base: r.sin, Disp: 2 * p.size * j}))
		}
	}
	b.apply = func(r *rotation, block part) {
		p, count := parts(block)
		var none reg.OpmaskVirtual
		for j := range count {
			v := e.load(x, p, none, operand.Mem{Base: r.x, Disp: x.bytes() * p.size * j})
			e.rotateNeighbours(v, cos[j], sin[j])
			e.save(y, p, none, v, operand.Mem{Base: r.y, Disp: y.bytes() * p.size * j})
		}
	}
	e.rotate(b)
}

// double loads half a part of table entries, each twice.
func (e *emitter) double(p part, from operand.Mem) reg.VecVirtual {
	v := e.vectorOf(p.size)
	switch p.size {
	case 8:
		e.VPMOVZXDQ(from, v)
		e.VMOVSLDUP(v, v)
	case 4:
		e.VMOVSD(from, v)
		e.VUNPCKLPS(v, v, v)
	case 2:
		e.VBROADCASTSS(from, v)
	}
	return v
}

// rotateNeighbours rotates the pairs in v by doubled table entries.
func (e *emitter) rotateNeighbours(v, c, s reg.VecVirtual) {
	swapped := e.like(v)
	e.VPERMILPS(operand.Imm(0xb1), v, swapped)
	e.VMULPS(c, v, v)
	e.VMULPS(s, swapped, swapped)
	e.VADDSUBPS(swapped, v, v)
}

// rotateInterleavedAVX512 keeps a table row as (c, s) and (-s, c). With the even
// and the odd elements doubled, of float32 by the loads, a row costs two products
// and a sum.
func rotateInterleavedAVX512(e *emitter, y, x element) {
	m := e.newRotationMatrix()
	var first, second []reg.VecVirtual
	last := part{16, true}
	b := blocks{y: y, x: x, elements: 2, oneToken: append(whole(64, 32, 16), last), manyTokens: append(whole(16), last)}
	b.table = func(r *rotation, block part) {
		first, second = nil, nil
		p := part{16, block.masked}
		for j := range block.size / 16 {
			cos := e.load(float32s, p, r.pairs.low, operand.Mem{Base: r.cos, Disp: 64 * j})
			sin := e.load(float32s, p, r.pairs.low, operand.Mem{Base: r.sin, Disp: 64 * j})
			cs, sc := m.columns(cos, sin)
			first, second = append(first, cs...), append(second, sc...)
		}
	}
	b.apply = func(r *rotation, block part) {
		p := part{16, block.masked}
		for j := range first {
			even, odd := e.ZMM(), e.ZMM()
			from := operand.Mem{Base: r.x, Disp: 16 * x.bytes() * j}
			mask := []reg.OpmaskVirtual{r.row.low, r.row.high}[j%2]
			if x == float32s && !block.masked {
				e.VMOVSLDUP(from, even)
				e.VMOVSHDUP(from, odd)
			} else {
				// The doubling loads fault on elements that their mask leaves
				// out; plain ones do not.
				v := e.load(x, p, mask, from)
				e.VMOVSLDUP(v, even)
				e.VMOVSHDUP(v, odd)
			}
			e.sumOfProducts(even, odd, first[j], second[j])
			e.save(y, p, mask, even, operand.Mem{Base: r.y, Disp: 16 * y.bytes() * j})
		}
	}
	e.rotate(b)
}

// rotationMatrix makes the columns of rotations, by which AVX-512 multiplies
// doubled elements.
type rotationMatrix struct {
	e                *emitter
	low, high, minus reg.VecVirtual
}

func (e *emitter) newRotationMatrix() *rotationMatrix {
	m := &rotationMatrix{e, e.permutation("low", 4), e.permutation("high", 4), e.ZMM()}
	e.VMOVDQU32(e.wide32("signBit32", 1<<31), m.minus)
	return m
}

// columns returns (c, s) and (-s, c) by turns, of the lower and the upper half of
// a vector of table entries.
func (m *rotationMatrix) columns(cos, sin reg.VecVirtual) (first, second []reg.VecVirtual) {
	negated := m.e.ZMM()
	m.e.VPXORD(m.minus, sin, negated)
	for _, order := range []reg.VecVirtual{m.low, m.high} {
		cs, sc := m.e.ZMM(), m.e.ZMM()
		m.e.VMOVAPS(cos, cs)
		m.e.VPERMT2PS(sin, order, cs)
		m.e.VMOVAPS(negated, sc)
		m.e.VPERMT2PS(cos, order, sc)
		first, second = append(first, cs), append(second, sc)
	}
	return first, second
}

// sumOfProducts sets even to even*first + odd*second.
func (e *emitter) sumOfProducts(even, odd, first, second reg.VecVirtual) {
	e.VMULPS(first, even, even)
	e.VMULPS(second, odd, odd)
	e.VADDPS(odd, even, even)
}
