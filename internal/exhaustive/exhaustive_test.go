package exhaustive

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

func TestParseShare(t *testing.T) {
	const wrong = -1
	for value, want := range map[string]share{"": 0, "1": 1, "1/1": 1, "1/1000": 1000, "0": wrong, "2": wrong, "true": wrong, "1/0": wrong, "1/-1": wrong, "2/3": wrong, "1/": wrong, "1/x": wrong} {
		if s, err := parseShare(value); (err != nil) != (want == wrong) || err == nil && s != want {
			t.Errorf("%q: got %d, %v, want %d", value, s, err, want)
		}
	}
}

// Workers check one block of as many neighbours as the share says, each of them once.
func TestRun(t *testing.T) {
	for _, n := range []int{0, 1, 2, 9, 10, 11, 1000} {
		for _, s := range []int{1, 2, 10, 1000} {
			t.Setenv(variable, fmt.Sprint("1/", s))
			var mutex sync.Mutex
			var checked []int
			Run(t, Leg{Name: "numbers", Blocks: n, Counts: []string{"numbers"}, Worker: func(t *testing.T) func(int, []int64) {
				return func(block int, counts []int64) {
					counts[0]++
					mutex.Lock()
					defer mutex.Unlock()
					checked = append(checked, block)
				}
			}})
			slices.Sort(checked)
			if len(checked) != (n+s-1)/s {
				t.Errorf("1/%d of %d: %d blocks checked", s, n, len(checked))
			}
			for i, block := range checked {
				if block/s != i || block >= n {
					t.Errorf("1/%d of %d: block %d is the %d-th", s, n, block, i)
				}
			}
		}
	}
}
