//go:build arm64 && !purego

package dispatch

import "github.com/go-posenc/posenc/kernels"

// Supported lists the implementations that run here, from the fastest to the slowest.
// NEON is part of every arm64: there is nothing to detect.
func Supported() []kernels.Implementation {
	return []kernels.Implementation{kernels.NEON, kernels.Generic}
}

// Compiled lists the implementations of this build, whatever the CPU has.
func Compiled() []kernels.Implementation {
	return []kernels.Implementation{kernels.NEON, kernels.Generic}
}
