package models

var graniteModels = Vendor{
	Types: []ModelType{
		{Name: "granite", Also: []string{"granitemoe", "granite4_vision_text"}, Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4},
		{Name: "granitemoeshared", GGUF: "granitemoe", Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4},
		{Name: "bamba", Hidden: 4096, Heads: 32, Layers: 32, Positions: 262144, Base: 1e4, Part: 0.5, NoPartKey: true, CountKey: "attn_rotary_emb", Check: unlisted, LayerTypes: &LayerTypesRule{List: "attn_layer_indices", Others: "linear_attention", All: "linear_attention"}, Rotating: []string{"full_attention"}, Traps: []string{"bamba_counts_by_attn_rotary_emb"}},
		{Name: "granitemoehybrid", GGUF: "granitehybrid", Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4, LayerTypes: &LayerTypesRule{All: "linear_attention"}, Rotating: []string{"full_attention"}, PositionType: "rope", AbsentPositionType: "nope", Traps: []string{"hybrid_models_without_rope"}},
		{Name: "granite_docling_text", Hidden: 1024, Heads: 16, Layers: 28, Positions: 32768, Base: 1e4},
		{Name: "granite_swa", Hidden: 2560, Heads: 20, Layers: 24, Positions: 8192, Base: 1e4, ListKey: "layer_rope_theta", Lists: bases, Traps: []string{"bases_by_layer"}},
		{Name: "granitemoe_swa", Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4, ListKey: "layer_rope_theta", Lists: bases, Traps: []string{"bases_by_layer"}},
	},
	Holders: []Holder{
		{Name: "granite4_vision", Text: Part{"text_config", "granite4_vision_text"}, Tower: Part{"vision_config", "clip_vision_model"}},
		{Name: "granite_docling", Text: Part{"text_config", "granite_docling_text"}},
	},
	Architectures: []GGUFArchitecture{
		{Name: "granite_swa", Layout: Normal, Whole: true, Freqs: true, LongRoPE: true, Sliding: &GGUFSliding{SameBase: true}, RopePattern: true},
		{Name: "graniteswitch", Layout: Normal, Whole: true, Finetuned: true},
		{Name: "granite", Also: []string{"granitemoe"}, Layout: Normal, Freqs: true, LongRoPE: true, Finetuned: true},
		{Name: "granitehybrid", Layout: Normal, Freqs: true, Finetuned: true},
	},
	OtherTowers: []PositionsOf{{learned, []string{"granite_docling"}}},
}
