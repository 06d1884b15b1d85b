//go:build arm64 && !purego

package kernels_test

import "github.com/go-posenc/posenc/kernels"

// asking is the implementation without which there is nothing to ask for the state by.
const asking = kernels.NEON

// upperHalves is none: NEON has no wider registers.
func upperHalves() uint64 { return 0 }
