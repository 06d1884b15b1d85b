package part

import "testing"

func TestLeast(t *testing.T) {
	if Least(3, 2, 5) != 2 {
		t.Error("wrong")
	}
}
