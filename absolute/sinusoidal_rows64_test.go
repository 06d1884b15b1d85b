package absolute_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
)

// FuzzSinusoidalRows64 compares rows in float64 with their definition, taken at a
// few hundred bits by math/big.
func FuzzSinusoidalRows64(f *testing.F) {
	f.Add([]byte{3, 2, 0, 1}, []byte{0, 0, 0, 63, 0, 0, 128, 192, 1, 2, 3, 4}, []byte(nil))
	f.Add([]byte{2, 3, 1, 3, 1, 1}, []byte{1, 0, 0, 128, 255, 255, 127, 78}, binary.LittleEndian.AppendUint64(nil, math.Float64bits(0x1p17)))
	f.Add([]byte{1, 1, 2, 0, 1, 2, 2}, []byte{0, 0, 128, 127, 0, 0, 192, 127}, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Fuzz(func(t *testing.T, shape, positionData, frequencyData []byte) {
		c := testkit.Choices(shape)
		pairs, tokens := 1+c.Below(4), c.Below(4)
		cfg := absolute.SinusoidalConfig{InvFreq: testkit.Repeat64(pairs, frequencyData), Order: absolute.SinusoidalOrder(c.Below(3)), Axes: 1 + c.Below(2)}
		cfg.Scaling = []float64{0, 1, 1.25, 0x1p-140}[c.Below(4)]
		cfg.Dim = 2*cfg.Axes*pairs - 1 + c.Below(4)
		if c.Below(2) == 1 {
			cfg.Padding = new(int32)
		}
		s, err := absolute.NewSinusoidal(cfg)
		if err != nil {
			return
		}
		integers := testkit.RepeatPositions(tokens*cfg.Axes, positionData, uint8(c.Below(3)))
		if c.Below(2) == 0 {
			fuzzRows64(t, s, cfg, integers)
			return
		}
		fractions := make([]float32, len(integers))
		for i, p := range integers {
			fractions[i] = math.Float32frombits(uint32(p))
		}
		fuzzRows64(t, s, cfg, fractions)
	})
}

func fuzzRows64[P absolute.Position](t *testing.T, s *absolute.Sinusoidal, cfg absolute.SinusoidalConfig, positions []P) {
	t.Helper()
	tokens, n := len(positions)/cfg.Axes, len(cfg.InvFreq)
	scaling := float32(cfg.Scaling)
	if scaling == 0 {
		scaling = 1
	}
	rows := make([]float64, tokens*cfg.Dim)
	for i := range rows {
		rows[i] = 77
	}
	list := make([]float64, len(positions))
	for i, p := range positions {
		list[i] = float64(p)
	}
	err := absolute.SinusoidalRows64(rows, s, positions)
	if right := testkit.AnglesInRange(cfg.InvFreq, list); right != (err == nil) {
		t.Fatalf("positions %v, frequencies %v: error %v", positions, cfg.InvFreq, err)
	}
	if err != nil {
		if slices.ContainsFunc(rows, func(x float64) bool { return x != 77 }) {
			t.Fatalf("written before the error %v", err)
		}
		return
	}
	for i, got := range rows {
		token, axis, j := i/cfg.Dim, i%cfg.Dim/(2*n), i%cfg.Dim%(2*n)
		second, k := j/n, j%n
		if cfg.Order == absolute.SinCosInterleaved {
			second, k = j%2, j/2
		}
		want := 0.0
		if axis < cfg.Axes && (cfg.Padding == nil || list[token] != 0) {
			cos, sin := testkit.RealCosSin(testkit.NewReal().Mul(testkit.RealOf(list[axis*tokens+token]), testkit.RealOf(cfg.InvFreq[k])))
			if (second == 1) == (cfg.Order == absolute.CosThenSin) {
				cos = sin
			}
			want, _ = cos.Float64()
			want *= float64(scaling)
		}
		if got != want {
			t.Fatalf("%+v at %v: element %d is %x, want %x", cfg, positions, i, got, want)
		}
	}
}
