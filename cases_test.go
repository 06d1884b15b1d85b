package posenc_test

import (
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
)

// What is the same for all operations runs over their cases, which stand beside the
// other tests of each.

func TestCases(t *testing.T) { testkit.RunCases(t, "posenc") }
func TestCasesAreComplete(t *testing.T) {
	testkit.CheckComplete(t, "Implementation", "Rotary.At", "Rows.All", "Rows.At", "Rows.Len")
}
func TestDigests(t *testing.T)     { testkit.CheckDigests(t) }
func TestFlushing(t *testing.T)    { testkit.CheckFlushing(t, "posenc") }
func TestUpperHalves(t *testing.T) { testkit.CheckUpperHalves(t, "TestUpperHalves", "posenc") }
func TestLongCalls(t *testing.T)   { testkit.RunLongCalls(t) }
func TestCallsAreBounded(t *testing.T) {
	testkit.CheckCallsAreBounded(t)
}
func FuzzCases(f *testing.F) { testkit.FuzzCases(f, "posenc") }
