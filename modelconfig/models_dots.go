package modelconfig

var dotsModels = vendor{
	types: []modelType{
		{name: "dots1", hidden: 4608, heads: 32, layers: 62, positions: 2048, base: 1e4},
		{name: "dots3_note_audio_encoder", hidden: 1280, heads: 20, headDim: 64, layers: 32, positions: 6000, base: 1e4, part: 0.5},
		{name: "dots3_note_text", latent: true, headDim: 64, noPEDim: 128, layers: 46, positions: 524288, wholeDim: 256, kinds: []kindDefaults{
			{layerType: "indexed_attention", base: 8e7, baseKeys: []string{"rope_theta"}, partial: 1},
			{layerType: "full_attention", base: 8e7, baseKeys: []string{"rope_theta"}, partial: 1},
			{layerType: "sliding_attention", base: 5e4, blockBase: 8e7, baseKeys: []string{"swa_rope_theta"}, partial: 1, headDimKey: "swa_qk_rope_head_dim", headDim: 64},
		}, check: ropeBlockNotEmpty, indexer: dotsIndexer, indexerType: "indexed_attention", layerTypes: &layerTypesRule{custom: dotsLayers}},
	},
	towers: []modelType{
		{name: "dots3_note_vision_encoder", hidden: 1536, heads: 24, layers: 42, arrangement: rowsThenColumns},
	},
	holders: []holder{
		{name: "dots3_note", text: part{"text_config", "dots3_note_text"}, tower: part{"vision_config", "dots3_note_vision_encoder"}},
	},
	architectures: []ggufArchitecture{
		{name: "dots1", layout: neoX},
		{name: "dots3note", layout: normal, latentPart: true, sliding: &ggufSliding{}, indexer: &ggufIndexer{layout: neoX, typed: true}},
	},
}
