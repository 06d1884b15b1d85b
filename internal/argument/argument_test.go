package argument

import "testing"

// Slices overlap where they share a byte; one without elements shares none.
func TestOverlap(t *testing.T) {
	memory := make([]int32, 4)
	for _, tt := range []struct {
		a, b []int32
		want bool
	}{
		{memory, memory[3:], true},
		{memory[:2], memory[2:], false},
		{memory, memory[1:1], false},
		{memory[:2], memory[2:2], false},
		{memory[1:1], memory[1:1], false},
		{memory, nil, false},
	} {
		if got, other := Overlap(tt.a, tt.b), Overlap(tt.b, tt.a); got != tt.want || other != tt.want {
			t.Errorf("%d elements and %d: %t and the other way round %t, want %t", len(tt.a), len(tt.b), got, other, tt.want)
		}
	}
}
