package kernels_test

import (
	"fmt"
	"testing"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/testkit"

	"github.com/go-posenc/posenc/internal/exhaustive"
	"github.com/go-posenc/posenc/kernels"
)

// guardedOperation runs a kernel over rows of n elements, pairs or frequencies,
// next to the guards of the named arenas.
type guardedOperation struct {
	name    string
	longest int
	arenas  []string
	run     func(g *testkit.Guards, impl kernels.Implementation, n int, atEnd bool)
}

// guardedOperations lists all that have kernels: one row, and several, whose
// starts are then aligned in several ways.
func guardedOperations() (list []guardedOperation) {
	const longest = 257
	add := func(name string, longest int, run func(g *testkit.Guards, impl kernels.Implementation, n int, atEnd bool), arenas ...string) {
		list = append(list, guardedOperation{name, longest, arenas, run})
	}
	for _, o := range rotations {
		add(o.name(), longest, func(g *testkit.Guards, impl kernels.Implementation, n int, atEnd bool) {
			for _, shape := range [][2]int{{1, 1}, {2, 2}} {
				if shape[0] > 1 && g.Gaps["x"]%4 != n%4 {
					continue
				}
				rows := kernels.Rows{Pairs: n, Partner: n, Tokens: shape[0], Heads: shape[1], XTokenStride: 2 * n * shape[1], XHeadStride: 2 * n, TableStride: n}
				rows.YTokenStride, rows.YHeadStride = rows.XTokenStride, rows.XHeadStride
				o.guard(g, impl, rows, false, atEnd)
				if o.inPlace() {
					o.guard(g, impl, rows, true, atEnd)
				}
			}
		}, "y", "x", "cos", "sin")
	}
	for _, o := range copies {
		add(o.name(), longest, func(g *testkit.Guards, impl kernels.Implementation, n int, atEnd bool) {
			o.guard(g, impl, n, atEnd)
		}, "y", "x")
	}
	for _, o := range additions {
		add(o.name(), longest, func(g *testkit.Guards, impl kernels.Implementation, n int, atEnd bool) {
			o.guard(g, impl, n, atEnd)
		}, "y", "x")
	}
	for _, o := range biases {
		add(o.name, longest, func(g *testkit.Guards, impl kernels.Implementation, n int, atEnd bool) {
			if n == 0 {
				return // rows have elements
			}
			o.guard(g, impl, n, 1, 0, atEnd)
			o.guard(g, impl, n, 3, g.R.IntN(3)-1, atEnd)
		}, "y", "x")
	}
	for _, o := range matrixProducts {
		add(o.name, longest, func(g *testkit.Guards, impl kernels.Implementation, n int, atEnd bool) {
			if n > 0 {
				o.guard(g, impl, n, 1+n%6, atEnd)
			}
		}, "y", "x", "vectors")
	}
	for _, o := range norms {
		add(o.names()[0]+", "+o.names()[1], longest, func(g *testkit.Guards, impl kernels.Implementation, n int, atEnd bool) {
			for _, count := range []int{1, 5} {
				o.guard(g, impl, kernels.Lines{Len: n, Count: count, Stride: n}, atEnd)
			}
		}, "x", "weight")
	}
	for _, o := range fusions {
		add(o.operation, longest, func(g *testkit.Guards, impl kernels.Implementation, n int, atEnd bool) {
			if n == 0 {
				return
			}
			o.guard(g, impl, newFusion(0, n, 0, 1, 0), atEnd)
			o.guard(g, impl, newFusion(g.R.IntN(4), n, g.R.IntN(4), 4, 0), atEnd)
		}, "x", "weight", "cos", "sin")
	}
	add("CopyNonTemporalB32", longest, func(g *testkit.Guards, impl kernels.Implementation, n int, atEnd bool) {
		g.Gaps["y"] &^= 7 // it writes whole multiples of 32 bytes
		n &^= 7
		y, x := g.Floats("y", n, atEnd), g.Floats("x", n, atEnd)
		g.Check(fmt.Sprintf("%d elements, gaps %v, at the end: %t", n, g.Gaps, atEnd),
			func() {
				kernels.CopyPastCaches(impl, y, x)
				kernels.FenceStores(impl)
			},
			func(copies map[string][]float32) { copy(copies["y"], x) }, map[string][]float32{"y": y})
	}, "y", "x")
	add("CosSinFloat32", longest, func(g *testkit.Guards, impl kernels.Implementation, n int, atEnd bool) {
		g.GuardAngles(impl, n, true, atEnd)
		g.GuardAngles(impl, n, false, atEnd)
	}, "cos", "sin", "angles")
	add("CosSinExact, CosSinShift", kernels.Width, func(g *testkit.Guards, impl kernels.Implementation, n int, atEnd bool) {
		for _, rows := range []int{1, 9} {
			for _, pastCaches := range []bool{false, true} {
				g.GuardExact(impl, n, rows, false, pastCaches, atEnd)
			}
		}
	}, "cos", "sin")
	add("SinusoidalRows, AddSinusoidal", longest, func(g *testkit.Guards, impl kernels.Implementation, n int, atEnd bool) {
		if n > 0 {
			newSinusoidalRows(g.R, impl, testkit.RandomPositions(g.R, "sequential", 5), n).guard(g, impl, atEnd)
		}
	}, "x")
	return list
}

// Every kernel at every length, as many elements from a guard as there are
// misalignments: the last one before it, and the first one behind it.
func TestExhaustiveGuards(t *testing.T) {
	exhaustive.SkipUnlessAsked(t)
	const misalignments = 32 // of 16 bits in 64 bytes
	type job struct {
		operation int
		impl      kernels.Implementation
		n         int
	}
	var jobs []job
	operations := guardedOperations()
	for i, o := range operations {
		for _, impl := range dispatch.Supported() {
			for n := range o.longest + 1 {
				jobs = append(jobs, job{i, impl, n})
			}
		}
	}
	testkit.RunExhaustive(t, exhaustive.Leg{
		Name:   "lengths and misalignments of all kernels between guards",
		Blocks: len(jobs),
		Counts: []string{"lengths of a kernel", "lengths and misalignments"},
		Worker: func(t *testing.T) func(block int, counts []int64) {
			guardsOf := map[int]*testkit.Guards{}
			return func(block int, counts []int64) {
				j := jobs[block]
				o := &operations[j.operation]
				g := guardsOf[j.operation]
				if g == nil {
					g = testkit.NewGuards(t, testkit.NewRand(uint64(j.operation)), 4*(5*(2*257+70)+misalignments), o.arenas...)
					guardsOf[j.operation] = g
				}
				g.R = testkit.NewRand(uint64(block))
				for m := range misalignments {
					for i, name := range o.arenas { // all take every misalignment, not all the same
						g.Gaps[name] = (m*(2*i+1) + i*j.n) % misalignments
					}
					for _, atEnd := range []bool{false, true} {
						o.run(g, j.impl, j.n, atEnd)
						counts[1]++
					}
				}
				counts[0]++
			}
		},
	})
}
