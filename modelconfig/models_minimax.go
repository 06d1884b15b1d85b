package modelconfig

var minimaxModels = vendor{
	types: []modelType{
		{name: "minimax_m2", hidden: 3072, heads: 48, headDim: 128, layers: 62, positions: 196608, base: 5e6, part: 1},
		{name: "minimax", hidden: 4096, heads: 32, layers: 32, positions: 131072, base: 1e6, part: 1, layerTypes: &layerTypesRule{custom: miniMaxLayers}, rotating: []string{"full_attention"}, traps: []string{"minimax_rotates_rotary_dim"}},
		{name: "minimax_text_01", hidden: 4096, heads: 32, headDim: 128, layers: 80, positions: 131072, base: 1e4, part: 1, layerTypes: &layerTypesRule{custom: miniMaxLayers}, rotating: []string{"full_attention"}, traps: []string{"minimax_rotates_rotary_dim"}},
		{name: "minimax_m1", hidden: 4096, heads: 32, headDim: 128, layers: 80, positions: 131072, base: 1e4, part: 1, layerTypes: &layerTypesRule{custom: miniMaxLayers}, rotating: []string{"full_attention"}, traps: []string{"minimax_rotates_rotary_dim"}},
		{name: "minimax_m3_vl_text", hidden: 6144, heads: 64, headDim: 128, layers: 60, positions: 524288, base: 5e6, rotaryDim: 64, indexer: miniMaxIndexer, indexerType: "minimax_m3_sparse", layerTypes: &layerTypesRule{custom: miniMaxM3Layers}, check: sparseAttention, traps: []string{"minimax_m3_rotates_half_heads"}},
	},
	towers: []modelType{
		{name: "minimax_m3_vl_vision", refusal: "has three axes of positions (frames, rows and columns), each for a third of the head: use posenc.RotaryConfig with frequency.Axial for three equal parts, and Axes"},
	},
	holders: []holder{
		{name: "minimax_m3_vl", text: part{"text_config", "minimax_m3_vl_text"}, tower: part{"vision_config", "minimax_m3_vl_vision"}},
	},
	architectures: []ggufArchitecture{
		{name: "minimax-m2", layout: neoX},
		{name: "minimax-m3", layout: neoX},
		{name: "minimax-01", layout: neoX, attentionInterval: 8},
	},
}
