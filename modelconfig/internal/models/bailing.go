package models

var lightningHeads = &ModelType{Hidden: 2048, Heads: 16, HeadDim: 128, Part: 1}

var bailingModels = Vendor{
	Types: []ModelType{
		{Name: "bailing_moe", Hidden: 2048, Heads: 16, Layers: 28, Positions: 32768, Base: 6e5, Part: 1, Traps: []string{"ling_rotates_half_heads_or_whole"}}, // Ling: defaults of Ling-lite-1.5
		{Name: "llada2_moe", Hidden: 1024, Heads: 16, Layers: 24, Positions: 16384, Base: 1e4, Part: 0.5},
		{Name: "bailing_moe_v2", Hidden: 1024, Heads: 16, Layers: 24, Positions: 16384, Base: 1e4, Part: 0.5, Axes: &VideoSections, Traps: []string{"mrope_of_ernie_alternates"}},
		{Name: "bailing_hybrid", Latent: true, HeadDim: 64, NoPEDim: 128, PartOfQ: true, Layers: 42, Positions: 262144, Base: 6e6, Keys: &Spellings{Positions: []string{"model_max_length", "max_position_embeddings"}}, LayerTypes: &LayerTypesRule{Custom: bailingLayers, Unrotated: []string{linearAttention}}, Rotating: []string{"full_attention"}, Axes: &VideoSections, Lists: bailingKinds, Rule: plainSections, Traps: []string{"mrope_of_ernie_alternates", "ling_2.5_rotates_linear_layers"}},
	},
	Holders: []Holder{
		{Name: "bailingmm_moe_v2_lite", Also: []string{"BailingMM2NativeForConditionalGeneration"}, Text: Part{"llm_config", "bailing_moe_v2"}, Tower: Part{"vision_config", "qwen3_vl_moe_vision"}, AbsentText: `{}`, Rewrite: mingText, Positions: "set Family Ming and TimeScale of multimodal.Model; SGLang has TimeScale 2"},
		{Name: "bailing_moe_v3_vl", Text: Part{"text_config", "bailing_hybrid"}, Tower: Part{"vision_config", "qwen3_vl_moe_vision"}, AbsentText: `{}`, Rewrite: lingText, Positions: "set Family of multimodal.Model to Ming, with TimeScale 2, for the positions of SGLang, or to Qwen2VL for the ones of vLLM, which reads images only"},
	},
	Architectures: []GGUFArchitecture{
		{Name: "bailingmoe", Layout: Normal},
		{Name: "bailingmoe2", Layout: NeoX},
		{Name: "bailingmoe3", Layout: Normal, LatentPart: true, Axes: OptionalAxes},
	},
}
