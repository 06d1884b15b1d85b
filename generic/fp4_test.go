package generic_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/test/kit"
)

// fp4Vectors is testdata/fp4/vectors.json.
type fp4Vectors struct {
	X          string
	MXFP4Floor blocksGolden
	MXFP4RCeil blocksGolden
	MXFP4Even  blocksGolden
	NVFP4      blocksGolden
}

var fp4Formats = []struct {
	name           string
	bytes, numbers int
	quantize       func(y []uint8, x []float32)
	dequantize     func(y []float32, x []uint8)
	golden         func(v *fp4Vectors) blocksGolden
	nan            uint8 // scale
}{
	{"MXFP4Floor", generic.MXFP4Bytes, generic.Block, mxfp4By(generic.MXFP4Floor), generic.DequantizeMXFP4ToF32, func(v *fp4Vectors) blocksGolden { return v.MXFP4Floor }, 255},
	{"MXFP4RCeil", generic.MXFP4Bytes, generic.Block, mxfp4By(generic.MXFP4RCeil), generic.DequantizeMXFP4ToF32, func(v *fp4Vectors) blocksGolden { return v.MXFP4RCeil }, 255},
	{"MXFP4Even", generic.MXFP4Bytes, generic.Block, mxfp4By(generic.MXFP4Even), generic.DequantizeMXFP4ToF32, func(v *fp4Vectors) blocksGolden { return v.MXFP4Even }, 255},
	{"NVFP4", generic.NVFP4Bytes, generic.NVFP4Numbers, generic.QuantizeF32ToNVFP4, generic.DequantizeNVFP4ToF32, func(v *fp4Vectors) blocksGolden { return v.NVFP4 }, generic.NaN8},
}

func mxfp4By(rule generic.MXFP4Rule) func(y []uint8, x []float32) {
	return func(y []uint8, x []float32) { generic.QuantizeF32ToMXFP4(y, x, rule) }
}

// Blocks are the ones of the published formulas, and so is what is read from them.
func TestFP4(t *testing.T) {
	var v fp4Vectors
	kit.ReadJSON("testdata/fp4/vectors.json", &v)
	x := kit.Hex[float32](v.X)
	for _, f := range fp4Formats {
		blocks, want := kit.Hex[uint8](f.golden(&v).Blocks), kit.Hex[float32](f.golden(&v).Values)
		got := make([]uint8, len(blocks))
		f.quantize(got, x)
		for i := range len(x) / f.numbers {
			if got, want := got[i*f.bytes:][:f.bytes], blocks[i*f.bytes:][:f.bytes]; !bytes.Equal(got, want) {
				t.Errorf("%s: block %d is\n%x, want\n%x", f.name, i, got, want)
			}
		}
		numbers := make([]float32, len(want))
		f.dequantize(numbers, blocks)
		if i := kit.FirstDifference(numbers, want); i >= 0 {
			t.Errorf("%s: number %d is %v, want %v", f.name, i, numbers[i], want[i])
		}
	}
}

// A block with a number that is not finite is read back as NaN.
func TestFP4NotFinite(t *testing.T) {
	for _, f := range fp4Formats {
		for at := range f.numbers {
			for _, special := range []float32{float32(math.Inf(1)), float32(math.Inf(-1)), math.Float32frombits(0xffc12345)} {
				x, y, back := slices.Repeat([]float32{-1}, f.numbers), make([]uint8, f.bytes), make([]float32, f.numbers)
				x[at] = special
				f.quantize(y, x)
				f.dequantize(back, y)
				if want := append([]uint8{f.nan}, make([]uint8, f.bytes-1)...); !bytes.Equal(y, want) || slices.ContainsFunc(back, func(v float32) bool { return v == v }) {
					t.Errorf("%s: a block with %v is %x, read as %v", f.name, special, y, back)
				}
			}
		}
	}
}

// Each number is rounded to the nearest of E2M1, ties to even, whatever the scale.
func TestFP4Rounding(t *testing.T) {
	levels := []float64{0, 0.5, 1, 1.5, 2, 3, 4, 6}
	x, y, back := make([]float32, generic.Block), make([]uint8, generic.MXFP4Bytes), make([]float32, generic.Block)
	for upper := range uint32(0x40e0) { // below 7
		for _, lower := range []uint32{0, 1, 0xffff} {
			v := math.Float32frombits(upper<<16 | lower)
			best := 0
			for i, level := range levels {
				if d, least := math.Abs(level-float64(v)), math.Abs(levels[best]-float64(v)); d < least || d == least && i%2 == 0 {
					best = i
				}
			}
			x[0], x[3], x[6] = 6, v, -v
			mxfp4By(generic.MXFP4Floor)(y, x)
			generic.DequantizeMXFP4ToF32(back, y)
			if want := float32(levels[best]); back[3] != want || back[6] != -want || math.Signbit(float64(back[3])) || !math.Signbit(float64(back[6])) {
				t.Fatalf("%v and its negative are read back as %v and %v, want %v", v, back[3], back[6], want)
			}
		}
	}
}
