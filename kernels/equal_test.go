package kernels_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// Every operation on every implementation is its definition, to the last bit: at every
// length up to several vectors and round those of more, at any start, with any strides,
// on ordinary numbers, extremes and any bits.
func TestOperations(t *testing.T) {
	eachOperation(t, regular(), func(t *testing.T, impl kernels.Implementation, o *operation) {
		r := testkit.NewRand(1)
		for n := range 135 {
			for range testkit.Rounds(10) {
				o.try(t, r, impl, o.problem(r, n, false), padded(r, o))
			}
		}
		for _, n := range []int{200, 255, 256, 257, 1000} {
			for range testkit.Rounds(20) {
				o.try(t, r, impl, o.problem(r, n, false), padded(r, o))
			}
		}
	})
}

// Numbers at and next to all midpoints of numbers of 16 bits are rounded to even, as
// generic does, where an operation leaves them as they are until then.
func TestRounding(t *testing.T) {
	all := hardToRound(testkit.NewRand(4))
	is16 := func(s slice) bool { return s.written && s.element.size == 2 && s.element.set != nil }
	eachOperation(t, regular(), func(t *testing.T, impl kernels.Implementation, o *operation) {
		if !slices.ContainsFunc(o.slices, is16) {
			return
		}
		r := testkit.NewRand(5)
		const most = 1000
		for values := range slices.Chunk(all, most) {
			p := o.problem(r, len(values), true)
			for p.rotation.Tokens > 1 {
				p = o.problem(r, len(values), true)
			}
			p.inPlace = false
			for name := range p.number {
				p.number[name] = 1
			}
			random := p.prepare
			p.prepare = func(r *rand.Rand, a *arguments) {
				if random != nil {
					random(r, a)
				}
				// What is multiplied is 1 or 0, what is added 0.
				for _, s := range o.slices {
					memory := a.memory[s.name]
					for i := range len(memory) / s.element.size {
						x := values[i%len(values)]
						switch {
						case o.geometry == "Rotation" && s.name == "x":
							x = float32(1 - i%2)
							if o.layout == "HalfSplit" {
								x = float32(1 - i/len(values)%2)
							}
						case s.name == "sin":
							x = values[len(values)-1-i%len(values)]
						case s.written && o.geometry == "":
							x = 0
						}
						if s.element.set != nil {
							s.element.set(memory[i*s.element.size:], x)
						}
					}
				}
			}
			o.try(t, r, impl, p, padded(r, o))
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
	eachOperation(t, regular(), func(t *testing.T, impl kernels.Implementation, o *operation) {
		if o.geometry != "" || o.has("scale") || o.slices[1].element.size != 2 {
			return
		}
		p := o.problem(testkit.NewRand(6), 1<<16, true)
		p.prepare = func(_ *rand.Rand, a *arguments) {
			x := elements[uint16](a, o.slices[1].name)
			for i := range x {
				x[i] = uint16(i)
			}
		}
		r := testkit.NewRand(7)
		o.try(t, r, impl, p, padded(r, o))
	})
}

// Nothing to do is done by doing nothing.
func TestNothing(t *testing.T) {
	eachOperation(t, regular(), func(t *testing.T, impl kernels.Implementation, o *operation) {
		r := testkit.NewRand(8)
		for empty := range 3 {
			p := o.problem(r, 8, false)
			p.split = func(*arguments) []*arguments { return nil }
			switch {
			case o.geometry == "Rotation":
				if empty == 0 && o.lengths != nil {
					continue // rows have one of these lengths, and none is 0
				}
				*[]*int{&p.rotation.Pairs, &p.rotation.Tokens, &p.rotation.Heads}[empty] = 0
			case o.geometry == "Lines":
				p.lines.Count = 0
			case o.geometry == "Fusion":
				p.fusion.Count = 0
			case o.geometry == "Tile":
				p.tile.Rows = 0
			case o.geometry == "Conversion":
				p.conversion.Count = 0
			case o.geometry == "Matrices":
				*[]*int{&p.matrices.Rows, &p.matrices.Columns, &p.matrices.Rows}[empty] = 0
			default:
				p = o.problem(r, 0, false)
			}
			o.try(t, r, impl, p, padded(r, o))
		}
	})
}
