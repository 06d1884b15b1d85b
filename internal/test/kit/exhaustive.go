package kit

import (
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/cpuid/v2"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/exhaustive"
)

// CompareExhaustive compares with correctly rounded values: the same bits, or
// NaNs.
func CompareExhaustive(t *testing.T, got, want []float32, name func(i int) string) {
	t.Helper()
	for i, w := range want {
		if g := got[i]; math.Float32bits(g) != math.Float32bits(w) && !Same(g, w) {
			t.Fatalf("%s: got %x, want %x", name(i), g, w)
		}
	}
}

// machine is said once, before the first report.
var machine sync.Once

// RunExhaustive runs a leg, whose report says the implementations that it was
// for: all that the machine has.
func RunExhaustive(t *testing.T, leg exhaustive.Leg) {
	t.Helper()
	machine.Do(func() {
		t.Logf("%s %s/%s, %s, %d threads", runtime.Version(), runtime.GOOS, runtime.GOARCH, cpuid.CPU.BrandName, runtime.GOMAXPROCS(0))
	})
	var names []string
	for _, impl := range dispatch.Supported() {
		names = append(names, impl.String())
	}
	leg.Name += " on " + strings.Join(names, ", ")
	exhaustive.Run(t, leg)
}
