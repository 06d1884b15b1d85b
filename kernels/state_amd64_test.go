//go:build amd64 && !purego

package kernels_test

import (
	"github.com/go-posenc/posenc/asm/bound"
	"github.com/go-posenc/posenc/kernels"
)

// asking is the implementation without which there is nothing to ask for the state by.
const asking = kernels.AVX2

// upperHalves counts the registers whose upper half is not 0.
func upperHalves() uint64 { return bound.UpperHalvesAVX2() }
