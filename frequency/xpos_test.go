package frequency_test

import (
	"math"
	"testing"

	. "github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/exhaustive"
	"github.com/go-posenc/posenc/internal/testkit"
)

// The rates are binary logarithms of the ratios, divided by the base, to more than 100 bits.
func TestXPos(t *testing.T) {
	for _, dim := range []int{2, 14, 32, 64, 128} {
		for _, base := range []float64{1, 512, 777} {
			high, low, err := XPos(dim, base)
			testkit.NoError(t, err)
			for i := range high {
				ratio := exhaustive.NewReal().Quo(exhaustive.RealOf(float64(10*i+2*dim)), exhaustive.RealOf(float64(7*dim))) // (2i + 0.4dim)/1.4dim
				want := exhaustive.RealLogarithm(ratio)
				want.Quo(want, exhaustive.NewReal().Mul(exhaustive.RealLogarithm(exhaustive.RealOf(2)), exhaustive.RealOf(base)))
				sum := exhaustive.NewReal().Add(exhaustive.RealOf(high[i]), exhaustive.RealOf(low[i]))
				if off, _ := sum.Sub(sum, want).Float64(); math.Abs(off) > math.Abs(high[i])*0x1p-100 || math.Abs(low[i]) > math.Abs(high[i])*0x1p-53 {
					t.Errorf("dim %d, base %v, pair %d: %v and %v are off by %v", dim, base, i, high[i], low[i], off)
				}
			}
		}
	}
}
