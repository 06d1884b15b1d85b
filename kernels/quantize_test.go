package kernels_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/internal/test/operations"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/kernels"
)

// quantizations are the operations that write float32 as numbers of 8 bits or fewer.
func quantizations() []*operations.Operation {
	return slices.DeleteFunc(operations.Regular(), func(o *operations.Operation) bool {
		return o.Geometry != "Conversion" || o.Slice("x").Element != operations.F32
	})
}

// conversions8 are those that write 8 bits.
func conversions8() []*operations.Operation {
	return slices.DeleteFunc(quantizations(), func(o *operations.Operation) bool {
		y := o.Slice("y").Element
		return y.Block > 0 && y != operations.Q8
	})
}

// rowConversions8 are those that find a scale of their own for each vector.
func rowConversions8() []*operations.Operation {
	return slices.DeleteFunc(conversions8(), func(o *operations.Operation) bool { return !o.Has("scales") })
}

// Vectors of every magnitude are quantized as the definition says: of the largest and the
// smallest a scale or its inverse is infinite, subnormal or 0.
func TestMagnitudes(t *testing.T) {
	operations.EachOperation(t, quantizations(), func(t *testing.T, o *operations.Operation) {
		r := kit.NewRand(11)
		for range kit.Rounds(10) {
			for exponent := -148; exponent <= 128; {
				p := o.Problem(r, 95, true)
				p.Prepare = func(r *rand.Rand, a *operations.Arguments) {
					x := operations.Elements[float32](a, "x")
					for i := range x {
						x[i] = float32(math.Ldexp(2*r.Float64()-1, exponent+i/p.Conversion.XStride))
					}
				}
				o.Try(t, r, p, operations.Padded(r, o))
				exponent += p.Conversion.Count
			}
		}
	})
}

// Of eight heads that are rotated and quantized together, each finds its largest magnitude
// wherever it is.
func TestLargestOfHeads(t *testing.T) {
	rotating := slices.DeleteFunc(rotations(), func(o *operations.Operation) bool { return o.Lengths == nil })
	operations.EachOperation(t, rotating, func(t *testing.T, o *operations.Operation) {
		r := kit.NewRand(14)
		for length, pairs := range o.Lengths {
			p, placed := o.Problem(r, length, false), map[string][2][]byte{}
			for p.Rotation.Heads != 8 || p.Rotation.Tokens != 1 {
				p = o.Problem(r, length, false)
			}
			once := func(s *operations.Slice, n int) (all, part []byte) {
				if _, ok := placed[s.Name]; !ok {
					all, part = operations.Padded(r, o)(s, n)
					placed[s.Name] = [2][]byte{all, part}
				}
				return placed[s.Name][0], placed[s.Name][1]
			}
			for at := range 2 * pairs {
				p.Prepare = func(r *rand.Rand, a *operations.Arguments) {
					for name, value := range map[string]float32{"cos": 1, "sin": 0} {
						row := operations.Elements[float32](a, name)
						for i := range row {
							row[i] = value
						}
					}
					x := operations.Elements[float32](a, "x")
					for i := range x {
						x[i] = float32(math.Round(64*r.NormFloat64()) / 64) // of a block of such numbers the scale is no tie of float16
					}
					for head := range 8 {
						x[head*p.Rotation.XHeadStride+at] = 10 + float32(r.IntN(64))/64
					}
				}
				o.Try(t, r, p, once)
			}
		}
	})
}

// Quotients next to the midpoints of two results are rounded as the correctly rounded
// quotient is.
func TestQuotients(t *testing.T) {
	operations.EachOperation(t, rowConversions8(), func(t *testing.T, o *operations.Operation) {
		r := kit.NewRand(12)
		for range kit.Rounds(300) {
			n := len(midpointRow(o, 1))
			p := o.Problem(r, n, true)
			p.Prepare = func(r *rand.Rand, a *operations.Arguments) {
				for row := range slices.Chunk(operations.Elements[float32](a, "x"), n) {
					copy(row, midpointRow(o, 1+r.Float32()))
				}
			}
			o.Try(t, r, p, operations.Padded(r, o))
		}
	})
}

// Groups are quantized by a rule next to midpoints of codes down to scales of 2^-126, where what a product by the inverse
// of the scale is too large by is subnormal.
func TestSmallScales(t *testing.T) {
	ruled := slices.DeleteFunc(rowConversions8(), func(o *operations.Operation) bool { return !slices.Contains(o.Numbers, "leastScale") })
	operations.EachOperation(t, ruled, func(t *testing.T, o *operations.Operation) {
		r := kit.NewRand(15)
		for exponent := range kit.Rounds(120) {
			n := len(midpointRow(o, 1))
			p := o.Problem(r, n, true)
			p.Number = map[string]float64{"leastScale": 0x1p-126, "fraction": float64(r.IntN(2) * (1<<23 - 1))}
			p.Prepare = func(r *rand.Rand, a *operations.Arguments) {
				for row := range slices.Chunk(operations.Elements[float32](a, "x"), n) {
					copy(row, midpointRow(o, 1+r.Float32()))
					for i := range row {
						row[i] *= float32(math.Ldexp(1, -exponent))
					}
				}
			}
			o.Try(t, r, p, operations.Padded(r, o))
		}
	})
}

// midpointRow returns a row of which amax is the largest magnitude: it has all float32 up to 2
// from each midpoint times its scale. Of E4M3 it has those of subnormal numbers and of one
// exponent, since the others are powers of two times these.
func midpointRow(o *operations.Operation, amax float32) []float32 {
	row, list := []float32{amax}, midpointsOf(o)
	if o.Slice("y").Element == operations.E4M3 {
		list = list[:16]
	}
	for _, m := range list {
		nearest := math.Float32bits(m * max(amax/mostOf(o), generic.LeastScale))
		for i := range uint32(5) {
			row = append(row, math.Float32frombits(nearest-2+i))
		}
	}
	return row
}

// mostOf returns the number that the largest of a row or block becomes, or infinity where
// the operation finds no scale.
func mostOf(o *operations.Operation) float32 {
	switch {
	case o.Has("scale"):
		return float32(math.Inf(1))
	case o.Slice("y").Element == operations.E4M3:
		return 448
	default:
		return 127
	}
}

// Numbers at and next to all midpoints of numbers of 8 bits are rounded as generic does,
// by operations that multiply and divide by 1.
func TestRounding8(t *testing.T) {
	operations.EachOperation(t, conversions8(), func(t *testing.T, o *operations.Operation) {
		r := kit.NewRand(10)
		most := mostOf(o)
		var all []float32
		for upper := range uint32(1 << 16) { // the midpoints have no lower half
			for _, lower := range []uint32{0, 1, 0xffff} {
				x := math.Float32frombits(upper<<16 | lower)
				if o.Has("scale") || x >= -most && x <= most {
					all = append(all, x)
				}
			}
		}
		const length = 32*31 + 21 // numbers of Q8_0 are a multiple of 32
		for values := range slices.Chunk(all, length-32) {
			p := o.Problem(r, length, true)
			for p.Conversion.Count > 1 {
				p = o.Problem(r, length, true)
			}
			p.Number["scale"] = 1
			p.Prepare = func(_ *rand.Rand, a *operations.Arguments) {
				x := operations.Elements[float32](a, "x")
				clear(x)
				copied := 0
				for i := range x {
					switch {
					case i%generic.Block == 0 && !o.Has("scale"):
						x[i] = most
					case copied < len(values):
						x[i] = values[copied]
						copied++
					}
				}
				if copied < len(values) {
					t.Fatalf("%d of %d numbers tried", copied, len(values))
				}
			}
			o.Try(t, r, p, operations.Padded(r, o))
		}
	})
}

// All numbers of 8 bits are widened as generic does, and multiplied by scales up to the
// largest.
func TestWidening8(t *testing.T) {
	narrow := slices.DeleteFunc(operations.Regular(), func(o *operations.Operation) bool {
		return o.Geometry != "Conversion" || o.Slice("x").Element == operations.F32 || !o.Has("scales")
	})
	operations.EachOperation(t, narrow, func(t *testing.T, o *operations.Operation) {
		r := kit.NewRand(13)
		for exponent := -150; exponent <= 128; exponent++ {
			scale := float32(math.Ldexp(2-r.Float64(), exponent-1))
			p := o.Problem(r, 256, true)
			p.Prepare = func(_ *rand.Rand, a *operations.Arguments) {
				for i := range a.Memory["x"] {
					a.Memory["x"][i] = byte(i)
				}
				scales := operations.Elements[float32](a, "scales")
				for i := range scales {
					scales[i] = scale
				}
			}
			o.Try(t, r, p, operations.Padded(r, o))
		}
	})
}

// Quotients are rounded to float32 before they are rounded to numbers of 8 bits: those
// are tried that are nearest to where it makes a difference, beside midpoints.
func TestHardQuotients(t *testing.T) {
	operations.EachOperation(t, rowConversions8(), func(t *testing.T, o *operations.Operation) {
		r, most, tried := kit.NewRand(11), mostOf(o), 0
		for _, q := range hardQuotients(o) {
			largest, ok := dividend(most, q.scale)
			if !ok {
				continue
			}
			tried++
			p := o.Problem(r, 21, true) // a number in every part of a row
			p.Prepare = func(r *rand.Rand, a *operations.Arguments) {
				x := operations.Elements[float32](a, "x")
				for i := range x {
					x[i] = math.Float32frombits(math.Float32bits(q.x) ^ r.Uint32()&(1<<31))
					if i%p.Conversion.XStride == 0 {
						x[i] = -largest
					}
				}
			}
			o.Try(t, r, p, operations.Padded(r, o))
		}
		if tried < 1000 {
			t.Errorf("only %d quotients tried", tried)
		}
	})
}

// The scale of a row with a NaN is the NaN of the definition, for any NaN in the row.
func TestScaleOfNaN(t *testing.T) {
	kit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, bits := range []uint32{0x7fc00000, 0xffc00000, 0x7fc12345, 0xffffffff, 0x7f800001, 0xffa5a5a5} {
			for at := range 21 {
				var x [21]float32
				x[at] = math.Float32frombits(bits)
				var y, z [21]uint8
				var scales [4]float32
				v := &kernels.Conversion{Len: len(x), Count: 1}
				kernels.QuantizeRowF32ToI8(impl, y[:], scales[:1], x[:], v)
				kernels.QuantizeRowF32ToE4M3(impl, z[:], scales[1:], x[:], v)
				kernels.QuantizeGroupF32ToE4M3(impl, z[:], scales[2:], x[:], v, 1, 1, 0)
				kernels.QuantizeGroupF32ToE4M3(impl, z[:], scales[3:], x[:], v, 1, 1, 1<<23-1)
				for _, scale := range scales {
					if got := math.Float32bits(scale); got != 0x7fc00000 {
						t.Fatalf("a row with %#x has the scale %#x", bits, got)
					}
				}
			}
		}
	})
}

// quotient is x/scale.
type quotient struct{ x, scale float32 }

// hardQuotients returns the quotients of float32 that are nearest to numbers half-way
// between a midpoint of numbers of 8 bits and the float32 next to it. With integers X and
// S of 24 bits and M of 25, X/S differs from M/2^k by j/(S*2^k), where S*M is -j modulo 2^k.
func hardQuotients(o *operations.Operation) (list []quotient) {
	for _, midpoint := range midpointsOf(o) {
		for _, toward := range []float32{0, 1000} {
			boundary := (float64(midpoint) + float64(math.Nextafter32(midpoint, toward))) / 2
			fraction, exponent := math.Frexp(boundary)
			m := uint64(fraction * (1 << 25))
			inverse := m // modulo 2^3, m being odd
			for range 4 {
				inverse *= 2 - m*inverse
			}
			for j := int64(-8); j <= 8; j++ {
				for k := 24; k <= 25; k++ {
					s := uint64(-j) * inverse & (1<<k - 1)
					x := (s*m + uint64(j)) >> k
					if s>>23 == 1 && x>>23 == 1 {
						list = append(list, quotient{float32(math.Ldexp(float64(x), exponent-25+k-30)), float32(math.Ldexp(float64(s), -30))})
					}
				}
			}
		}
	}
	return list
}

// midpointsOf returns those of the numbers of the type that an operation writes.
func midpointsOf(o *operations.Operation) (list []float32) {
	if o.Slice("y").Element == operations.I8 {
		for i := range 127 {
			list = append(list, float32(i)+0.5)
		}
		return list
	}
	for code := range uint8(0x7e) {
		list = append(list, (generic.E4M3ToFloat32(code)+generic.E4M3ToFloat32(code+1))/2)
	}
	return list
}

// dividend returns a number that becomes scale when it is divided by most. Some scales
// are no quotients.
func dividend(most, scale float32) (float32, bool) {
	x := most * scale
	for _, y := range []float32{x, math.Nextafter32(x, 0), math.Nextafter32(x, math.MaxFloat32)} {
		if y/most == scale {
			return y, true
		}
	}
	return 0, false
}
