package posenc

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/kernels"
)

// addition is a kernel that scales numbers of type X in place and adds float32.
type addition[X number] struct {
	operation string
	kernel    func(impl kernels.Implementation, x []X, y []float32, scale float32)
	define    func(x []X, y []float32, scale float32)
	numbers   *numbers[X]
}

// additionTest is an addition to any type.
type additionTest interface {
	name() string // of the operation
	check(t *testing.T, r *rand.Rand, impl kernels.Implementation, n int)
	guard(g *guards, impl kernels.Implementation, n int, atEnd bool)
	// at runs over n elements at an address, whatever they are.
	at(impl kernels.Implementation, x unsafe.Pointer, y []float32, n int)
}

// additions lists the additions that have kernels.
var additions = []additionTest{
	addition[float32]{"AddScaledF32", kernels.AddScaledF32, generic.AddScaledF32, &float32Numbers},
	addition[uint16]{"AddScaledF16", kernels.AddScaledF16, generic.AddScaledF16, &float16Numbers},
	addition[uint16]{"AddScaledBF16", kernels.AddScaledBF16, generic.AddScaledBF16, &bfloat16Numbers},
}

func (o addition[X]) name() string { return o.operation }

func (o addition[X]) at(impl kernels.Implementation, x unsafe.Pointer, y []float32, n int) {
	o.kernel(impl, unsafe.Slice((*X)(x), n), y, 1)
}

// check compares an addition with generic on random elements, from any start.
func (o addition[X]) check(t *testing.T, r *rand.Rand, impl kernels.Implementation, n int) {
	t.Helper()
	x, y := newPaddedOf(r, o.numbers, n, r.IntN(16)), newPadded(r, n, r.IntN(16))
	scale := randomScale(r)
	given, want := y.clone(), x.clone()
	o.define(want.slice(), y.slice(), scale)
	o.kernel(impl, x.slice(), y.slice(), scale)
	name := fmt.Sprintf("%d elements, scale %v: ", n, scale)
	x.check(t, name+"x", want, every)
	y.check(t, name+"y", given, func(int) bool { return false })
}

// randomScale is 1, that of a model of 512 channels, or anything.
func randomScale(r *rand.Rand) float32 {
	scale := []float32{1, 22.627417, 0}
	fillRandom(r, scale[2:])
	return oneOf(r, scale)
}

func (o addition[X]) guard(g *guards, impl kernels.Implementation, n int, atEnd bool) {
	g.t.Helper()
	x, y := guarded(g, o.numbers, "x", n, atEnd), g.floats("y", n, atEnd)
	checkGuarded(g, o.numbers, fmt.Sprintf("%s of %d elements, gaps %v, at the end: %t", o.operation, n, g.gaps, atEnd),
		func() { o.kernel(impl, x, y, 3) },
		func(copies map[string][]X) { o.define(copies["x"], y, 3) },
		map[string][]X{"x": x})
}

func TestAdditionKernels(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, o := range additions {
			t.Run("operation="+o.name(), func(t *testing.T) {
				r := newRand(61)
				for n := range 200 {
					for range rounds(10) {
						o.check(t, r, impl, n)
					}
				}
			})
		}
	})
}

func TestGuardAdditions(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		g := newGuards(t, newRand(62), 4*2*140, "y", "x")
		for _, o := range additions {
			for n := range 140 {
				for _, atEnd := range []bool{false, true} {
					o.guard(g, impl, n, atEnd)
				}
			}
		}
	})
}
