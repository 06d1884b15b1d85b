package arm64

import (
	"math/bits"
	"slices"
)

// rotatedPairs is how many pairs are rotated in registers at once.
const rotatedPairs = 16

// memory is what begins some bytes behind an address.
type memory struct {
	base general
	at   int
}

// rotated returns rotated pairs as two lists of 16 numbers: their first and second elements,
// the second read from x2; or interleaved, as firstBytes takes them, and then it moves the
// address x behind them.
func (e *emitter) rotated(x, x2, cos, sin memory) (list, list2 []vector) {
	const step = 8
	for at := 0; at < 4*rotatedPairs; at += 4 * step {
		load := func(m memory) []vector {
			v := e.vectors(2)
			e.ldp(v[0], v[1], m.base, m.at+at)
			return v
		}
		var a, b []vector
		if e.deinterleaved {
			a, b = e.loadPairs(float32s, x.base, step)
		} else {
			a, b = load(x), load(x2)
		}
		c, s := load(cos), load(sin)
		for j := range a {
			e.rotatePairs(a[j], b[j], c[j], s[j])
		}
		e.release(append(c, s...)...)
		if e.deinterleaved {
			list, list2 = list2, []vector{a[0], b[0], a[1], b[1]}
		} else {
			list, list2 = append(list, a...), append(list2, b...)
		}
	}
	return list, list2
}

// rotateQuantizeScaled rotates heads, multiplies them by a scale and writes them as FP8. There
// is nothing to wait for: 32 numbers become codes in registers.
func rotateQuantizeScaled(e *emitter, interleaved bool) {
	e.deinterleaved = interleaved
	codes := e.scaledFloat8()
	y2, x2 := e.general(), e.general()
	startHead := func(r *rotation) {
		e.loadArgument(scratch, "pairs")
		e.addShifted(y2, r.y, scratch, e.to.log2())
		e.addShifted(x2, r.x, scratch, e.from.log2())
	}
	e.rotate(e.to, e.from, []int{rotatedPairs}, startHead, func(r *rotation, size int) {
		list, list2 := e.rotated(memory{r.x, 0}, memory{x2, 0}, memory{r.cos, 0}, memory{r.sin, 0})
		v, v2 := codes(list), codes(list2)
		if interleaved {
			e.stp(v, v2, r.y, 0)
			e.add(r.y, 2*size)
			return
		}
		e.str(v, r.y, 0)
		e.str(v2, y2, 0)
		e.add(r.y, size)
		e.add(y2, size)
		e.add(r.x, 4*size)
		e.add(x2, 4*size)
	})
}

// A buffer has the scales of heads in four lanes of 32 bits, the inverses of these, four
// vectors of largest magnitudes, and then heads: their numbers, or the magnitudes of these and
// behind them bytes with their signs.
const (
	inversesAt = 16
	largestAt  = 32
	headsAt    = 96
)

// headGroups is where the loop of rotateQuantize stands.
type headGroups struct {
	*emitter
	find  func(largest vector) // finds the scales of the next heads
	write func()               // writes the head at at
	signs bool                 // are apart from magnitudes

	pairs                  int     // of a head
	tokens                 general // left
	heads                  general // left of the token
	x, y, cos, sin         general // of the token
	nextX, nextY           general // the next head
	groupY, thisY          general // the first of the next heads; this head
	nextCount, thisCount   general // heads
	nextBuffer, thisBuffer general // their addresses
	at, lane               general // a head in its buffer, and there its largest magnitudes or its scales
	left                   general // heads to rotate; while heads are written, for any use
}

// rotateQuantize rotates heads into a buffer and quantizes them from there, as many of a token
// at a time as have four scales. The next heads are rotated, and their scales are found, before
// these are written: the divisions take long, and the CPU does both at once.
func rotateQuantize(e *emitter, interleaved bool) {
	e.deinterleaved = interleaved
	g, done := &headGroups{emitter: e, signs: e.to == e4m3s}, e.newLabel("done")
	g.tokens, g.heads = e.argument("tokens"), e.argument("heads")
	g.x, g.y, g.cos, g.sin = e.argument("x"), e.argument("y"), e.argument("cos"), e.argument("sin")
	for _, r := range []*general{&g.nextX, &g.nextY, &g.groupY, &g.thisY, &g.nextCount, &g.thisCount, &g.at, &g.lane, &g.left} {
		*r = e.general()
	}
	e.cbz(g.tokens, done)
	e.cbz(g.heads, done)
	g.pairs = slices.Max(e.lengths)
	size := headsAt + g.group()*g.headBytes()
	g.nextBuffer, g.thisBuffer = e.local("buffers", 2*size), e.general()
	e.op("ADD", "$%d, %s, %s", size, g.nextBuffer, g.thisBuffer)
	if e.to == q8s {
		g.writeBlocks()
	} else {
		g.writeRows()
	}
	for _, g.pairs = range e.lengths {
		other := e.newLabel("pairs")
		e.loadArgument(scratch, "pairs")
		e.cmp(scratch, g.pairs)
		e.branch("BNE", other)
		g.run(done)
		e.label(other)
	}
	e.label(done)
	e.ret()
}

// lanes is how many scales a head has.
func (g *headGroups) lanes() int {
	if g.to == q8s {
		return 2 * g.pairs / q8Block
	}
	return 1
}

// group is how many heads are worked on together.
func (g *headGroups) group() int { return 4 / g.lanes() }

// headBytes are those of a head in a buffer.
func (g *headGroups) headBytes() int {
	if g.signs {
		return 2 * g.pairs * (4 + 1)
	}
	return 2 * g.pairs * 4
}

// run writes all heads.
func (g *headGroups) run(done string) {
	loop, write, turn := g.newLabel("groups"), g.newLabel("write"), g.newLabel("turn")
	startToken := func() {
		g.movGeneral(g.nextX, g.x)
		g.movGeneral(g.nextY, g.y)
		g.loadArgument(g.heads, "heads")
	}
	startToken()
	g.clearGeneral(g.thisCount)
	g.label(loop)
	g.cbz(g.tokens, write)
	g.rotateGroup()
	g.label(write)
	g.cbz(g.thisCount, turn)
	g.writeGroup()
	g.cbz(g.tokens, done)
	g.label(turn)
	g.movGeneral(g.thisY, g.groupY)
	g.movGeneral(g.thisCount, g.nextCount)
	g.movGeneral(scratch, g.nextBuffer)
	g.movGeneral(g.nextBuffer, g.thisBuffer)
	g.movGeneral(g.thisBuffer, scratch)
	g.op("SUBS", "%s, %s", g.nextCount, g.heads)
	g.branch("BNE", loop)
	g.next(g.x, "xTokenStride", g.from)
	g.next(g.y, "yTokenStride", g.to)
	g.next(g.cos, "tableStride", float32s)
	g.next(g.sin, "tableStride", float32s)
	startToken()
	g.sub(g.tokens, 1)
	g.branch("B", loop)
}

// rotateGroup rotates the next heads into their buffer and finds their scales.
func (g *headGroups) rotateGroup() {
	loop := g.newLabel("rotate")
	g.op("MOVD", "$%d, %s", g.group(), g.nextCount)
	g.cmpGeneral(g.heads, g.nextCount)
	g.op("CSEL", "LT, %s, %s, %s", g.heads, g.nextCount, g.nextCount)
	g.movGeneral(g.groupY, g.nextY)
	g.movGeneral(g.left, g.nextCount)
	g.op("ADD", "$%d, %s, %s", headsAt, g.nextBuffer, g.at)
	g.op("ADD", "$%d, %s, %s", largestAt, g.nextBuffer, g.lane)
	g.label(loop)
	g.temporary(g.rotateHead)
	g.add(g.at, g.headBytes())
	g.add(g.lane, 16*g.lanes())
	g.next(g.nextX, "xHeadStride", g.from)
	g.next(g.nextY, "yHeadStride", g.to)
	g.subs(g.left, 1)
	g.branch("BNE", loop)
	g.temporary(func() {
		list := g.vectors(4) // where there are fewer heads the rest is of no use
		g.ldp(list[0], list[1], g.nextBuffer, largestAt)
		g.ldp(list[2], list[3], g.nextBuffer, largestAt+32)
		g.find(g.largest(list))
	})
}

// rotateHead rotates a head into the buffer and stores its largest magnitudes.
func (g *headGroups) rotateHead() {
	share, x := q8Block, scratch
	if g.lanes() == 1 {
		share = rotatedPairs // by turns into two vectors, which takes less time than into one
	}
	largest, begun := g.vectors(max(2, g.lanes())), map[vector]bool{}
	put := func(number int, list []vector) {
		if g.signs {
			g.str(g.takeSigns(list), g.at, 8*g.pairs+number)
		}
		g.stp(list[0], list[1], g.at, 4*number)
		g.stp(list[2], list[3], g.at, 4*number+32)
		if !g.signs {
			for i, v := range list {
				list[i] = g.vector()
				g.fabs4s(list[i], v)
			}
		}
		l := largest[number/share%len(largest)]
		if !begun[l] {
			g.umax4s(l, list[0], list[1])
			begun[l], list = true, list[2:]
		}
		for _, v := range list {
			g.umax4s(l, l, v)
		}
	}
	g.movGeneral(x, g.nextX)
	for i := 0; i < g.pairs; i += rotatedPairs {
		first, second := i, g.pairs+i
		if g.deinterleaved {
			first, second = 2*i, 2*i+rotatedPairs
		}
		g.temporary(func() {
			list, list2 := g.rotated(memory{x, 4 * i}, memory{x, 4 * (g.pairs + i)}, memory{g.cos, 4 * i}, memory{g.sin, 4 * i})
			put(first, list)
			put(second, list2)
		})
	}
	if g.lanes() == 1 {
		g.umax4s(largest[0], largest[0], largest[1])
	}
	for i, v := range largest[:g.lanes()] {
		g.str(v, g.lane, 16*i)
	}
}

// writeGroup writes these heads.
func (g *headGroups) writeGroup() {
	head := g.newLabel("head")
	g.op("ADD", "$%d, %s, %s", headsAt, g.thisBuffer, g.at)
	g.movGeneral(g.lane, g.thisBuffer)
	g.label(head)
	g.temporary(g.write)
	g.add(g.at, g.headBytes())
	g.add(g.lane, 4*g.lanes())
	g.next(g.thisY, "yHeadStride", g.to)
	g.subs(g.thisCount, 1)
	g.branch("BNE", head)
}

// numbers returns 16 numbers of a head.
func (g *headGroups) numbers(first int) []vector {
	list := g.vectors(4)
	g.ldp(list[0], list[1], g.at, 4*first)
	g.ldp(list[2], list[3], g.at, 4*first+32)
	return list
}

// scale returns what is so many bytes behind the lane, in every lane.
func (g *headGroups) scale(at int) vector {
	v := g.vector()
	g.ldr32(v, g.lane, at)
	g.broadcastLane(v, v, 0)
	return v
}

// writeBlocks writes heads as blocks of Q8_0. Their scales are float16 in lanes of 32 bits.
func (g *headGroups) writeBlocks() {
	s := g.loadScaling(127)
	g.find = func(largest vector) {
		halves, inverses := g.blockScales(s, largest)
		g.zip18h(halves, halves, halves)
		g.stp(halves, inverses, g.nextBuffer, 0)
	}
	g.write = func() {
		to := g.left
		g.movGeneral(to, g.thisY)
		for i := range g.lanes() {
			g.moveElement(q8Scale, to, g.lane, 0, 4*i)
			g.add(to, q8Scale)
			g.temporary(func() {
				factor := g.scale(inversesAt + 4*i)
				g.storeBlock(factor, append(g.numbers(q8Block*i), g.numbers(q8Block*i+16)...), to)
			})
		}
	}
}

// writeRows writes heads with a scale each.
func (g *headGroups) writeRows() {
	most, codes := g.rowFormat()
	s := g.loadRowScaling(most)
	g.find = func(largest vector) {
		g.stp(largest, s.scales(largest), g.nextBuffer, 0)
	}
	g.write = func() {
		r := &rowScale{g.scale(0), g.scale(inversesAt), g.vector()}
		g.facgt4s(r.finite, s.infinity, r.scale)
		number := g.left
		g.loadArgument(number, "y")
		g.op("SUB", "%s, %s, %s", number, g.thisY, number)
		g.op("LSR", "$%d, %s", bits.TrailingZeros(uint(2*g.pairs)), number)
		g.loadArgument(scratch, "scales")
		g.addShifted(scratch, scratch, number, float32s.log2())
		g.str32(r.scale, scratch, 0)
		for i := 0; i < 2*g.pairs; i += 32 {
			g.temporary(func() {
				var list []vector
				for at := i; at < i+32; at += 16 {
					signs := g.vector()
					if g.signs {
						g.ldr(signs, g.at, 8*g.pairs+at)
					}
					list = append(list, codes(r, g.numbers(at), signs))
				}
				g.stp(list[0], list[1], g.thisY, i)
			})
		}
	}
}
