package exhaustive

import (
	"fmt"
	"math/big"
	"slices"
	"sync"
	"testing"
)

func TestParseShare(t *testing.T) {
	const wrong = -1
	for value, want := range map[string]share{"": 0, "1": 1, "1/1": 1, "1/1000": 1000, "0": wrong, "2": wrong, "true": wrong, "1/0": wrong, "1/-1": wrong, "2/3": wrong, "1/": wrong, "1/x": wrong} {
		if s, err := parseShare(value); (err != nil) != (want == wrong) || err == nil && s != want {
			t.Errorf("%q: got %d, %v, want %d", value, s, err, want)
		}
	}
}

// Workers check one block of as many neighbours as the share says, each of them once.
func TestRun(t *testing.T) {
	for _, n := range []int{0, 1, 2, 9, 10, 11, 1000} {
		for _, s := range []int{1, 2, 10, 1000} {
			t.Setenv(variable, fmt.Sprint("1/", s))
			var mutex sync.Mutex
			var checked []int
			Run(t, Leg{Name: "numbers", Blocks: n, Counts: []string{"numbers"}, Worker: func(t *testing.T) func(int, []int64) {
				return func(block int, counts []int64) {
					counts[0]++
					mutex.Lock()
					defer mutex.Unlock()
					checked = append(checked, block)
				}
			}})
			slices.Sort(checked)
			if len(checked) != (n+s-1)/s {
				t.Errorf("1/%d of %d: %d blocks checked", s, n, len(checked))
			}
			for i, block := range checked {
				if block/s != i || block >= n {
					t.Errorf("1/%d of %d: block %d is the %d-th", s, n, block, i)
				}
			}
		}
	}
}

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
