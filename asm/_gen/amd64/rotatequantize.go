package amd64

import (
	"math/bits"
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	groupNumbers = 512 // that rotateQuantize works on at once, at most: 16 blocks of Q8_0, or 8 heads of 64
	unitNumbers  = 128 // that are rotated at a time: one head, or two
	groupUnits   = groupNumbers / unitNumbers
)

// How many bytes ahead rotateQuantize fetches heads and rows: heads while others are written,
// counted from behind those that are rotated by then, and rows of 64 pairs two tokens before.
// Zen 4, busy, AVX-512, 16,384 tokens of 8 heads of 128 to Q8_0, shares of a copy's speed, half-split
// and interleaved, of heads 0 bytes ahead 0.65 and 0.75, 1024 0.65 and 0.72, 2048 0.71 and
// 0.71, 3072 0.65 and 0.71, 4096 0.66 and 0.66.
const (
	headsAhead = 2048
	rowsAhead  = 512
)

// rotateQuantize rotates heads into a buffer and quantizes them from there, some heads of a
// token at a time. The next heads are rotated, and their scales are found, before these are
// written: that takes long, and the CPU does both at once, while it waits for memory too.
func rotateQuantize(e *emitter, interleaved bool) {
	e.deinterleaved = !e.avx512 && interleaved
	done := e.label("done")
	for _, name := range []string{"heads", "tokens"} {
		count := e.argument(name)
		e.TESTQ(count, count)
		e.JZ(operand.LabelRef(done))
	}
	g := e.newHeadGroups(interleaved)
	for _, g.pairs = range e.lengths {
		other := e.label("pairs")
		pairs := e.argument("pairs")
		e.CMPQ(pairs, operand.Imm(uint64(g.pairs)))
		e.JNE(operand.LabelRef(other))
		g.run()
		e.JMP(operand.LabelRef(done))
		e.Label(other)
	}
	e.Label(done)
	e.leave()
	for _, write := range e.rare {
		write()
	}
}

// rotateScaled rotates heads of a multiple of 64 elements, multiplies them by a scale and
// writes them as FP8. There is nothing to wait for: 64 numbers become codes in registers.
func rotateScaled(e *emitter, interleaved bool) {
	const pairs = 32
	e.deinterleaved = !e.avx512 && interleaved
	b := blocks{y: e.to, x: e.from, elements: 2, sizes: whole(pairs)}
	if !interleaved {
		b.elements, b.partner = 1, e.argument("pairs")
	}
	c, row, scale := e.newCoder(float8s[e.to], true), operand.Mem{}, reg.VecVirtual(nil)
	if e.avx512 {
		scale = e.broadcast32("scale", e.vector())
	}
	if e.deinterleaved {
		row = operand.Mem{Base: e.aligned(2 * 4 * pairs)}
	}
	var rotated rotator
	b.table = func(r *rotation, _ part) {
		cos, sin := e.arranged(operand.Mem{Base: r.cos}, row, pairs), e.arranged(operand.Mem{Base: r.sin}, row.Offset(4*pairs), pairs)
		rotated = e.newRotator(interleaved, cos, sin, pairs)
	}
	b.apply = func(r *rotation, _ part) {
		codes := c.codesOf(func() []reg.VecVirtual {
			list, factor := rotated(operand.Mem{Base: r.x}, operand.Mem{Base: r.x, Index: b.partner, Scale: 4}), scale
			if !e.avx512 {
				factor = e.broadcast32("scale", e.vector())
			}
			for _, v := range list {
				e.VMULPS(factor, v, v)
			}
			return list
		})
		first, second := operand.Mem{Base: r.y}, operand.Mem{Base: r.y, Disp: pairs}
		if b.partner != nil {
			second = operand.Mem{Base: r.y, Index: b.partner, Scale: 1}
		}
		switch {
		case len(codes) == 2:
			e.VMOVUPS(codes[0], first)
			e.VMOVUPS(codes[1], second)
		case interleaved:
			e.VMOVUPS(codes[0], first)
		default:
			e.VMOVUPS(codes[0].AsY(), first)
			e.VEXTRACTI64X4(operand.Imm(1), codes[0], second)
		}
	}
	e.rotate(b)
	for _, write := range e.rare {
		write()
	}
}

// aligned returns the address of so many bytes of the stack, which is a multiple of a line.
func (e *emitter) aligned(bytes int) reg.GPVirtual {
	at := e.GP64()
	e.LEAQ(e.AllocLocal(bytes+line), at)
	e.ADDQ(operand.Imm(line-1), at)
	e.ANDQ(operand.I8(-line), at)
	return at
}

// rotator returns the rotated registers of the pairs of a head at x, in order. HalfSplit, x2
// is where the second elements are.
type rotator func(x, x2 operand.Mem) []reg.VecVirtual

// newRotator returns the rotator by pairs of the table row at cos and sin.
func (e *emitter) newRotator(interleaved bool, cos, sin operand.Mem, pairs int) rotator {
	switch {
	case !e.avx512:
		return e.narrowRotator(cos, sin, pairs)
	case interleaved:
		return e.interleavedRotator(cos, sin, pairs)
	}
	return e.halfSplitRotator(cos, sin, pairs)
}

func (e *emitter) halfSplitRotator(cos, sin operand.Mem, pairs int) rotator {
	var c, s []reg.VecVirtual
	for at := 0; at < 4*pairs; at += 64 {
		c, s = append(c, e.keep(cos.Offset(at))), append(s, e.keep(sin.Offset(at)))
	}
	return func(x, x2 operand.Mem) []reg.VecVirtual {
		var first, second []reg.VecVirtual
		for j := range c {
			v1, v2 := e.keep(x.Offset(64*j)), e.keep(x2.Offset(64*j))
			e.rotatePairs(v1, v2, c[j], s[j])
			first, second = append(first, v1), append(second, v2)
		}
		return append(first, second...)
	}
}

func (e *emitter) interleavedRotator(cos, sin operand.Mem, pairs int) rotator {
	c, s := e.newDoubler().doubled(cos, sin, pairs)
	return func(x, _ operand.Mem) (list []reg.VecVirtual) {
		for j := range c {
			v := e.keep(x.Offset(64 * j))
			e.rotateNeighbours(v, c[j], s[j])
			list = append(list, v)
		}
		return list
	}
}

// headFormat is how headGroups writes heads.
type headFormat interface {
	// largestMagnitudes returns the magnitudes of a unit, as many registers as it keeps, from
	// the magnitudes of each 32 numbers, which it may change.
	largestMagnitudes(blocks []reg.VecVirtual) []reg.VecVirtual
	// keeps returns how many registers those are.
	keeps() int
	// find finds the scales of the next heads from the largest magnitudes of all units, in memory.
	find(kept []operand.Mem)
	// take makes the next heads these and finds the inverses of their scales: a division for
	// which nothing waits soon.
	take()
	// writer loads constants and returns what writes the head of that number, from x on to y,
	// and goes behind it in x.
	writer() func(y, x, number reg.GPVirtual)
}

// headGroups is where the loop of rotateQuantize stands. Most of it is in memory, as there are
// too few registers.
type headGroups struct {
	e *emitter
	headFormat
	interleaved        bool        // pairs
	pairs              int         // of a head
	count, nextCount   operand.Mem // of heads
	buffer, nextBuffer operand.Mem // addresses
	other              operand.Mem // the address of one buffer xor the address of the other
	line               operand.Mem // the address of memory from a line on: see memory
	x, xLeft, y, yLeft operand.Mem // the next head to rotate and to write, and how many its token has from there
}

// What lies in memory, behind two buffers: cosines and sines in the order of narrowHeads, where they have to be
// brought into it, and the largest magnitudes of each unit.
const (
	cosAt     = 2 * 4 * groupNumbers
	sinAt     = cosAt + 4*unitNumbers/2
	largestAt = sinAt + 4*unitNumbers/2
	allBytes  = largestAt + 2*groupUnits*64
)

// memory returns what lies from a byte on.
func (g *headGroups) memory(at int) operand.Mem {
	from := g.e.GP64()
	g.e.MOVQ(g.line, from)
	return operand.Mem{Base: from, Disp: at}
}

// newHeadGroups returns the loop before its first heads.
func (e *emitter) newHeadGroups(interleaved bool) *headGroups {
	const size = 4 * groupNumbers
	g := &headGroups{e: e, interleaved: interleaved}
	for _, local := range []*operand.Mem{&g.line, &g.count, &g.nextCount, &g.buffer, &g.nextBuffer, &g.other, &g.x, &g.xLeft, &g.y, &g.yLeft} {
		*local = e.AllocLocal(8)
	}
	if e.to == blocksQ8 {
		g.headFormat = newBlockHeads(g)
	} else {
		g.headFormat = newScaledHeads(g)
	}
	first, second, zero := e.aligned(allBytes), e.GP64(), e.GP64()
	e.LEAQ(operand.Mem{Base: first, Disp: size}, second)
	e.MOVQ(first, g.line)
	e.MOVQ(first, g.nextBuffer)
	e.XORQ(first, second)
	e.MOVQ(second, g.other)
	e.XORQ(zero, zero)
	e.MOVQ(zero, g.nextCount)
	e.MOVQ(e.argument("x"), g.x)
	e.MOVQ(e.argument("y"), g.y)
	e.MOVQ(e.argument("heads"), g.xLeft)
	e.MOVQ(e.argument("heads"), g.yLeft)
	return g
}

// run writes all heads.
func (g *headGroups) run() {
	loop, write, next := g.e.label("heads"), g.e.label("write"), g.e.label("next")
	one := g.e.keep(g.e.wide32("one32", 0x3f800000))
	for _, at := range g.kept() {
		g.e.VMOVUPS(one, at) // any numbers, of heads that are not there
	}
	g.arrangeRow()
	g.e.Label(loop)
	g.take()
	for _, move := range [][2]operand.Mem{{g.nextCount, g.count}, {g.nextBuffer, g.buffer}} {
		value := g.e.GP64()
		g.e.MOVQ(move[0], value)
		g.e.MOVQ(value, move[1])
	}
	g.e.Comment("1. the next heads")
	g.rotate(write)
	g.e.Comment("2. these heads")
	g.e.Label(write)
	count := g.e.GP64()
	g.e.MOVQ(g.count, count)
	g.e.jumpIfZero(count, next)
	g.write(count)
	g.e.Label(next)
	more := g.e.GP64()
	g.e.MOVQ(g.nextCount, more)
	g.e.TESTQ(more, more)
	g.e.JNZ(operand.LabelRef(loop))
}

// rotate rotates the next heads into the other buffer and finds their scales, or goes to
// the label where there are none.
func (g *headGroups) rotate(none string) {
	same := g.e.label("same")
	left, count, buffer, x := g.e.GP64(), g.e.GP64(), g.e.GP64(), g.e.GP64()
	g.e.MOVQ(g.x, x)
	g.e.MOVQ(g.xLeft, left)
	g.e.TESTQ(left, left)
	g.e.JNZ(operand.LabelRef(same))
	g.e.MOVQ(left, g.nextCount)
	g.e.DECQ(g.e.parameter("tokens"))
	g.e.JZ(operand.LabelRef(none))
	g.e.nextToken("x", "xTokenStride", float32s)
	g.e.nextToken("cos", "tableStride", float32s)
	g.e.nextToken("sin", "tableStride", float32s)
	for _, name := range []string{"cos", "sin"} {
		g.e.prefetchLines(operand.Mem{Base: g.e.argument(name), Disp: rowsAhead}, 4*g.pairs)
	}
	g.arrangeRow()
	g.e.MOVQ(g.e.parameter("x"), x)
	g.e.MOVQ(g.e.parameter("heads"), left)
	g.e.Label(same)
	g.e.MOVQ(operand.U32(uint32(groupNumbers/(2*g.pairs))), count)
	g.e.CMPQ(left, count)
	g.e.moveIf("LT", left, count)
	g.e.SUBQ(count, left)
	g.e.MOVQ(left, g.xLeft)
	g.e.MOVQ(count, g.nextCount)
	g.e.MOVQ(g.nextBuffer, buffer)
	g.e.XORQ(g.other, buffer)
	g.e.MOVQ(buffer, g.nextBuffer)
	g.rotateUnits(count, buffer, x)
	g.e.MOVQ(x, g.x)
	g.find(g.kept())
}

// rotateUnits rotates units into the buffer and finds their largest magnitudes.
func (g *headGroups) rotateUnits(count, buffer, x reg.GPVirtual) {
	rotated, unit, stride, largest := g.newHeadRotator(), g.e.label("unit"), g.e.GP64(), g.e.GP64()
	g.e.MOVQ(g.e.parameter("xHeadStride"), stride)
	g.e.LEAQ(g.memory(largestAt), largest)
	g.e.Label(unit)
	var blocks []reg.VecVirtual
	for at := 0; at < 4*unitNumbers; at += 8 * g.pairs {
		if at > 0 { // where there is no other head it is the same one again
			step := g.e.GP64()
			g.e.XORQ(step, step)
			g.e.DECQ(count)
			g.e.moveIf("GT", stride, step)
			g.e.step(x, step, float32s)
		}
		blocks = append(blocks, rotated.rotate(operand.Mem{Base: x}, operand.Mem{Base: buffer, Disp: at})...)
	}
	g.keepLargest(largest, buffer, blocks)
	g.e.step(x, stride, float32s)
	g.e.DECQ(count)
	g.e.JG(operand.LabelRef(unit))
	rotated.end()
}

// keepLargest keeps the largest magnitudes of a unit, and goes behind them and behind the unit.
func (g *headGroups) keepLargest(largest, buffer reg.GPVirtual, blocks []reg.VecVirtual) {
	list, size := g.largestMagnitudes(blocks), 4*g.e.lanes()
	for i, v := range list {
		g.e.VMOVUPS(v, operand.Mem{Base: largest, Disp: size * i})
	}
	g.e.ADDQ(operand.I32(int32(size*len(list))), largest)
	g.e.ADDQ(operand.I32(4*unitNumbers), buffer)
}

// kept returns where the largest magnitudes of all units are.
func (g *headGroups) kept() (list []operand.Mem) {
	largest := g.memory(largestAt)
	for i := range groupUnits * g.keeps() {
		list = append(list, largest.Offset(4*g.e.lanes()*i))
	}
	return list
}

// headRotator rotates heads of a row into a buffer.
type headRotator interface {
	// rotate returns the largest magnitudes of each 32 numbers.
	rotate(x, to operand.Mem) (blocks []reg.VecVirtual)
	// end is called when all heads are in the buffer and the largest magnitudes are kept.
	end()
}

// newHeadRotator returns the rotator of whole heads by the row at cos and sin.
func (g *headGroups) newHeadRotator() headRotator {
	if !g.e.avx512 {
		return g.newNarrowHeads()
	}
	cos, sin := operand.Mem{Base: g.e.argument("cos")}, operand.Mem{Base: g.e.argument("sin")}
	w := &wideRotator{g, g.e.newRotator(g.interleaved, cos, sin, g.pairs), []reg.VecVirtual{g.e.vector(), g.e.vector()}}
	for _, v := range w.sums {
		g.e.clear(v)
	}
	return w
}

// wideRotator is the rotator of AVX-512.
type wideRotator struct {
	*headGroups
	rotated rotator
	sums    []reg.VecVirtual // NaN where a number is
}

func (w *wideRotator) rotate(x, to operand.Mem) (blocks []reg.VecVirtual) {
	list := w.rotated(x, x.Offset(4*w.pairs))
	for i, v := range list {
		w.e.VMOVUPS(v, to.Offset(64*i))
	}
	for i := 0; i < len(list); i += 2 {
		blocks = append(blocks, w.e.largerMagnitudes(list[i], list[i+1], w.sums[i/2%2]))
	}
	return blocks
}

func (w *wideRotator) end() { w.largestWithNaN(w.sums) }

// largerMagnitudes returns the larger magnitudes of two registers that are no NaN. Where
// one is a NaN, sum becomes a NaN.
func (e *emitter) largerMagnitudes(a, b, sum reg.VecVirtual) reg.VecVirtual {
	const largerMagnitude = operand.U8(0x0b)
	v := e.vector()
	e.VRANGEPS(largerMagnitude, a, b, v)
	e.VFMADD231PS(a, b, sum)
	return v
}

// largestWithNaN finds the largest magnitudes once more where sums are NaN, which is rare.
// The magnitude of NaN is NaN.
func (g *headGroups) largestWithNaN(sums []reg.VecVirtual) {
	const unordered = operand.U8(3)
	rare, done := g.e.label("nan"), g.e.label("largest")
	k := g.e.K()
	g.e.VCMPPS(unordered, sums[0], sums[1], k)
	g.e.KORTESTW(k, k)
	g.e.JNZ(operand.LabelRef(rare))
	g.e.Label(done)
	pairs := g.pairs
	g.e.rare = append(g.e.rare, func() {
		g.pairs = pairs
		unit, buffer, largest, left := g.e.label("unit"), g.e.GP64(), g.e.GP64(), g.e.GP64()
		g.e.Label(rare)
		magnitude := g.e.keep(g.e.magnitudes())
		g.e.MOVQ(g.nextBuffer, buffer)
		g.e.LEAQ(g.memory(largestAt), largest)
		g.e.MOVQ(operand.U32(uint32(groupUnits)), left)
		g.e.Label(unit)
		var blocks []reg.VecVirtual
		for at := 0; at < 4*unitNumbers; at += 128 {
			a, b := g.e.vector(), g.e.vector()
			g.e.and(operand.Mem{Base: buffer, Disp: at}, magnitude, a)
			g.e.and(operand.Mem{Base: buffer, Disp: at + 64}, magnitude, b)
			blocks = append(blocks, g.e.larger(b, a, a))
		}
		g.keepLargest(largest, buffer, blocks)
		g.e.DECQ(left)
		g.e.JNZ(operand.LabelRef(unit))
		g.e.JMP(operand.LabelRef(done))
	})
}

// write writes these heads.
func (g *headGroups) write(count reg.GPVirtual) {
	head, same := g.e.label("head"), g.e.label("same")
	y, x, number, left, next := g.e.GP64(), g.e.GP64(), g.e.GP64(), g.e.GP64(), g.e.GP64()
	write := g.writer()
	g.e.MOVQ(g.x, next)
	g.e.MOVQ(g.y, y)
	g.e.MOVQ(g.buffer, x)
	g.e.MOVQ(g.yLeft, left)
	g.e.XORQ(number, number)
	g.e.Label(head)
	g.e.prefetchLines(operand.Mem{Base: next, Disp: headsAhead}, 8*g.pairs)
	g.e.step(next, g.e.argument("xHeadStride"), float32s)
	write(y, x, number)
	g.e.INCQ(number)
	g.e.ADDQ(g.e.parameter("yHeadStride"), y)
	g.e.DECQ(left)
	g.e.JNZ(operand.LabelRef(same))
	g.e.nextToken("y", "yTokenStride", g.e.to)
	g.e.MOVQ(g.e.parameter("y"), y)
	g.e.MOVQ(g.e.parameter("heads"), left)
	g.e.Label(same)
	g.e.DECQ(count)
	g.e.JNZ(operand.LabelRef(head))
	g.e.MOVQ(y, g.y)
	g.e.MOVQ(left, g.yLeft)
}

// blockHeads is heads as blocks of Q8_0.
type blockHeads struct {
	*headGroups
	*blockQuantizer
	next []reg.VecVirtual // d of 16 blocks
}

func newBlockHeads(g *headGroups) *blockHeads {
	b := &blockHeads{g, g.e.newBlockQuantizer(), nil}
	for range 16 / g.e.lanes() {
		b.next = append(b.next, g.e.vector())
		g.e.clear(b.next[len(b.next)-1])
	}
	return b
}

func (b *blockHeads) keeps() int { return 1 }

func (b *blockHeads) largestMagnitudes(blocks []reg.VecVirtual) []reg.VecVirtual {
	return []reg.VecVirtual{b.headGroups.e.largestOfFour(blocks)}
}

func (b *blockHeads) find(kept []operand.Mem) {
	for i, next := range b.next {
		each := len(kept) / len(b.next)
		b.headGroups.e.VMOVUPS(b.deltas(b.headGroups.e.largestOfAll(b.headGroups.e.keepAll(kept[i*each:][:each]))), next)
	}
}

func (b *blockHeads) take() {
	inverses := b.headGroups.e.vector()
	for i, next := range b.next {
		b.headGroups.e.VMOVUPS(b.inverses(next, inverses), b.halves.Offset(2*b.headGroups.e.lanes()*i))
		b.headGroups.e.VMOVUPS(inverses, b.factors.Offset(4*b.headGroups.e.lanes()*i))
	}
}

func (b *blockHeads) writer() func(y, x, number reg.GPVirtual) {
	e, blocks := b.headGroups.e, 2*b.pairs/q8Numbers
	return func(y, x, number reg.GPVirtual) {
		block, at := e.GP64(), e.GP64()
		e.MOVQ(number, block)
		e.SHLQ(operand.Imm(uint64(bits.TrailingZeros(uint(blocks)))), block)
		e.MOVQ(y, at)
		b.copyHalves(operand.Mem{Base: at}, b.halves.Idx(block, 2), blocks)
		b.blockQuantizer.write(at, x, blocks, b.factors.Idx(block, 4))
	}
}

// scaledHeads is heads with a scale each.
type scaledHeads struct {
	*headGroups
	next  reg.VecVirtual // scales of 8 heads
	these [2]operand.Mem // the inverses, and the scales
	first operand.Mem    // the address of the first head
}

func newScaledHeads(g *headGroups) *scaledHeads {
	s := &scaledHeads{headGroups: g, next: g.e.YMM(), these: [2]operand.Mem{g.e.AllocLocal(32), g.e.AllocLocal(32)}, first: g.e.AllocLocal(8)}
	g.e.VPXOR(s.next, s.next, s.next)
	g.e.MOVQ(g.e.argument("y"), s.first)
	return s
}

func (s *scaledHeads) keeps() int { return unitNumbers / (2 * s.pairs) }

func (s *scaledHeads) largestMagnitudes(blocks []reg.VecVirtual) []reg.VecVirtual {
	each := 2 * s.pairs / 32
	for i := range blocks {
		if i%each > 0 {
			s.e.larger(blocks[i], blocks[i/each*each], blocks[i/each*each])
		}
	}
	var list []reg.VecVirtual
	for i := 0; i < len(blocks); i += each {
		list = append(list, blocks[i])
	}
	return list
}

func (s *scaledHeads) find(kept []operand.Mem) {
	s.e.VMOVAPS(s.e.rowScales(s.largestOfHeads(s.e.keepAll(kept))), s.next)
}

func (s *scaledHeads) largestOfHeads(kept []reg.VecVirtual) reg.VecVirtual {
	var fours []reg.VecVirtual
	for four := range slices.Chunk(kept, 4) {
		fours = append(fours, s.e.largestOfFour(four))
	}
	amax := s.e.largestOfAll([]reg.VecVirtual{fours[0], fours[len(fours)-1]}) // what is missing is filled up with others
	if s.e.avx512 {
		amax = s.e.largestOfAll([]reg.VecVirtual{amax, amax})
	}
	return amax.AsY().(reg.VecVirtual)
}

func (s *scaledHeads) take() {
	s.e.VMOVUPS(s.e.inverse(s.next), s.these[0])
	s.e.VMOVUPS(s.next, s.these[1])
}

func (s *scaledHeads) writer() func(y, x, number reg.GPVirtual) {
	code := s.e.rowCoder()
	return func(y, x, number reg.GPVirtual) {
		scales := s.e.GP64()
		s.e.MOVQ(y, scales)
		s.e.SUBQ(s.first, scales)
		s.e.SHRQ(operand.Imm(uint64(bits.TrailingZeros(uint(2*s.pairs)))), scales)
		s.e.SHLQ(operand.Imm(2), scales)
		s.e.ADDQ(s.e.parameter("scales"), scales)
		n := s.e.GP64()
		s.e.MOVQ(operand.U32(uint32(2*s.pairs)), n)
		of := []operand.Mem{s.these[0].Idx(number, 4), s.these[1].Idx(number, 4)}
		s.e.writeRow(y, x, n, scales, of, s.e.byteParts()[:1], func(of []reg.VecVirtual, list []operand.Op) reg.VecVirtual {
			return code(s.e.quotients(list, of[1], of[0]))
		})
		s.e.ADDQ(operand.U32(uint32(8*s.pairs)), x)
	}
}
