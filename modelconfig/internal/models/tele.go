package models

var teleModels = Vendor{
	Types: []ModelType{
		{Name: "telechat", Unread: []string{"logn"}, Hidden: 4096, Heads: 32, Layers: 30, Positions: 8192, Base: 1e4, NoBaseKey: true, Keys: &Spellings{Hidden: []string{"hidden_size", "n_embed"}, Heads: []string{"n_head", "num_attention_heads"}, HeadDim: []string{}, Layers: []string{"n_layer", "num_hidden_layers"}, Positions: []string{"seq_length"}}, Rule: telechatRule, Traps: []string{"telechat_stretches_its_base_in_steps"}},
		{Name: "telechat3", Hidden: 6144, Heads: 48, Layers: 64, Positions: 2048, Base: 1e6, YarnName: "telechat3-yarn", YarnGrowth: 0.07, Traps: []string{"telechat3_yarn_grows_by_0.07"}},
	},
}
