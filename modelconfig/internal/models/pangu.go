package models

var panguModels = Vendor{
	Types: []ModelType{
		{Name: "PanguEmbedded", Hidden: 4096, Heads: 32, Layers: 34, Positions: 32768, Base: 16e6},
		{Name: "PanguProMoE", Hidden: 5120, Heads: 40, Layers: 48, Positions: 131072, Base: 16e6, Variant: "PanguProMoEV2", VariantKey: "param_sink_number"},
		{Name: "PanguProMoEV2", Base: 1e4, RotaryDim: 64, CountKey: "qk_rope_dim", Layout: interleaved, Check: joinedHead, Traps: []string{"base_that_vLLM_leaves_unread"}}, // its files have all sizes
		{Name: "pangu_ultra_moe", Latent: true, HeadDim: 64, NoPEDim: 128, Layers: 61, Positions: 131072, Keys: &Spellings{HeadDim: []string{"qk_rope_head_dim", "attention_qk_rope_dim"}}, Required: []string{"rope_theta"}, Rule: defaultRuleOnly},
	},
}
