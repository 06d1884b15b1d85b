//go:build arm64 && !purego

package posenc

import "github.com/go-posenc/posenc/kernels"

// supported needs to detect nothing: NEON is part of every arm64.
func supported() []kernels.Implementation {
	return []kernels.Implementation{kernels.NEON, kernels.Generic}
}
