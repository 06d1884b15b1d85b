package posenc_test

import (
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestCases(t *testing.T) { testkit.TestCases(t) }
func FuzzCases(f *testing.F) { testkit.FuzzCases(f) }

func TestReceivers(t *testing.T) {
	testkit.CheckReceivers(t, posenc.Rotary{}, posenc.Rows{}, posenc.DualChunk{}, posenc.PagedView{}, posenc.Layout(0), frequency.Rounding(0))
}
