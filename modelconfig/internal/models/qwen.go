package models

import "github.com/go-posenc/posenc/modelconfig/internal/document"

var qwenModels = Vendor{
	Types: []ModelType{
		{Name: "qwen2", Also: []string{"dots_ocr", "llava_qwen"}, DualChunk: true, Hidden: 4096, Heads: 32, Layers: 32, Positions: 32768, Base: 1e4},
		{Name: "qwen2_moe", DualChunk: true, Hidden: 2048, Heads: 16, Layers: 24, Positions: 32768, Base: 1e4},
		{Name: "qwen3", DualChunk: true, Hidden: 4096, Heads: 32, HeadDim: 128, Layers: 32, Positions: 32768, Base: 1e4, Traps: []string{"yarn_factor_wins_over_the_ratio"}},
		{Name: "qwen3_moe", DualChunk: true, Hidden: 2048, Heads: 32, Layers: 24, Positions: 32768, Base: 1e4},
		{Name: "qwen", Hidden: 4096, Heads: 32, HeadDim: 128, Layers: 32, Positions: 8192, Base: 1e4, Keys: &Spellings{HeadDim: []string{"kv_channels"}, Positions: []string{"seq_length"}}, Part: 1, BaseKeys: []string{"rotary_emb_base", "rope_theta"}, Check: qwenBase, Rule: qwenDynamicNTK, QueryScale: scaledBySeqLength, ScalesRotating: true, Traps: []string{"qwen1_dynamic_ntk_is_its_own", "qwen1_scales_queries_beyond_its_length"}},
		{Name: "qwen3_next", Hidden: 2048, Heads: 16, HeadDim: 256, Layers: 48, Positions: 32768, Base: 1e4, Part: 0.25, LayerTypes: &LayerTypesRule{Key: "full_attention_interval", Last: 4, Others: "linear_attention"}, Rotating: []string{"full_attention"}},
		{Name: "qwen2_vl_text", Keys: computedHead, Hidden: 8192, Heads: 64, Layers: 80, Positions: 32768, Base: 1e6, Axes: &sectionsInOrder, Sections: []int{16, 24, 24}},
		{Name: "qwen2_5_vl_text", Keys: computedHead, Hidden: 8192, Heads: 64, Layers: 80, Positions: 32768, Base: 1e6, Axes: &sectionsInOrder, Sections: []int{16, 24, 24}, Traps: []string{"mrope_with_scaling_or_a_part_of_the_head"}},
		{Name: "qwen2_5_omni_text", Hidden: 3584, Heads: 28, Layers: 28, Positions: 32768, Base: 1e6, Axes: &sectionsInOrder, Sections: []int{16, 24, 24}},
		{Name: "qwen3_vl_text", Hidden: 4096, Heads: 32, HeadDim: 128, Layers: 32, Positions: 128000, Base: 5e5, Axes: &InterleavedSections, Sections: []int{24, 20, 20}, Traps: []string{"mrope_interleaved"}},
		{Name: "qwen3_asr_text", Axes: &InterleavedSections},
		{Name: "qwen3_vl_moe_text", Hidden: 2048, Heads: 16, Layers: 24, Positions: 128000, Base: 5e5, Axes: &InterleavedSections, Sections: []int{24, 20, 20}, Traps: []string{"mrope_interleaved"}},
		{Name: "qwen3_omni_moe_text", Hidden: 2048, Heads: 28, Layers: 28, Positions: 32768, Base: 1e6, Axes: &InterleavedSections, Sections: []int{24, 20, 20}},
		{Name: "qwen3_5_text", Hidden: 4096, Heads: 16, HeadDim: 256, Layers: 32, Positions: 32768, Base: 1e4, Part: 0.25, Axes: &InterleavedSections, Sections: []int{11, 11, 10}, LayerTypes: &LayerTypesRule{Key: "full_attention_interval", Last: 4, Others: "linear_attention"}, Rotating: []string{"full_attention"}},
		{Name: "qwen3_5_moe_text", Also: []string{"interns2_mobius_text"}, Hidden: 2048, Heads: 16, HeadDim: 256, Layers: 40, Positions: 32768, Base: 1e4, Part: 0.25, Axes: &InterleavedSections, Sections: []int{11, 11, 10}, LayerTypes: &LayerTypesRule{Key: "full_attention_interval", Last: 4, Others: "linear_attention"}, Rotating: []string{"full_attention"}},
		{Name: "bidirectional_pplx_qwen3", Hidden: 4096, Heads: 32, HeadDim: 128, Layers: 32, Positions: 32768, Base: 1e4},
		{Name: "qwen3_omni_moe_talker_code_predictor", Hidden: 1024, Heads: 16, HeadDim: 128, Layers: 5, Positions: 32768, Base: 1e4},
		{Name: "qwen4_exp_text", Hidden: 2048, Heads: 16, HeadDim: 256, Layers: 40, Positions: 32768, Base: 1e4, Part: 1, Axes: &InterleavedSections, Sections: []int{11, 11, 10}, Indexer: &indexer{HeadDimKey: "indexer_head_dim", Layout: halfSplit}, Indexers: "indexed_attention", LayerTypes: &LayerTypesRule{Key: "full_attention_interval", Last: 4, Full: "indexed_attention", Others: "linear_attention"}, Rotating: []string{"indexed_attention"}, Check: qwenIndexers},
		{Name: "qwen2_5_omni_dit", Refusal: "rotates only the first of its heads: use posenc.RotaryConfig with Layout Interleaved and a View of that head"},
		{Name: "qwen2_5_omni_talker", Hidden: 3584, Heads: 28, HeadDim: 128, Layers: 28, Positions: 32768, Base: 1e6, Axes: &sectionsInOrder, Sections: []int{16, 24, 24}},
		{Name: "qwen3_omni_moe_talker_text", Hidden: 1024, Heads: 16, Layers: 20, Positions: 32768, Base: 1e4, Axes: &InterleavedSections, Sections: []int{24, 20, 20}},
		{Name: "isaac_text", Hidden: 4096, Heads: 32, HeadDim: 128, Layers: 32, Positions: 32768, Base: 1e4, Axes: &isaacSections},
	},
	Towers: []ModelType{
		{Name: "qwen2_vl_vision", Hidden: 1280, Heads: 16, Layers: 32, Keys: &Spellings{Hidden: []string{"embed_dim"}, Heads: []string{"num_heads", "num_attention_heads"}, Layers: []string{"depth", "num_hidden_layers"}}, Arrangement: rowsThenColumns, Traps: []string{"qwen2_vl_tower_has_embed_dim"}},
		{Name: "qwen2_5_vl_vision", Also: []string{"qwen2_5_omni_vision_encoder"}, Hidden: 3584, Heads: 16, Layers: 32, Keys: qwenTower, Arrangement: rowsThenColumns},
		{Name: "qwen3_vl_vision", Also: []string{"qwen3_vl_moe_vision", "qwen3_omni_moe_vision_encoder", "qwen3_5_vision", "qwen3_5_moe_vision", "qwen3_moe_vit", "qwen4_exp_vision", "interns1_pro_vision"}, Hidden: 1152, Heads: 16, Layers: 27, Keys: qwenTower, Arrangement: rowsThenColumns},
	},
	Holders: []Holder{
		{Name: "isaac", Flat: true, Text: Part{"text_config", "isaac_text"}, Rewrite: isaacText},
		{Name: "dots_ocr", Tower: Part{"vision_config", "dots_vit"}},
		{Name: "qwen2_vl", Also: []string{"qwen2_5_vl"}, Flat: true, Text: Part{"text_config", "*_text"}, Tower: Part{"vision_config", "*_vision"}},
		{Name: "qwen3_vl", Also: []string{"qwen3_vl_moe", "qwen3_5", "qwen3_5_moe", "qwen4_exp"}, Text: Part{"text_config", "*_text"}, Tower: Part{"vision_config", "*_vision"}},
		{Name: "qwen2_5_omni", Also: []string{"qwen3_omni_moe"}, Text: Part{"thinker_config", "*_thinker"}, Tower: Part{"thinker_config", "*_thinker"}},
		{Name: "qwen2_5_omni_thinker", Text: Part{"text_config", "qwen2_5_omni_text"}, Tower: Part{"vision_config", "qwen2_5_omni_vision_encoder"}},
		{Name: "qwen3_omni_moe_thinker", Text: Part{"text_config", "qwen3_omni_moe_text"}, Tower: Part{"vision_config", "qwen3_omni_moe_vision_encoder"}},
		{Name: "qwen2_audio", Text: Part{"text_config", "qwen2"}, AnyText: true},
		{Name: "colqwen2", Text: Part{"vlm_config", "qwen2_vl"}, AnyText: true, Tower: Part{"vlm_config", "qwen2_vl"}},
		{Name: "qwen2_5_omni_token2wav", Text: Part{"dit_config", "qwen2_5_omni_dit"}},
		{Name: "jev", Text: Part{"text_config", "qwen3_5_text"}, AnyText: true},
		{Name: "colqwen3_5", Text: Part{"text_config", "qwen3_5_text"}, AnyText: true, Tower: Part{"vision_config", "qwen3_5_vision"}},
		{Name: "colqwen3", Also: []string{"ops_colqwen3", "qwen3_vl_nemotron_embed"}, Text: Part{"text_config", "qwen3_vl_text"}, Tower: Part{"vision_config", "qwen3_vl_vision"}},
		{Name: "qwen3_asr", Within: "thinker_config", Text: Part{"text_config", "qwen3"}, AnyText: true, AbsentText: `{"hidden_size": 2048, "num_attention_heads": 16, "num_hidden_layers": 28, "max_position_embeddings": 65536, "head_dim": 128}`},
		{Name: "qwen3_omni_moe_talker", Text: Part{"text_config", "qwen3_omni_moe_talker_text"}},
	},
	Architectures: []GGUFArchitecture{
		{Name: "dream", Also: []string{"qwen", "qwen2", "qwen2moe", "qwen3", "qwen3moe", "rnd1"}, Layout: NeoX},
		{Name: "qwen3vl", Also: []string{"qwen3vlmoe"}, Layout: NeoX, Axes: InterleavedAxes, Unwritten: &GGUFUnwritten{Always: true, Sections: []int{24, 20, 20}}, Traps: []string{"sections_of_Qwen3-VL_without_a_fourth_axis"}},
		{Name: "qwen3tts", Layout: NeoX, Axes: InterleavedAxes, Traps: []string{"sections_of_Qwen3-VL_without_a_fourth_axis"}},
		{Name: "qwen4exp", Layout: NeoX, Axes: InterleavedAxes, AttentionInterval: 4, Indexer: &GGUFIndexer{Layout: NeoX}, Traps: []string{"sections_of_Qwen3-VL_without_a_fourth_axis"}},
		{Name: "qwen2vl", Also: []string{"qwen25vl"}, Layout: NeoX, Axes: SectionedAxes},
		{Name: "qwen35", Also: []string{"qwen35moe"}, Layout: NeoX, Axes: InterleavedAxes, AttentionInterval: 4, Traps: []string{"sections_of_Qwen3-VL_without_a_fourth_axis"}},
		{Name: "qwen3next", Layout: NeoX, AttentionInterval: 4},
	},
	OtherTowers: []PositionsOf{{learned, []string{"qwen", "llava_qwen", "isaac"}}},
}

// isaacText: Isaac gives Qwen 3 three axes.
func isaacText(file, text *document.Reader) {
	if modelType, ok := text.Text("model_type"); ok && modelType == "qwen3" {
		text.Keys = changed(text.Keys, document.Object{"model_type": nil})
	}
}
