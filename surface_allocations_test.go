package posenc_test

import (
	"errors"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

func TestSurfaceAllocates(t *testing.T) {
	testkit.EachType(t, testSurfaceAllocates[float32], testSurfaceAllocates[posenc.Float16], testSurfaceAllocates[posenc.BFloat16])
}

// No rotation allocates, nor makes the slices of its caller escape: whatever the
// type, the layout, the axes and the table.
func testSurfaceAllocates[T posenc.Element](t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		const dim, heads, tokens = 16, 2, 5
		entries := testkit.RandomElements[T](testkit.NewRand(130), 20*dim)
		for _, layout := range allLayouts {
			cfg := posenc.RotaryConfig{HeadDim: dim, RotaryDim: dim - 4, Offset: 2, Layout: layout}
			plain := testkit.MustRotary(t, cfg)
			rows, err := plain.Tabulate(make([]int32, 20))
			if err != nil {
				t.Fatal(err)
			}
			full, err := posenc.NewTableRotary(cfg, posenc.Table[T]{Cos: entries[:20*(dim-4)], Sin: entries[:20*(dim-4)], FullWidth: true})
			if err != nil {
				t.Fatal(err)
			}
			half, err := posenc.NewTableRotary(cfg, posenc.Table[T]{Cos: entries, Sin: entries, Stride: dim})
			if err != nil {
				t.Fatal(err)
			}
			axes := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: dim, Layout: layout, Axes: []uint8{0, 1, 2, 0, 0, 1, 2, 0}})
			call := func(r *posenc.Rotary, positions []int32) error {
				var q, k [tokens * heads * dim]T
				return errors.Join(
					posenc.Rotate(r.At(positions), posenc.View[T]{Data: q[:], Heads: heads}, posenc.View[T]{Data: k[:], Heads: heads}),
					posenc.RotateInverse(r.At(positions), posenc.View[T]{Data: q[:], Heads: heads, TokenStride: dim, HeadStride: tokens * dim}),
				)
			}
			for name, call := range map[string]func() error{
				"plain":        func() error { return call(plain, []int32{5, 6, 7, 8, -9}) },
				"equal":        func() error { return call(plain, []int32{5, 5, 5, 5, 5}) },
				"rows":         func() error { return call(rows, []int32{5, 6, 7, 2, 1}) },
				"rows in turn": func() error { return call(rows, []int32{5, 6, 7, 8, 9}) },
				"half width":   func() error { return call(half, []int32{5, 6, 7, 2, 1}) },
				"full width":   func() error { return call(full, []int32{5, 6, 7, 2, 1}) },
				"axes":         func() error { return call(axes, []int32{1, 2, 3, 4, 5, 1, 2, 3, 4, 6, 1, 2, 3, 4, 7}) },
				"decode": func() error {
					var q [heads * dim]T
					return posenc.Rotate(plain.At([]int32{7}), posenc.View[T]{Data: q[:], Heads: heads})
				},
				"sequences": func() error {
					var q [4 * heads * dim]T
					return posenc.Rotate(plain.At([]int32{7, 8, 0, 1}), posenc.View[T]{Data: q[:], Heads: heads, TokenStride: dim, HeadStride: 2 * dim, SequenceTokens: 2, SequenceStride: 2 * heads * dim})
				},
				"shift": func() error {
					var k [tokens * heads * dim]T
					return errors.Join(
						posenc.Shift(plain, []int32{1, 2, 3, 4, 5}, posenc.View[T]{Data: k[:], Heads: heads}),
						posenc.Shift(rows, []int32{-9, -9, -9, -9, -9}, posenc.View[T]{Data: k[:], Heads: heads}),
					)
				},
				"into float32":  func() error { return intoCache[float32, T](plain) },
				"into float16":  func() error { return intoCache[posenc.Float16, T](rows) },
				"into bfloat16": func() error { return intoCache[posenc.BFloat16, T](half) },
			} {
				var err error
				if n := testing.AllocsPerRun(5, func() { err = errors.Join(err, call()) }); n != 0 || err != nil {
					t.Errorf("%s, layout %d: %v allocations, error %v", name, layout, n, err)
				}
			}
		}
	})
}

func intoCache[D, S posenc.Element](r *posenc.Rotary) error {
	var k [3 * 2 * 16]S
	var cache [6 * 2 * 16]D
	return posenc.RotateInto(r.At([]int32{5, 6, 1}), posenc.View[D]{Data: cache[:], Heads: 2}, []int32{4, 5, -1}, posenc.View[S]{Data: k[:], Heads: 2})
}
