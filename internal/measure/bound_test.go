package measure

import (
	"testing"

	"github.com/go-posenc/posenc/kernels"
)

// Plain Go runs everywhere. All elements are visited, and stay what they are.
func TestPlainBounds(t *testing.T) {
	for _, b := range Bounds(kernels.Generic) {
		x := []float32{1, 1, 1, 1, 1}
		b.Run(x)
		for i, v := range x {
			if v != 1 {
				t.Errorf("%s: element %d is %v, want 1", b.Operation, i, v)
			}
		}
	}
	x := make([]float32, 5)
	for _, call := range Over(x, "store", kernels.Generic) {
		call()
	}
	for i, v := range x {
		if v != 1 {
			t.Errorf("store: element %d is %v, want 1", i, v)
		}
	}
}

// Each implementation in assembly has every operation.
func TestBounds(t *testing.T) {
	seen := map[string]int{}
	for _, b := range assembly {
		seen[b.needs.String()+" "+b.Operation]++
	}
	for _, b := range assembly {
		for operation, want := range map[string]int{"scale": 2, "add": 2, "store": 1, "nontemporal": 1, "twostreams": 1} {
			if n := seen[b.needs.String()+" "+operation]; n != want {
				t.Errorf("%v has %d bounds by %s, want %d", b.needs, n, operation, want)
			}
		}
	}
}
