package generic_test

import (
	"bytes"
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/test/kit"
)

// quantizedVectors is testdata/quantized/vectors.json.
type quantizedVectors struct {
	E4M3, E5M2 struct{ Values, X, Codes string }
	Rows       struct {
		X, Int8, E4M3 string
		Q8            string `json:"q8_0"`
		Q8Values      string `json:"q8_0_values"`
		Int8Scales    string `json:"int8_scales"`
		E4M3Scales    string `json:"e4m3_scales"`
	}
}

func readQuantized() (v quantizedVectors) {
	kit.ReadJSON("testdata/quantized/vectors.json", &v)
	return v
}

// All codes have the values of ml_dtypes, and float32 at and next to all midpoints its
// codes.
func TestFloat8(t *testing.T) {
	v := readQuantized()
	for _, f := range []struct {
		name     string
		narrow   func(x float32) uint8
		widen    func(code uint8) float32
		quantize func(y []uint8, x []float32, scale float32)
		golden   struct{ Values, X, Codes string }
	}{
		{"E4M3", generic.Float32ToE4M3, generic.E4M3ToFloat32, generic.QuantizeF32ToE4M3, v.E4M3},
		{"E5M2", generic.Float32ToE5M2, generic.E5M2ToFloat32, generic.QuantizeF32ToE5M2, v.E5M2},
	} {
		inputs, codes := kit.Hex[float32](f.golden.X), kit.Hex[uint8](f.golden.Codes)
		for code, want := range kit.Hex[float32](f.golden.Values) {
			if got := f.widen(uint8(code)); !kit.Same(got, want) {
				t.Errorf("%s: code %#02x is %v, want %v", f.name, code, got, want)
			}
		}
		got := make([]uint8, len(inputs))
		f.quantize(got, inputs, 1)
		for i, x := range inputs {
			if got[i] != codes[i] || f.narrow(x) != codes[i] {
				t.Errorf("%s: %x is %#02x, want %#02x", f.name, x, got[i], codes[i])
			}
		}
		for _, bits := range []uint32{0x7f800001, 0x7fc00000, 0x7fffffff, 0xff800001, 0xffc00000, 0xffffffff} {
			if got := f.narrow(math.Float32frombits(bits)); got != generic.NaN8 {
				t.Errorf("%s: NaN %#x is %#02x", f.name, bits, got)
			}
		}
	}
}

// Blocks and rows are those of the gguf package, of numpy and of ml_dtypes.
func TestQuantizeVectors(t *testing.T) {
	const n = 256
	v := readQuantized()
	x := kit.Hex[float32](v.Rows.X)
	q8, q8Values := kit.Hex[uint8](v.Rows.Q8), kit.Hex[float32](v.Rows.Q8Values)
	int8s, int8Scales := kit.Hex[uint8](v.Rows.Int8), kit.Hex[float32](v.Rows.Int8Scales)
	e4m3, e4m3Scales := kit.Hex[uint8](v.Rows.E4M3), kit.Hex[float32](v.Rows.E4M3Scales)
	blocks, values := make([]uint8, len(q8)), make([]float32, len(x))
	generic.QuantizeF32ToQ8(blocks, x)
	if !bytes.Equal(blocks, q8) {
		t.Error("blocks of Q8_0 differ from those of gguf")
	}
	generic.DequantizeQ8ToF32(values, q8)
	if i := kit.FirstDifference(values, q8Values); i >= 0 {
		t.Errorf("number %d of Q8_0 is %v, want %v", i, values[i], q8Values[i])
	}
	for r := range len(x) / n {
		row, integers, codes := x[r*n:][:n], make([]uint8, n), make([]uint8, n)
		scale := generic.QuantizeRowF32ToI8(integers, row)
		if want := int8s[r*n:][:n]; scale != int8Scales[r] || !bytes.Equal(integers, want) {
			t.Errorf("row %d: int8 with scale %v, want %v:\n%v\n%v", r, scale, int8Scales[r], integers, want)
		}
		scale = generic.QuantizeRowF32ToE4M3(codes, row)
		if want := e4m3[r*n:][:n]; scale != e4m3Scales[r] || !bytes.Equal(codes, want) {
			t.Errorf("row %d: E4M3 with scale %v, want %v:\n%v\n%v", r, scale, e4m3Scales[r], codes, want)
		}
	}
}

// What no framework defines: a block or row with a number that is not finite is read back
// as NaN, one that is too small as zeros.
func TestQuantizeNotFinite(t *testing.T) {
	inf, nan := float32(math.Inf(1)), math.Float32frombits(0xffc12345)
	for _, c := range []struct {
		x     float32
		d     uint16
		scale uint32
		e4m3  uint8
	}{{inf, 0x7c00, 0x7f800000, generic.NaN8}, {-inf, 0x7c00, 0x7f800000, generic.NaN8}, {nan, 0x7e00, 0x7fc00000, generic.NaN8}, {0x1p-145, 0, 0x358637bd, 0}, {0, 0, 0x358637bd, 0}} {
		x := make([]float32, 32)
		for i := range x {
			x[i] = c.x / 2
		}
		x[7] = c.x
		y, integers, codes, back := make([]uint8, 34), make([]uint8, 32), make([]uint8, 32), make([]float32, 32)
		generic.QuantizeF32ToQ8(y, x)
		if d := uint16(y[0]) | uint16(y[1])<<8; d != c.d || slices.Max(y[2:]) != 0 {
			t.Errorf("%v: Q8_0 has d %#04x, want %#04x, and %v, want zeros", c.x, d, c.d, y[2:])
		}
		generic.DequantizeQ8ToF32(back, y)
		for i, v := range back {
			if c.d == 0 && v != 0 || c.d != 0 && v == v {
				t.Errorf("%v: number %d of Q8_0 is read as %v", c.x, i, v)
			}
		}
		if scale := math.Float32bits(generic.QuantizeRowF32ToI8(integers, x)); scale != c.scale || slices.Max(integers) != 0 {
			t.Errorf("%v: int8 has scale %#x, want %#x, and %v, want zeros", c.x, scale, c.scale, integers)
		}
		scale := math.Float32bits(generic.QuantizeRowF32ToE4M3(codes, x))
		if scale != c.scale && c.scale != 0x358637bd || slices.Max(codes) != c.e4m3 || slices.Min(codes) != c.e4m3 {
			t.Errorf("%v: E4M3 has scale %#x, want %#x, and %v, want %#02x", c.x, scale, c.scale, codes, c.e4m3)
		}
	}
}

// Of integers, whose sums are exact, the transform is the product with the Hadamard matrix,
// whose entry (i, j) is -1 to the number of common bits of i and j.
func TestHadamard(t *testing.T) {
	r := kit.NewRand(70)
	for _, n := range []int{1, 2, 32, 64, 128, 256, 512} {
		x, want := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i] = float32(r.IntN(2001) - 1000)
		}
		for i := range want {
			for j, v := range x {
				if bits.OnesCount(uint(i&j))%2 == 1 {
					v = -v
				}
				want[i] += v
			}
		}
		generic.HadamardF32(x, 1)
		if !slices.Equal(x, want) {
			t.Errorf("of %d integers: %v, want %v", n, x, want)
		}
	}
}
