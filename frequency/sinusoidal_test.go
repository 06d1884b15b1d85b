package frequency

import (
	"errors"
	"math"
	"slices"
	"testing"
)

func mustFrequencies(t *testing.T) func(invFreq []float64, err error) []float64 {
	return func(invFreq []float64, err error) []float64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return invFreq
	}
}

// Ladders that are the same real numbers have the same bits.
func TestSinusoidalLaddersThatCoincide(t *testing.T) {
	must := mustFrequencies(t)
	for _, n := range []int{2, 3, 10, 32, 255} {
		for _, base := range []float64{10000, 1.0625, 1e9} {
			original := mustLadder(t)(Default(2*n, base, Exact)).InvFreq
			for name, got := range map[string][]float64{
				"Sinusoidal":            must(Sinusoidal(n, 1, base, float64(n))),
				"Sinusoidal by halves":  must(Sinusoidal(n, 0.5, base, float64(n))),
				"Sinusoidal of squares": must(Sinusoidal(n, 1, base*base, 2*float64(n))), // which are exact
			} {
				want := slices.Clone(original)
				if name == "Sinusoidal by halves" {
					for i := range want {
						want[i] /= 2
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s, %d pairs, base %v: got %v, want %v", name, n, base, got, want)
				}
			}
			signal := must(TimingSignal(n, 1, base))
			if want := must(Sinusoidal(n, 1, base, float64(n-1))); !slices.Equal(signal, want) {
				t.Errorf("TimingSignal, %d pairs, max %v: got %v, want %v", n, base, signal, want)
			}
			ascending, descending := must(Geometric(n, 1/16., base)), must(Geometric(n, base, 1/16.))
			slices.Reverse(descending)
			if !slices.Equal(ascending, descending) || ascending[0] != 1/16. || ascending[n-1] != base {
				t.Errorf("Geometric, %d pairs to %v: %v, reversed %v", n, base, ascending, descending)
			}
		}
	}
	if got := must(Geometric(1, 3, 7)); got[0] != 3 {
		t.Errorf("Geometric of one pair is %v, want its first 3", got)
	}
	if got := must(TimingSignal(1, 3, 7)); got[0] != 3 {
		t.Errorf("TimingSignal of one pair is %v, want its minimum 3", got)
	}
	// minTimescale multiplies: the last is 4*(4/64).
	if got := must(TimingSignal(3, 4, 64)); !slices.Equal(got, []float64{4, 1, 0.25}) {
		t.Errorf("TimingSignal from 4 to 64 is %v", got)
	}
}

func TestSinusoidalLadderErrors(t *testing.T) {
	of := func(invFreq []float64, err error) error {
		if invFreq != nil {
			t.Errorf("frequencies %v beside %v", invFreq, err)
		}
		return err
	}
	for i, err := range []error{
		of(Sinusoidal(0, 1, 10000, 1)), of(Sinusoidal(MaxRotaryDim/2+1, 1, 10000, 1)), of(Sinusoidal(2, 0, 10000, 1)),
		of(Sinusoidal(2, 1, 1, 1)), of(Sinusoidal(2, 1, math.NaN(), 1)), of(Sinusoidal(2, 1, math.Inf(1), 1)),
		of(Sinusoidal(2, 1, 10000, 0)), of(Sinusoidal(2, 1, 10000, math.Inf(1))), of(Sinusoidal(8, 1, 1e300, 1)),
		of(TimingSignal(0, 1, 2)), of(TimingSignal(2, -1, 2)), of(TimingSignal(2, 1, math.NaN())), of(TimingSignal(2, 1e300, 1e-300)),
		of(Geometric(0, 1, 2)), of(Geometric(2, 0, 1)), of(Geometric(2, 1, math.Inf(1))), of(Geometric(2, 1, 1e-300)),
	} {
		if !errors.Is(err, ErrParameter) {
			t.Errorf("case %d: got %v, want %v", i, err, ErrParameter)
		}
	}
}
