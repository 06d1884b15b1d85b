//go:build purego || !(amd64 || arm64)

package yardstick

var assembly []bound
