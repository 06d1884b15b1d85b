package models

var hunyuanModels = Vendor{
	Types: []ModelType{
		{Name: "hy_v3", Hidden: 4096, Heads: 64, HeadDim: 128, Layers: 80, Positions: 131072, Base: 11158840},
		{Name: "hunyuan_v1_dense", Also: []string{"hunyuan_v1_moe", "hunyuan"}, Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4, Alpha: true, Keys: &Spellings{HeadDim: []string{"head_dim", "attention_head_dim"}}, Check: withoutMLA, ExtraKeys: []string{"beta_fast", "beta_slow", "mscale", "mscale_all_dim"}, Traps: []string{"dynamic_ntk_with_alpha_is_static"}},
		{Name: "hunyuan_vl_text", Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4, Alpha: true, Keys: &Spellings{HeadDim: []string{"head_dim", "attention_head_dim"}}, Check: withoutMLA, Axes: &anySections, ExtraKeys: []string{"beta_fast", "beta_slow", "mscale", "mscale_all_dim"}, Traps: []string{"dynamic_ntk_with_alpha_is_static", "mrope_of_hunyuan_has_four_axes"}},
		{Name: "hy_v4", Latent: true, Hidden: 2816, Heads: 32, HeadDim: 64, NoPEDim: 192, WholeDim: 256, Layers: 34, Positions: 262144, Required: []string{"rope_theta"}, Layout: interleaved, Indexer: &indexer{Layout: interleaved, Trailing: true}, Plan: hyV4Layers, Traps: []string{"hy_v4_rotates_interleaved_pairs", "hy_v4_scales_scores_with_yarn", "indexers_rotate_otherwise"}},
		{Name: "hy_v4_vl_text", Refusal: "gives images positions of their own, with a token after each row, which package multimodal does not have. Text: use posenc.RotaryConfig with HeadDim 64, Layout Interleaved, and Axes by frequency.InterleavedSections of 12, 10 and 10; its indexers rotate in the same way the last 64 of 128 elements"},
	},
	Holders: []Holder{
		{Name: "hunyuan_vl", Flat: true, Text: Part{"text_config", "hunyuan_vl_text"}, Tower: Part{"vision_config", "hunyuan_vl_vision"}},
		{Name: "hy_v4_vl", Text: Part{"text_config", "hy_v4_vl_text"}},
	},
	OtherPositions: []PositionsOf{{learned, []string{"hunyuan_vl_vision"}}},
	Architectures: []GGUFArchitecture{
		{Name: "hunyuan-moe", Also: []string{"hy_v3"}, Layout: NeoX},
		{Name: "hy_v4", Layout: Normal, Latent: true, Indexer: &GGUFIndexer{Layout: Normal, Trailing: true, Typed: true}},
		{Name: "hunyuan-dense", Layout: NeoX, Alpha: true},
		{Name: "hunyuan_vl", Layout: NeoX, Axes: OptionalAxes, Alpha: true},
	},
	OtherTowers: []PositionsOf{{learned, []string{"hy_v4_vl"}}},
}
