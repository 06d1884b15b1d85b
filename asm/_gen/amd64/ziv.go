package amd64

import (
	"math"
	"slices"

	"github.com/go-posenc/posenc/asm/_gen/operation"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// ziv is Ziv's test: a value is certain when both ends of its error interval round to
// the same float32.
//
// It is short first: of a value of at least 2^SmallEntry, whose error bound is then at
// most margin units of the last place, the lowest 29 bits have to be further than that
// from half of a unit of float32. Both is a comparison in every 32 bits. What fails goes
// the long way: on the bits of a float64 both ends round to one number when they have the same
// bits above the lowest 29 once half of their unit is added.
type ziv struct {
	e                       *emitter
	shifts, least, limits   operand.Op
	halfUnit, above, margin operand.Mem
	later                   []func() // what is seldom run
}

// newZiv returns the test for operation.Margin with its constants in registers or, where
// these are too few, in memory.
func (e *emitter) newZiv(inRegisters bool) *ziv {
	return e.newZivOf("", operation.Margin, operation.SmallEntry, inRegisters)
}

// newZivOf returns the test for another bound and exponent of the smallest entry that the
// short test is for. name begins the names of its constants.
func (e *emitter) newZivOf(name string, bound float64, exponent int, inRegisters bool) *ziv {
	// The error bound of such an entry in units of its last place, times 8.
	margin := uint32(math.Ldexp(bound, 52-exponent+3))
	halves := func(name string, lower, upper uint32) operand.Op {
		m := e.data(name, 8, uint64(upper)<<32|uint64(lower))
		if !inRegisters {
			return m
		}
		v := e.vector()
		e.VMOVUPS(m, v)
		return v
	}
	return &ziv{
		e:        e,
		shifts:   halves("entryShifts", 3, 1),
		least:    halves(name+"entryLeast", -(1<<31 + margin + 1), -uint32((1023+exponent)<<21)),
		limits:   halves(name+"entryLimits", (1<<32-1)-(2*margin+1), 1<<31-1),
		halfUnit: e.data("half29", 8, 1<<28),
		above:    e.data("above29", 8, ^uint64(1<<29-1)),
		margin:   e.wide(name+"margin", bound),
	}
}

// test leaves for exit where a cosine or a sine is not certain. bound returns the error
// bound of sines j; the bound of cosines is the test's.
func (z *ziv) test(cos, sin []reg.VecVirtual, bound func(j int) operand.Op, exit string) {
	e := z.e
	cos, sin = slices.Clone(cos), slices.Clone(sin)
	e.Comment("Ziv's test, the short one")
	var most reg.VecVirtual
	for j := range cos {
		for _, v := range []reg.VecVirtual{cos[j], sin[j]} {
			t := e.vector()
			e.VPSLLVD(z.shifts, v, t)
			e.VPADDD(z.least, t, t)
			if most == nil {
				most = t
			} else {
				e.VPMAXUD(t, most, most)
			}
		}
	}
	long, certain := e.label("long"), e.label("certain")
	if e.avx512 {
		const above = 6
		k := e.K()
		e.VPCMPUD(operand.Imm(above), z.limits, most, k)
		e.KORTESTW(k, k)
	} else {
		// Above the limits where the maximum with them is something else.
		e.VPMAXUD(z.limits, most, most)
		e.VPXOR(z.limits, most, most)
		e.VPTEST(most, most)
	}
	e.JNZ(operand.LabelRef(long))
	e.Label(certain)
	z.later = append(z.later, func() {
		e.Label(long)
		var undecided reg.VecVirtual
		for j := range cos {
			undecided = z.doubt(undecided, cos[j], z.margin)
			undecided = z.doubt(undecided, sin[j], bound(j))
		}
		e.testBits(undecided, z.above)
		e.JZ(operand.LabelRef(certain))
		e.JMP(operand.LabelRef(exit))
	})
}

// doubt returns a vector that has bits above the lowest 29 set where undecided has, or
// where the rounding of v is not certain for an error of bound.
func (z *ziv) doubt(undecided, v reg.VecVirtual, bound operand.Op) reg.VecVirtual {
	e := z.e
	upper, lower := e.vector(), e.vector()
	e.VADDPD(bound, v, upper)
	e.VSUBPD(bound, v, lower)
	e.VPADDQ(z.halfUnit, upper, upper)
	e.VPADDQ(z.halfUnit, lower, lower)
	e.VXORPD(upper, lower, lower)
	if undecided == nil {
		return lower
	}
	e.VORPD(lower, undecided, undecided)
	return undecided
}

// finish writes the long tests, after all other instructions of the kernel.
func (z *ziv) finish() {
	for _, part := range z.later {
		part()
	}
}

// testBits sets the zero flag where v has no bit of mask set. VPTEST does not
// reach the upper sixteen registers.
func (e *emitter) testBits(v reg.VecVirtual, mask operand.Op) {
	if !e.avx512 {
		e.VPTEST(mask, v)
		return
	}
	some, bits := e.K(), e.GP32()
	e.VPTESTMD(mask, v, some)
	e.KMOVW(some, bits)
	e.TESTL(bits, bits)
}

// returnBits returns 1 in the named result where v has a bit of mask set, else
// 0.
func (e *emitter) returnBits(v reg.VecVirtual, mask operand.Op, result string) {
	flag := e.GP64()
	e.XORQ(flag, flag)
	e.testBits(v, mask)
	e.SETNE(flag.As8())
	e.VZEROUPPER()
	e.Store(flag, e.Return(result))
	e.RET()
}
