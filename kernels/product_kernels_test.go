package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// matrixProduct is a kernel that multiplies rows of x and vectors.
type matrixProduct struct {
	name   string
	kernel func(impl kernels.Implementation, y, x, vectors []float32, m *kernels.Matrices)
	define func(y, x, vectors []float32, m *kernels.Matrices) // one row
	sizes  func(m *kernels.Matrices) (y, x int)               // elements of a row
}

var matrixProducts = []matrixProduct{
	{"DotProductsF32", kernels.DotProductsF32, func(y, x, vectors []float32, m *kernels.Matrices) {
		for c := range m.Columns {
			y[c] = generic.DotF32(x[:m.Len], vectors[c*m.VectorStride:])
		}
	}, func(m *kernels.Matrices) (y, x int) { return m.Columns, m.Len }},
	{"AddMultiplesF32", kernels.AddMultiplesF32, func(y, x, vectors []float32, m *kernels.Matrices) {
		for c := range m.Columns {
			generic.AddMultipleF32(y[:m.Len], vectors[c*m.VectorStride:], x[c])
		}
	}, func(m *kernels.Matrices) (y, x int) { return m.Len, m.Columns }},
}

// fillVectors makes most vectors of a few sizes: a single NaN or infinity hides what
// becomes of other numbers.
func fillVectors(r *rand.Rand, s []float32, length, stride int) {
	for at := 0; at+length <= len(s); at += max(stride, 1) {
		if r.IntN(4) == 0 {
			continue
		}
		size := testkit.OneOf(r, []float32{1, 1, 1, 1000, 0x1p-12, 0x1p-70, 0x1p60, 0})
		for i := range length {
			s[at+i] = size * float32(r.NormFloat64())
		}
	}
}

func TestProductKernels(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, o := range matrixProducts {
			t.Run("operation="+o.name, func(t *testing.T) {
				r := testkit.NewRand(95)
				for n := 1; n < 150; n++ {
					for range testkit.Rounds(10) {
						m := kernels.Matrices{Len: n, Rows: r.IntN(4), Columns: r.IntN(11), VectorStride: n + r.IntN(20)}
						ySize, xSize := o.sizes(&m)
						m.YStride, m.XStride = ySize+r.IntN(20), xSize+r.IntN(20)
						y := testkit.NewPadded(r, m.Rows*m.YStride+ySize, r.IntN(16))
						x := testkit.NewPadded(r, m.Rows*m.XStride+xSize, r.IntN(16))
						vectors := testkit.NewPadded(r, m.Columns*m.VectorStride+n, r.IntN(16))
						fillVectors(r, x.Slice(), xSize, m.XStride)
						fillVectors(r, vectors.Slice(), n, m.VectorStride)
						want, givenX, given := y.Clone(), x.Clone(), vectors.Clone()
						for i := range m.Rows {
							o.define(want.Slice()[i*m.YStride:], x.Slice()[i*m.XStride:], vectors.Slice(), &m)
						}
						o.kernel(impl, y.Slice(), x.Slice(), vectors.Slice(), &m)
						name := fmt.Sprintf("%+v: ", m)
						y.Check(t, name+"y", want, func(i int) bool { return i/max(m.YStride, 1) < m.Rows && i%max(m.YStride, 1) < ySize })
						x.Check(t, name+"x", givenX, func(int) bool { return false })
						vectors.Check(t, name+"vectors", given, func(int) bool { return false })
					}
				}
			})
		}
	})
}

// guard multiplies vectors of n elements next to guards.
func (o *matrixProduct) guard(g *testkit.Guards, impl kernels.Implementation, n, columns int, atEnd bool) {
	g.T.Helper()
	m := kernels.Matrices{Len: n, Rows: 2, Columns: columns, VectorStride: n}
	m.YStride, m.XStride = o.sizes(&m)
	y, x, vectors := g.Floats("y", 2*m.YStride, atEnd), g.Floats("x", 2*m.XStride, atEnd), g.Floats("vectors", columns*n, atEnd)
	fillVectors(g.R, x, m.XStride, m.XStride)
	fillVectors(g.R, vectors, n, n)
	g.Check(fmt.Sprintf("%s, %+v, gaps %v, at the end: %t", o.name, m, g.Gaps, atEnd),
		func() { o.kernel(impl, y, x, vectors, &m) },
		func(copies map[string][]float32) {
			for i := range 2 {
				o.define(copies["y"][i*m.YStride:], x[i*m.XStride:], vectors, &m)
			}
		}, map[string][]float32{"y": y})
}

func TestGuardProducts(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		g := testkit.NewGuards(t, testkit.NewRand(96), 4*6*140, "y", "x", "vectors")
		for _, o := range matrixProducts {
			for _, n := range append(testkit.NumbersTo(40)[1:], 63, 64, 65, 127, 128, 129) {
				for _, atEnd := range []bool{false, true} {
					for _, columns := range []int{1, 6} {
						o.guard(g, impl, n, columns, atEnd)
					}
				}
			}
		}
	})
}
