//go:build !goexperiment.simd || !amd64

package peers

import "runtime"

func archsimdPeers() ([]Peer, []string) {
	if runtime.GOARCH != "amd64" {
		return nil, []string{"simd/archsimd: for amd64 only"}
	}
	return nil, []string{"simd/archsimd: built without GOEXPERIMENT=simd"}
}
