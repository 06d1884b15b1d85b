package kit

import (
	"os"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// EachImplementation runs f once for every implementation that this GOARCH has,
// with the package switched to it.
func EachImplementation(t *testing.T, f func(t *testing.T, impl kernels.Implementation)) {
	t.Helper()
	readVariable()
	for _, impl := range dispatch.Compiled() {
		t.Run("impl="+impl.String(), func(t *testing.T) {
			if !slices.Contains(dispatch.Supported(), impl) {
				t.Skipf("NOT TESTED: the CPU, the operating system or GODEBUG does not allow %s", impl)
			}
			if !slices.Contains(Supported(), impl) {
				t.Skipf("NOT TESTED in Bochs: any machine has %s", impl)
			}
			defer dispatch.Use(impl)()
			f(t, impl)
		})
	}
}

// readVariable reads the variable that chooses the implementation where go test sees it:
// else it would take the results of another one from its cache.
func readVariable() { os.Getenv("POSENC_IMPL") }

// Supported returns the implementations of this machine, of those that POSENC_IMPL allows:
// in Bochs, which is a hundred times slower than a CPU, only AVX-512.
func Supported() []kernels.Implementation {
	readVariable()
	if Bochs {
		return []kernels.Implementation{kernels.AVX512}
	}
	return dispatch.Supported()
}
