package models

var ernieModels = Vendor{
	Types: []ModelType{
		{Name: "ernie4_5", Hidden: 1024, Heads: 16, HeadDim: 128, Layers: 18, Positions: 131072, Base: 5e5, Layout: interleaved},
		{Name: "ernie4_5_moe", Hidden: 2560, Heads: 20, Layers: 28, Positions: 131072, Base: 5e5, Layout: interleaved},
		{Name: "paddleocr_vl_text", Hidden: 1024, Heads: 16, HeadDim: 128, Layers: 18, Positions: 131072, Base: 5e5, Axes: &sectionsInOrder, Sections: []int{16, 24, 24}},
		{Name: "ernie4_5_vl_moe_text", Hidden: 2560, Heads: 20, Layers: 28, Positions: 131072, Base: 5e5, Layout: interleaved, Axes: &alternatingSections, Sections: []int{22, 22, 20}, Rule: defaultRuleOnly, Traps: []string{"mrope_of_ernie_alternates"}},
		{Name: "ernie4_5_moe_vl", Hidden: 2560, Heads: 20, Layers: 28, Positions: 131072, Base: 5e5, Layout: interleaved, Axes: &alternatingSections, Sections: []int{22, 22, 20}, Check: ernieAxes, Rule: defaultRuleOnly, Traps: []string{"mrope_of_ernie_alternates"}},
	},
	Towers: []ModelType{
		{Name: "ernie4_5_vl_moe_vision", Hidden: 1280, Heads: 16, Layers: 32, Keys: qwenTower, Arrangement: rowsThenColumns},
		{Name: "DFNRope_vision_transformer", Hidden: 1280, Heads: 16, Layers: 32, Keys: &Spellings{Hidden: []string{"embed_dim"}, Heads: []string{"num_heads", "num_attention_heads"}, Layers: []string{"depth", "num_hidden_layers"}}, Arrangement: rowsThenColumns, Traps: []string{"qwen2_vl_tower_has_embed_dim"}},
		{Name: "paddleocr_vl_vision", Hidden: 1152, Heads: 16, Layers: 27, Arrangement: rowsThenColumns, Patches: rowByRow},
	},
	Holders: []Holder{
		{Name: "ernie4_5_vl_moe", Text: Part{"text_config", "*_text"}, Tower: Part{"vision_config", "*_vision"}},
		{Name: "paddleocr_vl", Flat: true, Text: Part{"text_config", "*_text"}, Tower: Part{"vision_config", "*_vision"}},
		{Name: "pp_chart2table", Text: Part{"text_config", "qwen2"}, AnyText: true, AbsentText: `{"hidden_size": 1024, "num_attention_heads": 16, "num_hidden_layers": 24, "max_position_embeddings": 32768, "rope_theta": 1000000}`},
		{Name: "pp_formulanet", Text: Part{"text_config", "pp_formulanet_text"}},
		{Name: "ernie4_5_moe_vl", Positions: "set Family Ernie45VL, AfterLargest, and MergeSize and TemporalMergeSize from spatial_conv_size and temporal_conv_size of multimodal.Model", Tower: Part{"vision_config", "DFNRope_vision_transformer"}},
	},
	OtherPositions: []PositionsOf{
		{relative, []string{"pp_chart2table_vision"}},
		{learned, []string{"pp_formulanet_text"}},
	},
	Architectures: []GGUFArchitecture{
		{Name: "ernie4_5", Also: []string{"ernie4_5-moe"}, Layout: Normal},
		{Name: "paddleocr", Layout: NeoX, Axes: SectionedAxes},
	},
}
