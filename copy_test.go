package posenc

import (
	"testing"

	"github.com/go-posenc/posenc/kernels"
)

// Copies past the caches write their elements and no other.
func TestCopyPastCaches(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(60)
		for n := 0; n <= 200; n += 8 {
			for shift := range 4 {
				memory := aligned(256)
				fillRandom(r, memory)
				before := append([]float32(nil), memory...)
				x := make([]float32, n+shift)[shift:]
				fillRandom(r, x)
				kernels.CopyPastCaches(impl, memory[8:8+n], x)
				for i, v := range memory {
					want := before[i]
					if i >= 8 && i < 8+n {
						want = x[i-8]
					}
					if !same(v, want) {
						t.Fatalf("%d elements: memory[%d] is %v, want %v", n, i, v, want)
					}
				}
			}
		}
	})
}

// Caches beyond 4 MiB are written past the processor's: the bits are those of
// small pieces.
func TestRotateIntoLarge(t *testing.T) {
	t.Run("float32", testRotateIntoLarge[float32])
	t.Run("float16", testRotateIntoLarge[Float16])
	t.Run("bfloat16", testRotateIntoLarge[BFloat16])
}

func testRotateIntoLarge[D Element](t *testing.T) {
	const heads, dim, tokens = 5, 112, 5000 // 11 MB of float32
	positions := sequence(tokens)
	slots := sequence(tokens)
	slots[17], slots[18], slots[19] = -1, 40, 19
	src := make([]float32, tokens*heads*dim)
	fillRandom(newRand(61), src)
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, cfg := range []RotaryConfig{
			{HeadDim: dim},
			{HeadDim: dim, RotaryDim: 64, Offset: 16, Layout: Interleaved},
			{HeadDim: dim, Layout: InterleavedToHalfSplit},
		} {
			r := mustRotary(t, cfg)
			whole, parts := make([]D, len(src)), make([]D, len(src))
			if err := RotateInto(r, positions, View[D]{Data: whole, Heads: heads}, slots, View[float32]{Data: src, Heads: heads}); err != nil {
				t.Fatal(err)
			}
			for first := 0; first < tokens; first += 500 {
				part := View[float32]{Data: src[first*heads*dim : (first+500)*heads*dim], Heads: heads}
				if err := RotateInto(r, positions[first:first+500], View[D]{Data: parts, Heads: heads}, slots[first:first+500], part); err != nil {
					t.Fatal(err)
				}
			}
			for i := range whole {
				if !sameElement(whole[i], parts[i]) {
					t.Fatalf("%+v: element %d is %v at once and %v in parts", cfg, i, whole[i], parts[i])
				}
			}
		}
	})
}
