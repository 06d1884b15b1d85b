//go:build purego || !amd64

package dispatch

import "github.com/go-posenc/posenc/kernels"

// compiled lists the implementations of this build: outside amd64 none of them
// depends on the CPU.
func compiled() []kernels.Implementation { return supported() }
