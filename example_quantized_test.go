package posenc_test

import (
	"fmt"
	"log"

	"github.com/go-posenc/posenc"
)

// Keys and values of a prompt go into caches of Q8_0, ggml's 8-bit format. 32 numbers
// share a scale, so a head of 64 elements is two blocks. Keys rotate, values do not.
func ExampleRotateIntoQuantized() {
	const tokens, heads, headDim, capacity = 3, 2, 64, 1024
	const blocks = headDim / 32
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, Base: 500000})
	if err != nil {
		log.Fatal(err)
	}
	keyCache := make([]posenc.Q8_0, capacity*heads*blocks) // [capacity][heads][blocks]
	valueCache := make([]posenc.Q8_0, capacity*heads*blocks)
	cache := func(data []posenc.Q8_0) posenc.QuantizedView[posenc.Q8_0] {
		return posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{Data: data, Heads: heads}}
	}
	k, v := make([]float32, tokens*heads*headDim), make([]float32, tokens*heads*headDim)
	for i := range k {
		k[i], v[i] = 1, float32(i%headDim)
	}

	positions := []int32{0, 1, 2}
	slots := positions // where the tokens go in the caches
	err = posenc.RotateIntoQuantizedKV(rope.At(positions), slots,
		posenc.IntoQuantized[posenc.Q8_0, float32]{Dst: cache(keyCache), Src: posenc.View[float32]{Data: k, Heads: heads}},
		posenc.IntoQuantized[posenc.Q8_0, float32]{Dst: cache(valueCache), Src: posenc.View[float32]{Data: v, Heads: heads}})
	if err != nil {
		log.Fatal(err)
	}

	// Read back the first pair of the keys: elements 0 and 32 of each token.
	read := make([]float32, tokens*heads*headDim)
	if err := posenc.Dequantize(posenc.View[float32]{Data: read, Heads: heads}, cache(keyCache[:tokens*heads*blocks]), posenc.DequantizeOptions{Tokens: tokens, HeadDim: headDim}); err != nil {
		log.Fatal(err)
	}
	for t := range tokens {
		fmt.Printf("%.3f %.3f\n", read[t*heads*headDim], read[t*heads*headDim+32])
	}
	fmt.Println(valueCache[0].Q[:8])
	// Output:
	// 1.000 1.000
	// -0.299 1.382
	// -1.326 0.488
	// [0 4 8 12 16 20 25 29]
}

// One token of a cache in three formats. int8 as vLLM stores it: two heads, each with its own scale.
// FP8 with one scale for all: vLLM divides by its k_scale, so InverseScale is the reciprocal. A block
// of ggml's Q8_0 as it lies in memory: a scale, here 0.5 as float16, and 32 numbers.
func ExampleDequantize() {
	x := posenc.View[float32]{Data: make([]float32, 8), Heads: 2}
	integers := posenc.View[int8]{Data: []int8{127, -64, 0, 1, 10, 20, 30, 127}, Heads: 2}
	err := posenc.Dequantize(x, posenc.QuantizedView[int8]{View: integers, Scales: []float32{0.5, 2}}, posenc.DequantizeOptions{Tokens: 1, HeadDim: 4})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Data)

	const kScale = 0.25
	codes, err := posenc.FromBytes[posenc.E4M3]([]byte{0x38, 0xb8, 0x3c, 0x7e}) // 1, -1, 1.5, 448
	if err != nil {
		log.Fatal(err)
	}
	x = posenc.View[float32]{Data: x.Data[:4], Heads: 1}
	err = posenc.Dequantize(x, posenc.QuantizedView[posenc.E4M3]{View: posenc.View[posenc.E4M3]{Data: codes, Heads: 1}, InverseScale: 1 / kScale}, posenc.DequantizeOptions{Tokens: 1, HeadDim: 4})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Data)

	blocks, err := posenc.FromBytes[posenc.Q8_0](append([]byte{0x00, 0x38, 2, 4, 0xff}, make([]byte, 29)...))
	if err != nil {
		log.Fatal(err)
	}
	x.Data = make([]float32, 32)
	err = posenc.Dequantize(x, posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{Data: blocks, Heads: 1}}, posenc.DequantizeOptions{Tokens: 1, HeadDim: 32})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Data[:4])
	// Output:
	// [63.5 -32 0 0.5 20 40 60 254]
	// [0.25 -0.25 0.375 112]
	// [1 2 -0.5 0]
}

// Keys and values of OpenVINO's default cache: keys by channel, whose page of 32 tokens grows, and values by token.
func ExampleRotateIntoPagesKV() {
	const heads, headDim, pages, pageTokens = 2, 64, 4, 32
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, Base: 500000})
	if err != nil {
		log.Fatal(err)
	}
	keys := posenc.PagedView{Format: posenc.OpenVINOU8ByChannel}
	values := posenc.PagedView{Format: posenc.OpenVINOU8}
	keyTokens, keyBytes, err := keys.Record(headDim)
	if err != nil {
		log.Fatal(err)
	}
	_, valueBytes, err := values.Record(headDim)
	if err != nil {
		log.Fatal(err)
	}
	keys.View = posenc.View[byte]{Data: make([]byte, pages*heads*keyBytes), Heads: heads} // [pages][heads][keyBytes]
	values.View = posenc.View[byte]{                                                      // [pages][heads][32][valueBytes]
		Data: make([]byte, pages*heads*pageTokens*valueBytes), Heads: heads, TokenStride: valueBytes, HeadStride: pageTokens * valueBytes,
		SequenceTokens: pageTokens, SequenceStride: heads * pageTokens * valueBytes,
	}
	k, v := make([]float32, 3*heads*headDim), make([]float32, 3*heads*headDim)
	for i := range k {
		k[i], v[i] = 1, float32(i%headDim)
	}

	// Two tokens of a prompt, and then one that is generated, in page 3.
	for _, positions := range [][]int32{{0, 1}, {2}} {
		n, slots := len(positions), []int32{96, 97}
		if n == 1 {
			slots = []int32{98}
		}
		err = posenc.RotateIntoPagesKV(rope.At(positions), slots,
			posenc.IntoPages[float32]{Dst: keys, Src: posenc.View[float32]{Data: k[:n*heads*headDim], Heads: heads}},
			posenc.IntoPages[float32]{Dst: values, Src: posenc.View[float32]{Data: v[:n*heads*headDim], Heads: heads}})
		if err != nil {
			log.Fatal(err)
		}
	}

	// Read back the first pair of the keys: elements 0 and 32 of each token.
	read := posenc.View[float32]{Data: make([]float32, 3*heads*headDim), Heads: heads}
	err = posenc.DequantizePages(read, keys, posenc.DequantizeOptions{Tokens: 3, HeadDim: headDim, Slots: []int32{96, 97, 98}})
	if err != nil {
		log.Fatal(err)
	}
	for t := range 3 {
		fmt.Printf("%.3f %.3f\n", read.Data[t*heads*headDim], read.Data[t*heads*headDim+32])
	}
	fmt.Println(keyTokens, keyBytes, valueBytes)

	// Keys alone, in ONNX Runtime's int4 with one scale for the tensor.
	onnx := posenc.PagedView{Format: posenc.ONNXRuntimeInt4, Scales: []float32{0.25}, View: posenc.View[byte]{Data: make([]byte, heads*headDim/2), Heads: heads}}
	err = posenc.RotateIntoPages(rope.At([]int32{0}), nil, posenc.IntoPages[float32]{Dst: onnx, Src: posenc.View[float32]{Data: k[:heads*headDim], Heads: heads}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%x\n", onnx.Data[:4])
	// Output:
	// 1.000 0.998
	// -0.304 1.382
	// -1.325 0.493
	// 32 2560 72
	// cccccccc
}

// A cache drops its first two tokens, and the remaining keys move by -2 positions, to 0 and 1. Those of
// float32 are rounded, those of E4M3 stay in 8 bits and are rounded to them twice.
func ExampleShiftQuantized() {
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit})
	if err != nil {
		log.Fatal(err)
	}
	cache := posenc.QuantizedView[posenc.E4M3]{View: posenc.View[posenc.E4M3]{Data: make([]posenc.E4M3, 2*4), Heads: 1}, InverseScale: 1}
	k := posenc.View[float32]{Data: []float32{1, 2, 0, 0, 1, 2, 0, 0}, Heads: 1}
	if err := posenc.RotateIntoQuantized(rope.At([]int32{2, 3}), nil, posenc.IntoQuantized[posenc.E4M3, float32]{Dst: cache, Src: k}); err != nil {
		log.Fatal(err)
	}
	if err := posenc.Rotate(rope.At([]int32{2, 3}), k); err != nil {
		log.Fatal(err)
	}

	if err := posenc.Shift(rope.At([]int32{-2, -2}), k); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n%.3f\n", k.Data[:4], k.Data[4:])
	if err := posenc.ShiftQuantized(rope.At([]int32{-2, -2}), cache); err != nil {
		log.Fatal(err)
	}
	if err := posenc.Dequantize(k, cache, posenc.DequantizeOptions{Tokens: 2, HeadDim: 4}); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n%.3f\n", k.Data[:4], k.Data[4:])
	// Output:
	// [1.000 2.000 0.000 0.000]
	// [0.540 2.000 0.841 0.020]
	// [1.000 2.000 -0.021 -0.000]
	// [0.562 2.000 0.875 0.020]
}

// A head with an outlier, which would take most of the precision of Q8_0. The transform
// spreads the outlier over the block. It does not change dot products, and it is its own
// inverse. A [QuantizedView] can do it on the way into a cache.
func ExampleHadamard() {
	q, k := make([]float32, 32), make([]float32, 32)
	for i := range q {
		q[i], k[i] = 0.5, 1
	}
	k[5] = 100
	dot := func() (sum float32) {
		for i := range q {
			sum += float32(q[i] * k[i])
		}
		return sum
	}
	fmt.Printf("%.1f, %.3f\n", k[:8], dot())
	err := posenc.Hadamard(posenc.HadamardOptions{HeadDim: 32, Block: 32}, 1,
		posenc.View[float32]{Data: q, Heads: 1},
		posenc.View[float32]{Data: k, Heads: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f, %.3f\n", k[:8], dot())
	// Output:
	// [1.0 1.0 1.0 1.0 1.0 100.0 1.0 1.0], 65.500
	// [23.2 -17.5 17.5 -17.5 -17.5 17.5 -17.5 17.5], 65.500
}

// The blocks that llama.cpp takes for a cache of heads of 128, and for heads of 80, which it does not transform.
func ExampleHadamardBlocks() {
	fmt.Println(posenc.HadamardBlocks(128, 128))
	fmt.Println(posenc.HadamardBlocks(80, 80))
	// Output:
	// 128 64
	// 0 0
}

// Two tokens of DeepSeek V3.2 go into a page of 64 tokens, 656 bytes each: a latent of 512 numbers as FP8
// with a scale for every 128, and 64 rotated numbers as bfloat16.
func ExampleRotateIntoLatent() {
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 64, Layout: posenc.Interleaved})
	if err != nil {
		log.Fatal(err)
	}
	latents, k := make([]float32, 2*512), make([]float32, 2*64)
	for i := range latents {
		latents[i] = float32(i%512) / 512
	}
	k[64] = 1
	cache := posenc.LatentCache{Data: make([]byte, 64*656), Format: posenc.DeepSeekV32, Scale: posenc.LatentFloorScale, PageTokens: 64}
	err = posenc.RotateIntoLatent(rope.At([]int32{0, 1}), []int32{7, 8}, posenc.IntoLatent[float32]{
		Dst:     cache,
		Latent:  posenc.View[float32]{Data: latents, Heads: 1},
		Rotated: posenc.View[float32]{Data: k, Heads: 1},
	})
	if err != nil {
		log.Fatal(err)
	}

	read := make([]float32, 576) // the token in slot 8
	err = posenc.DequantizeLatent(posenc.View[float32]{Data: read, Heads: 1}, cache, posenc.DequantizeOptions{Tokens: 1, Slots: []int32{8}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f %.4f, %.4f %.4f\n", read[1], read[511], read[512], read[513])
	// Output: 0.0020 1.0000, 0.5391 0.8398
}

// A token of DeepSeek V3.2: its record, and the key of the indexer in a cache of its own.
func ExampleRotateIntoLatentIndexer() {
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 64, Layout: posenc.Interleaved})
	if err != nil {
		log.Fatal(err)
	}
	indexer, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 128, RotaryDim: 64, Layout: posenc.HalfSplit})
	if err != nil {
		log.Fatal(err)
	}
	latent, k, key := make([]float32, 512), make([]float32, 64), make([]float32, 128)
	key[0], key[127] = 1, 0.25
	records := posenc.LatentCache{Data: make([]byte, 64*656), Format: posenc.DeepSeekV32, Scale: posenc.LatentFloorScale, PageTokens: 64}
	keys := posenc.LatentCache{Data: make([]byte, 64*132), Format: posenc.DeepSeekIndexer, Scale: posenc.LatentFloorAmax, PageTokens: 64}
	positions, slots := []int32{0}, []int32{3}
	err = posenc.RotateIntoLatentIndexer(rope.At(positions), slots,
		posenc.IntoLatent[float32]{Dst: records, Latent: posenc.View[float32]{Data: latent, Heads: 1}, Rotated: posenc.View[float32]{Data: k, Heads: 1}},
		indexer.At(positions), posenc.IntoLatent[float32]{Dst: keys, Rotated: posenc.View[float32]{Data: key, Heads: 1}})
	if err != nil {
		log.Fatal(err)
	}

	read := make([]float32, 128)
	err = posenc.DequantizeLatent(posenc.View[float32]{Data: read, Heads: 1}, keys, posenc.DequantizeOptions{Tokens: 1, Slots: slots})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(read[0], read[127])
	// Output: 1 0.25
}

// Keys in a cache were rotated with the short factors of LongRoPE. The conversation grows beyond the
// original length: they become what the long factors make of them, in place.
func ExampleRotary_RebaseRows() {
	short, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, InvFreq: []float64{1, 0.01}})
	if err != nil {
		log.Fatal(err)
	}
	long, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, InvFreq: []float64{1, 0.0025}})
	if err != nil {
		log.Fatal(err)
	}
	positions := []int32{0, 100}
	keys := posenc.View[float32]{Data: []float32{1, 1, 0, 0, 1, 1, 0, 0}, Heads: 1}
	if err := posenc.Rotate(short.At(positions), keys); err != nil {
		log.Fatal(err)
	}

	rows, err := long.RebaseRows(short.At(positions)) // once for all layers
	if err != nil {
		log.Fatal(err)
	}
	if err := posenc.Rotate(rows.All(), keys); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f\n", keys.Data[4:]) // as rotated by 100 and 0.25
	// Output: [0.8623 0.9689 -0.5064 0.2474]
}

// Keys are kept before their rotation, in Q8_0, and go to a cache of int8 once their positions are known;
// and again, with the bits of one rotation, when tokens before them are dropped.
func ExampleRotateQuantized() {
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 32, Layout: posenc.HalfSplit})
	if err != nil {
		log.Fatal(err)
	}
	k := make([]float32, 2*32)
	k[0], k[32] = 1, 1
	raw := posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{Data: make([]posenc.Q8_0, 2), Heads: 1}}
	err = posenc.RotateIntoQuantized(rope.Unrotated(2), nil, posenc.IntoQuantized[posenc.Q8_0, float32]{Dst: raw, Src: posenc.View[float32]{Data: k, Heads: 1}})
	if err != nil {
		log.Fatal(err)
	}
	keys := posenc.QuantizedView[int8]{View: posenc.View[int8]{Data: make([]int8, 2*32), Heads: 1}, Scales: make([]float32, 2)}
	for _, positions := range [][]int32{{0, 2}, {0, 1}} {
		err := posenc.RotateQuantized(rope.At(positions), posenc.FromQuantized[int8, posenc.Q8_0]{Dst: keys, Src: raw})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(keys.Data[0], keys.Data[16], keys.Data[32], keys.Data[48])
	}
	// Output:
	// 127 0 -58 127
	// 127 0 82 127
}
