package modelconfig_test

import (
	"fmt"

	"github.com/go-posenc/posenc/modelconfig"
)

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
