package generic

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/go-posenc/posenc/internal/test/exhaustive"
)

var ln2 = exhaustive.RealLogarithm(exhaustive.RealOf(2))

// checkExp2 compares both ways of Exp2.
func checkExp2(t *testing.T, high, low float64, want float32) {
	t.Helper()
	if fast, slow := Exp2(high, low), exp2Exactly(high, low, math.RoundToEven(high)); fast != want || slow != want {
		t.Fatalf("2^(%x+%x) is %x and %x, want %x", high, low, fast, slow, want)
	}
}

func TestExp2AgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range rounds(5000) {
		high := 278*r.Float64() - 150
		if i%4 == 0 {
			high = float64(r.IntN(278*64)-150*64) / 64
		}
		low := (r.Float64() - 0.5) * math.Abs(high) * 0x1p-53
		x := exhaustive.NewReal().Add(exhaustive.RealOf(high), exhaustive.RealOf(low))
		want, _ := exhaustive.RealExponential(x.Mul(x, ln2)).Float32()
		checkExp2(t, high, low, want)
	}
}

// Powers a little above the midpoint of two float32 are rounded up, powers a
// little below it down.
func TestExp2NearMidpoints(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range rounds(2000) {
		below := math.Float32frombits(0x01000000 + r.Uint32N(0x7e000000-0x01000000))
		above := math.Nextafter32(below, math.MaxFloat32)
		exponent, want := exhaustive.RealLogarithm(exhaustive.RealOf((float64(below)+float64(above))/2)), above
		exponent.Quo(exponent, ln2)
		away := math.Ldexp(1, -46-r.IntN(45))
		if r.IntN(2) == 0 {
			away, want = -away, below
		}
		exponent.Add(exponent, exhaustive.RealOf(away))
		high, _ := exponent.Float64()
		low, _ := exponent.Sub(exponent, exhaustive.RealOf(high)).Float64()
		checkExp2(t, high, low, want)
	}
}

func TestExp2Ends(t *testing.T) {
	for _, tt := range []struct {
		x    float64
		want float32
	}{
		{0, 1}, {1, 2}, {-1, 0.5}, {127, 0x1p127}, {128, float32(math.Inf(1))}, {1e300, float32(math.Inf(1))}, {math.Inf(1), float32(math.Inf(1))},
		{-126, 0x1p-126}, {-149, 0x1p-149}, {-149.5, 0x1p-149}, {-150, 0}, {-1e300, 0}, {math.Inf(-1), 0},
	} {
		if got := Exp2(tt.x, 0); got != tt.want {
			t.Errorf("2^%v is %v, want %v", tt.x, got, tt.want)
		}
	}
	if got := Exp2(math.NaN(), 0); got == got {
		t.Errorf("2^NaN is %v", got)
	}
}

// The logarithm is as close as it says.
func TestLogarithm(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	worst := 0.0
	for i := range rounds(1000) {
		k := uint64(2 + i)
		if i >= 100 {
			k = 2 + r.Uint64N(1<<33-2)>>r.IntN(32)
		}
		if i%10 == 0 {
			k = 1 << (1 + i/10%33)
		}
		want, e := exhaustive.RealLogarithm(exhaustive.RealOf(float64(k))), exhaustive.RealOf(Logarithm(k))
		e.Sub(e, want)
		f, _ := e.Quo(e, want).Float64()
		worst = max(worst, math.Abs(f))
	}
	if t.Logf("relative error at most %x", worst); worst > 0x1p-52 {
		t.Errorf("relative error %x", worst)
	}
}

// Halves, what is next to them, and others are rounded as package math rounds them.
func TestRoundToInteger(t *testing.T) {
	check := func(x float32) {
		t.Helper()
		if got, want := roundHalfAway(x), int32(math.Round(float64(x))); got != want {
			t.Fatalf("%x is rounded to %d, want %d, halves away from zero", x, got, want)
		}
		if got, want := roundHalfEven(x), int32(math.RoundToEven(float64(x))); got != want {
			t.Fatalf("%x is rounded to %d, want %d, halves to even", x, got, want)
		}
	}
	for k := range 512 {
		x := float32(k) / 2
		for _, v := range []float32{x, math.Nextafter32(x, 0), math.Nextafter32(x, 1000)} {
			check(v)
			check(-v)
		}
	}
	n := uint32(rounds(1 << 20))
	for i := range n {
		bits := i * (1 << 24 / n)
		check(math.Float32frombits(0x42800000 + bits)) // from 64 to 256
		check(math.Float32frombits(0x3e800000 + bits)) // from 1/4 to 1
	}
}
