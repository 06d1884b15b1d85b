package modelconfig

var bailingModels = vendor{
	types: []modelType{
		{name: "bailing_moe", hidden: 2048, heads: 16, layers: 28, positions: 32768, base: 6e5, part: 1, traps: []string{"ling_rotates_half_heads_or_whole"}}, // Ling: defaults of Ling-lite-1.5
		{name: "bailing_hybrid", latent: true, headDim: 64, noPEDim: 128, layers: 42, positions: 262144, base: 6e6, keys: bailing, layerTypes: &layerTypesRule{key: "layer_group_size", last: 6, others: "linear_attention"}, rotating: []string{"full_attention"}},
	},
	architectures: []ggufArchitecture{
		{name: "bailingmoe", layout: normal},
		{name: "bailingmoe2", layout: neoX},
		{name: "bailingmoe3", layout: normal, latentPart: true, axes: optionalAxes},
	},
}
