package models

var olmoModels = Vendor{
	Types: []ModelType{
		{Name: "olmo", Also: []string{"olmo2"}, Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4},
		{Name: "olmoe", Hidden: 2048, Heads: 16, Layers: 16, Positions: 4096, Base: 1e4},
		{Name: "flex_olmo", Hidden: 4096, Heads: 32, Layers: 32, Positions: 4096, Base: 5e5},
		{Name: "olmo_hybrid", Hidden: 3840, Heads: 30, Layers: 32, Positions: 65536, Base: 1e4, LayerTypes: &LayerTypesRule{Custom: olmoHybridLayers, Unrotated: []string{linearAttention}}, Rotating: []string{"full_attention"}},
		{Name: "olmo3", Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, LayerTypes: &LayerTypesRule{Last: 4, Others: "sliding_attention"}, NullKinds: true, Kinds: []KindDefaults{{LayerType: "full_attention", Base: 5e5, BaseKeys: []string{"rope_theta"}, Scaled: true}, {LayerType: "sliding_attention", Base: 5e5, BaseKeys: []string{"rope_theta"}}}, BaseUnread: always, ScalingUnread: olderRopeType},
		{Name: "molmo2_text", Hidden: 4096, Heads: 32, HeadDim: 128, Layers: 36, Positions: 36864, Base: 1e4, ListKey: "rope_scaling_layers", Lists: scaledLayers},
	},
	Holders: []Holder{
		{Name: "colmodernvbert", Text: Part{"vlm_config", "modernvbert"}, AnyText: true, Tower: Part{"vlm_config", "modernvbert"}},
		{Name: "molmo2", Text: Part{"text_config", "molmo2_text"}},
	},
	Architectures: []GGUFArchitecture{
		{Name: "olmo", Layout: Normal},
		{Name: "olmoe", Layout: NeoX},
		{Name: "olmo2", Layout: NeoX, Sliding: &GGUFSliding{IfGiven: true, Period: 4, Plain: true, SameBase: true}},
		{Name: "olmo3", Layout: NeoX, Sliding: &GGUFSliding{IfGiven: true, Period: 4, Plain: true, SameBase: true}, AttentionOfYaRN: true},
	},
	OtherTowers: []PositionsOf{{learned, []string{"molmo2"}}},
}
