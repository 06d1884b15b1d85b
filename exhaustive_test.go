package posenc

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/go-posenc/posenc/internal/exhaustive"
	"github.com/klauspost/cpuid/v2"
)

// machine is said once, before the first report.
var machine sync.Once

// runExhaustive runs a leg, whose report says the implementations that it was
// for: all that the machine has.
func runExhaustive(t *testing.T, leg exhaustive.Leg) {
	t.Helper()
	machine.Do(func() {
		fmt.Fprintf(t.Output(), "%s %s/%s, %s, %d threads\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, cpuid.CPU.BrandName, runtime.GOMAXPROCS(0))
	})
	var names []string
	for _, impl := range supported() {
		names = append(names, impl.String())
	}
	leg.Name += " on " + strings.Join(names, ", ")
	exhaustive.Run(t, leg)
}
