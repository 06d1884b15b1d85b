package models

var sarvamModels = Vendor{
	Types: []ModelType{
		{Name: "sarvam_moe", Hidden: 4096, Heads: 16, HeadDim: 256, Layers: 19, Positions: 4096, Base: 1e4, Part: 1},
	},
}
