package sums

import "testing"

func TestSum(t *testing.T) {
	if Sum(4) != 10 || Sum(-3) != 0 {
		t.Error("wrong")
	}
}
