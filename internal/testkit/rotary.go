package testkit

import (
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/generic"
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
	ladder, err := frequency.Default(dim, base, frequency.Rounding(cfg.Angles))
	if err != nil {
		t.Fatal(err)
	}
	return ladder.InvFreq
}

// TablesOf returns generic's rows for the positions.
func TablesOf(t testing.TB, cfg posenc.RotaryConfig, positions []int32, direction float32) (cos, sin []float32) {
	t.Helper()
	invFreq := FrequenciesOf(t, cfg)
	n := len(invFreq)
	scaling := float32(cfg.AttentionFactor)
	if scaling == 0 {
		scaling = 1
	}
	invFreq32 := make([]float32, n)
	for i, w := range invFreq {
		invFreq32[i] = float32(w)
	}
	cos, sin = make([]float32, len(positions)*n), make([]float32, len(positions)*n)
	for i, p := range positions {
		if cfg.Angles == posenc.Float32Angles {
			generic.CosSinFloat32(cos[i*n:], sin[i*n:], invFreq32, float32(p), scaling, scaling*direction)
		} else {
			generic.CosSinExact(cos[i*n:], sin[i*n:], p, invFreq, scaling, scaling*direction)
		}
	}
	return cos, sin
}
