package models

import "github.com/go-posenc/posenc"

var hunyuanModels = Vendor{
	Types: []ModelType{
		{Name: "hy_v3", Hidden: 4096, Heads: 64, HeadDim: 128, Layers: 80, Positions: 131072, Base: 11158840},
		{Name: "hunyuan_v1_dense", Also: []string{"hunyuan_v1_moe", "hunyuan"}, Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4, Alpha: true, Keys: hunyuanKeys, Check: withoutMLA, ExtraKeys: []string{"beta_fast", "beta_slow", "mscale", "mscale_all_dim"}, Traps: []string{"dynamic_ntk_with_alpha_is_static"}},
		{Name: "hunyuan_vl_text", Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4, Alpha: true, Keys: hunyuanKeys, Check: withoutMLA, Axes: &anySections, ExtraKeys: []string{"beta_fast", "beta_slow", "mscale", "mscale_all_dim"}, Traps: []string{"dynamic_ntk_with_alpha_is_static", "mrope_of_hunyuan_has_four_axes"}},
		{Name: "hy_v4", Latent: true, Hidden: 2816, Heads: 32, HeadDim: 64, NoPEDim: 192, WholeDim: 256, Layers: 34, Positions: 262144, Base: 1e4, Layout: posenc.Interleaved, Indexer: hyIndexer, Plan: hyV4Layers, Traps: []string{"hy_v4_rotates_interleaved_pairs", "indexers_rotate_otherwise"}},
	},
	Holders:        []Holder{{Name: "hunyuan_vl", Text: Part{"text_config", "hunyuan_vl_text"}, Tower: Part{"vision_config", "hunyuan_vl_vision"}}},
	OtherPositions: []PositionsOf{{learned, []string{"hunyuan_vl_vision"}}},
	Architectures: []GGUFArchitecture{
		{Name: "hunyuan-moe", Also: []string{"hy_v3"}, Layout: NeoX},
		{Name: "hy_v4", Layout: Normal, Latent: true, Indexer: &GGUFIndexer{Layout: Normal, Trailing: true, Typed: true}},
		{Name: "hunyuan-dense", Layout: NeoX, Alpha: true},
		{Name: "hunyuan_vl", Layout: NeoX, Axes: OptionalAxes, Alpha: true},
	},
}
