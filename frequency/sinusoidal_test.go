package frequency

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/argument"
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
				"Sinusoidal":            must(Sinusoidal(n, SinusoidalParameters{First: 1, Base: base, Denominator: float64(n)})),
				"Sinusoidal by halves":  must(Sinusoidal(n, SinusoidalParameters{First: 0.5, Base: base, Denominator: float64(n)})),
				"Sinusoidal of squares": must(Sinusoidal(n, SinusoidalParameters{First: 1, Base: base * base, Denominator: 2 * float64(n)})), // which are exact
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
			signal := must(TimingSignal(n, TimingSignalParameters{MinTimescale: 1, MaxTimescale: base}))
			if want := must(Sinusoidal(n, SinusoidalParameters{First: 1, Base: base, Denominator: float64(n - 1)})); !slices.Equal(signal, want) {
				t.Errorf("TimingSignal, %d pairs, max %v: got %v, want %v", n, base, signal, want)
			}
			ascending, descending := must(Geometric(n, GeometricParameters{First: 1 / 16., Last: base})), must(Geometric(n, GeometricParameters{First: base, Last: 1 / 16.}))
			slices.Reverse(descending)
			if !slices.Equal(ascending, descending) || ascending[0] != 1/16. || ascending[n-1] != base {
				t.Errorf("Geometric, %d pairs to %v: %v, reversed %v", n, base, ascending, descending)
			}
		}
	}
	if got := must(Geometric(1, GeometricParameters{First: 3, Last: 7})); got[0] != 3 {
		t.Errorf("Geometric of one pair is %v, want its first 3", got)
	}
	if got := must(TimingSignal(1, TimingSignalParameters{MinTimescale: 3, MaxTimescale: 7})); got[0] != 3 {
		t.Errorf("TimingSignal of one pair is %v, want its minimum 3", got)
	}
	// minTimescale multiplies: the last is 4*(4/64).
	if got := must(TimingSignal(3, TimingSignalParameters{MinTimescale: 4, MaxTimescale: 64})); !slices.Equal(got, []float64{4, 1, 0.25}) {
		t.Errorf("TimingSignal from 4 to 64 is %v", got)
	}
}

func TestSinusoidalLadderErrors(t *testing.T) {
	sinusoidal := func(pairs int, first, base, denominator float64) func() ([]float64, error) {
		return func() ([]float64, error) {
			return Sinusoidal(pairs, SinusoidalParameters{First: first, Base: base, Denominator: denominator})
		}
	}
	timingSignal := func(pairs int, least, most float64) func() ([]float64, error) {
		return func() ([]float64, error) {
			return TimingSignal(pairs, TimingSignalParameters{MinTimescale: least, MaxTimescale: most})
		}
	}
	geometric := func(pairs int, first, last float64) func() ([]float64, error) {
		return func() ([]float64, error) {
			return Geometric(pairs, GeometricParameters{First: first, Last: last})
		}
	}
	nan, inf := math.NaN(), math.Inf(1)
	for want, f := range map[string]func() ([]float64, error){
		"Sinusoidal: pairs is 0, want from 1 to 32768":                      sinusoidal(0, 1, 10000, 1),
		"Sinusoidal: pairs is 32769, want from 1 to 32768":                  sinusoidal(MaxRotaryDim/2+1, 1, 10000, 1),
		"Sinusoidal: p.First is 0, want a finite number above 0":            sinusoidal(2, 0, 10000, 1),
		"Sinusoidal: p.Base is 1, want a finite number above 1":             sinusoidal(2, 1, 1, 1),
		"Sinusoidal: p.Base is NaN, want a finite number above 1":           sinusoidal(2, 1, nan, 1),
		"Sinusoidal: p.Base is +Inf, want a finite number above 1":          sinusoidal(2, 1, inf, 1),
		"Sinusoidal: p.Denominator is 0, want a finite number above 0":      sinusoidal(2, 1, 10000, 0),
		"Sinusoidal: p.Denominator is +Inf, want a finite number above 0":   sinusoidal(2, 1, 10000, inf),
		"Sinusoidal: a frequency is 1e-300, want parameters that give":      sinusoidal(8, 1, 1e300, 1),
		"TimingSignal: pairs is 0, want from 1 to 32768":                    timingSignal(0, 1, 2),
		"TimingSignal: p.MinTimescale is -1, want a finite number above 0":  timingSignal(2, -1, 2),
		"TimingSignal: p.MaxTimescale is NaN, want a finite number above 0": timingSignal(2, 1, nan),
		"TimingSignal: a frequency is +Inf, want parameters that give":      timingSignal(2, 1e300, 1e-300),
		"Geometric: pairs is 0, want from 1 to 32768":                       geometric(0, 1, 2),
		"Geometric: p.First is 0, want a finite number above 0":             geometric(2, 0, 1),
		"Geometric: p.Last is +Inf, want a finite number above 0":           geometric(2, 1, inf),
		"Geometric: a frequency is 1e-300, want parameters that give":       geometric(2, 1, 1e-300),
	} {
		invFreq, err := f()
		if invFreq != nil || !errors.Is(err, argument.ErrConfig) || !strings.HasPrefix(err.Error(), "frequency."+want) {
			t.Errorf("got %v and %v, want %q", invFreq, err, want)
		}
	}
}
