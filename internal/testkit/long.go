package testkit

import (
	"testing"

	"github.com/go-posenc/posenc/kernels"
)

// RunLongCalls makes the long calls of all cases, for CallsAreBounded.
func RunLongCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED: long calls")
	}
	EachImplementation(t, func(t *testing.T, _ kernels.Implementation) {
		for _, c := range sortedCases() {
			if c.Long == nil {
				continue
			}
			if err := c.Long(); err != nil {
				t.Errorf("%s: %v", c.Function, err)
			}
		}
	})
}
