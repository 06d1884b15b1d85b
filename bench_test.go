package posenc_test

import (
	"fmt"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/internal/yardstick"
)

// BenchmarkRotate measures whole calls: rows made on the fly, Q and K rotated.
func BenchmarkRotate(b *testing.B) {
	for _, shape := range []struct{ tokens, heads, keyHeads, dim int }{
		{1, 32, 8, 128},    // decode, Llama 3 8B
		{1, 12, 12, 64},    // a small encoder
		{512, 32, 8, 128},  // prefill
		{4096, 32, 8, 128}, // long prefill
	} {
		for _, layout := range []posenc.Layout{posenc.HalfSplit, posenc.Interleaved} {
			name := fmt.Sprintf("layout=%s/tokens=%d/heads=%d+%d/dim=%d/dtype=f32",
				layoutName(layout), shape.tokens, shape.heads, shape.keyHeads, shape.dim)
			b.Run(name, func(b *testing.B) {
				testkit.BenchmarkEach(b, func(b *testing.B) {
					rope := testkit.MustRotary(b, posenc.RotaryConfig{HeadDim: shape.dim, Layout: layout, Base: 500000})
					positions := testkit.Sequence(shape.tokens)
					q := posenc.View[float32]{Data: testkit.Aligned(shape.tokens * shape.heads * shape.dim), Heads: shape.heads}
					k := posenc.View[float32]{Data: testkit.Aligned(shape.tokens * shape.keyHeads * shape.dim), Heads: shape.keyHeads}
					b.SetBytes(int64(4 * (len(q.Data) + len(k.Data))))
					b.ReportAllocs()
					for b.Loop() {
						posenc.Rotate(rope.At(positions), q, k)
					}
				})
			})
		}
	}
}

func layoutName(l posenc.Layout) string {
	if l == posenc.HalfSplit {
		return "half"
	}
	return "interleaved"
}

// BenchmarkCosSin measures tables, for each kind of angle.
func BenchmarkCosSin(b *testing.B) {
	for _, rows := range []int{1, 4096, 131072} {
		for _, angles := range []posenc.AngleRounding{posenc.ExactAngles, posenc.Float32Angles} {
			b.Run(fmt.Sprintf("angles=%s/rows=%d/pairs=64", []string{"exact", "float32"}[angles], rows), func(b *testing.B) {
				testkit.BenchmarkEach(b, func(b *testing.B) {
					rope := testkit.MustRotary(b, posenc.RotaryConfig{HeadDim: 128, Base: 500000, Angles: angles})
					positions := testkit.Sequence(rows)
					cos, sin := testkit.Aligned(rows*64), testkit.Aligned(rows*64)
					b.SetBytes(int64(8 * len(cos)))
					b.ReportAllocs()
					for b.Loop() {
						rope.CosSin(cos, sin, positions)
					}
				})
			})
		}
	}
}

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
				rope := testkit.MustRotary(b, posenc.RotaryConfig{HeadDim: dim, Base: 1000000})
				norm, err := posenc.NewRMSNorm(testkit.Aligned(dim), posenc.RMSNormConfig{Epsilon: 1e-6})
				if err != nil {
					b.Fatal(err)
				}
				positions := testkit.Sequence(tokens)
				data := make([]T, tokens*heads*dim)
				for i := range data {
					data[i] = testkit.Narrow[T](1)
				}
				x := posenc.View[T]{Data: data, Heads: heads}
				yardstick.Against(b, "x-steps",
					func() { posenc.RotateFused(rope.At(positions), posenc.FusedView[T]{View: x, Norm: norm}) },
					func() {
						posenc.Normalize(norm, tokens, x)
						posenc.Rotate(rope.At(positions), x)
					})
			})
		})
	}
}
