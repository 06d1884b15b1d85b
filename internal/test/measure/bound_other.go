//go:build purego || !(amd64 || arm64)

package measure

var assembly []bound

var loadStores []func(x, y *float32, n, bytes int)
