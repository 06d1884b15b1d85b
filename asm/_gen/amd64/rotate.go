package amd64

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rotation is the state of the loops over heads and tokens that both layouts
// share: the row of x being rotated and its table rows.
type rotation struct {
	x, cos, sin reg.GPVirtual
	pairs       reg.GPVirtual
}

// rows runs body for every head of every token. Tokens are the inner loop:
// several streams of memory at once run faster than one where x comes from
// DRAM.
func (e *emitter) rows(body func(r rotation)) {
	base, heads, token := e.argument("x"), e.argument("heads"), e.argument("tokens")
	tokenStride, tableStride := e.argument("tokenStride"), e.argument("tableStride")
	r := rotation{x: e.GP64(), cos: e.GP64(), sin: e.GP64(), pairs: e.argument("pairs")}
	headLoop, tokenLoop, done := e.label("head"), e.label("token"), e.label("done")
	next := func(address, stride reg.GPVirtual) {
		e.LEAQ(operand.Mem{Base: address, Index: stride, Scale: 4}, address)
	}
	for _, count := range []reg.GPVirtual{heads, token, r.pairs} {
		e.TESTQ(count, count)
		e.JZ(operand.LabelRef(done))
	}
	e.Label(headLoop)
	e.MOVQ(base, r.x)
	e.Load(e.Param("cos"), r.cos)
	e.Load(e.Param("sin"), r.sin)
	e.Load(e.Param("tokens"), token)
	e.Label(tokenLoop)
	body(r)
	next(r.x, tokenStride)
	next(r.cos, tableStride)
	next(r.sin, tableStride)
	e.DECQ(token)
	e.JNZ(operand.LabelRef(tokenLoop))
	next(base, e.argument("headStride"))
	e.DECQ(heads)
	e.JNZ(operand.LabelRef(headLoop))
	e.Label(done)
	e.VZEROUPPER()
	e.RET()
}

// spans runs body over the pairs of a row: whole vectors first, then what is
// left in parts of the same arithmetic. body gets the pairs it does and, for
// AVX-512's last part, their count.
func (e *emitter) spans(r rotation, sizes []int, body func(pairs int, i reg.GPVirtual)) (i, n reg.GPVirtual) {
	i, n = e.GP64(), e.GP64()
	e.XORQ(i, i)
	e.MOVQ(r.pairs, n)
	for _, size := range sizes {
		loop, next := e.label("span"), e.label("next")
		e.CMPQ(n, operand.Imm(uint64(size)))
		e.JLT(operand.LabelRef(next))
		e.Label(loop)
		body(size, i)
		e.ADDQ(operand.Imm(uint64(size)), i)
		e.SUBQ(operand.Imm(uint64(size)), n)
		e.CMPQ(n, operand.Imm(uint64(size)))
		e.JGE(operand.LabelRef(loop))
		e.Label(next)
	}
	return i, n
}

func rotateHalfSplit(e *emitter) {
	partner := e.argument("partner")
	e.rows(func(r rotation) {
		x2 := e.GP64()
		e.LEAQ(operand.Mem{Base: r.x, Index: partner, Scale: 4}, x2)
		at := func(base, i reg.GPVirtual, disp int) operand.Mem {
			return operand.Mem{Base: base, Index: i, Scale: 4, Disp: disp}
		}
		if e.avx512 {
			i, n := e.spans(r, []int{32, 16}, func(pairs int, i reg.GPVirtual) {
				for d := 0; d < pairs*4; d += 64 {
					c, s, a, b := e.ZMM(), e.ZMM(), e.ZMM(), e.ZMM()
					e.VMOVUPS(at(r.cos, i, d), c)
					e.VMOVUPS(at(r.sin, i, d), s)
					e.VMOVUPS(at(r.x, i, d), a)
					e.VMOVUPS(at(x2, i, d), b)
					e.rotatePairs(c, s, a, b)
					e.VMOVUPS(a, at(r.x, i, d))
					e.VMOVUPS(b, at(x2, i, d))
				}
			})
			end := e.label("end")
			e.TESTQ(n, n)
			e.JZ(operand.LabelRef(end))
			k := e.tailMask(n)
			c, s, a, b := e.ZMM(), e.ZMM(), e.ZMM(), e.ZMM()
			e.VMOVUPS_Z(at(r.cos, i, 0), k, c)
			e.VMOVUPS_Z(at(r.sin, i, 0), k, s)
			e.VMOVUPS_Z(at(r.x, i, 0), k, a)
			e.VMOVUPS_Z(at(x2, i, 0), k, b)
			e.rotatePairs(c, s, a, b)
			e.VMOVUPS(a, k, at(r.x, i, 0))
			e.VMOVUPS(b, k, at(x2, i, 0))
			e.Label(end)
			return
		}
		e.spans(r, []int{16, 8, 4, 1}, func(pairs int, i reg.GPVirtual) {
			size := min(pairs, 8)
			for d := 0; d < pairs; d += size {
				c, s, a, b := e.part(size), e.part(size), e.part(size), e.part(size)
				e.move(size, at(r.cos, i, d*4), c)
				e.move(size, at(r.sin, i, d*4), s)
				e.move(size, at(r.x, i, d*4), a)
				e.move(size, at(x2, i, d*4), b)
				e.rotatePairs(c, s, a, b)
				e.move(size, a, at(r.x, i, d*4))
				e.move(size, b, at(x2, i, d*4))
			}
		})
	})
}

// part returns an AVX2 register for size float32.
func (e *emitter) part(size int) reg.VecVirtual {
	if size == 8 {
		return e.YMM()
	}
	return e.XMM()
}

// move loads or stores 8, 4 or 1 float32.
func (e *emitter) move(size int, from, to operand.Op) {
	if size == 1 {
		e.VMOVSS(from, to)
	} else {
		e.VMOVUPS(from, to)
	}
}

// rotatePairs sets x1, x2 = x1*c - x2*s, x2*c + x1*s, each product and each sum
// rounded, and uses c and s up.
func (e *emitter) rotatePairs(c, s, x1, x2 reg.VecVirtual) {
	x1s := e.sameWidth(x1)
	x2s := e.sameWidth(x1)
	e.VMULPS(s, x1, x1s)
	e.VMULPS(s, x2, x2s)
	e.VMULPS(c, x1, x1)
	e.VMULPS(c, x2, x2)
	e.VSUBPS(x2s, x1, x1)
	e.VADDPS(x1s, x2, x2)
}

func (e *emitter) sameWidth(v reg.VecVirtual) reg.VecVirtual {
	switch v.Size() {
	case 64:
		return e.ZMM()
	case 32:
		return e.YMM()
	default:
		return e.XMM()
	}
}

// rotateInterleaved multiplies the elements by the cosines and the elements
// with their neighbours swapped by the sines; the difference goes to the even
// elements, the sum to the odd.
func rotateInterleaved(e *emitter) {
	if e.avx512 {
		rotateInterleavedAVX512(e)
		return
	}
	spread := e.YMM()
	e.VMOVDQU(e.spread(), spread)
	e.rows(func(r rotation) {
		at := func(base, i reg.GPVirtual, scale uint8, disp int) operand.Mem {
			return operand.Mem{Base: base, Index: i, Scale: scale, Disp: disp}
		}
		e.spans(r, []int{8, 4, 2, 1}, func(pairs int, i reg.GPVirtual) {
			size := min(pairs, 4)
			for d := 0; d < pairs; d += size {
				wide := e.XMM
				if size == 4 {
					wide = e.YMM
				}
				c, s, x, swapped := wide(), wide(), wide(), wide()
				cosAt, sinAt, xAt := at(r.cos, i, 4, d*4), at(r.sin, i, 4, d*4), at(r.x, i, 8, d*8)
				switch size {
				case 4:
					e.VBROADCASTF128(cosAt, c)
					e.VBROADCASTF128(sinAt, s)
					e.VPERMILPS(spread, c, c)
					e.VPERMILPS(spread, s, s)
					e.VMOVUPS(xAt, x)
				case 2:
					e.VMOVSD(cosAt, c)
					e.VMOVSD(sinAt, s)
					e.VUNPCKLPS(c, c, c)
					e.VUNPCKLPS(s, s, s)
					e.VMOVUPS(xAt, x)
				case 1:
					e.VBROADCASTSS(cosAt, c)
					e.VBROADCASTSS(sinAt, s)
					e.VMOVSD(xAt, x)
				}
				e.VPERMILPS(operand.Imm(0xb1), x, swapped)
				e.VMULPS(c, x, x)
				e.VMULPS(s, swapped, swapped)
				e.VADDSUBPS(swapped, x, x)
				if size == 1 {
					e.VMOVSD(x, xAt)
				} else {
					e.VMOVUPS(x, xAt)
				}
			}
		})
	})
}

// spread returns the control that turns (a,b,c,d | a,b,c,d) into
// (a,a,b,b | c,c,d,d).
func (e *emitter) spread() operand.Mem {
	const name = "spread"
	if m, ok := e.constants[name]; ok {
		return m
	}
	m := e.StaticGlobal(name)
	e.DataAttributes(attr.RODATA | attr.NOPTR)
	for i, lane := range []uint32{0, 0, 1, 1, 2, 2, 3, 3} {
		e.AddDatum(4*i, operand.U32(lane))
	}
	e.constants[name] = m
	return m
}

// rotateInterleavedAVX512 keeps up to 64 pairs of a table row in registers, as
// (c, s) and (-s, c), over all heads of a token: with the even and the odd
// elements doubled by the loads, a row costs two products and a sum.
func rotateInterleavedAVX512(e *emitter) {
	base, heads := e.argument("x"), e.argument("heads")
	tokens, pairs := e.argument("tokens"), e.argument("pairs")
	cos, sin := e.argument("cos"), e.argument("sin")
	headStride := e.argument("headStride")
	done, tokenLoop := e.label("done"), e.label("token")
	for _, count := range []reg.GPVirtual{heads, tokens, pairs} {
		e.TESTQ(count, count)
		e.JZ(operand.LabelRef(done))
	}
	low, high, minus := e.ZMM(), e.ZMM(), e.ZMM()
	e.VMOVDQU32(e.interleaveLow(), low)
	e.VMOVDQU32(e.interleaveHigh(), high)
	e.VMOVDQU32(e.wide32("signBit32", 1<<31), minus)

	e.Label(tokenLoop)
	x, c, s, n := e.GP64(), e.GP64(), e.GP64(), e.GP64()
	e.MOVQ(base, x)
	e.MOVQ(cos, c)
	e.MOVQ(sin, s)
	e.MOVQ(pairs, n)
	for _, size := range []int{64, 32, 16, 0} {
		loop, next := e.label("block"), e.label("next")
		var k, kLow, kHigh reg.OpmaskVirtual
		if size > 0 {
			e.CMPQ(n, operand.Imm(uint64(size)))
			e.JLT(operand.LabelRef(next))
		} else {
			e.TESTQ(n, n)
			e.JZ(operand.LabelRef(next))
			k, kLow, kHigh = e.tailMasks(n)
		}
		e.Label(loop)
		var first, second []reg.VecVirtual
		for d := 0; d < max(size, 16); d += 16 {
			cosines, sines, negated := e.ZMM(), e.ZMM(), e.ZMM()
			cosAt, sinAt := operand.Mem{Base: c, Disp: 4 * d}, operand.Mem{Base: s, Disp: 4 * d}
			if size > 0 {
				e.VMOVUPS(cosAt, cosines)
				e.VMOVUPS(sinAt, sines)
			} else {
				e.VMOVUPS_Z(cosAt, k, cosines)
				e.VMOVUPS_Z(sinAt, k, sines)
			}
			e.VPXORD(minus, sines, negated)
			for _, order := range []reg.VecVirtual{low, high} {
				cs, sc := e.ZMM(), e.ZMM()
				e.VMOVAPS(cosines, cs)
				e.VPERMT2PS(sines, order, cs)
				e.VMOVAPS(negated, sc)
				e.VPERMT2PS(cosines, order, sc)
				first, second = append(first, cs), append(second, sc)
			}
		}
		row, head := e.GP64(), e.GP64()
		headLoop := e.label("head")
		e.MOVQ(x, row)
		e.MOVQ(heads, head)
		e.Label(headLoop)
		for j := range first {
			even, odd := e.ZMM(), e.ZMM()
			at := operand.Mem{Base: row, Disp: 64 * j}
			mask := []reg.OpmaskVirtual{kLow, kHigh}[j&1]
			if size > 0 {
				e.VMOVSLDUP(at, even)
				e.VMOVSHDUP(at, odd)
			} else {
				e.VMOVSLDUP_Z(at, mask, even)
				e.VMOVSHDUP_Z(at, mask, odd)
			}
			e.VMULPS(first[j], even, even)
			e.VMULPS(second[j], odd, odd)
			e.VADDPS(odd, even, even)
			if size > 0 {
				e.VMOVUPS(even, at)
			} else {
				e.VMOVUPS(even, mask, at)
			}
		}
		e.LEAQ(operand.Mem{Base: row, Index: headStride, Scale: 4}, row)
		e.DECQ(head)
		e.JNZ(operand.LabelRef(headLoop))
		if size > 0 {
			e.ADDQ(operand.U32(uint32(8*size)), x)
			e.ADDQ(operand.U32(uint32(4*size)), c)
			e.ADDQ(operand.U32(uint32(4*size)), s)
			e.SUBQ(operand.Imm(uint64(size)), n)
			e.CMPQ(n, operand.Imm(uint64(size)))
			e.JGE(operand.LabelRef(loop))
		}
		e.Label(next)
	}
	for _, step := range []struct {
		address reg.GPVirtual
		stride  string
	}{{base, "tokenStride"}, {cos, "tableStride"}, {sin, "tableStride"}} {
		e.LEAQ(operand.Mem{Base: step.address, Index: e.argument(step.stride), Scale: 4}, step.address)
	}
	e.DECQ(tokens)
	e.JNZ(operand.LabelRef(tokenLoop))
	e.Label(done)
	e.VZEROUPPER()
	e.RET()
}

// tailMasks returns the masks of count pairs, count below 16: of the pairs, and
// of the low and the high 16 elements.
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

func (e *emitter) interleaveLow() operand.Mem  { return e.interleave("interleaveLow", 0) }
func (e *emitter) interleaveHigh() operand.Mem { return e.interleave("interleaveHigh", 8) }

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
