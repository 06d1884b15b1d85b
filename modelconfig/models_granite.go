package modelconfig

var graniteModels = vendor{
	types: []modelType{
		{name: "granite", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4},
		{name: "granitemoe", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4},
		{name: "granitemoeshared", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4},
		{name: "bamba", hidden: 4096, heads: 32, layers: 32, positions: 262144, base: 1e4, part: 0.5, countKey: "attn_rotary_emb", layerTypes: &layerTypesRule{list: "attn_layer_indices", others: "linear_attention", all: "linear_attention"}, rotating: []string{"full_attention"}, traps: []string{"bamba_counts_by_attn_rotary_emb"}},
		{name: "granitemoehybrid", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4, layerTypes: &layerTypesRule{all: "linear_attention"}, rotating: []string{"full_attention"}, positionType: "rope", absentPositionType: "nope", traps: []string{"hybrid_models_without_rope"}},
		{name: "granite4_vision_text", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4},
		{name: "granite_docling_text", hidden: 1024, heads: 16, layers: 28, positions: 32768, base: 1e4},
		{name: "granite_swa", hidden: 2560, heads: 20, layers: 24, positions: 8192, base: 1e4, listKey: "layer_rope_theta", lists: bases, traps: []string{"bases_by_layer"}},
		{name: "granitemoe_swa", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4, listKey: "layer_rope_theta", lists: bases, traps: []string{"bases_by_layer"}},
	},
	holders: []holder{
		{name: "granite4_vision", text: part{"text_config", "granite4_vision_text"}, tower: part{"vision_config", "clip_vision_model"}},
		{name: "granite_docling", text: part{"text_config", "granite_docling_text"}},
	},
	architectures: []ggufArchitecture{
		{name: "granite_swa", layout: normal, whole: true, freqs: true, longRoPE: true, sliding: &ggufSliding{sameBase: true}, nope: byPattern},
		{name: "graniteswitch", layout: normal, whole: true, finetuned: true},
		{name: "granite", layout: normal, freqs: true, longRoPE: true, finetuned: true},
		{name: "granitehybrid", layout: normal, freqs: true, finetuned: true},
		{name: "granitemoe", layout: normal, freqs: true, longRoPE: true, finetuned: true},
	},
}
