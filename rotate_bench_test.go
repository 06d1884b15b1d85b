package posenc_test

import (
	"fmt"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/measure"
	"github.com/go-posenc/posenc/internal/testkit"
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
					r := testkit.MustRotary(posenc.RotaryConfig{HeadDim: shape.dim, Layout: layout, Base: 500000})
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

// BenchmarkRotate16 reports float16 and bfloat16 as a share of the speed of
// float32, in elements, in the caches, and of scaling as many bytes in place, in
// memory.
func BenchmarkRotate16(b *testing.B) {
	for _, layout := range []posenc.Layout{posenc.HalfSplit, posenc.Interleaved} {
		for _, tokens := range []int{8, 16384} { // 64 KB and 128 MB
			b.Run(fmt.Sprintf("layout=%s/tokens=%d/heads=32/dim=128", layoutName(layout), tokens), func(b *testing.B) {
				testkit.BenchmarkEach(b, func(b *testing.B) {
					r := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 128, Layout: layout, Base: 500000})
					rows := testkit.Must(r.Rows(testkit.Sequence(tokens)))
					n := tokens * 32 * 128
					half, brain := aligned16(n, oneFloat16), aligned16(n, oneBFloat16)
					run16 := map[string]func(){
						"f16":  func() { posenc.Rotate(rows.All(), posenc.View[posenc.Float16]{Data: half, Heads: 32}) },
						"bf16": func() { posenc.Rotate(rows.All(), posenc.View[posenc.BFloat16]{Data: brain, Heads: 32}) },
					}
					for _, dtype := range []string{"f16", "bf16"} {
						if tokens == 8 {
							x := testkit.Aligned(n)
							b.Run("dtype="+dtype+"/against=float32", func(b *testing.B) {
								measure.Against(b, "of-float32", run16[dtype], func() { posenc.Rotate(rows.All(), posenc.View[float32]{Data: x, Heads: 32}) })
							})
							continue
						}
						x := testkit.Aligned(n / 2)
						b.Run("dtype="+dtype+"/against=scale", func(b *testing.B) {
							measure.Against(b, "of-scale", run16[dtype], measure.Over(x, "scale", dispatch.Implementation())...)
						})
					}
				})
			})
		}
	}
}

// BenchmarkRotateByAxes reports M-RoPE over an image of 16 x 32 patches as a share of
// the speed of plain rotation: Qwen2-VL 7B.
func BenchmarkRotateByAxes(b *testing.B) {
	const tokens, height, width = 512, 16, 32
	sectioned := testkit.Must(frequency.Sections(16, 24, 24))
	interleaved := testkit.Must(frequency.InterleavedSections(frequency.ImageSections{Time: 24, Height: 20, Width: 20}))
	image := make([]int32, 3*tokens)
	for t := range tokens {
		image[t], image[tokens+t], image[2*tokens+t] = 100, int32(100+t/width), int32(100+t%width)
	}
	for _, maps := range []struct {
		name string
		axes []uint8
	}{{"sections", sectioned}, {"interleaved", interleaved}} {
		b.Run("map="+maps.name, func(b *testing.B) {
			testkit.BenchmarkEach(b, func(b *testing.B) {
				r := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 128, Layout: posenc.HalfSplit, Base: 1e6, Axes: maps.axes})
				plain := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 128, Layout: posenc.HalfSplit, Base: 1e6})
				positions := testkit.Sequence(tokens)
				q, k := posenc.View[float32]{Data: testkit.Aligned(tokens * 28 * 128), Heads: 28}, posenc.View[float32]{Data: testkit.Aligned(tokens * 4 * 128), Heads: 4}
				measure.Against(b, "of-plain", func() { posenc.Rotate(r.At(image), q, k) }, func() { posenc.Rotate(plain.At(positions), q, k) })
			})
		})
	}
}

// BenchmarkRotateByRows reports decoding with rows that all layers share against
// decoding with rows made on the fly.
func BenchmarkRotateByRows(b *testing.B) {
	testkit.BenchmarkEach(b, func(b *testing.B) {
		r := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 128, Layout: posenc.HalfSplit, Base: 500000})
		position := []int32{4321}
		rows := testkit.Must(r.Rows(position))
		q, k := posenc.View[float32]{Data: testkit.Aligned(32 * 128), Heads: 32}, posenc.View[float32]{Data: testkit.Aligned(8 * 128), Heads: 8}
		measure.Against(b, "x-on-the-fly", func() { posenc.Rotate(rows.All(), q, k) }, func() { posenc.Rotate(r.At(position), q, k) })
	})
}
