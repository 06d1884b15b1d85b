package models

var hunyuanModels = Vendor{
	Types: []ModelType{
		{Name: "hy_v3", Hidden: 4096, Heads: 64, HeadDim: 128, Layers: 80, Positions: 131072, Base: 11158840},
		{Name: "hunyuan_v1_dense", Also: []string{"hunyuan_v1_moe", "hunyuan"}, Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4, Alpha: true, Keys: hunyuanKeys, Check: withoutMLA, ExtraKeys: []string{"beta_fast", "beta_slow", "mscale", "mscale_all_dim"}, Traps: []string{"dynamic_ntk_with_alpha_is_static"}},
		{Name: "hunyuan_vl_text", Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4, Alpha: true, Keys: hunyuanKeys, Check: withoutMLA, Axes: &anySections, ExtraKeys: []string{"beta_fast", "beta_slow", "mscale", "mscale_all_dim"}, Traps: []string{"dynamic_ntk_with_alpha_is_static", "mrope_of_hunyuan_has_four_axes"}},
		{Name: "hy_v4_vl_text", Refusal: "gives images positions of their own, with a token after each row, which package multimodal does not have. Text: use posenc.RotaryConfig with HeadDim 64, Layout Interleaved, and Axes by frequency.InterleavedSections of 12, 10 and 10; its indexers rotate in the same way the last 64 of 128 elements"},
		{Name: "hy_v4", Refusal: "has a layout on which implementations disagree: transformers rotates half-split pairs and llama.cpp interleaved ones, in the attention (the last qk_rope_head_dim elements of a head of Q) and in its indexers (also the last elements of a head): compare with the model's own output, and use posenc.RotaryConfig with the Layout that agrees"},
	},
	Holders: []Holder{
		{Name: "hunyuan_vl", Text: Part{"text_config", "hunyuan_vl_text"}, Tower: Part{"vision_config", "hunyuan_vl_vision"}},
		{Name: "hy_v4_vl", Text: Part{"text_config", "hy_v4_vl_text"}},
	},
	OtherPositions: []PositionsOf{{learned, []string{"hunyuan_vl_vision"}}},
	Architectures: []GGUFArchitecture{
		{Name: "hunyuan-moe", Also: []string{"hy_v3"}, Layout: NeoX},
		{Name: "hunyuan-dense", Layout: NeoX, Alpha: true},
		{Name: "hunyuan_vl", Layout: NeoX, Axes: OptionalAxes, Alpha: true},
	},
	RefusedArchitectures: []RefusedArchitecture{
		{"hy_v4", "another architecture: for this one llama.cpp rotates interleaved pairs and transformers half-split pairs; compare with the model's own output and set posenc.RotaryConfig with the Layout that agrees"},
	},
}
