//go:build arm64 && !purego

package kit

import "github.com/go-posenc/posenc/internal/test/bound"

func SwapControl(control uint64) (before uint64) { return bound.SwapFPCRNEON(control) }

const (
	DefaultControl = 0 // as Go sets it
	ExceptionFlags = 0 // they have a register of their own
)

// Bits of FPCR.
var (
	FlushModes = []ControlMode{{"flush-to-zero", 1 << 24}}
	RoundModes = []ControlMode{{"up", 1 << 22}, {"down", 2 << 22}, {"towards zero", 3 << 22}}
)
