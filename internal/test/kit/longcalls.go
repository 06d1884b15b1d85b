package kit

import (
	"cmp"
	"strconv"
	"testing"

	"github.com/go-posenc/posenc/kernels"
)

// callLimit is a variable of the environment that instrumented kernels read in every
// call: they panic with callTooLong where it works on more elements.
const (
	callLimit   = "POSENC_CALL_LIMIT"
	callTooLong = "kernels: a call of too many elements"
)

// exceeds makes a call, and reports whether an instrumented kernel works on more than
// limit elements in it.
func exceeds(t *testing.T, limit int, call func() error) bool {
	t.Helper()
	t.Setenv(callLimit, strconv.Itoa(limit))
	var err error
	reason, functions := Fault(func() { err = call() })
	if err != nil || reason != nil && reason != callTooLong {
		t.Errorf("%v, %v in %s", err, reason, functions)
	}
	return reason != nil
}

// longCalls makes the long calls of all cases. In the instrumented program no call of a kernel
// works on more elements than the case says, since a garbage collection waits for it, and
// of each such limit one does on as many: the calls are long enough.
func longCalls(t *testing.T) {
	if !AllRounds() {
		t.Skip("NOT TESTED: long calls, without POSENC_ROUNDS=all")
	}
	limited, reached := runsInstrumented(), map[int]bool{}
	EachImplementation(t, func(t *testing.T, _ kernels.Implementation) {
		for _, c := range sortedCases() {
			if c.Long == nil {
				continue
			}
			limit := cmp.Or(c.CallElements, kernels.MaxCallElements)
			if exceeds(t, limit, c.Long) {
				t.Errorf("%s: a call of a kernel works on more than %d elements", c.Function, limit)
			}
			if limited {
				reached[limit] = exceeds(t, limit-1, c.Long) || reached[limit]
			}
		}
	})
	for limit, whole := range reached {
		if !whole {
			t.Errorf("no call of a kernel works on %d elements", limit)
		}
	}
}
