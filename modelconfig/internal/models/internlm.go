package models

var internlmModels = Vendor{
	Types: []ModelType{
		{Name: "internlm3", GGUF: "llama", Hidden: 4096, Heads: 32, HeadDim: 128, Layers: 48, Positions: 32768, Base: 1e4},
		{Name: "iquestcoder", GGUF: "llama", Hidden: 5120, Heads: 40, HeadDim: 128, Layers: 80, Positions: 131072, Base: 1e4},
		{Name: "iquest_q1", CountKey: "rotary_dim", Hidden: 3072, Heads: 48, HeadDim: 128, Layers: 88, Positions: 524288, Part: 1, Plan: iquestLayers, Kinds: []KindDefaults{{LayerType: "full_attention", BaseKeys: []string{"rope_theta"}}, {LayerType: "sliding_attention", BaseKeys: []string{"swa_rope_theta"}}}, Rewrite: iquestRope, Traps: []string{"iquest_q1_lists_layers_that_do_not_rotate"}},
		{Name: "iquest_q1_mtp", CountKey: "rotary_dim", Hidden: 3072, Heads: 48, HeadDim: 128, Layers: 1, Positions: 524288, Part: 1, Check: iquestTarget, Plan: iquestDraft, Kinds: []KindDefaults{{LayerType: "full_attention", BaseKeys: []string{"rope_theta"}}, {LayerType: "sliding_attention", BaseKeys: []string{"swa_rope_theta"}}}, Rewrite: iquestRope},
		{Name: "iquestloopcoder", Hidden: 5120, Heads: 40, Keys: computedHead, Layers: 80, Positions: 8192, Base: 5e5},
		{Name: "interns1_pro_text", Hidden: 2048, Heads: 16, Layers: 24, Positions: 128000, Base: 5e6, Fourier: fourierKept, ExtraKeys: []string{"fope_init_factor", "fope_sep_head", "num_inv_freq"}, Traps: []string{"fope_pads_sines_with_1"}},
		{Name: "internlm2", Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4},
	},
	Holders: []Holder{
		{Name: "interns1_pro", Text: Part{"text_config", "*_text"}, Tower: Part{"vision_config", "*_vision"}},
		{Name: "internvl", Text: Part{"text_config", "qwen2"}, AnyText: true, Tower: Part{"vision_config", "internvl_vision"}},
		{Name: "interns1", Text: Part{Key: "text_config"}, AnyText: true},
		{Name: "intern_s2_preview", Text: Part{"text_config", "qwen3_5_moe_text"}, Tower: Part{"vision_config", "qwen3_5_moe_vision"}},
		{Name: "interns2_mobius", Text: Part{"text_config", "interns2_mobius_text"}, Tower: Part{"vision_config", "qwen3_5_moe_vision"}},
		{Name: "internvl_chat", Text: Part{"llm_config", "internlm2"}, AnyText: true, Tower: Part{"vision_config", "intern_vit_6b"}},
	},
	OtherPositions: []PositionsOf{{learned, []string{"internvl_vision", "intern_vit_6b"}}},
	OtherTowers:    []PositionsOf{{learned, []string{"interns1"}}},
	Architectures:  []GGUFArchitecture{{Name: "internlm2", Layout: Normal}},
}
