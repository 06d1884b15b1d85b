package relative_test

import (
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// What is the same for all operations runs over their cases, which stand beside the
// other tests of each.

func TestCases(t *testing.T)            { testkit.RunCases(t, "relative") }
func TestCasesAreComplete(t *testing.T) { testkit.CheckComplete(t) }
func TestDigests(t *testing.T)          { testkit.CheckDigests(t) }
func TestFlushing(t *testing.T)         { testkit.CheckFlushing(t, "relative") }
func TestUpperHalves(t *testing.T)      { testkit.CheckUpperHalves(t, "TestUpperHalves", "relative") }
func TestLongCalls(t *testing.T)        { testkit.RunLongCalls(t) }
func TestCallsAreBounded(t *testing.T) {
	testkit.CallsAreBounded(t, "TestLongCalls", kernels.MaxCallElements)
}
func FuzzCases(f *testing.F) { testkit.FuzzCases(f, "relative") }
