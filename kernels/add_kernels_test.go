package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// addition is a kernel that scales numbers of type X in place and adds float32.
type addition[X testkit.Number] struct {
	operation string
	kernel    func(impl kernels.Implementation, x []X, y []float32, scale float32)
	define    func(x []X, y []float32, scale float32)
	numbers   *testkit.Numbers[X]
}

// additionTest is an addition to any type.
type additionTest interface {
	name() string // of the operation
	check(t *testing.T, r *rand.Rand, impl kernels.Implementation, n int)
	guard(g *testkit.Guards, impl kernels.Implementation, n int, atEnd bool)
	// at runs over n elements at an address, whatever they are.
	at(impl kernels.Implementation, x unsafe.Pointer, y []float32, n int)
}

// additions lists the additions that have kernels.
var additions = []additionTest{
	addition[float32]{"AddScaledF32", kernels.AddScaledF32, generic.AddScaledF32, &testkit.Float32Numbers},
	addition[uint16]{"AddScaledF16", kernels.AddScaledF16, generic.AddScaledF16, &testkit.Float16Numbers},
	addition[uint16]{"AddScaledBF16", kernels.AddScaledBF16, generic.AddScaledBF16, &testkit.Bfloat16Numbers},
}

func (o addition[X]) name() string { return o.operation }

func (o addition[X]) at(impl kernels.Implementation, x unsafe.Pointer, y []float32, n int) {
	o.kernel(impl, unsafe.Slice((*X)(x), n), y, 1)
}

// check compares an addition with generic on random elements, from any start.
func (o addition[X]) check(t *testing.T, r *rand.Rand, impl kernels.Implementation, n int) {
	t.Helper()
	x, y := testkit.NewPaddedOf(r, o.numbers, n, r.IntN(16)), testkit.NewPadded(r, n, r.IntN(16))
	scale := randomScale(r)
	given, want := y.Clone(), x.Clone()
	o.define(want.Slice(), y.Slice(), scale)
	o.kernel(impl, x.Slice(), y.Slice(), scale)
	name := fmt.Sprintf("%d elements, scale %v: ", n, scale)
	x.Check(t, name+"x", want, testkit.Every)
	y.Check(t, name+"y", given, func(int) bool { return false })
}

// randomScale is 1, that of a model of 512 channels, or anything.
func randomScale(r *rand.Rand) float32 {
	scale := []float32{1, 22.627417, 0}
	testkit.FillRandom(r, scale[2:])
	return testkit.OneOf(r, scale)
}

func (o addition[X]) guard(g *testkit.Guards, impl kernels.Implementation, n int, atEnd bool) {
	g.T.Helper()
	x, y := testkit.Guarded(g, o.numbers, "x", n, atEnd), g.Floats("y", n, atEnd)
	testkit.CheckGuarded(g, o.numbers, fmt.Sprintf("%s of %d elements, gaps %v, at the end: %t", o.operation, n, g.Gaps, atEnd),
		func() { o.kernel(impl, x, y, 3) },
		func(copies map[string][]X) { o.define(copies["x"], y, 3) },
		map[string][]X{"x": x})
}

func TestAdditionKernels(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, o := range additions {
			t.Run("operation="+o.name(), func(t *testing.T) {
				r := testkit.NewRand(61)
				for n := range 200 {
					for range testkit.Rounds(10) {
						o.check(t, r, impl, n)
					}
				}
			})
		}
	})
}

func TestGuardAdditions(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		g := testkit.NewGuards(t, testkit.NewRand(62), 4*2*140, "y", "x")
		for _, o := range additions {
			for n := range 140 {
				for _, atEnd := range []bool{false, true} {
					o.guard(g, impl, n, atEnd)
				}
			}
		}
	})
}
