package modelconfig

import (
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
