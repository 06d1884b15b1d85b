package models

import "github.com/go-posenc/posenc/modelconfig/internal/description"

var stepModels = Vendor{
	Types: []ModelType{
		{Name: "step3_text", Hidden: 7168, Heads: 64, HeadDim: 256, Layers: 61, Positions: 65536, Base: 5e5, Keys: step3},
		{Name: "step3p5", Hidden: 4096, Heads: 64, HeadDim: 128, Layers: 45, Positions: 128000, Part: 1, LayerTypes: &LayerTypesRule{All: "full_attention"}, Kinds: []KindDefaults{{LayerType: "full_attention", Base: 1e4, BaseKeys: []string{"rope_theta"}}, {LayerType: "sliding_attention", Base: 1e4, BaseKeys: []string{"rope_theta"}}}, Rewrite: stepLists, Traps: []string{"bases_by_layer"}},
	},
	Towers: []ModelType{{Name: "step3p5_vision", Hidden: 1536, Heads: 16, Layers: 47, Arrangement: columnsThenRows, Patches: description.PatchOrder{RowByRow: true}}},
	Holders: []Holder{
		{Name: "step3p7", Text: Part{"text_config", "step3p5"}, Tower: Part{"vision_config", "step3p5_vision"}},
		{Name: "step3_vl", Text: Part{"text_config", "step3_text"}, AbsentText: `{}`},
	},
	Architectures: []GGUFArchitecture{
		{Name: "step35", Layout: NeoX, HalfOfFull: true, Freqs: true, LongRoPE: true, Sliding: &GGUFSliding{Base: 10000}, Traps: []string{"half_of_the_head_in_Step_3.5"}},
	},
}
