package models

var museModels = Vendor{
	Types: []ModelType{
		{Name: "muse_glimmer_assistant", Hidden: 6656, Heads: 32, HeadDim: 128, Layers: 5, Positions: 131072, Base: 5e5},
		{Name: "muse_spark_dspark", Hidden: 5120, Heads: 40, HeadDim: 128, Layers: 48, Positions: 131072, Base: 5e5, Layout: interleaved, Check: museDraft, QueryScale: scaledDraft, ScalesRotating: true, Traps: []string{"draft_of_muse_spark_rotates_neighbours"}},
		{Name: "muse_glimmer_text", Hidden: 6656, Heads: 32, HeadDim: 128, Layers: 52, Positions: 131072, Base: 1e4, Plan: museLayers, ListKey: "layer_rope_theta", Lists: rotatingBases, Traps: []string{"bases_by_layer"}},
		{Name: "muse_spark_text", Hidden: 8192, Heads: 128, HeadDim: 64, Layers: 62, Positions: 1048576, Base: 1e4, Absent: `{"rope_theta": 500000}`, Plan: museLayers, ListKey: "layer_rope_theta", Lists: rotatingBases, Traps: []string{"bases_by_layer"}},
	},
	Towers: []ModelType{
		{Name: "muse_glimmer_vision", Also: []string{"muse_spark_vision"}, Hidden: 1536, Heads: 16, Layers: 50, Arrangement: columnsThenRows, Patches: rowByRowFrom1},
	},
	Holders:       []Holder{{Name: "muse_glimmer", Also: []string{"muse_spark"}, Text: Part{"text_config", "*_text"}, Tower: Part{"vision_config", "*_vision"}}},
	Architectures: []GGUFArchitecture{{Name: "muse-glimmer", Layout: Normal, Sliding: &GGUFSliding{Period: 4, Unscaled: true}, Rotates: onlySliding}},
}
