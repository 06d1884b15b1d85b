package exhaustive

import (
	"slices"
	"sync"
	"testing"
)

func TestParseShare(t *testing.T) {
	for value, want := range map[string]share{"": 0, "1": 1, "1/1": 1, "1/1000": 1000} {
		if s, err := parseShare(value); err != nil || s != want {
			t.Errorf("%q: got %d, %v, want %d", value, s, err, want)
		}
	}
	for _, value := range []string{"0", "2", "true", "1/0", "1/-1", "2/3", "1/", "1/x"} {
		if s, err := parseShare(value); err == nil {
			t.Errorf("%q: got %d, want an error", value, s)
		}
	}
}

// A share has one block of as many neighbours, and all of them once each for 1.
func TestShare(t *testing.T) {
	for _, n := range []int{0, 1, 2, 9, 10, 11, 1000} {
		for _, s := range []share{1, 2, 10, 1000} {
			list := s.blocks(n)
			if len(list) != (n+int(s)-1)/int(s) {
				t.Errorf("1/%d of %d: got %d blocks", s, n, len(list))
			}
			for i, block := range list {
				if block/int(s) != i || block >= n {
					t.Errorf("1/%d of %d: block %d is the %d-th", s, n, block, i)
				}
			}
		}
	}
}

// Workers check each chosen block once.
func TestRun(t *testing.T) {
	for value, want := range map[string]int{"1": 100, "1/7": 15} {
		t.Setenv(variable, value)
		var mutex sync.Mutex
		var checked []int
		Run(t, Leg{Name: "numbers", Blocks: 100, Counts: []string{"numbers"}, Worker: func(t *testing.T) func(int, []int64) {
			return func(block int, counts []int64) {
				counts[0]++
				mutex.Lock()
				defer mutex.Unlock()
				checked = append(checked, block)
			}
		}})
		slices.Sort(checked)
		if n := len(slices.Compact(checked)); n != want || len(checked) != want {
			t.Errorf("%s: %d blocks checked, %d different ones, want %d", value, len(checked), n, want)
		}
	}
}
