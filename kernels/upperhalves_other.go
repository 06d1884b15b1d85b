//go:build !amd64 || purego

package kernels

// clearing is what clears upper halves: there are none.
const clearing = Generic
