//go:build (amd64 || arm64) && !purego

package kernels_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/internal/test/operations"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/kernels"
)

// A kernel leaves the state of its thread as it was: the modes of rounding and of
// flushing to zero, whether Go's own or set by a caller, and on amd64 no upper half of a
// register, which would slow down what follows.
func TestStateIsKept(t *testing.T) {
	if !slices.Contains(dispatch.Supported(), asking) {
		t.Skip("NOT TESTED: the CPU has no AVX to ask for its state with")
	}
	modes := append([]kit.ControlMode{{}}, append(kit.FlushModes, kit.RoundModes...)...)
	const n = 40 // whole vectors and a rest
	operations.OnEachImplementation(t, everyOperation(), func(t *testing.T, impl kernels.Implementation, o *operations.Operation) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		r := kit.NewRand(9)
		for _, mode := range modes {
			p := o.Problem(r, n, false)
			a := p.Arguments
			a.Memory = map[string][]byte{}
			for i := range o.Slices {
				s := &o.Slices[i]
				_, a.Memory[s.Name] = operations.Padded(r, o)(s, p.Size[s.Name])
				if s.Name == "x" && p.InPlace {
					a.Memory["x"] = a.Memory["y"]
				}
			}
			if p.Prepare != nil {
				p.Prepare(r, &a)
			}
			before := kit.SwapControl(kit.DefaultControl)
			kit.SwapControl(before | mode.Bits)
			o.Call(impl, &a)
			dirty := upperHalves()
			after := kit.SwapControl(before)
			if after&^kit.ExceptionFlags != (before|mode.Bits)&^kit.ExceptionFlags {
				t.Errorf("the control register is %#x after a call, was %#x", after, before|mode.Bits)
			}
			if dirty != 0 && impl != kernels.Generic {
				t.Errorf("the upper halves of %d registers are not 0", dirty)
			}
		}
	})
}
