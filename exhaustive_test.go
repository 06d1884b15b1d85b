package posenc

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/exhaustive"
	"github.com/klauspost/cpuid/v2"
)

// runExhaustive runs a leg on every implementation that the machine has.
func runExhaustive(t *testing.T, leg exhaustive.Leg) {
	t.Helper()
	var names []string
	for _, impl := range supported() {
		names = append(names, impl.String())
	}
	leg.Name += " on " + strings.Join(names, ", ")
	exhaustive.Run(t, leg)
}

// The first lines of a report.
func TestExhaustiveMachine(t *testing.T) {
	exhaustive.SkipWithoutFlag(t)
	fmt.Fprintf(t.Output(), "%s %s/%s, %s, GOMAXPROCS %d\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, cpuid.CPU.BrandName, runtime.GOMAXPROCS(0))
}
