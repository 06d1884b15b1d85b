package models

var minimaxModels = Vendor{
	Types: []ModelType{
		{Name: "minimax_m2", CountKey: "rotary_dim", Hidden: 3072, Heads: 48, HeadDim: 128, Layers: 62, Positions: 196608, Base: 5e6, Part: 1},
		{Name: "minimax", CountKey: "rotary_dim", Hidden: 4096, Heads: 32, Layers: 32, Positions: 131072, Base: 1e6, Part: 1, NoPartKey: true, Check: countedPart, LayerTypes: &LayerTypesRule{Flags: "attn_type_list", Letters: "LF", Pattern: "(FL)"}, Rotating: []string{"full_attention"}, Traps: []string{"minimax_rotates_rotary_dim"}},
		{Name: "minimax_text_01", Also: []string{"minimax_m1"}, CountKey: "rotary_dim", Hidden: 4096, Heads: 32, HeadDim: 128, Layers: 80, Positions: 131072, Base: 1e4, Part: 1, LayerTypes: &LayerTypesRule{Flags: "attn_type_list", Letters: "LF", Pattern: "(FL)"}, Rotating: []string{"full_attention"}, Traps: []string{"minimax_rotates_rotary_dim"}},
		{Name: "minimax_m3_vl_text", Hidden: 6144, Heads: 64, HeadDim: 128, Layers: 60, Positions: 524288, Base: 5e6, RotaryDim: 64, Indexer: &indexer{Layout: halfSplit}, Indexers: "minimax_m3_sparse", LayerTypes: &LayerTypesRule{Flags: "sparse_attention_config.sparse_attention_freq", Letters: "FM", Pattern: "(F)"}, Check: sparseAttention, Traps: []string{"minimax_m3_rotates_half_heads"}},
	},
	Towers: []ModelType{
		{Name: "minimax_m3_vl_vision", Refusal: "has three axes of positions (frames, rows and columns), each for a third of the head: use posenc.RotaryConfig with frequency.Axial for three equal parts, and Axes"},
	},
	Holders: []Holder{{Name: "minimax_m3_vl", Text: Part{"text_config", "minimax_m3_vl_text"}, Tower: Part{"vision_config", "minimax_m3_vl_vision"}, TowerName: "clip_vision_model"}},
	Architectures: []GGUFArchitecture{
		{Name: "minimax-m2", Also: []string{"minimax-m3"}, Layout: NeoX},
		{Name: "minimax-01", Layout: NeoX, AttentionInterval: 8},
	},
}
