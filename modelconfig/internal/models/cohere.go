package models

var cohereModels = Vendor{
	Types: []ModelType{
		{Name: "cohere", Hidden: 8192, Heads: 64, Layers: 40, Positions: 8192, Base: 5e5, Layout: interleaved, Rule: cohereLength},
		{Name: "cohere2", Hidden: 8192, Heads: 64, Layers: 40, Positions: 8192, Base: 1e4, Layout: interleaved, LayerTypes: &LayerTypesRule{Key: "sliding_window_pattern", Last: 4, Others: "sliding_attention"}, Rotating: []string{"sliding_attention"}, Check: slidingWindow, Rule: cohereLength, Traps: []string{"sliding_layers_only"}},
		{Name: "cohere2_moe", Hidden: 8192, Heads: 64, HeadDim: 128, Check: windowGiven, NeedsBase: true, Layers: 40, Positions: 8192, Base: 1e4, Layout: interleaved, Plan: cohereMoE, Rule: cohereLength, ScalingUnread: always, Traps: []string{"dense_layers_of_cohere2_moe_rotate"}},
		{Name: "cohere_compass_text", Hidden: 8192, Heads: 64, Layers: 40, Positions: 8192, Rule: cohereLength, Axes: &InterleavedSections, Sections: []int{24, 20, 20}, LayerTypes: &LayerTypesRule{All: "full_attention"}, Kinds: []KindDefaults{{LayerType: "full_attention", NeedsBase: true, Base: 1e4}, {LayerType: "sliding_attention", Base: 1e4}}, Rewrite: ropeOfEach},
	},
	Towers: []ModelType{{Name: "cohere_compass_vision", Hidden: 1152, Heads: 16, Layers: 27, Keys: qwenTower, Arrangement: rowsThenColumns}},
	Holders: []Holder{
		{Name: "aya_vision", Also: []string{"cohere2_vision"}, Text: Part{"text_config", "cohere2"}, AnyText: true, Tower: Part{"vision_config", "siglip_vision_model"}},
		{Name: "cohere_compass", Text: Part{"text_config", "cohere_compass_text"}, Tower: Part{"vision_config", "cohere_compass_vision"}},
	},
	Architectures: []GGUFArchitecture{
		{Name: "command-r", Layout: Normal},
		{Name: "cohere2", Layout: Normal, Sliding: &GGUFSliding{Period: 4, SameBase: true}, Rotates: onlySliding},
		{Name: "cohere2moe", Layout: Normal, Sliding: &GGUFSliding{Period: 4, DenseFirst: true, SameBase: true}, Rotates: onlySliding, DenseRotate: true},
	},
}
