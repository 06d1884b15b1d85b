package modelconfig_test

import (
	"fmt"
	"log"
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/modelconfig"
)

// From the config.json of Llama 3.1 8B to rotated Q and K.
func Example() {
	config := []byte(`{
		"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
		"num_hidden_layers": 32, "max_position_embeddings": 131072, "rope_theta": 500000.0,
		"rope_scaling": {
			"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
			"original_max_position_embeddings": 8192
		}
	}`)
	positions := []int32{0, 1, 100000}
	q := make([]float32, 3*32*128) // [tokens][heads][128]
	k := make([]float32, 3*8*128)
	for t := range 3 {
		q[t*32*128], k[t*8*128] = 1, 1
	}

	model, err := modelconfig.HuggingFace(config)
	if err != nil {
		log.Fatal(err)
	}
	cfg, err := model.Rotary()
	if err != nil {
		log.Fatal(err)
	}
	rotary, err := posenc.NewRotary(cfg)
	if err != nil {
		log.Fatal(err)
	}
	err = posenc.Rotate(rotary.At(positions), posenc.View[float32]{Data: q, Heads: 32}, posenc.View[float32]{Data: k, Heads: 8})
	if err != nil {
		log.Fatal(err)
	}
	for t := range 3 {
		fmt.Println(k[t*8*128], k[t*8*128+64])
	}
	// Output:
	// 1 0
	// 0.5403023 0.84147096
	// -0.9993608 0.0357488
}

// Qwen2-VL has positions on three axes: of its 64 pairs 16 take the time of a token, 24 its
// height and 24 its width. What modelconfig does not know is an error that names it.
func ExampleHuggingFace() {
	for _, config := range []string{
		`{"model_type": "qwen2_vl", "num_hidden_layers": 28, "num_attention_heads": 28, "hidden_size": 3584,
			"rope_theta": 1000000.0, "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}}`,
		`{"model_type": "llama", "rope_scaling": {"rope_type": "lama3", "factor": 8.0}}`,
		`{"model_type": "bloom"}`,
	} {
		model, err := modelconfig.HuggingFace([]byte(config))
		if err != nil {
			fmt.Println(err)
			continue
		}
		cfg, err := model.Rotary()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(model.Type(), cfg.HeadDim, cfg.Layout, "axes", cfg.Axes[0], cfg.Axes[16], cfg.Axes[40])
	}
	// Output:
	// qwen2_vl_text 128 HalfSplit axes 0 1 2
	// modelconfig.HuggingFace: rope_scaling.rope_type is "lama3", want one of ["default" "dynamic" "linear" "llama3" "longrope" "ntk" "proportional" "yarn"], or use posenc.RotaryConfig with InvFreq: unknown
	// modelconfig.HuggingFace: model_type is "bloom", want a model with rotary positions; this type has ALiBi, a bias of the attention scores: positions not rotary
}

// What a Model says beside Rotary: which layers rotate, what multiplies the
// attention scores, and what multiplies the queries.
func ExampleModel() {
	for _, config := range []string{
		`{"model_type": "smollm3", "num_hidden_layers": 36}`,
		`{"model_type": "deepseek_v3", "max_position_embeddings": 163840, "rope_theta": 10000, "rope_scaling": {
			"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096,
			"beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0
		}}`,
		`{"model_type": "ministral3", "rope_parameters": {
			"rope_type": "yarn", "rope_theta": 1000000.0, "factor": 16.0, "original_max_position_embeddings": 16384,
			"beta_fast": 32.0, "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1
		}}`,
	} {
		model, err := modelconfig.HuggingFace([]byte(config))
		if err != nil {
			log.Fatal(err)
		}
		rotating, scaled := 0, 0
		var query posenc.QueryScaling // of the layers counted by scaled
		for _, layer := range model.Layers() {
			if layer.Rotates {
				rotating++
			}
			if scale, ok := model.QueryScaling(layer); ok {
				query = scale
				scaled++
			}
		}
		softmax, err := model.SoftmaxScale()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %d of %d layers rotate, scores times %.4f, queries scaled in %d layers, Beta %v\n",
			model.Type(), rotating, len(model.Layers()), softmax, scaled, query.Beta)
	}
	// Output:
	// smollm3: 27 of 36 layers rotate, scores times 1.0000, queries scaled in 0 layers, Beta 0
	// deepseek_v3: 61 of 61 layers rotate, scores times 1.8739, queries scaled in 0 layers, Beta 0
	// ministral3: 34 of 34 layers rotate, scores times 1.0000, queries scaled in 34 layers, Beta 0.1
}

// An engine that loads any model makes a Rotary for each kind of layer, for the
// longest sequence that it will hold. Layers of Gemma 3 are of two kinds.
func ExampleModel_RotaryFor() {
	const contextLength = 8192
	model, err := modelconfig.HuggingFace([]byte(`{
		"model_type": "gemma3",
		"text_config": {
			"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34,
			"rope_scaling": {"rope_type": "linear", "factor": 8.0}, "sliding_window": 1024
		}
	}`))
	if err != nil {
		log.Fatal(err)
	}
	rotary := map[string]*posenc.Rotary{}
	for _, layerType := range model.LayerTypes() {
		cfg, err := model.RotaryFor(modelconfig.RotaryOptions{LayerType: layerType, SequenceLength: contextLength})
		if err != nil {
			log.Fatal(err)
		}
		if rotary[layerType], err = posenc.NewRotary(cfg); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %d elements, slowest pair %.3g radians per position\n", layerType, cfg.RotaryDim, cfg.InvFreq[127])
	}
	layers := make([]*posenc.Rotary, len(model.Layers())) // nil where a layer does not rotate
	for i, layer := range model.Layers() {
		if layer.Rotates {
			layers[i] = rotary[layer.Type]
		}
	}
	for i, layer := range model.Layers()[:6] {
		fmt.Println(i, layer.Type, layers[i] == rotary["full_attention"])
	}
	// Output:
	// full_attention: 256 elements, slowest pair 1.39e-07 radians per position
	// sliding_attention: 256 elements, slowest pair 0.000107 radians per position
	// 0 sliding_attention false
	// 1 sliding_attention false
	// 2 sliding_attention false
	// 3 sliding_attention false
	// 4 sliding_attention false
	// 5 full_attention true
}

// LongRoPE has other frequencies for sequences beyond the trained length. Keys
// that were rotated before such a switch have to be rotated anew.
func ExampleModel_DependsOnLength() {
	model, err := modelconfig.HuggingFace([]byte(`{
		"model_type": "phi3", "hidden_size": 64, "num_attention_heads": 8, "num_hidden_layers": 2,
		"max_position_embeddings": 131072, "original_max_position_embeddings": 4096, "rope_theta": 10000.0,
		"rope_scaling": {"type": "longrope", "short_factor": [1.0, 1.0, 1.0, 1.0], "long_factor": [1.0, 2.0, 4.0, 8.0]}
	}`))
	if err != nil {
		log.Fatal(err)
	}
	beyond, depends := model.DependsOnLength()
	fmt.Println(beyond, depends)
	for _, tokens := range []int{beyond, beyond + 1} {
		cfg, err := model.RotaryFor(modelconfig.RotaryOptions{SequenceLength: tokens})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d tokens: %.6f, cos and sin times %.6f\n", tokens, cfg.InvFreq, cfg.AttentionFactor)
	}
	// Output:
	// 4096 true
	// 4096 tokens: [1.000000 0.100000 0.010000 0.001000], cos and sin times 1.190238
	// 4097 tokens: [1.000000 0.050000 0.002500 0.000125], cos and sin times 1.190238
}

// From the config.json of Qwen2-VL to the rotated Q of an image in its vision
// tower.
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
	cfg, err := tower.Rotary()
	if err != nil {
		log.Fatal(err)
	}
	rotary, err := posenc.NewRotary(cfg)
	if err != nil {
		log.Fatal(err)
	}

	// An image of 4 rows of 6 patches. Blocks of 2 by 2 are merged to one token in
	// the end, and their patches come one after another.
	const rows, columns, merge, heads = 4, 6, 2, 16
	var row, column []int32
	for i := range rows / merge {
		for j := range columns / merge {
			for k := range merge * merge {
				row = append(row, int32(i*merge+k/merge))
				column = append(column, int32(j*merge+k%merge))
			}
		}
	}
	q := make([]float32, rows*columns*heads*cfg.HeadDim) // [patches][heads][80]
	for i := range q {
		q[i] = 1
	}
	if err := posenc.Rotate(rotary.At(append(row, column...)), posenc.View[float32]{Data: q, Heads: heads}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(tower.Type(), cfg.HeadDim)
	for _, patch := range []int{0, 1, 2, 3, 4} {
		head := q[patch*heads*cfg.HeadDim:]
		fmt.Printf("row %d, column %d: %.3f %.3f\n", row[patch], column[patch], head[0], head[20])
	}
	// Output:
	// qwen2_vl_vision 80
	// row 0, column 0: 1.000 1.000
	// row 0, column 1: 1.000 -0.301
	// row 1, column 0: -0.301 1.000
	// row 1, column 1: -0.301 -0.301
	// row 0, column 2: 1.000 -1.325
}

// Llama 4 scales the queries of layers that do not rotate.
func ExampleModel_QueryScaling() {
	model, err := modelconfig.HuggingFace([]byte(`{"model_type": "llama4_text", "num_hidden_layers": 8, "attn_scale": 0.1, "floor_scale": 8192}`))
	if err != nil {
		log.Fatal(err)
	}
	positions := []int32{0, 8191, 100000}
	scales := make([]float32, len(positions)) // for posenc.Scale or posenc.FusedView.Scale
	for i, layer := range model.Layers() {
		scale, ok := model.QueryScaling(layer)
		if !ok {
			continue
		}
		if err := posenc.QueryScales(scales, positions, scale); err != nil {
			log.Fatal(err)
		}
		fmt.Println("layer", i, scales)
	}
	// Output:
	// layer 3 [1 1.0693147 1.2564949]
	// layer 7 [1 1.0693147 1.2564949]
}

// Mistral Large 4 learns its frequencies, and how queries are scaled by their position: both are
// tensors of its weights, whose names the model gives.
func ExampleModel_LearnedFrequencies() {
	model, err := modelconfig.HuggingFace([]byte(`{"model_type": "mistral_large4_text"}`))
	if err != nil {
		log.Fatal(err)
	}
	tensor, ok := model.LearnedFrequencies()
	fmt.Println(tensor, ok)
	scale, bias, ok := model.LearnedQueryScaling(model.Layers()[0])
	fmt.Println(scale, bias, ok)

	alpha := make([]float64, 32) // the values of the tensor, one for each pair
	factors := make([]float64, len(alpha))
	for i, a := range alpha {
		factors[i] = math.Exp(a)
	}
	cfg, err := model.RotaryFor(modelconfig.RotaryOptions{LayerType: "attention", FrequencyFactors: factors})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(cfg.HeadDim, len(cfg.InvFreq))
	// Output:
	// rotary_emb.alpha true
	// softmax_scaling.scale softmax_scaling.bias true
	// 64 32
}

// DeepSeek V3.2 multiplies its attention scores because of YaRN, beside 1/sqrt of the elements
// of a head; the scores of its indexer are not multiplied.
func ExampleModel_SoftmaxScaleFor() {
	model, err := modelconfig.HuggingFace([]byte(`{
		"model_type": "deepseek_v32", "num_hidden_layers": 61, "max_position_embeddings": 163840, "rope_theta": 10000,
		"rope_scaling": {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096,
			"beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0}
	}`))
	if err != nil {
		log.Fatal(err)
	}
	for _, layerType := range model.LayerTypes() {
		scale, err := model.SoftmaxScaleFor(modelconfig.RotaryOptions{LayerType: layerType})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %.4f\n", layerType, scale)
	}
	// Output:
	// attention: 1.8739
	// indexer: 1.0000
}

// What a tool says of a model: its rule, its length and what other implementations
// of it got wrong.
func ExampleModel_Traps() {
	model, err := modelconfig.HuggingFace([]byte(`{
		"model_type": "deepseek_v3", "num_hidden_layers": 61, "max_position_embeddings": 163840,
		"rope_scaling": {"type": "yarn", "factor": 40, "beta_fast": 32, "beta_slow": 1,
			"mscale": 1.0, "mscale_all_dim": 1.0, "original_max_position_embeddings": 4096}
	}`))
	if err != nil {
		log.Fatal(err)
	}
	rule, err := model.RuleFor("")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rule.Name, "of base", rule.Base, "for sequences of up to", model.ContextLength())
	fmt.Println("latent attention:", model.LatentAttention())
	for _, trap := range model.Traps() {
		fmt.Println(trap.Name)
	}
	// Output:
	// yarn of base 10000 for sequences of up to 163840
	// latent attention: true
	// deepseek_v3_writes_half_split_pairs
	// deepseek_scales_the_softmax
}

// The tower of Muse Glimmer takes patches row by row, with rows and columns from 1.
func ExampleModel_Patches() {
	model, err := modelconfig.HuggingFaceVision([]byte(`{"model_type": "muse_glimmer_vision"}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v\n", model.Patches())
	// Output: {First:1 RowByRow:true}
}
