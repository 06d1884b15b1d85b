//go:build purego || !(amd64 || arm64)

package dispatch

import "github.com/go-posenc/posenc/kernels"

// Supported lists the implementations that run here, from the fastest to the slowest.
func Supported() []kernels.Implementation {
	return []kernels.Implementation{kernels.Generic}
}

// Compiled lists the implementations of this build, whatever the CPU has.
func Compiled() []kernels.Implementation {
	return []kernels.Implementation{kernels.Generic}
}
