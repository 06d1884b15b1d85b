package models

var gptModels = Vendor{
	Types: []ModelType{
		{Name: "starcoder2", Hidden: 3072, Heads: 24, Layers: 30, Positions: 4096, Base: 1e4},
		{Name: "gpt_oss", Hidden: 2880, Heads: 64, HeadDim: 64, Layers: 36, Positions: 131072, Base: 150000, Absent: `{"rope_type": "yarn", "factor": 32, "beta_fast": 32, "beta_slow": 1, "truncate": false, "original_max_position_embeddings": 4096}`, Traps: []string{"yarn_truncate"}},
		{Name: "gpt_neox", Keys: computedHead, Hidden: 6144, Heads: 64, Layers: 44, Positions: 2048, Base: 1e4, Part: 0.25, PartKeys: []string{"rotary_pct"}, BaseKeys: []string{"rope_theta", "rotary_emb_base"}, BaseUnread: withoutRotaryBase},
		{Name: "gpt_neox_japanese", Keys: computedHead, Hidden: 2560, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4, Part: 1, PartKeys: []string{"rotary_pct"}, BaseKeys: []string{"rope_theta", "rotary_emb_base"}, BaseUnread: withoutRotaryBase},
		{Name: "stablelm", Keys: computedHead, Hidden: 2560, Heads: 32, Layers: 32, Positions: 4096, Base: 1e4, Part: 0.25},
		{Name: "stablelm_epoch", Keys: computedHead, Hidden: 2560, Heads: 32, Layers: 32, Positions: 4096, Base: 1e4, Part: 0.25, PartKeys: []string{"rope_pct", "partial_rotary_factor"}},
		{Name: "gptj", Also: []string{"codegen"}, Hidden: 4096, Heads: 16, Layers: 28, Positions: 2048, Base: 1e4, Keys: &Spellings{Hidden: []string{"n_embd", "hidden_size"}, Heads: []string{"n_head", "num_attention_heads"}, HeadDim: []string{}, Layers: []string{"n_layer", "num_hidden_layers"}, Positions: []string{"n_positions"}}, RotaryDim: 64, NoPartKey: true, NoBaseKey: true, Layout: interleaved, Check: unscaled},
		{Name: "openai_privacy_filter", Hidden: 640, Heads: 14, HeadDim: 64, Layers: 8, Positions: 131072, Base: 150000, Absent: `{"rope_type": "yarn", "factor": 32, "beta_fast": 32, "beta_slow": 1, "truncate": false, "original_max_position_embeddings": 4096}`, Layout: interleaved, Traps: []string{"yarn_truncate"}},
	},
	Reuses:         []Reuse{{Type: "gpt2", Classes: []string{"GPT2LMHeadCustomModel"}, Positions: learned}}, // SantaCoder
	OtherPositions: []PositionsOf{{learned, []string{"gpt2", "gpt-sw3", "gpt_neo", "gpt_bigcode", "openai-gpt"}}},
	Architectures: []GGUFArchitecture{
		{Name: "gptneox", Also: []string{"stablelm", "starcoder2"}, Layout: NeoX},
		{Name: "gpt-oss", Layout: NeoX, Sliding: &GGUFSliding{Period: 2}},
		{Name: "gptoss", Layout: NeoX, Sliding: &GGUFSliding{Period: 2}, Unwritten: &GGUFUnwritten{Always: true, Type: "yarn"}},
	},
	OtherArchitectures: []PositionsOf{{learned, []string{"gpt2", "starcoder"}}},
	RefusedArchitectures: []PositionsOf{
		{"an architecture that llama.cpp implements: it knows only the name of this one (set posenc.RotaryConfig with Layout Interleaved and RotaryDim 64)", []string{"gptj"}},
	},
}
