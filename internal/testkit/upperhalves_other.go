//go:build !amd64 || purego

package testkit

import "testing"

// checkUpperHalves skips: there are none, or nothing here reads them.
func checkUpperHalves(t *testing.T) {
	t.Skip("NOT TESTED: upper halves of vector registers in use, which takes kernels of amd64")
}
