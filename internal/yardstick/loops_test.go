package yardstick

import (
	"slices"
	"testing"
)

// A quarter turn of integers is exact: (x1, x2) becomes (-x2, x1).
func TestQuarterTurn(t *testing.T) {
	var cos, sin [64]float32
	for i := range sin {
		sin[i] = 1
	}
	for name, layout := range map[string]struct {
		rotate        func(x, cos, sin []float32, heads int)
		partner, step int
	}{"half-split": {RotateHalfSplit, 64, 1}, "interleaved": {RotateInterleaved, 1, 2}} {
		x, want := make([]float32, 3*128), make([]float32, 3*128)
		for h := range 3 {
			for i := range 64 {
				first := h*128 + i*layout.step
				second := first + layout.partner
				x[first], x[second] = float32(first+1), float32(second+1)
				want[first], want[second] = -float32(second+1), float32(first+1)
			}
		}
		layout.rotate(x, cos[:], sin[:], 3)
		if !slices.Equal(x, want) {
			t.Errorf("%s: %v, want %v", name, x, want)
		}
	}
}
