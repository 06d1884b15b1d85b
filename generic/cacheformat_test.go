package generic

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// FMA32 is the exact sum rounded once: for numbers of any size, sums between two float32, and subnormal ones.
func TestFMA32(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300000 {
		x, y := float32(r.NormFloat64()), float32(math.Ldexp(1+r.Float64(), r.IntN(40)-20))
		z := float32(math.Ldexp(r.NormFloat64(), r.IntN(60)-40))
		switch r.IntN(3) {
		case 0: // the product is a little more or less than half of the last bit of z
			z = float32(1 + r.IntN(1<<20))
			half := math.Ldexp(1, math.Ilogb(float64(z))-24)
			x, y = float32(half)*(1+float32(r.IntN(5)-2)*0x1p-23), 1+float32(r.IntN(5)-2)*0x1p-23
		case 1:
			x, y, z = float32(math.Ldexp(r.NormFloat64(), -70)), float32(math.Ldexp(r.NormFloat64(), -70)), float32(math.Ldexp(r.NormFloat64(), -135))
		}
		product := new(big.Float).SetPrec(600).Mul(big.NewFloat(float64(x)), big.NewFloat(float64(y)))
		want, _ := new(big.Float).SetPrec(600).Add(product, big.NewFloat(float64(z))).Float32()
		if got := FMA32(x, y, z); got != want {
			t.Fatalf("%x*%x + %x is %x, want %x", x, y, z, got, want)
		}
	}
}
