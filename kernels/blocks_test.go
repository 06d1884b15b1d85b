package kernels_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/operations"
	"github.com/go-posenc/posenc/internal/testkit"
)

// Blocks of few different numbers are as defined: equal magnitudes of both signs, of which the first counts,
// midpoints of codes and what is next to them, zeros of both signs, subnormal numbers, and rarely a number
// that is not finite.
func TestBlockTies(t *testing.T) {
	blocks := slices.DeleteFunc(quantizations(), func(o *operations.Operation) bool { return o.Slice("y").Element.Block == 0 })
	powers := []int{10, 10, 10, 30, 140}
	if testkit.Bochs {
		t.Log("NOT TESTED: scales that are ties of float16, which Bochs rounds up")
		powers = powers[:3]
	}
	operations.EachOperation(t, blocks, func(t *testing.T, o *operations.Operation) {
		r := testkit.NewRand(35)
		for range testkit.Rounds(300) {
			p := o.Problem(r, 8*generic.Block, true)
			p.Prepare = func(r *rand.Rand, a *operations.Arguments) {
				x := operations.Elements[float32](a, "x")
				for block := range slices.Chunk(x, generic.Block) {
					most := testkit.OneOf(r, []int{0, 1, 2, 8, 16, 31, 32, 62, 254})
					least, scale := testkit.OneOf(r, []int{-most, 0}), math.Ldexp(1+float64(r.IntN(2))*r.Float64(), r.IntN(20)-testkit.OneOf(r, powers))
					for i := range block {
						v := float32(float64(least+r.IntN(most-least+1)) / 2 * scale)
						block[i] = testkit.OneOf(r, []float32{v, v, v, -v, math.Nextafter32(v, 0)})
					}
					if r.IntN(8) == 0 {
						block[r.IntN(len(block))] = testkit.OneOf(r, []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.MaxFloat32})
					}
				}
			}
			o.Try(t, r, p, operations.Padded(r, o))
		}
	})
}
