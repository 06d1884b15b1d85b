package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// bias is a kernel that adds to rows of y. first and step say where the rows of
// x start, or their distances.
type bias struct {
	name   string
	kernel func(impl kernels.Implementation, y, x []float32, first, step int, slope float32, t *kernels.Tile)
	define func(y, x []float32, first int, slope float32)
	source
}

// source is what a kernel reads.
type source uint8

const (
	distances source = iota // nothing
	inside                  // rows of x that lie in it
	clamped                 // any part of x, which ends in equal elements
)

// biases lists the additions to scores that have kernels.
var biases = []bias{
	{"AddRowsF32", func(impl kernels.Implementation, y, x []float32, first, step int, slope float32, t *kernels.Tile) {
		kernels.AddRowsF32(impl, y, x, first, step, nil, t)
	}, func(y, x []float32, first int, slope float32) { generic.AddF32(y, x[first:]) }, inside},
	{"AddRowsF32", func(impl kernels.Implementation, y, x []float32, first, step int, slope float32, t *kernels.Tile) {
		const one = 3 // rows by number, some of them negative
		ids := make([]int32, t.Rows)
		for r := range ids {
			ids[r] = int32(r - one)
		}
		kernels.AddRowsF32(impl, y, x, first+one*step, step, ids, t)
	}, func(y, x []float32, first int, slope float32) { generic.AddF32(y, x[first:]) }, inside},
	{"AddClampedF32", func(impl kernels.Implementation, y, x []float32, first, step int, slope float32, t *kernels.Tile) {
		kernels.AddClampedF32(impl, y, x, first, step, t)
	}, func(y, x []float32, first int, slope float32) { generic.AddClampedF32(y, x, first) }, clamped},
	{"AddDistanceF32", func(impl kernels.Implementation, y, x []float32, first, step int, slope float32, t *kernels.Tile) {
		kernels.AddDistanceF32(impl, y, slope, first, step, t)
	}, func(y, x []float32, first int, slope float32) { generic.AddDistanceF32(y, slope, first) }, distances},
	{"SubAbsoluteDistanceF32", func(impl kernels.Implementation, y, x []float32, first, step int, slope float32, t *kernels.Tile) {
		kernels.SubAbsoluteDistanceF32(impl, y, slope, first, step, t)
	}, func(y, x []float32, first int, slope float32) { generic.SubAbsoluteDistanceF32(y, slope, first) }, distances},
}

// place returns the elements of x and the first of them, or a distance.
func (o *bias) place(r *rand.Rand, tile *kernels.Tile, step int) (size, first int) {
	reach := step * (tile.Rows - 1)
	switch o.source {
	case inside:
		return tile.Len + max(reach, -reach), max(0, -reach)
	case clamped:
		size = kernels.ClampedEnds + r.IntN(100)
		if r.IntN(8) == 0 {
			return size, int(int32(r.Uint32())) / 2
		}
		return size, r.IntN(2*size+2*tile.Len) - size - 2*tile.Len // before x, in it, beyond it
	default:
		if r.IntN(4) == 0 { // from there on float32 does not count by ones
			end := []int{-1 << 24, 1 << 24}[r.IntN(2)]
			return 0, end - r.IntN(2*tile.Len+1) - reach/2
		}
		return 0, int(int32(r.Uint32())>>(1+r.IntN(31))) - reach/2
	}
}

// prepare sets the ends of x.
func (o *bias) prepare(x []float32) {
	if o.source == clamped {
		if len(x) < 2*kernels.ClampedEnds { // they overlap
			x[len(x)-1] = x[0]
		}
		for i := range kernels.ClampedEnds {
			x[i], x[len(x)-1-i] = x[0], x[len(x)-1]
		}
	}
}

func TestBiasKernels(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, o := range biases {
			t.Run("operation="+o.name, func(t *testing.T) {
				r := testkit.NewRand(90)
				for n := 1; n < 200; n++ {
					for range testkit.Rounds(10) {
						tile := kernels.Tile{Len: n, Rows: r.IntN(4), Stride: n + r.IntN(20)}
						step := r.IntN(41) - 20
						size, first := o.place(r, &tile, step)
						slope := 2*r.Float32() - 1
						if r.IntN(8) == 0 {
							fill := []float32{0}
							testkit.FillRandom(r, fill)
							slope = fill[0]
						}
						y, x := testkit.NewPadded(r, tile.Rows*tile.Stride+n, r.IntN(16)), testkit.NewPadded(r, size, r.IntN(16))
						o.prepare(x.Slice())
						given, want := x.Clone(), y.Clone()
						for i := range tile.Rows {
							o.define(want.Slice()[i*tile.Stride:][:n], x.Slice(), first+i*step, slope)
						}
						o.kernel(impl, y.Slice(), x.Slice(), first, step, slope, &tile)
						name := fmt.Sprintf("%d rows of %d, first %d, step %d, slope %v: ", tile.Rows, n, first, step, slope)
						y.Check(t, name+"y", want, func(i int) bool { return i/tile.Stride < tile.Rows && i%tile.Stride < n })
						x.Check(t, name+"x", given, func(int) bool { return false })
					}
				}
			})
		}
	})
}

// guard adds to rows of n elements next to guards.
func (o *bias) guard(g *testkit.Guards, impl kernels.Implementation, n, rows, step int, atEnd bool) {
	g.T.Helper()
	tile := kernels.Tile{Len: n, Rows: rows, Stride: n}
	size, first := o.place(g.R, &tile, step)
	y, x := g.Floats("y", rows*n, atEnd), g.Floats("x", size, atEnd)
	o.prepare(x)
	g.Check(fmt.Sprintf("%s of %d rows of %d elements, step %d, gaps %v, at the end: %t", o.name, rows, n, step, g.Gaps, atEnd),
		func() { o.kernel(impl, y, x, first, step, 0.7, &tile) },
		func(copies map[string][]float32) {
			for i := range rows {
				o.define(copies["y"][i*n:][:n], x, first+i*step, 0.7)
			}
		}, map[string][]float32{"y": y})
}

func TestGuardBiases(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		g := testkit.NewGuards(t, testkit.NewRand(91), 4*3*140, "y", "x")
		for _, o := range biases {
			for n := 1; n < 140; n++ {
				for _, atEnd := range []bool{false, true} {
					for _, step := range []int{-1, 0, 1, n} {
						o.guard(g, impl, n, 3, step, atEnd)
					}
				}
			}
		}
	})
}
