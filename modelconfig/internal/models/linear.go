package models

var linearModels = Vendor{
	Types: []ModelType{
		{Name: "lara_mini", Hidden: 1024, Heads: 16, HeadDim: 128, Layers: 34, Positions: 131072, Base: 1e4, LayerTypes: &LayerTypesRule{Pattern: "(LSLFS)"}, Rotating: []string{"sliding_attention"}, Traps: []string{"sliding_layers_only"}},
		{Name: "zamba2", Hidden: 2560, Heads: 32, HeadDim: 160, Layers: 54, Positions: 4096, Base: 1e4, Keys: &Spellings{HeadDim: []string{"attention_head_dim", "head_dim"}}, LayerTypes: &LayerTypesRule{Custom: zambaLayers, Unrotated: []string{linearAttention}}, Rotating: []string{"hybrid"}, Check: zamba2, Traps: []string{"zamba2_layers_are_of_54"}},
		{Name: "hrm_text", Hidden: 1536, Heads: 12, HeadDim: 128, Layers: 16, Positions: 2048, Base: 1e4, Plan: hrmAttentions},
	},
	Reuses:         []Reuse{{Type: "jamba", Classes: []string{"modeling_jamba."}, Positions: noPositions}},
	OtherPositions: []PositionsOf{{noPositions, []string{"jamba", "mamba", "mamba2", "rwkv", "xlstm", "zamba"}}},
	Architectures: []GGUFArchitecture{
		{Name: "clef", Layout: NeoX, Axes: InterleavedAxes, AttentionInterval: 4, Traps: []string{"sections_of_Qwen3-VL_without_a_fourth_axis"}},
		{Name: "hrm_text", Layout: NeoX},
	},
	OtherArchitectures: []PositionsOf{{noPositions, []string{"jamba", "mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"}}},
}
