package modelconfig

var gemmaModels = vendor{
	types: []modelType{
		{name: "gemma", hidden: 3072, heads: 16, headDim: 256, layers: 28, positions: 8192, base: 1e4},
		{name: "gemma2", hidden: 2304, heads: 8, headDim: 256, layers: 26, positions: 8192, base: 1e4},
		{name: "vaultgemma", hidden: 2304, heads: 8, headDim: 256, layers: 26, positions: 8192, base: 1e4},
		{name: "recurrent_gemma", hidden: 2560, heads: 10, layers: 26, positions: 8192, base: 1e4, part: 0.5, layerTypes: &layerTypesRule{custom: recurrentBlocks}, rotating: []string{"sliding_attention"}},
		{name: "gemma3_text", hidden: 2304, heads: 8, headDim: 256, layers: 26, positions: 131072, layerTypes: &layerTypesRule{custom: gemma3Layers}, kinds: []kindDefaults{
			{layerType: "full_attention", base: 1e6, baseKeys: []string{"rope_theta"}, partial: 1, scaled: true},
			{layerType: "sliding_attention", base: 1e4, baseKeys: []string{"rope_local_base_freq"}, partial: 1},
		}, scalingUnread: olderRopeType, traps: []string{"gemma3_scales_global_layers_only"}},
		{name: "gemma3n_text", hidden: 2048, heads: 8, headDim: 256, layers: 35, positions: 32768, layerTypes: &layerTypesRule{last: 5, others: "sliding_attention"}, kinds: []kindDefaults{
			{layerType: "full_attention", base: 1e6, baseKeys: []string{"rope_theta"}, partial: 1, scaled: true},
			{layerType: "sliding_attention", base: 1e4, baseKeys: []string{"rope_local_base_freq"}, partial: 1},
		}, scalingUnread: olderRopeType},
		{name: "gemma4_text", hidden: 2304, heads: 8, headDim: 256, layers: 30, positions: 131072, plan: gemma4Layers, kinds: []kindDefaults{
			{layerType: "full_attention", base: 1e6, partial: 1, headDim: 512, headDimKey: "global_head_dim", scaled: true, absent: `{"rope_type": "proportional", "partial_rotary_factor": 0.25}`},
			{layerType: "sliding_attention", base: 1e4, partial: 1},
		}, traps: []string{"proportional_counts_exponents_by_head_dim"}},
		{name: "embedding_gemma2_text", hidden: 512, heads: 4, headDim: 256, layers: 24, positions: 262144, plan: gemma4Layers, kinds: []kindDefaults{
			{layerType: "full_attention", base: 1e6, partial: 1, headDim: 512, headDimKey: "global_head_dim", scaled: true},
			{layerType: "sliding_attention", base: 1e4, partial: 1},
		}},
		{name: "t5_gemma_module", hidden: 2304, heads: 8, headDim: 256, layers: 26, positions: 8192, base: 1e4},
		{name: "gemma4_unified_text", hidden: 2304, heads: 8, headDim: 256, layers: 30, positions: 262144, plan: gemma4Layers, kinds: []kindDefaults{
			{layerType: "full_attention", base: 1e6, partial: 1, headDim: 512, headDimKey: "global_head_dim", scaled: true, absent: `{"rope_type": "proportional", "partial_rotary_factor": 0.25}`},
			{layerType: "sliding_attention", base: 1e4, partial: 1},
		}, traps: []string{"proportional_counts_exponents_by_head_dim"}},
		{name: "diffusion_gemma_text", hidden: 2304, heads: 8, headDim: 256, layers: 30, positions: 131072, plan: gemma4Layers, kinds: []kindDefaults{
			{layerType: "full_attention", base: 1e6, partial: 1, headDim: 512, headDimKey: "global_head_dim", scaled: true, absent: `{"rope_type": "proportional", "partial_rotary_factor": 0.25}`},
			{layerType: "sliding_attention", base: 1e4, partial: 1},
		}, traps: []string{"proportional_counts_exponents_by_head_dim"}},
		{name: "t5gemma2_text", hidden: 2304, heads: 8, headDim: 256, layers: 26, positions: 131072, layerTypes: &layerTypesRule{key: "sliding_window_pattern", last: 6, others: "sliding_attention"}, kinds: []kindDefaults{
			{layerType: "full_attention", base: 1e6, baseKeys: []string{"rope_theta"}, partial: 1, scaled: true},
			{layerType: "sliding_attention", base: 1e4, baseKeys: []string{"rope_local_base_freq"}, partial: 1},
		}, scalingUnread: olderRopeType},
		{name: "t5gemma2_decoder", hidden: 2304, heads: 8, headDim: 256, layers: 26, positions: 131072, layerTypes: &layerTypesRule{key: "sliding_window_pattern", last: 6, others: "sliding_attention"}, kinds: []kindDefaults{
			{layerType: "full_attention", base: 1e6, baseKeys: []string{"rope_theta"}, partial: 1, scaled: true},
			{layerType: "sliding_attention", base: 1e4, baseKeys: []string{"rope_local_base_freq"}, partial: 1},
		}, scalingUnread: olderRopeType},
	},
	towers: []modelType{
		{name: "gemma4_vision", refusal: "rotates the two halves of a head separately: rotate twice, with posenc.RotaryConfig of RotaryDim headDim/2 and Base 100, once by columns at Offset 0 and once by rows at Offset headDim/2"},
	},
	holders: []holder{
		{name: "paligemma", text: part{"text_config", "gemma"}, anyText: true, absentText: `{"hidden_size": 2048, "num_attention_heads": 8, "num_hidden_layers": 18, "max_position_embeddings": 8192}`, tower: part{"vision_config", "siglip_vision_model"}},
		{name: "gemma3", text: part{"text_config", "gemma3_text"}, tower: part{"vision_config", "siglip_vision_model"}},
		{name: "gemma3n", text: part{"text_config", "gemma3n_text"}, tower: part{"vision_config", "gemma3n_vision"}},
		{name: "gemma4", text: part{"text_config", "gemma4_text"}, tower: part{"vision_config", "gemma4_vision"}},
		{name: "embedding_gemma2", text: part{"text_config", "embedding_gemma2_text"}, tower: part{"vision_config", "gemma4_vision"}},
		{name: "shieldgemma2", text: part{"text_config", "gemma3_text"}, anyText: true, tower: part{"vision_config", "siglip_vision_model"}},
		{name: "colpali", text: part{"vlm_config", "paligemma"}, anyText: true, tower: part{"vlm_config", "paligemma"}},
		{name: "t5gemma", text: part{"decoder", "t5_gemma_module"}},
		{name: "diffusion_gemma", text: part{"text_config", "diffusion_gemma_text"}, tower: part{"vision_config", "gemma4_vision"}},
		{name: "gemma4_assistant", text: part{"text_config", "gemma4_text"}, anyText: true},
		{name: "gemma4_unified", text: part{"text_config", "gemma4_unified_text"}},
		{name: "gemma4_unified_assistant", text: part{"text_config", "gemma4_unified_text"}, anyText: true},
		{name: "t5gemma2", text: part{"decoder", "t5gemma2_decoder"}},
		{name: "t5gemma2_encoder", text: part{"text_config", "t5gemma2_text"}, tower: part{"vision_config", "siglip_vision_model"}},
		{name: "siglip", text: part{"text_config", "siglip_text_model"}},
		{name: "siglip2", text: part{"text_config", "siglip2_text_model"}},
		{name: "videoprism", text: part{"text_config", "videoprism_text_model"}},
	},
	otherPositions: []positionsOf{
		{"siglip_vision_model", learned},
		{"siglip2_vision_model", learned},
		{"gemma3n_vision", noPositions},
		{"siglip_text_model", learned},
		{"siglip2_text_model", learned},
		{"videoprism_text_model", sinusoidal},
	},
	architectures: []ggufArchitecture{
		{name: "gemma", layout: neoX},
		{name: "gemma4-assistant", layout: neoX, freqs: true, draft: true, sliding: &ggufSliding{base: 10000}},
		{name: "gemma-embedding", layout: neoX, sliding: &ggufSliding{period: 6, base: 10000, sameDim: true}},
		{name: "gemma2", layout: neoX, sliding: &ggufSliding{period: 2, sameDim: true}},
		{name: "gemma3", layout: neoX, sliding: &ggufSliding{window: windowIfGiven, period: 6, base: 10000, sameDim: true}, traps: []string{"local_base_of_Gemma_3"}},
		{name: "gemma3n", layout: neoX, sliding: &ggufSliding{period: 5, base: 10000, sameDim: true}},
		{name: "gemma4", layout: neoX, freqs: true, sliding: &ggufSliding{base: 10000}, traps: []string{"heads_of_Gemma_4"}},
	},
}
