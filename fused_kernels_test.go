package posenc

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/kernels"
)

// fusion is a kernel that normalizes and rotates, with generic's definitions of
// the two.
type fusion[T number] struct {
	operation string
	pairs     Layout
	kernel    func(impl kernels.Implementation, x []T, weight, cos, sin []float32, f *kernels.Fusion, epsilon float32)
	norm      norm[T]
	rotate    func(y1, y2, x1, x2 []T, cos, sin []float32)
}

// fusionTest is a fusion of any type.
type fusionTest interface {
	name() string // of the operation
	compare(t *testing.T, r *rand.Rand, impl kernels.Implementation, f kernels.Fusion, misaligned [3]int)
	guard(g *guards, impl kernels.Implementation, f kernels.Fusion, atEnd bool)
	// at works on rows of n elements at an address, whatever they are.
	at(impl kernels.Implementation, address unsafe.Pointer, n int, table []float32, f *kernels.Fusion)
}

var fusions = []fusionTest{
	fusion[float32]{"RMSNormRotateHalfSplitF32", HalfSplit, kernels.RMSNormRotateHalfSplitF32, float32Norm, generic.RotateHalfSplitF32},
	fusion[uint16]{"RMSNormRotateHalfSplitF16", HalfSplit, kernels.RMSNormRotateHalfSplitF16, float16Norm, generic.RotateHalfSplitF16},
	fusion[uint16]{"RMSNormRotateHalfSplitBF16", HalfSplit, kernels.RMSNormRotateHalfSplitBF16, bfloat16Norm, generic.RotateHalfSplitBF16},
	fusion[float32]{"RMSNormRotateInterleavedF32", Interleaved, kernels.RMSNormRotateInterleavedF32, float32Norm, generic.RotateHalfSplitF32},
	fusion[uint16]{"RMSNormRotateInterleavedF16", Interleaved, kernels.RMSNormRotateInterleavedF16, float16Norm, generic.RotateHalfSplitF16},
	fusion[uint16]{"RMSNormRotateInterleavedBF16", Interleaved, kernels.RMSNormRotateInterleavedBF16, bfloat16Norm, generic.RotateHalfSplitBF16},
}

func (o fusion[T]) name() string { return o.operation }

func (o fusion[T]) at(impl kernels.Implementation, address unsafe.Pointer, n int, table []float32, f *kernels.Fusion) {
	o.kernel(impl, unsafe.Slice((*T)(address), n), table, table, table, f, 1)
}

// define normalizes rows and rotates one pair of them after another.
func (o fusion[T]) define(x []T, weight, cos, sin []float32, f *kernels.Fusion, epsilon float32) {
	for i := range f.Count {
		row := x[i*f.Stride:][:f.Len]
		o.norm.normalize(row, weight, epsilon)
		for j := range f.Pairs {
			a, b := pairAt(o.pairs, f.First, j, f.Pairs)
			o.rotate(row[a:], row[b:], row[a:a+1], row[b:], cos[j:], sin[j:])
		}
	}
}

func (o fusion[T]) compare(t *testing.T, r *rand.Rand, impl kernels.Implementation, f kernels.Fusion, misaligned [3]int) {
	t.Helper()
	x := newPaddedOf(r, o.norm.x, (f.Count-1)*f.Stride+f.Len, misaligned[0])
	weight := newPadded(r, f.Len, misaligned[1])
	cos, sin := newPadded(r, f.Pairs, misaligned[2]), newPadded(r, f.Pairs, r.IntN(16))
	o.norm.fill(r, x.slice(), &f.Lines)
	given := []padded[float32]{weight.clone(), cos.clone(), sin.clone()}
	want, epsilon := x.clone(), randomEpsilon(r)
	o.define(want.slice(), weight.slice(), cos.slice(), sin.slice(), &f, epsilon)
	o.kernel(impl, x.slice(), weight.slice(), cos.slice(), sin.slice(), &f, epsilon)
	name := fmt.Sprintf("%s, %+v, misaligned by %d: ", o.operation, f, misaligned)
	x.check(t, name+"x", want, func(i int) bool { return i%f.Stride < f.Len })
	for i, p := range []padded[float32]{weight, cos, sin} {
		p.check(t, name+[]string{"weight", "cos", "sin"}[i], given[i], func(int) bool { return false })
	}
}

func (o fusion[T]) guard(g *guards, impl kernels.Implementation, f kernels.Fusion, atEnd bool) {
	g.t.Helper()
	weight, cos, sin := g.floats("weight", f.Len, atEnd), g.floats("cos", f.Pairs, atEnd), g.floats("sin", f.Pairs, atEnd)
	x, epsilon := guarded(g, o.norm.x, "x", f.Count*f.Len, atEnd), randomEpsilon(g.r)
	o.norm.fill(g.r, x, &f.Lines)
	checkGuarded(g, o.norm.x, fmt.Sprintf("%s, %+v, gaps %v, at the end: %t", o.operation, f, g.gaps, atEnd),
		func() { o.kernel(impl, x, weight, cos, sin, &f, epsilon) },
		func(copies map[string][]T) { o.define(copies["x"], weight, cos, sin, &f, epsilon) }, map[string][]T{"x": x})
}

// newFusion returns rows of which a slice of the given pairs is rotated, with
// some elements before and after it.
func newFusion(before, pairs, after, count, gap int) kernels.Fusion {
	n := before + 2*pairs + after
	return kernels.Fusion{Lines: kernels.Lines{Len: n, Count: count, Stride: n + gap}, First: before, Pairs: pairs}
}

func TestFusedKernels(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, o := range fusions {
			t.Run("operation="+o.name(), func(t *testing.T) {
				r := newRand(73)
				for _, pairs := range append([]int{0}, lengths...) {
					for _, count := range []int{1, 2, 3, 4, 5, 8, 11} {
						for range rounds(10) {
							f := newFusion(r.IntN(2)*r.IntN(40), pairs, r.IntN(2)*r.IntN(40), count, r.IntN(2)*r.IntN(20))
							if f.Len > 0 {
								o.compare(t, r, impl, f, [3]int{r.IntN(16), r.IntN(16), r.IntN(16)})
							}
						}
					}
				}
			})
		}
	})
}

func TestGuardFused(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(74)
		g := newGuards(t, r, 4*5*100, "x", "weight", "cos", "sin")
		for _, o := range fusions {
			for pairs := 1; pairs <= 40; pairs++ {
				for _, atEnd := range []bool{false, true} {
					for _, count := range []int{1, 4, 5} {
						o.guard(g, impl, newFusion(0, pairs, 0, count, 0), atEnd)
						o.guard(g, impl, newFusion(r.IntN(10), pairs, r.IntN(10), count, 0), atEnd)
					}
				}
			}
		}
	})
}
