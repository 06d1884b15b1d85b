package modelconfig_test

import (
	"fmt"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/modelconfig"
)

// From the metadata of a GGUF file, as a reader gives it, to rotated Q and K. The layers of Gemma 3
// with a window have a base of their own.
func ExampleGGUF() {
	model, err := modelconfig.GGUF(map[string]any{
		"general.architecture":            "gemma3",
		"gemma3.block_count":              uint32(34),
		"gemma3.context_length":           uint32(131072),
		"gemma3.attention.key_length":     uint32(256),
		"gemma3.attention.sliding_window": uint32(1024),
		"gemma3.rope.freq_base":           float32(1e6),
		"gemma3.rope.scaling.type":        "linear",
		"gemma3.rope.scaling.factor":      float32(8),
	})
	if err != nil {
		panic(err)
	}
	rope, err := model.Rope()
	if err != nil {
		panic(err)
	}
	rows, err := rope.Rows([]int32{42})
	if err != nil {
		panic(err)
	}
	q, k := make([]float32, 8*256), make([]float32, 4*256) // heads of one token
	for i, layer := range model.Layers()[:7] {
		if err := posenc.Rotate(rows.Layer(i), posenc.View[float32]{Data: q, Heads: 8}, posenc.View[float32]{Data: k, Heads: 4}); err != nil {
			panic(err)
		}
		fmt.Printf("layer %d: %s, last frequency %.3g\n", i, layer.Kind, rope.Rotary(i).Config().InvFreq[127])
	}
	// Output:
	// layer 0: sliding_attention, last frequency 0.000107
	// layer 1: sliding_attention, last frequency 0.000107
	// layer 2: sliding_attention, last frequency 0.000107
	// layer 3: sliding_attention, last frequency 0.000107
	// layer 4: sliding_attention, last frequency 0.000107
	// layer 5: full_attention, last frequency 1.39e-07
	// layer 6: sliding_attention, last frequency 0.000107
}

// The keys are what a reader of GGUF files found, and the values of tensors of frequency factors.
func ExampleGGUF_reader() {
	type keyValue struct {
		key   string
		value any
	}
	type tensor struct {
		name   string
		values []float32
	}
	file := struct {
		metadata []keyValue
		tensors  []tensor
	}{
		[]keyValue{
			{"general.architecture", "llama"}, {"llama.block_count", uint32(2)}, {"llama.context_length", uint32(8192)},
			{"llama.embedding_length", uint32(16)}, {"llama.attention.head_count", uint32(4)}, {"llama.rope.freq_base", float32(10000)},
			{"tokenizer.ggml.scores", []any{float32(0)}},
		},
		[]tensor{{"output.weight", nil}, {"rope_freqs.weight", []float32{1, 4}}},
	}

	keys := map[string]any{}
	for _, kv := range file.metadata {
		keys[kv.key] = kv.value
	}
	for _, t := range file.tensors {
		switch t.name {
		case "rope_freqs.weight", "rope_factors_short.weight", "rope_factors_long.weight":
			keys[t.name] = t.values // []float32
		}
	}
	model, err := modelconfig.GGUF(keys)
	if err != nil {
		panic(err)
	}
	rope, err := model.Rope()
	if err != nil {
		panic(err)
	}
	fmt.Println(rope.Rotary(0).Config().InvFreq) // the second of them divided by 4
	// Output:
	// [1 0.0025]
}
