//go:build arm64 && !purego

package dispatch

import "github.com/go-posenc/posenc/kernels"

// NEON is part of every arm64: there is nothing to detect.
// Supported lists the implementations that run here, from the fastest to the slowest.
func Supported() []kernels.Implementation {
	return []kernels.Implementation{kernels.NEON, kernels.Generic}
}
