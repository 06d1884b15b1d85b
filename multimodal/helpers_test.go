package multimodal_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/multimodal"
)

var sentinels = []error{posenc.ErrConfig, posenc.ErrLength, posenc.ErrShape, posenc.ErrOverlap, posenc.ErrPosition}

// wellFormed reports whether an error begins with the package, and wraps one sentinel, with
// which it ends.
func wellFormed(err error) bool {
	kinds := 0
	for _, kind := range sentinels {
		if errors.Is(err, kind) && strings.HasSuffix(err.Error(), ": "+kind.Error()) {
			kinds++
		}
	}
	text := fmt.Sprint(err)
	return kinds == 1 && strings.HasPrefix(text, "multimodal.") && len(text) < 500
}

// fails checks the error of a call that has to fail.
func fails(t *testing.T, err, kind error, says ...string) {
	t.Helper()
	if !errors.Is(err, kind) || !wellFormed(err) {
		t.Errorf("%v, want an error that wraps %q", err, kind)
		return
	}
	for _, part := range says {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
}

func TestMain(m *testing.M) { testkit.Main(m) }

func TestReceivers(t *testing.T) {
	testkit.CheckReceivers(t, multimodal.Family(0), multimodal.Kind(0), multimodal.Model{})
}
