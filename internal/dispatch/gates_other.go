//go:build purego || !(amd64 || arm64)

package dispatch

import "github.com/go-posenc/posenc/kernels"

var compiled = []kernels.Implementation{kernels.Generic}

// Needs lists nothing: plain Go runs on every CPU.
func Needs(kernels.Implementation) []Feature { return nil }
