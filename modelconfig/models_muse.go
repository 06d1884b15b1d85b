package modelconfig

var museModels = vendor{
	types: []modelType{
		{name: "muse_glimmer_assistant", hidden: 6656, heads: 32, headDim: 128, layers: 5, positions: 131072, base: 5e5},
		{name: "muse_glimmer_text", hidden: 6656, heads: 32, headDim: 128, layers: 52, positions: 131072, base: 1e4, plan: museLayers, listKey: "layer_rope_theta", lists: rotatingBases, traps: []string{"bases_by_layer"}},
		{name: "muse_spark_text", hidden: 8192, heads: 128, headDim: 64, layers: 62, positions: 1048576, base: 1e4, absent: `{"rope_theta": 500000}`, plan: museLayers, listKey: "layer_rope_theta", lists: rotatingBases, traps: []string{"bases_by_layer"}},
	},
	towers: []modelType{
		{name: "muse_glimmer_vision", hidden: 1536, heads: 16, layers: 50, arrangement: columnsThenRows, patches: patchOrder{First: 1, RowByRow: true}},
		{name: "muse_spark_vision", hidden: 1536, heads: 16, layers: 50, arrangement: columnsThenRows, patches: patchOrder{First: 1, RowByRow: true}},
	},
	holders: []holder{
		{name: "muse_glimmer", text: part{"text_config", "muse_glimmer_text"}, tower: part{"vision_config", "muse_glimmer_vision"}},
		{name: "muse_spark", text: part{"text_config", "muse_spark_text"}, tower: part{"vision_config", "muse_spark_vision"}},
	},
	architectures: []ggufArchitecture{
		{name: "muse-glimmer", layout: normal, sliding: &ggufSliding{period: 4, unscaled: true}, nope: onlySliding},
	},
}
