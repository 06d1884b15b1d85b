package generic_test

import (
	"math"
	"testing"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/exhaustive"
	"github.com/go-posenc/posenc/internal/testkit"
)

// The logarithm is as close as it says.
func TestLogarithm(t *testing.T) {
	r := testkit.NewRand(80)
	worst := 0.0
	for i := range testkit.Rounds(1000) {
		k := uint64(2 + i)
		if i >= 100 {
			k = 2 + r.Uint64N(1<<33-2)>>r.IntN(32)
		}
		if i%10 == 0 {
			k = 1 << (1 + i/10%33)
		}
		want, e := exhaustive.RealLogarithm(exhaustive.RealOf(float64(k))), exhaustive.RealOf(generic.Logarithm(k))
		e.Sub(e, want)
		f, _ := e.Quo(e, want).Float64()
		worst = max(worst, math.Abs(f))
	}
	if worst > 0x1p-52 {
		t.Errorf("relative error %x", worst)
	}
	t.Logf("relative error at most %x", worst)
}
