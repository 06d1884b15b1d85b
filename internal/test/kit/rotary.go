package kit

import (
	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
)

func MustRotary(cfg posenc.RotaryConfig) *posenc.Rotary { return Must(posenc.NewRotary(cfg)) }

// FrequenciesOf returns the frequencies that a configuration means.
func FrequenciesOf(cfg posenc.RotaryConfig) []float64 {
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
	return Must(frequency.Default(dim, base, frequency.Rounding(cfg.Rounding))).InvFreq
}
