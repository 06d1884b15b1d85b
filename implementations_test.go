package posenc_test

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/testkit"
)

// TestImplementations says what the suite runs. POSENC_REQUIRE names
// implementations, separated by commas, without which it fails.
func TestImplementations(t *testing.T) {
	var names []string
	for _, impl := range dispatch.Supported() {
		names = append(names, impl.String())
	}
	t.Logf("%s/%s: tested here: %s; in use: %s", runtime.GOOS, runtime.GOARCH, strings.Join(names, ", "), posenc.Implementation())
	for _, impl := range dispatch.Compiled() {
		if !slices.Contains(dispatch.Supported(), impl) {
			t.Logf("NOT TESTED here: %s", impl)
		}
	}
	if testkit.Float16TiesUp {
		t.Log("NOT TESTED here: ties of float16, which Bochs rounds up")
	}
	for name := range strings.SplitSeq(os.Getenv("POSENC_REQUIRE"), ",") {
		if name != "" && !slices.Contains(names, name) {
			t.Errorf("POSENC_REQUIRE asks for %q; this machine and build have %s", name, strings.Join(names, ", "))
		}
	}
}
