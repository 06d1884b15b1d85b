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

// CheckFlushing shows that where neither numbers nor results are subnormal, flushing
// them changes nothing.
func CheckFlushing(t *testing.T, name string) {
	r := newCaseRunner(t, name)
	EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for i, c := range sortedCases() {
			if c.Call == nil {
				continue
			}
			random := NewRand(1000 + uint64(i))
			for range Rounds(10) {
				shape := make([]byte, 400)
				for i := range shape {
					shape[i] = byte(random.Uint32())
				}
				for _, magnitude := range []float32{1, 0x1p-12} {
					r.flushing(t, &c, inputs{shape: shape, magnitude: magnitude})
				}
			}
		}
	})
}

func (r *caseRunner) flushing(t *testing.T, c *Case, in inputs) {
	t.Helper()
	m := r.make(c, in)
	if err := m.run(t, c.Function); err != nil {
		t.Fatalf("%s: %v", c.Function, err)
	}
	want := r.memory.save()
	for _, mode := range FlushModes {
		r.memory.restore(m.before)
		var err error
		mode.Under(func() { err = m.Run() })
		if err != nil {
			t.Fatalf("%s, %s: %v", c.Function, mode.Name, err)
		}
		r.check(t, c.Function+" on "+mode.Name, m, nil, want)
	}
}
