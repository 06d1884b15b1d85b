package testkit

import (
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
)

// FrequenciesOf returns the frequencies that a configuration means.
func FrequenciesOf(t testing.TB, cfg posenc.RotaryConfig) []float64 {
	t.Helper()
	if cfg.InvFreq != nil {
		return cfg.InvFreq
	}
	dim, base := cfg.RotaryDim, cfg.Base
	if dim == 0 {
		dim = cfg.HeadDim
	}
	if base == 0 {
		base = 10000
	}
	ladder, err := frequency.Default(dim, base, frequency.Rounding(cfg.AngleRounding))
	if err != nil {
		t.Fatal(err)
	}
	return ladder.InvFreq
}
