package generic_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/test/kit"
)

// format is a 16-bit number format with its conversions: of this package, or the ones that tests
// of other packages use.
type format struct {
	name               string
	exponent, mantissa int // bits
	widen              func(uint16) float32
	round              func(float32) uint16
}

var formats = []format{
	{"float16", 5, 10, generic.Float16ToFloat32, generic.Float32ToFloat16},
	{"bfloat16", 8, 7, generic.BFloat16ToFloat32, generic.Float32ToBFloat16},
	{"float16 of kit", 5, 10, widenInTests[posenc.Float16], narrowInTests[posenc.Float16]},
	{"bfloat16 of kit", 8, 7, widenInTests[posenc.BFloat16], narrowInTests[posenc.BFloat16]},
}

func widenInTests[T posenc.Float16 | posenc.BFloat16](x uint16) float32 { return kit.Widen(T(x)) }
func narrowInTests[T posenc.Float16 | posenc.BFloat16](x float32) uint16 {
	return uint16(kit.Narrow[T](x))
}

// infinity returns the bits of the positive one.
func (f *format) infinity() uint16 { return (1<<f.exponent - 1) << f.mantissa }

// value returns what the bits mean by IEEE 754.
func (f *format) value(bits uint16) float64 {
	sign := 1 - 2*float64(bits>>15)
	exponent := int(bits&0x7fff) >> f.mantissa
	mantissa := float64(bits & (1<<f.mantissa - 1))
	bias := 1<<(f.exponent-1) - 1
	switch {
	case exponent == 1<<f.exponent-1 && mantissa != 0:
		return math.NaN()
	case exponent == 1<<f.exponent-1:
		return math.Inf(int(sign))
	case exponent == 0:
		return math.Copysign(math.Ldexp(mantissa, 1-bias-f.mantissa), sign)
	}
	return sign * math.Ldexp(mantissa+math.Ldexp(1, f.mantissa), exponent-bias-f.mantissa)
}

// limit is where an unbounded exponent would go on: infinity stands for it when
// midpoints are compared.
func (f *format) limit() float64 { return math.Ldexp(1, 1<<(f.exponent-1)) }

func TestWiden(t *testing.T) {
	for _, f := range formats {
		for bits := range 1 << 16 {
			got, want := float64(f.widen(uint16(bits))), f.value(uint16(bits))
			if math.Float64bits(got) != math.Float64bits(want) && !(got != got && want != want) {
				t.Fatalf("%s: %#04x is %v, want %v", f.name, bits, got, want)
			}
		}
	}
}

// Every midpoint of two neighbours goes to the even one; the float32 below and above it, and
// some on either side, go down and up.
func TestRoundMidpoints(t *testing.T) {
	r := kit.NewRand(1)
	for _, f := range formats {
		for low := range f.infinity() {
			high := f.value(low + 1)
			if low+1 == f.infinity() {
				high = f.limit()
			}
			midpoint := float32((f.value(low) + high) / 2)
			if 2*float64(midpoint) != f.value(low)+high {
				t.Fatalf("%s: the midpoint above %#04x is no float32", f.name, low)
			}
			beside := r.Float64() * 0.49 * (high - f.value(low))
			for i, x := range [...]float32{
				float32(f.value(low)), float32(f.value(low) + beside), math.Nextafter32(midpoint, 0),
				midpoint,
				math.Nextafter32(midpoint, float32(math.Inf(1))), float32(high - beside),
			} {
				want := low + []uint16{0, 0, 0, low & 1, 1, 1}[i]
				if got, negative := f.round(x), f.round(-x); got != want || negative != want|0x8000 {
					t.Fatalf("%s: %v is rounded to %#04x, and its negative to %#04x, want %#04x", f.name, x, got, negative, want)
				}
			}
		}
	}
}

func TestRoundSpecial(t *testing.T) {
	for _, f := range formats {
		for bits, want := range map[uint32]uint16{
			0: 0, 1 << 31: 0x8000, 1: 0, 0x80000001: 0x8000,
			0x7f800000: f.infinity(), 0xff800000: f.infinity() | 0x8000,
			0x7f7fffff: f.infinity(), 0xff7fffff: f.infinity() | 0x8000,
		} {
			if got := f.round(math.Float32frombits(bits)); got != want {
				t.Errorf("%s: %#08x is rounded to %#04x, want %#04x", f.name, bits, got, want)
			}
		}
		for _, nan := range []uint32{0x7f800001, 0x7f80ffff, 0x7fc00000, 0x7fffffff, 0xff800001, 0xff9fffff, 0xffc00000, 0xffffffff} {
			if got := f.round(math.Float32frombits(nan)); !math.IsNaN(f.value(got)) {
				t.Errorf("%s: %#08x is rounded to %#04x, want a NaN", f.name, nan, got)
			}
		}
	}
}

// rotated computes a pair in float64, where the products are exact and rounding
// the sums twice does no harm (53 bits are at least 2*24+2).
func rotated(x1, x2, c, s float32) (y1, y2 float32) {
	product := func(a, b float32) float64 { return float64(float32(float64(a) * float64(b))) }
	return float32(product(x1, c) - product(x2, s)), float32(product(x2, c) + product(x1, s))
}

// testRotation tests an operation on elements of X that writes elements of Y, in both layouts.
func testRotation[Y, X comparable](t *testing.T, name string, halfSplit func(y1, y2 []Y, x1, x2 []X, cos, sin []float32), interleaved func(y []Y, x []X, cos, sin []float32), widen func(X) float32, round func(float32) Y, random func(r *rand.Rand) X) {
	const n = 4
	r := kit.NewRand(2)
	for range kit.Rounds(20000) {
		var x1, x2, x [2 * n]X
		var cos, sin [n]float32
		var want1, want2, want, half, pairs [2 * n]Y
		for i := range n {
			x1[i], x2[i] = random(r), random(r)
			s, c := math.Sincos(100 * r.Float64())
			cos[i], sin[i] = float32(c), float32(s)
			a, b := rotated(widen(x1[i]), widen(x2[i]), cos[i], sin[i])
			want1[i], want2[i] = round(a), round(b)
			x[2*i], x[2*i+1], want[2*i], want[2*i+1] = x1[i], x2[i], want1[i], want2[i]
		}
		halfSplit(half[:n], half[n:], x1[:n], x2[:n], cos[:], sin[:])
		interleaved(pairs[:], x[:], cos[:], sin[:])
		copy(want1[n:], want2[:n])
		if half != want1 || pairs != want {
			t.Fatalf("%s: %v by %v, %v: got %v and %v, want %v and %v", name, x, cos, sin, half, pairs, want1, want)
		}
	}
}

func TestRotate(t *testing.T) {
	same := func(x float32) float32 { return x }
	float := func(r *rand.Rand) float32 { return float32(math.Ldexp(r.Float64()*2-1, r.IntN(30)-20)) }
	bits := func(infinity uint16) func(r *rand.Rand) uint16 {
		return func(r *rand.Rand) uint16 { return uint16(r.UintN(uint(infinity)))>>r.IntN(9) | uint16(r.UintN(2)<<15) }
	}
	half, brain := bits(formats[0].infinity()), bits(formats[1].infinity())
	testRotation(t, "F32", generic.RotateHalfSplitF32, generic.RotateInterleavedF32, same, same, float)
	testRotation(t, "F16", generic.RotateHalfSplitF16, generic.RotateInterleavedF16, generic.Float16ToFloat32, generic.Float32ToFloat16, half)
	testRotation(t, "BF16", generic.RotateHalfSplitBF16, generic.RotateInterleavedBF16, generic.BFloat16ToFloat32, generic.Float32ToBFloat16, brain)
	testRotation(t, "F32ToF16", generic.RotateHalfSplitF32ToF16, generic.RotateInterleavedF32ToF16, same, generic.Float32ToFloat16, float)
	testRotation(t, "F32ToBF16", generic.RotateHalfSplitF32ToBF16, generic.RotateInterleavedF32ToBF16, same, generic.Float32ToBFloat16, float)
}

func TestMain(m *testing.M) { kit.Main(m) }
