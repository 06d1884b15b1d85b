package models

var glmModels = Vendor{
	Types: []ModelType{
		{Name: "glm4_moe", Hidden: 4096, Heads: 96, Layers: 46, Positions: 131072, Base: 1e4, Part: 0.5},
		{Name: "glm", Also: []string{"glm4"}, Hidden: 4096, Heads: 32, HeadDim: 128, Layers: 40, Positions: 131072, Base: 1e4, Part: 0.5, Layout: interleaved},
		{Name: "chatglm", Hidden: 4096, Heads: 32, HeadDim: 128, Layers: 28, Positions: 2048, Base: 1e4, Keys: &Spellings{HeadDim: []string{"kv_channels"}, Layers: []string{"num_layers", "num_hidden_layers"}, Positions: []string{"seq_length"}}, Part: 0.5, NoBaseKey: true, BaseRatio: "rope_ratio", Layout: interleaved, LayoutKey: "original_rope", Check: chatGLM, Traps: []string{"chatglm_rope_ratio_multiplies_the_base"}},
		{Name: "glm4_moe_lite", Latent: true, HeadDim: 64, NoPEDim: 192, Layers: 47, Positions: 202752, Base: 1e4, Keys: &Spellings{HeadDim: []string{"qk_rope_head_dim", "head_dim"}}, LayoutKey: "rope_interleave"},
		{Name: "glm_moe_dsa", Latent: true, HeadDim: 64, NoPEDim: 192, Layers: 78, Positions: 202752, Base: 1e4, Indexer: &indexer{Layout: interleavedToHalfSplit, LayoutKey: "indexer_rope_interleave"}, Indexers: byIndexerTypes, ScalingObject: true, Traps: []string{"indexers_rotate_otherwise"}},
		{Name: "glm4v_text", Keys: computedHead, Hidden: 4096, Heads: 32, Layers: 40, Positions: 32768, Base: 1e4, Part: 1, Layout: interleaved, Axes: &sectionsInOrder, Sections: []int{8, 12, 12}},
		{Name: "glm_ocr_text", Hidden: 1024, Heads: 16, Layers: 16, Positions: 131072, Base: 1e4, Part: 1, Layout: interleaved, Axes: &sectionsInOrder, Sections: []int{8, 12, 12}},
		{Name: "glm4v_moe_text", Hidden: 4096, Heads: 96, Layers: 46, Positions: 65536, Base: 1e4, Part: 0.5, Axes: &sectionsInOrder, Sections: []int{8, 12, 12}, Traps: []string{"mrope_with_scaling_or_a_part_of_the_head"}},
		{Name: "glm_image_text", Hidden: 4096, Heads: 32, Layers: 40, Positions: 131072, Base: 1e4, Part: 1, Axes: &sectionsInOrder, Sections: []int{8, 12, 12}},
	},
	Towers: []ModelType{
		{Name: "glm4v_vision", Also: []string{"glm4v_moe_vision"}, Hidden: 1536, Heads: 12, Layers: 24, Keys: qwenTower, Arrangement: rowsThenColumns},
		{Name: "glm_ocr_vision", Also: []string{"glm5_next_vision"}, Hidden: 1024, Heads: 16, Layers: 24, Keys: qwenTower, Arrangement: rowsThenColumns},
	},
	Holders: []Holder{
		{Name: "glm4v", Also: []string{"glm4v_moe", "glm_ocr", "glm5_next"}, Text: Part{"text_config", "*_text"}, Tower: Part{"vision_config", "*_vision"}},
		{Name: "glm46v", Also: []string{"glmga"}, Text: Part{"text_config", "glm4v_text"}, AnyText: true, Tower: Part{"vision_config", "glm4v_vision"}},
		{Name: "glm_image", MergeSize: 1, Text: Part{"text_config", "glm_image_text"}},
	},
	OtherPositions: []PositionsOf{
		{sinusoidal, []string{"xglm"}},
		{noPositions, []string{"glm5_next_text"}},
	},
	Architectures: []GGUFArchitecture{
		{Name: "chatglm", Layout: Normal},
		{Name: "cogvlm", Layout: NeoX, Whole: true, PlainBase: true},
		{Name: "glm-dsa", Layout: Normal, Latent: true, Indexer: &GGUFIndexer{Layout: Normal, Typed: true}},
		{Name: "glm4", Layout: Normal, Axes: OptionalAxes},
		{Name: "glmocr", Layout: NeoX, Axes: SectionedAxes},
		{Name: "glm4moe", Layout: NeoX, Axes: OptionalAxes},
	},
	OtherArchitectures: []PositionsOf{{noPositions, []string{"glm5-next", "glm5next"}}},
	UnreadRotation:     []UnreadKeys{{[]string{"glm5_next_text"}, []string{"qk_rope_head_dim"}}},
	OtherTowers:        []PositionsOf{{learned, []string{"chatglm", "glm_image"}}},
}
