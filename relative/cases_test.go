package relative_test

import (
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/relative"
)

func TestMain(m *testing.M)  { testkit.Main(m) }
func TestCases(t *testing.T) { testkit.TestCases(t) }
func FuzzCases(f *testing.F) { testkit.FuzzCases(f) }
func TestReceivers(t *testing.T) {
	testkit.CheckReceivers(t, relative.T5Buckets{}, relative.DeBERTaBuckets{})
}
