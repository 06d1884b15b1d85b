package modelconfig

var nemotronModels = vendor{
	types: []modelType{
		{name: "nemotron", hidden: 6144, heads: 48, layers: 32, positions: 4096, base: 1e4, part: 0.5},
		{name: "cosmos3_edge_text", hidden: 2048, heads: 16, headDim: 128, layers: 28, positions: 131072, base: 1e8, absent: `{"rope_theta": 100000000}`, axes: interleavedSections, sections: []int{24, 20, 20}},
	},
	holders: []holder{
		{name: "cosmos3_edge", text: part{"text_config", "cosmos3_edge_text"}},
		{name: "cosmos3_omni", text: part{"text_config", "qwen3_vl_text"}, anyText: true, tower: part{"vision_config", "qwen3_vl_vision"}},
		{name: "nemotron_h_omni", text: part{"text_config", "nemotron_h"}, anyText: true},
	},
	otherPositions: []positionsOf{
		{"nemotron_h", noPositions},
	},
	architectures: []ggufArchitecture{
		{name: "nemotron", layout: neoX},
	},
	otherArchitectures: []positionsOf{
		{"nemotron_h", noPositions},
		{"nemotron_h_moe", noPositions},
	},
}
