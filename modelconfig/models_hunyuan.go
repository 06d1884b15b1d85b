package modelconfig

var hunyuanModels = vendor{
	types: []modelType{
		{name: "hy_v3", hidden: 4096, heads: 64, headDim: 128, layers: 80, positions: 131072, base: 11158840},
		{name: "hunyuan_v1_dense", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4, alpha: true, keys: hunyuanKeys, check: withoutMLA, extraKeys: []string{"beta_fast", "beta_slow", "mscale", "mscale_all_dim"}, traps: []string{"dynamic_ntk_with_alpha_is_static"}},
		{name: "hunyuan_v1_moe", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4, alpha: true, keys: hunyuanKeys, check: withoutMLA, extraKeys: []string{"beta_fast", "beta_slow", "mscale", "mscale_all_dim"}, traps: []string{"dynamic_ntk_with_alpha_is_static"}},
		{name: "hunyuan", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4, alpha: true, keys: hunyuanKeys, check: withoutMLA, extraKeys: []string{"beta_fast", "beta_slow", "mscale", "mscale_all_dim"}, traps: []string{"dynamic_ntk_with_alpha_is_static"}},
		{name: "hunyuan_vl_text", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4, alpha: true, keys: hunyuanKeys, check: withoutMLA, axes: anySections, extraKeys: []string{"beta_fast", "beta_slow", "mscale", "mscale_all_dim"}, traps: []string{"dynamic_ntk_with_alpha_is_static", "mrope_of_hunyuan_has_four_axes"}},
		{name: "hy_v4", refusal: "has a layout on which implementations disagree: transformers rotates half-split pairs and llama.cpp interleaved ones, in the attention (the last qk_rope_head_dim elements of a head of Q) and in its indexers (also the last elements of a head): compare with the model's own output, and use posenc.RotaryConfig with the Layout that agrees"},
	},
	holders: []holder{
		{name: "hunyuan_vl", text: part{"text_config", "hunyuan_vl_text"}, tower: part{"vision_config", "hunyuan_vl_vision"}},
	},
	otherPositions: []positionsOf{
		{"hunyuan_vl_vision", learned},
	},
	architectures: []ggufArchitecture{
		{name: "hunyuan-moe", layout: neoX},
		{name: "hy_v3", layout: neoX},
		{name: "hunyuan-dense", layout: neoX, alpha: true},
		{name: "hunyuan_vl", layout: neoX, axes: optionalAxes, alpha: true},
	},
	refusedArchitectures: []refusedArchitecture{
		{"hy_v4", "another architecture: for this one llama.cpp rotates interleaved pairs and transformers half-split pairs; compare with the model's own output and set posenc.RotaryConfig with the Layout that agrees"},
	},
}
