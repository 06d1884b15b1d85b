package relative_test

import (
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
)

func TestCases(t *testing.T) { testkit.TestCases(t) }
func FuzzCases(f *testing.F) { testkit.FuzzCases(f) }
