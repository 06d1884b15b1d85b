//go:build !(linux && amd64) || purego

package kit

import "testing"

// TrapFences skips the test: no kernel here is a fence.
func TrapFences(t testing.TB) (restore func()) {
	t.Helper()
	t.Skip("NOT TESTED: no kernel here is a fence, or code may not be changed")
	return nil
}
