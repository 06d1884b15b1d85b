package modelconfig

var internlmModels = vendor{
	types: []modelType{
		{name: "internlm3", hidden: 4096, heads: 32, headDim: 128, layers: 48, positions: 32768, base: 1e4},
		{name: "iquestcoder", hidden: 5120, heads: 40, headDim: 128, layers: 80, positions: 131072, base: 1e4},
		{name: "internlm2", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4},
	},
	holders: []holder{
		{name: "internvl", text: part{"text_config", "qwen2"}, anyText: true, tower: part{"vision_config", "internvl_vision"}},
		{name: "internvl_chat", text: part{"llm_config", "internlm2"}, anyText: true, tower: part{"vision_config", "intern_vit_6b"}},
	},
	otherPositions: []positionsOf{
		{"internvl_vision", learned},
		{"intern_vit_6b", learned},
	},
	architectures: []ggufArchitecture{
		{name: "internlm2", layout: normal},
	},
}
