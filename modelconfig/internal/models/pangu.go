package models

var panguModels = Vendor{
	Types: []ModelType{
		{Name: "PanguEmbedded", Hidden: 4096, Heads: 32, Layers: 34, Positions: 32768, Base: 16e6},
	},
}
