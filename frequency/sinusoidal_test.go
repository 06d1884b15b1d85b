package frequency_test

import (
	"slices"
	"testing"

	. "github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
)

// One pair has the first frequency, and MinTimescale multiplies: the last is 4*(4/64).
func TestSinusoidalLadders(t *testing.T) {
	for _, tt := range []struct{ got, want []float64 }{
		{testkit.Must(Geometric(1, GeometricParameters{First: 3, Last: 7})), []float64{3}},
		{testkit.Must(Geometric(3, GeometricParameters{First: 1 / 16., Last: 4})), []float64{1 / 16., 0.5, 4}},
		{testkit.Must(TimingSignal(1, TimingSignalParameters{MinTimescale: 3, MaxTimescale: 7})), []float64{3}},
		{testkit.Must(TimingSignal(3, TimingSignalParameters{MinTimescale: 4, MaxTimescale: 64})), []float64{4, 1, 0.25}},
		{testkit.Must(Sinusoidal(3, SinusoidalParameters{First: 0.5, Base: 65536, Denominator: 8})), []float64{0.5, 0.125, 0.03125}},
	} {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("got %v, want %v", tt.got, tt.want)
		}
	}
}
