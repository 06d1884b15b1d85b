package models

import "github.com/go-posenc/posenc/modelconfig/internal/document"

var deepseekModels = Vendor{
	Types: []ModelType{
		{Name: "deepseek", Hidden: 4096, Heads: 32, Layers: 30, Positions: 2048, Base: 1e4},
		{Name: "deepseek_v4", Hidden: 4096, Heads: 64, HeadDim: 512, Layers: 43, Positions: 1048576, Part: 0.125, Trailing: true, Layout: interleaved, FlatBlock: true, Indexer: &indexer{Layout: interleaved, Trailing: true, Attention: "compress", Hadamard: true}, Plan: deepSeekV4Layers, Kinds: []KindDefaults{{LayerType: "compress", NeedsPart: true, Base: 160000, BlockBase: 1e4, BaseKeys: []string{"compress_rope_theta"}, Partial: 0.125, Scaled: true, AttentionFactor: 1}, {LayerType: "main", NeedsPart: true, Base: 1e4, BaseKeys: []string{"rope_theta"}, Partial: 0.125}}, Traps: []string{"deepseek_v4_rotates_the_tail", "indexers_rotate_otherwise"}},
		{Name: "deepseek_v41_text", Hidden: 7168, Heads: 128, HeadDim: 512, Layers: 61, Positions: 4096, Part: 0.125, Trailing: true, Layout: interleaved, FlatBlock: true, Indexer: &indexer{Layout: interleaved, Trailing: true, Attention: "compress"}, Plan: deepSeekV41Layers, Required: []string{"num_hidden_layers", "compress_ratios", "compress_rope_theta", "rope_theta"}, Kinds: []KindDefaults{{LayerType: "compress", BaseKeys: []string{"compress_rope_theta"}, Partial: 0.125, Scaled: true, AttentionFactor: 1}, {LayerType: "main", BaseKeys: []string{"rope_theta"}, Partial: 0.125}}, Traps: []string{"deepseek_v4_rotates_the_tail", "indexers_rotate_otherwise"}},
		{Name: "deepseek_v2", Latent: true, Hidden: 4096, Heads: 32, HeadDim: 64, NoPEDim: 128, Layers: 32, Positions: 2048, Base: 1e4, Layout: interleaved, Check: usesMLA, ScalingObject: true},
		{Name: "deepseek_v3", Latent: true, HeadDim: 64, NoPEDim: 128, Check: headOfRotaryPart, Layers: 61, Positions: 4096, Base: 1e4, LayoutKey: "rope_interleave", ScalingObject: true, Traps: []string{"deepseek_v3_writes_half_split_pairs"}},
		{Name: "deepseek_v32", Latent: true, HeadDim: 64, NoPEDim: 128, Layers: 61, Positions: 163840, Base: 1e4, Indexer: &indexer{Layout: halfSplit, LayoutKey: "indexer_rope_interleave", Hadamard: true}, Indexers: inEveryLayer, ScalingObject: true, Traps: []string{"deepseek_v3_writes_half_split_pairs", "indexers_rotate_otherwise"}},
		{Name: "deepseek_ocr2_encoder", Hidden: 4096, Heads: 32, Layers: 32, Positions: 32768, Base: 1e4},
		{Name: "deepseek_ocr2_text", Hidden: 4096, Heads: 32, Keys: computedHead, Layers: 32, Positions: 2048, Base: 1e4},
		{Name: "unlimited_ocr_text", Hidden: 1280, Heads: 10, Keys: computedHead, Layers: 12, Positions: 32768, Base: 1e4},
	},
	Towers: []ModelType{{Name: "deepseek_v41_vision", Hidden: 1024, Heads: 16, Arrangement: rowsThenColumns, Patches: rowByRow, Required: []string{"num_hidden_layers"}}},
	Holders: []Holder{
		{Name: "deepseek_v41", Flat: true, Text: Part{"text_config", "deepseek_v41_text"}, Tower: Part{"vision_config", "deepseek_v41_vision"}},
		{Name: "deepseek_vl", Also: []string{"deepseek_vl_hybrid"}, Text: Part{"text_config", "llama"}, AnyText: true, Tower: Part{"vision_config", "siglip_vision_model"}},
		{Name: "deepseek_vl_v2", Also: []string{"deepseek-ocr", "unlimited-ocr"}, Text: Part{"language_config", "deepseek_v2"}, AnyText: true, Rewrite: withoutLatent},
		{Name: "multi_modality", Text: Part{"language_config", "llama"}, AbsentText: `{}`},
		{Name: "janus", Text: Part{"text_config", "llama"}, AnyText: true, Tower: Part{"vision_config", "janus_vision_model"}},
		{Name: "deepseek_ocr2_vision", Text: Part{"encoder_config", "deepseek_ocr2_encoder"}},
		{Name: "deepseek_ocr2", Also: []string{"unlimited_ocr"}, Text: Part{"text_config", "*_text"}},
	},
	OtherPositions: []PositionsOf{{learned, []string{"janus_vision_model"}}},
	OtherTowers: []PositionsOf{
		{learned, []string{"deepseek_vl_v2", "deepseek-ocr", "unlimited-ocr", "unlimited_ocr", "multi_modality"}},
		{"one axis of positions: pass its vision_config to HuggingFace", []string{"deepseek_ocr2"}},
	},
	Architectures: []GGUFArchitecture{
		{Name: "deepseek", Layout: Normal},
		{Name: "deepseek2", Also: []string{"glm4moelite"}, Layout: Normal, Latent: true, LogMultiplier: 0.1, EqualMScale: true, QueryScale: ScaledBeyondLength},
		{Name: "deepseek2-ocr", Also: []string{"deepseekocr"}, Layout: NeoX, Whole: true, PlainBase: true},
		{Name: "deepseek32", Layout: Normal, Latent: true, LogMultiplier: 0.1, Indexer: &GGUFIndexer{Layout: NeoX}},
		{Name: "deepseek4", Layout: Normal, Compressed: true, Indexer: &GGUFIndexer{Layout: Normal, Trailing: true}},
	},
}

// withoutLatent: DeepSeek V2 without latent attention is the first DeepSeek. vLLM tells it by the parts of
// a head, SGLang by use_mla.
func withoutLatent(file, text *document.Reader) {
	latent, given := text.Boolean("use_mla")
	rotary, sized := text.Integer("qk_rope_head_dim")
	whole := sized && rotary == 0
	if modelType, ok := text.Text("model_type"); ok && modelType != "deepseek_v2" || !whole && (!given || latent) {
		return
	}
	text.FailIf(!whole || given && latent, document.ErrContradiction, "use_mla", latent, "%v, or another qk_rope_head_dim, by which some programs go", !latent)
	text.Keys = changed(text.Keys, document.Object{"model_type": "deepseek", "use_mla": nil, "qk_rope_head_dim": nil, "qk_nope_head_dim": nil})
}
