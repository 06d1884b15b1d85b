package models

var step5Indexer = &ModelType{HeadDim: 256, RotaryDim: 32, CountKey: "sparse_config.sparse_indexer_rope_dim", Keys: &Spellings{HeadDim: []string{"sparse_config.proxy_dim"}}}

var stepModels = Vendor{
	Types: []ModelType{
		{Name: "step3_text", Hidden: 7168, Heads: 64, HeadDim: 256, Layers: 61, Positions: 65536, Base: 5e5, Keys: &Spellings{Positions: []string{"max_position_embedding"}}},
		{Name: "step3p5", Hidden: 4096, Heads: 64, HeadDim: 128, Layers: 45, Positions: 128000, Part: 1, NoPartKey: true, LayerTypes: &LayerTypesRule{All: "full_attention"}, Kinds: []KindDefaults{{LayerType: "full_attention", Base: 1e4, BaseKeys: []string{"rope_theta"}}, {LayerType: "sliding_attention", Base: 1e4, BaseKeys: []string{"rope_theta"}}}, Rewrite: stepLists, Traps: []string{"bases_by_layer"}},
		{Name: "step5", Hidden: 5120, Heads: 40, Layers: 48, Positions: 4096, Part: 1, Plan: step5Layers, Kinds: []KindDefaults{{LayerType: "full_attention", BaseKeys: []string{"rope_theta"}}, {LayerType: "sliding_attention", BaseKeys: []string{"rope_theta"}}, {LayerType: "indexer", BaseKeys: []string{"rope_theta"}, Like: step5Indexer}}, Rewrite: step5Lists, Traps: []string{"bases_by_layer", "indexers_rotate_otherwise"}},
	},
	Towers: []ModelType{
		{Name: "step3p5_vision", Hidden: 1536, Heads: 16, Layers: 47, Keys: &Spellings{Hidden: []string{"hidden_size", "width"}, Heads: []string{"num_attention_heads", "heads"}, Layers: []string{"num_hidden_layers", "layers"}}, Check: stepVision, Layout: interleaved, Arrangement: columnsThenRows, Patches: rowByRow, Traps: []string{"transformers_permutes_rotated_weights"}},
		{Name: "perception_encoder", Hidden: 1536, Heads: 16, Layers: 47, Keys: &Spellings{Hidden: []string{"width"}, Heads: []string{"heads"}, Layers: []string{"layers"}}, Layout: interleaved, Arrangement: columnsThenRows, Patches: rowByRow, Check: stepVision, Traps: []string{"transformers_permutes_rotated_weights"}},
	},
	Holders: []Holder{
		{Name: "step3p7", Flat: true, Text: Part{"text_config", "step3p5"}, Tower: Part{"vision_config", "step3p5_vision"}},
		{Name: "step3_vl", Text: Part{"text_config", "step3_text"}, AbsentText: `{}`},
		{Name: "step5_vl", Text: Part{"text_config", "step5"}, Tower: Part{"vision_config", "perception_encoder"}},
	},
	Architectures: []GGUFArchitecture{
		{Name: "step35", Layout: NeoX, HalfOfFull: true, Freqs: true, LongRoPE: true, Sliding: &GGUFSliding{Base: 10000}, Traps: []string{"half_of_the_head_in_Step_3.5"}},
	},
	OtherTowers: []PositionsOf{{learned, []string{"step3_vl"}}},
}
