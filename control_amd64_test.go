//go:build amd64 && !purego

package posenc_test

import "github.com/go-posenc/posenc/asm/bound"

func swapControl(control uint64) (before uint64) { return bound.SwapMXCSRAVX2(control) }

// All exceptions masked, as Go sets it.
const defaultControl = 0x1f80

// Bits of MXCSR.
var (
	flushModes = []controlMode{{"flush-to-zero", 1 << 15}, {"denormals-are-zero", 1 << 6}, {"both", 1<<15 | 1<<6}}
	roundModes = []controlMode{{"down", 1 << 13}, {"up", 2 << 13}, {"towards zero", 3 << 13}}
)
