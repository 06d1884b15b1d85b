//go:build amd64 && !purego

package yardstick

import (
	"unsafe"

	"github.com/go-posenc/posenc/asm/bound"
	"github.com/go-posenc/posenc/kernels"
)

// bounds are the loops that no operation on the same memory can beat, by the
// instructions they need.
func ScaleBounds(impl kernels.Implementation) []func(x []float32) {
	const unit = 1 // data stays normal
	list := []func(x []float32){
		func(x []float32) { bound.ScaleF32AVX2(unsafe.SliceData(x), len(x), unit) },
		func(x []float32) { bound.ScalePrefetchF32AVX2(unsafe.SliceData(x), len(x), unit) },
	}
	if impl == kernels.AVX512 {
		list = append(list,
			func(x []float32) { bound.ScaleF32AVX512(unsafe.SliceData(x), len(x), unit) },
			func(x []float32) { bound.ScalePrefetchF32AVX512(unsafe.SliceData(x), len(x), unit) },
		)
	}
	return list
}

func AddBounds(impl kernels.Implementation) []func(x []float32) {
	list := []func(x []float32){
		func(x []float32) { bound.AddF32AVX2(unsafe.SliceData(x), len(x), 0) },
		func(x []float32) { bound.AddPrefetchF32AVX2(unsafe.SliceData(x), len(x), 0) },
	}
	if impl == kernels.AVX512 {
		list = append(list,
			func(x []float32) { bound.AddF32AVX512(unsafe.SliceData(x), len(x), 0) },
			func(x []float32) { bound.AddPrefetchF32AVX512(unsafe.SliceData(x), len(x), 0) },
		)
	}
	return list
}

func StoreBounds(impl kernels.Implementation) []func(x []float32) {
	list := []func(x []float32){func(x []float32) { bound.StoreF32AVX2(unsafe.SliceData(x), len(x), 1) }}
	if impl == kernels.AVX512 {
		list = append(list, func(x []float32) { bound.StoreF32AVX512(unsafe.SliceData(x), len(x), 1) })
	}
	return list
}

func NonTemporalBounds(impl kernels.Implementation) []func(x []float32) {
	list := []func(x []float32){func(x []float32) { bound.StoreNonTemporalF32AVX2(unsafe.SliceData(x), len(x), 1) }}
	if impl == kernels.AVX512 {
		list = append(list, func(x []float32) { bound.StoreNonTemporalF32AVX512(unsafe.SliceData(x), len(x), 1) })
	}
	return list
}
