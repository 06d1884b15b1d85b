package posenc_test

import (
	"bytes"
	"fmt"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/measure"
	"github.com/go-posenc/posenc/internal/testkit"
)

// BenchmarkRotateIntoQuantized reports rotating keys into a cache of 8-bit numbers as a
// share of the speed of rotating as many float32 in place: a step of decoding, a prompt, and
// one that no cache holds, there as a share of copying as many bytes too.
func BenchmarkRotateIntoQuantized(b *testing.B) {
	benchmarkIntoQuantized[posenc.Q8_0](b, "q8_0", 0)
	benchmarkIntoQuantized[int8](b, "int8", 0)
	benchmarkIntoQuantized[posenc.E4M3](b, "e4m3-rows", 0)
	benchmarkIntoQuantized[posenc.E4M3](b, "e4m3", 1)
	benchmarkIntoQuantized[posenc.E5M2](b, "e5m2", 1)
}

func benchmarkIntoQuantized[D posenc.Quantized](b *testing.B, format string, scale float32) {
	const heads, dim = 8, 128
	for _, tokens := range []int{1, 32, 512, 16384} {
		for _, layout := range []posenc.Layout{posenc.HalfSplit, posenc.Interleaved} {
			runEach(b, fmt.Sprintf("to=%s/tokens=%d/heads=%d/dim=%d/layout=%s", format, tokens, heads, dim, layout), func(b *testing.B) {
				r := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Base: 500000, Layout: layout})
				rows := testkit.Must(r.Rows(testkit.Sequence(tokens)))
				n := tokens * heads * dim
				src, inPlace := testkit.Aligned(n), testkit.Aligned(n)
				for i := range src {
					src[i], inPlace[i] = float32(i%251)/128-1, float32(i%251)/128-1
				}
				cache := cacheFor[D](tokens, heads, dim, 0, scale)
				into := posenc.IntoQuantized[D, float32]{Dst: cache, Src: posenc.View[float32]{Data: src, Heads: heads}}
				b.Run("in-place", func(b *testing.B) {
					measure.Against(b, "of-rotate", func() { posenc.RotateIntoQuantized(rows.All(), nil, into) },
						func() { posenc.Rotate(rows.All(), posenc.View[float32]{Data: inPlace, Heads: heads}) })
				})
				if tokens < 16384 {
					return
				}
				// A copy of half of the bytes that are read and written reads and writes as many, by
				// non-temporal stores. On Zen 5 a loop that only loads src has 0.95 to 1 of its speed,
				// with as many bytes stored as Q8_0 has 0.91 to 0.95 by such stores and 0.72 to 0.85 by
				// plain ones. The rows, an eighth of src, are not counted.
				size := (len(src)*4 + len(cache.Data)*int(unsafe.Sizeof(*new(D))) + 4*len(cache.Scales)) / 2
				from, to := bytes.Repeat([]byte{1}, size), make([]byte, size)
				b.Run("copy", func(b *testing.B) {
					measure.Against(b, "of-copy", func() { posenc.RotateIntoQuantized(rows.All(), nil, into) }, func() { copy(to, from) })
				})
			})
		}
	}
}
