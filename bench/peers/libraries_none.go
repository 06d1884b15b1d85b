//go:build !cgopeers || !cgo || !linux || !amd64

package peers

import "runtime"

func cgoPeers() ([]Peer, []string) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return nil, []string{"SLEEF, libmvec: for linux/amd64 only"}
	}
	return nil, []string{"SLEEF, libmvec: built without -tags cgopeers, or without cgo, which needs a C compiler"}
}
