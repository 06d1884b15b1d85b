package amd64

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rotation is where the loops of both layouts stand.
type rotation struct {
	y, x      reg.GPVirtual // a block of one head
	cos, sin  reg.GPVirtual // the same block of the table rows
	pairs     reg.OpmaskVirtual
	low, high reg.OpmaskVirtual
}

// blocks says how a layout rotates one block of pairs. table loads a block of
// the table rows into registers, apply rotates a block of x by it. Sizes are in
// pairs, from the largest down to 1, or to 0 for a last block under masks.
type blocks struct {
	elements   int // of y and x, one after another, for each pair
	oneToken   []int
	manyTokens []int
	table      func(r *rotation, size int)
	apply      func(r *rotation, size int)
}

// rotate writes the two ways through the rows. With one token, a block of its
// table rows stays in registers over all heads: the fastest where x is in a
// cache. With several, the tokens are the inner loop and every row is done from
// its start to its end: several streams of memory at once, which is the fastest
// where x comes from DRAM.
func (e *emitter) rotate(b blocks) {
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
	e.spans(r, n, b.oneToken, func(size int) {
		headLoop := e.label("head")
		b.table(r, size)
		e.MOVQ(y, r.y)
		e.MOVQ(x, r.x)
		e.MOVQ(heads, head)
		e.Label(headLoop)
		b.apply(r, size)
		e.step(r.y, yHeadStride)
		e.step(r.x, xHeadStride)
		e.DECQ(head)
		e.JNZ(operand.LabelRef(headLoop))
		e.ADDQ(operand.U32(uint32(4*b.elements*size)), y)
		e.ADDQ(operand.U32(uint32(4*b.elements*size)), x)
	})
}

// rotateTokens has no register for a stride: it reads them where they are due.
func (e *emitter) rotateTokens(b blocks) {
	head, token := e.GP64(), e.GP64()
	y, x, cos, sin, n := e.GP64(), e.GP64(), e.GP64(), e.GP64(), e.GP64()
	r := &rotation{y: e.GP64(), x: e.GP64(), cos: e.GP64(), sin: e.GP64()}
	sides := []struct {
		name string
		row  reg.GPVirtual
	}{{"y", y}, {"x", x}}
	headLoop, tokenLoop := e.label("head"), e.label("token")
	e.XORQ(head, head)
	e.Label(headLoop)
	for _, s := range sides {
		e.Load(e.Param(s.name+"HeadStride"), s.row)
		e.IMULQ(head, s.row)
		e.LEAQ(operand.Mem{Base: e.argument(s.name), Index: s.row, Scale: 4}, s.row)
	}
	e.Load(e.Param("cos"), cos)
	e.Load(e.Param("sin"), sin)
	e.Load(e.Param("tokens"), token)
	e.Label(tokenLoop)
	e.MOVQ(y, r.y)
	e.MOVQ(x, r.x)
	e.MOVQ(cos, r.cos)
	e.MOVQ(sin, r.sin)
	e.Load(e.Param("pairs"), n)
	e.spans(r, n, b.manyTokens, func(size int) {
		b.table(r, size)
		b.apply(r, size)
		e.ADDQ(operand.U32(uint32(4*b.elements*size)), r.y)
		e.ADDQ(operand.U32(uint32(4*b.elements*size)), r.x)
	})
	for _, s := range sides {
		e.step(s.row, e.argument(s.name+"TokenStride"))
	}
	tableStride := e.argument("tableStride")
	e.step(cos, tableStride)
	e.step(sin, tableStride)
	e.DECQ(token)
	e.JNZ(operand.LabelRef(tokenLoop))
	e.INCQ(head)
	e.CMPQ(head, e.argument("heads"))
	e.JNE(operand.LabelRef(headLoop))
}

// spans runs body over n pairs in blocks of the given sizes, and advances the
// table rows.
func (e *emitter) spans(r *rotation, n reg.GPVirtual, sizes []int, body func(size int)) {
	for _, size := range sizes {
		block, next := e.label("block"), e.label("next")
		if size == 0 {
			e.TESTQ(n, n)
			e.JZ(operand.LabelRef(next))
			r.pairs, r.low, r.high = e.tailMasks(n)
			body(size)
			e.Label(next)
			continue
		}
		e.CMPQ(n, operand.Imm(uint64(size)))
		e.JLT(operand.LabelRef(next))
		e.Label(block)
		body(size)
		e.ADDQ(operand.U32(uint32(4*size)), r.cos)
		e.ADDQ(operand.U32(uint32(4*size)), r.sin)
		e.SUBQ(operand.Imm(uint64(size)), n)
		e.CMPQ(n, operand.Imm(uint64(size)))
		e.JGE(operand.LabelRef(block))
		e.Label(next)
	}
}

// step moves an address by a stride in elements.
func (e *emitter) step(address, stride reg.GPVirtual) {
	e.LEAQ(operand.Mem{Base: address, Index: stride, Scale: 4}, address)
}

// tailMasks returns the masks of count pairs, count below 16: of the pairs, and
// of the low and the high 16 of their elements.
func (e *emitter) tailMasks(count reg.GPVirtual) (pairs, low, high reg.OpmaskVirtual) {
	pairs = e.tailMask(count)
	bits, doubled := e.GP64(), e.GP64()
	e.MOVQ(operand.U64(^uint64(0)), bits)
	e.LEAQ(operand.Mem{Base: count, Index: count, Scale: 1}, doubled)
	e.BZHIQ(doubled, bits, bits)
	low, high = e.K(), e.K()
	e.KMOVW(bits.As32(), low)
	e.SHRQ(operand.Imm(16), bits)
	e.KMOVW(bits.As32(), high)
	return pairs, low, high
}

// part is a register for a part of a block: 16, 8, 4, 2 or 1 float32, and 0 for
// 16 under a mask.
func (e *emitter) part(size int) reg.VecVirtual {
	switch size {
	case 16, 0:
		return e.ZMM()
	case 8:
		return e.YMM()
	default:
		return e.XMM()
	}
}

func (e *emitter) load(size int, mask reg.OpmaskVirtual, from operand.Mem) reg.VecVirtual {
	v := e.part(size)
	switch size {
	case 0:
		e.VMOVUPS_Z(from, mask, v)
	case 1:
		e.VMOVSS(from, v)
	case 2:
		e.VMOVSD(from, v)
	default:
		e.VMOVUPS(from, v)
	}
	return v
}

func (e *emitter) save(size int, mask reg.OpmaskVirtual, v reg.VecVirtual, to operand.Mem) {
	switch size {
	case 0:
		e.VMOVUPS(v, mask, to)
	case 1:
		e.VMOVSS(v, to)
	case 2:
		e.VMOVSD(v, to)
	default:
		e.VMOVUPS(v, to)
	}
}

func rotateHalfSplit(e *emitter) {
	partner := e.argument("partner")
	b := blocks{elements: 1, oneToken: []int{32, 8, 4, 1}, manyTokens: []int{32, 8, 4, 1}}
	if e.avx512 {
		b.oneToken, b.manyTokens = []int{64, 16, 0}, []int{64, 16, 0}
	}
	var cos, sin []reg.VecVirtual
	parts := func(size int) (part, count int) {
		part = min(size, e.lanes())
		return part, max(1, size/max(part, 1))
	}
	b.table = func(r *rotation, size int) {
		cos, sin = nil, nil
		part, count := parts(size)
		for j := range count {
			cos = append(cos, e.load(part, r.pairs, operand.Mem{Base: r.cos, Disp: 4 * part * j}))
			sin = append(sin, e.load(part, r.pairs, operand.Mem{Base: r.sin, Disp: 4 * part * j}))
		}
	}
	b.apply = func(r *rotation, size int) {
		part, count := parts(size)
		for j := range count {
			halves := func(row reg.GPVirtual) (first, second operand.Mem) {
				first = operand.Mem{Base: row, Disp: 4 * part * j}
				return first, operand.Mem{Base: row, Index: partner, Scale: 4, Disp: 4 * part * j}
			}
			first, second := halves(r.x)
			x1, x2 := e.load(part, r.pairs, first), e.load(part, r.pairs, second)
			x1s, x2s := e.part(part), e.part(part)
			e.VMULPS(sin[j], x1, x1s)
			e.VMULPS(sin[j], x2, x2s)
			e.VMULPS(cos[j], x1, x1)
			e.VMULPS(cos[j], x2, x2)
			e.VSUBPS(x2s, x1, x1)
			e.VADDPS(x1s, x2, x2)
			first, second = halves(r.y)
			e.save(part, r.pairs, x1, first)
			e.save(part, r.pairs, x2, second)
		}
	}
	e.rotate(b)
}

func rotateInterleaved(e *emitter) {
	if e.avx512 {
		rotateInterleavedAVX512(e)
	} else {
		rotateInterleavedAVX2(e)
	}
}

// rotateInterleavedAVX2 multiplies the elements by the cosines and the elements
// with their neighbours swapped by the sines; the difference goes to the even
// elements, the sum to the odd. Table entries are doubled in registers.
func rotateInterleavedAVX2(e *emitter) {
	var cos, sin []reg.VecVirtual
	parts := func(size int) (part, count int) {
		part = min(2*size, 8)
		return part, 2 * size / part
	}
	double := func(part int, from operand.Mem) reg.VecVirtual {
		v := e.part(part)
		switch part {
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
	b := blocks{elements: 2, oneToken: []int{16, 4, 2, 1}, manyTokens: []int{16, 4, 2, 1}}
	b.table = func(r *rotation, size int) {
		cos, sin = nil, nil
		part, count := parts(size)
		for j := range count {
			cos = append(cos, double(part, operand.Mem{Base: r.cos, Disp: 2 * part * j}))
			sin = append(sin, double(part, operand.Mem{Base: r.sin, Disp: 2 * part * j}))
		}
	}
	b.apply = func(r *rotation, size int) {
		part, count := parts(size)
		for j := range count {
			x, swapped := e.load(part, nil, operand.Mem{Base: r.x, Disp: 4 * part * j}), e.part(part)
			e.VPERMILPS(operand.Imm(0xb1), x, swapped)
			e.VMULPS(cos[j], x, x)
			e.VMULPS(sin[j], swapped, swapped)
			e.VADDSUBPS(swapped, x, x)
			e.save(part, nil, x, operand.Mem{Base: r.y, Disp: 4 * part * j})
		}
	}
	e.rotate(b)
}

// rotateInterleavedAVX512 keeps a table row as (c, s) and (-s, c). With the even
// and the odd elements doubled by the loads, a row costs two products and a sum.
func rotateInterleavedAVX512(e *emitter) {
	low, high, minus := e.ZMM(), e.ZMM(), e.ZMM()
	e.VMOVDQU32(e.interleave("interleaveLow", 0), low)
	e.VMOVDQU32(e.interleave("interleaveHigh", 8), high)
	e.VMOVDQU32(e.wide32("signBit32", 1<<31), minus)
	var first, second []reg.VecVirtual
	b := blocks{elements: 2, oneToken: []int{64, 32, 16, 0}, manyTokens: []int{16, 0}}
	b.table = func(r *rotation, size int) {
		first, second = nil, nil
		for j := range max(size/16, 1) {
			cos := e.load(min(size, 16), r.pairs, operand.Mem{Base: r.cos, Disp: 64 * j})
			sin := e.load(min(size, 16), r.pairs, operand.Mem{Base: r.sin, Disp: 64 * j})
			negated := e.ZMM()
			e.VPXORD(minus, sin, negated)
			for _, order := range []reg.VecVirtual{low, high} {
				cs, sc := e.ZMM(), e.ZMM()
				e.VMOVAPS(cos, cs)
				e.VPERMT2PS(sin, order, cs)
				e.VMOVAPS(negated, sc)
				e.VPERMT2PS(cos, order, sc)
				first, second = append(first, cs), append(second, sc)
			}
		}
	}
	b.apply = func(r *rotation, size int) {
		for j := range first {
			even, odd := e.ZMM(), e.ZMM()
			from := operand.Mem{Base: r.x, Disp: 64 * j}
			mask := []reg.OpmaskVirtual{r.low, r.high}[j%2]
			if size > 0 {
				e.VMOVSLDUP(from, even)
				e.VMOVSHDUP(from, odd)
			} else {
				// The doubling loads fault on elements that their mask leaves
				// out; plain ones do not.
				x := e.load(0, mask, from)
				e.VMOVSLDUP(x, even)
				e.VMOVSHDUP(x, odd)
			}
			e.VMULPS(first[j], even, even)
			e.VMULPS(second[j], odd, odd)
			e.VADDPS(odd, even, even)
			e.save(min(size, 16), mask, even, operand.Mem{Base: r.y, Disp: 64 * j})
		}
	}
	e.rotate(b)
}

// interleave returns the control that takes elements first, first+1, ... of two
// vectors by turns.
func (e *emitter) interleave(name string, first uint32) operand.Mem {
	if m, ok := e.constants[name]; ok {
		return m
	}
	m := e.StaticGlobal(name)
	e.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := uint32(0); i < 16; i++ {
		e.AddDatum(int(4*i), operand.U32(first+i/2+16*(i&1)))
	}
	e.constants[name] = m
	return m
}
