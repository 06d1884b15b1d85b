package posenc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/kernels"
)

// norm is the kernels of one type of elements, and what defines them.
type norm[T number] struct {
	name            string
	x               *numbers[T]
	normalizeKernel func(impl kernels.Implementation, x []T, weight []float32, l *kernels.Lines, epsilon float32)
	scaleKernel     func(impl kernels.Implementation, x []T, factor float32, l *kernels.Lines)
	normalize       func(x []T, weight []float32, epsilon float32)
	scale           func(x []T, factor float32)
}

// normOperations is what the tests do with a norm, whatever its type.
type normOperations interface {
	names() []string
	compare(t *testing.T, r *rand.Rand, impl kernels.Implementation, l kernels.Lines, misaligned int)
	guard(g *guards, impl kernels.Implementation, l kernels.Lines, atEnd bool)
	at(name string, impl kernels.Implementation, data unsafe.Pointer, weight []float32, l *kernels.Lines)
}

var norms = []normOperations{
	norm[float32]{"F32", &float32Numbers, kernels.RMSNormF32, kernels.ScaleRowsF32, generic.RMSNormF32, generic.ScaleF32},
	norm[uint16]{"F16", &float16Numbers, kernels.RMSNormF16, kernels.ScaleRowsF16, generic.RMSNormF16, generic.ScaleF16},
	norm[uint16]{"BF16", &bfloat16Numbers, kernels.RMSNormBF16, kernels.ScaleRowsBF16, generic.RMSNormBF16, generic.ScaleBF16},
}

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
		size := oneOf(r, []float32{1, 1, 1, 1000, 0x1p-12, 0x1p-70, 0x1p60, 0x1p70, 0})
		if r.IntN(4) == 0 {
			continue
		}
		for j := range l.Len {
			x[i*l.Stride+j] = n.x.round(size * float32(r.NormFloat64()))
		}
	}
}

func randomEpsilon(r *rand.Rand) float32 {
	return oneOf(r, []float32{1e-6, 1e-5, 0, 1, 1e-30, math.MaxFloat32})
}

func (n norm[T]) compare(t *testing.T, r *rand.Rand, impl kernels.Implementation, l kernels.Lines, misaligned int) {
	t.Helper()
	inRow := func(i int) bool { return l.Stride == 0 || i%l.Stride < l.Len }
	x := newPaddedOf(r, n.x, max(0, (l.Count-1)*l.Stride+l.Len), misaligned)
	weight := newPadded(r, l.Len, r.IntN(16))
	n.fill(r, x.slice(), &l)
	want, wantWeight := x.clone(), weight.clone()
	epsilon, factor := randomEpsilon(r), 2*r.Float32()-1
	for i := range l.Count {
		n.normalize(want.slice()[i*l.Stride:][:l.Len], weight.slice(), epsilon)
	}
	scaled, wantScaled := x.clone(), x.clone()
	n.normalizeKernel(impl, x.slice(), weight.slice(), &l, epsilon)
	name := fmt.Sprintf("%+v, misaligned by %d: ", l, misaligned)
	x.check(t, name+"normalized", want, inRow)
	weight.check(t, name+"weight", wantWeight, func(int) bool { return false })
	for i := range l.Count {
		n.scale(wantScaled.slice()[i*l.Stride:][:l.Len], factor)
	}
	n.scaleKernel(impl, scaled.slice(), factor, &l)
	scaled.check(t, name+"scaled", wantScaled, inRow)
}

func (n norm[T]) guard(g *guards, impl kernels.Implementation, l kernels.Lines, atEnd bool) {
	g.t.Helper()
	weight := g.floats("weight", l.Len, atEnd)
	epsilon := randomEpsilon(g.r)
	for _, scale := range []bool{false, true} {
		x := guarded(g, n.x, "x", l.Count*l.Len, atEnd)
		n.fill(g.r, x, &l)
		checkGuarded(g, n.x, fmt.Sprintf("%s, %+v, at the end: %t, scale: %t", n.name, l, atEnd, scale),
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
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(70)
		for _, n := range norms {
			for _, length := range append(slices.Clone(lengths), 5, 6, 24, 40, 72, 80, 96, 100, 255, 256, 1000) {
				for _, count := range []int{0, 1, 2, 3, 4, 5, 8, 11} {
					for range rounds(10) {
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
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(71)
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
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(72)
		g := newGuards(t, r, 4*5*70, "x", "weight")
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
