package kernels_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/internal/test/operations"
)

// Blocks of few different numbers are as defined: equal magnitudes of both signs, of which the first counts,
// midpoints of codes and what is next to them, zeros of both signs, subnormal numbers, and rarely a number
// that is not finite.
func TestBlockTies(t *testing.T) {
	blocks := slices.DeleteFunc(quantizations(), func(o *operations.Operation) bool { return o.Slice("y").Element.Block == 0 })
	powers := []int{10, 10, 10, 30, 140}
	if kit.Bochs {
		t.Log("NOT TESTED: scales that are ties of float16, which Bochs rounds up")
		powers = powers[:3]
	}
	operations.EachOperation(t, blocks, func(t *testing.T, o *operations.Operation) {
		r := kit.NewRand(35)
		for range kit.Rounds(300) {
			p := o.Problem(r, 8*generic.Block, true)
			p.Prepare = func(r *rand.Rand, a *operations.Arguments) {
				x := operations.Elements[float32](a, "x")
				for block := range slices.Chunk(x, o.Slice("y").Element.Numbers) {
					most := kit.OneOf(r, []int{0, 1, 2, 8, 16, 31, 32, 62, 254})
					least, scale := kit.OneOf(r, []int{-most, 0}), math.Ldexp(1+float64(r.IntN(2))*r.Float64(), r.IntN(20)-kit.OneOf(r, powers))
					for i := range block {
						v := float32(float64(least+r.IntN(most-least+1)) / 2 * scale)
						block[i] = kit.OneOf(r, []float32{v, v, v, -v, math.Nextafter32(v, 0)})
					}
					if r.IntN(8) == 0 {
						block[r.IntN(len(block))] = kit.OneOf(r, []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.MaxFloat32})
					}
				}
			}
			o.Try(t, r, p, operations.Padded(r, o))
		}
	})
}

// MXFP4 and NVFP4 are as defined where the largest magnitude of a block is at or next to a number from which on the scale
// is another one, and the others are at or next to midpoints of codes.
func TestFP4Ties(t *testing.T) {
	midpoints := []float64{0, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 6, 7}
	near := func(r *rand.Rand, x float64) float32 {
		v := float32(x)
		for range r.IntN(3) {
			v = math.Nextafter32(v, kit.OneOf(r, []float32{0, math.MaxFloat32}))
		}
		return v
	}
	operations.EachOperation(t, fp4(quantizations(), "y"), func(t *testing.T, o *operations.Operation) {
		r := kit.NewRand(36)
		element := o.Slice("y").Element
		for rule := range 3 {
			for exponent := -149; exponent <= 127; exponent++ {
				p := o.Problem(r, 15*element.Numbers, true)
				p.Number["rule"] = float64(rule)
				p.Prepare = func(r *rand.Rand, a *operations.Arguments) {
					i := 0
					for block := range slices.Chunk(operations.Elements[float32](a, "x"), element.Numbers) {
						amax := float32(math.Ldexp([]float64{1, 1.5, 1.75}[i%3], exponent))
						amax = min(math.Float32frombits(max(math.Float32bits(amax)+uint32(i/3%5), 2)-2), math.MaxFloat32)
						i++
						unit := math.Ldexp(1, max(math.Ilogb(float64(amax))-2+r.IntN(2), -127))
						if element == operations.NVFP4 { // between two scales
							low := 7 + uint8(r.IntN(generic.NaN8-8))
							unit = float64(generic.E4M3ToFloat32(low + uint8(r.IntN(2))))
							if r.IntN(4) != 0 {
								amax = near(r, 3*float64(generic.E4M3ToFloat32(low)+generic.E4M3ToFloat32(low+1)))
							}
						}
						for i := range block {
							block[i] = min(near(r, kit.OneOf(r, midpoints)*unit), amax) * kit.OneOf(r, []float32{-1, 1})
						}
						block[r.IntN(len(block))] = amax * kit.OneOf(r, []float32{-1, 1})
						if r.IntN(8) == 0 {
							block[r.IntN(len(block))] = kit.OneOf(r, []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.MaxFloat32})
						}
					}
				}
				o.Try(t, r, p, operations.Padded(r, o))
			}
		}
	})
}

// Numbers of every code with every scale are read as defined.
func TestFP4Scales(t *testing.T) {
	dequantizations := slices.DeleteFunc(operations.Regular(), func(o *operations.Operation) bool {
		return o.Geometry != "Conversion" || o.Slice("x").Element.Block == 0
	})
	operations.EachOperation(t, fp4(dequantizations, "x"), func(t *testing.T, o *operations.Operation) {
		r := kit.NewRand(37)
		element := o.Slice("x").Element
		for round := range 16 {
			p := o.Problem(r, 255*element.Numbers, true)
			p.Prepare = func(_ *rand.Rand, a *operations.Arguments) {
				scales, i := element.Block-element.Numbers/2, 0
				for block := range slices.Chunk(a.Memory["x"], element.Block) {
					for j := range block {
						block[j] = byte(17 * (j + round))
						if j < scales {
							block[j] = byte(i + 64*j)
						}
					}
					i++
				}
			}
			o.Try(t, r, p, operations.Padded(r, o))
		}
	})
}

// fp4 are the operations whose slice of that name has codes of E2M1.
func fp4(list []*operations.Operation, name string) []*operations.Operation {
	return slices.DeleteFunc(list, func(o *operations.Operation) bool {
		return !slices.Contains([]*operations.Element{operations.MXFP4, operations.NVFP4}, o.Slice(name).Element)
	})
}
