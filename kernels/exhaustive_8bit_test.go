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

// All float32 become the nearest number of 8 bits, and all of these the float32 of their
// value, times several scales.
func TestExhaustive8Bits(t *testing.T) {
	exhaustive.SkipUnlessAsked(t)
	formats := newFormats8()
	quantize := []func(kernels.Implementation, []uint8, []float32, *kernels.Conversion, float32){kernels.QuantizeF32ToE4M3, kernels.QuantizeF32ToE5M2}
	dequantize := []func(kernels.Implementation, []float32, []uint8, []float32, *kernels.Conversion){kernels.DequantizeE4M3ToF32, kernels.DequantizeE5M2ToF32}
	scales := slices.Clone(testkit.Extremes)
	for r := testkit.NewRand(8); len(scales) < 1000; {
		scales = append(scales, r.Uint32())
	}
	testkit.RunExhaustive(t, exhaustive.Leg{
		Name:   "E4M3 and E5M2 from all float32 and to them",
		Blocks: len(formats) + roundedBlocks,
		Counts: []string{"numbers rounded", "numbers widened"},
		Worker: func(t *testing.T) func(block int, counts []int64) {
			codes, widened, want := make([]uint8, 256), make([]float32, 256), make([]float32, 256)
			return func(block int, counts []int64) {
				if block >= len(formats) {
					counts[0] += roundAll(t, block-len(formats), formats, func(f *format[uint8], impl kernels.Implementation, y []uint8, x []float32) {
						quantize[slices.Index(formats, f)](impl, y, x, &kernels.Conversion{Len: len(x), Count: 1}, 1)
					})
					return
				}
				f := formats[block]
				for _, scale := range scales {
					scale := math.Float32frombits(scale)
					for i := range codes {
						codes[i] = uint8(i)
						want[i] = f.value[i] * scale
					}
					for _, impl := range dispatch.Supported() {
						dequantize[block](impl, widened, codes, []float32{scale}, &kernels.Conversion{Len: len(codes), Count: 1})
						testkit.CompareExhaustive(t, widened, want, func(i int) string { return fmt.Sprintf("%s: %s %#02x times %x", impl, f.name, i, scale) })
						counts[1] += int64(len(codes))
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
