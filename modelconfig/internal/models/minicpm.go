package models

var minicpmModels = Vendor{
	Types: []ModelType{
		{Name: "minicpm", Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4},
		{Name: "minicpm_sala", Hidden: 4096, Heads: 32, Layers: 32, Positions: 32768, Base: 1e4, Plan: salaLayers, ListKey: "mixer_types", Lists: salaKinds, Unread: []string{"sparse_use_nope"}},
		{Name: "minicpm3", Untyped: []string{"MiniCPM3ForCausalLM"}, Latent: true, Hidden: 2560, Heads: 40, HeadDim: 32, NoPEDim: 64, Layers: 62, Positions: 32768, Base: 1e4, Layout: halfSplit},
		{Name: "minicpmv", Also: []string{"minicpmo"}},
	},
	Holders: []Holder{{Name: "minicpm_ocr", Also: []string{"minicpmv4_6", "minicpmv4_7"}, Text: Part{"text_config", "qwen3_5_text"}, AnyText: true}},
	Architectures: []GGUFArchitecture{
		{Name: "minicpm", Layout: Normal, Freqs: true, LongRoPE: true},
		{Name: "minicpm3", Layout: NeoX, LatentPart: true, LongRoPE: true, AnyType: true},
	},
	OtherTowers: []PositionsOf{{learned, []string{"minicpmv", "minicpmo", "minicpm_ocr", "minicpmv4_6", "minicpmv4_7"}}},
}
