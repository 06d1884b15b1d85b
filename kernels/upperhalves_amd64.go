//go:build !purego

package kernels

import "golang.org/x/sys/cpu"

// clearing is what clears upper halves, whichever implementation was asked for.
var clearing = func() Implementation {
	if cpu.X86.HasAVX {
		return AVX2
	}
	return Generic
}()
