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

// norm is the kernels of one type of elements, and what defines them.
type norm[T testkit.Number] struct {
	name            string
	x               *testkit.Numbers[T]
	normalizeKernel func(impl kernels.Implementation, x []T, weight []float32, l *kernels.Lines, epsilon float32)
	scaleKernel     func(impl kernels.Implementation, x []T, factor float32, l *kernels.Lines)
	normalize       func(x []T, weight []float32, epsilon float32)
	scale           func(x []T, factor float32)
}

// normOperations is what the tests do with a norm, whatever its type.
type normOperations interface {
	names() []string
	compare(t *testing.T, r *rand.Rand, impl kernels.Implementation, l kernels.Lines, misaligned int)
	guard(g *testkit.Guards, impl kernels.Implementation, l kernels.Lines, atEnd bool)
	at(name string, impl kernels.Implementation, data unsafe.Pointer, weight []float32, l *kernels.Lines)
}

var (
	float32Norm  = norm[float32]{"F32", &testkit.Float32Numbers, kernels.RMSNormF32, kernels.ScaleRowsF32, generic.RMSNormF32, generic.ScaleF32}
	float16Norm  = norm[uint16]{"F16", &testkit.Float16Numbers, kernels.RMSNormF16, kernels.ScaleRowsF16, generic.RMSNormF16, generic.ScaleF16}
	bfloat16Norm = norm[uint16]{"BF16", &testkit.Bfloat16Numbers, kernels.RMSNormBF16, kernels.ScaleRowsBF16, generic.RMSNormBF16, generic.ScaleBF16}
)

var norms = []normOperations{float32Norm, float16Norm, bfloat16Norm}

func (n norm[T]) names() []string { return []string{"RMSNorm" + n.name, "ScaleRows" + n.name} }

// at calls the kernel of an operation on data.
func (n norm[T]) at(name string, impl kernels.Implementation, data unsafe.Pointer, weight []float32, l *kernels.Lines) {
	x := unsafe.Slice((*T)(data), l.Len*l.Count)
	if name == "RMSNorm"+n.name {
		n.normalizeKernel(impl, x, weight, l, 1)
	} else {
		n.scaleKernel(impl, x, 1, l)
	}
}

// fill makes numbers of every kind, but in most rows only ordinary ones: a
// single NaN or infinity hides what becomes of the others.
func (n norm[T]) fill(r *rand.Rand, x []T, l *kernels.Lines) {
	for i := range l.Count {
		size := testkit.OneOf(r, []float32{1, 1, 1, 1000, 0x1p-12, 0x1p-70, 0x1p60, 0x1p70, 0})
		if r.IntN(4) == 0 {
			continue
		}
		for j := range l.Len {
			x[i*l.Stride+j] = n.x.Round(size * float32(r.NormFloat64()))
		}
	}
}

func randomEpsilon(r *rand.Rand) float32 {
	return testkit.OneOf(r, []float32{1e-6, 1e-5, 0, 1, 1e-30, math.MaxFloat32})
}

func (n norm[T]) compare(t *testing.T, r *rand.Rand, impl kernels.Implementation, l kernels.Lines, misaligned int) {
	t.Helper()
	inRow := func(i int) bool { return l.Stride == 0 || i%l.Stride < l.Len }
	x := testkit.NewPaddedOf(r, n.x, max(0, (l.Count-1)*l.Stride+l.Len), misaligned)
	weight := testkit.NewPadded(r, l.Len, r.IntN(16))
	n.fill(r, x.Slice(), &l)
	want, wantWeight := x.Clone(), weight.Clone()
	epsilon, factor := randomEpsilon(r), 2*r.Float32()-1
	for i := range l.Count {
		n.normalize(want.Slice()[i*l.Stride:][:l.Len], weight.Slice(), epsilon)
	}
	scaled, wantScaled := x.Clone(), x.Clone()
	n.normalizeKernel(impl, x.Slice(), weight.Slice(), &l, epsilon)
	name := fmt.Sprintf("%+v, misaligned by %d: ", l, misaligned)
	x.Check(t, name+"normalized", want, inRow)
	weight.Check(t, name+"weight", wantWeight, func(int) bool { return false })
	for i := range l.Count {
		n.scale(wantScaled.Slice()[i*l.Stride:][:l.Len], factor)
	}
	n.scaleKernel(impl, scaled.Slice(), factor, &l)
	scaled.Check(t, name+"scaled", wantScaled, inRow)
}

func (n norm[T]) guard(g *testkit.Guards, impl kernels.Implementation, l kernels.Lines, atEnd bool) {
	g.T.Helper()
	weight := g.Floats("weight", l.Len, atEnd)
	epsilon := randomEpsilon(g.R)
	for _, scale := range []bool{false, true} {
		x := testkit.Guarded(g, n.x, "x", l.Count*l.Len, atEnd)
		n.fill(g.R, x, &l)
		testkit.CheckGuarded(g, n.x, fmt.Sprintf("%s, %+v, gaps %v, at the end: %t, scale: %t", n.name, l, g.Gaps, atEnd, scale),
			func() {
				if scale {
					n.scaleKernel(impl, x, epsilon, &l)
				} else {
					n.normalizeKernel(impl, x, weight, &l, epsilon)
				}
			},
			func(copies map[string][]T) {
				for i := range l.Count {
					row := copies["x"][i*l.Stride:][:l.Len]
					if scale {
						n.scale(row, epsilon)
					} else {
						n.normalize(row, weight, epsilon)
					}
				}
			}, map[string][]T{"x": x})
	}
}

func TestNormKernels(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(70)
		for _, n := range norms {
			for _, length := range append(slices.Clone(testkit.Lengths), 5, 6, 24, 40, 72, 80, 96, 100, 255, 256, 1000) {
				for _, count := range []int{0, 1, 2, 3, 4, 5, 8, 11} {
					for range testkit.Rounds(10) {
						l := kernels.Lines{Len: length, Count: count, Stride: length + r.IntN(2)*r.IntN(20)}
						n.compare(t, r, impl, l, r.IntN(16))
					}
				}
			}
		}
	})
}

// Every start of a row against every remainder of a vector.
func TestNormKernelsAlignment(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(71)
		for _, n := range norms {
			for length := range 67 {
				for start := range 16 {
					if testing.Short() && r.IntN(8) != 0 {
						continue
					}
					n.compare(t, r, impl, kernels.Lines{Len: length, Count: 5, Stride: length}, start)
				}
			}
		}
	})
}

func TestGuardNorm(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(72)
		g := testkit.NewGuards(t, r, 4*5*70, "x", "weight")
		for _, n := range norms {
			for length := range 67 {
				for _, atEnd := range []bool{false, true} {
					for _, count := range []int{1, 4, 5} {
						n.guard(g, impl, kernels.Lines{Len: length, Count: count, Stride: length}, atEnd)
					}
				}
			}
		}
	})
}
