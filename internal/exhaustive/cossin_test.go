package exhaustive

import (
	"math/big"
	"testing"
)

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
