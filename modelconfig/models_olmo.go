package modelconfig

var olmoModels = vendor{
	types: []modelType{
		{name: "olmo", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4},
		{name: "olmo2", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4},
		{name: "olmoe", hidden: 2048, heads: 16, layers: 16, positions: 4096, base: 1e4},
		{name: "flex_olmo", hidden: 4096, heads: 32, layers: 32, positions: 4096, base: 5e5},
		{name: "olmo_hybrid", hidden: 3840, heads: 30, layers: 32, positions: 65536, base: 1e4, layerTypes: &layerTypesRule{last: 4, others: "linear_attention"}, rotating: []string{"full_attention"}},
		{name: "olmo3", hidden: 4096, heads: 32, layers: 32, positions: 2048, layerTypes: &layerTypesRule{last: 4, others: "sliding_attention"}, kinds: []kindDefaults{
			{layerType: "full_attention", base: 5e5, baseKeys: []string{"rope_theta"}, partial: 1, scaled: true},
			{layerType: "sliding_attention", base: 5e5, baseKeys: []string{"rope_theta"}, partial: 1},
		}, baseUnread: always, scalingUnread: olderRopeType},
		{name: "molmo2_text", hidden: 4096, heads: 32, headDim: 128, layers: 36, positions: 36864, base: 1e4, listKey: "rope_scaling_layers", lists: scaledLayers},
	},
	holders: []holder{
		{name: "colmodernvbert", text: part{"vlm_config", "modernvbert"}, anyText: true, tower: part{"vlm_config", "modernvbert"}},
		{name: "molmo2", text: part{"text_config", "molmo2_text"}},
	},
	architectures: []ggufArchitecture{
		{name: "olmo", layout: normal},
		{name: "olmoe", layout: neoX},
		{name: "olmo2", layout: neoX, sliding: &ggufSliding{window: windowIfGiven, period: 4, plain: true, sameBase: true}},
	},
}
