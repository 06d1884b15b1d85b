package models

var phiModels = Vendor{
	Types: []ModelType{
		{Name: "phimoe", Rule: longRoPEOnly, Hidden: 4096, Heads: 32, Layers: 32, Positions: 131072, Base: 1e6, ExtraKeys: []string{"short_mscale", "long_mscale"}, Traps: []string{"longrope_short_and_long_mscale"}},
		{Name: "phi3small", Hidden: 4096, Heads: 32, Layers: 32, Positions: 8192, Base: 1e6, BaseKeys: []string{"rope_embedding_base"}, ExtraKeys: []string{"short_mscale", "long_mscale"}, Check: unscaledPositions, Rule: phi3SmallRule, Traps: []string{"longrope_short_and_long_mscale"}},
		{Name: "phi", Hidden: 2048, Heads: 32, Layers: 24, Positions: 2048, Base: 1e4, Part: 0.5},
		{Name: "phi3", Also: []string{"phi3_v", "phi4-siglip"}, Rule: longRoPEOnly, Hidden: 3072, Heads: 32, Layers: 32, Positions: 4096, Base: 1e4, YarnIsLongRoPE: true, Part: 1, OriginalPositions: 4096, Traps: []string{"longrope_has_older_names", "longrope_original_length_stands_beside_the_rope_parameters"}},
		{Name: "phi4_multimodal", Also: []string{"phi4mm"}, Rule: longRoPEOnly, Hidden: 3072, Heads: 32, Layers: 32, Positions: 131072, Base: 1e4, YarnIsLongRoPE: true, Part: 1, OriginalPositions: 4096, Traps: []string{"longrope_has_older_names", "longrope_original_length_stands_beside_the_rope_parameters"}},
	},
	OtherPositions: []PositionsOf{{relative, []string{"phi4_multimodal_audio"}}},
	Architectures: []GGUFArchitecture{
		{Name: "phi2", Layout: NeoX},
		{Name: "phi3", Also: []string{"phimoe"}, Layout: NeoX, LongRoPE: true, AnyType: true},
	},
	OtherTowers: []PositionsOf{{learned, []string{"phi3_v", "phi4-siglip", "phi4mm"}}},
}
