package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// rowCopy is a kernel that writes all of x to y, converted or elsewhere.
type rowCopy[Y, X testkit.Number] struct {
	operation string
	unit      int // what the length is a multiple of
	kernel    func(impl kernels.Implementation, y []Y, x []X)
	define    func(y []Y, x []X)
	y         *testkit.Numbers[Y]
	x         *testkit.Numbers[X]
}

// copyTest is a copy of any types.
type copyTest interface {
	name() string // of the operation
	check(t *testing.T, r *rand.Rand, impl kernels.Implementation, units int)
	checkRounding(t *testing.T, impl kernels.Implementation)
	guard(g *testkit.Guards, impl kernels.Implementation, units int, atEnd bool)
	// at runs over n elements at an address, whatever they are.
	at(impl kernels.Implementation, y, x unsafe.Pointer, n int)
}

// Elements that only move are compared by their bits alone.
var (
	bits32 = testkit.Numbers[uint32]{func(uint32) float32 { return 0 }, math.Float32bits, func(x uint32) uint32 { return x }, func(r *rand.Rand, s []uint32) {
		for i := range s {
			s[i] = r.Uint32()
		}
	}}
	bits16 = testkit.Numbers[uint16]{func(uint16) float32 { return 0 }, generic.Float32ToFloat16, func(x uint16) uint32 { return uint32(x) }, func(r *rand.Rand, s []uint16) {
		for i := range s {
			s[i] = uint16(r.Uint32())
		}
	}}
)

// copies lists the copies that have kernels.
var copies = []copyTest{
	rowCopy[float32, uint16]{"ConvertF16ToF32", 1, kernels.ConvertF16ToF32, generic.ConvertF16ToF32, &testkit.Float32Numbers, &testkit.Float16Numbers},
	rowCopy[float32, uint16]{"ConvertBF16ToF32", 1, kernels.ConvertBF16ToF32, generic.ConvertBF16ToF32, &testkit.Float32Numbers, &testkit.Bfloat16Numbers},
	rowCopy[uint16, float32]{"ConvertF32ToF16", 1, kernels.ConvertF32ToF16, generic.ConvertF32ToF16, &testkit.Float16Numbers, &testkit.Float32Numbers},
	rowCopy[uint16, float32]{"ConvertF32ToBF16", 1, kernels.ConvertF32ToBF16, generic.ConvertF32ToBF16, &testkit.Bfloat16Numbers, &testkit.Float32Numbers},
	rowCopy[uint32, uint32]{"DeinterleaveB32", 2, kernels.DeinterleaveB32, generic.Deinterleave[uint32], &bits32, &bits32},
	rowCopy[uint16, uint16]{"DeinterleaveB16", 2, kernels.DeinterleaveB16, generic.Deinterleave[uint16], &bits16, &bits16},
	rowCopy[uint32, uint32]{"InterleaveB32", 2, kernels.InterleaveB32, generic.Interleave[uint32], &bits32, &bits32},
	rowCopy[uint16, uint16]{"InterleaveB16", 2, kernels.InterleaveB16, generic.Interleave[uint16], &bits16, &bits16},
}

func (o rowCopy[Y, X]) name() string { return o.operation }

func (o rowCopy[Y, X]) at(impl kernels.Implementation, y, x unsafe.Pointer, n int) {
	o.kernel(impl, unsafe.Slice((*Y)(y), n), unsafe.Slice((*X)(x), n))
}

// check compares a copy with generic on random elements, from any start to any.
func (o rowCopy[Y, X]) check(t *testing.T, r *rand.Rand, impl kernels.Implementation, units int) {
	t.Helper()
	n := units * o.unit
	x, y := testkit.NewPaddedOf(r, o.x, n, r.IntN(16)), testkit.NewPaddedOf(r, o.y, n, r.IntN(16))
	given, want := x.Clone(), y.Clone()
	o.define(want.Slice(), x.Slice())
	o.kernel(impl, y.Slice(), x.Slice())
	name := fmt.Sprintf("%d elements: ", n)
	y.Check(t, name+"y", want, testkit.Every)
	x.Check(t, name+"x", given, func(int) bool { return false })
}

// checkRounding converts what is hard to round, to 16 bits, or all numbers of
// 16 bits.
func (o rowCopy[Y, X]) checkRounding(t *testing.T, impl kernels.Implementation) {
	var x []X
	switch list := any(&x).(type) {
	case *[]uint16:
		for bits := range 1 << 16 {
			*list = append(*list, uint16(bits))
		}
	case *[]float32:
		*list = hardToRound(testkit.NewRand(6))
	}
	y, want := make([]Y, len(x)), make([]Y, len(x))
	o.define(want, x)
	o.kernel(impl, y, x)
	for i, got := range y {
		if !o.y.Same(got, want[i]) {
			t.Fatalf("%#08x becomes %#08x, want %#08x", o.x.Bits(x[i]), o.y.Bits(got), o.y.Bits(want[i]))
		}
	}
}

func (o rowCopy[Y, X]) guard(g *testkit.Guards, impl kernels.Implementation, units int, atEnd bool) {
	g.T.Helper()
	n := units * o.unit
	x, y := testkit.Guarded(g, o.x, "x", n, atEnd), testkit.Guarded(g, o.y, "y", n, atEnd)
	testkit.CheckGuarded(g, o.y, fmt.Sprintf("%s of %d elements, gaps %v, at the end: %t", o.operation, n, g.Gaps, atEnd),
		func() { o.kernel(impl, y, x) },
		func(copies map[string][]Y) { o.define(copies["y"], slices.Clone(x)) },
		map[string][]Y{"y": y})
}

func TestCopyKernels(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, o := range copies {
			t.Run("operation="+o.name(), func(t *testing.T) {
				r := testkit.NewRand(5)
				for units := range 200 {
					for range testkit.Rounds(10) {
						o.check(t, r, impl, units)
					}
				}
				o.checkRounding(t, impl)
			})
		}
	})
}

func TestGuardCopies(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		g := testkit.NewGuards(t, testkit.NewRand(55), 4*2*140, "y", "x")
		for _, o := range copies {
			for units := range 140 {
				for _, atEnd := range []bool{false, true} {
					o.guard(g, impl, units, atEnd)
				}
			}
		}
	})
}
