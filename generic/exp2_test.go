package generic

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// The square roots of powers of two come from big.Float.Sqrt, which shares no
// code with Exp2: 2^(n/64) is the 64th root, six square roots.
func TestExp2AgainstRoots(t *testing.T) {
	for n := -150 * 64; n < 128*64; n += 7 {
		k := math.Floor(float64(n) / 64)
		x := new(big.Float).SetPrec(300).SetInt64(1)
		x.SetMantExp(x, n-int(k)*64)
		for range 6 {
			x.Sqrt(x)
		}
		x.SetMantExp(x, int(k))
		want, _ := x.Float32()
		if got := Exp2(float64(n)/64, 0); got != want {
			t.Fatalf("2^(%d/64) is %v, want %v", n, got, want)
		}
	}
}

// Both ways of Exp2 agree, and products of powers are powers of sums: exactly
// where the second factor is a power of two.
func TestExp2Ways(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		high := (r.Float64() - 0.5) * 300
		low := (r.Float64() - 0.5) * math.Abs(high) * 0x1p-53
		k := math.RoundToEven(high)
		if a, b := Exp2(high, low), exp2Exactly(high, low, k); high > -151 && high < 129 && a != b {
			t.Fatalf("2^(%x+%x) is %v and %v", high, low, a, b)
		}
		small := math.Ldexp(math.Trunc(r.Float64()*(1<<40)), -41)
		if a, b := Exp2(small, 0), Exp2(small+20, 0); a*(1<<20) != b {
			t.Fatalf("2^%v is %v, 2^20 times that %v", small, a, b)
		}
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
