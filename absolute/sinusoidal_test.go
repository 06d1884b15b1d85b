package absolute_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
)

// NewSinusoidal keeps no reference to what it is given.
func TestNewSinusoidalKeepsNothing(t *testing.T) {
	invFreq, padding := []float64{1, 0.25, 0.5}, int32(1)
	s := testkit.MustSinusoidal(t)(absolute.NewSinusoidal(absolute.SinusoidalConfig{Dim: 6, InvFreq: invFreq, Padding: &padding}))
	rows := func() (x []float32, x64 []float64) {
		x, x64 = make([]float32, 3*6), make([]float64, 3*6)
		positions := []int32{0, 1, 2}
		if err := errors.Join(absolute.SinusoidalRows(x, s, positions), absolute.SinusoidalRows64(x64, s, positions)); err != nil {
			t.Fatal(err)
		}
		return x, x64
	}
	before, before64 := rows()
	clear(invFreq)
	padding = 2
	if after, after64 := rows(); !slices.Equal(after, before) || !slices.Equal(after64, before64) {
		t.Errorf("rows are %v and %v, were %v and %v", after, after64, before, before64)
	}
}

// The table of a tutorial for 4 channels with 100 for 10000, to the digits
// printed there.
func TestSinusoidalTutorial(t *testing.T) {
	want := []float32{
		0, 1, 0, 1,
		0.84147098, 0.54030231, 0.09983342, 0.99500417,
		0.90929743, -0.41614684, 0.19866933, 0.98006658,
		0.14112001, -0.9899925, 0.29552021, 0.95533649,
	}
	s := testkit.MustSinusoidal(t)(absolute.NewSinusoidal(absolute.SinusoidalConfig{Dim: 4, InvFreq: []float64{1, 0.1}}))
	got := make([]float32, 16)
	if err := absolute.SinusoidalRows(got, s, []int32{0, 1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if math.Abs(float64(got[i]-w)) > 6e-8 { // eight digits and a rounding
			t.Errorf("element %d is %v, want %v", i, got[i], w)
		}
	}
}
