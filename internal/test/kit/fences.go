package kit

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// storeLog is a variable of the environment to which instrumented kernels add, where it is
// set: S where non-temporal stores begin, F for a fence.
const (
	storeLog     = "POSENC_STORES"
	nothingSoFar = "stores:"
)

// storingShapes are beyond the thresholds of instrumented kernels, and such that rows are aligned.
var storingShapes = []largeShape{{64, 130, 1}, {16, 520, 1}, {64, 9, 20}, {256, 33, 1}}

// checkFences makes calls of every case in the instrumented program, on every
// implementation. One that writes by non-temporal stores ends with one fence and gives the
// results of any other; one that returns an error comes to neither. The cases say which
// functions have such stores.
func checkFences(t *testing.T, program instrumented) {
	if runsInstrumented() {
		callLogged(t)
		return
	}
	if !slices.ContainsFunc(dispatch.Supported(), hasNonTemporalStores) {
		t.Skip("NOT TESTED: no kernel here has non-temporal stores")
	}
	program.run(t, t.Name())
}

func hasNonTemporalStores(impl kernels.Implementation) bool {
	_, has := impl.NonTemporalCopy()
	return has
}

func callLogged(t *testing.T) {
	r := newCaseRunner(t)
	EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		has := hasNonTemporalStores(impl)
		for _, c := range sortedCases() {
			if c.Call == nil || impl == kernels.Generic {
				continue
			}
			random, stored := c.rand(3), false
			for n := 0; n < 5*max(c.Times, 1) || has && c.NonTemporal && !stored; n++ {
				if n == 2000 {
					t.Errorf("no call of %s writes by non-temporal stores", c.Function)
					break
				}
				in := inputs{shape: make([]byte, 400), place: aligned, large: &storingShapes[n%len(storingShapes)]}
				for i := range in.shape {
					in.shape[i] = byte(random.Uint32())
				}
				if n%5 == 4 {
					in.place, in.large, in.data = anywhere, nil, in.shape[:32]
				}
				want := r.expect(t, &c, in)
				want.again()
				t.Setenv(storeLog, nothingSoFar)
				err := want.run(t, c.Function)
				switch log := strings.TrimPrefix(os.Getenv(storeLog), nothingSoFar); {
				case log != "" && strings.ReplaceAll(log, "SF", "") == "" && err == nil: // once for each run of tokens that rotate
					stored = true
				case log != "" && (log != "F" || err != nil):
					t.Fatalf("%s: non-temporal stores and fences, %s; error %v", c.Function, log, err)
				}
				r.check(t, c.Function, want.madeCall, err, want.after)
			}
			if stored && !c.NonTemporal {
				t.Errorf("%s writes by non-temporal stores: its case is to say so", c.Function)
			}
		}
	})
}
