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

// conversions8 are the operations that write float32 as numbers of 8 bits.
func conversions8() []*operation {
	return slices.DeleteFunc(regular(), func(o *operation) bool {
		return o.geometry != "Conversion" || o.slice("x").element != f32
	})
}

// Vectors of every magnitude are quantized as the definition says: of the largest and the
// smallest a scale or its inverse is infinite, subnormal or 0.
func TestMagnitudes(t *testing.T) {
	const n, count = 96, 128 + 149
	eachOperation(t, conversions8(), func(t *testing.T, impl kernels.Implementation, o *operation) {
		r := testkit.NewRand(11)
		for range testkit.Rounds(10) {
			p := o.vectors(r, n, count)
			p.prepare = func(r *rand.Rand, a *arguments) {
				x := elements[float32](a, "x")
				for i := range x {
					x[i] = float32(math.Ldexp(2*r.Float64()-1, i/n-148))
				}
			}
			o.try(t, r, impl, p, padded(r, o))
		}
	})
}

// Quotients next to the midpoints of two results are rounded as the correctly rounded
// quotient is.
func TestQuotients(t *testing.T) {
	const count, reach = 9, 2
	midpoints := midpointsOfRows()
	rows := slices.DeleteFunc(conversions8(), func(o *operation) bool { return !o.has("scales") })
	eachOperation(t, rows, func(t *testing.T, impl kernels.Implementation, o *operation) {
		r := testkit.NewRand(12)
		m := midpoints[o.slice("y").element]
		for range testkit.Rounds(100) {
			n := m.length(reach)
			p := o.vectors(r, n, count)
			p.prepare = func(r *rand.Rand, a *arguments) {
				for row := range slices.Chunk(elements[float32](a, "x"), n) {
					m.fill(row, 1+r.Float32(), reach)
				}
			}
			o.try(t, r, impl, p, padded(r, o))
		}
	})
}

// vectors is a call of so many vectors of n numbers, one behind the other.
func (o *operation) vectors(r *rand.Rand, n, count int) *problem {
	p := o.problem(r, n, true)
	for p.conversion.Count != 1 {
		p = o.problem(r, n, true)
	}
	c, one, length := &p.conversion, p.split, map[string]int{}
	for name, size := range p.size {
		length[name] = size
		p.size[name] = count * size
	}
	c.YStride, c.XStride = length["y"], length["x"]
	p.split = func(a *arguments) (list []*arguments) {
		for i := range count {
			row := *a
			row.memory = clone(a.memory)
			for name, size := range length {
				o.cut(&row, a, name, name, i*size, size)
			}
			list = append(list, one(&row)...)
		}
		return list
	}
	c.Count = count
	return p
}

// midpoints are those of two neighbouring results of rows whose scale is 1, and largest
// the largest result.
type midpoints struct {
	largest float32
	list    []float64
}

// midpointsOfRows returns those of int8, and of E4M3 the subnormal ones and those of one
// exponent: the others are powers of two times these.
func midpointsOfRows() map[*element]midpoints {
	integers, numbers := midpoints{largest: 127}, midpoints{largest: 448}
	for k := range 127 {
		integers.list = append(integers.list, float64(k)+0.5)
	}
	for k := range 16 {
		numbers.list = append(numbers.list, math.Ldexp(float64(k)+0.5, -9))
	}
	return map[*element]midpoints{i8: integers, e4m3: numbers}
}

// length is the numbers of a row that has all float32 up to reach from each midpoint times
// its scale.
func (m midpoints) length(reach int) int { return 1 + len(m.list)*(2*reach+1) }

// fill makes such a row, of which amax is the largest magnitude. Of none the scale is the
// least one.
func (m midpoints) fill(row []float32, amax float32, reach int) {
	row[0] = amax
	scale := max(amax/m.largest, generic.LeastScale)
	for i := range row[1:] {
		nearest := float32(m.list[i/(2*reach+1)] * float64(scale))
		row[1+i] = math.Float32frombits(math.Float32bits(nearest) + uint32(i%(2*reach+1)-reach))
	}
}
