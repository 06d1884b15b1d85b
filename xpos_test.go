package posenc_test

import (
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

// Factors in the middle between two float32 and next to it, by mpmath at 400 bits.
func TestXPosRounds(t *testing.T) {
	for _, tt := range []struct {
		dim       int
		scaleBase float64
		distance  int32
		pair      int
		want      float32
	}{
		{64, 512, 3072, 11, 0x1.704f6p-6},         // (17/32)^6, the middle
		{64, 512, 3584, 18, 0x1.2959c4p-4},        // (11/16)^7, the middle
		{128, 65536, 1818165, 32, 0x1.3ea3dep-18}, // 2.0e-9 of a unit below the middle
		{128, 65536, 2368737, 12, 0x1.a5aap-46},   // 1.5e-8 above
		{128, 65536, 2822850, 30, 0x1.45c828p-30}, // 3.8e-9 below
		{128, 65536, 3876021, 8, 0x1.3d5748p-84},  // 6.0e-8 above
	} {
		for _, keys := range []bool{false, true} {
			r := testkit.MustRotary(posenc.RotaryConfig{HeadDim: tt.dim, Layout: posenc.HalfSplit, InvFreq: make([]float64, tt.dim/2), XPos: &posenc.XPos{ScaleBase: tt.scaleBase, Keys: keys}})
			position := tt.distance
			if keys {
				position = -position
			}
			cos, sin := make([]float32, tt.dim/2), make([]float32, tt.dim/2)
			testkit.NoError(t, r.CosSin(cos, sin, []int32{position}))
			if cos[tt.pair] != tt.want {
				t.Errorf("%+v, keys %t: %x", tt, keys, cos[tt.pair])
			}
		}
	}
}

// The factors are normal numbers up to 69*ScaleBase from the center, and what the
// documentation says beyond: the first pair decays by 2/7 in ScaleBase positions.
func TestXPosFar(t *testing.T) {
	const dim, scaleBase, center = 64, 512, -3
	for _, keys := range []bool{false, true} {
		r := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit, InvFreq: make([]float64, dim/2), XPos: &posenc.XPos{ScaleBase: scaleBase, Center: center, Keys: keys}})
		factor := func(distance float64) (smallest, largest, first float32) {
			p := int32(center + distance*scaleBase)
			if keys {
				p = int32(center - distance*scaleBase)
			}
			var cos, sin [dim / 2]float32
			testkit.NoError(t, r.CosSin(cos[:], sin[:], []int32{p}))
			return slices.Min(cos[:]), slices.Max(cos[:]), cos[0]
		}
		const normal = 0x1p-126
		for _, distance := range []float64{-69, 69} {
			if smallest, largest, _ := factor(distance); smallest < normal || math.IsInf(float64(largest), 0) {
				t.Errorf("keys %t, %v*ScaleBase: factors from %v to %v", keys, distance, smallest, largest)
			}
		}
		if _, _, first := factor(69.73); first == 0 || first >= normal {
			t.Errorf("keys %t: 69.73*ScaleBase has the factor %v", keys, first)
		}
		if _, _, first := factor(83); first != 0 {
			t.Errorf("keys %t: 83*ScaleBase has the factor %v", keys, first)
		}
		if _, _, first := factor(-70.83); !math.IsInf(float64(first), 1) {
			t.Errorf("keys %t: -70.83*ScaleBase has the factor %v", keys, first)
		}
	}
}
