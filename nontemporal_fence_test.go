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
	cfg := posenc.RotaryConfig{HeadDim: 2 * pairs, Layout: posenc.HalfSplit, Base: 10000}
	rope := testkit.MustRotary(cfg)
	positions := testkit.Sequence(2 * rows)
	cos, sin := testkit.Aligned(2*rows*pairs), testkit.Aligned(2*rows*pairs)
	source := testkit.Aligned(1024 * pairs)
	keys := func(s []float32) posenc.View[float32] { return posenc.View[float32]{Data: s, Heads: 1} }
	calls := map[string]struct {
		write  func(first, count int) error // rows, or tokens
		refuse func() error
		keys   bool // are what is written, in cos
		unit   int  // elements of cos for each
	}{
		"Rotary.CosSin": {
			write: func(first, count int) error {
				return rope.CosSin(cos[first*pairs:][:count*pairs], sin[first*pairs:][:count*pairs], positions[first:][:count])
			},
			refuse: func() error { return rope.CosSin(cos, sin[1:], positions) },
			unit:   pairs,
		},
		"RotateInto": {
			write: func(first, count int) error {
				data := cos[first*2*pairs:][:count*2*pairs]
				return posenc.RotateInto(rope.At(positions[first:][:count]), keys(data), nil, keys(slices.Repeat(source, len(data)/len(source))))
			},
			refuse: func() error {
				return posenc.RotateInto(rope.At(positions[:rows]), keys(cos), testkit.Sequence(rows-1), keys(cos))
			},
			keys: true, unit: 2 * pairs,
		},
	}
	for name, call := range calls {
		tokens := 2 * rows * pairs / call.unit
		// check compares some rows with those of small calls.
		check := func(t *testing.T) {
			t.Helper()
			for t0 := 0; t0 < tokens; t0 += tokens/64 + 1 {
				p := positions[t0 : t0+1]
				if call.keys {
					want := slices.Clone(source[:call.unit])
					copy(want, source[t0*call.unit%len(source):][:call.unit])
					testkit.NoError(t, posenc.Rotate(rope.At(p), keys(want)))
					if !testkit.SameBits(cos[t0*call.unit:][:call.unit], want) {
						t.Fatalf("token %d is not written", t0)
					}
					continue
				}
				wantCos, wantSin := make([]float32, pairs), make([]float32, pairs)
				testkit.NoError(t, rope.CosSin(wantCos, wantSin, p))
				if !testkit.SameBits(cos[t0*pairs:][:pairs], wantCos) || !testkit.SameBits(sin[t0*pairs:][:pairs], wantSin) {
					t.Fatalf("row %d is not written", t0)
				}
			}
		}
		t.Run(name, func(t *testing.T) {
			testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
				if impl == kernels.Generic {
					t.Skip("plain Go has no non-temporal stores")
				}
				for _, parts := range []int{1, 2} {
					clear(cos)
					clear(sin)
					restore := testkit.TrapFences(t)
					stopped := make([][]string, parts)
					var group sync.WaitGroup
					group.Add(parts)
					for i := range parts {
						go func() {
							defer group.Done()
							_, stopped[i] = testkit.Fault(func() {
								if err := call.write(i*tokens/parts, tokens/parts); err != nil {
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
					check(t)
				}
				clear(cos)
				restore := testkit.TrapFences(t)
				reason, _ := testkit.Fault(func() {
					if call.refuse() == nil {
						t.Error("no error")
					}
				})
				restore()
				if reason != nil || slices.ContainsFunc(cos, func(x float32) bool { return x != 0 }) {
					t.Errorf("a call with an error: %v, or something is written", reason)
				}
			})
		})
	}
}
