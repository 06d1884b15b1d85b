package testkit

import (
	"testing"

	"github.com/go-posenc/posenc/absolute"
)

func MustSinusoidal(t testing.TB) func(s *absolute.Sinusoidal, err error) *absolute.Sinusoidal {
	return func(s *absolute.Sinusoidal, err error) *absolute.Sinusoidal {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}
