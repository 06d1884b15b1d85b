//go:build arm64 && !purego

package dispatch

import "github.com/go-posenc/posenc/kernels"

var compiled = []kernels.Implementation{kernels.NEON, kernels.Generic}

// runs has nothing to detect: NEON is part of every arm64.
func runs(kernels.Implementation) bool { return true }

func needs(kernels.Implementation) []Feature { return nil }
