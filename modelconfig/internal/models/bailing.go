package models

var lightningHeads = &ModelType{Hidden: 2048, Heads: 16, HeadDim: 128, Part: 1}

var bailingModels = Vendor{
	Types: []ModelType{
		{Name: "bailing_moe", Hidden: 2048, Heads: 16, Layers: 28, Positions: 32768, Base: 6e5, Part: 1, Traps: []string{"ling_rotates_half_heads_or_whole"}}, // Ling: defaults of Ling-lite-1.5
		{Name: "bailing_moe_v2", Also: []string{"llada2_moe"}, Hidden: 1024, Heads: 16, Layers: 24, Positions: 16384, Base: 1e4, Part: 0.5},
		{Name: "bailing_hybrid", Latent: true, HeadDim: 64, NoPEDim: 128, Layers: 42, Positions: 262144, Base: 6e6, Keys: bailing, LayerTypes: &LayerTypesRule{Custom: bailingLayers}, Rotating: []string{"full_attention"}, Lists: bailingKinds, Traps: []string{"ling_2.5_rotates_linear_layers"}},
	},
	Architectures: []GGUFArchitecture{
		{Name: "bailingmoe", Layout: Normal},
		{Name: "bailingmoe2", Layout: NeoX},
		{Name: "bailingmoe3", Layout: Normal, LatentPart: true, Axes: OptionalAxes},
	},
}
