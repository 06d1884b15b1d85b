package posenc_test

import (
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestCosSinFourierErrors(t *testing.T) {
	memory := make([]float32, 64)
	cos, sin, matrix := memory[:12], memory[12:24], memory[24:32] // 2 tokens of 2 heads of 3 pairs, of 2 frequencies
	r := func(dim, offset int) *posenc.Rotary {
		return testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, RotaryDim: 4, Offset: offset, Layout: posenc.HalfSplit})
	}
	whole, positions, c := r(6, 0), []int32{1, 2}, posenc.FourierCoefficients{Cos: matrix, Sin: matrix}
	fails := testkit.Failures(t, memory)
	fails((*posenc.Rotary)(nil).CosSinFourier(cos, sin, positions, c), posenc.ErrConfig, "posenc.Rotary.CosSinFourier: r is nil or zero")
	fails(r(7, 0).CosSinFourier(cos, sin, positions, c), posenc.ErrConfig, "posenc.Rotary.CosSinFourier: r is of another part of the head, want an even HeadDim and Offset 0")
	fails(r(6, 2).CosSinFourier(cos, sin, positions, c), posenc.ErrConfig, "want an even HeadDim and Offset 0")
	decays := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, XPos: &posenc.XPos{ScaleBase: 512}})
	fails(decays.CosSinFourier(cos, sin, positions, c), posenc.ErrConfig, "posenc.Rotary.CosSinFourier: r is a Rotary with XPos")
	fails(whole.CosSinFourier(cos, sin, positions, posenc.FourierCoefficients{Cos: matrix[:7], Sin: matrix[:7]}), posenc.ErrLength, "posenc.Rotary.CosSinFourier: coefficients.Cos has 7 elements, want a multiple of the 4 of a matrix for 2 frequencies")
	fails(whole.CosSinFourier(cos, sin, positions, posenc.FourierCoefficients{Cos: matrix}), posenc.ErrLength, "posenc.Rotary.CosSinFourier: coefficients.Sin has 0 elements")
	fails(whole.CosSinFourier(cos[:11], sin, positions, c), posenc.ErrLength, "posenc.Rotary.CosSinFourier: cos has 11 elements, want 12 for 2 rows of 6")
	fails(whole.CosSinFourier(cos, memory[20:32], positions, c), posenc.ErrOverlap, "posenc.Rotary.CosSinFourier: sin is sharing memory with coefficients.Cos")
	fails(whole.CosSinFourier(cos, cos, positions, c), posenc.ErrOverlap, "posenc.Rotary.CosSinFourier: sin is sharing elements with cos")
}
