package modelconfig

import "github.com/go-posenc/posenc"

var cohereModels = vendor{
	types: []modelType{
		{name: "cohere", hidden: 8192, heads: 64, layers: 40, positions: 8192, base: 5e5, layout: posenc.Interleaved},
		{name: "cohere2", hidden: 8192, heads: 64, layers: 40, positions: 8192, base: 1e4, layout: posenc.Interleaved, layerTypes: &layerTypesRule{key: "sliding_window_pattern", last: 4, others: "sliding_attention"}, rotating: []string{"sliding_attention"}, check: slidingWindow, traps: []string{"sliding_layers_only"}},
		{name: "cohere2_moe", hidden: 8192, heads: 64, headDim: 128, layers: 40, positions: 8192, base: 1e4, layout: posenc.Interleaved, plan: cohereMoE, scalingUnread: always, traps: []string{"dense_layers_of_cohere2_moe_rotate"}},
		{name: "cohere_compass_text", hidden: 8192, heads: 64, layers: 40, positions: 8192, axes: interleavedSections, sections: []int{24, 20, 20}, layerTypes: &layerTypesRule{all: "full_attention"}, kinds: []kindDefaults{
			{layerType: "full_attention", base: 1e4, partial: 1},
			{layerType: "sliding_attention", base: 1e4, partial: 1},
		}},
	},
	towers: []modelType{
		{name: "cohere_compass_vision", hidden: 1152, heads: 16, layers: 27, keys: qwenTower, arrangement: rowsThenColumns},
	},
	holders: []holder{
		{name: "aya_vision", text: part{"text_config", "cohere2"}, anyText: true, tower: part{"vision_config", "siglip_vision_model"}},
		{name: "cohere2_vision", text: part{"text_config", "cohere2"}, anyText: true, tower: part{"vision_config", "siglip_vision_model"}},
		{name: "cohere_compass", text: part{"text_config", "cohere_compass_text"}, tower: part{"vision_config", "cohere_compass_vision"}},
	},
	architectures: []ggufArchitecture{
		{name: "command-r", layout: normal},
		{name: "cohere2", layout: normal, sliding: &ggufSliding{period: 4, sameBase: true}, nope: onlySliding},
		{name: "cohere2moe", layout: normal, sliding: &ggufSliding{period: 4, denseFirst: true, sameBase: true}, nope: denseAndSliding},
	},
}
