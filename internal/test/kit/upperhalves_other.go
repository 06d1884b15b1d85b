//go:build !amd64 || purego

package kit

import "testing"

// checkUpperHalves skips: there are none, or nothing here reads them.
func checkUpperHalves(t *testing.T, _ instrumented) {
	t.Skip("NOT TESTED: upper halves of vector registers in use, which takes kernels of amd64")
}

func watchedFMA(*testing.T) map[string][]byte { return map[string][]byte{} }
