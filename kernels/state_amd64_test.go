//go:build amd64 && !purego

package kernels_test

import (
	"slices"

	"github.com/go-posenc/posenc/asm/bound"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

func swapControl(control uint64) (before uint64) { return bound.SwapMXCSRAVX2(control) }

// upperHalves counts the registers whose upper half is not 0.
func upperHalves() uint64 { return bound.UpperHalvesAVX2() }

const (
	defaultControl = 0x1f80 // all exceptions masked, as Go sets it
	exceptionFlags = 0x3f
)

// controlModes are bits of MXCSR: flush-to-zero with denormals-are-zero, and the roundings
// down, up and towards zero. Without AVX there is nothing to ask it by.
var controlModes = []uint64{1<<15 | 1<<6, 1 << 13, 2 << 13, 3 << 13}

func init() {
	if !slices.Contains(dispatch.Supported(), kernels.AVX2) {
		controlModes = nil
	}
}
