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
	"github.com/go-posenc/posenc/internal/test/exhaustive"
	"github.com/go-posenc/posenc/internal/test/kit"
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
		scale := kit.Must(strconv.ParseFloat(rule, 32))
		c.InverseScale = float32(scale)
	}
	return c
}

// latentPart is tokens of 576 numbers on their way into a cache of a format, as the script takes them.
func latentPart[S posenc.Element](ropes map[int]*posenc.Rotary, positions []int32, c posenc.LatentCache, x []S) (angles posenc.Angles, part posenc.IntoLatent[S]) {
	angles, part.Dst = ropes[64].At(positions), c
	view := func(first int) posenc.View[S] {
		return posenc.View[S]{Data: x[min(first, len(x)):], Heads: 1, TokenStride: 576}
	}
	switch part.Rotated = view(512); c.Format {
	case posenc.DeepSeekV4: // the head is the whole latent
		angles, part.Rotated = ropes[512].At(positions), view(64)
	case posenc.DeepSeekIndexer:
		angles, part.Rotated = ropes[128].At(positions), view(448)
	default:
		part.Latent = view(0)
	}
	return angles, part
}

func latentRopes() map[int]*posenc.Rotary {
	ropes := map[int]*posenc.Rotary{}
	for _, dim := range []int{64, 128, 512} {
		ropes[dim] = kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, RotaryDim: 64, Offset: dim - 64, Layout: posenc.Interleaved})
	}
	return ropes
}

// Caches have the bytes of the engines' formulas: testdata/latent/generate.py. All numbers are read back as
// code times scale.
func TestLatentGolden(t *testing.T) {
	cases := kit.ReadCases[struct{ Name, Format, Rule, Bytes string }](t, "testdata/latent/vectors.json", 19)
	ropes := latentRopes()
	hard := kit.Must(hex.DecodeString(cases[len(cases)-1].Bytes))
	float32s := make([]float32, len(hard)/4)
	for i := range float32s {
		float32s[i] = math.Float32frombits(uint32(hard[4*i]) | uint32(hard[4*i+1])<<8 | uint32(hard[4*i+2])<<16 | uint32(hard[4*i+3])<<24)
	}
	kit.EachImplementation(t, func(t *testing.T, _ kernels.Implementation) {
		for _, c := range cases[:len(cases)-1] {
			name, want := fmt.Sprint(c.Name, " ", c.Format, " ", c.Rule), kit.Must(hex.DecodeString(c.Bytes))
			var cache posenc.LatentCache
			if c.Name == "bfloat16" {
				cache = latentOf(c.Format, c.Rule, 3)
				angles, x := latentPart(ropes, kit.Sequence(3), cache, latentInputs(0, 3))
				kit.NoError(t, posenc.RotateIntoLatent(angles, nil, x))
			} else {
				cache = latentOf(c.Format, c.Rule, 5)
				angles, x := latentPart(ropes, kit.Sequence(5), cache, float32s)
				kit.NoError(t, posenc.RotateIntoLatent(angles, nil, x))
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

func splitmix(i uint64) uint64 {
	z := (i + 1) * 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
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

// wideLatents returns inputs of the script as float32, with more bits.
func wideLatents(x []posenc.BFloat16, first int) []float32 {
	list := make([]float32, len(x))
	for i, v := range x {
		bits := uint32(v) << 16
		if bits<<1 != 0 {
			bits |= uint32(splitmix(uint64(first*576+i))>>24) & 0xffff
		}
		list[i] = math.Float32frombits(bits)
	}
	return list
}

// Ten million random tokens, of bfloat16 and of float32, have the bytes of which testdata/latent/random.json has
// digests. They are those of the engines' own code: testdata/latent/engines.py.
func TestExhaustiveLatent(t *testing.T) {
	exhaustive.SkipUnlessAsked(t)
	const digest = 8 // digits
	var random struct {
		Tokens, Chunk int
		Digests       map[string]string
	}
	kit.ReadJSON("testdata/latent/random.json", &random)
	if random.Tokens < 1e7 || len(random.Digests) != 12 {
		t.Fatalf("digests of %d tokens in %d formats", random.Tokens, len(random.Digests))
	}
	for name, digests := range random.Digests {
		if blocks := random.Tokens / random.Chunk; len(digests) != digest*blocks && !(strings.HasSuffix(name, " float32") && len(digests) >= digest*blocks/10) {
			t.Fatalf("%s: %d digits of digests", name, len(digests))
		}
	}
	ropes := latentRopes()
	exhaustive.Run(t, exhaustive.Leg{
		Name: "caches of latent attention on " + dispatch.Implementation().String(), Blocks: random.Tokens / random.Chunk, Counts: []string{"records compared"},
		Worker: func(t *testing.T) func(block int, counts []int64) {
			positions := make([]int32, random.Chunk)
			return func(block int, counts []int64) {
				x := latentInputs(block*random.Chunk, random.Chunk)
				wide := wideLatents(x, block*random.Chunk)
				for t := range positions {
					positions[t] = int32((block*random.Chunk + t) % 32)
				}
				for name, digests := range random.Digests {
					if len(digests) < digest*(block+1) { // of float32 there are fewer
						continue
					}
					format, rule, _ := strings.Cut(name, " ")
					rule, isWide := strings.CutSuffix(rule, " float32")
					cache := latentOf(format, rule, random.Chunk)
					if isWide {
						angles, part := latentPart(ropes, positions, cache, wide)
						kit.NoError(t, posenc.RotateIntoLatent(angles, nil, part))
					} else {
						angles, part := latentPart(ropes, positions, cache, x)
						kit.NoError(t, posenc.RotateIntoLatent(angles, nil, part))
					}
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
	half := kit.MustRotary(posenc.RotaryConfig{HeadDim: 64, RotaryDim: 32, Layout: posenc.Interleaved})
	data, numbers, positions := make([]byte, 2*656), make([]float32, 2*576), []int32{0, 1}
	type latent = posenc.IntoLatent[float32]
	angles := ropes[64].At(positions)
	right := latent{
		Dst:    posenc.LatentCache{Data: data, Format: posenc.DeepSeekV32, Scale: posenc.LatentFloorScale, PageTokens: 2},
		Latent: posenc.View[float32]{Data: numbers, Heads: 1, TokenStride: 576}, Rotated: posenc.View[float32]{Data: numbers[512:], Heads: 1, TokenStride: 576},
	}
	slots := []int32(nil)
	store := func(change func(x *latent)) error {
		x := right
		change(&x)
		return posenc.RotateIntoLatent(angles, slots, x)
	}
	fails := kit.Failures(t, data, numbers)
	const into, read = "posenc.RotateIntoLatent: ", "posenc.DequantizeLatent: "
	fails(posenc.RotateIntoLatent(posenc.Angles{}, slots, right), posenc.ErrConfig, into+"a is zero")
	fails(posenc.RotateIntoLatent(half.At(positions), slots, right), posenc.ErrShape, into+"a is of 32 elements from number 0 on of heads of 64, want of the last 64")
	fails(store(func(x *latent) { x.Dst.Format = 0 }), posenc.ErrConfig, into+"x.Dst.Format is 0, want DeepSeekV32")
	fails(store(func(x *latent) { x.Dst.Format = 6 }), posenc.ErrConfig, into+"x.Dst.Format is 6")
	angles = ropes[512].At(positions)
	fails(store(func(x *latent) { x.Dst.Format, x.Dst.Data = posenc.DeepSeekIndexer, data[:2*132] }), posenc.ErrShape, into+"a is of heads of 512, want heads of at most the 128")
	fails(store(func(x *latent) { x.Dst.Format = posenc.DeepSeekV4 }), posenc.ErrShape, into+"x.Latent is not empty, want a zero view")
	angles = ropes[64].At(positions)
	fails(store(func(x *latent) { x.Dst.Scale = 0 }), posenc.ErrConfig, into+"x.Dst.Scale is 0")
	fails(store(func(x *latent) { x.Dst.Scale = 4 }), posenc.ErrConfig, into+"x.Dst.Scale is 4")
	fails(store(func(x *latent) { x.Dst.Format, x.Dst.Scale = posenc.DeepSeekV4, posenc.LatentFloat32Scale }), posenc.ErrConfig, into+"x.Dst.Scale is 3")
	fails(store(func(x *latent) { x.Dst.Format = posenc.LatentBFloat16 }), posenc.ErrConfig, into+"x.Dst.Scale is 2")
	fails(store(func(x *latent) { x.Dst.Format, x.Dst.Scale = posenc.LatentE4M3, 0 }), posenc.ErrConfig, into+"x.Dst.InverseScale is 0, want a number from 2^-126")
	fails(store(func(x *latent) { x.Dst.InverseScale = 1 }), posenc.ErrConfig, into+"x.Dst.InverseScale is 1")
	fails(store(func(x *latent) { x.Dst.Hadamard = 64 }), posenc.ErrConfig, into+"x.Dst.Hadamard is 64, want 0, or for DeepSeekIndexer")
	fails(store(func(x *latent) { x.Dst.Format, x.Dst.PageTokens = posenc.DeepSeekV4, 0 }), posenc.ErrShape, into+"x.Dst.PageTokens is 0, want at least 1")
	fails(store(func(x *latent) { x.Dst.PageTokens = -1 }), posenc.ErrShape, into+"x.Dst.PageTokens is -1")
	fails(store(func(x *latent) { x.Dst.PageTokens = math.MaxInt / 600 }), posenc.ErrShape, into+"x.Dst.PageTokens is", "an int cannot count")
	fails(store(func(x *latent) { x.Dst.PageTokens, x.Dst.PageStride = 0, 656 }), posenc.ErrShape, into+"x.Dst.PageStride is 656, want 0")
	fails(store(func(x *latent) { x.Dst.PageStride = 1311 }), posenc.ErrShape, into+"x.Dst.PageStride is 1311, want 0 or at least the 1312 bytes of a page")
	fails(store(func(x *latent) { x.Dst.Data = data[:1311] }), posenc.ErrLength, into+"x.Dst.Data has 1311 elements, want whole pages of 1312 bytes for 2 tokens, 2 in each")
	fails(store(func(x *latent) { x.Dst.Data = make([]byte, 4*656) }), posenc.ErrLength, into+"x.Dst.Data has 2624 elements, want whole pages for 2 tokens, and no more: it has room for 4; slice it, or give slots")
	fails(store(func(x *latent) { x.Latent.Tokens = 1 }), posenc.ErrLength, into+"x.Latent.Tokens is 1, want 2 as in the call")
	fails(store(func(x *latent) { x.Latent.Heads = 2 }), posenc.ErrLength, into+"x.Latent.Data")
	fails(store(func(x *latent) { x.Rotated = posenc.View[float32]{} }), posenc.ErrShape, into+"x.Rotated.Heads is 0")
	fails(store(func(x *latent) { x.Dst.Data = kit.BytesOf(numbers)[:2*656] }), posenc.ErrOverlap, into+"x.Dst is sharing memory with x.Latent or x.Rotated")
	slots = []int32{4, 0}
	fails(store(func(x *latent) {}), posenc.ErrPosition, into+"slots[0] is 4, want below 2, the tokens that x.Dst has whole pages for in 1312 elements: pages of 1312 bytes, 2 tokens in each")
	slots = []int32{0}
	fails(store(func(x *latent) {}), posenc.ErrLength, into+"slots has 1 element, want 2")

	keys := latent{
		Dst:     posenc.LatentCache{Data: make([]byte, 2*132), Format: posenc.DeepSeekIndexer, Scale: posenc.LatentFloorAmax, PageTokens: 2},
		Rotated: posenc.View[float32]{Data: numbers[:256], Heads: 1},
	}
	both := func(indexer posenc.Angles, change func(x, keys *latent)) error {
		x, y := right, keys
		change(&x, &y)
		return posenc.RotateIntoLatentIndexer(ropes[64].At(positions), nil, x, indexer, y)
	}
	unshared := make([]float32, 2*576)
	const indexed = "posenc.RotateIntoLatentIndexer: "
	indexer := ropes[128].At(positions)
	kit.NoError(t, both(indexer, func(x, keys *latent) { x.Dst.Data = make([]byte, 2*656) }))
	fails(both(posenc.Angles{}, func(x, keys *latent) {}), posenc.ErrConfig, indexed+"indexer: a is zero")
	fails(both(ropes[512].At(positions), func(x, keys *latent) {}), posenc.ErrShape, indexed+"indexer: a is of heads of 512, want heads of at most the 128")
	fails(both(ropes[128].Unrotated(1), func(x, keys *latent) { keys.Rotated.Data = numbers[:128] }), posenc.ErrLength, indexed+"indexer is of 1 tokens, want 2 as in a")
	fails(both(indexer, func(x, keys *latent) { keys.Dst.Scale = 0 }), posenc.ErrConfig, indexed+"keys.Dst.Scale is 0")
	fails(both(indexer, func(x, keys *latent) { keys.Dst.Data = data[:2*132] }), posenc.ErrOverlap, indexed+"keys.Dst is sharing memory with x.Dst")
	fails(both(indexer, func(x, keys *latent) { x.Latent.Data = unshared; keys.Dst.Data = kit.BytesOf(unshared)[:2*132] }), posenc.ErrOverlap, indexed+"keys.Dst is sharing memory with x.Latent or x.Rotated")

	dst := posenc.View[float32]{Data: numbers, Heads: 1}
	options := posenc.DequantizeOptions{Tokens: 2, HeadDim: 576}
	fails(posenc.DequantizeLatent(dst, right.Dst, posenc.DequantizeOptions{Tokens: 2, HeadDim: 512}), posenc.ErrShape, read+"options.HeadDim is 512, want 0 or 576, the numbers of src.Format")
	wrong := right.Dst
	wrong.Scale = 4
	fails(posenc.DequantizeLatent(dst, wrong, options), posenc.ErrConfig, read+"src.Scale is 4")
	wrong.Format, wrong.Scale = posenc.DeepSeekV4, posenc.LatentFloat32Scale
	fails(posenc.DequantizeLatent(dst, wrong, posenc.DequantizeOptions{Tokens: 2}), posenc.ErrConfig, read+"src.Scale is 3")
	wrong.Format = 0
	fails(posenc.DequantizeLatent(dst, wrong, posenc.DequantizeOptions{Tokens: 2}), posenc.ErrShape, read+"options.HeadDim is 0")
	fails(posenc.DequantizeLatent(dst, wrong, options), posenc.ErrConfig, read+"src.Format is 0")
	fails(posenc.DequantizeLatent(dst, right.Dst, posenc.DequantizeOptions{Tokens: 2, HeadDim: 576, Slots: []int32{0, 4}}), posenc.ErrPosition, read+"options.Slots[1] is 4, want below 2")
	fails(posenc.DequantizeLatent(posenc.View[float32]{Data: numbers[:576], Heads: 1}, right.Dst, options), posenc.ErrLength, read+"dst.Data has 576 elements")
	fails(posenc.DequantizeLatent(posenc.View[float32]{Data: make([]float32, 4*576), Heads: 2}, right.Dst, options), posenc.ErrShape, read+"dst.Heads is 2, want 1")
	fails(posenc.DequantizeLatent(dst, posenc.LatentCache{Data: kit.BytesOf(numbers)[:2*656], Format: posenc.DeepSeekV32, Scale: posenc.LatentFloorScale}, options), posenc.ErrOverlap, read+"dst is sharing memory with src")
}
