package exhaustive

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 6)) }

func samples(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// math/big itself, against published digits: those of pi, and the cosine and
// sine of 1e22 (Ng, Argument Reduction for Huge Arguments, 1992), which is a
// float64.
func TestBig(t *testing.T) {
	cos, sin := RealCosSin(big.NewFloat(1e22))
	squares := NewReal().Add(NewReal().Mul(cos, cos), NewReal().Mul(sin, sin))
	for _, tt := range []struct {
		got  *big.Float
		want string
		off  int // the exponent of a difference
	}{
		{RealPi(), "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651328230664709384460955", -430},
		{cos, "0.5232147853951389454975", -72},
		{sin, "-0.8522008497671888017727", -72},
		{squares, "1", -400},
	} {
		want, _, err := big.ParseFloat(tt.want, 10, precision, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		if difference := NewReal().Sub(tt.got, want); difference.Sign() != 0 && difference.MantExp(nil) > tt.off {
			t.Errorf("got %.30g, want %s", tt.got, tt.want)
		}
	}
}

// compare compares the cosine and the sine of an angle with those of math/big.
func compare(t *testing.T, what string, cos, sin float32, angle *big.Float) {
	t.Helper()
	wantCos, wantSin := roundBig(RealCosSin(angle))
	if math.Float32bits(cos) != math.Float32bits(wantCos) || math.Float32bits(sin) != math.Float32bits(wantSin) {
		t.Fatalf("%s: got %x, %x, want %x, %x", what, cos, sin, wantCos, wantSin)
	}
}

// Float32 angles whose cosine lies closest to a midpoint, the one closest to a
// multiple of pi/2, and where the ways of the reference meet.
var hardAngles = []uint32{
	0x5f18b878, 0x6115cb11, 0x7908cd73, 0x6f79be45, 0x5c98f6b2, 0x73243f06, 0x7f7fffff,
	0x3c000000, 0x3bffffff, 0x39800000, 0x397fffff, 0x39b504f3, 0x3f490fdb, 0x3fc90fdb, 0x40490fdb, 1, 0x007fffff, 0x00800000,
}

func TestCosSin(t *testing.T) {
	r := newRand(2)
	check := func(bits uint32) (hard bool) {
		x := math.Float32frombits(bits)
		cos, sin, hard := CosSin(x)
		compare(t, fmt.Sprintf("%#x", bits), cos, sin, new(big.Float).SetFloat64(float64(x)))
		return hard
	}
	for _, bits := range hardAngles {
		check(bits)
		check(bits | 1<<31)
	}
	hards := 0
	for range samples(5000) {
		if bits := r.Uint32(); bits>>23&0xff != 0xff && bits<<1 != 0 && check(bits) {
			hards++
		}
	}
	if hards > 3 {
		t.Errorf("math/big decided %d ordinary angles: the reference is slow", hards)
	}
	for _, zero := range []float32{0, float32(math.Copysign(0, -1))} {
		if cos, sin, _ := CosSin(zero); cos != 1 || math.Float32bits(sin) != math.Float32bits(zero) {
			t.Errorf("%v: got %v, %v", zero, cos, sin)
		}
	}
	for _, bits := range []uint32{0x7f800000, 0xff800000, 0x7f800001, 0xffc12345} {
		if cos, sin, _ := CosSin(math.Float32frombits(bits)); cos == cos || sin == sin {
			t.Errorf("%#x: got %v, %v, want NaN", bits, cos, sin)
		}
	}
}

func TestFrequency(t *testing.T) {
	r := newRand(3)
	check := func(p int32, w float64) (hard bool) {
		f := NewFrequency(w)
		cos, sin, hard := f.CosSin(p)
		compare(t, fmt.Sprintf("position %d, frequency %x", p, w), cos, sin, NewReal().Mul(new(big.Float).SetInt64(int64(p)), new(big.Float).SetFloat64(w)))
		return hard
	}
	n, hards := samples(5000), 0
	for range n {
		p := int32(r.Uint32()) >> r.IntN(32)
		check(p, math.Exp2(-30*r.Float64()))
		check(p, -math.Ldexp(r.Float64(), 20-r.IntN(100)))
		// The cosine is next to the midpoint of two float32.
		p = int32(1 + r.IntN(1<<20))
		low := math.Float32frombits(0x3f000000 + r.Uint32N(0x7f0000))
		if check(p, math.Acos((float64(low)+float64(math.Nextafter32(low, 1)))/2)/float64(p)) {
			hards++
		}
	}
	if hards < n*9/10 {
		t.Errorf("math/big decided %d of %d hard entries", hards, n)
	}
	for _, p := range []int32{math.MinInt32, math.MaxInt32, 1, -1} {
		for _, w := range []float64{1, math.Pi, -0x1p-60} {
			check(p, w)
		}
	}
	for _, zero := range []struct {
		p int32
		w float64
	}{{0, math.Pi}, {0, -0x1p-60}, {-1, 0}, {math.MaxInt32, math.Copysign(0, -1)}} {
		f := NewFrequency(zero.w)
		if cos, sin, _ := f.CosSin(zero.p); cos != 1 || math.Float32bits(sin) != 0 {
			t.Errorf("%d * %v: got %v, %v", zero.p, zero.w, cos, sin)
		}
	}
}
