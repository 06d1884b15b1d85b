package models

var gemmaModels = Vendor{
	Types: []ModelType{
		{Name: "gemma", Hidden: 3072, Heads: 16, HeadDim: 256, Layers: 28, Positions: 8192, Base: 1e4},
		{Name: "gemma2", Also: []string{"vaultgemma", "t5_gemma_module"}, Hidden: 2304, Heads: 8, HeadDim: 256, Layers: 26, Positions: 8192, Base: 1e4},
		{Name: "recurrent_gemma", Hidden: 2560, Heads: 10, Layers: 26, Positions: 8192, Base: 1e4, Part: 0.5, LayerTypes: &LayerTypesRule{Custom: recurrentBlocks, Unrotated: []string{linearAttention}}, Rotating: []string{"sliding_attention"}, Check: unlisted, Rule: defaultRuleOnly},
		{Name: "gemma3_text", Hidden: 2304, Heads: 8, HeadDim: 256, Layers: 26, Positions: 131072, LayerTypes: &LayerTypesRule{Custom: gemma3Layers}, NullKinds: true, Kinds: []KindDefaults{{LayerType: "full_attention", Base: 1e6, BaseKeys: []string{"rope_theta"}, Scaled: true}, {LayerType: "sliding_attention", Base: 1e4, BaseKeys: []string{"rope_local_base_freq"}}}, ScalingUnread: olderRopeType, Traps: []string{"gemma3_scales_global_layers_only"}},
		{Name: "gemma3n_text", Hidden: 2048, Heads: 8, HeadDim: 256, Layers: 35, Positions: 32768, LayerTypes: &LayerTypesRule{Last: 5, Others: "sliding_attention"}, NullKinds: true, Kinds: []KindDefaults{{LayerType: "full_attention", Base: 1e6, BaseKeys: []string{"rope_theta"}, Scaled: true}, {LayerType: "sliding_attention", Base: 1e4, BaseKeys: []string{"rope_local_base_freq"}}}, ScalingUnread: olderRopeType},
		{Name: "gemma4_text", Also: []string{"diffusion_gemma_text"}, Hidden: 2304, Heads: 8, HeadDim: 256, Layers: 30, Positions: 131072, Plan: gemma4Layers, Kinds: []KindDefaults{{LayerType: "full_attention", NeedsBase: true, Base: 1e6, HeadDim: 512, HeadDimKey: "global_head_dim", Absent: `{"rope_type": "proportional", "partial_rotary_factor": 0.25}`}, {LayerType: "sliding_attention", NeedsBase: true, Base: 1e4}}, Rewrite: ropeOfEach, Traps: []string{"proportional_counts_exponents_by_head_dim"}},
		{Name: "embedding_gemma2_text", Hidden: 512, Heads: 4, HeadDim: 256, Layers: 24, Positions: 262144, Plan: gemma4Layers, Kinds: []KindDefaults{{LayerType: "full_attention", NeedsBase: true, Base: 1e6, HeadDim: 512, HeadDimKey: "global_head_dim"}, {LayerType: "sliding_attention", NeedsBase: true, Base: 1e4}}, Rewrite: ropeOfEach},
		{Name: "gemma4_unified_text", Hidden: 2304, Heads: 8, HeadDim: 256, Layers: 30, Positions: 262144, Plan: gemma4Layers, Kinds: []KindDefaults{{LayerType: "full_attention", NeedsBase: true, Base: 1e6, HeadDim: 512, HeadDimKey: "global_head_dim", Absent: `{"rope_type": "proportional", "partial_rotary_factor": 0.25}`}, {LayerType: "sliding_attention", NeedsBase: true, Base: 1e4}}, Rewrite: ropeOfEach, Traps: []string{"proportional_counts_exponents_by_head_dim"}},
		{Name: "t5gemma2_text", Also: []string{"t5gemma2_decoder"}, Hidden: 2304, Heads: 8, HeadDim: 256, Layers: 26, Positions: 131072, LayerTypes: &LayerTypesRule{Key: "sliding_window_pattern", Last: 6, Others: "sliding_attention"}, NullKinds: true, Kinds: []KindDefaults{{LayerType: "full_attention", Base: 1e6, BaseKeys: []string{"rope_theta"}, Scaled: true}, {LayerType: "sliding_attention", Base: 1e4, BaseKeys: []string{"rope_local_base_freq"}}}, ScalingUnread: olderRopeType},
	},
	Towers: []ModelType{
		{Name: "gemma4_vision", Refusal: "rotates the two halves of a head separately: rotate twice, with posenc.RotaryConfig of RotaryDim headDim/2 and Base 100, once by columns at Offset 0 and once by rows at Offset headDim/2"},
	},
	Holders: []Holder{
		{Name: "paligemma", Text: Part{"text_config", "gemma"}, AnyText: true, AbsentText: `{"hidden_size": 2048, "num_attention_heads": 8, "num_hidden_layers": 18, "max_position_embeddings": 8192}`, Tower: Part{"vision_config", "siglip_vision_model"}},
		{Name: "gemma3", Flat: true, Text: Part{"text_config", "gemma3_text"}, Tower: Part{"vision_config", "siglip_vision_model"}},
		{Name: "gemma3n", Also: []string{"gemma4"}, Text: Part{"text_config", "*_text"}, Tower: Part{"vision_config", "*_vision"}},
		{Name: "embedding_gemma2", Also: []string{"diffusion_gemma"}, Text: Part{"text_config", "*_text"}, Tower: Part{"vision_config", "gemma4_vision"}},
		{Name: "shieldgemma2", Text: Part{"text_config", "gemma3_text"}, AnyText: true, Tower: Part{"vision_config", "siglip_vision_model"}},
		{Name: "colpali", Text: Part{"vlm_config", "paligemma"}, AnyText: true, Tower: Part{"vlm_config", "paligemma"}},
		{Name: "t5gemma", Text: Part{"decoder", "t5_gemma_module"}},
		{Name: "gemma4_assistant", Text: Part{"text_config", "gemma4_text"}, AnyText: true},
		{Name: "gemma4_unified", Text: Part{"text_config", "gemma4_unified_text"}},
		{Name: "gemma4_unified_assistant", Text: Part{"text_config", "gemma4_unified_text"}, AnyText: true},
		{Name: "t5gemma2", Text: Part{"decoder", "t5gemma2_decoder"}},
		{Name: "t5gemma2_encoder", Text: Part{"text_config", "t5gemma2_text"}, Tower: Part{"vision_config", "siglip_vision_model"}},
		{Name: "siglip", Also: []string{"siglip2", "videoprism"}, Text: Part{"text_config", "*_text_model"}},
	},
	OtherPositions: []PositionsOf{
		{learned, []string{"siglip_vision_model", "siglip2_vision_model", "siglip_text_model", "siglip2_text_model"}},
		{noPositions, []string{"gemma3n_vision"}},
		{sinusoidal, []string{"videoprism_text_model"}},
	},
	Architectures: []GGUFArchitecture{
		{Name: "gemma", Layout: NeoX},
		{Name: "gemma4-assistant", Layout: NeoX, Freqs: true, NeedsFreqs: true, Draft: true, Sliding: &GGUFSliding{Base: 10000}},
		{Name: "gemma-embedding", Layout: NeoX, Sliding: &GGUFSliding{Period: 6, Base: 10000, SameDim: true}},
		{Name: "gemma2", Layout: NeoX, Sliding: &GGUFSliding{Period: 2, SameDim: true}},
		{Name: "gemma3", Layout: NeoX, Sliding: &GGUFSliding{IfGiven: true, Period: 6, Base: 10000, SameDim: true}, Unwritten: &GGUFUnwritten{Base: 1e6, Factor: 8, FactorLayers: []int{34, 48, 62}, FactorLength: 131072}, Traps: []string{"local_base_of_Gemma_3", "absent_base_of_Gemma_3"}},
		{Name: "gemma3n", Layout: NeoX, Sliding: &GGUFSliding{Period: 5, Base: 10000, SameDim: true}},
		{Name: "gemma4", Layout: NeoX, Freqs: true, NeedsFreqs: true, Sliding: &GGUFSliding{Base: 10000}, Traps: []string{"heads_of_Gemma_4"}},
	},
}
