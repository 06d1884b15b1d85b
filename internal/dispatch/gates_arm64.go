//go:build arm64 && !purego

package dispatch

import "github.com/go-posenc/posenc/kernels"

var compiled = []kernels.Implementation{kernels.NEON, kernels.Generic}

// Needs lists nothing: NEON is part of every arm64.
func Needs(kernels.Implementation) []Feature { return nil }
