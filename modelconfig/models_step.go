package modelconfig

var stepModels = vendor{
	types: []modelType{
		{name: "step3p5", hidden: 4096, heads: 64, headDim: 128, layers: 45, positions: 128000, part: 1, layerTypes: &layerTypesRule{all: "full_attention"}, kinds: []kindDefaults{
			{layerType: "full_attention", base: 1e4, baseKeys: []string{"rope_theta"}, partial: 1},
			{layerType: "sliding_attention", base: 1e4, baseKeys: []string{"rope_theta"}, partial: 1},
		}, rewrite: stepLists, traps: []string{"bases_by_layer"}},
	},
	towers: []modelType{
		{name: "step3p5_vision", hidden: 1536, heads: 16, layers: 47, arrangement: columnsThenRows, patches: patchOrder{RowByRow: true}},
	},
	holders: []holder{
		{name: "step3p7", text: part{"text_config", "step3p5"}, tower: part{"vision_config", "step3p5_vision"}},
	},
	architectures: []ggufArchitecture{
		{name: "step35", layout: neoX, halfOfFull: true, freqs: true, longRoPE: true, sliding: &ggufSliding{base: 10000}, traps: []string{"half_of_the_head_in_Step_3.5"}},
	},
}
