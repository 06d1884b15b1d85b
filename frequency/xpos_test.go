package frequency

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/go-posenc/posenc/internal/argument"
)

// 2^rate is the ratio: to float64 by package math, to 100 bits by square roots
// of 2; and a base that is a power of two divides the rates exactly.
func TestXPos(t *testing.T) {
	for _, dim := range []int{2, 32, 64, 128} {
		high, low, err := XPos(dim, 1)
		if err != nil {
			t.Fatal(err)
		}
		high512, low512, err := XPos(dim, 512)
		if err != nil {
			t.Fatal(err)
		}
		for i := range high {
			ratio := (2*float64(i) + 0.4*float64(dim)) / (1.4 * float64(dim))
			if got := math.Exp2(high[i]); math.Abs(got-ratio) > 1e-15 {
				t.Errorf("dim %d: 2^%v is %v, want %v", dim, high[i], got, ratio)
			}
			if high512[i] != high[i]/512 || low512[i] != low[i]/512 {
				t.Errorf("dim %d, pair %d: %v and %v are not 512 apart", dim, i, high512[i], high[i])
			}
			if math.Abs(low[i]) > math.Abs(high[i])*0x1p-53 {
				t.Errorf("dim %d, pair %d: low is %v beside %v", dim, i, low[i], high[i])
			}
		}
	}
	high, low, _ := XPos(14, 1) // the ratio of the first pair is 0.4/1.4
	sum := new(big.Float).SetPrec(200).Add(big.NewFloat(high[0]), big.NewFloat(low[0]))
	power := binaryPower(sum)
	want := new(big.Float).SetPrec(200).Quo(big.NewFloat(2), big.NewFloat(7))
	difference := new(big.Float).Sub(power, want)
	if difference.Sign() != 0 && difference.MantExp(nil)-want.MantExp(nil) > -100 {
		t.Errorf("2^rate is %v, want %v", power, want)
	}
}

// binaryPower returns 2^x for -64 < x < 64 from square roots of 2.
func binaryPower(x *big.Float) *big.Float {
	const bits = 180
	k, _ := x.Int64()
	rest := new(big.Float).SetPrec(300).Sub(x, new(big.Float).SetInt64(k))
	if rest.Sign() < 0 {
		k--
		rest.Add(rest, big.NewFloat(1))
	}
	root := new(big.Float).SetPrec(300).SetInt64(2)
	result := new(big.Float).SetPrec(300).SetInt64(1)
	result.SetMantExp(result, int(k))
	one := big.NewFloat(1)
	for range bits {
		root.Sqrt(root)
		rest.Add(rest, rest)
		if rest.Cmp(one) >= 0 {
			rest.Sub(rest, one)
			result.Mul(result, root)
		}
	}
	return result
}

func TestXPosErrors(t *testing.T) {
	for _, dim := range []int{-2, 0, 3, MaxRotaryDim + 2} {
		if _, _, err := XPos(dim, 512); !errors.Is(err, argument.ErrConfig) {
			t.Errorf("dim %d: %v", dim, err)
		}
	}
	for _, base := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-300} {
		if _, _, err := XPos(64, base); !errors.Is(err, argument.ErrConfig) {
			t.Errorf("base %v: %v", base, err)
		}
	}
}
