package generic

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/go-posenc/posenc/internal/exhaustive"
)

// Every entry is the nearest float64 of a reference with more than 200 bits.
func TestCosSinExactF64AgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(64, 2))
	for range rounds(4000) {
		p, w := randomPair(r)
		position := float64(p)
		if r.IntN(4) == 0 { // a float32 that is no integer
			position = float64(float32(math.Ldexp(r.Float64()*2-1, r.IntN(20))))
			w = math.Exp2(-30 * r.Float64())
		}
		var cos, sin [1]float64
		CosSinExactF64(cos[:], sin[:], position, []float64{w})
		c, s := exhaustive.RealCosSin(exhaustive.NewReal().Mul(exhaustive.NewReal().SetFloat64(position), exhaustive.NewReal().SetFloat64(w)))
		wantCos, _ := c.Float64()
		wantSin, _ := s.Float64()
		if cos[0] != wantCos || sin[0] != wantSin {
			t.Errorf("position %v, invFreq %x: got %x, %x, want %x, %x", position, w, cos[0], sin[0], wantCos, wantSin)
		}
	}
}

// The sine of a tiny angle is the angle moved a little towards zero, which
// matters where the angle is midway between two float64: by less than 2^-90 of it, and other
// products of 84 bits are further from the middle. Products are of all sizes, down to less than
// the smallest float64.
func TestCosSinExactF64Tiny(t *testing.T) {
	check := func(position, w float64) {
		var cos, sin [1]float64
		CosSinExactF64(cos[:], sin[:], position, []float64{w})
		angle := new(big.Float).SetPrec(200).Mul(big.NewFloat(position), big.NewFloat(w))
		want, _ := angle.Sub(angle, new(big.Float).SetMantExp(angle, -100)).Float64()
		if position == 0 || w == 0 {
			want = 0
		}
		if math.Float64bits(sin[0]) != math.Float64bits(want) || cos[0] != 1 {
			t.Fatalf("%x * %x: got %x, %x, want 1, %x", position, w, cos[0], sin[0], want)
		}
	}
	for _, tt := range []struct{ position, invFreq float64 }{
		{3, 0x1.0000000000001p-60},           // midway, even above: RN64 of the product would go up
		{3, 0x1.0000000000003p-60},           // midway, even below
		{-3, 0x1.0000000000001p-60},          // negative
		{5, 0x1.0000000000001p-100},          // not midway
		{1, 0x1.fffffffffffffp-46},           // representable
		{3, 0x1.5555555555555p-60},           // next to a power of two
		{0x1.8p0, 0x1.5555555555555p-60},     // a position with a fraction
		{1<<31 - 1, 0x1.fffffffffffffp-80},   // 84 bits
		{-(1 << 30), 0x1.123456789abcdp-900}, // far below
		{0x1p-117, 0x1.6a09e667f3bcdp-895},   // subnormal from 2^-1022 on
		{0x1.8p-117, 0x1.5555555555555p-905},
		{-0x1.8p-100, 0x1.0000000000001p-922},
		{3, 0x1p-1074},
		{0.5, 0x1p-1074},              // midway of 0 and the smallest
		{-0.5, 0x3p-1074},             // midway, odd below
		{0.75, 0x1p-1074},             // above midway
		{0x1.000002p-1, 0x1p-1074},    // barely above
		{0x1.fffffep-2, 0x1p-1074},    // barely below
		{0x1.000002p-60, 0x1.8p-1014}, // midway, apart from what the product has more
		{-0x1.000002p-60, 0x1.7ffffd0000060p-1014},
		{0x1.fffffep-100, 0x1.0000010000010p-923},
		{0x1p-149, 0x1p-1074},  // 0
		{-0x1p-149, 0x1p-1074}, // -0
		{1<<31 - 1, 0x1.fffffffffffffp-1053},
		{0x1p-600, 0x1.8p-440},
	} {
		check(tt.position, tt.invFreq)
	}
	r := rand.New(rand.NewPCG(64, 3))
	for range rounds(20000) {
		w := math.Ldexp(float64(r.Int64()>>r.IntN(62)), -900-r.IntN(175))
		if r.IntN(2) == 0 {
			w = -w
		}
		check(math.Ldexp(float64(r.Int32()), -r.IntN(180)), w)
	}
}

// Position 0 has any frequency; angles beyond the range are NaN.
func TestCosSinExactF64Ends(t *testing.T) {
	var cos, sin [4]float64
	CosSinExactF64(cos[:], sin[:], 0, []float64{1, -1, 0, math.MaxFloat64})
	if cos != [4]float64{1, 1, 1, 1} || sin != [4]float64{} || math.Signbit(sin[1]) {
		t.Errorf("position 0: got %v, %v", cos, sin)
	}
	CosSinExactF64(cos[:], sin[:], 2, []float64{MaxAngle / 2, math.Inf(1), math.NaN(), -MaxAngle})
	for i := range cos {
		if cos[i] == cos[i] || sin[i] == sin[i] {
			t.Errorf("beyond the range: got %v, %v, want NaN", cos[i], sin[i])
		}
	}
}
