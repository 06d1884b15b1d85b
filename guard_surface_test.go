package posenc_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

func TestGuardSurface(t *testing.T) {
	t.Run("types=float32 to float32", testGuardSurface[float32, float32])
	t.Run("types=float32 to float16", testGuardSurface[posenc.Float16, float32])
	t.Run("types=float32 to bfloat16", testGuardSurface[posenc.BFloat16, float32])
	t.Run("types=float16 to float32", testGuardSurface[float32, posenc.Float16])
	t.Run("types=float16 to float16", testGuardSurface[posenc.Float16, posenc.Float16])
	t.Run("types=bfloat16 to bfloat16", testGuardSurface[posenc.BFloat16, posenc.BFloat16])
	t.Run("types=bfloat16 to float16", testGuardSurface[posenc.Float16, posenc.BFloat16])
}

// Rotate, Shift and RotateInto by frequencies and by tables, with every slice
// next to a guard.
func testGuardSurface[D, S posenc.Element](t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(140)
		const heads, most = 2, 4 * 5 * 2 * 2 * 130
		var arenas [][]byte
		for range 6 {
			arenas = append(arenas, testkit.NewArena(t, most))
		}
		for _, pairs := range testkit.Lengths {
			for _, tokens := range []int{1, 5} {
				for _, atEnd := range []bool{false, true} {
					cfg := posenc.RotaryConfig{HeadDim: 2 * pairs, Layout: testkit.OneOf(r, allLayouts)}
					if r.IntN(3) == 0 {
						cfg.RotaryDim = 2 * pairs
						cfg.HeadDim += 2
						cfg.Offset = r.IntN(3)
					}
					n := tokens * heads * cfg.HeadDim
					positions, slots := testkit.Flush[int32](arenas[2], tokens, atEnd), testkit.Flush[int32](arenas[3], tokens, atEnd)
					var rotary *posenc.Rotary
					var p plain
					if full := r.IntN(3) == 0; r.IntN(2) == 0 {
						width := pairs
						if full {
							width *= 2
						}
						table := posenc.Table[S]{Cos: testkit.GuardedElements[S](r, arenas[4], tokens*width, atEnd), Sin: testkit.GuardedElements[S](r, arenas[5], tokens*width, atEnd), FullWidth: full}
						var err error
						if rotary, err = posenc.NewTableRotary(cfg, table); err != nil {
							t.Fatal(err)
						}
						copy(positions, shuffled(r, tokens))
						p = rowsOf(plainOf(cfg), table, positions)
					} else {
						cfg.InvFreq = testkit.LadderOf(pairs)
						rotary = testkit.MustRotary(t, cfg)
						testkit.PositionKinds["runs"](r, positions)
						p = plainOf(cfg).with(plainTables(t, cfg, positions))
					}
					copy(slots, shuffled(r, tokens))
					name := fmt.Sprintf("layout %d, %d pairs of %d at %d, %d tokens, at the end: %t", cfg.Layout, pairs, cfg.HeadDim, cfg.Offset, tokens, atEnd)

					src := posenc.View[S]{Data: testkit.GuardedElements[S](r, arenas[0], n, atEnd), Heads: heads}
					want, written := slices.Clone(src.Data), make([]bool, n)
					rotatePlain(&p, want, &src, nil, want, &src, tokens, false, written)
					testkit.CheckGuards(t, "Rotate, "+name, arenas, src.Data, want, written, func() error { return posenc.Rotate(rotary.At(positions), src) })
					if rotary.table == nil {
						shifts := plainOf(shiftOf(cfg)).with(plainTables(t, shiftOf(cfg), positions))
						want, written := slices.Clone(src.Data), make([]bool, n)
						rotatePlain(&shifts, want, &src, nil, want, &src, tokens, false, written)
						testkit.CheckGuards(t, "Shift, "+name, arenas, src.Data, want, written, func() error { return posenc.Shift(rotary, positions, src) })
					}
					if rotary.table != nil && rotary.table.fullWidth {
						continue
					}
					src.Data = testkit.GuardedElements[S](r, arenas[1], n, atEnd)
					dst := posenc.View[D]{Data: testkit.GuardedElements[D](r, arenas[0], n, atEnd), Heads: heads}
					into, written := slices.Clone(dst.Data), make([]bool, n)
					rotatePlain(&p, into, &dst, slots, src.Data, &src, tokens, true, written)
					testkit.CheckGuards(t, "RotateInto, "+name, arenas, dst.Data, into, written, func() error { return posenc.RotateInto(rotary.At(positions), dst, slots, src) })
				}
			}
		}
	})
}

// shuffled returns the numbers below n in any order.
func shuffled(r *rand.Rand, n int) []int32 {
	s := make([]int32, n)
	for i, j := range r.Perm(n) {
		s[i] = int32(j)
	}
	return s
}
