//go:build purego || !(amd64 || arm64)

package yardstick

import "github.com/go-posenc/posenc/kernels"

func ScaleBounds(kernels.Implementation) []func(x []float32) {
	return []func(x []float32){func(x []float32) {
		for i := range x {
			x[i] *= 1
		}
	}}
}

func AddBounds(kernels.Implementation) []func(x []float32) {
	return []func(x []float32){func(x []float32) {
		for i := range x {
			x[i] += 0
		}
	}}
}

func StoreBounds(kernels.Implementation) []func(x []float32) {
	return []func(x []float32){func(x []float32) {
		for i := range x {
			x[i] = 1
		}
	}}
}

func NonTemporalBounds(impl kernels.Implementation) []func(x []float32) { return StoreBounds(impl) }
