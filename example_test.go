package posenc_test

import (
	"fmt"
	"log"
	"math"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
)

// Q and K of two tokens, with two query heads and one key head of four
// elements. README.md begins with the same call.
func Example() {
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, Base: 500000})
	if err != nil {
		log.Fatal(err)
	}
	positions := []int32{0, 1}
	q := []float32{ // [2 tokens][2 heads][4]
		1, 2, 3, 4, 5, 6, 7, 8,
		1, 2, 3, 4, 5, 6, 7, 8,
	}
	k := []float32{ // [2 tokens][1 head][4]
		1, 0, 0, 1,
		1, 0, 0, 1,
	}
	err = posenc.Rotate(rope.At(positions),
		posenc.View[float32]{Data: q, Heads: 2},
		posenc.View[float32]{Data: k, Heads: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(q[:8])
	fmt.Println(q[8:])
	fmt.Println(k)
	// Output:
	// [1 2 3 4 5 6 7 8]
	// [-1.9841106 1.9943411 2.4623778 4.0028243 -3.1887856 5.98868 7.9894705 8.008477]
	// [1 0 0 1 0.5403023 -0.0014142131 0.84147096 0.999999]
}

// A decoder with three layers: a prefill of three tokens, then one step. The layers use the
// same cosines and sines, except for the last, which has no positions. Keys are rotated on their
// way into the KV cache and stay there as they are.
func Example_decode() {
	const layers, queryHeads, keyHeads, headDim, capacity = 3, 4, 2, 8, 16
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, Base: 500000})
	if err != nil {
		log.Fatal(err)
	}
	var caches [layers][capacity * keyHeads * headDim]float32
	cached := 0 // tokens in the cache
	forward := func(tokens int) {
		positions, slots := make([]int32, tokens), make([]int32, tokens)
		for t := range tokens {
			positions[t], slots[t] = int32(cached+t), int32(cached+t)
		}
		rows, err := rope.Rows(positions)
		if err != nil {
			log.Fatal(err)
		}
		for layer := range layers {
			q := slices.Repeat([]float32{1}, tokens*queryHeads*headDim) // from the model's matrices
			k := slices.Repeat([]float32{1}, tokens*keyHeads*headDim)
			angles := rows.All()
			if layer == layers-1 {
				angles = rope.Unrotated(tokens)
			}
			if err := posenc.Rotate(angles, posenc.View[float32]{Data: q, Heads: queryHeads}); err != nil {
				log.Fatal(err)
			}
			cache := posenc.View[float32]{Data: caches[layer][:], Heads: keyHeads}
			if err := posenc.RotateInto(angles, cache, slots, posenc.View[float32]{Data: k, Heads: keyHeads}); err != nil {
				log.Fatal(err)
			}
			// Here the model computes the attention of q to the cached keys.
		}
		cached += tokens
	}
	forward(3)
	forward(1)
	for t := range cached {
		fmt.Printf("%.3f\n", caches[0][t*keyHeads*headDim:][:headDim])
	}
	fmt.Println(caches[layers-1][3*keyHeads*headDim:][:headDim])
	// Output:
	// [1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000]
	// [-0.301 0.962 0.999 1.000 1.382 1.037 1.001 1.000]
	// [-1.325 0.922 0.997 1.000 0.493 1.072 1.003 1.000]
	// [-1.131 0.881 0.996 1.000 -0.849 1.106 1.004 1.000]
	// [1 1 1 1 1 1 1 1]
}

// Configurations of some models. Package modelconfig reads them from the models' files.
func ExampleNewRotary() {
	for _, model := range []struct {
		name string
		cfg  posenc.RotaryConfig
	}{
		{"Llama 3", posenc.RotaryConfig{HeadDim: 128, Layout: posenc.HalfSplit, Base: 500000}},
		{"GPT-J", posenc.RotaryConfig{HeadDim: 256, RotaryDim: 64, Layout: posenc.Interleaved}},
		{"GPT-NeoX", posenc.RotaryConfig{HeadDim: 96, RotaryDim: 24, Layout: posenc.HalfSplit}},
		{"given frequencies", posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, InvFreq: []float64{1, 0.25}}},
		{"an error", posenc.RotaryConfig{HeadDim: 96, RotaryDim: 128, Layout: posenc.HalfSplit}},
	} {
		rope, err := posenc.NewRotary(model.cfg)
		if err != nil {
			fmt.Println(model.name+":", err)
			continue
		}
		q := make([]float32, model.cfg.HeadDim)
		q[0] = 1
		if err := posenc.Rotate(rope.At([]int32{1}), posenc.View[float32]{Data: q, Heads: 1}); err != nil {
			log.Fatal(err)
		}
		partner := slices.IndexFunc(q[1:], func(x float32) bool { return x != 0 }) + 1
		fmt.Println(model.name+": element 0 rotates with", partner, "by", rope.Config().InvFreq[0])
	}
	// Output:
	// Llama 3: element 0 rotates with 64 by 1
	// GPT-J: element 0 rotates with 1 by 1
	// GPT-NeoX: element 0 rotates with 12 by 1
	// given frequencies: element 0 rotates with 2 by 1
	// an error: posenc.NewRotary: cfg.RotaryDim is 128, want an even number from 2 to HeadDim 96: invalid configuration
}

// The same head in both layouts. The layout of a model belongs to its weights. The wrong
// layout gives no error, but the model's output is nonsense.
func ExampleLayout() {
	for _, layout := range []posenc.Layout{posenc.HalfSplit, posenc.Interleaved} {
		rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 8, Layout: layout})
		if err != nil {
			log.Fatal(err)
		}
		x := []float32{1, 2, 3, 4, 5, 6, 7, 8}
		if err := posenc.Rotate(rope.At([]int32{1}), posenc.View[float32]{Data: x, Heads: 1}); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v %.3f\n", layout, x)
	}
	// Output:
	// HalfSplit [-3.667 1.391 2.930 3.992 3.543 6.170 7.030 8.004]
	// Interleaved [-1.143 1.922 2.586 4.280 4.940 6.050 6.992 8.007]
}

// A program that looks for the cause of a wrong result runs plain Go, which has the same bits.
// The kernels of a machine are one of four sets.
func ExampleSetImplementation() {
	if err := posenc.SetImplementation("generic"); err != nil {
		log.Print(err) // something was computed before
	}
	log.Printf("posenc runs %s: %s", posenc.Implementation(), posenc.ImplementationReason())
	fmt.Println(slices.Contains([]string{"avx512", "avx2", "neon", "generic"}, posenc.Implementation()))
	// Output:
	// true
}

// Queries, keys and values of a token lie side by side, as one matrix product writes them: Q and K
// are views of the same slice. Then [batch][heads][tokens][headDim], as in PyTorch: the tokens come in
// sequences, of which the second has padding on its left.
func ExampleRotate() {
	const queryHeads, keyHeads, headDim, tokens, row = 2, 1, 2, 2, 8 // row is Q, K and V of a token
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit})
	if err != nil {
		log.Fatal(err)
	}
	qkv := []float32{1, 0, 0, 1, 1, 0, 7, 7, 1, 0, 0, 1, 1, 0, 7, 7}
	err = posenc.Rotate(rope.At([]int32{0, 1}),
		posenc.View[float32]{Data: qkv, Heads: queryHeads, TokenStride: row},
		posenc.View[float32]{Data: qkv[queryHeads*headDim:], Heads: keyHeads, TokenStride: row})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(qkv[row:]) // position 0 changes nothing

	x := []float32{1, 0, 1, 0, 1, 0, 1, 0}
	positions := []int32{0, 1, -1, 0} // [batch][tokens]; one token of padding on the left
	err = posenc.Rotate(rope.At(positions), posenc.View[float32]{
		Data: x, Heads: keyHeads,
		TokenStride: headDim, HeadStride: tokens * headDim,
		SequenceTokens: tokens, SequenceStride: keyHeads * tokens * headDim,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x)
	// Output:
	// [0.5403023 0.84147096 -0.84147096 0.5403023 0.5403023 0.84147096 7 7]
	// [1 0 0.5403023 0.84147096 0.5403023 -0.84147096 1 0]
}

// RotateInverse undoes a rotation, up to rounding. With an attention factor it does not, but it is
// the transpose of Rotate, as the gradient needs it.
func ExampleRotateInverse() {
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit})
	if err != nil {
		log.Fatal(err)
	}
	positions := []int32{131072}
	x := posenc.View[float32]{Data: []float32{1, 2, 3, 4}, Heads: 1}
	if err := posenc.Rotate(rope.At(positions), x); err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Data)
	if err := posenc.RotateInverse(rope.At(positions), x); err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Data)

	rope, err = posenc.NewRotary(posenc.RotaryConfig{HeadDim: 2, Layout: posenc.HalfSplit, AttentionFactor: 2})
	if err != nil {
		log.Fatal(err)
	}
	positions = []int32{1}
	gradient := []float32{1, 0} // of the loss by the rotated q
	err = posenc.RotateInverse(rope.At(positions), posenc.View[float32]{Data: gradient, Heads: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f\n", gradient) // by q: 2*cos(1), -2*sin(1)
	// Output:
	// [3.0394323 0.94195056 -0.87284136 -4.371811]
	// [1 2.0000002 3 4]
	// [1.0806 -1.6829]
}

// The cosines and sines that Rotate uses, for an engine that rotates by its own code: of exact
// angles, and of angles rounded to float32, as in PyTorch and most engines. The second frequency of
// Llama 3 makes some 105900 radians of position 130000. There, float32 has steps of 1/128.
func ExampleRotary_CosSin() {
	for _, rounding := range []frequency.Rounding{frequency.Exact, frequency.Float32} {
		rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 128, Layout: posenc.HalfSplit, Base: 500000, Rounding: rounding})
		if err != nil {
			log.Fatal(err)
		}
		positions := []int32{0, 1, 130000}
		cos, sin := make([]float32, len(positions)*64), make([]float32, len(positions)*64) // rows of RotaryDim/2
		if err := rope.CosSin(cos, sin, positions); err != nil {
			log.Fatal(err)
		}
		for t, p := range positions {
			fmt.Println(p, cos[64*t+1], sin[64*t+1])
		}
	}
	// Output:
	// 0 1 0
	// 1 0.6861469 0.727463
	// 130000 -0.95719624 -0.28943977
	// 0 1 0
	// 1 0.6861469 0.727463
	// 130000 -0.9589231 -0.28366613
}

// Your own frequency: one turn in 12 positions. As a float64 it is only near pi/6, so the
// sine at position 6 is not 0. It is the sine of the exact product. Your own angles: the results are
// correctly rounded for every float32, however large.
func ExampleCosSin() {
	var cos, sin [4]float32
	if err := posenc.CosSin(cos[:], sin[:], []int32{0, 2, 4, 6}, []float64{2 * math.Pi / 12}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(cos, sin)
	if err := posenc.CosSinAngles(cos[:], sin[:], []float32{1, -1, 1e10, 1e38}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(cos, sin)
	// Output:
	// [1 0.5 -0.5 -1] [0 0.8660254 0.8660254 -3.2162452e-16]
	// [0.5403023 0.5403023 0.87311965 0.14681168] [0.84147096 -0.84147096 -0.48750603 0.9891645]
}

// A table of your own in vLLM's shape, [rows][cos|sin]. Two tokens take a row each; a row
// that does not exist is an error.
func ExampleNewRows() {
	const headDim = 4
	table := []float32{1, 1, 0, 0, 0, 0.5, 1, 0.25}
	rows, err := posenc.NewRows(posenc.RowsConfig{HeadDim: headDim, Layout: posenc.HalfSplit},
		posenc.Table[float32]{Cos: table, Sin: table[headDim/2:], Stride: headDim})
	if err != nil {
		log.Fatal(err)
	}
	x := []float32{1, 2, 3, 4, 1, 2, 3, 4}
	if err := posenc.Rotate(rows.At([]int32{1, 0}), posenc.View[float32]{Data: x, Heads: 1}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(rows.Len(), x)
	err = posenc.Rotate(rows.At([]int32{0, 2}), posenc.View[float32]{Data: x, Heads: 1})
	fmt.Println(err)
	// Output:
	// 2 [-3 0 1 2.5 1 2 3 4]
	// posenc.Rotate: ids[1] is 2, want at least 0 and below 2, the number of rows: position out of range
}

// Keys are rotated on their way into a paged cache of float16, which an engine has as []uint16. Each block of the cache is
// [heads][2][headDim], for two tokens. The keys go to the second token of block 2 (slot 5)
// and to the first token of block 0 (slot 0).
func ExampleRotateInto() {
	const headDim, heads, block, blocks = 2, 1, 2, 3
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit})
	if err != nil {
		log.Fatal(err)
	}
	cache := make([]uint16, blocks*heads*block*headDim)
	keys := []float32{1, 0, 1, 0}
	err = posenc.RotateInto(rope.At([]int32{0, 1}),
		posenc.View[posenc.Float16]{
			Data: posenc.Float16s(cache), Heads: heads, TokenStride: headDim, HeadStride: block * headDim,
			SequenceTokens: block, SequenceStride: heads * block * headDim,
		},
		[]int32{5, 0},
		posenc.View[float32]{Data: keys, Heads: heads})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%#04x\n", cache)
	// Output:
	// [0x3853 0x3abb 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000 0x3c00 0x0000]
}

// Three sequences, one after another: the first begins, the second has 100 tokens in its cache
// already, and the third has two tokens of padding on its left. Then positions that an engine has as int64.
func ExampleRaggedPositions() {
	positions := make([]int32, 8) // kept for the next step
	starts := []int32{0, 3, 4, 8}
	if err := posenc.RaggedPositions(positions, starts, []int32{0, 100, -2}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(positions)

	ids := []int64{4, 5, 6}
	for t, id := range ids {
		if id != int64(int32(id)) {
			log.Fatalf("position %d of token %d does not fit an int32", id, t)
		}
		positions[t] = int32(id)
	}
	fmt.Println(positions[:3])
	// Output:
	// [0 1 2 100 -2 -1 0 1]
	// [4 5 6]
}

// M-RoPE as in Qwen2-VL, here with heads of 8 elements. Of the four pairs, one rotates by
// time, two by height and one by width. The prompt has a token of text, then two tokens of an
// image with one row. Text that follows has one position for each token.
func ExampleRotary_RowsAxes() {
	axes, err := frequency.Sections(1, 2, 1)
	if err != nil {
		log.Fatal(err)
	}
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Axes: axes, InvFreq: []float64{1, 1, 1, 1}})
	if err != nil {
		log.Fatal(err)
	}
	positions := []int32{ // [axes][tokens]
		0, 1, 1, // time
		0, 1, 1, // height
		0, 1, 2, // width
	}
	rows, err := rope.RowsAxes(positions)
	if err != nil {
		log.Fatal(err)
	}
	rotate := func() {
		x := make([]float32, rows.Len()*8)
		for t := range rows.Len() {
			copy(x[8*t:], []float32{1, 1, 1, 1})
		}
		if err := posenc.Rotate(rows.All(), posenc.View[float32]{Data: x, Heads: 1}); err != nil {
			log.Fatal(err)
		}
		for t := range rows.Len() {
			fmt.Printf("%.2f\n", x[8*t:8*t+8])
		}
	}
	fmt.Println("axes:", rope.Axes())
	rotate()
	if err := rows.Refill([]int32{3}); err != nil { // a token of text: 3 on every axis
		log.Fatal(err)
	}
	rotate()
	if err := rows.RefillAxes([]int32{4, 4, 5}); err != nil { // a token of an image
		log.Fatal(err)
	}
	rotate()
	// Output:
	// axes: 3
	// [1.00 1.00 1.00 1.00 0.00 0.00 0.00 0.00]
	// [0.54 0.54 0.54 0.54 0.84 0.84 0.84 0.84]
	// [0.54 0.54 0.54 -0.42 0.84 0.84 0.84 0.91]
	// [-0.99 -0.99 -0.99 -0.99 0.14 0.14 0.14 0.14]
	// [-0.65 -0.65 -0.65 0.28 -0.76 -0.76 -0.76 -0.96]
}

// The patches of an image of two rows and two columns: the first pair of a head turns by the row
// of a patch and the second by its column. Rotate computes the cosines and sines; CosSinAxes gives
// them to an engine that rotates by its own code.
func ExampleRotary_AtAxes() {
	ladder, err := frequency.Axial(100, frequency.Exact, 2, 2)
	if err != nil {
		log.Fatal(err)
	}
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.Interleaved, InvFreq: ladder.InvFreq, Axes: ladder.Axes})
	if err != nil {
		log.Fatal(err)
	}
	positions := []int32{
		0, 0, 1, 1, // rows
		0, 1, 0, 1, // columns
	}
	q := []float32{1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0}
	if err := posenc.Rotate(rope.AtAxes(positions), posenc.View[float32]{Data: q, Heads: 1}); err != nil {
		log.Fatal(err)
	}
	cos, sin := make([]float32, 4*2), make([]float32, 4*2)
	if err := rope.CosSinAxes(cos, sin, positions); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f\n%.2f\n", q[4:8], cos[2:4])
	// Output:
	// [1.00 0.00 0.54 0.84]
	// [1.00 0.54]
}

// Heads in the memory of another package's tensor, such as GoMLX has them, rotated in place.
func ExampleBFloat16s() {
	type bfloat16 uint16 // of the other package
	r, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, Base: 10000})
	if err != nil {
		log.Fatal(err)
	}
	rows, err := r.Rows([]int32{1})
	if err != nil {
		log.Fatal(err)
	}
	const heads = 1

	rotate := func(flat any) {
		switch data := flat.(type) {
		case []float32:
			err = posenc.Rotate(rows.All(), posenc.View[float32]{Data: data, Heads: heads})
		case []bfloat16: // the same bits under another name
			err = posenc.Rotate(rows.All(), posenc.View[posenc.BFloat16]{Data: posenc.BFloat16s(data), Heads: heads})
		default:
			err = fmt.Errorf("a tensor of %T, want float32 or bfloat16", flat)
		}
	}
	tensor := []bfloat16{0x3f80, 0x3f80, 0, 0} // 1 1 0 0
	rotate(tensor)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4x\n", tensor) // cos 1, cos 0.01, sin 1, sin 0.01
	// Output:
	// [3f0a 3f80 3f57 3c24]
}

// Qwen3 normalizes each head of Q and K by its own weights and then rotates it: the root of the mean
// square becomes 1, then each element is multiplied by its weight. Here are one token, two query
// heads and one key head. Normalize alone does not rotate.
func ExampleRotateFused() {
	const headDim = 4
	norm := posenc.RMSNormConfig{Epsilon: 1e-6}
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, Base: 1000000})
	if err != nil {
		log.Fatal(err)
	}
	qNorm, err := posenc.NewRMSNorm([]float32{1, 2, 1, 2}, norm) // self_attn.q_norm.weight
	if err != nil {
		log.Fatal(err)
	}
	kNorm, err := posenc.NewRMSNorm([]float32{1, 1, 1, 1}, norm) // self_attn.k_norm.weight
	if err != nil {
		log.Fatal(err)
	}
	q := []float32{1, 1, 1, 1, 30, 0, 40, 0}
	k := []float32{3, 3, 0, 0}
	alone := posenc.View[float32]{Data: slices.Clone(q), Heads: 2}
	if err := posenc.Normalize(qNorm, 1, alone); err != nil {
		log.Fatal(err)
	}
	err = posenc.RotateFused(rope.At([]int32{1}),
		posenc.FusedView[float32]{View: posenc.View[float32]{Data: q, Heads: 2}, Norm: qNorm},
		posenc.FusedView[float32]{View: posenc.View[float32]{Data: k, Heads: 1}, Norm: kNorm})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f\n%.4f\n%.4f\n", alone.Data, q, k)
	// Output:
	// [1.0000 2.0000 1.0000 2.0000 1.2000 0.0000 1.6000 0.0000]
	// [-0.3012 1.9980 1.3818 2.0020 -0.6980 0.0000 1.8742 0.0000]
	// [0.7641 1.4142 1.1900 0.0014]
}

// Multi-head latent attention, as in DeepSeek V3. A query is [nope|rope], and only the
// rope part is rotated. The key is one head that all queries share. The weights are
// Interleaved; what is rotated becomes HalfSplit.
func ExampleRotate_latentAttention() {
	const heads, nopeDim, ropeDim = 2, 2, 4
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: ropeDim, Layout: posenc.InterleavedToHalfSplit})
	if err != nil {
		log.Fatal(err)
	}
	q := []float32{8, 9, 1, 2, 3, 4, 8, 9, 1, 0, 1, 0}
	k := []float32{1, 2, 3, 4}
	err = posenc.Rotate(rope.At([]int32{1}),
		posenc.View[float32]{Data: q[nopeDim:], Heads: heads, HeadStride: nopeDim + ropeDim, TokenStride: heads * (nopeDim + ropeDim)},
		posenc.View[float32]{Data: k, Heads: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f\n%.2f\n%.2f\n", q[:6], q[6:], k)
	// Output:
	// [8.00 9.00 -1.14 2.96 1.92 4.03]
	// [8.00 9.00 0.54 1.00 0.84 0.01]
	// [-1.14 2.96 1.92 4.03]
}

// Queries and keys decay in opposite directions, so their product decays with the
// distance.
func ExampleXPos() {
	cfg := posenc.RotaryConfig{HeadDim: 2, Layout: posenc.HalfSplit, XPos: &posenc.XPos{ScaleBase: 512}}
	forQueries, err := posenc.NewRotary(cfg)
	if err != nil {
		log.Fatal(err)
	}
	cfg.XPos.Keys = true
	forKeys, err := posenc.NewRotary(cfg)
	if err != nil {
		log.Fatal(err)
	}
	for _, distance := range []int32{0, 512, 1024} {
		q, k := []float32{1, 0}, []float32{1, 0}
		if err := posenc.Rotate(forQueries.At([]int32{1000 + distance}), posenc.View[float32]{Data: q, Heads: 1}); err != nil {
			log.Fatal(err)
		}
		if err := posenc.Rotate(forKeys.At([]int32{1000}), posenc.View[float32]{Data: k, Heads: 1}); err != nil {
			log.Fatal(err)
		}
		length := math.Hypot(float64(q[0]), float64(q[1]))
		fmt.Printf("%.3f %.3f\n", length, length*math.Hypot(float64(k[0]), float64(k[1])))
	}
	// Output:
	// 0.087 1.000
	// 0.025 0.286
	// 0.007 0.082
}

// A model trained on 8 positions, 2 of them local, at position 7. Keys start again from 0
// after every 6 positions, and queries have a position for each kind of keys.
func ExampleDualChunk() {
	d := posenc.DualChunk{ChunkSize: 8, LocalSize: 2}
	positions, rotated := []int32{7}, make([]int32, 1)
	if err := d.KeyPositions(rotated, positions); err != nil {
		log.Fatal(err)
	}
	fmt.Println("key", rotated)
	for _, which := range []posenc.DualChunkQuery{posenc.IntraChunk, posenc.SuccessiveChunk, posenc.InterChunk} {
		if err := d.QueryPositions(rotated, positions, which); err != nil {
			log.Fatal(err)
		}
		fmt.Println("query", rotated)
	}
	// Output:
	// key [1]
	// query [1]
	// query [7]
	// query [8]
}

// RoPE-Mixed gives each head its own frequencies for each axis. The class token, which
// comes before the patches, does not rotate.
func ExampleCosSinMixed() {
	const heads, headDim = 2, 4
	mixed := posenc.MixedFrequencies{
		InvFreq: []float64{ // [heads][pairs][axes]
			1, 0, 0, 1, // head 0: a pair for rows and one for columns
			0.5, 0.5, 0.5, -0.5, // head 1: the diagonals
		},
		Axes: 2,
	}
	positions := []float32{
		0, 0, 1, 1, // rows of a grid of 2 by 2
		0, 1, 0, 1, // columns
	}
	cos, sin := make([]float32, 4*heads*headDim/2), make([]float32, 4*heads*headDim/2)
	if err := posenc.CosSinMixed(cos, sin, positions, mixed); err != nil {
		log.Fatal(err)
	}
	rows, err := posenc.NewRows(posenc.RowsConfig{HeadDim: headDim, Layout: posenc.Interleaved, Heads: heads}, posenc.Table[float32]{Cos: cos, Sin: sin})
	if err != nil {
		log.Fatal(err)
	}
	q := slices.Repeat([]float32{1, 0}, 5*heads*headDim/2)
	if err := posenc.Rotate(rows.AtSome([]int32{-1, 0, 1, 2, 3}), posenc.View[float32]{Data: q, Heads: heads}); err != nil {
		log.Fatal(err)
	}
	for ; len(q) > 0; q = q[heads*headDim:] {
		fmt.Printf("%.2f\n", q[:heads*headDim])
	}
	// Output:
	// [1.00 0.00 1.00 0.00 1.00 0.00 1.00 0.00]
	// [1.00 0.00 1.00 0.00 1.00 0.00 1.00 0.00]
	// [1.00 0.00 0.54 0.84 0.88 0.48 0.88 -0.48]
	// [0.54 0.84 1.00 0.00 0.88 0.48 0.88 0.48]
	// [0.54 0.84 0.54 0.84 0.54 0.84 1.00 0.00]
}

// Intern-S1-Pro has Fourier position embedding. Here each of 2 heads of K, which 2 heads of Q share, has
// coefficients for 2 frequencies, and a head has a pair more.
func ExampleRotary_CosSinFourier() {
	const kvHeads, qHeads, headDim = 2, 4, 6
	r, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, RotaryDim: 4, InvFreq: []float64{1, 0.1}, Layout: posenc.HalfSplit})
	if err != nil {
		log.Fatal(err)
	}
	coefficients := posenc.FourierCoefficients{ // [kvHeads][frequencies][pairs]
		Cos: []float32{1, 0, 0, 1, 0.5, 0, 0, 1},
		Sin: []float32{1, 0, 0, 1, 1, 0, 0.5, 1},
	}
	positions := []int32{0, 3}
	cos, sin := make([]float32, len(positions)*kvHeads*headDim/2), make([]float32, len(positions)*kvHeads*headDim/2)
	if err := r.CosSinFourier(cos, sin, positions, coefficients); err != nil {
		log.Fatal(err)
	}
	rows, err := posenc.NewRows(posenc.RowsConfig{HeadDim: headDim, Layout: posenc.HalfSplit}, posenc.Table[float32]{Cos: cos, Sin: sin})
	if err != nil {
		log.Fatal(err)
	}
	q := slices.Repeat([]float32{1, 1, 1, 0, 0, 0}, len(positions)*qHeads)
	k := slices.Repeat([]float32{1, 1, 1, 0, 0, 0}, len(positions)*kvHeads)
	if err := posenc.Rotate(rows.All(), posenc.View[float32]{Data: q, Heads: qHeads / kvHeads}, posenc.View[float32]{Data: k, Heads: 1}); err != nil {
		log.Fatal(err)
	}
	for ; len(k) > 0; k = k[headDim:] {
		fmt.Printf("%.3f\n", k[:headDim])
	}
	// Output:
	// [1.000 1.000 1.000 0.000 0.000 1.000]
	// [0.500 1.000 1.000 0.000 0.000 1.000]
	// [-0.990 0.955 1.000 0.141 0.296 1.000]
	// [-0.495 0.955 1.000 0.289 0.296 1.000]
}

// The positions of DINOv3 are the centres of patches from -1 to 1, times 2π. Its frequencies
// are those of frequency.Axial with base 100. CosSinFractionalAxes writes its cosines and sines, and
// AtFractionalAxes rotates by them.
func ExampleGridPositions() {
	const height, width = 2, 3
	positions := make([]float32, 2*height*width)
	if err := posenc.GridPositions(positions, posenc.GridPositionsOptions{Height: height, Width: width, Centered: true}); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("rows %.3f\ncolumns %.3f\n", positions[:6], positions[6:])

	ladder, err := frequency.Axial(100, frequency.Exact, 2, 2)
	if err != nil {
		log.Fatal(err)
	}
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, InvFreq: ladder.InvFreq, Axes: ladder.Axes})
	if err != nil {
		log.Fatal(err)
	}
	q := slices.Repeat([]float32{1, 1, 0, 0}, height*width)
	if err := posenc.Rotate(rope.AtFractionalAxes(positions), posenc.View[float32]{Data: q, Heads: 1}); err != nil {
		log.Fatal(err)
	}
	cos, sin := make([]float32, 2*height*width), make([]float32, 2*height*width)
	if err := rope.CosSinFractionalAxes(cos, sin, positions); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("first patch %.3f, cosines %.3f, sines %.3f\n", q[:4], cos[:2], sin[:2])
	// Output:
	// rows [-3.142 -3.142 -3.142 3.142 3.142 3.142]
	// columns [-4.189 0.000 4.189 -4.189 0.000 4.189]
	// first patch [-1.000 -0.500 0.000 0.866], cosines [-1.000 -0.500], sines [0.000 0.866]
}

// Ministral 3 multiplies the queries of later positions by factors after the rotation, Mistral Large 4
// each head by its own scale and bias. ScaleQueries or RotateFused takes the factors.
func ExampleQueryScales() {
	const heads, headDim = 2, 2
	positions := []int32{0, 1023, 16384, 100000}
	scales := make([]float32, len(positions))
	if err := posenc.QueryScales(scales, positions, posenc.QueryScaling{Beta: 0.1, Length: 16384, Offset: 0}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(scales)

	q := []float32{1, 1, 1, 1, 1, 1, 1, 1} // [tokens][heads][headDim]
	for h, scale := range []float64{0.1, 0.2} {
		if err := posenc.LogQueryScales(scales[:2], positions[:2], posenc.LogQueryScaling{Scale: scale, Bias: 1}); err != nil {
			log.Fatal(err)
		}
		head := posenc.View[float32]{Data: q[h*headDim:], Heads: 1, TokenStride: heads * headDim}
		if err := posenc.ScaleQueries(scales[:2], headDim, head); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(q)
	// Output:
	// [1 1 1.0693147 1.194591]
	// [1 1 1 1 1.6931472 1.6931472 2.3862944 2.3862944]
}

// Times of video frames, two a second and one position per second. Rotate computes the cosines and
// sines; CosSinFractional gives them to an engine that rotates by its own code.
func ExampleRotary_AtFractional() {
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 2, Layout: posenc.HalfSplit})
	if err != nil {
		log.Fatal(err)
	}
	times := []float32{0, 0.5, 1}
	k := []float32{1, 0, 1, 0, 1, 0}
	if err := posenc.Rotate(rope.AtFractional(times), posenc.View[float32]{Data: k, Heads: 1}); err != nil {
		log.Fatal(err)
	}
	cos, sin := make([]float32, len(times)), make([]float32, len(times))
	if err := rope.CosSinFractional(cos, sin, times); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n%.3f %.3f\n", k, cos, sin)
	// Output:
	// [1.000 0.000 0.878 0.479 0.540 0.841]
	// [1.000 0.878 0.540] [0.000 0.479 0.841]
}
