package models

var dotsModels = Vendor{
	Types: []ModelType{
		{Name: "dots_vlm", Latent: true, HeadDim: 64, NoPEDim: 128, Layers: 30, Positions: 2048, Base: 1e4, Layout: interleaved, Check: usesMLA},
		{Name: "dots1", Hidden: 4608, Heads: 32, Layers: 62, Positions: 2048, Base: 1e4},
		{Name: "dots3_note_audio_encoder", Hidden: 1280, Heads: 20, Keys: computedHead, Layers: 32, Positions: 6000, Base: 1e4, Part: 0.5},
		{Name: "dots3_note_text", Latent: true, HeadDim: 64, NoPEDim: 128, PartOfQ: true, Layers: 46, Positions: 524288, WholeDim: 256, Kinds: []KindDefaults{{LayerType: "indexed_attention", Base: 8e7, BaseKeys: []string{"rope_theta"}}, {LayerType: "full_attention", Base: 8e7, BaseKeys: []string{"rope_theta"}}, {LayerType: "sliding_attention", Base: 5e4, BlockBase: 8e7, BaseKeys: []string{"swa_rope_theta"}, HeadDimKey: "swa_qk_rope_head_dim", HeadDim: 64}}, Check: ropeBlockNotEmpty, Rewrite: ropeOfEach, Indexer: &indexer{Layout: interleavedToHalfSplit, Attention: "indexed_attention"}, Indexers: "indexed_attention", LayerTypes: &LayerTypesRule{Custom: dotsLayers}},
	},
	Towers: []ModelType{
		{Name: "dots3_note_vision_encoder", Hidden: 1536, Heads: 24, Layers: 42, Keys: &Spellings{Hidden: []string{"hidden_size", "embed_dim"}, Heads: []string{"num_attention_heads", "num_heads"}}, Arrangement: rowsThenColumns},
		{Name: "dots_vit", Hidden: 1536, Heads: 12, Layers: 42, Keys: &Spellings{Hidden: []string{"embed_dim"}}, Arrangement: rowsThenColumns, NoBaseKey: true, Traps: []string{"qwen2_vl_tower_has_embed_dim"}},
	},
	Holders: []Holder{
		{Name: "dots_vlm", Tower: Part{"vision_config", "dots_vit"}},
		{Name: "dots3_note", Flat: true, Text: Part{"text_config", "dots3_note_text"}, Tower: Part{"vision_config", "dots3_note_vision_encoder"}},
	},
	Architectures: []GGUFArchitecture{
		{Name: "dots1", Layout: NeoX},
		{Name: "dots3note", Layout: Normal, LatentPart: true, Sliding: &GGUFSliding{}, Indexer: &GGUFIndexer{Layout: NeoX, Typed: true}},
	},
}
