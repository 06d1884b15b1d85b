package models

var nemotronModels = Vendor{
	Types: []ModelType{
		{Name: "nemotron", Hidden: 6144, Heads: 48, Layers: 32, Positions: 4096, Base: 1e4, Part: 0.5, PartKeys: []string{"partial_rotary_factor", "rope_percent", "rope_percentage"}},
		{Name: "nemotron-nas", GGUF: "deci", Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4, Part: 1, Check: neoXPositions, Plan: blockLayers, Required: []string{"block_configs"}},
		{Name: "jet_nemotron", Hidden: 1536, Heads: 12, Layers: 28, Positions: 32768, Keys: computedHead, LayerTypes: &LayerTypesRule{Custom: jetTypes, Alone: true}, Rotating: []string{"attn", "swa"}, Required: []string{"hidden_size", "num_attention_heads", "layer_types", "rope_theta"}},
		{Name: "cosmos3_edge_text", Hidden: 2048, Heads: 16, HeadDim: 128, Layers: 28, Positions: 131072, Base: 1e8, Absent: `{"rope_theta": 100000000}`, Rule: defaultRuleOnly, Check: sectionsGiven, Axes: &InterleavedSections, Sections: []int{24, 20, 20}},
	},
	Holders: []Holder{
		{Name: "cosmos3_edge", Text: Part{"text_config", "cosmos3_edge_text"}},
		{Name: "cosmos3_omni", Text: Part{"text_config", "qwen3_vl_text"}, AnyText: true, Tower: Part{"vision_config", "qwen3_vl_vision"}},
		{Name: "alpamayo2_super", Text: Part{"vlm_config", "qwen3_vl"}, Tower: Part{"vlm_config", "qwen3_vl"}},
		{Name: "jet_vlm", Text: Part{"text_config", "jet_nemotron"}, AbsentText: `{}`},
		{Name: "NemotronH_Nano_VL_V2", Also: []string{"NemotronH_Nano_Omni_Reasoning_V3", "NemotronH_Super_Omni_Reasoning_V3"}, Text: Part{"llm_config", "nemotron_h"}, AnyText: true, AbsentText: `{}`},
		{Name: "Llama_Nemotron_Nano_VL", Also: []string{"LlamaNemotronVLModel", "LlamaNemotronVLForSequenceClassification", "NVLM_D"}, Text: Part{Key: "llm_config"}, AnyText: true},
		{Name: "nemotron_h_omni", Text: Part{"text_config", "nemotron_h"}, AnyText: true},
	},
	OtherPositions:     []PositionsOf{{noPositions, []string{"nemotron_h"}}},
	Reuses:             []Reuse{{Type: "nemotron_h", Classes: []string{"modeling_nemotron_h."}, Positions: noPositions}},
	UnreadRotation:     []UnreadKeys{{[]string{"nemotron_h"}, []string{"partial_rotary_factor", "rope_theta"}}},
	Architectures:      []GGUFArchitecture{{Name: "nemotron", Layout: NeoX}},
	OtherArchitectures: []PositionsOf{{noPositions, []string{"nemotron_h", "nemotron_h_moe", "nemotron_h_omni"}}},
	OtherTowers:        []PositionsOf{{learned, []string{"NemotronH_Nano_VL_V2", "NemotronH_Nano_Omni_Reasoning_V3", "NemotronH_Super_Omni_Reasoning_V3", "Llama_Nemotron_Nano_VL", "LlamaNemotronVLModel", "LlamaNemotronVLForSequenceClassification", "NVLM_D", "jet_vlm", "cosmos3_edge"}}},
}
