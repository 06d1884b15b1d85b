package posenc_test

import (
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// Copies past the caches write their elements and no other.
func TestCopyPastCaches(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(60)
		for n := 0; n <= 200; n += 8 {
			for shift := range 4 {
				memory := testkit.Aligned(256)
				testkit.FillRandom(r, memory)
				before := append([]float32(nil), memory...)
				x := make([]float32, n+shift)[shift:]
				testkit.FillRandom(r, x)
				kernels.CopyPastCaches(impl, memory[8:8+n], x)
				for i, v := range memory {
					want := before[i]
					if i >= 8 && i < 8+n {
						want = x[i-8]
					}
					if !testkit.Same(v, want) {
						t.Fatalf("%d elements: memory[%d] is %v, want %v", n, i, v, want)
					}
				}
			}
		}
	})
}

// Caches beyond 8 MiB are written past the processor's: the bits are those of
// small pieces.
func TestRotateIntoLarge(t *testing.T) {
	t.Run("float32", testRotateIntoLarge[float32])
	t.Run("float16", testRotateIntoLarge[posenc.Float16])
	t.Run("bfloat16", testRotateIntoLarge[posenc.BFloat16])
}

func testRotateIntoLarge[D posenc.Element](t *testing.T) {
	size := (8<<20 + 8<<17) / int(unsafe.Sizeof(*new(D)))
	source := make([]float32, size)
	testkit.FillRandom(testkit.NewRand(61), source)
	for name, shape := range map[string]struct{ heads, dim, rotaryDim, offset, skipped int }{
		"few heads":               {5, 112, 64, 16, 0},
		"half a vector on":        {5, 112, 64, 16, 16},   // too little for stores past the caches
		"one head":                {1, 4096, 64, 4032, 0}, // all of the scratch memory, with 16 bits
		"heads that do not fit":   {3, 1040, 1024, 16, 0},
		"more heads than fit":     {100, 32, 16, 16, 0},
		"a head that may not fit": {2, 4096, 2048, 100, 0},
	} {
		heads, dim, skip := shape.heads, shape.dim, shape.skipped/int(unsafe.Sizeof(*new(D)))
		tokens := size / (heads * dim)
		slots := testkit.Sequence(tokens)
		slots[17], slots[18], slots[19] = -1, 40, 19
		positions, src := testkit.Sequence(tokens), source[:tokens*heads*dim]
		large := func(t *testing.T, impl kernels.Implementation) {
			for _, layout := range []posenc.Layout{posenc.Interleaved, posenc.InterleavedToHalfSplit} {
				cfg := posenc.RotaryConfig{HeadDim: dim, RotaryDim: shape.rotaryDim, Offset: shape.offset, Layout: layout}
				r := testkit.MustRotary(t, cfg)
				whole, parts := make([]D, len(src)+skip)[skip:], make([]D, len(src))
				if err := posenc.RotateInto(r.At(positions), posenc.View[D]{Data: whole, Heads: heads}, slots, posenc.View[float32]{Data: src, Heads: heads}); err != nil {
					t.Fatal(err)
				}
				for first := 0; first < tokens; first += 100 {
					last := min(first+100, tokens)
					part := posenc.View[float32]{Data: src[first*heads*dim : last*heads*dim], Heads: heads}
					if err := posenc.RotateInto(r.At(positions[first:last]), posenc.View[D]{Data: parts, Heads: heads}, slots[first:last], part); err != nil {
						t.Fatal(err)
					}
				}
				for i := range whole {
					if !testkit.SameElement(whole[i], parts[i]) {
						t.Fatalf("%+v: element %d is %v at once and %v in parts", cfg, i, whole[i], parts[i])
					}
				}
			}
		}
		t.Run(name, func(t *testing.T) { testkit.EachImplementation(t, large) })
	}
}
