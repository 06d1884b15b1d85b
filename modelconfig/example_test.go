package modelconfig_test

import (
	"fmt"
	"log"
	"math"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/modelconfig"
	"github.com/go-posenc/posenc/multimodal"
)

// Qwen2-VL has positions on three axes: of its 64 pairs 16 take the time of a token, 24 its
// height and 24 its width. What modelconfig does not know is an error that names it; the last model is
// newer than this package, and has the code of Llama.
func ExampleHuggingFace() {
	for _, tt := range []struct {
		config  string
		options modelconfig.Options
	}{
		{config: `{"model_type": "qwen2_vl", "num_hidden_layers": 28, "num_attention_heads": 28, "hidden_size": 3584,
			"rope_theta": 1000000.0, "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}}`},
		{config: `{"model_type": "llama", "rope_scaling": {"rope_type": "lama3", "factor": 8.0}}`},
		{config: `{"model_type": "bloom"}`},
		{config: `{"model_type": "llama_next", "hidden_size": 4096, "num_attention_heads": 32}`},
		{`{"model_type": "llama_next", "hidden_size": 4096, "num_attention_heads": 32}`, modelconfig.Options{Type: "llama"}},
	} {
		model, err := modelconfig.HuggingFace([]byte(tt.config), tt.options)
		if err != nil {
			fmt.Println(err)
			continue
		}
		rope, err := model.Rope()
		if err != nil {
			log.Fatal(err)
		}
		cfg := rope.Rotary(0).Config()
		fmt.Println(model.Type(), cfg.HeadDim, cfg.Layout, "axes", cfg.Axes)
	}
	// Output:
	// qwen2_vl_text 128 HalfSplit axes [0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2]
	// modelconfig.HuggingFace: rope_scaling.rope_type is "lama3", want one of ["default" "dynamic" "linear" "llama3" "longrope" "ntk" "proportional" "yarn"], or use posenc.RotaryConfig with InvFreq: unknown
	// modelconfig.HuggingFace: model_type is "bloom", want a model with rotary positions; this type has ALiBi, a bias of the attention scores: positions not rotary
	// modelconfig.HuggingFace: model_type is "llama_next", want a type in docs/models.md (the nearest name is "llava_next", which may rotate differently); for others set Options.Type to the type whose code is the same, or use posenc.RotaryConfig, with values from the model's own code: unknown
	// llama 128 HalfSplit axes []
}

// What a Model says: how long sequences are, what other implementations got wrong, and of its layers which
// rotate, what multiplies the attention scores, and what multiplies the queries at three positions.
func ExampleModel() {
	for _, config := range []string{
		`{"model_type": "smollm3", "num_hidden_layers": 36, "max_position_embeddings": 65536}`,
		`{"model_type": "deepseek_v3", "max_position_embeddings": 163840, "rope_theta": 10000, "rope_scaling": {
			"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096,
			"beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0
		}}`,
		`{"model_type": "llama4_text", "num_hidden_layers": 8, "max_position_embeddings": 262144, "attn_scale": 0.1, "floor_scale": 8192}`,
	} {
		model, err := modelconfig.HuggingFace([]byte(config))
		if err != nil {
			log.Fatal(err)
		}
		layers := model.Layers()
		rotating := 0
		for _, layer := range layers {
			if layer.Rotates {
				rotating++
			}
		}
		first, last := layers[0], layers[len(layers)-1]
		scales := make([]float32, 3) // for posenc.ScaleQueries or posenc.FusedView.QueryScales
		if err := posenc.QueryScales(scales, []int32{0, 8191, 100000}, last.QueryScaling); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s of up to %d tokens: %d of %d layers rotate\n", model.Type(), model.ContextLength(), rotating, len(layers))
		fmt.Printf("  first layer: latent %t, rule %s of base %v, scores times %.4f\n", first.LatentAttention, first.Rule.Name, first.Rule.Base, first.SoftmaxScale)
		fmt.Printf("  last layer: rotates %t, queries times %.4f\n", last.Rotates, scales)
		for _, trap := range model.Traps() {
			fmt.Println(" ", trap.Name)
		}
	}
	// Output:
	// smollm3 of up to 65536 tokens: 27 of 36 layers rotate
	//   first layer: latent false, rule default of base 2e+06, scores times 1.0000
	//   last layer: rotates false, queries times [1.0000 1.0000 1.0000]
	//   some_layers_do_not_rotate
	//   the_layout_differs_by_file
	//   no_rope_layers_has_1_for_rotation
	// deepseek_v3 of up to 163840 tokens: 61 of 61 layers rotate
	//   first layer: latent true, rule yarn of base 10000, scores times 1.8739
	//   last layer: rotates true, queries times [1.0000 1.0000 1.0000]
	//   the_softmax_is_scaled
	//   deepseek_v3_writes_half_split_pairs
	// llama4_text of up to 262144 tokens: 6 of 8 layers rotate
	//   first layer: latent false, rule default of base 500000, scores times 1.0000
	//   last layer: rotates false, queries times [1.0000 1.0693 1.2565]
	//   some_layers_do_not_rotate
	//   interleaved_pairs
	//   no_rope_layers_has_1_for_rotation
	//   llama4_scales_queries_without_rotation
}

// From a config.json to rotated Q and K: the decode loop of an engine for any model. Layers of Cohere 2 with full attention do not rotate;
// those of Gemma 3 have another base. The indexers of DeepSeek V3.2 rotate the first elements of their own
// heads, half-split, where the attention rotates interleaved pairs.
func Example() {
	for _, config := range []string{
		`{"model_type": "cohere2", "num_hidden_layers": 4, "hidden_size": 8, "num_attention_heads": 2}`,
		`{"model_type": "gemma3_text", "num_hidden_layers": 6, "head_dim": 4}`,
		`{"model_type": "deepseek_v32", "num_hidden_layers": 1, "qk_rope_head_dim": 4, "index_head_dim": 4}`,
	} {
		model, err := modelconfig.HuggingFace([]byte(config))
		if err != nil {
			log.Fatal(err)
		}
		rope, err := model.Rope(modelconfig.RopeOptions{SequenceLength: 8192}) // what the cache will hold
		if err != nil {
			log.Fatal(err)
		}
		rows, err := rope.Rows([]int32{0})
		if err != nil {
			log.Fatal(err)
		}
		layers := model.Layers()
		for position := range int32(2) {
			if err := rows.Refill([]int32{position}); err != nil { // once a step
				log.Fatal(err)
			}
			for i, layer := range layers {
				q := []float32{0, 1, 0, 0} // of the layer, as k
				if err := posenc.Rotate(rows.Layer(i), posenc.View[float32]{Data: q, Heads: 1}); err != nil {
					log.Fatal(err)
				}
				if position == 1 && i >= len(layers)-2 {
					fmt.Printf("%s layer %d %s: %.4f\n", model.Type(), i, layer.Kind, q)
				}
				if layer.Indexer && position == 1 {
					key := []float32{0, 1, 0, 0}
					if err := posenc.Rotate(rows.Indexer(i), posenc.View[float32]{Data: key, Heads: 1}); err != nil {
						log.Fatal(err)
					}
					fmt.Printf("%v, its indexer %v: %.4f\n", rope.Rotary(i).Config().Layout, rope.Indexer(i).Config().Layout, key)
				}
			}
		}
	}
	// Output:
	// cohere2 layer 2 : [-0.8415 0.5403 0.0000 0.0000]
	// cohere2 layer 3 : [0.0000 1.0000 0.0000 0.0000]
	// gemma3_text layer 4 sliding_attention: [0.0000 0.9999 0.0000 0.0100]
	// gemma3_text layer 5 full_attention: [0.0000 1.0000 0.0000 0.0010]
	// deepseek_v32 layer 0 attention: [-0.8415 0.0000 0.5403 0.0000]
	// InterleavedToHalfSplit, its indexer HalfSplit: [0.0000 0.9999 0.0000 0.0100]
}

// The text model of Qwen2.5-VL: a prompt with an image, whose tokens have a position on each of three axes,
// and the first token to decode.
func ExampleRope_RowsAxes() {
	config := []byte(`{
		"model_type": "qwen2_5_vl", "hidden_size": 3584, "num_attention_heads": 28, "num_hidden_layers": 28,
		"rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}
	}`)
	model, err := modelconfig.HuggingFace(config)
	if err != nil {
		log.Fatal(err)
	}
	rope, err := model.Rope()
	if err != nil {
		log.Fatal(err)
	}
	prompts, _, err := modelconfig.HuggingFaceMultimodal(config)
	if err != nil {
		log.Fatal(err)
	}
	runs := []multimodal.Run{
		{Kind: multimodal.Text, Tokens: 2},
		{Kind: multimodal.Image, Tokens: 6, Grid: multimodal.Grid{T: 1, H: 4, W: 6}}, // patches, four of which become a token
	}
	const tokens, headDim = 8, 128
	positions := make([]int32, rope.Axes()*tokens)
	next, err := prompts.Positions(positions, runs)
	if err != nil {
		log.Fatal(err)
	}
	rows, err := rope.RowsAxes(positions)
	if err != nil {
		log.Fatal(err)
	}
	q := posenc.View[float32]{Data: slices.Repeat([]float32{1}, tokens*headDim), Heads: 1}
	if err := posenc.Rotate(rows.Layer(0), q); err != nil {
		log.Fatal(err)
	}
	fmt.Println(positions[:tokens], positions[tokens:2*tokens], positions[2*tokens:])

	// transformers counts on from the last token on each axis, vLLM from the largest position on all.
	fmt.Println(next.Axes[:rope.Axes()], next.AfterLargest)
	if err := rows.RefillAxes(next.Axes[:rope.Axes()]); err != nil {
		log.Fatal(err)
	}
	if err := rows.Refill([]int32{next.AfterLargest}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// [0 1 2 2 2 2 2 2] [0 1 2 2 2 3 3 3] [0 1 2 3 4 2 3 4]
	// [3 4 5] 5
}

// From the config.json of Qwen2-VL to the rotated Q of an image in its vision tower.
func ExampleHuggingFaceVision() {
	config := []byte(`{
		"model_type": "qwen2_vl", "hidden_size": 3584, "num_attention_heads": 28, "num_hidden_layers": 28,
		"vision_config": {
			"depth": 32, "embed_dim": 1280, "hidden_size": 3584, "num_heads": 16, "patch_size": 14, "spatial_merge_size": 2
		}
	}`)
	tower, err := modelconfig.HuggingFaceVision(config)
	if err != nil {
		log.Fatal(err)
	}
	rope, err := tower.Rope()
	if err != nil {
		log.Fatal(err)
	}
	headDim := rope.Rotary(0).Config().HeadDim

	// An image of 4 rows of 6 patches. Blocks of 2 by 2 are merged to one token in
	// the end, and their patches come one after another.
	const rows, columns, heads = 4, 6, 16
	positions := make([]int32, 2*rows*columns)
	options := multimodal.PatchOptions{MergeSize: 2, First: tower.Patches().First}
	if err := multimodal.PatchPositions(positions, []multimodal.Grid{{T: 1, H: rows, W: columns}}, options); err != nil {
		log.Fatal(err)
	}
	q := make([]float32, rows*columns*heads*headDim) // [patches][heads][80]
	for i := range q {
		q[i] = 1
	}
	patches, err := rope.RowsAxes(positions)
	if err != nil {
		log.Fatal(err)
	}
	if err := posenc.Rotate(patches.Layer(0), posenc.View[float32]{Data: q, Heads: heads}); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s %d %+v\n", tower.Type(), headDim, tower.Patches())
	for _, patch := range []int{0, 1, 2, 3, 4} {
		head := q[patch*heads*headDim:]
		fmt.Printf("row %d, column %d: %.3f %.3f\n", positions[patch], positions[rows*columns+patch], head[0], head[20])
	}
	// Output:
	// qwen2_vl_vision 80 {First:0 RowByRow:false}
	// row 0, column 0: 1.000 1.000
	// row 0, column 1: 1.000 -0.301
	// row 1, column 0: -0.301 1.000
	// row 1, column 1: -0.301 -0.301
	// row 0, column 2: 1.000 -1.325
}

// LongRoPE has other frequencies for sequences beyond the trained length. Keys that were rotated before
// such a switch have to be rotated anew. Mistral Large 4 learns its frequencies, and how queries are
// scaled by their position: both are tensors of its weights, whose names the model gives.
func ExampleRopeOptions() {
	for _, config := range []string{
		`{"model_type": "phi3", "hidden_size": 64, "num_attention_heads": 8, "num_hidden_layers": 2,
			"max_position_embeddings": 131072, "original_max_position_embeddings": 4096, "rope_theta": 10000.0,
			"rope_scaling": {"type": "longrope", "short_factor": [1.0, 1.0, 1.0, 1.0], "long_factor": [1.0, 2.0, 4.0, 8.0]}}`,
		`{"model_type": "mistral_large4_text", "qk_rope_head_dim": 8}`,
	} {
		model, err := modelconfig.HuggingFace([]byte(config))
		if err != nil {
			log.Fatal(err)
		}
		var options modelconfig.RopeOptions
		beyond, depends := model.DependsOnLength()
		if depends {
			options.SequenceLength = beyond + 1
		}
		layer := model.Layers()[0]
		if layer.FrequencyFactors != "" {
			for _, alpha := range make([]float64, layer.Rule.Pairs) { // the values of the tensor, one for each pair
				options.FrequencyFactors = append(options.FrequencyFactors, math.Exp(alpha))
			}
		}
		rope, err := model.Rope(options)
		if err != nil {
			log.Fatal(err)
		}
		cfg := rope.Rotary(0).Config()
		fmt.Printf("%s %d %t %q %+v\n", model.Type(), beyond, depends, layer.FrequencyFactors, layer.LearnedQueryScaling)
		fmt.Printf("%.6f, cos and sin times %.6f\n", cfg.InvFreq, cfg.AttentionFactor)
	}
	// Output:
	// phi3 4096 true "" {Scale: Bias:}
	// [1.000000 0.050000 0.002500 0.000125], cos and sin times 1.190238
	// mistral_large4_text 0 false "rotary_emb.alpha" {Scale:softmax_scaling.scale Bias:softmax_scaling.bias}
	// [1.000000 0.050024 0.000005 0.000000], cos and sin times 1.000000
}

// From a config.json to the positions of a prompt: text, an image of 2 by 2 tokens, text.
func ExampleHuggingFaceMultimodal() {
	model, ids, err := modelconfig.HuggingFaceMultimodal([]byte(`{"model_type": "qwen2_vl", "image_token_id": 9, "vision_config": {"spatial_merge_size": 2}}`))
	if err != nil {
		log.Fatal(err)
	}
	prompt := []int32{1, 9, 9, 9, 9, 2}
	runs, err := model.AppendRuns(nil, prompt, ids, multimodal.Media{Images: []multimodal.Grid{{T: 1, H: 4, W: 4}}})
	if err != nil {
		log.Fatal(err)
	}
	positions := make([]int32, model.Axes()*len(prompt))
	if _, err := model.Positions(positions, runs); err != nil {
		log.Fatal(err)
	}
	fmt.Println(positions)
	// Output: [0 1 1 1 1 3 0 1 1 2 2 3 0 1 2 1 2 3]
}

// The keys and tensors are what a reader of GGUF files found.
func ExampleGGUF() {
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
	tensors := map[string][]float32{}
	for _, t := range file.tensors {
		tensors[t.name] = nil
		switch t.name {
		case "rope_freqs.weight", "rope_factors_short.weight", "rope_factors_long.weight":
			tensors[t.name] = t.values
		}
	}
	model, err := modelconfig.GGUF(keys, tensors)
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

// On the day of its release nobody knows the type of a model, but its code may be a known type's.
func ExampleCandidates() {
	config := []byte(`{"model_type": "brandnew", "hidden_size": 4096, "num_attention_heads": 32, "num_layers": 40, "kv_channels": 128, "rope_ratio": 50}`)
	fmt.Println(modelconfig.Candidates(config))
	model, err := modelconfig.HuggingFace(config, modelconfig.Options{Type: "chatglm"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(model.Layers()), model.Layers()[0].Rule.Pairs)
	// Output:
	// [chatglm]
	// 40 32
}

// Intern-S1-Pro adds cosines and sines by the coefficients of two tensors.
func ExampleModel_Fourier() {
	model, err := modelconfig.HuggingFace([]byte(`{"model_type": "interns1_pro", "text_config": {"head_dim": 128, "max_position_embeddings": 262144,
		"rope_scaling": {"rope_type": "default", "fope_init_factor": 0.5, "fope_sep_head": true, "num_inv_freq": null}, "rope_theta": 5000000}}`))
	if err != nil {
		log.Fatal(err)
	}
	rope, err := model.Fourier()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(model.Layers()[0].Fourier, len(rope.Config().InvFreq), "of", rope.Config().HeadDim/2)
	// Output: {rotary_emb.cos_coef rotary_emb.sin_coef} 45 of 64
}
