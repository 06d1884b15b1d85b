package models

var llamaModels = Vendor{
	Types: []ModelType{
		{Name: "llama", Also: []string{"TeleFLM", "llama_bidirec", "llava_llama", "solar"}, Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4},
		{Name: "mllama_text_model", Keys: computedHead, Hidden: 4096, Heads: 32, Layers: 40, Positions: 131072, Base: 5e5, Plan: mllamaLayers},
		{Name: "llama4_text", Hidden: 5120, Heads: 40, HeadDim: 128, Layers: 48, Positions: 131072, Base: 5e5, Layout: interleaved, NoRopeInterval: 4, EmptyFlags: true, QueryScale: scaledWithoutRotation, Traps: []string{"llama3_equal_factors", "no_rope_layers_has_1_for_rotation", "llama4_scales_queries_without_rotation"}},
		{Name: "chameleon", Keys: computedHead, Hidden: 4096, Heads: 32, Layers: 32, Positions: 4096, Base: 1e4},
		{Name: "evolla", Also: []string{"EvollaModel"}, Hidden: 4096, Heads: 32, Layers: 32, Positions: 8192, Base: 5e5},
	},
	Towers: []ModelType{
		{Name: "llama4_vision_model", Hidden: 768, Heads: 16, Layers: 34, Layout: interleaved, Arrangement: columnsThenRows, Patches: rowByRowFrom1, Traps: []string{"llama4_vision_has_columns_first"}},
	},
	Holders: []Holder{
		{Name: "llama4", Text: Part{"text_config", "llama4_text"}, Tower: Part{"vision_config", "llama4_vision_model"}},
		{Name: "mllama", Text: Part{"text_config", "mllama_text_model"}, Tower: Part{"vision_config", "mllama_vision_model"}},
		{Name: "perception_lm", Text: Part{"text_config", "llama"}, AnyText: true},
	},
	OtherPositions: []PositionsOf{{learned, []string{"mllama_vision_model"}}},
	Architectures: []GGUFArchitecture{
		{Name: "chameleon", Also: []string{"llada"}, Layout: Normal},
		{Name: "llada-moe", Layout: NeoX},
		{Name: "deci", Also: []string{"llama", "llama-embed"}, Layout: Normal, Whole: true, Freqs: true, LongRoPE: true},
		{Name: "mllama", Layout: Normal, Whole: true, Freqs: true, CrossAttention: true},
		{Name: "llama4", Layout: Normal, Freqs: true, Sliding: &GGUFSliding{UnlessZero: true, Period: 4}, Rotates: exceptLastOfFourIfWindowed, QueryScale: ScaledNoPE},
	},
	OtherTowers: []PositionsOf{{learned, []string{"llava_llama"}}},
}
