package generic

import (
	"slices"
	"testing"
)

func TestLayout(t *testing.T) {
	pairs, halves := []string{"a0", "b0", "a1", "b1", "a2", "b2"}, []string{"a0", "a1", "a2", "b0", "b1", "b2"}
	got := make([]string, len(pairs))
	if Deinterleave(got, pairs); !slices.Equal(got, halves) {
		t.Errorf("Deinterleave: got %v, want %v", got, halves)
	}
	if Interleave(got, halves); !slices.Equal(got, pairs) {
		t.Errorf("Interleave: got %v, want %v", got, pairs)
	}
}
