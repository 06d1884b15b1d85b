package posenc_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/exhaustive"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

var latentFormats = map[string]posenc.LatentFormat{
	"DeepSeekV32": posenc.DeepSeekV32, "DeepSeekV4": posenc.DeepSeekV4, "DeepSeekIndexer": posenc.DeepSeekIndexer,
	"LatentE4M3": posenc.LatentE4M3, "LatentBFloat16": posenc.LatentBFloat16,
}

var latentScales = map[string]posenc.LatentScale{"FloorAmax": posenc.LatentFloorAmax, "FloorScale": posenc.LatentFloorScale, "Float32Scale": posenc.LatentFloat32Scale}

// latentShape is what documents say of a format.
type latentShape struct{ numbers, token, scales, unit int }

var latentShapes = map[posenc.LatentFormat]latentShape{
	posenc.DeepSeekV32: {576, 656, 0, 1}, posenc.DeepSeekV4: {512, 576, 8, 576}, posenc.DeepSeekIndexer: {128, 128, 4, 1},
	posenc.LatentE4M3: {576, 576, 0, 1}, posenc.LatentBFloat16: {576, 1152, 0, 1},
}

// pageOf returns the bytes of a page, and those from page to page.
func pageOf(f posenc.LatentFormat, tokens int) (bytes, stride int) {
	s := latentShapes[f]
	bytes = tokens * (s.token + s.scales)
	return bytes, (bytes + s.unit - 1) / s.unit * s.unit
}

// latentOf returns an empty cache with pages of 64 tokens; the last page has only those that there are, as
// the script writes it.
func latentOf(format, rule string, tokens int) posenc.LatentCache {
	c := posenc.LatentCache{Format: latentFormats[format], Scale: latentScales[rule], PageTokens: min(64, tokens)}
	_, page := pageOf(c.Format, c.PageTokens)
	c.Data = make([]byte, (tokens+c.PageTokens-1)/c.PageTokens*page)
	if format == "LatentE4M3" {
		scale := testkit.Must(strconv.ParseFloat(rule, 32))
		c.InverseScale = float32(scale)
	}
	return c
}

// latentPart is tokens of 576 numbers on their way into a cache of a format, as the script takes them.
func latentPart[S posenc.Element](ropes map[int]*posenc.Rotary, positions []int32, c posenc.LatentCache, x []S) posenc.IntoLatent[S] {
	part := posenc.IntoLatent[S]{Angles: ropes[64].At(positions), Dst: c}
	view := func(first int) posenc.View[S] {
		return posenc.View[S]{Data: x[min(first, len(x)):], Heads: 1, TokenStride: 576}
	}
	switch part.Rotated = view(512); c.Format {
	case posenc.DeepSeekV4: // the head is the whole latent
		part.Angles, part.Rotated = ropes[512].At(positions), view(64)
	case posenc.DeepSeekIndexer:
		part.Angles, part.Rotated = ropes[128].At(positions), view(448)
	default:
		part.Latent = view(0)
	}
	return part
}

func latentRopes() map[int]*posenc.Rotary {
	ropes := map[int]*posenc.Rotary{}
	for _, dim := range []int{64, 128, 512} {
		ropes[dim] = testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, RotaryDim: 64, Offset: dim - 64, Layout: posenc.Interleaved})
	}
	return ropes
}

// Caches have the bytes of the engines' formulas: testdata/latent/generate.py. All numbers are read back as
// code times scale.
func TestLatentGolden(t *testing.T) {
	cases := testkit.ReadCases[struct{ Name, Format, Rule, Bytes string }](t, "testdata/latent/vectors.json", 19)
	ropes := latentRopes()
	hard := testkit.Must(hex.DecodeString(cases[len(cases)-1].Bytes))
	float32s := make([]float32, len(hard)/4)
	for i := range float32s {
		float32s[i] = math.Float32frombits(uint32(hard[4*i]) | uint32(hard[4*i+1])<<8 | uint32(hard[4*i+2])<<16 | uint32(hard[4*i+3])<<24)
	}
	testkit.EachImplementation(t, func(t *testing.T, _ kernels.Implementation) {
		for _, c := range cases[:len(cases)-1] {
			name, want := fmt.Sprint(c.Name, " ", c.Format, " ", c.Rule), testkit.Must(hex.DecodeString(c.Bytes))
			var cache posenc.LatentCache
			if c.Name == "bfloat16" {
				cache = latentOf(c.Format, c.Rule, 3)
				testkit.NoError(t, posenc.RotateIntoLatent(nil, latentPart(ropes, testkit.Sequence(3), cache, latentInputs(0, 3))))
			} else {
				cache = latentOf(c.Format, c.Rule, 5)
				testkit.NoError(t, posenc.RotateIntoLatent(nil, latentPart(ropes, testkit.Sequence(5), cache, float32s)))
			}
			if !bytes.Equal(cache.Data, want) {
				i := slices.IndexFunc(want, func(byte) bool { return true })
				for i < len(want) && cache.Data[i] == want[i] {
					i++
				}
				t.Errorf("%s: byte %d of %d is %x, want %x", name, i, len(want), cache.Data[i], want[i])
			}
		}
	})
}

// latentInputs returns inputs of the script.
func latentInputs(first, tokens int) []posenc.BFloat16 {
	x := make([]posenc.BFloat16, tokens*576)
	for t := range tokens {
		token := uint64(first + t)
		for j := range uint64(576) {
			group, h := splitmix(1<<40+token*9+j/64), splitmix(token*576+j)
			if group>>58 == 0 {
				x[t*576+int(j)] = posenc.BFloat16(h >> 63 << 15)
				continue
			}
			x[t*576+int(j)] = posenc.BFloat16(h>>63<<15 | (group&63+85-h>>8&15&(h>>16))<<7 | h&127)
		}
	}
	return x
}

// Ten million random tokens have the bytes of the engines' formulas, of which testdata/latent/random.json has
// digests.
func TestExhaustiveLatent(t *testing.T) {
	exhaustive.SkipUnlessAsked(t)
	const digest = 8 // digits
	var random struct {
		Tokens, Chunk int
		Digests       map[string]string
	}
	testkit.ReadJSON("testdata/latent/random.json", &random)
	if random.Tokens < 1e7 || len(random.Digests) != 7 {
		t.Fatalf("digests of %d tokens in %d formats", random.Tokens, len(random.Digests))
	}
	ropes := latentRopes()
	exhaustive.Run(t, exhaustive.Leg{
		Name: "caches of latent attention on " + dispatch.Implementation().String(), Blocks: random.Tokens / random.Chunk, Counts: []string{"records compared"},
		Worker: func(t *testing.T) func(block int, counts []int64) {
			positions := make([]int32, random.Chunk)
			return func(block int, counts []int64) {
				x := latentInputs(block*random.Chunk, random.Chunk)
				for t := range positions {
					positions[t] = int32((block*random.Chunk + t) % 32)
				}
				for name, digests := range random.Digests {
					format, rule, _ := strings.Cut(name, " ")
					cache := latentOf(format, rule, random.Chunk)
					testkit.NoError(t, posenc.RotateIntoLatent(nil, latentPart(ropes, positions, cache, x)))
					sum := sha256.Sum256(cache.Data)
					if got, want := hex.EncodeToString(sum[:digest/2]), digests[digest*block:][:digest]; got != want {
						t.Fatalf("%s: the bytes of tokens %d to %d have digest %s, want %s", name, block*random.Chunk, (block+1)*random.Chunk-1, got, want)
					}
					counts[0] += int64(random.Chunk)
				}
			}
		},
	})
}

func TestLatentArguments(t *testing.T) {
	ropes := latentRopes()
	half := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 64, RotaryDim: 32, Layout: posenc.Interleaved})
	data, numbers, positions := make([]byte, 4*656), make([]float32, 2*576), []int32{0, 1}
	type latent = posenc.IntoLatent[float32]
	right := latent{
		Angles: ropes[64].At(positions), Dst: posenc.LatentCache{Data: data, Format: posenc.DeepSeekV32, Scale: posenc.LatentFloorScale, PageTokens: 2},
		Latent: posenc.View[float32]{Data: numbers, Heads: 1, TokenStride: 576}, Rotated: posenc.View[float32]{Data: numbers[512:], Heads: 1, TokenStride: 576},
	}
	slots := []int32(nil)
	store := func(change func(x *latent)) error {
		x := right
		change(&x)
		return posenc.RotateIntoLatent(slots, x)
	}
	fails := testkit.Failures(t, data, numbers)
	const into, read = "posenc.RotateIntoLatent: ", "posenc.DequantizeLatent: "
	fails(posenc.RotateIntoLatent[float32](nil), posenc.ErrShape, into+"xs is empty")
	fails(store(func(x *latent) { x.Angles = posenc.Angles{} }), posenc.ErrConfig, into+"a is zero")
	fails(store(func(x *latent) { x.Angles = half.At(positions) }), posenc.ErrShape, into+"xs[0].Angles is of 32 elements from number 0 on of heads of 64, want of the last 64")
	fails(store(func(x *latent) { x.Dst.Format = 0 }), posenc.ErrConfig, into+"xs[0].Dst.Format is 0, want DeepSeekV32")
	fails(store(func(x *latent) { x.Dst.Format = 6 }), posenc.ErrConfig, into+"xs[0].Dst.Format is 6")
	fails(store(func(x *latent) { x.Dst.Format = posenc.DeepSeekIndexer; x.Angles = ropes[512].At(positions) }), posenc.ErrShape, into+"xs[0].Angles is of heads of 512, want heads of at most the 128")
	fails(store(func(x *latent) { x.Dst.Scale = 0 }), posenc.ErrConfig, into+"xs[0].Dst.Scale is 0")
	fails(store(func(x *latent) { x.Dst.Scale = 4 }), posenc.ErrConfig, into+"xs[0].Dst.Scale is 4")
	fails(store(func(x *latent) { x.Dst.Format, x.Dst.Scale = posenc.DeepSeekV4, posenc.LatentFloat32Scale }), posenc.ErrConfig, into+"xs[0].Dst.Scale is 3")
	fails(store(func(x *latent) { x.Dst.Format = posenc.LatentBFloat16 }), posenc.ErrConfig, into+"xs[0].Dst.Scale is 2")
	fails(store(func(x *latent) { x.Dst.Format, x.Dst.Scale = posenc.LatentE4M3, 0 }), posenc.ErrConfig, into+"xs[0].Dst.InverseScale is 0, want a number from 2^-126")
	fails(store(func(x *latent) { x.Dst.InverseScale = 1 }), posenc.ErrConfig, into+"xs[0].Dst.InverseScale is 1")
	fails(store(func(x *latent) { x.Dst.Hadamard = 64 }), posenc.ErrConfig, into+"xs[0].Dst.Hadamard is 64, want 0, or for DeepSeekIndexer")
	fails(store(func(x *latent) { x.Dst.Format, x.Dst.PageTokens = posenc.DeepSeekV4, 0 }), posenc.ErrShape, into+"xs[0].Dst.PageTokens is 0, want at least 1")
	fails(store(func(x *latent) { x.Dst.PageTokens = -1 }), posenc.ErrShape, into+"xs[0].Dst.PageTokens is -1")
	fails(store(func(x *latent) { x.Dst.PageTokens = math.MaxInt / 600 }), posenc.ErrShape, into+"xs[0].Dst.PageTokens is", "an int cannot count")
	fails(store(func(x *latent) { x.Dst.PageTokens, x.Dst.PageStride = 0, 656 }), posenc.ErrShape, into+"xs[0].Dst.PageStride is 656, want 0")
	fails(store(func(x *latent) { x.Dst.PageStride = 1311 }), posenc.ErrShape, into+"xs[0].Dst.PageStride is 1311, want 0 or at least the 1312 bytes of a page")
	fails(store(func(x *latent) { x.Dst.Data = data[:1311] }), posenc.ErrLength, into+"xs[0].Dst.Data has 1311 elements, want whole pages for 2 tokens")
	fails(store(func(x *latent) { x.Latent.Heads = 2 }), posenc.ErrLength, into+"xs[0].Latent.Data")
	fails(store(func(x *latent) { x.Rotated = posenc.View[float32]{} }), posenc.ErrShape, into+"xs[0].Rotated.Heads is 0")
	fails(store(func(x *latent) { x.Dst.Format, x.Angles = posenc.DeepSeekV4, ropes[512].At(positions) }), posenc.ErrShape, into+"xs[0].Latent is not empty, want a zero view")
	fails(store(func(x *latent) { x.Dst.Data = testkit.BytesOf(numbers) }), posenc.ErrOverlap, into+"xs[0].Dst is sharing memory with Latent or Rotated of xs[0]")
	fails(posenc.RotateIntoLatent(nil, right, right), posenc.ErrOverlap, into+"xs[1].Dst is sharing memory with xs[0].Dst")
	one := right
	one.Angles = ropes[64].At(positions[:1])
	one.Latent.Data, one.Rotated.Data = numbers[:512], numbers[512:576]
	fails(posenc.RotateIntoLatent(nil, right, one), posenc.ErrLength, into+"xs[1].Angles is of 1 tokens, want 2 as in xs[0]")
	slots = []int32{4, 0}
	fails(store(func(x *latent) {}), posenc.ErrPosition, into+"slots[0] is 4, want below 4, the tokens that xs[0].Dst has whole pages for")
	slots = []int32{0}
	fails(store(func(x *latent) {}), posenc.ErrLength, into+"slots has 1 element, want 2")

	dst := posenc.View[float32]{Data: numbers, Heads: 1}
	options := posenc.DequantizeOptions{Tokens: 2, HeadDim: 576}
	fails(posenc.DequantizeLatent(dst, right.Dst, posenc.DequantizeOptions{Tokens: 2, HeadDim: 512}), posenc.ErrShape, read+"options.HeadDim is 512, want 576, the numbers of src.Format")
	fails(posenc.DequantizeLatent(dst, right.Dst, posenc.DequantizeOptions{Tokens: 2, HeadDim: 576, Slots: []int32{0, 4}}), posenc.ErrPosition, read+"options.Slots[1] is 4, want below 4")
	fails(posenc.DequantizeLatent(posenc.View[float32]{Data: numbers[:576], Heads: 1}, right.Dst, options), posenc.ErrLength, read+"dst.Data has 576 elements")
	fails(posenc.DequantizeLatent(posenc.View[float32]{Data: make([]float32, 4*576), Heads: 2}, right.Dst, options), posenc.ErrShape, read+"dst.Heads is 2, want 1")
	fails(posenc.DequantizeLatent(dst, posenc.LatentCache{Data: testkit.BytesOf(numbers), Format: posenc.DeepSeekV32, Scale: posenc.LatentFloorScale}, options), posenc.ErrOverlap, read+"dst is sharing memory with src")
}
