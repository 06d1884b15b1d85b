package amd64

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	rotatedPairs = 64 // of a head that rotateQuantize takes
	groupHeads   = 4  // that it works on at once: the factors of their 16 blocks fill a register
)

// How many bytes before they are used rotateQuantize fetches heads and rows: heads further
// than ahead, since fewer of them fit the window of the CPU, and rows of 64 pairs two tokens
// before. Zen 5, 16,384 tokens of 8 heads and their rows in no cache, ns a token, medians of
// the least of 11 processes, half-split and interleaved: 3072 bytes and no rows 214 and 226,
// 8192 bytes 196 and 207, with rows 200 and 188.
const (
	headsAhead = 8192
	rowsAhead  = 512
)

// rotateQuantize rotates heads of 128 elements into a buffer and writes them from there as
// blocks of Q8_0, some heads of a token at a time. The next heads are rotated, and the
// factors of their blocks are found, before these are written: that takes long, and the CPU
// does both at once, while it waits for memory too.
func rotateQuantize(e *emitter, newRotator func() rotator) {
	done := e.label("done")
	for _, name := range []string{"heads", "tokens"} {
		count := e.argument(name)
		e.TESTQ(count, count)
		e.JZ(operand.LabelRef(done))
	}
	g := e.newHeadGroups()
	loop, write, next := e.label("heads"), e.label("write"), e.label("next")
	e.Label(loop)
	e.VMOVUPS(g.nextFactors, g.factors)
	e.VMOVUPS(g.nextHalves, g.halves)
	for _, move := range [][2]operand.Mem{{g.nextCount, g.count}, {g.nextBuffer, g.buffer}} {
		value := e.GP64()
		e.MOVQ(move[0], value)
		e.MOVQ(value, move[1])
	}
	e.Comment("1. the next heads")
	g.rotate(newRotator, write)
	e.Comment("2. these heads")
	e.Label(write)
	count := e.GP64()
	e.MOVQ(g.count, count)
	e.jumpIfZero(count, next)
	g.write(count)
	e.Label(next)
	more := e.GP64()
	e.MOVQ(g.nextCount, more)
	e.TESTQ(more, more)
	e.JNZ(operand.LabelRef(loop))
	e.Label(done)
	e.leave()
}

// rotator returns the rotated registers of a head, in order, by the table row that it was
// made for.
type rotator func(x reg.GPVirtual) []reg.VecVirtual

func (e *emitter) rowOf(name string) operand.Mem { return operand.Mem{Base: e.argument(name)} }

func (e *emitter) halfSplitRotator() rotator {
	cos, sin := e.rowOf("cos"), e.rowOf("sin")
	var c, s []reg.VecVirtual
	for at := 0; at < 4*rotatedPairs; at += 64 {
		c, s = append(c, e.keep(cos.Offset(at))), append(s, e.keep(sin.Offset(at)))
	}
	return func(x reg.GPVirtual) []reg.VecVirtual {
		var first, second []reg.VecVirtual
		for j := range c {
			x1, x2 := e.keep(operand.Mem{Base: x, Disp: 64 * j}), e.keep(operand.Mem{Base: x, Disp: 4*rotatedPairs + 64*j})
			e.rotatePairs(x1, x2, c[j], s[j])
			first, second = append(first, x1), append(second, x2)
		}
		return append(first, second...)
	}
}

func (e *emitter) interleavedRotator() rotator {
	cos, sin, m := e.rowOf("cos"), e.rowOf("sin"), e.newRotationMatrix()
	var first, second []reg.VecVirtual
	for at := 0; at < 4*rotatedPairs; at += 64 {
		cs, sc := m.columns(e.keep(cos.Offset(at)), e.keep(sin.Offset(at)))
		first, second = append(first, cs...), append(second, sc...)
	}
	return func(x reg.GPVirtual) (list []reg.VecVirtual) {
		for j := range first {
			even, odd := e.ZMM(), e.ZMM()
			e.VMOVSLDUP(operand.Mem{Base: x, Disp: 64 * j}, even)
			e.VMOVSHDUP(operand.Mem{Base: x, Disp: 64 * j}, odd)
			e.sumOfProducts(even, odd, first[j], second[j])
			list = append(list, even)
		}
		return list
	}
}

// headGroups is where the loop of rotateQuantize stands. Most of it is in memory, as there are
// too few registers.
type headGroups struct {
	*blockQuantizer
	nextFactors, nextHalves reg.VecVirtual
	amax                    []reg.VecVirtual // of the next heads, each by largestOfFour
	count, nextCount        operand.Mem      // of heads
	buffer, nextBuffer      operand.Mem      // addresses
	other                   operand.Mem      // the address of one buffer xor that of the other
	x, xLeft, y, yLeft      operand.Mem      // the next head to rotate and to write, and how many its token has from there
}

// newHeadGroups stands before the first heads.
func (e *emitter) newHeadGroups() *headGroups {
	const line, size = 64, 4 * 2 * rotatedPairs * groupHeads
	g := &headGroups{blockQuantizer: e.newBlockQuantizer(), nextFactors: e.vector(), nextHalves: e.half()}
	for _, local := range []*operand.Mem{&g.count, &g.nextCount, &g.buffer, &g.nextBuffer, &g.other, &g.x, &g.xLeft, &g.y, &g.yLeft} {
		*local = e.AllocLocal(8)
	}
	first, second, zero := e.GP64(), e.GP64(), e.GP64()
	e.LEAQ(e.AllocLocal(2*size+line), first)
	e.ADDQ(operand.Imm(line-1), first)
	e.ANDQ(operand.I8(-line), first)
	e.LEAQ(operand.Mem{Base: first, Disp: size}, second)
	e.MOVQ(first, g.nextBuffer)
	e.XORQ(first, second)
	e.MOVQ(second, g.other)
	e.XORQ(zero, zero)
	e.MOVQ(zero, g.nextCount)
	e.MOVQ(e.argument("x"), g.x)
	e.MOVQ(e.argument("y"), g.y)
	e.MOVQ(e.argument("heads"), g.xLeft)
	e.MOVQ(e.argument("heads"), g.yLeft)
	for range groupHeads {
		v := e.vector()
		e.clear(v)
		g.amax = append(g.amax, v)
	}
	e.clear(g.nextFactors)
	e.VPXOR(g.nextHalves, g.nextHalves, g.nextHalves)
	return g
}

// rotate rotates the next heads into the other buffer and finds the factors of their
// blocks, or goes to the label where there are none.
func (g *headGroups) rotate(newRotator func() rotator, none string) {
	same, found := g.label("same"), g.label("found")
	left, count, buffer, x, stride := g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(g.x, x)
	g.MOVQ(g.xLeft, left)
	g.TESTQ(left, left)
	g.JNZ(operand.LabelRef(same))
	g.MOVQ(left, g.nextCount)
	g.DECQ(g.parameter("tokens"))
	g.JZ(operand.LabelRef(none))
	g.nextToken("x", "xTokenStride", float32s)
	g.nextToken("cos", "tableStride", float32s)
	g.nextToken("sin", "tableStride", float32s)
	for _, name := range []string{"cos", "sin"} {
		g.prefetchLines(operand.Mem{Base: g.argument(name), Disp: rowsAhead}, 4*rotatedPairs)
	}
	g.MOVQ(g.parameter("x"), x)
	g.MOVQ(g.parameter("heads"), left)
	g.Label(same)
	g.MOVQ(operand.U32(groupHeads), count)
	g.CMPQ(left, count)
	g.moveIf("LT", left, count)
	g.SUBQ(count, left)
	g.MOVQ(left, g.xLeft)
	g.MOVQ(count, g.nextCount)
	g.MOVQ(g.nextBuffer, buffer)
	g.XORQ(g.other, buffer)
	g.MOVQ(buffer, g.nextBuffer)
	g.MOVQ(g.parameter("xHeadStride"), stride)
	rotated := newRotator()
	for i, amax := range g.amax {
		g.prefetchLines(operand.Mem{Base: x, Disp: headsAhead}, 4*2*rotatedPairs)
		list := rotated(x)
		for j, v := range list {
			g.VMOVUPS(v, operand.Mem{Base: buffer, Disp: 64 * (len(list)*i + j)})
		}
		g.VMOVAPS(g.largestOfFour(g.magnitudesIn(list)), amax)
		g.step(x, stride, float32s)
		if i < groupHeads-1 {
			g.DECQ(count)
			g.JZ(operand.LabelRef(found))
		}
	}
	g.Label(found)
	g.MOVQ(x, g.x)
	g.VMOVUPS(g.inverses(g.largestOfAll(g.amax), g.nextFactors), g.nextHalves)
}

// magnitudesIn returns the largest magnitudes of blocks, each in two registers, and changes
// these.
func (g *headGroups) magnitudesIn(list []reg.VecVirtual) (maxima []reg.VecVirtual) {
	for i := 0; i < len(list); i += 2 {
		g.VPANDD(list[i], g.magnitude, list[i])
		g.VPANDD(list[i+1], g.magnitude, list[i+1])
		maxima = append(maxima, g.larger(list[i+1], list[i], list[i]))
	}
	return maxima
}

// write writes these heads.
func (g *headGroups) write(count reg.GPVirtual) {
	const blocks = 2 * rotatedPairs / q8Numbers
	head, same := g.label("head"), g.label("same")
	y, x, block, left, at := g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(g.y, y)
	g.MOVQ(g.buffer, x)
	g.MOVQ(g.yLeft, left)
	g.XORQ(block, block)
	g.Label(head)
	g.MOVQ(y, at)
	g.copyHalves(operand.Mem{Base: at}, g.halves.Idx(block, 2), blocks)
	g.blockQuantizer.write(at, x, blocks, g.factors.Idx(block, 4))
	g.ADDQ(operand.Imm(blocks), block)
	g.ADDQ(g.parameter("yHeadStride"), y)
	g.DECQ(left)
	g.JNZ(operand.LabelRef(same))
	g.nextToken("y", "yTokenStride", blocksQ8)
	g.MOVQ(g.parameter("y"), y)
	g.MOVQ(g.parameter("heads"), left)
	g.Label(same)
	g.DECQ(count)
	g.JNZ(operand.LabelRef(head))
	g.MOVQ(y, g.y)
	g.MOVQ(left, g.yLeft)
}
