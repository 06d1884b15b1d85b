package testkit

import (
	"math"
	"testing"

	"github.com/go-posenc/posenc"
)

// Narrowing undoes widening, and between two neighbours
// takes the nearer one, or the even one of two as near.
func TestConversions(t *testing.T) {
	t.Run("float16", func(t *testing.T) { testConversions[posenc.Float16](t, 0x7c00, 1<<16) })
	t.Run("bfloat16", func(t *testing.T) { testConversions[posenc.BFloat16](t, 0x7f80, 1<<128) })
}

func testConversions[T posenc.Element](t *testing.T, infinity uint32, beyond float64) {
	for bits := range infinity {
		a, b := Widen(OfBits[T](bits<<16)), float64(Widen(OfBits[T]((bits+1)<<16)))
		if bits+1 == infinity {
			b = beyond // where the next number would be
		}
		middle := float32((float64(a) + b) / 2) // exact: one bit more than either
		for x, want := range map[float32]uint32{a: bits, middle: bits + bits&1, math.Nextafter32(middle, 0): bits, math.Nextafter32(middle, math.MaxFloat32): bits + 1} {
			if got := BitsOf(Narrow[T](x)); got != want {
				t.Fatalf("%x became %#x, want %#x", x, got, want)
			}
			if got := BitsOf(Narrow[T](-x)); got != want|0x8000 {
				t.Fatalf("%x became %#x, want %#x", -x, got, want|0x8000)
			}
		}
	}
}
