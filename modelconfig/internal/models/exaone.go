package models

var exaoneModels = Vendor{
	Types: []ModelType{
		{Name: "exaone", Hidden: 4096, Heads: 32, Layers: 32, Positions: 4096, Base: 5e5, Keys: &Spellings{Layers: []string{"num_layers", "num_hidden_layers"}}},
		{Name: "exaone4", Also: []string{"exaone4_5_text"}, Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4, Plan: exaone4Layers, Traps: []string{"sliding_layers_only"}},
		{Name: "exaone_moe", Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4, Plan: exaone4Layers},
	},
	Towers:  []ModelType{{Name: "exaone4_5_vision", Hidden: 3584, Heads: 16, Layers: 32, Keys: qwenTower, Arrangement: rowsThenColumns}},
	Holders: []Holder{{Name: "exaone4_5", Text: Part{"text_config", "exaone4"}, AnyText: true, Tower: Part{"vision_config", "exaone4_5_vision"}}},
	Architectures: []GGUFArchitecture{
		{Name: "exaone", Layout: NeoX, Freqs: true},
		{Name: "exaone-moe", Layout: NeoX, Freqs: true, Sliding: &GGUFSliding{Period: 4, SameBase: true}, Rotates: onlySliding},
		{Name: "exaone4", Layout: NeoX, Freqs: true, Sliding: &GGUFSliding{Layers: 64, Period: 4, SameBase: true}, Rotates: onlySliding},
	},
}
