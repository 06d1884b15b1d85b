package generic_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/test/kit"
)

type blocksGolden struct{ Blocks, Values string }

var blockFormats = []struct {
	name       string
	bytes      int
	quantize   func(y []uint8, x []float32)
	dequantize func(y []float32, x []uint8)
	golden     func(v *blocksVectors) blocksGolden
	tiny       []uint8 // a block of magnitudes whose scale has no finite inverse
}{
	{"Q4_0", generic.Q4_0Bytes, generic.QuantizeF32ToQ4_0, generic.DequantizeQ4_0ToF32, func(v *blocksVectors) blocksGolden { return v.Q4_0 }, append([]uint8{0x00, 0x80}, bytes.Repeat([]uint8{0x88}, 16)...)},
	{"Q4_1", generic.Q4_1Bytes, generic.QuantizeF32ToQ4_1, generic.DequantizeQ4_1ToF32, func(v *blocksVectors) blocksGolden { return v.Q4_1 }, make([]uint8, 20)},
	{"Q5_0", generic.Q5_0Bytes, generic.QuantizeF32ToQ5_0, generic.DequantizeQ5_0ToF32, func(v *blocksVectors) blocksGolden { return v.Q5_0 }, append([]uint8{0x00, 0x80, 0xff, 0xff, 0xff, 0xff}, make([]uint8, 16)...)},
	{"Q5_1", generic.Q5_1Bytes, generic.QuantizeF32ToQ5_1, generic.DequantizeQ5_1ToF32, func(v *blocksVectors) blocksGolden { return v.Q5_1 }, make([]uint8, 24)},
	{"IQ4_NL", generic.IQ4_NLBytes, generic.QuantizeF32ToIQ4_NL, generic.DequantizeIQ4_NLToF32, func(v *blocksVectors) blocksGolden { return v.IQ4_NL }, make([]uint8, 18)},
}

// blocksVectors is testdata/blocks/vectors.json.
type blocksVectors struct {
	X      string
	Q4_0   blocksGolden
	Q4_1   blocksGolden
	Q5_0   blocksGolden
	Q5_1   blocksGolden
	IQ4_NL blocksGolden
}

// Blocks, and what is read from them, are the ones of ggml's reference.
func TestBlocks(t *testing.T) {
	var v blocksVectors
	kit.ReadJSON("testdata/blocks/vectors.json", &v)
	x := kit.Hex[float32](v.X)
	for _, f := range blockFormats {
		want, wantValues := kit.Hex[uint8](f.golden(&v).Blocks), kit.Hex[float32](f.golden(&v).Values)
		got, values := make([]uint8, len(want)), make([]float32, len(x))
		f.quantize(got, x)
		for i := range len(x) / generic.Block {
			if got, want := got[i*f.bytes:][:f.bytes], want[i*f.bytes:][:f.bytes]; !bytes.Equal(got, want) {
				t.Errorf("%s: block %d is\n%x, want\n%x", f.name, i, got, want)
			}
		}
		f.dequantize(values, want)
		if i := kit.FirstDifference(values, wantValues); i >= 0 {
			t.Errorf("%s: number %d is %v, want %v", f.name, i, values[i], wantValues[i])
		}
	}
}

// What C leaves undefined: a block with a number that is not finite, or with a range that is not, is read
// back as NaN; one whose scale has no finite inverse has the codes of 0.
func TestBlocksUndefined(t *testing.T) {
	inf, nan := float32(math.Inf(1)), math.Float32frombits(0xffc12345)
	for _, f := range blockFormats {
		rangeOverflows := f.bytes == generic.Q4_1Bytes || f.bytes == generic.Q5_1Bytes
		notFinite := append([]uint8{0x00, 0x7e}, make([]uint8, f.bytes-2)...)
		for at := range generic.Block {
			for _, special := range []float32{inf, -inf, nan, -math.MaxFloat32} {
				if special == -math.MaxFloat32 && !rangeOverflows {
					continue
				}
				x, y, back := slices.Repeat([]float32{math.MaxFloat32}, generic.Block), make([]uint8, f.bytes), make([]float32, generic.Block)
				x[at] = special
				f.quantize(y, x)
				f.dequantize(back, y)
				if !bytes.Equal(y, notFinite) || slices.ContainsFunc(back, func(v float32) bool { return v == v }) {
					t.Errorf("%s: a block with %v is %x, read as %v", f.name, special, y, back)
				}
			}
			for _, size := range []float32{0, 0x1p-145, 0x1p-130} {
				x, y := make([]float32, generic.Block), make([]uint8, f.bytes)
				x[at] = size
				if f.quantize(y, x); !bytes.Equal(y, f.tiny) {
					t.Errorf("%s: a block with %v among zeros is %x, want %x", f.name, size, y, f.tiny)
				}
			}
		}
	}
}

// docs/quantized.md says from which numbers on the float16 of a block is infinite, or a NaN.
func TestBlocksLarge(t *testing.T) {
	one := func(m float32) []float32 { return append([]float32{m}, make([]float32, 31)...) }
	beside := func(share float32) func(m float32) []float32 {
		return func(m float32) []float32 {
			x := []float32{m}
			for range 31 {
				x = append(x, share*m)
			}
			return x
		}
	}
	few := func(m float32) []float32 { return append(one(m)[:1], one(0.035 * m)[:31]...) }
	for _, tt := range []struct {
		name                string
		quantize            func([]uint8, []float32)
		block               func(m float32) []float32
		finite, inf, before float32 // d is finite, infinite, and still no NaN
		nan                 float32 // 0: none
	}{
		{"Q8_0", generic.QuantizeF32ToQ8, one, 8.3e6, 8.33e6, 3e38, 0},
		{"Q4_0", generic.QuantizeF32ToQ4_0, one, 5.24e5, 5.25e5, 3e38, 0},
		{"Q5_0", generic.QuantizeF32ToQ5_0, one, 1.048e6, 1.049e6, 3e38, 0},
		{"Q4_1", generic.QuantizeF32ToQ4_1, one, 9.82e5, 9.83e5, 3e38, 0},
		{"Q5_1", generic.QuantizeF32ToQ5_1, one, 2.031e6, 2.032e6, 3e38, 0},
		{"Q4_1, an infinite range", generic.QuantizeF32ToQ4_1, beside(-1), 4.91e5, 4.92e5, 1.7e38, 1.8e38},
		{"IQ4_NL", generic.QuantizeF32ToIQ4_NL, one, 8.3e6, 8.33e6, 1.4e17, 1.5e17},
		{"IQ4_NL, the least", generic.QuantizeF32ToIQ4_NL, beside(-0.7952), 7.4e6, 7.42e6, 1e16, 1.5e17},
		{"IQ4_NL, the most", generic.QuantizeF32ToIQ4_NL, beside(-0.7953), 9.2e6, 9.25e6, 1e16, 1.5e17},
		{"IQ4_NL, the first NaN", generic.QuantizeF32ToIQ4_NL, few, 8.2e6, 8.4e6, 1.9e14, 2.1e14},
	} {
		d := func(m float32) float64 {
			y := make([]uint8, 34)
			tt.quantize(y, tt.block(m))
			return float64(generic.Float16ToFloat32(uint16(y[0]) | uint16(y[1])<<8))
		}
		if v := d(tt.finite); math.IsInf(v, 0) || math.IsNaN(v) {
			t.Errorf("%s: d of %g is %g", tt.name, tt.finite, v)
		}
		for _, m := range []float32{tt.inf, tt.before} {
			if v := d(m); !math.IsInf(v, 0) {
				t.Errorf("%s: d of %g is %g, want an infinity", tt.name, m, v)
			}
		}
		if v := d(tt.nan); tt.nan != 0 && !math.IsNaN(v) {
			t.Errorf("%s: d of %g is %g, want NaN", tt.name, tt.nan, v)
		}
	}
}
