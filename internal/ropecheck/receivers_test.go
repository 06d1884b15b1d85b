package ropecheck_test

import (
	"errors"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestReceivers(t *testing.T) {
	testkit.CheckReceivers(t, ropecheck.Report{}, ropecheck.Hypothesis{}, ropecheck.ElementType(0))
	if err := (*ropecheck.ElementType)(nil).UnmarshalText([]byte("float16")); !errors.Is(err, posenc.ErrConfig) {
		t.Errorf("UnmarshalText of nil: %v", err)
	}
}
