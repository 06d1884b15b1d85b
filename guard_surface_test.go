package posenc

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/kernels"
)

// bytesOf returns the memory of s.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// guardedElements fills an arena with random elements and returns n of them,
// next to its guard.
func guardedElements[T Element](r *rand.Rand, arena []byte, n int, atEnd bool) []T {
	fillElements(r, flush[T](arena, len(arena)/int(unsafe.Sizeof(*new(T))), false))
	return flush[T](arena, n, atEnd)
}

// checkGuards makes a call that may write to x alone, which lies in the first of
// the arenas, and compares x with want.
func checkGuards[T Element](t *testing.T, name string, arenas [][]byte, x, want []T, written []bool, call func() error) {
	t.Helper()
	var before [][]byte
	for _, arena := range arenas {
		before = append(before, slices.Clone(arena))
	}
	var err error
	if reason, functions := fault(func() { err = call() }); reason != nil || err != nil {
		t.Fatalf("%s: %v in %s, error %v", name, reason, functions, err)
	}
	compare(t, name+": x", x, want, written)
	if len(x) > 0 { // back to what it was, so that the arena as a whole has to be
		start := int(uintptr(unsafe.Pointer(&x[0])) - uintptr(unsafe.Pointer(&arenas[0][0])))
		copy(bytesOf(x), before[0][start:])
	}
	for i, arena := range arenas {
		if !slices.Equal(arena, before[i]) {
			t.Fatalf("%s: memory of slice %d beyond x was written", name, i)
		}
	}
}

func TestGuardSurface(t *testing.T) {
	t.Run("types=float32 to float32", testGuardSurface[float32, float32])
	t.Run("types=float32 to float16", testGuardSurface[Float16, float32])
	t.Run("types=float32 to bfloat16", testGuardSurface[BFloat16, float32])
	t.Run("types=float16 to float32", testGuardSurface[float32, Float16])
	t.Run("types=float16 to float16", testGuardSurface[Float16, Float16])
	t.Run("types=bfloat16 to bfloat16", testGuardSurface[BFloat16, BFloat16])
	t.Run("types=bfloat16 to float16", testGuardSurface[Float16, BFloat16])
}

// Rotate, Shift and RotateInto by frequencies and by tables, with every slice
// next to a guard.
func testGuardSurface[D, S Element](t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(140)
		const heads, most = 2, 4 * 5 * 2 * 2 * 130
		var arenas [][]byte
		for range 6 {
			arenas = append(arenas, newArena(t, most))
		}
		for _, pairs := range lengths {
			for _, tokens := range []int{1, 5} {
				for _, atEnd := range []bool{false, true} {
					cfg := RotaryConfig{HeadDim: 2 * pairs, Layout: oneOf(r, allLayouts)}
					if r.IntN(3) == 0 {
						cfg.RotaryDim = 2 * pairs
						cfg.HeadDim += 2
						cfg.Offset = r.IntN(3)
					}
					n := tokens * heads * cfg.HeadDim
					positions, slots := flush[int32](arenas[2], tokens, atEnd), flush[int32](arenas[3], tokens, atEnd)
					var rotary *Rotary
					var p plain
					if full := r.IntN(3) == 0; r.IntN(2) == 0 {
						width := pairs
						if full {
							width *= 2
						}
						table := Table[S]{Cos: guardedElements[S](r, arenas[4], tokens*width, atEnd), Sin: guardedElements[S](r, arenas[5], tokens*width, atEnd), FullWidth: full}
						var err error
						if rotary, err = NewTableRotary(cfg, table); err != nil {
							t.Fatal(err)
						}
						copy(positions, shuffled(r, tokens))
						p = rowsOf(plainOf(cfg), table, positions)
					} else {
						cfg.InvFreq = ladderOf(pairs)
						rotary = mustRotary(t, cfg)
						positionKinds["runs"](r, positions)
						p = plainOf(cfg).with(plainTables(t, cfg, positions))
					}
					copy(slots, shuffled(r, tokens))
					name := fmt.Sprintf("layout %d, %d pairs of %d at %d, %d tokens, at the end: %t", cfg.Layout, pairs, cfg.HeadDim, cfg.Offset, tokens, atEnd)

					src := View[S]{Data: guardedElements[S](r, arenas[0], n, atEnd), Heads: heads}
					want, written := slices.Clone(src.Data), make([]bool, n)
					rotatePlain(&p, want, &src, nil, want, &src, tokens, false, written)
					checkGuards(t, "Rotate, "+name, arenas, src.Data, want, written, func() error { return Rotate(rotary, positions, src) })
					if rotary.table == nil {
						shifts := plainOf(shiftOf(cfg)).with(plainTables(t, shiftOf(cfg), positions))
						want, written := slices.Clone(src.Data), make([]bool, n)
						rotatePlain(&shifts, want, &src, nil, want, &src, tokens, false, written)
						checkGuards(t, "Shift, "+name, arenas, src.Data, want, written, func() error { return Shift(rotary, positions, src) })
					}
					if rotary.table != nil && rotary.table.fullWidth {
						continue
					}
					src.Data = guardedElements[S](r, arenas[1], n, atEnd)
					dst := View[D]{Data: guardedElements[D](r, arenas[0], n, atEnd), Heads: heads}
					into, written := slices.Clone(dst.Data), make([]bool, n)
					rotatePlain(&p, into, &dst, slots, src.Data, &src, tokens, true, written)
					checkGuards(t, "RotateInto, "+name, arenas, dst.Data, into, written, func() error { return RotateInto(rotary, positions, dst, slots, src) })
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
