//go:build amd64 && !purego

package kit

import "github.com/go-posenc/posenc/internal/test/bound"

func SwapControl(control uint64) (before uint64) { return bound.SwapMXCSRAVX2(control) }

const (
	DefaultControl = 0x1f80 // all exceptions masked, as Go sets it
	ExceptionFlags = 0x3f
)

// Bits of MXCSR.
var (
	FlushModes = []ControlMode{{"flush-to-zero", 1 << 15}, {"denormals-are-zero", 1 << 6}, {"both", 1<<15 | 1<<6}}
	RoundModes = []ControlMode{{"down", 1 << 13}, {"up", 2 << 13}, {"towards zero", 3 << 13}}
)
