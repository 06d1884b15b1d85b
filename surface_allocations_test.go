package posenc

import (
	"errors"
	"testing"

	"github.com/go-posenc/posenc/kernels"
)

func TestSurfaceAllocates(t *testing.T) {
	eachType(t, testSurfaceAllocates[float32], testSurfaceAllocates[Float16], testSurfaceAllocates[BFloat16])
}

// No rotation allocates, nor makes the slices of its caller escape: whatever the
// type, the layout, the axes and the table.
func testSurfaceAllocates[T Element](t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		const dim, heads, tokens = 16, 2, 5
		entries := randomElements[T](newRand(130), 20*dim)
		for _, layout := range allLayouts {
			cfg := RotaryConfig{HeadDim: dim, RotaryDim: dim - 4, Offset: 2, Layout: layout}
			plain := mustRotary(t, cfg)
			rows, err := plain.Tabulate(make([]int32, 20))
			if err != nil {
				t.Fatal(err)
			}
			full, err := NewTableRotary(cfg, Table[T]{Cos: entries[:20*(dim-4)], Sin: entries[:20*(dim-4)], FullWidth: true})
			if err != nil {
				t.Fatal(err)
			}
			half, err := NewTableRotary(cfg, Table[T]{Cos: entries, Sin: entries, Stride: dim})
			if err != nil {
				t.Fatal(err)
			}
			axes := mustRotary(t, RotaryConfig{HeadDim: dim, Layout: layout, Axes: []uint8{0, 1, 2, 0, 0, 1, 2, 0}})
			call := func(r *Rotary, positions []int32) error {
				var q, k [tokens * heads * dim]T
				return errors.Join(
					Rotate(r, positions, View[T]{Data: q[:], Heads: heads}, View[T]{Data: k[:], Heads: heads}),
					RotateInverse(r, positions, View[T]{Data: q[:], Heads: heads, TokenStride: dim, HeadStride: tokens * dim}),
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
					return Rotate(plain, []int32{7}, View[T]{Data: q[:], Heads: heads})
				},
				"sequences": func() error {
					var q [4 * heads * dim]T
					return Rotate(plain, []int32{7, 8, 0, 1}, View[T]{Data: q[:], Heads: heads, TokenStride: dim, HeadStride: 2 * dim, SequenceTokens: 2, SequenceStride: 2 * heads * dim})
				},
				"shift": func() error {
					var k [tokens * heads * dim]T
					return errors.Join(
						Shift(plain, []int32{1, 2, 3, 4, 5}, View[T]{Data: k[:], Heads: heads}),
						Shift(rows, []int32{-9, -9, -9, -9, -9}, View[T]{Data: k[:], Heads: heads}),
					)
				},
				"into float32":  func() error { return intoCache[float32, T](plain) },
				"into float16":  func() error { return intoCache[Float16, T](rows) },
				"into bfloat16": func() error { return intoCache[BFloat16, T](half) },
			} {
				var err error
				if n := testing.AllocsPerRun(5, func() { err = errors.Join(err, call()) }); n != 0 || err != nil {
					t.Errorf("%s, layout %d: %v allocations, error %v", name, layout, n, err)
				}
			}
		}
	})
}

func intoCache[D, S Element](r *Rotary) error {
	var k [3 * 2 * 16]S
	var cache [6 * 2 * 16]D
	return RotateInto(r, []int32{5, 6, 1}, View[D]{Data: cache[:], Heads: 2}, []int32{4, 5, -1}, View[S]{Data: k[:], Heads: 2})
}
