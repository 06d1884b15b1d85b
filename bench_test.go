package posenc

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/internal/yardstick"
	"github.com/go-posenc/posenc/kernels"
)

// aligned returns n float32 that start on a cache line, all 1.
func aligned(n int) []float32 {
	s := make([]float32, n+16)
	for uintptr(unsafe.Pointer(&s[0]))%64 != 0 {
		s = s[1:]
	}
	s = s[:n:n]
	for i := range s {
		s[i] = 1
	}
	return s
}

func sequence(n int) []int32 {
	positions := make([]int32, n)
	for i := range positions {
		positions[i] = int32(i)
	}
	return positions
}

func mustRotary(b testing.TB, cfg RotaryConfig) *Rotary {
	r, err := NewRotary(cfg)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// benchmarkEach runs a benchmark on every implementation of this machine.
func benchmarkEach(b *testing.B, run func(b *testing.B)) {
	defer func(saved kernels.Implementation) { implementation = saved }(implementation)
	for _, impl := range supported() {
		implementation = impl
		b.Run("impl="+impl.String(), run)
	}
}

// BenchmarkRotate measures whole calls: rows made on the fly, Q and K rotated.
func BenchmarkRotate(b *testing.B) {
	for _, shape := range []struct{ tokens, heads, keyHeads, dim int }{
		{1, 32, 8, 128},    // decode, Llama 3 8B
		{1, 12, 12, 64},    // a small encoder
		{512, 32, 8, 128},  // prefill
		{4096, 32, 8, 128}, // long prefill
	} {
		for _, layout := range []Layout{HalfSplit, Interleaved} {
			name := fmt.Sprintf("layout=%s/tokens=%d/heads=%d+%d/dim=%d/dtype=f32",
				layoutName(layout), shape.tokens, shape.heads, shape.keyHeads, shape.dim)
			b.Run(name, func(b *testing.B) {
				benchmarkEach(b, func(b *testing.B) {
					r := mustRotary(b, RotaryConfig{HeadDim: shape.dim, Layout: layout, Base: 500000})
					positions := sequence(shape.tokens)
					q := View[float32]{Data: aligned(shape.tokens * shape.heads * shape.dim), Heads: shape.heads}
					k := View[float32]{Data: aligned(shape.tokens * shape.keyHeads * shape.dim), Heads: shape.keyHeads}
					b.SetBytes(int64(4 * (len(q.Data) + len(k.Data))))
					b.ReportAllocs()
					for b.Loop() {
						Rotate(r, positions, q, k)
					}
				})
			})
		}
	}
}

func layoutName(l Layout) string {
	if l == HalfSplit {
		return "half"
	}
	return "interleaved"
}

// BenchmarkCosSin measures tables, for each kind of angle.
func BenchmarkCosSin(b *testing.B) {
	for _, rows := range []int{1, 4096, 131072} {
		for _, angles := range []Angles{Exact, Float32} {
			b.Run(fmt.Sprintf("angles=%s/rows=%d/pairs=64", []string{"exact", "float32"}[angles], rows), func(b *testing.B) {
				benchmarkEach(b, func(b *testing.B) {
					r := mustRotary(b, RotaryConfig{HeadDim: 128, Base: 500000, Angles: angles})
					positions := sequence(rows)
					cos, sin := aligned(rows*64), aligned(rows*64)
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

// BenchmarkFusedAgainstSteps reports RotateFused against Normalize and Rotate one
// after another: above 1, fused is faster.
func BenchmarkFusedAgainstSteps(b *testing.B) {
	b.Run("dtype=f32", benchmarkFusedAgainstSteps[float32])
	b.Run("dtype=f16", benchmarkFusedAgainstSteps[Float16])
	b.Run("dtype=bf16", benchmarkFusedAgainstSteps[BFloat16])
}

func benchmarkFusedAgainstSteps[T Element](b *testing.B) {
	const heads, dim = 32, 128
	for _, tokens := range []int{1, 512, 4096} { // decode, prefill, long prefill
		b.Run(fmt.Sprintf("tokens=%d/heads=%d/dim=%d", tokens, heads, dim), func(b *testing.B) {
			benchmarkEach(b, func(b *testing.B) {
				r := mustRotary(b, RotaryConfig{HeadDim: dim, Base: 1000000})
				norm := mustNorm(b, aligned(dim), 1e-6, false)
				positions := sequence(tokens)
				data := make([]T, tokens*heads*dim)
				for i := range data {
					data[i] = narrow[T](1)
				}
				x := View[T]{Data: data, Heads: heads}
				yardstick.Against(b, "x-steps",
					func() { RotateFused(r, positions, FusedView[T]{View: x, Norm: norm}) },
					func() {
						Normalize(norm, tokens, x)
						Rotate(r, positions, x)
					})
			})
		})
	}
}
