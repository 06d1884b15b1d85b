package models

var kimiModels = Vendor{
	Types: []ModelType{
		{Name: "kimi_k2", Latent: true, HeadDim: 64, NoPEDim: 128, Layers: 61, Positions: 4096, Base: 1e4, LayoutKey: "rope_interleave", ScalingObject: true, Traps: []string{"deepseek_v3_writes_half_split_pairs"}},
		{Name: "k3_dspark", Latent: true, HeadDim: 64, NoPEDim: 128, Layers: 61, Positions: 4096, Base: 5e4, LayoutKey: "rope_interleave", Traps: []string{"deepseek_v3_writes_half_split_pairs"}}, // a draft head
	},
	Towers: []ModelType{
		{Name: "moonvit", Also: []string{"kimi_k25_vision"}, Hidden: 1152, Heads: 16, Layers: 27, Keys: &Spellings{Hidden: []string{"hidden_size", "vt_hidden_size"}, Heads: []string{"num_attention_heads", "vt_num_attention_heads"}, Layers: []string{"num_hidden_layers", "vt_num_hidden_layers"}}, Layout: interleaved, Arrangement: columnsAndRows, Patches: rowByRow, Traps: []string{"moonvit_alternates_columns_and_rows"}},
		{Name: "kimi_k3_vision", Hidden: 1536, Heads: 12, Layers: 27, Keys: &Spellings{Hidden: []string{"qkv_hidden_size"}, Heads: []string{"num_attention_heads", "vt_num_attention_heads"}, Layers: []string{"num_hidden_layers", "vt_num_hidden_layers"}}, Check: kimiK3Width, Layout: interleaved, Arrangement: columnsAndRows, Patches: rowByRow, Traps: []string{"moonvit_alternates_columns_and_rows"}},
	},
	Holders: []Holder{
		{Name: "kimi_k3", Text: Part{"text_config", "kimi_linear"}, Tower: Part{"vision_config", "kimi_k3_vision"}},
		{Name: "kimi_k25", Text: Part{"text_config", "deepseek_v3"}, AnyText: true, Tower: Part{"vision_config", "kimi_k25_vision"}},
		{Name: "kimi_vl", Text: Part{"text_config", "deepseek_v3"}, AnyText: true, Tower: Part{"vision_config", "moonvit"}},
	},
	OtherPositions:     []PositionsOf{{noPositions, []string{"kimi_linear", "KimiK3LinearForCausalLM"}}},
	Reuses:             []Reuse{{Type: "kimi_linear", Classes: []string{"modeling_kimi.", "modeling_kimi_linear."}, Positions: noPositions}},
	UnreadRotation:     []UnreadKeys{{[]string{"kimi_linear", "KimiK3LinearForCausalLM"}, []string{"qk_rope_head_dim", "rope_theta", "rope_parameters", "rope_scaling"}}},
	OtherArchitectures: []PositionsOf{{noPositions, []string{"kimi-k3", "kimi-linear"}}},
}
