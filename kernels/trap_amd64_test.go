//go:build linux && amd64 && !purego

package kernels_test

import (
	"testing"

	"github.com/go-posenc/posenc/asm"
	"github.com/go-posenc/posenc/internal/test/kit"
)

// withoutMemory is the kernels that touch no memory.
var withoutMemory = map[string]func(){"FenceStores": asm.FenceStoresAVX2, "ClearUpperHalves": asm.ClearUpperHalvesAVX2}

// trap makes the kernel of an operation fault where it begins, until restore is called.
func trap(t *testing.T, operation string) (restore func()) {
	t.Helper()
	kernel := withoutMemory[operation]
	if kernel == nil {
		t.Fatalf("%s takes no memory, and is not among the kernels to trap", operation)
	}
	return kit.Trap(t, kernel)
}
