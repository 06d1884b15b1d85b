package models

var sarvamModels = Vendor{
	Types: []ModelType{
		{Name: "sarvam_moe", Hidden: 4096, Heads: 64, HeadDim: 64, Layers: 19, Positions: 131072, Base: 8e6, Part: 1},
		{Name: "sarvam_mla", Latent: true, HeadDim: 64, NoPEDim: 128, Layers: 32, Positions: 4096, Base: 1e4, YarnName: "deepseek_yarn", Rule: bothMScales},
	},
}
