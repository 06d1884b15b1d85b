package modelconfig

var exaoneModels = vendor{
	types: []modelType{
		{name: "exaone", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4, keys: exaone},
		{name: "exaone4", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4, plan: exaone4Layers, traps: []string{"sliding_layers_only"}},
		{name: "exaone_moe", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4, plan: exaone4Layers},
	},
	towers: []modelType{
		{name: "exaone4_5_vision", hidden: 3584, heads: 16, layers: 32, keys: qwenTower, arrangement: rowsThenColumns},
	},
	holders: []holder{
		{name: "exaone4_5", text: part{"text_config", "exaone4"}, anyText: true, tower: part{"vision_config", "exaone4_5_vision"}},
	},
	architectures: []ggufArchitecture{
		{name: "exaone", layout: neoX, freqs: true},
		{name: "exaone-moe", layout: neoX, freqs: true, sliding: &ggufSliding{period: 4, sameBase: true}, nope: onlySliding},
		{name: "exaone4", layout: neoX, freqs: true, sliding: &ggufSliding{layers: 64, period: 4, sameBase: true}, nope: onlySliding},
	},
}
