//go:build purego || !(amd64 || arm64)

package dispatch

import "github.com/go-posenc/posenc/kernels"

var compiled = []kernels.Implementation{kernels.Generic}

func runs(kernels.Implementation) bool { return true }

func needs(kernels.Implementation) []Feature { return nil }
