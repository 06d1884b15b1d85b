package absolute_test

import (
	"testing"

	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestReceivers(t *testing.T) {
	testkit.CheckReceivers(t, absolute.Sinusoidal{})
}
