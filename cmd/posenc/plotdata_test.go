package main

import (
	"math"
	"testing"

	"github.com/go-posenc/posenc/cmd/posenc/internal/source"
	"github.com/go-posenc/posenc/internal/testkit"
)

func llama31(t *testing.T) []rotation {
	s := testkit.Must(source.Load("../../modelconfig/testdata/transformers/configs/Llama-3.1-8B.json"))
	list, err := rotations(s)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	return list
}

// TestMeanCos compares with the sum.
func TestMeanCos(t *testing.T) {
	for _, w := range []float64{0, 1e-9, 0.3, 2, 2 * math.Pi} {
		for _, b := range []bin{{1, 1}, {3, 10}, {1000, 1717}} {
			sum := 0.0
			for n := b.first; n <= b.last; n++ {
				sum += math.Cos(float64(n) * w)
			}
			// Angles of up to 1717*2*pi have roundings of 2^-41, and so have the cosines.
			if got, want := meanCos(w, b.first, b.last), sum/float64(b.last-b.first+1); math.Abs(got-want) > 1e-12 {
				t.Errorf("mean of cos(n*%v) for n = %v: %v, want %v", w, b, got, want)
			}
		}
	}
}

// TestBins: every integer is in one bin.
func TestBins(t *testing.T) {
	next := 1
	for _, b := range bins(5000, 30) {
		if b.first != next || b.last < b.first {
			t.Fatalf("bin %v after %d", b, next-1)
		}
		next = b.last + 1
	}
	if next != 5001 {
		t.Errorf("the last bin ends at %d", next-1)
	}
}

// TestAngleErrors: an angle of float32 is off by at most half a unit in its last place and that
// of its frequency, 2^-24 of the angle each, a little more for pairs whose frequency is made in several steps; and the
// fastest pair, 1 radian per position, is exact.
func TestAngleErrors(t *testing.T) {
	c := testkit.Must(angleErrors(llama31(t)))
	curve := c.Curves[0]
	for i, x := range curve.X {
		if y := curve.Y[i]; y > math.Ldexp(4*1.1*x, -24) || x > 100 && y < math.Ldexp(0.1*x, -24) {
			t.Errorf("position %v: error %v", x, y)
		}
	}
}
