package modelconfig_test

import (
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig"
)

func TestReceivers(t *testing.T) {
	testkit.CheckReceivers(t, modelconfig.Model{}, modelconfig.Rope{}, modelconfig.LayerRows{})
}
