package kernels_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/exhaustive"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/internal/test/operations"
	"github.com/go-posenc/posenc/kernels"
)

// format is a format of 8 or 16 bits, with a rounding that shares nothing with those under
// test: it searches the numbers of the format.
type format[T uint8 | uint16] struct {
	name    string
	element *operations.Element
	value   []float32  // of all bits
	below   [1 << 18]T // the largest magnitude not above the float32 whose upper bits are the index
	middle  []float32  // between a magnitude and the next one
	nan     T
}

// newFormat fills in the numbers of a format from the value of each. Magnitudes are rounded to
// those up to top, which is where the number beyond would be if it is infinite.
func newFormat[T uint8 | uint16](name string, element *operations.Element, value func(bits int) float32, top, nan T, beyond float64) *format[T] {
	f := &format[T]{name: name, element: element, nan: nan}
	for bits := range int(^T(0)) + 1 {
		f.value = append(f.value, value(bits))
	}
	m := T(0)
	for i := range uint32(0x7f800000>>13 + 1) {
		for m < top && f.value[m+1] <= math.Float32frombits(i<<13) {
			m++
		}
		f.below[i] = m
	}
	for m := T(0); m < top; m++ {
		f.middle = append(f.middle, float32((float64(f.value[m])+min(float64(f.value[m+1]), beyond))/2)) // exact: one bit more than either
	}
	f.middle = append(f.middle, float32(math.NaN())) // nothing becomes more than the top
	return f
}

// newFormats16 makes float16 and bfloat16.
func newFormats16() []*format[uint16] {
	half := func(bits int) float32 { return kit.Widen(posenc.Float16(bits)) }
	brain := func(bits int) float32 { return kit.Widen(posenc.BFloat16(bits)) }
	return []*format[uint16]{
		newFormat[uint16]("float16", operations.F16, half, 0x7c00, 0x7c01, 0x1p16),
		newFormat[uint16]("bfloat16", operations.BF16, brain, 0x7f80, 0x7f81, 0x1p128),
	}
}

// nearest rounds to the nearest number, of two as near to the even one.
func (f *format[T]) nearest(x float32) T {
	word := math.Float32bits(x)
	if x != x {
		return f.nan
	}
	magnitude := math.Float32frombits(word & 0x7fffffff)
	m := f.below[word>>13&0x3ffff]
	if middle := f.middle[m]; magnitude > middle || magnitude == middle && m&1 == 1 {
		m++
	}
	if word>>31 == 1 {
		m |= ^(^T(0) >> 1)
	}
	return m
}

// compare compares numbers of the format.
func (f *format[T]) compare(t *testing.T, got, want []T, name func(i int) string) {
	t.Helper()
	for i, w := range want {
		if g := got[i]; g != w && !f.element.Same(kit.BytesOf(got[i:i+1]), kit.BytesOf(want[i:i+1])) {
			t.Fatalf("%s: got %#x, want %#x", name(i), g, w)
		}
	}
}

// roundAll rounds the float32 of a block to each format by every implementation, and returns
// how many results it compared.
func roundAll[T uint8 | uint16](t *testing.T, block int, formats []*format[T], round func(i int, impl kernels.Implementation, y []T, x []float32)) (count int64) {
	const chunk = 1 << 12
	x, y, want := make([]float32, chunk), make([]T, chunk), make([]T, chunk)
	for first := uint32(0); first < 1<<32/roundedBlocks; first += chunk {
		for i := range x {
			x[i] = math.Float32frombits(uint32(block)*(1<<32/roundedBlocks) + first + uint32(i))
		}
		for number, f := range formats {
			for i, v := range x {
				want[i] = f.nearest(v)
			}
			for _, impl := range dispatch.Supported() {
				round(number, impl, y, x)
				f.compare(t, y, want, func(i int) string { return fmt.Sprintf("%s: %x to %s", impl, x[i], f.name) })
				count += chunk
			}
		}
	}
	return count
}

// roundedBlocks is how many blocks roundAll takes for all float32.
const roundedBlocks = 1 << 14

// runFormats is the leg in which all float32 become the nearest number of each format, and all
// of these the float32 of their value, times each scale.
func runFormats[T uint8 | uint16](t *testing.T, name string, formats []*format[T], scales []float32,
	round func(i int, impl kernels.Implementation, y []T, x []float32), widen func(i int, impl kernels.Implementation, y []float32, x []T, scale float32)) {
	t.Helper()
	kit.RunExhaustive(t, exhaustive.Leg{
		Name:   name,
		Blocks: len(formats) + roundedBlocks,
		Counts: []string{"numbers rounded", "numbers widened"},
		Worker: func(t *testing.T) func(block int, counts []int64) {
			n := len(formats[0].value)
			bits, widened, want := make([]T, n), make([]float32, n), make([]float32, n)
			return func(block int, counts []int64) {
				if block >= len(formats) {
					counts[0] += roundAll(t, block-len(formats), formats, round)
					return
				}
				for _, scale := range scales {
					for i, v := range formats[block].value {
						bits[i], want[i] = T(i), v*scale
					}
					for _, impl := range dispatch.Supported() {
						widen(block, impl, widened, bits, scale)
						kit.CompareExhaustive(t, widened, want, func(i int) string { return fmt.Sprintf("%s: %s %#02x times %x", impl, formats[block].name, i, scale) })
						counts[1] += int64(n)
					}
				}
			}
		},
	})
}

func TestExhaustiveConversions(t *testing.T) {
	exhaustive.SkipUnlessAsked(t)
	narrow := []func(kernels.Implementation, []uint16, []float32){kernels.ConvertF32ToF16, kernels.ConvertF32ToBF16}
	widen := []func(kernels.Implementation, []float32, []uint16){kernels.ConvertF16ToF32, kernels.ConvertBF16ToF32}
	runFormats(t, "float16 and bfloat16 from all float32 and to them", newFormats16(), []float32{1},
		func(i int, impl kernels.Implementation, y []uint16, x []float32) { narrow[i](impl, y, x) },
		func(i int, impl kernels.Implementation, y []float32, x []uint16, _ float32) { widen[i](impl, y, x) })
}

// rotated16 is a row of pairs and what becomes of it, in both layouts: the input
// in float32 and in a format of 16 bits, and the same of the result.
type rotated16 struct {
	format   *format[uint16]
	cos, sin []float32
	x, want  [2][]float32
	bits     [2][]uint16
	wantBits [2][]uint16
	got      []float32
	gotBits  []uint16
}

func newRotated16(n int) *rotated16 {
	p := &rotated16{cos: make([]float32, n), sin: make([]float32, n), got: make([]float32, 2*n), gotBits: make([]uint16, 2*n)}
	for layout := range kit.Layouts {
		p.x[layout], p.want[layout] = make([]float32, 2*n), make([]float32, 2*n)
		p.bits[layout], p.wantBits[layout] = make([]uint16, 2*n), make([]uint16, 2*n)
	}
	return p
}

// set is the plain definition of a rotation of pair i, whose numbers have these bits in the format.
func (p *rotated16) set(i int, x1, x2 float32, xBits1, xBits2 uint16, c, s float32) {
	p.cos[i], p.sin[i] = c, s
	y1, y2 := float32(x1*c)-float32(x2*s), float32(x2*c)+float32(x1*s)
	bits1, bits2 := p.format.nearest(y1), p.format.nearest(y2)
	for j, layout := range kit.Layouts {
		a, b := kit.PairAt(layout, 0, i, len(p.cos))
		p.x[j][a], p.x[j][b], p.want[j][a], p.want[j][b] = x1, x2, y1, y2
		p.bits[j][a], p.bits[j][b], p.wantBits[j][a], p.wantBits[j][b] = xBits1, xBits2, bits1, bits2
	}
}

// check runs the kernels that write the format (with narrow, read it too) or float32, and
// returns how many pairs they rotated.
func (p *rotated16) check(t *testing.T, narrow bool) (count int64) {
	t.Helper()
	n := len(p.cos)
	for _, o := range rotations() {
		y, x := o.Slice("y").Element, o.Slice("x").Element
		switch {
		case y != operations.F32 && y != p.format.element, x != operations.F32 && x != p.format.element, (y == x || x != operations.F32) && !narrow:
			continue
		}
		j, layout := 0, posenc.HalfSplit
		if o.Layout == "Interleaved" {
			j, layout = 1, posenc.Interleaved
		}
		a := operations.Arguments{Rotation: kernels.Rotation{Pairs: n, Partner: n, Tokens: 1, Heads: 1}, Memory: map[string][]byte{
			"y": kit.BytesOf(p.got), "x": kit.BytesOf(p.x[j]), "cos": kit.BytesOf(p.cos), "sin": kit.BytesOf(p.sin),
		}}
		if x != operations.F32 {
			a.Memory["x"] = kit.BytesOf(p.bits[j])
		}
		if y != operations.F32 {
			a.Memory["y"] = kit.BytesOf(p.gotBits)
		}
		for _, impl := range dispatch.Supported() {
			at := func(i int) string {
				pair := i % n
				if layout == posenc.Interleaved {
					pair = i / 2
				}
				a, b := kit.PairAt(layout, 0, pair, n)
				return fmt.Sprintf("%s on %s: element %d of the pair %x, %x by cos %x, sin %x", o.Name, impl, min(1, i-a), p.x[j][a], p.x[j][b], p.cos[pair], p.sin[pair])
			}
			o.Call(impl, &a)
			if y == operations.F32 {
				kit.CompareExhaustive(t, p.got, p.want[j], at)
			} else {
				p.format.compare(t, p.gotBits, p.wantBits[j], at)
			}
			count += int64(n)
		}
	}
	return count
}

// rotations are the operations that rotate pairs.
func rotations() []*operations.Operation {
	return slices.DeleteFunc(slices.Clone(everyOperation()), func(o *operations.Operation) bool { return o.Geometry != "Rotation" })
}

// All float16 and bfloat16 in both places of a pair, by several angles, with
// several numbers in the other place. Kernels that read float32 get the same
// numbers.
func TestExhaustiveRotations(t *testing.T) {
	exhaustive.SkipUnlessAsked(t)
	const partners = 64
	formats := newFormats16()
	var angles [][2]float32 // their cosine and sine
	for _, angle := range []float32{0, 1, 2, 3, 4.5, 6, 100, 1e-3, 1e-10, -1, -2.5, 0x1p-130} {
		cos, sin, _ := exhaustive.CosSin(angle)
		angles = append(angles, [2]float32{cos, sin})
	}
	cos, sin, _ := exhaustive.CosSin(7)
	const yarn = 1.3688879 // the attention factor of a factor of 40
	angles = append(angles, [2]float32{0, 1}, [2]float32{yarn * cos, yarn * sin}, [2]float32{0x1p-100, -0x1p-140}, [2]float32{math.MaxFloat32, 0x1p127})
	kit.RunExhaustive(t, exhaustive.Leg{
		Name:   fmt.Sprintf("rotations of all float16 and bfloat16 by %d angles with %d partners", len(angles), partners),
		Blocks: len(formats) * len(angles) * partners,
		Counts: []string{"pairs rotated"},
		Worker: func(t *testing.T) func(block int, counts []int64) {
			p := newRotated16(1 << 16)
			return func(block int, counts []int64) {
				p.format = formats[block%len(formats)]
				angle := angles[block/len(formats)%len(angles)]
				partner := [1]uint16{}
				if k := block / len(formats) / len(angles); k < len(kit.Extremes16) {
					partner[0] = uint16(kit.Extremes16[k])
				} else {
					p.format.element.Fill(kit.NewRand(uint64(k)), kit.BytesOf(partner[:]))
				}
				for place := range 2 {
					for i := range 1 << 16 {
						pair := [2]uint16{partner[0], partner[0]}
						pair[place] = uint16(i)
						p.set(i, p.format.value[pair[0]], p.format.value[pair[1]], pair[0], pair[1], angle[0], angle[1])
					}
					counts[0] += p.check(t, true)
				}
			}
		},
	})
}

// All float32 in both places of a pair, rotated by nothing to 16 bits: in pairs
// of a number and its opposite.
func TestExhaustiveRotationsFloat32(t *testing.T) {
	exhaustive.SkipUnlessAsked(t)
	const pairs, blocks = 1 << 12, 1 << 13
	formats := newFormats16()
	kit.RunExhaustive(t, exhaustive.Leg{
		Name:   "rotations of all float32 to float16 and bfloat16",
		Blocks: blocks,
		Counts: []string{"pairs rotated"},
		Worker: func(t *testing.T) func(block int, counts []int64) {
			p := newRotated16(pairs)
			return func(block int, counts []int64) {
				for first := uint32(0); first < 1<<31/blocks; first += pairs {
					for _, p.format = range formats {
						for i := range uint32(pairs) {
							x := math.Float32frombits(uint32(block)*(1<<31/blocks) + first + i)
							if i%2 == 1 {
								x = -x
							}
							p.set(int(i), x, -x, 0, 0, 1, 0) // no kernel reads the bits
						}
						counts[0] += p.check(t, false)
					}
				}
			}
		},
	})
}

// newFormats8 makes E4M3, without an infinity, and E5M2, with one.
func newFormats8() []*format[uint8] {
	value := func(mantissa, bias, largest int, beyond float64) func(code int) float32 {
		return func(code int) float32 {
			sign, code := float64(1-code>>7*2), code&0x7f
			exponent, significand := code>>mantissa, code&(1<<mantissa-1)
			if exponent > 0 {
				significand += 1 << mantissa
			}
			switch {
			case code == largest+1:
				return float32(sign * beyond)
			case code > largest:
				return float32(math.NaN())
			}
			return float32(sign * math.Ldexp(float64(significand), max(exponent, 1)-bias-mantissa))
		}
	}
	return []*format[uint8]{
		newFormat[uint8]("E4M3", operations.E4M3, value(3, 7, 0x7e, math.NaN()), 0x7e, 0x7f, math.Inf(1)),
		newFormat[uint8]("E5M2", operations.E5M2, value(2, 15, 0x7b, math.Inf(1)), 0x7b, 0x7f, math.Inf(1)),
	}
}

func TestExhaustive8Bits(t *testing.T) {
	exhaustive.SkipUnlessAsked(t)
	quantize := []func(kernels.Implementation, []uint8, []float32, *kernels.Conversion, float32){kernels.QuantizeF32ToE4M3, kernels.QuantizeF32ToE5M2}
	dequantize := []func(kernels.Implementation, []float32, []uint8, []float32, *kernels.Conversion){kernels.DequantizeE4M3ToF32, kernels.DequantizeE5M2ToF32}
	scales := make([]float32, 1000)
	for i, r := 0, kit.NewRand(8); i < len(scales); i++ {
		scales[i] = math.Float32frombits(r.Uint32())
		if i < len(kit.Extremes) {
			scales[i] = math.Float32frombits(kit.Extremes[i])
		}
	}
	runFormats(t, "E4M3 and E5M2 from all float32 and to them", newFormats8(), scales, func(i int, impl kernels.Implementation, y []uint8, x []float32) {
		quantize[i](impl, y, x, &kernels.Conversion{Len: len(x), Count: 1}, 1)
	}, func(i int, impl kernels.Implementation, y []float32, x []uint8, scale float32) {
		dequantize[i](impl, y, x, []float32{scale}, &kernels.Conversion{Len: len(x), Count: 1})
	})
}

// Quotients of all float32 by all scales of rows are rounded as the correctly rounded
// quotient is.
//
// Kernels correct a product by the inverse of the scale once. What that gives is less than
// a unit in the last place from the quotient, so that it may be rounded to another code
// only where the quotient is next to a midpoint of two codes: the rows have the float32
// next to all midpoints times the scale. Powers of two change nothing, since neither
// the product nor the remainder is subnormal there: the rows have the largest magnitudes
// from 1 to 2, and of the midpoints of E4M3 the subnormal ones and those of one exponent.
func TestExhaustiveQuotients(t *testing.T) {
	exhaustive.SkipUnlessAsked(t)
	const significands, perBlock, rows = 1 << 13, 1 << 10, 4
	kit.RunExhaustive(t, exhaustive.Leg{
		Name:   "quotients next to midpoints of int8 and of E4M3, for all significands of the largest magnitude",
		Blocks: significands + 1,
		Counts: []string{"quotients"},
		Worker: func(t *testing.T) func(block int, counts []int64) {
			var scales, wantScales [rows]float32
			check := func(o *operations.Operation, first uint32) int64 {
				var x []float32
				for row := range uint32(rows) {
					x = append(x, midpointRow(o, math.Float32frombits(first+row))...)
				}
				y, want, length := make([]uint8, len(x)), make([]uint8, len(x)), len(x)/rows
				v := kernels.Conversion{Len: length, Count: rows, YStride: length, XStride: length, ScaleStride: 1}
				call := func(impl kernels.Implementation, y []uint8, scales []float32) {
					o.Call(impl, &operations.Arguments{Conversion: v, Memory: map[string][]byte{"y": y, "scales": kit.BytesOf(scales), "x": kit.BytesOf(x)}, Number: map[string]float64{"leastScale": 0x1p-126}})
				}
				call(kernels.Generic, want, wantScales[:])
				for _, impl := range dispatch.Supported() {
					if impl == kernels.Generic {
						continue
					}
					call(impl, y, scales[:])
					if scales != wantScales {
						t.Fatalf("%s on %s: scales %x, want %x", o.Name, impl, scales, wantScales)
					}
					for i, w := range want {
						if y[i] != w {
							t.Fatalf("%s on %s: %x/%x: got %#02x, want %#02x", o.Name, impl, x[i], scales[i/length], y[i], w)
						}
					}
				}
				return int64(len(x))
			}
			return func(block int, counts []int64) {
				for i := uint32(0); i < perBlock; i += rows {
					first := uint32(0) // of next to no magnitude the scale is the least one
					if block < significands {
						first = math.Float32bits(1) + uint32(block*perBlock) + i
					}
					for _, o := range rowConversions8() {
						counts[0] += check(o, first)
					}
				}
			}
		},
	})
}

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
	kit.RunExhaustive(t, exhaustive.Leg{
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
						j.tryOn(t, kit.NewRand(uint64(number*misalignments+m)), b.n, g, b.impl)
						counts[1]++
					}
				}
				counts[0]++
			}
		},
	})
}
