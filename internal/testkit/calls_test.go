package testkit

import (
	"testing"

	"github.com/go-posenc/posenc/kernels"
)

func TestThousandElements(t *testing.T) {
	EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		kernels.AddScaledF32(impl, make([]float32, 1000), make([]float32, 1000), 1)
		kernels.ScaleRowsF32(impl, make([]float32, 900), 1, &kernels.Lines{Len: 30, Count: 30, Stride: 30})
		kernels.RotateInterleavedF32(impl, make([]float32, 900), make([]float32, 900), make([]float32, 15), make([]float32, 15), &kernels.Rotation{Pairs: 15, Tokens: 1, Heads: 30})
	})
}

// The kernels panic above the limit and not at it.
func TestCallsAreBounded(t *testing.T) {
	CallsAreBounded(t, "TestThousandElements", 1000)
}
