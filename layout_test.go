package posenc

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/kernels"
)

// crossing are the layouts that write another order than they read.
var crossing = []Layout{InterleavedToHalfSplit, HalfSplitToInterleaved}

func TestRotateElements(t *testing.T) {
	eachType(t, testRotateElements[float32], testRotateElements[Float16], testRotateElements[BFloat16])
}

// Every layout, shape and type of elements against the plain loop.
func testRotateElements[T Element](t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(70)
		for range rounds(8) {
			for _, layout := range allLayouts {
				for _, pairs := range lengths {
					tokens := oneOf(r, []int{0, 1, 1, 2, 6, 12, 17, 24})
					cfg := randomGeometry(r, layout, pairs)
					cfg.Angles = Angles(r.IntN(2))
					if r.IntN(3) == 0 {
						cfg.Scaling = 1.2079441541679836
					}
					positions := randomPositions(r, oneOf(r, positionNames), tokens)
					p := plainOf(cfg).with(plainTables(t, cfg, positions))
					rotary, name := mustRotary(t, cfg), fmt.Sprintf("layout %d, %d pairs at %d, %d tokens", layout, pairs, cfg.Offset, tokens)
					if r.IntN(3) == 0 {
						checkPlain(t, r, name+", inverse", rotary, positions, tokens, p.inverse(), RotateInverse[T])
					} else {
						checkPlain(t, r, name, rotary, positions, tokens, p, Rotate[T])
					}
				}
			}
		}
	})
}

func TestRotateElementsLarge(t *testing.T) {
	eachType(t, testRotateElementsLarge[float32], testRotateElementsLarge[Float16], testRotateElementsLarge[BFloat16])
}

// Rows as wide as the scratch memory, or wider where none is needed, and more
// heads than fit it.
func testRotateElementsLarge[T Element](t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(71)
		for _, tt := range []struct{ pairs, tokens, heads int }{
			{1024, 2, 3}, {1023, 3, 1}, {700, 2, 2}, {512, 3, 5}, {64, 3, 40}, {33, 2, 100}, {1, 3, 1500}, {1025, 2, 2}, {2100, 1, 1},
		} {
			for _, layout := range allLayouts {
				if layout > Interleaved && tt.pairs > chunkPairs || testing.Short() && r.IntN(4) != 0 {
					continue
				}
				cfg := RotaryConfig{HeadDim: 2*tt.pairs + 3, RotaryDim: 2 * tt.pairs, Offset: 1, Layout: layout, Angles: Float32, InvFreq: ladderOf(tt.pairs)}
				positions := randomPositions(r, "runs", tt.tokens)
				v := View[T]{Heads: tt.heads}
				m := allocate(r, &v, tt.tokens, cfg.HeadDim)
				want, written := slices.Clone(m.all), make([]bool, len(m.all))
				p := plainOf(cfg).with(plainTables(t, cfg, positions))
				rotatePlain(&p, want[m.start:], &v, nil, want[m.start:], &v, tt.tokens, false, written[m.start:])
				if err := Rotate(mustRotary(t, cfg), positions, v); err != nil {
					t.Fatal(err)
				}
				compare(t, fmt.Sprintf("layout %d, %+v: x", layout, tt), m.all, want, written)
			}
		}
	})
}

func TestLayoutCrossing(t *testing.T) {
	eachType(t, testLayoutCrossing[float32], testLayoutCrossing[Float16], testLayoutCrossing[BFloat16])
}

// A layout that crosses from one order to the other permutes and then rotates
// in the order that it writes. RotateInverse gives the order back.
func testLayoutCrossing[T Element](t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(72)
		for _, layout := range crossing {
			in, out := plainOf(RotaryConfig{Layout: layout}).in, plainOf(RotaryConfig{Layout: layout}).out
			for _, pairs := range lengths {
				const tokens, heads = 9, 3
				cfg := randomGeometry(r, layout, pairs)
				positions := randomPositions(r, "runs", tokens)
				got := randomElements[T](r, tokens*heads*cfg.HeadDim)
				want, ordered := slices.Clone(got), slices.Clone(got)
				permute := func(to, from []T, in, out Layout) {
					for row := cfg.Offset; row < len(from); row += cfg.HeadDim {
						for i := range pairs {
							a, b := pairAt(in, row, i, pairs)
							c, d := pairAt(out, row, i, pairs)
							to[c], to[d] = from[a], from[b]
						}
					}
				}
				permute(want, got, in, out)
				crosses := mustRotary(t, cfg)
				cfg.Layout = out
				stays := mustRotary(t, cfg)
				view := func(x []T) View[T] { return View[T]{Data: x, Heads: heads} }
				if err := errors.Join(Rotate(crosses, positions, view(got)), Rotate(stays, positions, view(want))); err != nil {
					t.Fatal(err)
				}
				if !slices.EqualFunc(got, want, sameElement) {
					t.Fatalf("layout %d, %d pairs: crossing is not to permute and rotate", layout, pairs)
				}
				// Back: the inverse of the order that was written, permuted.
				if err := errors.Join(RotateInverse(crosses, positions, view(got)), RotateInverse(stays, positions, view(want))); err != nil {
					t.Fatal(err)
				}
				copy(ordered, want)
				permute(ordered, want, out, in)
				if !slices.EqualFunc(got, ordered, sameElement) {
					t.Fatalf("layout %d, %d pairs: the inverse is not to rotate back and permute", layout, pairs)
				}
			}
		}
	})
}

// At position 0 a crossing layout is the permutation alone, and its inverse
// undoes it: no element changes but for its place.
func TestLayoutCrossingAtZero(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, layout := range crossing {
			const dim = 12
			x := make([]float32, dim)
			for i := range x {
				x[i] = float32(i + 1)
			}
			want := map[Layout][]float32{
				InterleavedToHalfSplit: {1, 3, 5, 7, 9, 11, 2, 4, 6, 8, 10, 12},
				HalfSplitToInterleaved: {1, 7, 2, 8, 3, 9, 4, 10, 5, 11, 6, 12},
			}[layout]
			rotary, v := mustRotary(t, RotaryConfig{HeadDim: dim, Layout: layout}), View[float32]{Data: x, Heads: 1}
			if err := Rotate(rotary, []int32{0}, v); err != nil || !slices.Equal(x, want) {
				t.Errorf("layout %d: got %v, want %v, error %v", layout, x, want, err)
			}
			if err := RotateInverse(rotary, []int32{0}, v); err != nil || x[0] != 1 || x[5] != 6 || !slices.IsSorted(x) {
				t.Errorf("layout %d: the inverse gave %v, error %v", layout, x, err)
			}
		}
	})
}

// transformers 5.23.0, apply_rotary_pos_emb_interleave of DeepSeek V3, for
// [batch 1][heads][tokens 2][dim 6] and numbers with which float32 is exact.
func TestLayoutDeepSeekV3(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		const tokens, dim = 2, 6
		rotary, err := NewTableRotary(RotaryConfig{HeadDim: dim, Layout: InterleavedToHalfSplit}, Table[float32]{
			Cos: []float32{0.5, -0.25, 2, 1, 0.75, -1.5},
			Sin: []float32{2, 0.125, -1, -0.5, 3, 0.25},
		})
		if err != nil {
			t.Fatal(err)
		}
		q := []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24}
		k := []float32{-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12}
		heads := func(x []float32) View[float32] {
			return View[float32]{Data: x, Heads: len(x) / (tokens * dim), TokenStride: dim, HeadStride: tokens * dim}
		}
		if err := Rotate(rotary, nil, heads(q), heads(k)); err != nil {
			t.Fatal(err)
		}
		wantQ := []float32{
			-3.5, -1.25, 16, 3, -0.625, 7, 11, -23.25, -19.5, 4.5, 34.5, -15.25,
			-21.5, -5.75, 52, 33, -2.125, 19, 29, -50.25, -40.5, 10.5, 79.5, -30.25,
		}
		wantK := []float32{3.5, 1.25, -16, -3, 0.625, -7, -11, 23.25, 19.5, -4.5, -34.5, 15.25}
		if !slices.Equal(q, wantQ) || !slices.Equal(k, wantK) {
			t.Errorf("got %v and %v, want %v and %v", q, k, wantQ, wantK)
		}
	})
}

func TestLayoutErrors(t *testing.T) {
	var calls []wrong
	for _, layout := range crossing {
		for _, cfg := range []RotaryConfig{
			{HeadDim: 2050, Layout: layout},
			{HeadDim: 4000, RotaryDim: 2052, Offset: 7, Layout: layout},
			{HeadDim: 65536, Layout: layout},
		} {
			dim := cfg.RotaryDim
			if dim == 0 {
				dim = cfg.HeadDim
			}
			says := fmt.Sprintf("cfg.RotaryDim is %d, want at most 2048 with a Layout", dim)
			name := fmt.Sprint("layout=", layout, "/dim=", dim)
			calls = append(calls,
				wrong{name, func() error { _, err := NewRotary(cfg); return err }, ErrConfig, []string{"posenc.NewRotary: " + says}},
				wrong{name + "/table", func() error { _, err := NewTableRotary(cfg, Table[float32]{}); return err }, ErrConfig, []string{"posenc.NewTableRotary: " + says}},
			)
		}
		mustRotary(t, RotaryConfig{HeadDim: 4096, RotaryDim: 2048, Layout: layout})
	}
	checkWrong(t, calls)
}
