package modelconfig

import "github.com/go-posenc/posenc"

var llamaModels = vendor{
	types: []modelType{
		{name: "llama", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4},
		{name: "mllama_text_model", hidden: 4096, heads: 32, layers: 40, positions: 131072, base: 5e5, plan: mllamaLayers},
		{name: "llama4_text", hidden: 5120, heads: 40, headDim: 128, layers: 48, positions: 131072, base: 5e5, layout: posenc.Interleaved, noRopeInterval: 4, queryScale: scaledWithoutRotation, traps: []string{"llama3_equal_factors", "no_rope_layers_has_1_for_rotation", "llama4_scales_queries_without_rotation"}},
		{name: "llama_bidirec", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4},
		{name: "chameleon", hidden: 4096, heads: 32, layers: 32, positions: 4096, base: 1e4},
		{name: "evolla", hidden: 4096, heads: 32, layers: 32, positions: 8192, base: 5e5},
		{name: "EvollaModel", hidden: 4096, heads: 32, layers: 32, positions: 8192, base: 5e5}, // another name of evolla in transformers
	},
	towers: []modelType{
		{name: "llama4_vision_model", hidden: 768, heads: 16, layers: 34, layout: posenc.Interleaved, arrangement: columnsThenRows, patches: patchOrder{First: 1, RowByRow: true}, traps: []string{"llama4_vision_has_columns_first"}},
	},
	holders: []holder{
		{name: "llama4", text: part{"text_config", "llama4_text"}, tower: part{"vision_config", "llama4_vision_model"}},
		{name: "mllama", text: part{"text_config", "mllama_text_model"}, tower: part{"vision_config", "mllama_vision_model"}},
		{name: "perception_lm", text: part{"text_config", "llama"}, anyText: true},
	},
	otherPositions: []positionsOf{
		{"mllama_vision_model", learned},
	},
	architectures: []ggufArchitecture{
		{name: "chameleon", layout: normal},
		{name: "llada", layout: normal},
		{name: "llada-moe", layout: neoX},
		{name: "deci", layout: normal, whole: true, freqs: true, longRoPE: true},
		{name: "llama", layout: normal, whole: true, freqs: true, longRoPE: true},
		{name: "llama-embed", layout: normal, whole: true, freqs: true, longRoPE: true},
		{name: "llama4", layout: normal, freqs: true, sliding: &ggufSliding{window: windowUnlessZero, period: 4}, nope: exceptLastOfFourIfWindowed, queryScale: scaledNoPEIfWindowed},
	},
}
