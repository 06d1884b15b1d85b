package kernels_test

import (
	"fmt"
	"testing"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/exhaustive"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// guardJob runs operations on rows of n elements, pairs or frequencies next to guards,
// so many elements from them.
type guardJob struct {
	longest int
	run     func(t *testing.T) func(block uint64, impl kernels.Implementation, n, misaligned int, atEnd bool)
}

// guardJobs lists the regular operations, and the others by what calls them.
func guardJobs() (list []guardJob) {
	const longest, misalignments = 257, 32
	for _, o := range regular() {
		list = append(list, guardJob{longest, func(t *testing.T) func(block uint64, impl kernels.Implementation, n, misaligned int, atEnd bool) {
			g := newGuards(t, guardBytes((longest+misalignments)*max(1, o.unit)), o)
			return func(block uint64, impl kernels.Implementation, n, misaligned int, atEnd bool) {
				for i, s := range o.slices { // all take every misalignment, not all the same
					g.gaps[s.name] = (misaligned*(2*i+1) + i*n) % misalignments
				}
				r := testkit.NewRand(block)
				g.atEnd = atEnd
				o.try(t, r, impl, o.problem(r, n, true), g.place(r, o))
			}
		}})
	}
	arenas := func(longest int, names []string, run func(g *testkit.Guards, impl kernels.Implementation, n int, atEnd bool)) {
		list = append(list, guardJob{longest, func(t *testing.T) func(block uint64, impl kernels.Implementation, n, misaligned int, atEnd bool) {
			g := testkit.NewGuards(t, testkit.NewRand(0), guardBytes(longest+misalignments), names...)
			return func(block uint64, impl kernels.Implementation, n, misaligned int, atEnd bool) {
				for i, name := range names {
					g.Gaps[name] = (misaligned*(2*i+1) + i*n) % misalignments
				}
				g.R = testkit.NewRand(block)
				run(g, impl, n, atEnd)
			}
		}})
	}
	arenas(longest, []string{"cos", "sin", "angles"}, func(g *testkit.Guards, impl kernels.Implementation, n int, atEnd bool) {
		g.GuardAngles(impl, n, true, atEnd)
		g.GuardAngles(impl, n, false, atEnd)
	})
	arenas(kernels.Width, []string{"cos", "sin"}, func(g *testkit.Guards, impl kernels.Implementation, n int, atEnd bool) {
		for _, rows := range []int{1, 9} {
			for _, nonTemporal := range []bool{false, true} {
				g.GuardExact(impl, n, rows, false, nonTemporal, atEnd)
			}
		}
	})
	arenas(longest, []string{"x"}, func(g *testkit.Guards, impl kernels.Implementation, n int, atEnd bool) {
		if n > 0 {
			newSinusoidalRows(g.R, impl, testkit.RandomPositions(g.R, "sequential", 5), n).guard(g, impl, atEnd)
		}
	})
	return list
}

// Every kernel at every length, as many elements from a guard as there are
// misalignments: the last one before it, and the first one behind it.
func TestExhaustiveGuards(t *testing.T) {
	exhaustive.SkipUnlessAsked(t)
	const misalignments = 32 // of 16 bits in 64 bytes
	type block struct {
		job  int
		impl kernels.Implementation
		n    int
	}
	var blocks []block
	jobs := guardJobs()
	for i, j := range jobs {
		for _, impl := range dispatch.Supported() {
			for n := range j.longest + 1 {
				blocks = append(blocks, block{i, impl, n})
			}
		}
	}
	testkit.RunExhaustive(t, exhaustive.Leg{
		Name:   fmt.Sprintf("lengths and misalignments of all %d kernels between guards", len(registry)),
		Blocks: len(blocks),
		Counts: []string{"lengths of a kernel", "lengths and misalignments"},
		Worker: func(t *testing.T) func(block int, counts []int64) {
			runs := map[int]func(block uint64, impl kernels.Implementation, n, misaligned int, atEnd bool){}
			return func(number int, counts []int64) {
				b := blocks[number]
				if runs[b.job] == nil {
					runs[b.job] = jobs[b.job].run(t)
				}
				for m := range misalignments {
					for _, atEnd := range []bool{false, true} {
						runs[b.job](uint64(number*misalignments+m), b.impl, b.n, m, atEnd)
						counts[1]++
					}
				}
				counts[0]++
			}
		},
	})
}
