//go:build (amd64 || arm64) && !purego

package kit

import (
	"runtime"
	"testing"

	"github.com/go-posenc/posenc/internal/dispatch"
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
	readVariable()
	r := newCaseRunner(t)
	for _, c := range sortedCases() {
		if c.Call == nil {
			continue
		}
		random := c.rand(1)
		for round := range Rounds(10) {
			shape := make([]byte, 400)
			for i := range shape {
				shape[i] = byte(random.Uint32())
			}
			for _, magnitude := range []float32{1, 0x1p-12} {
				r.under(t, FlushModes, &c, inputs{shape: shape, magnitude: magnitude}, t.Errorf)
			}
			if round > 0 {
				continue
			}
			r.under(t, FlushModes, &c, inputs{shape: shape, magnitude: 0x1p-130}, t.Logf)
			r.under(t, RoundModes, &c, inputs{shape: shape, magnitude: 1}, t.Logf)
		}
	}
}

// under makes a right call on every implementation, in each mode and after it without, and
// reports how many results are others in the mode, if any.
func (r *caseRunner) under(t *testing.T, modes []ControlMode, c *Case, in inputs, report func(format string, a ...any)) {
	t.Helper()
	m := r.make(c, in)
	run := func() snapshot {
		m.again()
		if err := m.run(t, c.Function); err != nil {
			t.Fatalf("%s: %v", c.Function, err)
		}
		return r.memory.save()
	}
	restore := dispatch.Use(kernels.Generic)
	want := run()
	restore()
	for _, impl := range dispatch.Supported() {
		restore := dispatch.Use(impl)
		for _, mode := range modes {
			count, different := 0, 0
			mode.Under(func() { run() })
			for _, results := range m.results {
				results(&resultCheck{t: t, memory: r.memory, want: want, count: &count, different: &different})
			}
			if different > 0 {
				report("%s of %v on %s, %s: %d of %d results differ", c.Function, in.magnitude, impl, mode.Name, different, count)
			}
			run()
			r.check(t, c.Function+" after "+mode.Name, m, nil, want)
		}
		restore()
	}
}
