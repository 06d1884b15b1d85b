//go:build purego || !(amd64 || arm64)

package posenc

import "github.com/go-posenc/posenc/kernels"

func supported() []kernels.Implementation {
	return []kernels.Implementation{kernels.Generic}
}
