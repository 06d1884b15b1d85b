package kernels_test

import (
	"math"
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

func TestExhaustive8Bits(t *testing.T) {
	exhaustive.SkipUnlessAsked(t)
	quantize := []func(kernels.Implementation, []uint8, []float32, *kernels.Conversion, float32){kernels.QuantizeF32ToE4M3, kernels.QuantizeF32ToE5M2}
	dequantize := []func(kernels.Implementation, []float32, []uint8, []float32, *kernels.Conversion){kernels.DequantizeE4M3ToF32, kernels.DequantizeE5M2ToF32}
	scales := make([]float32, 1000)
	for i, r := 0, testkit.NewRand(8); i < len(scales); i++ {
		scales[i] = math.Float32frombits(r.Uint32())
		if i < len(testkit.Extremes) {
			scales[i] = math.Float32frombits(testkit.Extremes[i])
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
	testkit.RunExhaustive(t, exhaustive.Leg{
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
					o.Call(impl, &operations.Arguments{Conversion: v, Memory: map[string][]byte{"y": y, "scales": testkit.BytesOf(scales), "x": testkit.BytesOf(x)}, Number: map[string]float64{"leastScale": 0x1p-126}})
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
