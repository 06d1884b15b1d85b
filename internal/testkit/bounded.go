package testkit

import (
	"testing"

	"github.com/go-posenc/posenc/kernels"
)

// RunLongCalls makes the long calls of all cases. It is what CheckCallsAreBounded runs
// as TestLongCalls.
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

// CheckCallsAreBounded shows that no call of a kernel works on more than
// kernels.MaxCallElements elements, since a garbage collection waits for it: it runs
// TestLongCalls with kernels that panic on larger calls.
func CheckCallsAreBounded(t *testing.T) {
	CallsAreBounded(t, "TestLongCalls", kernels.MaxCallElements)
}
