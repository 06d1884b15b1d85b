package models

var lfmModels = Vendor{
	Types: []ModelType{
		{Name: "lfm2", Hidden: 2560, Heads: 32, Layers: 32, Positions: 128000, Base: 1e6, BaseKeys: []string{"rope_theta", "theta"}, BaseUnread: withoutRopeTheta, LayerTypes: &LayerTypesRule{List: "full_attn_idxs", Others: "conv", All: "full_attention"}, Rotating: []string{"full_attention"}},
		{Name: "lfm2_moe", Hidden: 2048, Heads: 32, Layers: 32, Positions: 128000, Base: 1e6, BaseKeys: []string{"rope_theta", "theta"}, BaseUnread: withoutRopeTheta, LayerTypes: &LayerTypesRule{List: "full_attn_idxs", Others: "conv", All: "full_attention"}, Rotating: []string{"full_attention"}},
		{Name: "lfm3", Hidden: 2048, Heads: 16, HeadDim: 128, Layers: 24, Positions: 128000, LayerTypes: &LayerTypesRule{Pattern: "C(CFCS)"}, Rotating: []string{"full_attention", "sliding_attention"}, Kinds: []KindDefaults{{LayerType: "full_attention", Base: 1e6, Absent: `{"rope_type": "proportional", "partial_rotary_factor": 0.5}`}, {LayerType: "sliding_attention", Base: 1e4, BlockBase: 1e6}}, Rewrite: ropeOfEach, Traps: []string{"proportional_counts_exponents_by_head_dim"}},
	},
	Towers: []ModelType{
		{Name: "lfm3_vl_vision", Hidden: 1024, Heads: 16, Layers: 14, Base: 1e6, LayerTypes: &LayerTypesRule{Pattern: "CC(FC)"}, Rotating: []string{"full_attention"}, Arrangement: rowsThenColumns},
	},
	Holders: []Holder{
		{Name: "lfm2_vl", Text: Part{"text_config", "lfm2"}, AnyText: true, Tower: Part{"vision_config", "siglip2_vision_model"}},
		{Name: "lfm3_vl", Text: Part{"text_config", "lfm3"}, AnyText: true, Tower: Part{"vision_config", "lfm3_vl_vision"}},
	},
	Architectures: []GGUFArchitecture{{Name: "lfm2", Also: []string{"lfm2moe"}, Layout: NeoX}},
}
