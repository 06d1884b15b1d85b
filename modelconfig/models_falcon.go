package modelconfig

var falconModels = vendor{
	types: []modelType{
		{name: "falcon", hidden: 4544, heads: 71, layers: 32, positions: 2048, base: 1e4, keys: falcon, traps: []string{"falcon_with_alibi"}},
		{name: "RefinedWebModel", hidden: 64, heads: 8, layers: 2, positions: 2048, base: 1e4, keys: falcon},
		{name: "RefinedWeb", hidden: 64, heads: 8, layers: 2, positions: 2048, base: 1e4, keys: falcon},
		{name: "falcon_h1", hidden: 4096, heads: 32, layers: 32, positions: 8192, base: 1e4},
	},
	otherPositions: []positionsOf{
		{"falcon_mamba", noPositions},
	},
	architectures: []ggufArchitecture{
		{name: "falcon-h1", layout: neoX},
		{name: "falcon", layout: neoX, whole: true},
	},
}
