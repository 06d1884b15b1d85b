package modelconfig

import "github.com/go-posenc/posenc"

var kimiModels = vendor{
	types: []modelType{
		{name: "kimi_k2", latent: true, headDim: 64, noPEDim: 128, layers: 61, positions: 4096, base: 1e4, layoutKey: "rope_interleave", traps: []string{"deepseek_v3_writes_half_split_pairs"}},
	},
	towers: []modelType{
		{name: "moonvit", hidden: 1152, heads: 16, layers: 27, keys: moonTower, layout: posenc.Interleaved, arrangement: columnsAndRows, patches: patchOrder{RowByRow: true}, traps: []string{"moonvit_alternates_columns_and_rows"}},
		{name: "kimi_k25_vision", hidden: 1152, heads: 16, layers: 27, keys: moonTower, layout: posenc.Interleaved, arrangement: columnsAndRows, patches: patchOrder{RowByRow: true}, traps: []string{"moonvit_alternates_columns_and_rows"}},
	},
	holders: []holder{
		{name: "kimi_k25", text: part{"text_config", "deepseek_v3"}, anyText: true, tower: part{"vision_config", "kimi_k25_vision"}},
		{name: "kimi_vl", text: part{"text_config", "deepseek_v3"}, anyText: true, tower: part{"vision_config", "moonvit"}},
	},
	otherPositions: []positionsOf{
		{"kimi_linear", noPositions},
	},
	otherArchitectures: []positionsOf{
		{"kimi-k3", noPositions},
		{"kimi-linear", noPositions},
	},
}
