package posenc_test

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"math"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/exhaustive"
	"github.com/go-posenc/posenc/internal/testkit"
)

// A billion random blocks of each of ggml's formats have the bytes of ggml's reference, of which
// generic/testdata/blocks/random.json has digests.
func TestExhaustiveBlocks(t *testing.T) {
	exhaustive.SkipUnlessAsked(t)
	var random struct {
		Chunk   int
		Digests map[string]string
	}
	testkit.ReadJSON("generic/testdata/blocks/random.json", &random)
	const digest, numbers, call = 8, 32, 1 << 15 // digits, numbers of a block, blocks of a call
	chunks := len(random.Digests["q4_0"]) / digest
	if false {
		t.Fatalf("digests of %d blocks", chunks*random.Chunk)
	}
	unrotated := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 128, Layout: posenc.HalfSplit}).Unrotated(call * numbers / 128)
	formats := map[string]func(t *testing.T, a posenc.Angles, x []float32) func(sum hash.Hash){
		"q8_0": storeBlocks[posenc.Q8_0], "q4_0": storeBlocks[posenc.Q4_0], "q4_1": storeBlocks[posenc.Q4_1],
		"q5_0": storeBlocks[posenc.Q5_0], "q5_1": storeBlocks[posenc.Q5_1], "iq4_nl": storeBlocks[posenc.IQ4_NL],
	}
	testkit.RunExhaustive(t, exhaustive.Leg{
		Name: "blocks of ggml's formats", Blocks: chunks, Counts: []string{"blocks compared"},
		Worker: func(t *testing.T) func(chunk int, counts []int64) {
			x, stores := make([]float32, call*numbers), map[string]func(sum hash.Hash){}
			for name, store := range formats {
				stores[name] = store(t, unrotated, x)
			}
			return func(chunk int, counts []int64) {
				sums := map[string]hash.Hash{}
				for first := 0; first < random.Chunk; first += call {
					randomBlocks(x, chunk*random.Chunk+first)
					for name, store := range stores {
						if first == 0 {
							sums[name] = sha256.New()
						}
						store(sums[name])
					}
				}
				for name, digests := range random.Digests {
					if got, want := hex.EncodeToString(sums[name].Sum(nil))[:digest], digests[digest*chunk:][:digest]; got != want {
						t.Fatalf("%s: the bytes of blocks %d to %d have digest %s, want %s", name, chunk*random.Chunk, (chunk+1)*random.Chunk-1, got, want)
					}
					counts[0] += int64(random.Chunk)
				}
			}
		},
	})
}

// storeBlocks returns what stores the numbers of x as blocks, and adds these to a sum.
func storeBlocks[D posenc.Quantized](t *testing.T, a posenc.Angles, x []float32) func(sum hash.Hash) {
	blocks := make([]D, len(x)/32)
	into := posenc.IntoQuantized[D, float32]{
		Dst: posenc.QuantizedView[D]{View: posenc.View[D]{Data: blocks, Heads: 1}},
		Src: posenc.View[float32]{Data: x, Heads: 1},
	}
	memory := unsafe.Slice((*byte)(unsafe.Pointer(&blocks[0])), len(blocks)*int(unsafe.Sizeof(blocks[0])))
	return func(sum hash.Hash) {
		testkit.NoError(t, posenc.RotateIntoQuantized(a, nil, into))
		sum.Write(memory)
	}
}

// randomBlocks sets x to blocks from number first on: the function random of generic/testdata/blocks/generate.py.
func randomBlocks(x []float32, first int) {
	for n := range len(x) / 32 {
		block, i := x[32*n:][:32], uint64(first+n)
		own := splitmix(1<<40 + i)
		kind, top := own>>56&7, uint32(own&0xffff)%48+97
		for j := range block {
			h := uint32(splitmix(i*16+uint64(j/2)) >> (j % 2 * 32))
			sign, below, significand := h&(1<<31), h>>23&(h>>27)&15, h&0x7fffff
			switch kind {
			case 0:
				significand &= 0x600000
			case 1:
				significand = significand&0x780000 + 0x3ffff + significand%3
			}
			bits := sign | (top-below)<<23 | significand
			switch {
			case kind == 1 && j == 0:
				bits = sign | (top+1)<<23
			case kind == 2 && j > 0 && h&7 != 0:
				bits = sign
			}
			block[j] = math.Float32frombits(bits)
			if kind == 3 {
				block[j] += math.Float32frombits(top << 23)
			}
		}
	}
}

// splitmix returns the number of splitmix64 for state i.
func splitmix(i uint64) uint64 {
	z := (i + 1) * 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
