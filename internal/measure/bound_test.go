package measure

import (
	"slices"
	"testing"

	"github.com/go-posenc/posenc/kernels"
)

// Plain Go runs everywhere. All elements are visited, and stay what they are.
func TestPlainBounds(t *testing.T) {
	x := []float32{1, 1, 1, 1, 1}
	check := func(operation string) {
		if slices.Min(x) != 1 || slices.Max(x) != 1 {
			t.Errorf("%s: %v, want ones", operation, x)
		}
	}
	for _, b := range Bounds(kernels.Generic) {
		b.Run(x)
		check(b.Operation)
	}
	clear(x)
	for _, call := range Over(x, "store", kernels.Generic) {
		call()
	}
	check("store")
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
