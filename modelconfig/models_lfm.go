package modelconfig

var lfmModels = vendor{
	types: []modelType{
		{name: "lfm2", hidden: 2560, heads: 32, layers: 32, positions: 128000, base: 1e6, baseKeys: []string{"rope_theta", "theta"}, baseUnread: withoutRopeTheta, layerTypes: &layerTypesRule{list: "full_attn_idxs", others: "conv", all: "full_attention"}, rotating: []string{"full_attention"}},
		{name: "lfm2_moe", hidden: 2048, heads: 32, layers: 32, positions: 128000, base: 1e6, baseKeys: []string{"rope_theta", "theta"}, baseUnread: withoutRopeTheta, layerTypes: &layerTypesRule{list: "full_attn_idxs", others: "conv", all: "full_attention"}, rotating: []string{"full_attention"}},
		{name: "lfm3", hidden: 2048, heads: 16, headDim: 128, layers: 24, positions: 128000, layerTypes: &layerTypesRule{custom: lfm3Layers}, rotating: []string{"full_attention", "sliding_attention"}, kinds: []kindDefaults{
			{layerType: "full_attention", base: 1e6, partial: 1, absent: `{"rope_type": "proportional", "partial_rotary_factor": 0.5}`},
			{layerType: "sliding_attention", base: 1e4, blockBase: 1e6, partial: 1},
		}, traps: []string{"proportional_counts_exponents_by_head_dim"}},
	},
	towers: []modelType{
		{name: "lfm3_vl_vision", hidden: 1024, heads: 16, layers: 14, base: 1e6, layerTypes: &layerTypesRule{custom: alternateConvolutions}, rotating: []string{"full_attention"}, arrangement: rowsThenColumns},
	},
	holders: []holder{
		{name: "lfm2_vl", text: part{"text_config", "lfm2"}, anyText: true, tower: part{"vision_config", "siglip2_vision_model"}},
		{name: "lfm3_vl", text: part{"text_config", "lfm3"}, anyText: true, tower: part{"vision_config", "lfm3_vl_vision"}},
	},
	architectures: []ggufArchitecture{
		{name: "lfm2", layout: neoX},
		{name: "lfm2moe", layout: neoX},
	},
}
