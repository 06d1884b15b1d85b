package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// fusion is a kernel that normalizes and rotates.
type fusion struct {
	operation string
	pairs     posenc.Layout
	kernel    func(impl kernels.Implementation, x, weight, cos, sin []float32, f *kernels.Fusion, epsilon float32)
}

var fusions = []fusion{
	{"RMSNormRotateHalfSplitF32", posenc.HalfSplit, kernels.RMSNormRotateHalfSplitF32},
	{"RMSNormRotateInterleavedF32", posenc.Interleaved, kernels.RMSNormRotateInterleavedF32},
}

// define normalizes rows as generic does, and rotates one pair of them after
// another.
func (o *fusion) define(x, weight, cos, sin []float32, f *kernels.Fusion, epsilon float32) {
	for i := range f.Count {
		row := x[i*f.Stride:][:f.Len]
		generic.RMSNormF32(row, weight, epsilon)
		rotateEachPair(o.pairs, row[f.First:], cos, sin, &kernels.Rows{Pairs: f.Pairs, Partner: f.Pairs, Tokens: 1, Heads: 1}, make([]bool, f.Len))
	}
}

func (o *fusion) compare(t *testing.T, r *rand.Rand, impl kernels.Implementation, f kernels.Fusion) {
	t.Helper()
	x, weight := testkit.NewPadded(r, (f.Count-1)*f.Stride+f.Len, r.IntN(16)), testkit.NewPadded(r, f.Len, r.IntN(16))
	cos, sin := testkit.NewPadded(r, f.Pairs, r.IntN(16)), testkit.NewPadded(r, f.Pairs, r.IntN(16))
	float32Norm.fill(r, x.Slice(), &f.Lines)
	wantWeight, wantCos, wantSin := weight.Clone(), cos.Clone(), sin.Clone()
	want, epsilon := x.Clone(), randomEpsilon(r)
	o.define(want.Slice(), weight.Slice(), cos.Slice(), sin.Slice(), &f, epsilon)
	o.kernel(impl, x.Slice(), weight.Slice(), cos.Slice(), sin.Slice(), &f, epsilon)
	name := fmt.Sprintf("%+v: ", f)
	x.Check(t, name+"x", want, func(i int) bool { return i%f.Stride < f.Len })
	weight.Check(t, name+"weight", wantWeight, func(int) bool { return false })
	cos.Check(t, name+"cos", wantCos, func(int) bool { return false })
	sin.Check(t, name+"sin", wantSin, func(int) bool { return false })
}

func (o *fusion) guard(g *testkit.Guards, impl kernels.Implementation, f kernels.Fusion, atEnd bool) {
	g.T.Helper()
	weight, cos, sin := g.Floats("weight", f.Len, atEnd), g.Floats("cos", f.Pairs, atEnd), g.Floats("sin", f.Pairs, atEnd)
	x, epsilon := g.Floats("x", f.Count*f.Len, atEnd), randomEpsilon(g.R)
	float32Norm.fill(g.R, x, &f.Lines)
	g.Check(fmt.Sprintf("%s, %+v, gaps %v, at the end: %t", o.operation, f, g.Gaps, atEnd),
		func() { o.kernel(impl, x, weight, cos, sin, &f, epsilon) },
		func(copies map[string][]float32) { o.define(copies["x"], weight, cos, sin, &f, epsilon) }, map[string][]float32{"x": x})
}

// newFusion returns rows of which a slice of the given pairs is rotated, with
// some elements before and after it.
func newFusion(before, pairs, after, count, gap int) kernels.Fusion {
	n := before + 2*pairs + after
	return kernels.Fusion{Lines: kernels.Lines{Len: n, Count: count, Stride: n + gap}, First: before, Pairs: pairs}
}

func TestFusedKernels(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, o := range fusions {
			t.Run("operation="+o.operation, func(t *testing.T) {
				r := testkit.NewRand(73)
				for _, pairs := range append([]int{0}, testkit.Lengths...) {
					for _, count := range []int{1, 2, 3, 4, 5, 8, 11} {
						for range testkit.Rounds(10) {
							f := newFusion(r.IntN(2)*r.IntN(40), pairs, r.IntN(2)*r.IntN(40), count, r.IntN(2)*r.IntN(20))
							if f.Len > 0 {
								o.compare(t, r, impl, f)
							}
						}
					}
				}
			})
		}
	})
}

func TestGuardFused(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(74)
		g := testkit.NewGuards(t, r, 4*5*100, "x", "weight", "cos", "sin")
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
