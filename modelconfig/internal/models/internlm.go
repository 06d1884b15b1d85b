package models

var internlmModels = Vendor{
	Types: []ModelType{
		{Name: "internlm3", GGUF: "llama", Hidden: 4096, Heads: 32, HeadDim: 128, Layers: 48, Positions: 32768, Base: 1e4},
		{Name: "iquestcoder", GGUF: "llama", Hidden: 5120, Heads: 40, HeadDim: 128, Layers: 80, Positions: 131072, Base: 1e4},
		{Name: "iquestloopcoder", Hidden: 5120, Heads: 40, HeadDim: 128, Layers: 80, Positions: 8192, Base: 5e5},
		{Name: "internlm2", Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4},
	},
	Holders: []Holder{
		{Name: "internvl", Text: Part{"text_config", "qwen2"}, AnyText: true, Tower: Part{"vision_config", "internvl_vision"}},
		{Name: "interns1", Text: Part{Key: "text_config"}, AnyText: true},
		{Name: "intern_s2_preview", Text: Part{"text_config", "qwen3_5_moe_text"}},
		{Name: "interns2_mobius", Text: Part{"text_config", "interns2_mobius_text"}},
		{Name: "internvl_chat", Text: Part{"llm_config", "internlm2"}, AnyText: true, Tower: Part{"vision_config", "intern_vit_6b"}},
	},
	OtherPositions: []PositionsOf{{learned, []string{"internvl_vision", "intern_vit_6b"}}},
	Architectures:  []GGUFArchitecture{{Name: "internlm2", Layout: Normal}},
}
