package frequency_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/testkit"
)

// One pair has the first frequency, and MinTimescale multiplies: the last is 4*(4/64).
func TestSinusoidalLadders(t *testing.T) {
	for _, tt := range []struct {
		got  func() ([]float64, error)
		want []float64
	}{
		{func() ([]float64, error) { return Geometric(1, GeometricParameters{First: 3, Last: 7}) }, []float64{3}},
		{func() ([]float64, error) { return Geometric(3, GeometricParameters{First: 1 / 16., Last: 4}) }, []float64{1 / 16., 0.5, 4}},
		{func() ([]float64, error) {
			return TimingSignal(1, TimingSignalParameters{MinTimescale: 3, MaxTimescale: 7})
		}, []float64{3}},
		{func() ([]float64, error) {
			return TimingSignal(3, TimingSignalParameters{MinTimescale: 4, MaxTimescale: 64})
		}, []float64{4, 1, 0.25}},
		{func() ([]float64, error) {
			return Sinusoidal(3, SinusoidalParameters{First: 0.5, Base: 65536, Denominator: 8})
		}, []float64{0.5, 0.125, 0.03125}},
	} {
		if got := testkit.Must(tt.got()); !slices.Equal(got, tt.want) {
			t.Errorf("got %v, want %v", got, tt.want)
		}
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
