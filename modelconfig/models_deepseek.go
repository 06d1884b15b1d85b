package modelconfig

import "github.com/go-posenc/posenc"

var deepseekModels = vendor{
	types: []modelType{
		{name: "deepseek", hidden: 4096, heads: 32, layers: 30, positions: 2048, base: 1e4},
		{name: "deepseek_v4", hidden: 4096, heads: 64, headDim: 512, layers: 43, positions: 1048576, part: 0.125, trailing: true, layout: posenc.Interleaved, flatBlock: true, indexer: deepSeekV4Indexer, plan: deepSeekV4Layers, kinds: []kindDefaults{
			{layerType: "compress", base: 160000, blockBase: 1e4, baseKeys: []string{"compress_rope_theta"}, partial: 0.125, scaled: true, attentionFactor: 1},
			{layerType: "main", base: 1e4, baseKeys: []string{"rope_theta"}, partial: 0.125},
		}, traps: []string{"deepseek_v4_rotates_the_tail", "indexers_rotate_otherwise"}},
		{name: "deepseek_v2", latent: true, headDim: 64, noPEDim: 128, layers: 32, positions: 2048, base: 1e4, layout: posenc.Interleaved, check: usesMLA},
		{name: "deepseek_v3", latent: true, headDim: 64, noPEDim: 128, layers: 61, positions: 4096, base: 1e4, layoutKey: "rope_interleave", traps: []string{"deepseek_v3_writes_half_split_pairs"}},
		{name: "deepseek_v32", latent: true, headDim: 64, noPEDim: 128, layers: 61, positions: 163840, base: 1e4, indexer: deepSeekIndexer, indexers: inEveryLayer, traps: []string{"deepseek_v3_writes_half_split_pairs", "indexers_rotate_otherwise"}},
		{name: "deepseek_ocr2_encoder", hidden: 4096, heads: 32, layers: 32, positions: 32768, base: 1e4},
		{name: "deepseek_ocr2_text", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4},
		{name: "unlimited_ocr_text", hidden: 1280, heads: 10, layers: 12, positions: 32768, base: 1e4},
	},
	holders: []holder{
		{name: "deepseek_vl", text: part{"text_config", "llama"}, anyText: true, tower: part{"vision_config", "siglip_vision_model"}},
		{name: "deepseek_vl_v2", text: part{"language_config", "deepseek_v2"}, anyText: true},
		{name: "janus", text: part{"text_config", "llama"}, anyText: true, tower: part{"vision_config", "janus_vision_model"}},
		{name: "deepseek_ocr2_vision", text: part{"encoder_config", "deepseek_ocr2_encoder"}},
		{name: "deepseek_ocr2", text: part{"text_config", "deepseek_ocr2_text"}},
		{name: "deepseek_vl_hybrid", text: part{"text_config", "llama"}, anyText: true, tower: part{"vision_config", "siglip_vision_model"}},
		{name: "unlimited_ocr", text: part{"text_config", "unlimited_ocr_text"}},
	},
	otherPositions: []positionsOf{
		{"janus_vision_model", learned},
	},
	architectures: []ggufArchitecture{
		{name: "deepseek", layout: normal},
		{name: "deepseek2", layout: normal, latent: true, logMultiplier: logMultiplierTenth, equalMScale: true, queryScale: scaledBeyondLength},
		{name: "deepseek2-ocr", layout: neoX, whole: true, plainBase: true},
		{name: "deepseek32", layout: normal, latent: true, logMultiplier: logMultiplierTenth, indexer: &ggufIndexer{layout: neoX}},
		{name: "deepseek4", layout: normal, compressed: true, indexer: &ggufIndexer{layout: normal, trailing: true}},
	},
}
