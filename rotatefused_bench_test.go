package posenc_test

import (
	"fmt"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/measure"
	"github.com/go-posenc/posenc/internal/testkit"
)

// BenchmarkFusedAgainstSteps reports RotateFused against Normalize and Rotate one
// after another: above 1, fused is faster.
func BenchmarkFusedAgainstSteps(b *testing.B) {
	b.Run("dtype=f32", benchmarkFusedAgainstSteps[float32])
	b.Run("dtype=f16", benchmarkFusedAgainstSteps[posenc.Float16])
	b.Run("dtype=bf16", benchmarkFusedAgainstSteps[posenc.BFloat16])
}

func benchmarkFusedAgainstSteps[T posenc.Element](b *testing.B) {
	const heads, dim = 32, 128
	for _, tokens := range []int{1, 512, 4096} { // decode, prefill, long prefill
		b.Run(fmt.Sprintf("tokens=%d/heads=%d/dim=%d", tokens, heads, dim), func(b *testing.B) {
			testkit.BenchmarkEach(b, func(b *testing.B) {
				r := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit, Base: 1000000})
				norm := mustNorm(testkit.Aligned(dim), 1e-6, false)
				positions := testkit.Sequence(tokens)
				data := make([]T, tokens*heads*dim)
				for i := range data {
					data[i] = testkit.Narrow[T](1)
				}
				x := posenc.View[T]{Data: data, Heads: heads}
				measure.Against(b, "x-steps",
					func() { posenc.RotateFused(r.At(positions), posenc.FusedView[T]{View: x, Norm: norm}) },
					func() {
						posenc.Normalize(norm, tokens, x)
						posenc.Rotate(r.At(positions), x)
					})
			})
		})
	}
}
