package kernels_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/internal/operations"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/exhaustive"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// format8 is a format of 8 bits of the OCP, with a rounding that shares nothing with
// those under test: it searches the numbers of the format.
type format8 struct {
	name       string
	largest    uint8          // code of the largest number
	value      [256]float32   // of all codes
	below      [1 << 18]uint8 // the largest magnitude not above the float32 whose upper bits are the index
	middle     [128]float32   // between a magnitude and the next one
	quantize   func(impl kernels.Implementation, y []uint8, x []float32, v *kernels.Conversion, scale float32)
	dequantize func(impl kernels.Implementation, y []float32, x []uint8, scales []float32, v *kernels.Conversion)
}

// newFormats8 makes both formats: E4M3 without an infinity, E5M2 with one.
func newFormats8() []*format8 {
	return []*format8{
		newFormat8(format8{name: "E4M3", largest: 0x7e, quantize: kernels.QuantizeF32ToE4M3, dequantize: kernels.DequantizeE4M3ToF32}, 3, 7),
		newFormat8(format8{name: "E5M2", largest: 0x7b, quantize: kernels.QuantizeF32ToE5M2, dequantize: kernels.DequantizeE5M2ToF32}, 2, 15),
	}
}

// newFormat8 fills in the numbers of a format with the given bits of a mantissa and the
// given bias of the exponent.
func newFormat8(f format8, mantissa, bias int) *format8 {
	for code := range 128 {
		exponent, significand := code>>mantissa, code&(1<<mantissa-1)
		if exponent > 0 {
			significand += 1 << mantissa
		}
		value := math.Ldexp(float64(significand), max(exponent, 1)-bias-mantissa)
		switch {
		case code == int(f.largest)+1 && f.largest == 0x7b:
			value = math.Inf(1)
		case code > int(f.largest):
			value = math.NaN()
		}
		f.value[code], f.value[code|0x80] = float32(value), float32(-value)
	}
	m := uint8(0)
	for i := range uint32(0x7f800000>>13 + 1) {
		for m < f.largest && f.value[m+1] <= math.Float32frombits(i<<13) {
			m++
		}
		f.below[i] = m
	}
	for m := range f.largest {
		f.middle[m] = (f.value[m] + f.value[m+1]) / 2 // exact: one bit more than either
	}
	f.middle[f.largest] = float32(math.NaN()) // nothing becomes more than the largest
	return &f
}

// nearest rounds to the nearest number, of two as near to the even one.
func (f *format8) nearest(x float32) uint8 {
	word := math.Float32bits(x)
	sign, magnitude := uint8(word>>24&0x80), math.Float32frombits(word&0x7fffffff)
	if x != x {
		return 0x7f
	}
	m := f.below[word>>13&0x3ffff]
	if middle := f.middle[m]; magnitude > middle || magnitude == middle && m&1 == 1 {
		m++
	}
	return sign | m
}

// All float32 become the nearest number of 8 bits, and all of these the float32 of their
// value, times several scales.
func TestExhaustive8Bits(t *testing.T) {
	exhaustive.SkipUnlessAsked(t)
	const chunk, blockSize, blocks = 1 << 12, 1 << 18, 1 << 14
	formats := newFormats8()
	testkit.RunExhaustive(t, exhaustive.Leg{
		Name:   "E4M3 and E5M2 from all float32 and to them",
		Blocks: len(formats) + blocks,
		Counts: []string{"numbers rounded", "numbers widened"},
		Worker: func(t *testing.T) func(block int, counts []int64) {
			x, y, want := make([]float32, chunk), make([]uint8, chunk), make([]uint8, chunk)
			codes, widened, wantWidened := make([]uint8, 256), make([]float32, 256), make([]float32, 256)
			scales := slices.Clone(testkit.Extremes)
			for r := testkit.NewRand(8); len(scales) < 1000; {
				scales = append(scales, r.Uint32())
			}
			return func(block int, counts []int64) {
				if block < len(formats) {
					f := formats[block]
					for _, scale := range scales {
						scale := math.Float32frombits(scale)
						for i := range codes {
							codes[i] = uint8(i)
							wantWidened[i] = f.value[i] * scale
						}
						for _, impl := range dispatch.Supported() {
							f.dequantize(impl, widened, codes, []float32{scale}, &kernels.Conversion{Len: len(codes), Count: 1})
							testkit.CompareExhaustive(t, widened, wantWidened, func(i int) string { return fmt.Sprintf("%s: %s %#02x times %x", impl, f.name, i, scale) })
							counts[1] += int64(len(codes))
						}
					}
					return
				}
				for first := uint32(0); first < blockSize; first += chunk {
					for i := range x {
						x[i] = math.Float32frombits(uint32(block-len(formats))*blockSize + first + uint32(i))
					}
					for _, f := range formats {
						for i, v := range x {
							want[i] = f.nearest(v)
						}
						for _, impl := range dispatch.Supported() {
							f.quantize(impl, y, x, &kernels.Conversion{Len: chunk, Count: 1}, 1)
							for i, w := range want {
								if y[i] != w {
									t.Fatalf("%s: %x to %s: got %#02x, want %#02x", impl, x[i], f.name, y[i], w)
								}
							}
							counts[0] += chunk
						}
					}
				}
			}
		},
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
	const significands, perBlock, rows, reach = 1 << 13, 1 << 10, 4, 2
	all := midpointsOfRows()
	testkit.RunExhaustive(t, exhaustive.Leg{
		Name:   "quotients next to midpoints of int8 and of E4M3, for all significands of the largest magnitude",
		Blocks: significands + 1,
		Counts: []string{"quotients"},
		Worker: func(t *testing.T) func(block int, counts []int64) {
			x, y, want := []float32{}, []uint8{}, []uint8{}
			var scales, wantScales [rows]float32
			check := func(name string, first uint32, m midpoints, call func(impl kernels.Implementation, y []uint8, scales, x []float32, v *kernels.Conversion)) int64 {
				v := kernels.Conversion{Len: m.length(reach), Count: rows, YStride: m.length(reach), XStride: m.length(reach), ScaleStride: 1}
				n := rows * v.Len
				x, y, want = slices.Grow(x[:0], n)[:n], slices.Grow(y[:0], n)[:n], slices.Grow(want[:0], n)[:n]
				for row := range rows {
					m.fill(x[row*v.Len:][:v.Len], math.Float32frombits(first+uint32(row)), reach)
				}
				call(kernels.Generic, want, wantScales[:], x, &v)
				for _, impl := range dispatch.Supported() {
					if impl == kernels.Generic {
						continue
					}
					call(impl, y, scales[:], x, &v)
					if scales != wantScales {
						t.Fatalf("%s: scales %x of %s, want %x", impl, scales, name, wantScales)
					}
					if !bytes.Equal(y, want) {
						i := 0
						for y[i] == want[i] {
							i++
						}
						t.Fatalf("%s: %x/%x to %s: got %#02x, want %#02x", impl, x[i], scales[i/v.Len], name, y[i], want[i])
					}
				}
				return int64(n)
			}
			return func(block int, counts []int64) {
				for i := uint32(0); i < perBlock; i += rows {
					first := uint32(0) // of next to no magnitude the scale is the least one
					if block < significands {
						first = math.Float32bits(1) + uint32(block*perBlock) + i
					}
					counts[0] += check("int8", first, all[operations.I8], func(impl kernels.Implementation, y []uint8, scales, x []float32, v *kernels.Conversion) {
						kernels.QuantizeRowF32ToI8(impl, operations.Elements[int8](&operations.Arguments{Memory: map[string][]byte{"": y}}, ""), scales, x, v)
					})
					counts[0] += check("E4M3", first, all[operations.E4M3], kernels.QuantizeRowF32ToE4M3)
				}
			}
		},
	})
}
