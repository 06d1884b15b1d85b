//go:build arm64 && !purego

package yardstick

import (
	"unsafe"

	"github.com/go-posenc/posenc/asm/bound"
	"github.com/go-posenc/posenc/kernels"
)

func ScaleBounds(kernels.Implementation) []func(x []float32) {
	return []func(x []float32){
		func(x []float32) { bound.ScaleF32NEON(unsafe.SliceData(x), len(x), 1) },
		func(x []float32) { bound.ScalePrefetchF32NEON(unsafe.SliceData(x), len(x), 1) },
	}
}

func AddBounds(kernels.Implementation) []func(x []float32) {
	return []func(x []float32){
		func(x []float32) { bound.AddF32NEON(unsafe.SliceData(x), len(x), 0) },
		func(x []float32) { bound.AddPrefetchF32NEON(unsafe.SliceData(x), len(x), 0) },
	}
}

func StoreBounds(kernels.Implementation) []func(x []float32) {
	return []func(x []float32){func(x []float32) { bound.StoreF32NEON(unsafe.SliceData(x), len(x), 1) }}
}

func NonTemporalBounds(kernels.Implementation) []func(x []float32) {
	return []func(x []float32){func(x []float32) { bound.StoreNonTemporalF32NEON(unsafe.SliceData(x), len(x), 1) }}
}
