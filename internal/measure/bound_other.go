//go:build purego || !(amd64 || arm64)

package measure

var assembly []bound
