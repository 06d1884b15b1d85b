package frequency

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
)

var bases = []float64{10000, 100000, 150000, 160000, 500000, 1e6, 5e6, 8e6, 1e7, 1e9, 2, 65536, 1.0625, 10000.5, math.MaxFloat64, math.Nextafter(1, 2)}

// power returns x^n with as many bits as it takes.
func power(x *big.Float, n int) *big.Float {
	result := new(big.Float).SetPrec(1).SetInt64(1)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			result = exactly(result, x)
		}
		x = exactly(x, x)
	}
	return result
}

func exactly(a, b *big.Float) *big.Float {
	return new(big.Float).SetPrec(a.MinPrec()+b.MinPrec()+1).Mul(a, b)
}

// v is base^(-2i/d) correctly rounded exactly when the midpoints to its
// neighbours enclose it: (v-h)^d * base^(2i) <= 1 <= (v+h)^d * base^(2i), which
// whole powers decide without rounding.
func TestDefaultIsCorrectlyRounded(t *testing.T) {
	one := big.NewFloat(1)
	for _, base := range bases {
		for _, dim := range []int{2, 4, 6, 16, 20, 32, 64, 80, 96, 128} {
			if testing.Short() && dim > 64 {
				continue
			}
			ladder, err := Default(dim, base, Exact)
			if err != nil {
				t.Fatal(err)
			}
			if len(ladder.InvFreq) != dim/2 || ladder.Scaling != 1 || ladder.SoftmaxScale != 1 {
				t.Fatalf("base %v, dim %d: %d frequencies, scaling %v and %v", base, dim, len(ladder.InvFreq), ladder.Scaling, ladder.SoftmaxScale)
			}
			for i, v := range ladder.InvFreq {
				scale := power(big.NewFloat(base), 2*i)
				for _, side := range []float64{0, 2} {
					neighbour := math.Nextafter(v, side)
					midpoint := new(big.Float).SetPrec(60).Add(big.NewFloat(v), big.NewFloat(neighbour))
					midpoint.Quo(midpoint, big.NewFloat(2))
					compared := exactly(power(midpoint, dim), scale).Cmp(one)
					if side == 0 && compared > 0 || side == 2 && compared < 0 {
						t.Errorf("base %v, dim %d: InvFreq[%d] = %x is misrounded", base, dim, i, v)
					}
				}
			}
		}
	}
}

// The float32 steps: math.Pow is good to a few units of float64, which decides
// the rounding to float32 unless it is within 2^-48 of a midpoint.
func TestDefaultFloat32(t *testing.T) {
	checked, close := 0, 0
	for _, base := range bases {
		if float32(base) <= 1 || base > math.MaxFloat32 {
			continue
		}
		for _, dim := range []int{2, 20, 64, 80, 96, 128, 256} {
			ladder, err := Default(dim, base, Float32)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range ladder.InvFreq {
				exponent := float32(2*i) / float32(dim)
				p := math.Pow(float64(float32(base)), float64(exponent))
				if float32(p*(1-0x1p-48)) != float32(p*(1+0x1p-48)) && p != 1 {
					close++
					continue
				}
				checked++
				if want := float64(1 / float32(p)); v != want {
					t.Errorf("base %v, dim %d: InvFreq[%d] = %x, want %x", base, dim, i, v, want)
				}
			}
		}
	}
	if close > checked/1000 {
		t.Errorf("%d of %d frequencies are too close to call", close, checked+close)
	}
}

func TestDefaultErrors(t *testing.T) {
	for _, tt := range []struct {
		dim      int
		base     float64
		rounding Rounding
		names    string
	}{
		{0, 10000, Exact, "rotaryDim is 0"},
		{-2, 10000, Exact, "rotaryDim is -2"},
		{7, 10000, Exact, "rotaryDim is 7"},
		{8, 1, Exact, "base is 1"},
		{8, 0, Exact, "base is 0"},
		{8, -3, Exact, "base is -3"},
		{8, math.NaN(), Exact, "base is NaN"},
		{8, math.Inf(1), Exact, "base is +Inf"},
		{8, 1e39, Float32, "base is 1e+39"},
		{8, 1 + 0x1p-30, Float32, "base is 1.00"},
		{8, 10000, 2, "rounding is 2"},
	} {
		t.Run(fmt.Sprint(tt.names), func(t *testing.T) {
			ladder, err := Default(tt.dim, tt.base, tt.rounding)
			if !errors.Is(err, ErrParameter) || !strings.Contains(err.Error(), "frequency.Default: "+tt.names) || ladder.InvFreq != nil {
				t.Errorf("got %v, %v", ladder, err)
			}
		})
	}
}
