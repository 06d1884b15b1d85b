//go:build arm64 && !purego

package kernels_test

import "github.com/go-posenc/posenc/asm/bound"

func swapControl(control uint64) (before uint64) { return bound.SwapFPCRNEON(control) }

// upperHalves is none: NEON has no wider registers.
func upperHalves() uint64 { return 0 }

const (
	defaultControl = 0
	exceptionFlags = 0 // they have a register of their own
)

// controlModes are bits of FPCR: flush-to-zero, and the roundings up, down and towards
// zero.
var controlModes = []uint64{1 << 24, 1 << 22, 2 << 22, 3 << 22}
