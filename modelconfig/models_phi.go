package modelconfig

var phiModels = vendor{
	types: []modelType{
		{name: "phimoe", hidden: 4096, heads: 32, layers: 32, positions: 131072, base: 1e6, extraKeys: []string{"short_mscale", "long_mscale"}, traps: []string{"longrope_short_and_long_mscale"}},
		{name: "phi", hidden: 2048, heads: 32, layers: 24, positions: 2048, base: 1e4, part: 0.5},
		{name: "phi3", hidden: 3072, heads: 32, layers: 32, positions: 4096, base: 1e4, yarnIsLongRoPE: true, part: 1, originalPositions: 4096, traps: []string{"longrope_has_older_names", "longrope_original_length_stands_beside_the_rope_parameters"}},
		{name: "phi3_v", hidden: 3072, heads: 32, layers: 32, positions: 4096, base: 1e4, yarnIsLongRoPE: true, part: 1, originalPositions: 4096, traps: []string{"longrope_has_older_names", "longrope_original_length_stands_beside_the_rope_parameters"}},
		{name: "phi4_multimodal", hidden: 3072, heads: 32, layers: 32, positions: 131072, base: 1e4, yarnIsLongRoPE: true, part: 1, originalPositions: 4096, traps: []string{"longrope_has_older_names", "longrope_original_length_stands_beside_the_rope_parameters"}},
		{name: "phi4mm", hidden: 3072, heads: 32, layers: 32, positions: 131072, base: 1e4, yarnIsLongRoPE: true, part: 1, originalPositions: 4096, traps: []string{"longrope_has_older_names", "longrope_original_length_stands_beside_the_rope_parameters"}},
	},
	otherPositions: []positionsOf{
		{"phi4_multimodal_audio", relative},
	},
	architectures: []ggufArchitecture{
		{name: "phi2", layout: neoX},
		{name: "phi3", layout: neoX, longRoPE: true, anyType: true},
		{name: "phimoe", layout: neoX, longRoPE: true, anyType: true},
	},
}
