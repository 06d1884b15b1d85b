package kernels_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/internal/operations"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/exhaustive"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// Every kernel at every length, as many elements from a guard as there are
// misalignments: the last one before it, and the first one behind it.
func TestExhaustiveGuards(t *testing.T) {
	exhaustive.SkipUnlessAsked(t)
	const longest, misalignments = 257, 32 // of 16 bits in 64 bytes
	type block struct {
		job  int
		impl kernels.Implementation
		n    int
	}
	var blocks []block
	jobs := allGuarded(longest)
	for i, j := range jobs {
		for _, impl := range dispatch.Supported() {
			for n := range j.Longest + 1 {
				blocks = append(blocks, block{i, impl, n})
			}
		}
	}
	testkit.RunExhaustive(t, exhaustive.Leg{
		Name:   fmt.Sprintf("lengths and misalignments of all %d kernels between guards", len(everyOperation())),
		Blocks: len(blocks),
		Counts: []string{"lengths of a kernel", "lengths and misalignments"},
		Worker: func(t *testing.T) func(block int, counts []int64) {
			arenas := map[int]*operations.Guards{}
			return func(number int, counts []int64) {
				b := blocks[number]
				j, g := &jobs[b.job], arenas[b.job]
				if g == nil {
					g = j.newGuards(t, misalignments)
					arenas[b.job] = g
				}
				for m := range misalignments {
					for i, name := range slices.Sorted(maps.Keys(g.Arenas)) { // all take every misalignment, not all the same
						g.Gaps[name] = (m*(2*i+1) + i*b.n) % misalignments
					}
					for _, g.AtEnd = range []bool{false, true} {
						j.tryOn(t, testkit.NewRand(uint64(number*misalignments+m)), b.n, g, b.impl)
						counts[1]++
					}
				}
				counts[0]++
			}
		},
	})
}
