package multimodal_test

import (
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/multimodal"
)

func TestReceivers(t *testing.T) {
	testkit.CheckReceivers(t, multimodal.Model{}, multimodal.Family(0), multimodal.Kind(0))
}
