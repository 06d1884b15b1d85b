//go:build !ggml || !cgo

package peers

func ggmlPeers() ([]Peer, []string) {
	return nil, []string{"ggml: built without -tags ggml, or without cgo, which needs a C compiler"}
}
