package models

var teleModels = Vendor{
	Types: []ModelType{
		{Name: "telechat", Hidden: 4096, Heads: 32, Layers: 30, Positions: 8192, Base: 1e4, NoBaseKey: true, Keys: telechat, Rule: telechatRule, Traps: []string{"telechat_stretches_its_base_in_steps"}},
		{Name: "telechat3", Hidden: 6144, Heads: 48, HeadDim: 128, Layers: 64, Positions: 2048, Base: 1e6, YarnName: "telechat3-yarn", YarnGrowth: 0.07, Traps: []string{"telechat3_yarn_grows_by_0.07"}},
	},
}
