package posenc_test

import (
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

// Factors in the middle between two float32 and next to it, by mpmath at 400 bits, and next to the
// limits that the documentation gives: normal numbers up to 69*ScaleBase from the center, of which the
// first pair decays by 2/7 in ScaleBase positions.
func TestXPosRounds(t *testing.T) {
	inf, subnormal := float32(math.Inf(1)), math.Float32frombits(1<<23-1)
	for _, tt := range []struct {
		dim         int
		scaleBase   float64
		distance    int32
		pair        int
		least, most float32
	}{
		{64, 512, 3072, 11, 0x1.704f6p-6, 0x1.704f6p-6},           // (17/32)^6, the middle
		{64, 512, 3584, 18, 0x1.2959c4p-4, 0x1.2959c4p-4},         // (11/16)^7, the middle
		{128, 65536, 1818165, 32, 0x1.3ea3dep-18, 0x1.3ea3dep-18}, // 2.0e-9 of a unit below the middle
		{128, 65536, 2368737, 12, 0x1.a5aap-46, 0x1.a5aap-46},     // 1.5e-8 above
		{128, 65536, 2822850, 30, 0x1.45c828p-30, 0x1.45c828p-30}, // 3.8e-9 below
		{128, 65536, 3876021, 8, 0x1.3d5748p-84, 0x1.3d5748p-84},  // 6.0e-8 above
		{64, 512, 69 * 512, 0, 0x1p-126, 1}, {64, 512, 69 * 512, 31, 0x1p-126, 1},
		{64, 512, -69 * 512, 0, 1, math.MaxFloat32}, {64, 512, -69 * 512, 31, 1, math.MaxFloat32},
		{64, 512, 35701, 0, math.SmallestNonzeroFloat32, subnormal},  // 69.73*ScaleBase
		{64, 512, 83 * 512, 0, 0, 0}, {64, 512, -36264, 0, inf, inf}, // -70.83*ScaleBase
	} {
		for _, keys := range []bool{false, true} {
			const center = -3
			r := testkit.MustRotary(posenc.RotaryConfig{HeadDim: tt.dim, Layout: posenc.HalfSplit, InvFreq: make([]float64, tt.dim/2), XPos: &posenc.XPos{ScaleBase: tt.scaleBase, Center: center, Keys: keys}})
			position := center + tt.distance
			if keys {
				position = center - tt.distance
			}
			cos, sin := make([]float32, tt.dim/2), make([]float32, tt.dim/2)
			testkit.NoError(t, r.CosSin(cos, sin, []int32{position}))
			if got := cos[tt.pair]; !(got >= tt.least && got <= tt.most) {
				t.Errorf("%+v, keys %t: %x", tt, keys, got)
			}
		}
	}
}
