package kernels_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/internal/operations"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
)

// everyOperation returns the operations of the list.
func everyOperation() []*operations.Operation { return slices.Concat(operations.Registry, private) }

// Every operation on every implementation is its definition, to the last bit: at every
// length up to several vectors and round those of more, at any start, with any strides,
// on ordinary numbers, extremes and any bits.
func TestOperations(t *testing.T) {
	operations.EachOperation(t, operations.Regular(), func(t *testing.T, o *operations.Operation) {
		r := testkit.NewRand(1)
		for n := range testkit.Lengths(134) {
			for range testkit.Rounds(10) {
				o.Try(t, r, o.Problem(r, n, false), operations.Padded(r, o))
			}
		}
		for _, n := range []int{200, 255, 256, 257, 1000} {
			rounds := testkit.Rounds(20)
			if testkit.Bochs {
				rounds = 1
			}
			for range rounds {
				o.Try(t, r, o.Problem(r, n, false), operations.Padded(r, o))
			}
		}
	})
}

// Numbers at and next to all midpoints of numbers of 16 bits are rounded to even, as
// generic does, where an operation leaves them as they are until then.
func TestRounding(t *testing.T) {
	all := hardToRound(testkit.NewRand(4))
	is16 := func(s operations.Slice) bool { return s.Written && s.Element.Size == 2 && s.Element.Set != nil }
	operations.EachOperation(t, operations.Regular(), func(t *testing.T, o *operations.Operation) {
		if !slices.ContainsFunc(o.Slices, is16) {
			return
		}
		r := testkit.NewRand(5)
		const most = 1000
		for values := range slices.Chunk(all, most) {
			p := o.Problem(r, len(values), true)
			for p.Rotation.Tokens > 1 {
				p = o.Problem(r, len(values), true)
			}
			p.InPlace = false
			for name := range p.Number {
				p.Number[name] = 1
			}
			random := p.Prepare
			p.Prepare = func(r *rand.Rand, a *operations.Arguments) {
				if random != nil {
					random(r, a)
				}
				// What is multiplied is 1 or 0, what is added 0.
				for _, s := range o.Slices {
					memory := a.Memory[s.Name]
					for i := range len(memory) / s.Element.Size {
						x := values[i%len(values)]
						switch {
						case o.Geometry == "Rotation" && s.Name == "x":
							x = float32(1 - i%2)
							if o.Layout == "HalfSplit" {
								x = float32(1 - i/len(values)%2)
							}
						case s.Name == "sin":
							x = values[len(values)-1-i%len(values)]
						case s.Written && o.Geometry == "":
							x = 0
						}
						if s.Element.Set != nil {
							s.Element.Set(memory[i*s.Element.Size:], x)
						}
					}
				}
			}
			o.Try(t, r, p, operations.Padded(r, o))
		}
	})
}

// hardToRound returns float32 at and next to all midpoints of numbers of 16 bits,
// the NaNs that a carry would make zeros, and any bits.
func hardToRound(r *rand.Rand) (all []float32) {
	all = append(all, math.Float32frombits(0x7fffffff), math.Float32frombits(0xffffffff))
	for bits := range uint32(1 << 16) {
		if testing.Short() && r.IntN(16) != 0 {
			continue
		}
		for _, f := range []func(uint16) float32{generic.Float16ToFloat32, generic.BFloat16ToFloat32} {
			x, next := f(uint16(bits)), f(uint16(bits)+1)
			midpoint := float32((float64(x) + float64(next)) / 2)
			all = append(all, x, midpoint, math.Nextafter32(midpoint, x), math.Nextafter32(midpoint, next))
		}
		all = append(all, math.Float32frombits(r.Uint32()), math.Float32frombits(testkit.OneOf(r, testkit.Extremes)))
	}
	return all
}

// All numbers of 16 bits are widened as generic does.
func TestWidening(t *testing.T) {
	operations.EachOperation(t, operations.Regular(), func(t *testing.T, o *operations.Operation) {
		if o.Geometry != "" || o.Has("scale") || o.Slices[1].Element.Size != 2 {
			return
		}
		p := o.Problem(testkit.NewRand(6), 1<<16, true)
		p.Prepare = func(_ *rand.Rand, a *operations.Arguments) {
			x := operations.Elements[uint16](a, o.Slices[1].Name)
			for i := range x {
				x[i] = uint16(i)
			}
		}
		r := testkit.NewRand(7)
		o.Try(t, r, p, operations.Padded(r, o))
	})
}

// Nothing to do is done by doing nothing.
func TestNothing(t *testing.T) {
	operations.EachOperation(t, operations.Regular(), func(t *testing.T, o *operations.Operation) {
		r := testkit.NewRand(8)
		for empty := range 3 {
			p := o.Problem(r, 8, false)
			if o.Geometry == "" {
				p = o.Problem(r, 0, false)
			} else if o.Lengths != nil && empty == 0 {
				continue // rows have one of these lengths, and none is 0
			}
			p.Split = func(*operations.Arguments) []*operations.Arguments { return nil }
			p.Lines.Count, p.Fusion.Count, p.Tile.Rows, p.Conversion.Count, p.Affine.Count = 0, 0, 0, 0, 0
			*[]*int{&p.Rotation.Pairs, &p.Rotation.Tokens, &p.Rotation.Heads}[empty] = 0
			*[]*int{&p.Matrices.Rows, &p.Matrices.Columns, &p.Matrices.Rows}[empty] = 0
			o.Try(t, r, p, operations.Padded(r, o))
		}
	})
}
