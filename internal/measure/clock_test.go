package measure

import "testing"

func TestTick(t *testing.T) {
	if Tick() <= 0 {
		t.Errorf("the clock moves by %v", Tick())
	}
}
