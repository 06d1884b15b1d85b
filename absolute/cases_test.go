package absolute_test

import (
	"testing"

	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestMain(m *testing.M)      { testkit.Main(m) }
func TestCases(t *testing.T)     { testkit.TestCases(t) }
func FuzzCases(f *testing.F)     { testkit.FuzzCases(f) }
func TestReceivers(t *testing.T) { testkit.CheckReceivers(t, absolute.Sinusoidal{}) }
