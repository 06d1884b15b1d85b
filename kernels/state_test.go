//go:build (amd64 || arm64) && !purego

package kernels_test

import (
	"runtime"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// A kernel leaves the state of its thread as it was: the modes of rounding and of
// flushing to zero, whether Go's own or set by a caller, and on amd64 no upper half of a
// register, which would slow down what follows.
func TestStateIsKept(t *testing.T) {
	if len(controlModes) == 0 {
		t.Skip("NOT TESTED: the CPU has no AVX to ask for its state with")
	}
	const n = 40 // whole vectors and a rest
	eachOperation(t, registry, func(t *testing.T, impl kernels.Implementation, o *operation) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		r := testkit.NewRand(9)
		for _, mode := range append([]uint64{0}, controlModes...) {
			p := o.problem(r, n, false)
			a := p.arguments
			a.memory = map[string][]byte{}
			for i := range o.slices {
				s := &o.slices[i]
				_, a.memory[s.name] = padded(r, o)(s, p.size[s.name])
				if s.name == "x" && p.inPlace {
					a.memory["x"] = a.memory["y"]
				}
			}
			if p.prepare != nil {
				p.prepare(r, &a)
			}
			before := swapControl(defaultControl)
			swapControl(before | mode)
			o.call(impl, &a)
			dirty := upperHalves()
			after := swapControl(before)
			if after&^exceptionFlags != (before|mode)&^exceptionFlags {
				t.Errorf("the control register is %#x after a call, was %#x", after, before|mode)
			}
			if dirty != 0 && impl != kernels.Generic {
				t.Errorf("the upper halves of %d registers are not 0", dirty)
			}
		}
	})
}
