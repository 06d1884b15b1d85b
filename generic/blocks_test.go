package generic_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
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
	testkit.ReadJSON("testdata/blocks/vectors.json", &v)
	x := testkit.Hex[float32](v.X)
	for _, f := range blockFormats {
		want, wantValues := testkit.Hex[uint8](f.golden(&v).Blocks), testkit.Hex[float32](f.golden(&v).Values)
		got, values := make([]uint8, len(want)), make([]float32, len(x))
		f.quantize(got, x)
		for i := range len(x) / generic.Block {
			if got, want := got[i*f.bytes:][:f.bytes], want[i*f.bytes:][:f.bytes]; !bytes.Equal(got, want) {
				t.Errorf("%s: block %d is\n%x, want\n%x", f.name, i, got, want)
			}
		}
		f.dequantize(values, want)
		if i := testkit.FirstDifference(values, wantValues); i >= 0 {
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
