package kit

import (
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/internal/dispatch"
)

// Aligned returns n float32 that start on a cache line, all 1.
func Aligned(n int) []float32 {
	s := make([]float32, n+16)
	for uintptr(unsafe.Pointer(&s[0]))%64 != 0 {
		s = s[1:]
	}
	s = s[:n:n]
	for i := range s {
		s[i] = 1
	}
	return s
}

// BenchmarkEach runs a benchmark on every implementation of this machine.
func BenchmarkEach(b *testing.B, run func(b *testing.B)) {
	for _, impl := range dispatch.Supported() {
		restore := dispatch.Use(impl)
		b.Run("impl="+impl.String(), run)
		restore()
	}
}
