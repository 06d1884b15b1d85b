//go:build purego || !(amd64 || arm64)

package main

func bounds() []bound { return plainBounds() }
