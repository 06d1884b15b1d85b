package testkit

import (
	"slices"
	"testing"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// OnEach calls f with the package switched to every implementation here.
func OnEach(f func(impl kernels.Implementation)) {
	for _, impl := range dispatch.Supported() {
		restore := dispatch.Use(impl)
		f(impl)
		restore()
	}
}

// EachImplementation runs f once for every implementation that this GOARCH has,
// with the package switched to it.
func EachImplementation(t *testing.T, f func(t *testing.T, impl kernels.Implementation)) {
	t.Helper()
	for _, impl := range dispatch.Compiled() {
		t.Run("impl="+impl.String(), func(t *testing.T) {
			if !slices.Contains(dispatch.Supported(), impl) {
				t.Skipf("NOT TESTED: the CPU, the operating system or GODEBUG does not allow %s", impl)
			}
			defer dispatch.Use(impl)()
			f(t, impl)
		})
	}
}
