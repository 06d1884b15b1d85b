//go:build (amd64 || arm64) && !purego

package kit

import (
	"runtime"
	"testing"
)

// Go leaves the register as it is: a goroutine that is not locked to a thread may find
// what another left on it, and one on another thread does not.
func TestControlStaysOnThread(t *testing.T) {
	mode := FlushModes[0]
	mode.Under(func() {
		set := SwapControl(DefaultControl)
		SwapControl(set)
		runtime.GC()
		runtime.Gosched()
		now := SwapControl(DefaultControl)
		SwapControl(now)
		if now&^ExceptionFlags != set&^ExceptionFlags {
			t.Errorf("control is %#x after a garbage collection, was set to %#x", now, set)
		}
		elsewhere := make(chan uint64)
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			control := SwapControl(DefaultControl)
			SwapControl(control)
			elsewhere <- control
		}()
		if control := <-elsewhere; control&mode.Bits != 0 {
			t.Errorf("control is %#x on another thread", control)
		}
	})
}
