//go:build purego || !(amd64 || arm64)

package posenc

import "github.com/go-posenc/posenc/kernels"

func scaleBounds(kernels.Implementation) []func(x []float32) {
	return []func(x []float32){func(x []float32) {
		for i := range x {
			x[i] *= 1
		}
	}}
}

func addBounds(kernels.Implementation) []func(x []float32) {
	return []func(x []float32){func(x []float32) {
		for i := range x {
			x[i] += 0
		}
	}}
}

func storeBounds(kernels.Implementation) []func(x []float32) {
	return []func(x []float32){func(x []float32) {
		for i := range x {
			x[i] = 1
		}
	}}
}

func nonTemporalBounds(impl kernels.Implementation) []func(x []float32) { return storeBounds(impl) }
