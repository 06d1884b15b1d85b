package arm64

import (
	"math"

	"github.com/go-posenc/posenc/asm/_gen/operation"
)

// quarterTurns holds the constants of generic's cosSin.
type quarterTurns struct {
	toInteger, sine6, cosine6 vector
	// Horner's other coefficients and toInteger are loaded anew for each use,
	// since FMLA overwrites what it adds to: sine 5, cosine 5, sine 4, ...,
	// cosine 0, toInteger.
	sums general
	// keepZero lets f be -0. Ziv's test needs +0, or the two ends of an empty
	// interval about zero would differ.
	keepZero bool
}

const toIntegerAt = 16 * 12

func (e *emitter) newQuarterTurns() *quarterTurns {
	var sums []uint64
	twice := func(value float64) {
		sums = append(sums, math.Float64bits(value), math.Float64bits(value))
	}
	for i := 5; i >= 0; i-- {
		twice(operation.Sine[i])
		twice(operation.Cosine[i])
	}
	twice(operation.ToInteger)
	t := &quarterTurns{
		toInteger: e.load64("toInteger", operation.ToInteger),
		sine6:     e.load64("sine6", operation.Sine[6]),
		cosine6:   e.load64("cosine6", operation.Cosine[6]),
		sums:      e.general(),
	}
	e.symbol(t.sums, e.constants.data("sums", sums...))
	return t
}

// cosSin writes generic's cosSin up to the quadrant, for several vectors side by
// side: the quarter turns in the lowest bits of q, and the cosine and sine of
// the rest.
func (e *emitter) cosSin(t *quarterTurns, x, high, low []vector) (q, cos, sin []vector) {
	n := len(x)
	e.comment("1. quarter turns: q = x*high + 1.5*2^52, f = x*(high+low) - nearest integer")
	q, f, y := e.vectors(n), e.vectors(n), e.vectors(n)
	for j := range n {
		e.ldr(q[j], t.sums, toIntegerAt)
		e.fmla2d(q[j], x[j], high[j])
	}
	for j := range n {
		if t.keepZero {
			e.fsub2d(f[j], q[j], t.toInteger)
			e.fneg2d(f[j], f[j])
		} else {
			e.fsub2d(f[j], t.toInteger, q[j])
		}
	}
	for j := range n {
		e.fmla2d(f[j], x[j], high[j])
	}
	for j := range n {
		e.fmla2d(f[j], x[j], low[j])
	}
	for j := range n {
		e.fmul2d(y[j], f[j], f[j])
	}
	e.comment("2. polynomials in y = f*f")
	sin, cos = e.vectors(n), e.vectors(n)
	lastSine, lastCosine := make([]vector, n), make([]vector, n)
	for j := range n {
		lastSine[j], lastCosine[j] = t.sine6, t.cosine6
	}
	for i := range 6 {
		for j := range n {
			if i > 0 {
				sin[j], cos[j] = e.vector(), e.vector()
			}
			e.ldr(sin[j], t.sums, 32*i)
			e.ldr(cos[j], t.sums, 32*i+16)
			e.fmla2d(sin[j], y[j], lastSine[j])
			e.fmla2d(cos[j], y[j], lastCosine[j])
			if i > 0 {
				e.release(lastSine[j], lastCosine[j])
			}
			lastSine[j], lastCosine[j] = sin[j], cos[j]
		}
	}
	for j := range n {
		e.fmul2d(sin[j], f[j], sin[j])
	}
	e.release(f...)
	e.release(y...)
	return q, cos, sin
}

// quadrant turns the cosine and sine by q quarters, in lanes of the given bits,
// and uses all three up. Bit 0 of q swaps. Wherever the two go, the cosine,
// which was positive, takes its sign from bit 1, and the sine is negated where
// the two bits differ.
func (e *emitter) quadrant(bits int, one, q, c, s vector) (cos, sin vector) {
	cos, sin = e.vector(), e.vector()
	half := e.vector()
	e.cmtst(bits, cos, q, one)
	e.cmtst(bits, sin, q, one)
	e.ushr(bits, half, q, 1)
	e.eor16b(q, q, half)
	e.sli(bits, c, half, bits-1)
	e.shl(bits, q, q, bits-1)
	e.eor16b(s, s, q)
	e.bsl16b(cos, s, c)
	e.bsl16b(sin, c, s)
	e.release(half, q, c, s)
	return cos, sin
}

// round32 rounds two vectors of float64 to one of float32.
func (e *emitter) round32(v []vector) vector {
	r := e.vector()
	e.fcvtn(r, v[0])
	e.fcvtn2(r, v[1])
	return r
}

// accept rounds the two ends of error intervals to float32 and marks in
// undecided where they differ: elsewhere the result is the correctly rounded
// one (Ziv's test).
func (e *emitter) accept(upper, lower []vector, undecided vector) vector {
	rounded, other := e.round32(upper), e.round32(lower)
	e.eor16b(other, other, rounded)
	e.orr16b(undecided, undecided, other)
	e.release(upper...)
	e.release(lower...)
	e.release(other)
	return rounded
}

// returnBits returns 1 in the named result where any bit of v is set, else 0.
func (e *emitter) returnBits(v vector, result string) {
	flag := e.general()
	e.anyBits(flag, v)
	e.op("CMP", "$0, %s", flag)
	e.op("CSET", "NE, %s", flag)
	e.result(flag, result)
	e.ret()
}

// anyBits sets flag to 0 where no bit of v is set.
func (e *emitter) anyBits(flag general, v vector) {
	e.umov(flag, v, 0)
	e.umov(scratch, v, 1)
	e.op("ORR", "%s, %s", scratch, flag)
}

// row is a loop over the n entries of a row of cosines and sines.
type row struct {
	cos, sin, n        general
	scaleCos, scaleSin vector
}

func (e *emitter) newRow() *row {
	return &row{
		cos: e.argument("cos"), sin: e.argument("sin"), n: e.argument("n"),
		scaleCos: e.broadcast("scaleCos"), scaleSin: e.broadcast("scaleSin"),
	}
}

// loop runs body for every four entries, scales what it returns and stores it.
// The last time some of the four may lie beyond the row.
func (e *emitter) loop(r *row, body func(part bool) (cos, sin vector)) {
	loop, part, done := e.newLabel("loop"), e.newLabel("part"), e.newLabel("done")
	scaled := func(part bool) (cos, sin vector) {
		cos, sin = body(part)
		e.fmul4s(cos, cos, r.scaleCos)
		e.fmul4s(sin, sin, r.scaleSin)
		return cos, sin
	}
	e.subs(r.n, 4)
	e.branch("BLT", part)
	e.label(loop)
	e.temporary(func() {
		cos, sin := scaled(false)
		e.str(cos, r.cos, 0)
		e.str(sin, r.sin, 0)
	})
	e.add(r.cos, 16)
	e.add(r.sin, 16)
	e.subs(r.n, 4)
	e.branch("BGE", loop)
	e.label(part)
	e.op("ADDS", "$4, %s", r.n)
	e.branch("BEQ", done)
	e.temporary(func() {
		cos, sin := scaled(true)
		e.storePart(cos, r.cos, r.n)
		e.storePart(sin, r.sin, r.n)
	})
	e.label(done)
}

// storePart stores the lowest n float32 of v, n below 4, and uses v and the
// address up.
func (e *emitter) storePart(v vector, to, n general) {
	single, done := e.newLabel("single"), e.newLabel("stored")
	e.tbz(n, 1, single)
	e.str64(v, to, 0)
	e.add(to, 8)
	e.upperHalf(v, v)
	e.label(single)
	e.tbz(n, 0, done)
	e.str32(v, to, 0)
	e.label(done)
}

// loadPart loads the lowest n float32 of a vector, n below 4, and sets the
// others to zero.
func (e *emitter) loadPart(from, n general) vector {
	v, last := e.vector(), e.vector()
	single, done := e.newLabel("single"), e.newLabel("loaded")
	e.tbz(n, 1, single)
	e.ldr64(v, from, 0)
	e.tbz(n, 0, done)
	e.ldr32(last, from, 8)
	e.lane0To2(v, last)
	e.branch("B", done)
	e.label(single)
	e.ldr32(v, from, 0)
	e.label(done)
	e.release(last)
	return v
}

// loadPair loads four float64 and moves the address behind them.
func (e *emitter) loadPair(from general) []vector {
	v := e.vectors(2)
	e.ldpNext(v[0], v[1], from)
	return v
}

func (e *emitter) ones(bits int) vector {
	if bits == 64 {
		return e.load("one64", 1, 1)
	}
	return e.load32("odd32", 1)
}

// cosSinExact does Ziv's test before the quadrant. That is allowed: a sine that
// becomes a cosine belongs to an angle above 1/2, where its error is still far
// below the bound for it.
func cosSinExact(e *emitter) {
	high, low, margin := e.argument("high"), e.argument("low"), e.argument("margin")
	r := e.newRow()
	position := e.broadcast("position")
	size, undecided := e.vector(), e.vector()
	e.fabs2d(size, position)
	e.clear(undecided)
	t := e.newQuarterTurns()
	bound, one := e.load64("margin", operation.Margin), e.ones(32)
	e.loop(r, func(bool) (vector, vector) {
		highs, lows := e.loadPair(high), e.loadPair(low)
		q, c, s := e.cosSin(t, []vector{position, position}, highs, lows)
		e.release(highs...)
		e.release(lows...)
		e.comment("3. Ziv's test; the error of a sine is in proportion to angles below 1")
		error := e.loadPair(margin)
		var upperCos, upperSin, lowerCos, lowerSin []vector
		for j := range 2 {
			e.fmul2d(error[j], error[j], size)
			e.fmin2d(error[j], error[j], bound)
			upperCos = append(upperCos, e.end(e.fadd2d, c[j], bound))
			lowerCos = append(lowerCos, e.end(e.fsub2d, c[j], bound))
			upperSin = append(upperSin, e.end(e.fadd2d, s[j], error[j]))
			lowerSin = append(lowerSin, e.end(e.fsub2d, s[j], error[j]))
			e.release(c[j], s[j], error[j])
		}
		cos, sin := e.accept(upperCos, lowerCos, undecided), e.accept(upperSin, lowerSin, undecided)
		e.uzp14s(q[0], q[0], q[1])
		e.release(q[1])
		e.comment("4. quadrant")
		return e.quadrant(32, one, q[0], cos, sin)
	})
	e.returnBits(undecided, "undecided")
}

// end returns v plus or minus error.
func (e *emitter) end(instruction func(d, n, m vector), v, error vector) vector {
	d := e.vector()
	instruction(d, v, error)
	return d
}

func cosSinSeed(e *emitter) {
	cosTo, sinTo, errorTo := e.argument("cos"), e.argument("sin"), e.argument("error")
	high, low, margin := e.argument("high"), e.argument("low"), e.argument("margin")
	n, done := e.argument("n"), e.newLabel("done")
	position, reach := e.broadcast("position"), e.broadcast("reach")
	t := e.newQuarterTurns()
	bound, one := e.load64("margin", operation.Margin), e.ones(64)
	loop := e.newLabel("loop")
	e.cbz(n, done)
	e.label(loop)
	e.temporary(func() {
		highs, lows := e.loadPair(high), e.loadPair(low)
		q, c, s := e.cosSin(t, []vector{position, position}, highs, lows)
		e.release(highs...)
		e.release(lows...)
		e.comment("3. quadrant and error bounds")
		error := e.loadPair(margin)
		for j := range 2 {
			c[j], s[j] = e.quadrant(64, one, q[j], c[j], s[j])
			e.fmul2d(error[j], error[j], reach)
			e.fmin2d(error[j], error[j], bound)
		}
		for _, plane := range []struct {
			v  []vector
			to general
		}{{c, cosTo}, {s, sinTo}, {error, errorTo}} {
			e.stp(plane.v[0], plane.v[1], plane.to, 0)
			e.add(plane.to, 32)
		}
	})
	e.subs(n, 4)
	e.branch("BNE", loop)
	e.label(done)
	e.ret()
}

const shiftPlane = 64 * 8 // bytes from the cosines to the sines to the errors

func cosSinShift(e *emitter) {
	stride, rows := e.stride("stride"), e.argument("rows")
	seed, shift := e.argument("seed"), e.argument("shift")
	r := e.newRow()
	row := *r
	row.cos, row.sin, row.n = e.general(), e.general(), e.general()
	done, a, b, errors, flag := e.general(), e.general(), e.general(), e.general(), e.general()
	bounds, twice := e.margins()
	undecided := e.vector()
	rowLoop, exit := e.newLabel("row"), e.newLabel("exit")
	e.clearGeneral(done)
	e.cbz(rows, exit)
	e.label(rowLoop)
	e.clear(undecided)
	e.movGeneral(row.cos, r.cos)
	e.movGeneral(row.sin, r.sin)
	e.movGeneral(row.n, r.n)
	e.movGeneral(a, seed)
	e.op("ADD", "$%d, %s, %s", 2*shiftPlane, seed, errors)
	e.movGeneral(b, shift)
	e.loop(&row, func(bool) (vector, vector) {
		return e.shifted(a, b, errors, bounds, twice, undecided)
	})
	e.anyBits(flag, undecided)
	e.cbnz(flag, exit)
	e.addGeneral(r.cos, stride)
	e.addGeneral(r.sin, stride)
	e.add(shift, 2*shiftPlane)
	e.add(done, 1)
	e.cmpGeneral(done, rows)
	e.branch("BLT", rowLoop)
	e.label(exit)
	e.result(done, "done")
	e.ret()
}

// margins returns the address of two vectors of the error bound, which are loaded anew
// since FMLA adds to them, and twice the bound.
func (e *emitter) margins() (bounds general, twice vector) {
	bounds = e.general()
	bits := math.Float64bits(operation.Margin)
	e.symbol(bounds, e.constants.data("margins", bits, bits, bits, bits))
	return bounds, e.load64("twiceMargin", 2*operation.Margin)
}

// shifted returns the next four cosines and sines, marks in undecided where their
// rounding is not certain and moves the addresses on.
func (e *emitter) shifted(a, b, errors, bounds general, twice, undecided vector) (cosines, sines vector) {
	e.comment("1. upper ends of the error intervals: the products plus the error bounds")
	cosA, sinA, cosB, sinB := e.vectors(2), e.vectors(2), e.vectors(2), e.vectors(2)
	cos, sin, error := e.vectors(2), e.vectors(2), e.vectors(2)
	e.ldp(sinA[0], sinA[1], a, shiftPlane)
	e.ldp(sinB[0], sinB[1], b, shiftPlane)
	e.ldpNext(cosA[0], cosA[1], a)
	e.ldpNext(cosB[0], cosB[1], b)
	e.ldp(sin[0], sin[1], errors, 0)
	e.ldpNext(error[0], error[1], errors)
	e.ldp(cos[0], cos[1], bounds, 0)
	for j := range 2 {
		e.fadd2d(error[j], error[j], error[j])
		e.fmla2d(sin[j], sinA[j], cosB[j])
		e.fmla2d(cos[j], cosA[j], cosB[j])
		e.fmla2d(sin[j], cosA[j], sinB[j])
		e.fmls2d(cos[j], sinA[j], sinB[j])
		e.release(cosA[j], sinA[j], cosB[j], sinB[j])
	}
	e.comment("2. Ziv's test")
	lowerCos, lowerSin := e.vectors(2), e.vectors(2)
	for j := range 2 {
		e.fsub2d(lowerCos[j], cos[j], twice)
		e.fsub2d(lowerSin[j], sin[j], error[j])
	}
	return e.accept(cos, lowerCos, undecided), e.accept(sin, lowerSin, undecided)
}

func cosSinFloat32(e *emitter) {
	invFreq := e.argument("invFreq")
	r := e.newRow()
	position := e.broadcast("position")
	beyond := e.vector()
	e.clear(beyond)
	t := e.newQuarterTurns()
	t.keepZero = true
	high, low := e.load64("twoOverPiHigh", operation.TwoOverPiHigh), e.load64("twoOverPiLow", operation.TwoOverPiLow)
	limit, one := e.load32("two50", 0x58800000), e.ones(32)
	e.loop(r, func(part bool) (vector, vector) {
		var angle vector
		if part {
			angle = e.loadPart(invFreq, r.n)
		} else {
			angle = e.vector()
			e.ldr(angle, invFreq, 0)
			e.add(invFreq, 16)
		}
		inside, x := e.vector(), e.vectors(2)
		e.fmul4s(angle, angle, position)
		e.facgt4s(inside, limit, angle)
		e.orn16b(beyond, beyond, inside)
		e.fcvtl(x[0], angle)
		e.fcvtl2(x[1], angle)
		e.release(angle, inside)
		q, c, s := e.cosSin(t, x, []vector{high, high}, []vector{low, low})
		e.comment("3. rounding and quadrant")
		e.uzp14s(q[0], q[0], q[1])
		return e.quadrant(32, one, q[0], e.round32(c), e.round32(s))
	})
	e.returnBits(beyond, "beyond")
}
