package posenc_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// Where a call that writes by non-temporal stores comes to its fence, everything is
// written, also where it is one of several of a table or of keys that goroutines write. The
// fence is made to fault: there the call stops. A call that returns an error writes nothing
// and comes to no fence. That each function has its fence is for TestCases/fences.
func TestNonTemporalCallsEndWithFence(t *testing.T) {
	if testkit.Fuzzing() {
		t.Skip("NOT TESTED: fuzzing changes the wrappers")
	}
	const pairs, rows = 64, kernels.NonTemporalTable / 64
	rope, positions := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 2 * pairs, Layout: posenc.HalfSplit, Base: 10000}), testkit.Sequence(2*rows)
	memory, source := testkit.Aligned(4*rows*pairs), testkit.Aligned(2*rows*pairs)
	cos, sin := memory[:2*rows*pairs], memory[2*rows*pairs:]
	keys := func(s []float32) posenc.View[float32] { return posenc.View[float32]{Data: s, Heads: 1} }
	for name, call := range map[string]struct {
		tokens int
		write  func(first, count int) error
		refuse func() error
	}{
		"Rotary.CosSin": {
			2 * rows,
			func(first, count int) error {
				return rope.CosSin(cos[first*pairs:][:count*pairs], sin[first*pairs:][:count*pairs], positions[first:][:count])
			},
			func() error { return rope.CosSin(cos, sin[1:], positions) },
		},
		"RotateInto": {
			rows,
			func(first, count int) error {
				at, n := first*2*pairs, count*2*pairs
				return posenc.RotateInto(rope.At(positions[first:][:count]), keys(cos[at:][:n]), nil, keys(source[at:][:n]))
			},
			func() error {
				return posenc.RotateInto(rope.At(positions[:rows]), keys(cos), testkit.Sequence(rows-1), keys(cos))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
				if impl == kernels.Generic || name == "Rotary.CosSin" && !impl.NonTemporalTable(len(memory)/2) {
					t.Skip("plain Go has no non-temporal stores, and AVX2 none for a table of this size")
				}
				clear(memory)
				testkit.NoError(t, call.write(0, call.tokens))
				want := slices.Clone(memory)
				for _, parts := range []int{1, 2} {
					clear(memory)
					restore := testkit.TrapFences(t)
					stopped := make([][]string, parts)
					var group sync.WaitGroup
					group.Add(parts)
					for i := range parts {
						go func() {
							defer group.Done()
							_, stopped[i] = testkit.Fault(func() {
								if err := call.write(i*call.tokens/parts, call.tokens/parts); err != nil {
									t.Error(err)
								}
							})
						}()
					}
					group.Wait()
					restore()
					for i, functions := range stopped {
						if !slices.ContainsFunc(functions, func(f string) bool { return strings.Contains(f, "FenceStores") }) {
							t.Errorf("part %d of %d came to no fence: %s", i, parts, functions)
						}
					}
					if i := testkit.FirstDifference(memory, want); i >= 0 {
						t.Errorf("in %d parts: number %d is not written", parts, i)
					}
				}
				clear(memory)
				restore := testkit.TrapFences(t)
				reason, _ := testkit.Fault(func() {
					if call.refuse() == nil {
						t.Error("no error")
					}
				})
				restore()
				if reason != nil || slices.ContainsFunc(memory, func(x float32) bool { return x != 0 }) {
					t.Errorf("a call with an error: %v, or something is written", reason)
				}
			})
		})
	}
}
