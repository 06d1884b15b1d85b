package relative_test

import (
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/relative"
)

func TestReceivers(t *testing.T) {
	testkit.CheckReceivers(t, relative.T5Buckets{}, relative.DeBERTaBuckets{})
}
