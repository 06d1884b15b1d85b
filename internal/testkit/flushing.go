//go:build (amd64 || arm64) && !purego

package testkit

import (
	"runtime"
	"testing"

	"github.com/go-posenc/posenc/kernels"
)

// ControlMode is bits of the register that controls the floating-point arithmetic of a
// thread.
type ControlMode struct {
	Name string
	Bits uint64
}

// Under runs f with the arithmetic of its thread in a mode.
func (m ControlMode) Under(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := SwapControl(DefaultControl)
	SwapControl(before | m.Bits)
	f()
	SwapControl(before)
}

// checkFlushing shows that where neither numbers nor results are subnormal, flushing
// them changes nothing, and logs what it changes where they are, and what other modes of
// rounding change. The modes end with the call.
func checkFlushing(t *testing.T) {
	r := newCaseRunner(t)
	EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for i, c := range sortedCases() {
			if c.Call == nil {
				continue
			}
			random := NewRand(1000 + uint64(i))
			for round := range Rounds(10) {
				shape := make([]byte, 400)
				for i := range shape {
					shape[i] = byte(random.Uint32())
				}
				for _, magnitude := range []float32{1, 0x1p-12} {
					in := inputs{shape: shape, magnitude: magnitude}
					for _, mode := range FlushModes {
						if count, different := r.under(t, mode, &c, in); different > 0 {
							t.Errorf("%s of %v, %s: %d of %d results differ", c.Function, magnitude, mode.Name, different, count)
						}
					}
				}
				if round > 0 {
					continue
				}
				for _, mode := range FlushModes {
					count, different := r.under(t, mode, &c, inputs{shape: shape, magnitude: 0x1p-130})
					t.Logf("%s of 2^-130, %s: %d of %d results differ", c.Function, mode.Name, different, count)
				}
				for _, mode := range RoundModes {
					count, different := r.under(t, mode, &c, inputs{shape: shape, magnitude: 1})
					t.Logf("%s of 1, rounding %s: %d of %d results differ", c.Function, mode.Name, different, count)
				}
			}
		}
	})
}

// under makes a right call in a mode, and before and after it without, and returns how
// many results there are, and how many are others in the mode.
func (r *caseRunner) under(t *testing.T, mode ControlMode, c *Case, in inputs) (count, different int) {
	t.Helper()
	m := r.make(c, in)
	run := func() snapshot {
		r.memory.restore(m.before)
		if err := m.run(t, c.Function); err != nil {
			t.Fatalf("%s: %v", c.Function, err)
		}
		return r.memory.save()
	}
	want := run()
	mode.Under(func() { run() })
	for _, results := range m.results {
		results(&resultCheck{t: t, memory: r.memory, want: want, count: &count, different: &different})
	}
	run()
	r.check(t, c.Function+" after "+mode.Name, m, nil, want)
	return count, different
}
