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
	for range rounds(20000) {
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

// bigLog2 returns the logarithm of x digit by digit: the next is whether the square
// is at least 2.
func bigLog2(x float64) *big.Float {
	const precision, digits = 500, 150
	fraction, exponent := math.Frexp(x)
	sum := new(big.Float).SetPrec(precision).SetInt64(int64(exponent) - 1)
	v := new(big.Float).SetPrec(precision).SetFloat64(2 * fraction)
	two, digit := big.NewFloat(2), new(big.Float).SetPrec(precision).SetInt64(1)
	for range digits {
		digit.Quo(digit, two)
		if v.Mul(v, v).Cmp(two) >= 0 {
			sum.Add(sum, digit)
			v.Quo(v, two)
		}
	}
	return sum
}

// Powers a little above the midpoint of two float32 are rounded up, powers a
// little below it down.
func TestExp2NearMidpoints(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range rounds(2000) {
		below := math.Float32frombits(0x01000000 + r.Uint32N(0x7e000000-0x01000000))
		above := math.Nextafter32(below, math.MaxFloat32)
		exponent, want := bigLog2((float64(below)+float64(above))/2), above
		away := math.Ldexp(1, -46-r.IntN(45))
		if r.IntN(2) == 0 {
			away, want = -away, below
		}
		exponent.Add(exponent, big.NewFloat(away))
		high, _ := exponent.Float64()
		low, _ := exponent.Sub(exponent, big.NewFloat(high)).Float64()
		if got := Exp2(high, low); got != want {
			t.Fatalf("2^(%x+%x) is %x, want %x", high, low, got, want)
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
