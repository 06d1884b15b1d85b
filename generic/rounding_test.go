package generic

import (
	"math"
	"testing"
)

// Halves, what is next to them, and others are rounded as package math rounds them.
func TestRoundToInteger(t *testing.T) {
	check := func(x float32) {
		t.Helper()
		if got, want := roundHalfAway(x), int32(math.Round(float64(x))); got != want {
			t.Fatalf("%x is rounded to %d, want %d, halves away from zero", x, got, want)
		}
		if got, want := roundHalfEven(x), int32(math.RoundToEven(float64(x))); got != want {
			t.Fatalf("%x is rounded to %d, want %d, halves to even", x, got, want)
		}
	}
	for k := range 512 {
		x := float32(k) / 2
		for _, v := range []float32{x, math.Nextafter32(x, 0), math.Nextafter32(x, 1000)} {
			check(v)
			check(-v)
		}
	}
	n := uint32(rounds(1 << 20))
	for i := range n {
		bits := i * (1 << 24 / n)
		check(math.Float32frombits(0x42800000 + bits)) // from 64 to 256
		check(math.Float32frombits(0x3e800000 + bits)) // from 1/4 to 1
	}
}
