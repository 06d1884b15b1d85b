package posenc_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/dispatch"

	"github.com/go-posenc/posenc/internal/yardstick"
	"github.com/go-posenc/posenc/kernels"
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
					r := testkit.MustRotary(b, posenc.RotaryConfig{HeadDim: shape.dim, Layout: layout, Base: 500000})
					positions := testkit.Sequence(shape.tokens)
					q := posenc.View[float32]{Data: testkit.Aligned(shape.tokens * shape.heads * shape.dim), Heads: shape.heads}
					k := posenc.View[float32]{Data: testkit.Aligned(shape.tokens * shape.keyHeads * shape.dim), Heads: shape.keyHeads}
					b.SetBytes(int64(4 * (len(q.Data) + len(k.Data))))
					b.ReportAllocs()
					for b.Loop() {
						posenc.Rotate(r.At(positions), q, k)
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
					r := testkit.MustRotary(b, posenc.RotaryConfig{HeadDim: 128, Base: 500000, Angles: angles})
					positions := testkit.Sequence(rows)
					cos, sin := testkit.Aligned(rows*64), testkit.Aligned(rows*64)
					b.SetBytes(int64(8 * len(cos)))
					b.ReportAllocs()
					for b.Loop() {
						r.CosSin(cos, sin, positions)
					}
				})
			})
		}
	}
}

// BenchmarkRotateAgainstBound reports whole calls of Rotate as a share of the
// speed of scaling the same elements in place.
func BenchmarkRotateAgainstBound(b *testing.B) {
	for _, layout := range []posenc.Layout{posenc.HalfSplit, posenc.Interleaved} {
		for _, tokens := range []int{512, 16384} { // 8 MB and 256 MB
			b.Run(fmt.Sprintf("layout=%s/tokens=%d/heads=32/dim=128", layoutName(layout), tokens), func(b *testing.B) {
				testkit.BenchmarkEach(b, func(b *testing.B) {
					r := testkit.MustRotary(b, posenc.RotaryConfig{HeadDim: 128, Layout: layout, Base: 500000})
					positions := testkit.Sequence(tokens)
					x := testkit.Aligned(tokens * 32 * 128)
					testkit.Against(b, "of-scale",
						func() { posenc.Rotate(r.At(positions), posenc.View[float32]{Data: x, Heads: 32}) },
						testkit.OverBuffer(yardstick.ScaleBounds(dispatch.Implementation()), x)...)
				})
			})
		}
	}
}

// BenchmarkRotateKernel reports the bare kernel on a ready row, 32 heads of 128
// in L1, against scaling in place, against a plain loop, and, as what a whole
// call of Rotate costs more, the call with its row made on the fly.
func BenchmarkRotateKernel(b *testing.B) {
	for _, layout := range []posenc.Layout{posenc.HalfSplit, posenc.Interleaved} {
		kernel, loop := kernels.RotateHalfSplitF32, yardstick.RotateHalfSplit
		if layout == posenc.Interleaved {
			kernel, loop = kernels.RotateInterleavedF32, yardstick.RotateInterleaved
		}
		r := testkit.MustRotary(b, posenc.RotaryConfig{HeadDim: 128, Layout: layout, Base: 500000})
		position := []int32{4321}
		cos, sin := testkit.Aligned(64), testkit.Aligned(64)
		r.CosSin(cos, sin, position)
		ready := func(x []float32, heads int) func() {
			rows := &kernels.Rows{Pairs: 64, Partner: 64, Tokens: 1, Heads: heads, YHeadStride: 128, XHeadStride: 128}
			return func() { kernel(dispatch.Implementation(), x, x, cos, sin, rows) }
		}
		b.Run("layout="+layoutName(layout), func(b *testing.B) {
			testkit.BenchmarkEach(b, func(b *testing.B) {
				x := testkit.Aligned(32 * 128)
				b.Run("against=scale", func(b *testing.B) {
					testkit.Against(b, "of-scale", ready(x, 32), testkit.OverBuffer(yardstick.ScaleBounds(dispatch.Implementation()), x)...)
				})
				b.Run("against=loop", func(b *testing.B) {
					testkit.Against(b, "x-loop", ready(x, 32), func() { loop(x, cos, sin, 32) })
				})
				b.Run("against=decode", func(b *testing.B) {
					q, k := testkit.Aligned(32*128), testkit.Aligned(8*128)
					bareQ, bareK := ready(q, 32), ready(k, 8)
					testkit.Against(b, "x-call",
						func() { bareQ(); bareK() },
						func() {
							posenc.Rotate(r.At(position), posenc.View[float32]{Data: q, Heads: 32}, posenc.View[float32]{Data: k, Heads: 8})
						})
				})
			})
		})
	}
}

// BenchmarkCosSinAgainstBound reports exact tables as a share of the speed of
// storing them, and against math.Sincos.
func BenchmarkCosSinAgainstBound(b *testing.B) {
	for _, rows := range []int{4096, 1 << 20} { // 2 MB and 512 MB
		b.Run(fmt.Sprintf("rows=%d/pairs=64", rows), func(b *testing.B) {
			// Two streams of stores a power of two apart meet in the same banks
			// of memory: some elements between them, as between allocations.
			const between = 1024
			table := testkit.Aligned(2*rows*64 + between)
			cos, sin := table[:rows*64], table[rows*64+between:]
			positions := testkit.Sequence(rows)
			testkit.BenchmarkEach(b, func(b *testing.B) {
				r := testkit.MustRotary(b, posenc.RotaryConfig{HeadDim: 128, Base: 500000})
				work := func() { r.CosSin(cos, sin, positions) }
				b.Run("against=store", func(b *testing.B) {
					testkit.Against(b, "of-store", work, testkit.OverBuffer(yardstick.StoreBounds(dispatch.Implementation()), table)...)
				})
				b.Run("against=nontemporal", func(b *testing.B) {
					testkit.Against(b, "of-nontemporal", work, testkit.OverBuffer(yardstick.NonTemporalBounds(dispatch.Implementation()), table)...)
				})
				if rows > 4096 {
					return
				}
				b.Run("against=math.Sincos", func(b *testing.B) {
					invFreq := make([]float64, 64)
					for i := range invFreq {
						invFreq[i] = math.Pow(500000, -float64(i)/64)
					}
					testkit.Against(b, "x-math.Sincos", work, func() {
						for t, p := range positions {
							for i, w := range invFreq {
								s, c := math.Sincos(float64(p) * w)
								cos[t*64+i], sin[t*64+i] = float32(c), float32(s)
							}
						}
					})
				})
			})
		})
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
				r := testkit.MustRotary(b, posenc.RotaryConfig{HeadDim: dim, Base: 1000000})
				norm := mustNorm(b, testkit.Aligned(dim), 1e-6, false)
				positions := testkit.Sequence(tokens)
				data := make([]T, tokens*heads*dim)
				for i := range data {
					data[i] = testkit.Narrow[T](1)
				}
				x := posenc.View[T]{Data: data, Heads: heads}
				testkit.Against(b, "x-steps",
					func() { posenc.RotateFused(r.At(positions), posenc.FusedView[T]{View: x, Norm: norm}) },
					func() {
						posenc.Normalize(norm, tokens, x)
						posenc.Rotate(r.At(positions), x)
					})
			})
		})
	}
}
