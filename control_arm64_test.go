//go:build arm64 && !purego

package posenc

import "github.com/go-posenc/posenc/asm/bound"

func swapControl(control uint64) (before uint64) { return bound.SwapFPCRNEON(control) }

const defaultControl = 0

// Bits of FPCR.
var (
	flushModes = []controlMode{{"flush-to-zero", 1 << 24}}
	roundModes = []controlMode{{"up", 1 << 22}, {"down", 2 << 22}, {"towards zero", 3 << 22}}
)
