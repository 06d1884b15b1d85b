package posenc_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/kernels"
)

// Transformed numbers, and a cache of Q8_0 that transforms by itself, have the bits of ggml:
// testdata/hadamard/generate.py.
func TestHadamardOfGGML(t *testing.T) {
	cases := kit.ReadCases[struct {
		Block   int
		Float32 string
		Q8      string `json:"q8_0"`
	}](t, "testdata/hadamard/vectors.json", 5)
	rope := kit.Must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: 32, Layout: posenc.HalfSplit}))
	kit.EachImplementation(t, func(t *testing.T, _ kernels.Implementation) {
		for _, c := range cases {
			n := c.Block
			cache := make([]posenc.Q8_0, n/32)
			kit.NoError(t, posenc.RotateIntoQuantized(rope.Unrotated(1), nil, posenc.IntoQuantized[posenc.Q8_0, float32]{
				Dst:     posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{Data: cache, Heads: 1}, Hadamard: n},
				Src:     posenc.View[float32]{Data: kit.GoldenInputs(0, n), Heads: 1},
				HeadDim: n,
			}))
			if want := kit.Hex[uint8](c.Q8); !bytes.Equal(kit.BytesOf(cache), want) {
				t.Errorf("blocks of %d: the cache has %x, want %x", n, kit.BytesOf(cache), want)
			}
			x, want := kit.GoldenInputs(0, n), kit.Hex[float32](c.Float32)
			kit.NoError(t, posenc.Hadamard(posenc.HadamardOptions{HeadDim: n, Block: n}, 1, posenc.View[float32]{Data: x, Heads: 1}))
			if i := kit.FirstDifference(x, want); i >= 0 {
				t.Errorf("blocks of %d: number %d is %x, want %x", n, i, x[i], want[i])
			}
		}
	})
}

var _ = kit.Register(kit.Case{Function: "Hadamard", Times: 2,
	Call: oneOf(hadamardCall[float32], hadamardCall[posenc.Float16], hadamardCall[posenc.BFloat16]),
	OnStack: func() error {
		var x [2 * 64]float32
		var y [64]posenc.Float16
		cfg := posenc.HadamardOptions{HeadDim: 64, Block: 32}
		return errors.Join(posenc.Hadamard(cfg, 1, posenc.View[float32]{Data: x[:], Heads: 2}), posenc.Hadamard(cfg, 1, posenc.View[posenc.Float16]{Data: y[:], Heads: 1}))
	},
	Digests: ofTypes("Hadamard", digestHadamard[float32], digestHadamard[posenc.Float16], digestHadamard[posenc.BFloat16]),
	Long: func() error {
		return eachLong(func(_ posenc.Angles, tokens, heads, dim int) error {
			if dim%32 != 0 {
				return nil
			}
			cfg := posenc.HadamardOptions{HeadDim: dim, Block: 32}
			return errors.Join(posenc.Hadamard(cfg, tokens, longView[float32](tokens, heads, dim)), posenc.Hadamard(cfg, tokens, longView[posenc.BFloat16](tokens, heads, dim)))
		})
	},
})

func hadamardCall[T posenc.Element](a *kit.Arguments) kit.Call {
	block := 32 << a.Below(5)
	if a.Rarely() {
		block = a.Number(0, 600)
	}
	tokens := a.Number(0, 5)
	dim := a.Size(block, 1+a.Below(3))
	if !a.Any() && a.Heads() > 20 { // more would not fit the memory of arguments
		tokens, dim = min(tokens, 1), block
	}
	xs := kit.OutputViews[T](a, tokens, dim)
	cfg := posenc.HadamardOptions{HeadDim: dim, Block: block}
	return kit.Call{
		Run: func() error { return posenc.Hadamard(cfg, tokens, xs...) },
		Right: func() bool {
			return tokens >= 0 && dim >= 1 && block >= 32 && block <= 512 && block&(block-1) == 0 && dim%block == 0 && viewsRight(xs, tokens, dim)
		},
		Want: func() {
			eachHead(xs, tokens, dim, func(_ int, head []T) { widely(head, func(x []float32) { hadamardPlain(x, block) }) })
		},
		Parts: kit.ViewParts(xs, tokens, dim, false, func(_ int, x posenc.View[T], tokens []int) error {
			return posenc.Hadamard(cfg, len(tokens), x)
		}),
	}
}

func digestHadamard[T posenc.Element](d *kit.Digest) {
	for _, block := range []int{32, 64, 128, 256, 512} {
		x := kit.DigestElements[T](d, 2*512)
		d.Must(posenc.Hadamard(posenc.HadamardOptions{HeadDim: 512, Block: block}, 2, posenc.View[T]{Data: x, Heads: 1}))
		d.Add(x)
	}
}

var _ = kit.Register(kit.Case{Function: "HadamardBlocks", NeverFails: true, NoDigest: true, Call: func(a *kit.Arguments) kit.Call {
	dims := [2]int{a.Number(0, 1200), a.Number(0, 1200)}
	if a.Yes() {
		dims[0] = 64 * a.Below(20)
	}
	var keys, values int
	return kit.Call{
		Run: func() error { keys, values = posenc.HadamardBlocks(dims[0], dims[1]); return nil },
		Want: func() {
			if keys != largestBlock(dims[0], 512) || values != largestBlock(dims[1], 64) {
				panic(fmt.Sprintf("heads of %d have blocks of %d and %d", dims, keys, values))
			}
		},
	}
}})

// largestBlock returns the largest power of two from 64 to most that divides dim, or 0.
func largestBlock(dim, most int) (block int) {
	for n := 64; n <= most && dim > 0 && dim%n == 0; n *= 2 {
		block = n
	}
	return block
}
