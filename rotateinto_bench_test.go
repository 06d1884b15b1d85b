package posenc_test

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/measure"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
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

// BenchmarkRotateInto reports rotating into a cache against rotating and then
// copying, 8 MB and more of keys.
func BenchmarkRotateInto(b *testing.B) {
	for _, tokens := range []int{2048, 16384} {
		b.Run(fmt.Sprintf("tokens=%d/heads=8/dim=128", tokens), func(b *testing.B) {
			testkit.BenchmarkEach(b, func(b *testing.B) {
				r := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 128, Layout: posenc.HalfSplit, Base: 500000})
				positions := testkit.Sequence(tokens)
				n := tokens * 8 * 128
				src, dst := testkit.Aligned(n), testkit.Aligned(n)
				half := aligned16(n, oneFloat16)
				key := posenc.View[float32]{Data: src, Heads: 8}
				b.Run("to=f32", func(b *testing.B) {
					measure.Against(b, "x-rotate-and-copy",
						func() { posenc.RotateInto(r.At(positions), posenc.View[float32]{Data: dst, Heads: 8}, nil, key) },
						func() { posenc.Rotate(r.At(positions), key); copy(dst, src) })
				})
				b.Run("to=f16", func(b *testing.B) {
					y, x := (&view.View[posenc.Float16]{Data: half, Heads: 8}).Operand(kernels.KindFloat16, 128), (*view.View[float32])(&key).Operand(kernels.KindFloat32, 128)
					measure.Against(b, "x-rotate-and-convert",
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
		r := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 128, Layout: posenc.HalfSplit, Base: 500000})
		positions, deltas := testkit.Sequence(tokens), make([]int32, tokens)
		for i := range deltas {
			deltas[i] = -256
		}
		key := posenc.View[float32]{Data: testkit.Aligned(tokens * 8 * 128), Heads: 8}
		measure.Against(b, "of-rotate", func() { posenc.Shift(r, deltas, key) }, func() { posenc.Rotate(r.At(positions), key) })
	})
}
