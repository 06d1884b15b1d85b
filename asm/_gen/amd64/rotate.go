package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rotation is where the loops of both layouts stand.
type rotation struct {
	y, x     reg.GPVirtual // a block of one head
	cos, sin reg.GPVirtual // the same block of the table rows
}

// blocks says how a layout rotates one block of pairs. table loads a block of
// the table rows into registers, apply rotates a block of x by it. Sizes are in
// pairs, from the largest down to 1: a last block under a mask would be stored as a whole
// one, see saveUpTo.
type blocks struct {
	y, x     element
	elements int           // of y and x, one after another, for each pair
	partner  reg.GPVirtual // from the first to the second elements; interleaved: nil
	ahead    reg.GPVirtual // the parameter, of float32 to float32
	sizes    []part
	table    func(r *rotation, block part)
	apply    func(r *rotation, block part)
}

// rotate rotates one token after another. A block of its table rows stays in registers
// over all heads. (Several tokens at once, each row from its start to its end, are as many
// streams of memory: slower than one stream that is fetched ahead of time.)
func (e *emitter) rotate(b blocks) {
	tokenLoop, done := e.label("token"), e.label("done")
	for _, name := range []string{"heads", "pairs", "tokens"} {
		count := e.argument(name)
		e.TESTQ(count, count)
		e.JZ(operand.LabelRef(done))
	}
	e.Label(tokenLoop)
	e.rotateToken(b)
	e.DECQ(e.parameter("tokens"))
	e.JZ(operand.LabelRef(done))
	e.nextToken("y", "yTokenStride", b.y)
	e.nextToken("x", "xTokenStride", b.x)
	e.nextToken("cos", "tableStride", float32s)
	e.nextToken("sin", "tableStride", float32s)
	e.JMP(operand.LabelRef(tokenLoop))
	e.Label(done)
	e.VZEROUPPER()
	e.RET()
}

// nextToken moves an address by a stride. It stays with the arguments: there is no register
// for it.
func (e *emitter) nextToken(name, stride string, units element) {
	at := e.argument(name)
	e.step(at, e.argument(stride), units)
	e.MOVQ(at, e.parameter(name))
}

func (e *emitter) rotateToken(b blocks) {
	r := &rotation{y: e.GP64(), x: e.GP64(), cos: e.argument("cos"), sin: e.argument("sin")}
	y, x := e.argument("y"), e.argument("x")
	heads, head := e.argument("heads"), e.GP64()
	yHeadStride, xHeadStride := e.argument("yHeadStride"), e.argument("xHeadStride")
	if b.y == float32s && b.x == float32s {
		b.ahead = e.argument("ahead")
	}
	e.spans(e.argument("pairs"), b.sizes, func(block part) {
		headLoop := e.label("head")
		bytes := b.x.bytes() * b.elements * block.size
		b.table(r, block)
		e.MOVQ(y, r.y)
		e.MOVQ(x, r.x)
		e.MOVQ(heads, head)
		e.Label(headLoop)
		e.fetchHead(b, r.x, bytes)
		b.apply(r, block)
		e.step(r.y, yHeadStride, b.y)
		e.step(r.x, xHeadStride, b.x)
		e.DECQ(head)
		e.JNZ(operand.LabelRef(headLoop))
		e.ADDQ(operand.U32(uint32(b.y.bytes()*b.elements*block.size)), y)
		e.ADDQ(operand.U32(uint32(bytes)), x)
		e.ADDQ(operand.U32(uint32(4*block.size)), r.cos)
		e.ADDQ(operand.U32(uint32(4*block.size)), r.sin)
	})
}

// ahead16 is ahead of heads of 16 bits that keep their type, which are fetched into the first
// cache. Zen 5, AVX-512, times as shares of the ones with ahead and the second cache: 64 MB
// half-split 0.87 to 0.98, interleaved 0.74 to 0.98. Zen 3, AVX2: 2 to 8 KiB and both caches
// are equal.
const ahead16 = 8192

// fetchHead fetches what is read of the heads that follow the one at x: of float32 that stays
// float32 as far ahead as the call says, or nothing.
func (e *emitter) fetchHead(b blocks, x reg.GPVirtual, bytes int) {
	if bytes < line/2 {
		return // those before it have fetched the line
	}
	fetch, base, disp, fetched := e.prefetch, x, ahead, ""
	switch {
	case b.ahead != nil:
		base, disp, fetched = e.GP64(), 0, e.label("fetched")
		e.jumpIfZero(b.ahead, fetched)
		e.LEAQ(operand.Mem{Base: x, Index: b.ahead, Scale: 1}, base)
	case b.y == b.x:
		fetch, disp = e.prefetchNear, ahead16
	}
	for at := 0; at < bytes; at += line {
		fetch(operand.Mem{Base: base, Disp: disp + at})
	}
	for at := 0; b.partner != nil && at < bytes; at += line {
		fetch(operand.Mem{Base: base, Disp: disp + at, Index: b.partner, Scale: uint8(b.x.bytes())})
	}
	if fetched != "" {
		e.Label(fetched)
	}
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

// rotateHalfSplit takes numbers in order, or even and odd apart where y is bfloat16.
func rotateHalfSplit(e *emitter) {
	y, x := e.to, e.from
	partner := e.argument("partner")
	b := blocks{y: y, x: x, elements: 1, partner: partner}
	width := e.lanes() // of a whole part
	if y == bfloat16s {
		e.loadEvenOddConstants()
		width *= 2
	}
	switch {
	case e.avx512:
		b.sizes = whole(64, 32, 16, 8, 4, 1)
	case y == bfloat16s:
		b.sizes = whole(32, 16, 8, 4, 1)
	default:
		b.sizes = whole(32, 8, 4, 1)
	}
	parts := func(block part) (p part, count int) {
		p = part{size: min(block.size, width)}
		return p, block.size / p.size
	}
	load := func(t element, p part, from operand.Mem) []reg.VecVirtual {
		if y == bfloat16s && p.size > 1 {
			even, odd := e.loadEvenOdd(t, p, masks{}, from)
			return []reg.VecVirtual{even, odd}
		}
		return []reg.VecVirtual{e.load(t, p, nil, from)}
	}
	var cos, sin [][]reg.VecVirtual
	b.table = func(r *rotation, block part) {
		cos, sin = nil, nil
		p, count := parts(block)
		for j := range count {
			c := load(float32s, p, operand.Mem{Base: r.cos, Disp: 4 * p.size * j})
			s := load(float32s, p, operand.Mem{Base: r.sin, Disp: 4 * p.size * j})
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
			x1, x2 := load(x, p, first), load(x, p, second)
			for i := range x1 {
				e.rotatePairs(x1[i], x2[i], cos[j][i], sin[j][i])
			}
			first, second = halves(r.y, y)
			if len(x1) == 1 {
				e.save(y, p, x1[0], first)
				e.save(y, p, x2[0], second)
				continue
			}
			words := e.roundEvenOdd([]reg.VecVirtual{x1[0], x2[0]}, []reg.VecVirtual{x1[1], x2[1]}, x == float32s)
			e.saveWords(p, words[0], first)
			e.saveWords(p, words[1], second)
		}
	}
	e.rotate(b)
}

func rotateInterleaved(e *emitter) {
	y, x := e.to, e.from
	switch {
	case y == bfloat16s:
		rotateInterleavedEvenOdd(e, y, x)
	case e.avx512:
		rotateInterleavedAVX512(e, y, x)
	default:
		rotateInterleavedAVX2(e, y, x)
	}
}

// rotateInterleavedEvenOdd has the first of all pairs in one vector and the
// second in another.
func rotateInterleavedEvenOdd(e *emitter, y, x element) {
	e.loadEvenOddConstants()
	b := blocks{y: y, x: x, elements: 2, sizes: whole(32, 8, 4, 1)}
	if e.avx512 {
		b.sizes = whole(64, 32, 16, 8, 4, 1)
	}
	parts := func(block part) (table, row part, count int) {
		table = part{size: min(block.size, e.lanes())}
		return table, part{size: 2 * table.size}, block.size / table.size
	}
	var cos, sin []reg.VecVirtual
	b.table = func(r *rotation, block part) {
		cos, sin = nil, nil
		table, _, count := parts(block)
		for j := range count {
			c := e.load(float32s, table, nil, operand.Mem{Base: r.cos, Disp: 4 * table.size * j})
			s := e.load(float32s, table, nil, operand.Mem{Base: r.sin, Disp: 4 * table.size * j})
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
				a, b := e.loadEvenOdd(x, row, masks{}, operand.Mem{Base: r.x, Disp: x.bytes() * row.size * j})
				e.rotatePairs(a, b, cos[j], sin[j])
				x1, x2 = append(x1, a), append(x2, b)
			}
			for i, words := range e.roundEvenOdd(x1, x2, x == float32s) {
				e.saveWords(row, words, operand.Mem{Base: r.y, Disp: y.bytes() * row.size * (first + i)})
			}
		}
	}
	e.rotate(b)
}

// rotateInterleavedAVX2 multiplies the elements by the cosines and the elements
// with their neighbours swapped by the sines; the difference goes to the even
// elements, the sum to the odd. Table entries are doubled in registers.
func rotateInterleavedAVX2(e *emitter, y, x element) {
	b := blocks{y: y, x: x, elements: 2, sizes: whole(16, 4, 2, 1)}
	b.table, b.apply = e.neighbours(y, x)
	e.rotate(b)
}

// neighbours returns table and apply of rotateInterleavedAVX2.
func (e *emitter) neighbours(y, x element) (table, apply func(r *rotation, block part)) {
	var cos, sin []reg.VecVirtual
	parts := func(block part) (p part, count int) {
		p.size = min(2*block.size, 8)
		return p, 2 * block.size / p.size
	}
	table = func(r *rotation, block part) {
		cos, sin = nil, nil
		p, count := parts(block)
		for j := range count {
			cos = append(cos, e.double(p, operand.Mem{Base: r.cos, Disp: 2 * p.size * j}))
			sin = append(sin, e.double(p, operand.Mem{Base: r.sin, Disp: 2 * p.size * j}))
		}
	}
	apply = func(r *rotation, block part) {
		p, count := parts(block)
		for j := range count {
			v := e.load(x, p, nil, operand.Mem{Base: r.x, Disp: x.bytes() * p.size * j})
			e.rotateNeighbours(v, cos[j], sin[j])
			e.save(y, p, v, operand.Mem{Base: r.y, Disp: y.bytes() * p.size * j})
		}
	}
	return table, apply
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

// rotateNeighbours rotates the pairs in v by doubled table entries. Where v has 64 bytes, the
// sines of first elements are negated: AVX-512 has no VADDSUBPS.
func (e *emitter) rotateNeighbours(v, c, s reg.VecVirtual) {
	swapped := e.like(v)
	e.VPERMILPS(operand.Imm(0xb1), v, swapped)
	e.VMULPS(c, v, v)
	e.VMULPS(s, swapped, swapped)
	if v.Size() == 64 {
		e.VADDPS(swapped, v, v)
		return
	}
	e.VADDSUBPS(swapped, v, v)
}

// rotateInterleavedAVX512 rotates 16 pairs and more in vectors of 64 bytes, fewer as on AVX2.
func rotateInterleavedAVX512(e *emitter, y, x element) {
	d := e.newDoubler()
	var cos, sin []reg.VecVirtual
	b := blocks{y: y, x: x, elements: 2, sizes: whole(64, 32, 16, 8, 4, 2, 1)}
	table, apply := e.neighbours(y, x)
	b.table = func(r *rotation, block part) {
		if block.size < 16 {
			table(r, block)
			return
		}
		cos, sin = d.doubled(operand.Mem{Base: r.cos}, operand.Mem{Base: r.sin}, block.size)
	}
	b.apply = func(r *rotation, block part) {
		if block.size < 16 {
			apply(r, block)
			return
		}
		p := part{16, false}
		for j := range cos {
			v := e.load(x, p, nil, operand.Mem{Base: r.x, Disp: 16 * x.bytes() * j})
			e.rotateNeighbours(v, cos[j], sin[j])
			e.save(y, p, v, operand.Mem{Base: r.y, Disp: 16 * y.bytes() * j})
		}
	}
	e.rotate(b)
}

// doubler doubles table entries on AVX-512.
type doubler struct {
	e                *emitter
	low, high, minus reg.VecVirtual
}

func (e *emitter) newDoubler() *doubler {
	d := &doubler{e, e.permutation("low", 4), e.permutation("high", 4), e.ZMM()}
	e.VMOVDQU32(e.wide32("signBit32", 1<<31), d.minus)
	return d
}

// doubled returns the entries of pairs as (c, c) and (-s, s) alternately.
func (d *doubler) doubled(cos, sin operand.Mem, pairs int) (c, s []reg.VecVirtual) {
	for at := 0; at < 4*pairs; at += 64 {
		cosines, sines, negated := d.e.keep(cos.Offset(at)), d.e.keep(sin.Offset(at)), d.e.ZMM()
		d.e.VPXORD(d.minus, sines, negated)
		for _, order := range []reg.VecVirtual{d.low, d.high} {
			cc, ss := d.e.ZMM(), d.e.ZMM()
			d.e.VMOVAPS(cosines, cc)
			d.e.VPERMT2PS(cosines, order, cc)
			d.e.VMOVAPS(negated, ss)
			d.e.VPERMT2PS(sines, order, ss)
			c, s = append(c, cc), append(s, ss)
		}
	}
	return c, s
}
