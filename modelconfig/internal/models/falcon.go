package models

var falconModels = Vendor{
	Types: []ModelType{
		{Name: "falcon", Hidden: 4544, Heads: 71, Layers: 32, Positions: 2048, Base: 1e4, Keys: &Spellings{Hidden: []string{"hidden_size", "n_embed"}, Heads: []string{"num_attention_heads", "n_head"}, HeadDim: []string{}, Layers: []string{"num_hidden_layers", "n_layer"}}, Traps: []string{"falcon_with_alibi"}},
		{Name: "RefinedWebModel", Also: []string{"RefinedWeb"}, Hidden: 64, Heads: 8, Layers: 2, Positions: 2048, Base: 1e4, Keys: &Spellings{Hidden: []string{"hidden_size", "n_embed"}, Heads: []string{"num_attention_heads", "n_head"}, HeadDim: []string{}, Layers: []string{"num_hidden_layers", "n_layer"}}},
		{Name: "falcon_h1", Hidden: 4096, Heads: 32, Layers: 32, Positions: 8192, Base: 1e4, Check: unlisted},
	},
	OtherPositions: []PositionsOf{{noPositions, []string{"falcon_mamba"}}},
	Architectures: []GGUFArchitecture{
		{Name: "falcon-h1", Layout: NeoX},
		{Name: "falcon", Layout: NeoX, Whole: true},
	},
}
