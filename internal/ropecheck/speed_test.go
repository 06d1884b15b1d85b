package ropecheck_test

import (
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/go-posenc/posenc/internal/testkit"
)

// BenchmarkCheck checks 2048 tokens of 32 heads.
func BenchmarkCheck(b *testing.B) {
	positions := make([]int32, 2048)
	for i := range positions {
		positions[i] = int32(i)
	}
	cfg := posenc.RotaryConfig{HeadDim: 128, Layout: posenc.HalfSplit, Base: 500000}
	d := rotated(cfg, positions, 32)
	other := cfg
	other.Base = 10000
	for _, bb := range []struct {
		name string
		cfg  posenc.RotaryConfig
	}{{"right", cfg}, {"wrong", other}} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				testkit.Must(ropecheck.Check(d, ropecheck.Candidate{Name: "model", Config: bb.cfg}))
			}
		})
	}
}
