package kit

import (
	"os"
	"testing"

	"github.com/go-posenc/posenc/kernels"
)

// Instrumented kernels panic above the limit and not at it.
func TestThousandElements(t *testing.T) {
	if !runsInstrumented() {
		t.Skip("TestBounded runs it")
	}
	EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for i, call := range []func(){
			func() { kernels.AddScaledF32(impl, make([]float32, 1000), make([]float32, 1000), 1) },
			func() {
				kernels.ScaleRowsF32(impl, make([]float32, 1000), 1, &kernels.Lines{Len: 25, Count: 40, Stride: 25})
			},
			func() {
				kernels.RotateInterleavedF32(impl, make([]float32, 1000), make([]float32, 1000), make([]float32, 20), make([]float32, 20), &kernels.Rotation{Pairs: 20, Tokens: 1, Heads: 25})
			},
		} {
			run := func() error { call(); return nil }
			if exceeds(t, 1000, run) || exceeds(t, 999, run) != (impl != kernels.Generic) {
				t.Errorf("call %d is not one of 1000 elements", i)
			}
		}
	})
}

func TestBounded(t *testing.T) {
	if _, err := os.Stat("../../../asm/_gen"); err != nil {
		t.Skip("NOT TESTED: what the go command keeps of a module cannot be instrumented")
	}
	newInstrumented(t).run(t, "TestThousandElements")
}
