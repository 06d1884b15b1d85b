package absolute_test

import (
	"math"
	"testing"

	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
)

// The table of a tutorial for 4 channels with 100 for 10000, to the digits
// printed there.
func TestSinusoidalTutorial(t *testing.T) {
	want := []float32{
		0, 1, 0, 1,
		0.84147098, 0.54030231, 0.09983342, 0.99500417,
		0.90929743, -0.41614684, 0.19866933, 0.98006658,
		0.14112001, -0.9899925, 0.29552021, 0.95533649,
	}
	s := testkit.Must(absolute.NewSinusoidal(absolute.SinusoidalConfig{Dim: 4, InvFreq: []float64{1, 0.1}}))
	got := make([]float32, 16)
	testkit.NoError(t, absolute.SinusoidalRows(got, s, []int32{0, 1, 2, 3}))
	for i, w := range want {
		if math.Abs(float64(got[i]-w)) > 6e-8 { // eight digits and a rounding
			t.Errorf("element %d is %v, want %v", i, got[i], w)
		}
	}
}
