package modelconfig

var linearModels = vendor{
	types: []modelType{
		{name: "zamba2", hidden: 2560, heads: 32, headDim: 160, layers: 54, positions: 4096, base: 1e4, keys: zamba, layerTypes: &layerTypesRule{custom: zambaLayers}, rotating: []string{"hybrid"}, check: zamba2, traps: []string{"zamba2_layers_are_of_54"}},
		{name: "hrm_text", hidden: 1536, heads: 12, headDim: 128, layers: 16, positions: 2048, base: 1e4, plan: hrmAttentions},
	},
	otherPositions: []positionsOf{
		{"jamba", noPositions},
		{"mamba", noPositions},
		{"mamba2", noPositions},
		{"rwkv", noPositions},
		{"xlstm", noPositions},
		{"zamba", noPositions},
	},
	architectures: []ggufArchitecture{
		{name: "clef", layout: neoX, axes: interleavedAxes, attentionInterval: 4, traps: []string{"sections_of_Qwen3-VL_without_a_fourth_axis"}},
		{name: "hrm_text", layout: neoX},
	},
	otherArchitectures: []positionsOf{
		{"jamba", noPositions},
		{"mamba", noPositions},
		{"mamba2", noPositions},
		{"rwkv6", noPositions},
		{"rwkv6qwen2", noPositions},
		{"rwkv7", noPositions},
		{"arwkv7", noPositions},
	},
}
