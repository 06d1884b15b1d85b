package posenc_test

import (
	"encoding/binary"
	"fmt"
	"log"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/modelconfig"
)

// numbers returns n numbers for examples.
func numbers(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i%7) - 3
	}
	return x
}

// loop rotates the heads of one token as engines do that have no library for it.
func loop(vec []float32, heads, headDim, pos int, invFreq []float64) {
	for h := range heads {
		head, half := vec[h*headDim:][:headDim], len(invFreq)
		for i, freq := range invFreq {
			sin, cos := math.Sincos(float64(pos) * freq)
			x1, x2 := float64(head[i]), float64(head[i+half])
			head[i], head[i+half] = float32(x1*cos-x2*sin), float32(x2*cos+x1*sin)
		}
	}
}

// difference returns the largest difference of two elements.
func difference(a, b []float32) (d float64) {
	for i := range a {
		d = max(d, math.Abs(float64(a[i])-float64(b[i])))
	}
	return d
}

// An engine's rotation by its own loop, and by posenc: in place, of a batch, into a cache and into
// another tensor.
func Example_loop() {
	const heads, keyHeads, headDim, pos = 4, 2, 8, 100000
	invFreq := []float64{1, 0.1, 0.01, 0.001}
	rope, err := posenc.NewRotary(posenc.RotaryConfig{ // once, when the model is loaded
		HeadDim: headDim, RotaryDim: 2 * len(invFreq), Layout: posenc.HalfSplit, InvFreq: invFreq,
	})
	if err != nil {
		log.Fatal(err)
	}
	compare := func(err error, got, want []float32) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(difference(got, want) < 1e-6)
	}

	// The queries and keys of one token, in place.
	q, k := numbers(heads*headDim), numbers(keyHeads*headDim)
	wantQ, wantK := slices.Clone(q), slices.Clone(k)
	loop(wantQ, heads, headDim, pos, invFreq)
	loop(wantK, keyHeads, headDim, pos, invFreq)
	err = posenc.Rotate(rope.At([]int32{pos}),
		posenc.View[float32]{Data: q, Heads: heads},
		posenc.View[float32]{Data: k, Heads: keyHeads})
	compare(err, slices.Concat(q, k), slices.Concat(wantQ, wantK))

	// One token of each of three sequences, which have tokens already.
	lengths := []int{7, 100, 12}
	q = numbers(len(lengths) * heads * headDim)
	src, want := slices.Clone(q), slices.Clone(q)
	for s, n := range lengths {
		loop(want[s*heads*headDim:], heads, headDim, n, invFreq)
	}
	positions := make([]int32, len(lengths)) // once
	for s, n := range lengths {
		positions[s] = int32(n)
	}
	err = posenc.Rotate(rope.At(positions), posenc.View[float32]{Data: q, Heads: heads})
	compare(err, q, want)

	// From one tensor into another.
	dst := make([]float32, len(src))
	err = posenc.RotateInto(rope.At(positions),
		posenc.View[float32]{Data: dst, Heads: heads}, nil, // token t to token t
		posenc.View[float32]{Data: src, Heads: heads})
	compare(err, dst, want)

	// Keys that go to a cache, token t of the step to slot slots[t].
	slots := []int32{3, 4, 0}
	k = numbers(len(positions) * keyHeads * headDim)
	cache, want := make([]float32, 16*keyHeads*headDim), make([]float32, 16*keyHeads*headDim)
	for t, n := range lengths {
		slot := want[int(slots[t])*keyHeads*headDim:]
		copy(slot, k[t*keyHeads*headDim:][:keyHeads*headDim])
		loop(slot, keyHeads, headDim, n, invFreq)
	}
	err = posenc.RotateInto(rope.At(positions),
		posenc.View[float32]{Data: cache, Heads: keyHeads}, slots,
		posenc.View[float32]{Data: k, Heads: keyHeads})
	compare(err, cache, want)
	// Output:
	// true
	// true
	// true
	// true
}

// Layers with frequencies of their own, as Gemma 3 has them.
func Example_loopLayers() {
	const heads, keyHeads, headDim, pos = 4, 1, 8, 1000
	configJSON := []byte(`{"model_type": "gemma3_text", "num_hidden_layers": 12, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 8}`)
	model, err := modelconfig.HuggingFace(configJSON)
	if err != nil {
		log.Fatal(err)
	}
	layers := len(model.Layers())
	same := 0

	rope, err := model.Rope() // once
	if err != nil {
		log.Fatal(err)
	}
	rows, err := rope.Rows([]int32{pos}) // once a step; rows.Refill in the next ones
	if err != nil {
		log.Fatal(err)
	}
	for layer := range layers {
		q, k := numbers(heads*headDim), numbers(keyHeads*headDim)
		err = posenc.Rotate(rows.Layer(layer),
			posenc.View[float32]{Data: q, Heads: heads},
			posenc.View[float32]{Data: k, Heads: keyHeads})
		if err != nil {
			log.Fatal(err)
		}
		want := numbers(heads * headDim)
		loop(want, heads, headDim, pos, rope.Rotary(layer).Config().InvFreq)
		if difference(q, want) < 1e-6 {
			same++
		}
	}
	fmt.Println(same, "of", layers)
	// Output:
	// 12 of 12
}

// A function that returns no error. What can be wrong is found when the model is loaded.
func Example_loopWithoutError() {
	const heads, headDim, contextLength = 4, 8, 4096
	newRotate := func(headDim, contextLength int, invFreq []float64) (rotate func(vec []float32, heads, pos int), err error) {
		rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, InvFreq: invFreq})
		if err != nil {
			return nil, err
		}
		_, err = rope.Rows([]int32{int32(contextLength - 1)}) // the largest position
		return func(vec []float32, heads, pos int) {
			err := posenc.Rotate(rope.At([]int32{int32(pos)}), posenc.View[float32]{Data: vec, Heads: heads})
			if err != nil {
				panic(err) // a slice of another length: a mistake in this program
			}
		}, err
	}
	rotate, err := newRotate(headDim, contextLength, []float64{1, 0.1, 0.01, 0.001})
	if err != nil {
		log.Fatal(err)
	}
	q := numbers(heads * headDim)
	rotate(q, heads, 7)
	_, err = newRotate(headDim, contextLength, []float64{1, 0.1, 0.01})
	fmt.Println(err)
	// Output:
	// posenc.NewRotary: cfg.InvFreq has 3 elements, want RotaryDim/2 = 4: invalid configuration
}

// A decode step that allocates nothing: positions and rows are kept.
func ExampleRows_Refill() {
	const layers, heads, keyHeads, headDim = 32, 4, 2, 8
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit})
	if err != nil {
		log.Fatal(err)
	}
	q, k := numbers(heads*headDim), numbers(keyHeads*headDim)

	positions := []int32{0}
	rows, err := rope.Rows(positions)
	if err != nil {
		log.Fatal(err)
	}
	step := func() error { // of the next token
		positions[0]++
		if err := rows.Refill(positions); err != nil {
			return err
		}
		for range layers {
			err := posenc.Rotate(rows.All(), posenc.View[float32]{Data: q, Heads: heads}, posenc.View[float32]{Data: k, Heads: keyHeads})
			if err != nil {
				return err
			}
		}
		return nil
	}
	fmt.Println(testing.AllocsPerRun(10, func() {
		if err := step(); err != nil {
			log.Fatal(err)
		}
	}))
	// Output:
	// 0
}

// A tensor that is bytes: a file that is mapped into memory, or the pages of a cache.
func ExampleFromBytes() {
	const heads, headDim = 1, 4
	memory, err := binary.Append(nil, binary.NativeEndian, []float32{1, 2, 3, 4})
	if err != nil {
		log.Fatal(err)
	}
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit})
	if err != nil {
		log.Fatal(err)
	}
	x, err := posenc.FromBytes[float32](memory) // or posenc.BFloat16, posenc.Float16
	if err != nil {
		log.Fatal(err)
	}
	err = posenc.Rotate(rope.At([]int32{1}), posenc.View[float32]{Data: x, Heads: heads})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", x)
	// Output:
	// [-1.984 1.960 2.462 4.020]
}
