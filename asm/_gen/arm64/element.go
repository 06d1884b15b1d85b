package arm64

import (
	"math/bits"

	"github.com/go-posenc/posenc/asm/_gen/operation"
)

// element is a type of elements in memory. In registers all numbers are float32,
// four to a vector.
type element operation.Element

const (
	float32s  = element(operation.F32)
	float16s  = element(operation.F16)
	bfloat16s = element(operation.BF16)
)

// log2 is the binary logarithm of an element's bytes.
func (t element) log2() int { return bits.TrailingZeros(uint(operation.Element(t).Bytes())) }

// bytes returns the number of bytes of n elements.
func (t element) bytes(n int) int { return n << t.log2() }

// bfloat16 has constants of its conversions: their bits are the upper half of a
// float32.
type bfloat16 struct {
	zero, one, upperHalf vector // one is in every 16 bits
}

func (e *emitter) loadBFloat16() {
	e.bfloat16 = bfloat16{e.vector(), e.load32("one16", 1<<16|1), e.load32("upperHalf", 0xffff0000)}
	e.clear(e.bfloat16.zero)
}

// loadNumbers and storeNumbers move 16 numbers, 4 or 1.
func (e *emitter) loadNumbers(t element, base general, n int) []vector {
	if t == float32s {
		return e.loadFloats(base, n)
	}
	words := e.loadBytes(base, 2*n)
	var list []vector
	for _, w := range words {
		list = append(list, e.widen(t, w, min(n, 8))...)
	}
	e.release(words...)
	return list
}

func (e *emitter) storeNumbers(t element, list []vector, base general, n int) {
	if t == float32s {
		e.storeFloats(list, base, n)
		return
	}
	var words []vector
	for j := 0; j < len(list); j += 2 {
		w := e.vector()
		e.narrow(t, w, list[j], list[min(j+1, len(list)-1)])
		words = append(words, w)
	}
	e.storeBytes(words, base, 2*n)
}

// widen returns n 16-bit numbers, 8 or at most 4, of one vector.
func (e *emitter) widen(t element, words vector, n int) []vector {
	list := e.vectors(max(1, n/4))
	for j, v := range list {
		switch {
		case t == bfloat16s && j == 0:
			e.zip18h(v, e.bfloat16.zero, words)
		case t == bfloat16s:
			e.zip28h(v, e.bfloat16.zero, words)
		case j == 0:
			e.fcvtl4s(v, words)
		default:
			e.fcvtl24s(v, words)
		}
	}
	return list
}

// narrow rounds four numbers to the lower and four to the upper 16-bit numbers
// of d, a register of its own.
func (e *emitter) narrow(t element, d, low, high vector) {
	if t == float16s {
		e.fcvtn4h(d, low)
		e.fcvtn28h(d, high)
		return
	}
	lower := e.vector()
	e.uzp28h(d, low, high)
	e.uzp18h(lower, low, high)
	e.roundWords(d, lower)
	e.release(lower)
}

// roundWords rounds the upper halves of eight float32 by their lower halves,
// which it uses up. NaNs have to be quiet, as those that arithmetic makes are.
//
// An upper half is rounded up where the lower is above 0x8000, or is 0x8000 and
// the upper is odd. Of finite numbers that leaves the sign alone. A NaN of ones
// would become a zero: saturation keeps 0x7fff, and the maximum brings 0xffff
// back.
func (e *emitter) roundWords(upper, lower vector) {
	up := e.vector()
	e.bic16b(up, e.bfloat16.one, upper)
	e.uqsub8h(lower, lower, up)
	e.ushr(16, lower, lower, 15)
	e.sqadd8h(lower, upper, lower)
	e.umax8h(upper, upper, lower)
	e.release(up)
}

// loadPairs returns the first and the second elements of 16 pairs, 4 or 1, and
// moves the address behind them.
func (e *emitter) loadPairs(t element, base general, n int) (first, second []vector) {
	switch {
	case t == bfloat16s:
		words := e.loadBytes(base, 4*n)
		for _, w := range words {
			even := e.vector()
			e.shl(32, even, w, 16)
			e.and16b(w, w, e.bfloat16.upperHalf)
			first, second = append(first, even), append(second, w)
		}
		e.add(base, t.bytes(2*n))
	case n == 1:
		first = e.loadNumbers(t, base, 1)
		e.add(base, t.bytes(1))
		second = e.loadNumbers(t, base, 1)
		e.add(base, t.bytes(1))
	case t == float16s:
		for range max(1, n/8) {
			words := e.neighbours()
			e.ld2(words, base, min(n, 8), 16)
			first = append(first, e.widen(t, words, min(n, 8))...)
			second = append(second, e.widen(t, words+1, min(n, 8))...)
			e.release(words, words+1)
		}
	default:
		for range n / 4 {
			v := e.neighbours()
			e.ld2(v, base, 4, 32)
			first, second = append(first, v), append(second, v+1)
		}
	}
	return first, second
}

// storePairs stores what loadPairs loads.
func (e *emitter) storePairs(t element, first, second []vector, base general, n int) {
	switch {
	case t == bfloat16s:
		for j := range first {
			lower := e.vector()
			e.trn18h(lower, first[j], second[j])
			e.trn28h(first[j], first[j], second[j])
			e.roundWords(first[j], lower)
			e.release(lower)
		}
		e.storeBytes(first, base, 4*n)
		e.add(base, t.bytes(2*n))
	case n == 1:
		for _, v := range [][]vector{first, second} {
			e.storeNumbers(t, v, base, 1)
			e.add(base, t.bytes(1))
		}
	case t == float16s:
		for j := 0; j < len(first); j += 2 {
			words, last := e.neighbours(), min(j+1, len(first)-1)
			e.narrow(t, words, first[j], first[last])
			e.narrow(t, words+1, second[j], second[last])
			e.st2(words, base, min(n, 8), 16)
		}
	default:
		for j, even := range first {
			if second[j] != even+1 {
				even = e.neighbours()
				e.orr16b(even, first[j], first[j])
				e.orr16b(even+1, second[j], second[j])
			}
			e.st2(even, base, 4, 32)
			if even != first[j] {
				e.release(even, even+1)
			}
		}
	}
}
