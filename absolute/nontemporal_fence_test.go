package absolute_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// Rows that no cache has are written by non-temporal stores, and a fence ends the call. It
// is made to fault: there the call stops, and all rows are written.
func TestNonTemporalSinusoidalEndsWithFence(t *testing.T) {
	const pairs, rows = 64, kernels.NonTemporalTable / 64
	s := testkit.Must(absolute.NewSinusoidal(absolute.SinusoidalConfig{Dim: 2 * pairs, InvFreq: testkit.LadderOf(pairs), Order: absolute.SinThenCos}))
	x, positions := testkit.Aligned(2*pairs*rows), testkit.Sequence(rows)
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		if impl == kernels.Generic {
			t.Skip("plain Go has no non-temporal stores")
		}
		clear(x)
		restore := testkit.TrapFences(t)
		_, functions := testkit.Fault(func() { testkit.NoError(t, absolute.SinusoidalRows(x, s, positions)) })
		restore()
		if !slices.ContainsFunc(functions, func(f string) bool { return strings.Contains(f, "FenceStores") }) {
			t.Errorf("the call came to no fence: %s", functions)
		}
		want := make([]float32, 2*pairs)
		for p := 0; p < rows; p += rows/64 - 1 {
			testkit.NoError(t, absolute.SinusoidalRows(want, s, positions[p:p+1]))
			if !testkit.SameBits(x[2*pairs*p:][:2*pairs], want) {
				t.Fatalf("row %d is not written", p)
			}
		}
	})
}
