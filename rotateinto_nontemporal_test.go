package posenc_test

import (
	"errors"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// Caches of keys beyond 8 MiB are written by non-temporal stores: the bits are those
// of small pieces.
func TestRotateIntoNonTemporal(t *testing.T) {
	t.Run("float32", testRotateIntoNonTemporal[float32])
	t.Run("float16", testRotateIntoNonTemporal[posenc.Float16])
	t.Run("bfloat16", testRotateIntoNonTemporal[posenc.BFloat16])
}

func testRotateIntoNonTemporal[D posenc.Element](t *testing.T) {
	size := (8<<20 + 8<<17) / int(unsafe.Sizeof(*new(D)))
	source := make([]float32, size)
	testkit.FillRandom(testkit.NewRand(61), source)
	for name, shape := range map[string]struct{ heads, dim, rotaryDim, offset, skipped int }{
		"few heads":               {5, 112, 64, 16, 0},
		"half a vector on":        {5, 112, 64, 16, 16},   // too little for non-temporal stores
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
				r := testkit.MustRotary(cfg)
				whole, parts := make([]D, len(src)+skip)[skip:], make([]D, len(src))
				testkit.NoError(t, posenc.RotateInto(r.At(positions), posenc.View[D]{Data: whole, Heads: heads}, slots, posenc.View[float32]{Data: src, Heads: heads}))
				for first := 0; first < tokens; first += 100 {
					last := min(first+100, tokens)
					part := posenc.View[float32]{Data: src[first*heads*dim : last*heads*dim], Heads: heads}
					testkit.NoError(t, posenc.RotateInto(r.At(positions[first:last]), posenc.View[D]{Data: parts, Heads: heads}, slots[first:last], part))
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

func TestRotateIntoNonTemporalOf16Bits(t *testing.T) {
	t.Run("float16 to float16", testRotateIntoNonTemporalOf16Bits[posenc.Float16, posenc.Float16])
	t.Run("bfloat16 to float16", testRotateIntoNonTemporalOf16Bits[posenc.Float16, posenc.BFloat16])
}

// Many heads of 16 bits, in a cache so large that they may be written by non-temporal
// stores, are those of many small calls.
func testRotateIntoNonTemporalOf16Bits[D, S posenc.Element](t *testing.T) {
	const heads, dim, tokens, some = 40, 128, 512, 32
	x := slices.Repeat(testkit.RandomElements[S](testkit.NewRand(94), some*heads*dim), tokens/some)
	positions := make([]int32, tokens)
	testkit.CountFrom(positions, 0, 1)
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, cfg := range []posenc.RotaryConfig{
			{HeadDim: dim},
			{HeadDim: dim, RotaryDim: 100, Offset: 28, Layout: posenc.InterleavedToHalfSplit},
		} {
			r := testkit.MustRotary(cfg)
			whole, parts := make([]D, len(x)), make([]D, len(x))
			err := posenc.RotateInto(r.At(positions), posenc.View[D]{Data: whole, Heads: heads}, nil, posenc.View[S]{Data: x, Heads: heads})
			for first := 0; first < tokens; first += some {
				from, to := first*heads*dim, (first+some)*heads*dim
				err = errors.Join(err, posenc.RotateInto(r.At(positions[first:first+some]), posenc.View[D]{Data: parts[from:to], Heads: heads}, nil, posenc.View[S]{Data: x[from:to], Heads: heads}))
			}
			if err != nil {
				t.Fatal(err)
			}
			if slices.Equal(testkit.BytesOf(whole), testkit.BytesOf(parts)) {
				continue // without a look at each element
			}
			for i := range whole {
				if !testkit.SameElement(whole[i], parts[i]) {
					t.Fatalf("%+v: element %d of token %d is %v at once and %v in parts", cfg, i%(heads*dim), i/(heads*dim), testkit.Widen(whole[i]), testkit.Widen(parts[i]))
				}
			}
		}
	})
}
