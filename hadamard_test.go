package posenc_test

import (
	"bytes"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// Transformed numbers, and a cache of Q8_0 that transforms by itself, have the bits of ggml:
// testdata/hadamard/generate.py.
func TestHadamardOfGGML(t *testing.T) {
	cases := testkit.ReadCases[struct {
		Block   int
		Float32 string
		Q8      string `json:"q8_0"`
	}](t, "testdata/hadamard/vectors.json", 5)
	rope := testkit.Must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: 32, Layout: posenc.HalfSplit}))
	testkit.EachImplementation(t, func(t *testing.T, _ kernels.Implementation) {
		for _, c := range cases {
			n := c.Block
			cache := make([]posenc.Q8_0, n/32)
			testkit.NoError(t, posenc.RotateIntoQuantized(rope.Unrotated(1), nil, posenc.IntoQuantized[posenc.Q8_0, float32]{
				Dst:     posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{Data: cache, Heads: 1}, Hadamard: n},
				Src:     posenc.View[float32]{Data: testkit.GoldenInputs(0, n), Heads: 1},
				HeadDim: n,
			}))
			if want := testkit.Hex[uint8](c.Q8); !bytes.Equal(testkit.BytesOf(cache), want) {
				t.Errorf("blocks of %d: the cache has %x, want %x", n, testkit.BytesOf(cache), want)
			}
			x, want := testkit.GoldenInputs(0, n), testkit.Hex[float32](c.Float32)
			testkit.NoError(t, posenc.Hadamard(posenc.HadamardOptions{HeadDim: n, Block: n}, 1, posenc.View[float32]{Data: x, Heads: 1}))
			if i := testkit.FirstDifference(x, want); i >= 0 {
				t.Errorf("blocks of %d: number %d is %x, want %x", n, i, x[i], want[i])
			}
		}
	})
}
