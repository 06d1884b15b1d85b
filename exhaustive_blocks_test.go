package posenc_test

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"math"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/exhaustive"
	"github.com/go-posenc/posenc/internal/test/kit"
)

// Random blocks have the bytes of ggml's reference, a billion of each format, and of torchao, a hundred
// million, of which testdata of generic has digests.
func TestExhaustiveBlocks(t *testing.T) {
	exhaustive.SkipUnlessAsked(t)
	for _, source := range []struct {
		path    string
		least   int
		formats map[string]storesBlocks
	}{
		{"blocks", 1e9, map[string]storesBlocks{
			"q8_0": storeBlocks[posenc.Q8_0], "q4_0": storeBlocks[posenc.Q4_0], "q4_1": storeBlocks[posenc.Q4_1],
			"q5_0": storeBlocks[posenc.Q5_0], "q5_1": storeBlocks[posenc.Q5_1], "iq4_nl": storeBlocks[posenc.IQ4_NL],
		}},
		{"fp4", 1e8, map[string]storesBlocks{
			"mxfp4floor": storeBlocks[posenc.MXFP4Floor], "mxfp4even": storeBlocks[posenc.MXFP4Even],
			"mxfp4rceil": storeBlocks[posenc.MXFP4RCeil], "nvfp4": storeBlocks[posenc.NVFP4],
		}},
	} {
		var random struct {
			Chunk   int
			Digests map[string]string
		}
		kit.ReadJSON("generic/testdata/"+source.path+"/random.json", &random)
		const digest, call = 8, 1 << 15 // digits, blocks of a call
		chunks := math.MaxInt
		for name := range source.formats {
			chunks = min(chunks, len(random.Digests[name])/digest)
		}
		if chunks*random.Chunk < source.least {
			t.Fatalf("%s: digests of %d blocks, want %d", source.path, chunks*random.Chunk, source.least)
		}
		exhaustive.Run(t, exhaustive.Leg{
			Name: source.path + " on " + dispatch.Implementation().String(), Blocks: chunks, Counts: []string{"blocks compared"},
			Worker: func(t *testing.T) func(chunk int, counts []int64) {
				x, stores := make([]float32, call*randomNumbers), map[string]func(sum hash.Hash){}
				for name, store := range source.formats {
					stores[name] = store(t, x)
				}
				return func(chunk int, counts []int64) {
					sums := map[string]hash.Hash{}
					for first := 0; first < random.Chunk; first += call {
						randomBlocks(x, chunk*random.Chunk+first)
						for name, store := range stores {
							if first == 0 {
								sums[name] = sha256.New()
							}
							if name != "mxfp4rceil" {
								store(sums[name])
							}
						}
						if store := stores["mxfp4rceil"]; store != nil { // last, because it gets other numbers
							for i, v := range x {
								x[i] = math.Float32frombits(math.Float32bits(v) &^ 0xffff)
							}
							store(sums["mxfp4rceil"])
						}
					}
					for name, sum := range sums {
						if got, want := hex.EncodeToString(sum.Sum(nil))[:digest], random.Digests[name][digest*chunk:][:digest]; got != want {
							t.Fatalf("%s: the bytes of blocks %d to %d have digest %s, want %s", name, chunk*random.Chunk, (chunk+1)*random.Chunk-1, got, want)
						}
						counts[0] += int64(random.Chunk)
					}
				}
			},
		})
	}
}

const randomNumbers = 32 // of a random block

// storesBlocks returns what stores the numbers of x as blocks, and adds these to a sum.
type storesBlocks func(t *testing.T, x []float32) func(sum hash.Hash)

func storeBlocks[D posenc.Quantized](t *testing.T, x []float32) func(sum hash.Hash) {
	const dim = 128
	tokens := len(x) / dim
	unrotated := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit}).Unrotated(tokens)
	into := posenc.IntoQuantized[D, float32]{Dst: cacheFor[D](tokens, 1, dim, 0, 0), Src: posenc.View[float32]{Data: x, Heads: 1}}
	blocks := into.Dst.Data
	memory := unsafe.Slice((*byte)(unsafe.Pointer(&blocks[0])), len(blocks)*int(unsafe.Sizeof(blocks[0])))
	return func(sum hash.Hash) {
		kit.NoError(t, posenc.RotateIntoQuantized(unrotated, nil, into))
		sum.Write(memory)
	}
}

// randomBlocks sets x to blocks from number first on: the function random of generic/testdata/blocks/generate.py.
func randomBlocks(x []float32, first int) {
	for n := range len(x) / randomNumbers {
		block, i := x[randomNumbers*n:][:randomNumbers], uint64(first+n)
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
