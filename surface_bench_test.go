package posenc_test

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/internal/view"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/yardstick"

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/yardstick"
)

// aligned16 returns n 16-bit elements that start on a cache line, all 1.
func aligned16[T posenc.Float16 | posenc.BFloat16](n int, one T) []T {
	s := unsafe.Slice((*T)(unsafe.Pointer(&testkit.Aligned((n + 1) / 2)[0])), n)
	for i := range s {
		s[i] = one
	}
	return s
}

const (
	oneFloat16  posenc.Float16  = 0x3c00
	oneBFloat16 posenc.BFloat16 = 0x3f80
)

// BenchmarkRotate16 reports float16 and bfloat16 as a share of the speed of
// float32, in elements, in the caches, and of scaling as many bytes in place, in
// memory.
func BenchmarkRotate16(b *testing.B) {
	for _, layout := range []posenc.Layout{posenc.HalfSplit, posenc.Interleaved} {
		for _, tokens := range []int{8, 16384} { // 64 KB and 128 MB
			b.Run(fmt.Sprintf("layout=%s/tokens=%d/heads=32/dim=128", layoutName(layout), tokens), func(b *testing.B) {
				testkit.BenchmarkEach(b, func(b *testing.B) {
					r := testkit.MustRotary(b, posenc.RotaryConfig{HeadDim: 128, Layout: layout, Base: 500000})
					rows, err := r.Tabulate(testkit.Sequence(tokens))
					if err != nil {
						b.Fatal(err)
					}
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
								yardstick.Against(b, "of-float32", run16[dtype], func() { posenc.Rotate(rows.All(), posenc.View[float32]{Data: x, Heads: 32}) })
							})
							continue
						}
						x := testkit.Aligned(n / 2)
						b.Run("dtype="+dtype+"/against=scale", func(b *testing.B) {
							yardstick.Against(b, "of-scale", run16[dtype], yardstick.Over(x, "scale", dispatch.Implementation())...)
						})
					}
				})
			})
		}
	}
}

// BenchmarkAxes reports M-RoPE over an image of 16 x 32 patches as a share of
// the speed of plain rotation: Qwen2-VL 7B.
func BenchmarkAxes(b *testing.B) {
	const tokens, height, width = 512, 16, 32
	sectioned, err := frequency.Sections(16, 24, 24)
	if err != nil {
		b.Fatal(err)
	}
	interleaved, err := frequency.InterleavedSections(24, 20, 20)
	if err != nil {
		b.Fatal(err)
	}
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
				r := testkit.MustRotary(b, posenc.RotaryConfig{HeadDim: 128, Base: 1e6, Axes: maps.axes})
				plain := testkit.MustRotary(b, posenc.RotaryConfig{HeadDim: 128, Base: 1e6})
				positions := testkit.Sequence(tokens)
				q, k := posenc.View[float32]{Data: testkit.Aligned(tokens * 28 * 128), Heads: 28}, posenc.View[float32]{Data: testkit.Aligned(tokens * 4 * 128), Heads: 4}
				yardstick.Against(b, "of-plain", func() { posenc.Rotate(r.At(image), q, k) }, func() { posenc.Rotate(plain.At(positions), q, k) })
			})
		})
	}
}

// BenchmarkRotateInto reports rotating into a cache against rotating and then
// copying, 8 MB and more of keys.
func BenchmarkRotateInto(b *testing.B) {
	for _, tokens := range []int{2048, 16384} {
		b.Run(fmt.Sprintf("tokens=%d/heads=8/dim=128", tokens), func(b *testing.B) {
			testkit.BenchmarkEach(b, func(b *testing.B) {
				r := testkit.MustRotary(b, posenc.RotaryConfig{HeadDim: 128, Base: 500000})
				positions := testkit.Sequence(tokens)
				n := tokens * 8 * 128
				src, dst := testkit.Aligned(n), testkit.Aligned(n)
				half := aligned16(n, oneFloat16)
				key := posenc.View[float32]{Data: src, Heads: 8}
				b.Run("to=f32", func(b *testing.B) {
					yardstick.Against(b, "x-rotate-and-copy",
						func() { posenc.RotateInto(r.At(positions), posenc.View[float32]{Data: dst, Heads: 8}, nil, key) },
						func() { posenc.Rotate(r.At(positions), key); copy(dst, src) })
				})
				b.Run("to=f16", func(b *testing.B) {
					y, x := view.OperandOf(&posenc.View[posenc.Float16]{Data: half, Heads: 8}, 128), view.OperandOf(&key, 128)
					yardstick.Against(b, "x-rotate-and-convert",
						func() {
							posenc.RotateInto(r.At(positions), posenc.View[posenc.Float16]{Data: half, Heads: 8}, nil, key)
						},
						func() { posenc.Rotate(r.At(positions), key); view.Convert(&y, &x, 0, 0, n) })
				})
			})
		})
	}
}

// BenchmarkShift reports shifting cached keys by one delta as a share of the
// speed of rotating them.
func BenchmarkShift(b *testing.B) {
	const tokens = 2048
	testkit.BenchmarkEach(b, func(b *testing.B) {
		r := testkit.MustRotary(b, posenc.RotaryConfig{HeadDim: 128, Base: 500000})
		positions, deltas := testkit.Sequence(tokens), make([]int32, tokens)
		for i := range deltas {
			deltas[i] = -256
		}
		key := posenc.View[float32]{Data: testkit.Aligned(tokens * 8 * 128), Heads: 8}
		yardstick.Against(b, "of-rotate", func() { posenc.Shift(r, deltas, key) }, func() { posenc.Rotate(r.At(positions), key) })
	})
}

// BenchmarkTabulated reports decoding with rows that all layers share against
// decoding with rows made on the fly.
func BenchmarkTabulated(b *testing.B) {
	testkit.BenchmarkEach(b, func(b *testing.B) {
		r := testkit.MustRotary(b, posenc.RotaryConfig{HeadDim: 128, Base: 500000})
		position := []int32{4321}
		rows, err := r.Tabulate(position)
		if err != nil {
			b.Fatal(err)
		}
		q, k := posenc.View[float32]{Data: testkit.Aligned(32 * 128), Heads: 32}, posenc.View[float32]{Data: testkit.Aligned(8 * 128), Heads: 8}
		yardstick.Against(b, "x-on-the-fly", func() { posenc.Rotate(rows.All(), q, k) }, func() { posenc.Rotate(r.At(position), q, k) })
	})
}
