package modelconfig

import "github.com/go-posenc/posenc"

var ernieModels = vendor{
	types: []modelType{
		{name: "ernie4_5", hidden: 1024, heads: 16, headDim: 128, layers: 18, positions: 131072, base: 5e5, layout: posenc.Interleaved},
		{name: "ernie4_5_moe", hidden: 2560, heads: 20, layers: 28, positions: 131072, base: 5e5, layout: posenc.Interleaved},
		{name: "paddleocr_vl_text", hidden: 1024, heads: 16, headDim: 128, layers: 18, positions: 131072, base: 5e5, axes: sectionsInOrder, sections: []int{16, 24, 24}},
		{name: "ernie4_5_vl_moe_text", hidden: 2560, heads: 20, layers: 28, positions: 131072, base: 5e5, layout: posenc.Interleaved, axes: alternatingSections, sections: []int{22, 22, 20}, traps: []string{"mrope_of_ernie_alternates"}},
		{name: "ernie4_5_moe_vl", hidden: 2560, heads: 20, layers: 28, positions: 131072, base: 5e5, layout: posenc.Interleaved, axes: alternatingSections, sections: []int{22, 22, 20}, check: ernieAxes, traps: []string{"mrope_of_ernie_alternates"}},
	},
	towers: []modelType{
		{name: "ernie4_5_vl_moe_vision", hidden: 1280, heads: 16, layers: 32, keys: qwenTower, arrangement: rowsThenColumns},
		{name: "DFNRope_vision_transformer", hidden: 1280, heads: 16, layers: 32, keys: embedTower, arrangement: rowsThenColumns, traps: []string{"qwen2_vl_tower_has_embed_dim"}},
		{name: "paddleocr_vl_vision", hidden: 1152, heads: 16, layers: 27, arrangement: rowsThenColumns, patches: patchOrder{RowByRow: true}},
	},
	holders: []holder{
		{name: "ernie4_5_vl_moe", text: part{"text_config", "ernie4_5_vl_moe_text"}, tower: part{"vision_config", "ernie4_5_vl_moe_vision"}},
		{name: "paddleocr_vl", text: part{"text_config", "paddleocr_vl_text"}, tower: part{"vision_config", "paddleocr_vl_vision"}},
		{name: "pp_chart2table", text: part{"text_config", "qwen2"}, anyText: true, absentText: `{"hidden_size": 1024, "num_attention_heads": 16, "num_hidden_layers": 24, "max_position_embeddings": 32768, "rope_theta": 1000000}`},
		{name: "pp_formulanet", text: part{"text_config", "pp_formulanet_text"}},
		{name: "ernie4_5_moe_vl", positions: "set Family Ernie45VL, AfterLargest, and MergeSize and TemporalMergeSize from spatial_conv_size and temporal_conv_size of multimodal.Model", tower: part{"vision_config", "DFNRope_vision_transformer"}},
	},
	otherPositions: []positionsOf{
		{"pp_chart2table_vision", relative},
		{"pp_formulanet_text", learned},
	},
	architectures: []ggufArchitecture{
		{name: "ernie4_5", layout: normal},
		{name: "ernie4_5-moe", layout: normal},
		{name: "paddleocr", layout: neoX, axes: sectionedAxes},
	},
}
