package modelconfig

import (
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
)

// family is what the code of a model type does that its configuration does not
// say, and what an absent key means.
type family struct {
	names                                     *spellings
	hidden, heads, headDim, layers, positions int // defaults; headDim 0: hidden by heads
	base                                      float64
	baseKeys                                  []string // spellings of the base beside the rope parameters
	baseRatio                                 string   // a key that multiplies the base

	partial   float64 // default of partial_rotary_factor
	wholeHead bool    // the code rotates whole heads, whatever the key says
	rotaryDim int     // default of rotary_dim, for types that count elements
	trailing  bool    // the rotated elements are the last of the head
	latent    bool    // latent attention: the head is its rotary part, and YaRN scales the softmax too
	noPEDim   int     // latent: default of qk_nope_head_dim

	layout    posenc.Layout
	layoutKey string // a key that is false where the layout is half-split

	plan      plan
	kinds     []kindDefaults // nil: all layers that rotate rotate alike
	flatBlock bool           // a flat rope_parameters is read as rope_scaling is

	axes                func(sections []int) ([]uint8, error)
	sections            []int // default of mrope_section
	axisCount           int   // sections that there must be; 0: any number
	interleavedSections bool

	alpha             bool     // "dynamic" may have alpha (HunYuan)
	yarnIsLongRoPE    bool     // early files say yarn (Phi-3)
	originalPositions int      // default of original_max_position_embeddings beside the rope parameters
	extraKeys         []string // of the rope parameters
	factorKey         string   // a factor beside the rope parameters, which rule reads
	absent            object   // the rope parameters of a configuration without any

	check func(r *reader)              // other keys that decide
	rule  func(p *ropeParameters) rule // a rule of its own, or nil

	arrangement    arrangement // of the pairs of a vision tower
	queryScale     func(p *ropeParameters) *posenc.QueryScaling
	scalesRotating bool // queryScale is of the layers that rotate, not of the others
}

// kindDefaults are those of one kind of layer.
type kindDefaults struct {
	layerType       string
	base            float64
	baseKeys        []string
	partial         float64
	headDimKey      string  // where heads of this kind have a width of their own
	headDim         int     // its default
	scaled          bool    // rope_scaling is about this kind
	absent          object  // the rope parameters of a configuration without any
	attentionFactor float64 // default of attention_factor; 0: derived
}

// kindsOrOne are the kinds of layers, or the one that all layers are.
func (f *family) kindsOrOne() []kindDefaults {
	if len(f.kinds) > 0 {
		return f.kinds
	}
	return []kindDefaults{{base: f.base, baseKeys: f.baseKeys, partial: f.partial, scaled: true}}
}

// spellings are the names of keys, the usual one first.
type spellings struct{ hidden, heads, headDim, layers, positions []string }

var (
	usual    = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	gpt      = &spellings{[]string{"n_embd", "hidden_size"}, []string{"n_head", "num_attention_heads"}, nil, []string{"n_layer", "num_hidden_layers"}, []string{"n_positions"}}
	nomic    = &spellings{[]string{"hidden_size", "n_embd"}, []string{"num_attention_heads", "n_head"}, []string{"head_dim"}, []string{"num_hidden_layers", "n_layer"}, []string{"max_trained_positions"}}
	dbrx     = &spellings{[]string{"d_model", "hidden_size"}, []string{"n_heads", "num_attention_heads"}, nil, []string{"n_layers", "num_hidden_layers"}, []string{"max_seq_len"}}
	falcon   = &spellings{[]string{"hidden_size", "n_embed"}, []string{"num_attention_heads", "n_head"}, nil, []string{"num_hidden_layers", "n_layer"}, []string{"max_position_embeddings"}}
	chatGLMs = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"kv_channels"}, []string{"num_layers", "num_hidden_layers"}, []string{"seq_length"}}
	qwen1    = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"kv_channels"}, []string{"num_hidden_layers"}, []string{"seq_length"}}
	channels = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"kv_channels"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	latent   = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"qk_rope_head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	longcat  = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"qk_rope_head_dim"}, []string{"num_layers"}, []string{"max_position_embeddings"}}
	zamba    = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"attention_head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	hunyuan  = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"head_dim", "attention_head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	exaone   = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"head_dim"}, []string{"num_layers", "num_hidden_layers"}, []string{"max_position_embeddings"}}
)

// decoder starts a family with the defaults of its configuration class: the
// whole head rotates, half-split, in every layer. The methods that follow
// change one thing each.
func decoder(hidden, heads, headDim, layers, positions int, base float64) family {
	return family{
		names: usual, hidden: hidden, heads: heads, headDim: headDim, layers: layers, positions: positions,
		base: base, baseKeys: []string{"rope_theta"}, partial: 1, wholeHead: true, plan: everyLayer,
	}
}

// mla starts a family of latent attention. rope and nope are the defaults of
// qk_rope_head_dim and qk_nope_head_dim.
func mla(rope, nope, layers, positions int, base float64) family {
	f := decoder(0, 0, rope, layers, positions, base)
	f.names, f.latent, f.noPEDim, f.layout = latent, true, nope, posenc.InterleavedToHalfSplit
	return f
}

func (f family) called(s *spellings) family        { f.names = s; return f }
func (f family) baseOf(keys ...string) family      { f.baseKeys = keys; return f }
func (f family) baseTimes(key string) family       { f.baseRatio = key; return f }
func (f family) partially(factor float64) family   { f.partial, f.wholeHead = factor, false; return f }
func (f family) counted(rotaryDim int) family      { f.rotaryDim, f.wholeHead = rotaryDim, false; return f }
func (f family) tail() family                      { f.trailing = true; return f }
func (f family) laid(l posenc.Layout) family       { f.layout = l; return f }
func (f family) interleaved() family               { f.layout = posenc.Interleaved; return f }
func (f family) laidBy(key string) family          { f.layoutKey = key; return f }
func (f family) layered(p plan) family             { f.plan = p; return f }
func (f family) with(kinds ...kindDefaults) family { f.kinds = kinds; return f }
func (f family) flat() family                      { f.flatBlock = true; return f }
func (f family) allowing(keys ...string) family {
	f.extraKeys = append(slices.Clone(f.extraKeys), keys...)
	return f
}
func (f family) factorBeside(key string) family   { f.factorKey = key; return f }
func (f family) original(positions int) family    { f.originalPositions = positions; return f }
func (f family) without(rope object) family       { f.absent = rope; return f }
func (f family) checked(c func(r *reader)) family { f.check = c; return f }
func (f family) scaled(rotating bool, scale func(p *ropeParameters) *posenc.QueryScaling) family {
	f.queryScale, f.scalesRotating = scale, rotating
	return f
}
func (f family) ruled(rule func(p *ropeParameters) rule) family { f.rule = rule; return f }

func (f family) phi3() family {
	f.yarnIsLongRoPE = true
	return f.partially(1).original(4096)
}

func (f family) hunyuan() family {
	f.alpha = true
	// They accompany alpha in published files, where the code does not read them.
	return f.called(hunyuan).allowing("beta_fast", "beta_slow", "mscale", "mscale_all_dim").checked(withoutMLA)
}

// The three ways of M-RoPE, with their default sections.

func (f family) sectioned(sections ...int) family {
	f.axes, f.sections, f.axisCount = func(s []int) ([]uint8, error) { return frequency.Sections(s...) }, sections, 3
	return f.allowing("mrope_section")
}

func (f family) interleavedAxes(sections ...int) family {
	f.axes, f.sections, f.axisCount = func(s []int) ([]uint8, error) {
		return frequency.InterleavedSections(frequency.ImageSections{Time: s[0], Height: s[1], Width: s[2]})
	}, sections, 3
	f.interleavedSections = true
	return f.allowing("mrope_section", "mrope_interleaved", "interleaved")
}

func (f family) alternating(sections ...int) family {
	f.axes, f.sections, f.axisCount = func(s []int) ([]uint8, error) {
		return frequency.AlternatingSections(frequency.ImageSections{Time: s[2], Height: s[0], Width: s[1]})
	}, sections, 3
	return f.allowing("mrope_section")
}

func (f family) xd() family {
	f = f.sectioned().allowing("xdrope_section")
	f.axisCount = 0
	return f
}

// globalLocal are the two kinds of Gemma 3 and its like: rope_scaling is about
// the global layers only.
func globalLocal(global, local float64, globalKey, localKey string) []kindDefaults {
	return []kindDefaults{
		{layerType: "full_attention", base: global, baseKeys: []string{globalKey}, partial: 1, scaled: true},
		{layerType: "sliding_attention", base: local, baseKeys: []string{localKey}, partial: 1},
	}
}

// gemma4 are the kinds of Gemma 4: global layers have wider heads.
func gemma4(global object) []kindDefaults {
	return []kindDefaults{
		{layerType: "full_attention", base: 1e6, partial: 1, headDim: 512, headDimKey: "global_head_dim", scaled: true, absent: global},
		{layerType: "sliding_attention", base: 1e4, partial: 1},
	}
}

func modernBERT() family {
	f := decoder(768, 12, 0, 22, 8192, 0).layered(typed(firstOf("global_attn_every_n_layers", 3))).with(globalLocal(160000, 10000, "global_rope_theta", "local_rope_theta")...)
	f.kinds[1].scaled = true
	return f
}

// families are the model types, by model_type. Source: transformers 5.23
// (configuration_*.py, modeling_*.py); where it has no such type, the code
// published with the model and vLLM's.
var families = map[string]family{
	// Llama and types whose layers rotate like its.
	"llama":             decoder(4096, 32, 0, 32, 2048, 1e4),
	"mistral":           decoder(4096, 32, 0, 32, 131072, 1e4),
	"mixtral":           decoder(4096, 32, 0, 32, 131072, 1e6),
	"ministral":         decoder(4096, 32, 0, 32, 131072, 1e4),
	"ministral3":        decoder(4096, 32, 128, 34, 262144, 1e4).allowing("llama_4_scaling_beta", "max_position_embeddings").without(ministral3Rope).scaled(true, scaledByBeta),
	"qwen2":             decoder(4096, 32, 0, 32, 32768, 1e4),
	"qwen2_moe":         decoder(2048, 16, 0, 24, 32768, 1e4),
	"qwen3":             decoder(4096, 32, 128, 32, 32768, 1e4),
	"qwen3_moe":         decoder(2048, 32, 0, 24, 32768, 1e4),
	"mimo":              decoder(4096, 32, 0, 32, 32768, 1e4),
	"gemma":             decoder(3072, 16, 256, 28, 8192, 1e4),
	"gemma2":            decoder(2304, 8, 256, 26, 8192, 1e4),
	"vaultgemma":        decoder(2304, 8, 256, 26, 8192, 1e4),
	"olmo":              decoder(4096, 32, 0, 32, 2048, 1e4),
	"olmo2":             decoder(4096, 32, 0, 32, 2048, 1e4),
	"olmoe":             decoder(2048, 16, 0, 16, 4096, 1e4),
	"flex_olmo":         decoder(4096, 32, 0, 32, 4096, 5e5),
	"granite":           decoder(4096, 32, 0, 32, 2048, 1e4),
	"granitemoe":        decoder(4096, 32, 0, 32, 2048, 1e4),
	"granitemoeshared":  decoder(4096, 32, 0, 32, 2048, 1e4),
	"starcoder2":        decoder(3072, 24, 0, 30, 4096, 1e4),
	"gpt_oss":           decoder(2880, 64, 64, 36, 131072, 150000).without(gptOSSRope),
	"apertus":           decoder(4096, 32, 0, 32, 65536, 12e6).without(llama3Rope("8")),
	"cwm":               decoder(6144, 48, 128, 64, 131072, 1e6).without(llama3Rope("16")),
	"seed_oss":          decoder(4096, 80, 128, 64, 524288, 1e4),
	"dots1":             decoder(4608, 32, 0, 62, 2048, 1e4),
	"arcee":             decoder(2560, 32, 0, 32, 4096, 1e4),
	"bitnet":            decoder(2560, 20, 0, 30, 2048, 5e5),
	"diffllama":         decoder(2048, 32, 0, 16, 2048, 1e4),
	"doge":              decoder(1024, 8, 0, 32, 2048, 1e4),
	"csm":               decoder(2048, 32, 0, 16, 2048, 5e5),
	"hy_v3":             decoder(4096, 64, 128, 80, 131072, 11158840),
	"jais2":             decoder(3328, 26, 0, 32, 8192, 1e4),
	"internlm3":         decoder(4096, 32, 128, 48, 32768, 1e4),
	"iquestcoder":       decoder(5120, 40, 128, 80, 131072, 1e4),
	"aria_text":         decoder(4096, 32, 0, 32, 2048, 1e4),
	"jetmoe":            decoder(2048, 0, 128, 12, 4096, 1e4).called(channels),
	"dbrx":              decoder(2048, 16, 0, 24, 2048, 1e4).called(dbrx).baseOf("rope_theta", "attn_config.rope_theta"),
	"falcon":            decoder(4544, 71, 0, 32, 2048, 1e4).called(falcon),
	"RefinedWebModel":   decoder(64, 8, 0, 2, 2048, 1e4).called(falcon),
	"RefinedWeb":        decoder(64, 8, 0, 2, 2048, 1e4).called(falcon),
	"falcon_h1":         decoder(4096, 32, 0, 32, 8192, 1e4),
	"phimoe":            decoder(4096, 32, 0, 32, 131072, 1e6).allowing("short_mscale", "long_mscale"),
	"mllama_text_model": decoder(4096, 32, 0, 40, 131072, 5e5).layered(mllamaLayers),
	"internlm2":         decoder(4096, 32, 0, 32, 2048, 1e4),
	"deepseek":          decoder(4096, 32, 0, 30, 2048, 1e4),
	"minicpm":           decoder(4096, 32, 0, 32, 2048, 1e4),
	"orion":             decoder(4096, 32, 0, 32, 4096, 1e4),
	"xverse":            decoder(4096, 32, 0, 32, 2048, 0).checked(namedBase),
	"Yi":                decoder(4096, 32, 0, 32, 4096, 5e6),
	"baichuan":          decoder(4096, 32, 0, 32, 4096, 1e4).checked(baichuan7B),
	"exaone":            decoder(4096, 32, 0, 32, 2048, 1e4).called(exaone),
	"hunyuan_v1_dense":  decoder(4096, 32, 0, 32, 2048, 1e4).hunyuan(),
	"hunyuan_v1_moe":    decoder(4096, 32, 0, 32, 2048, 1e4).hunyuan(),
	"hunyuan":           decoder(4096, 32, 0, 32, 2048, 1e4).hunyuan(),

	// Partial rotation.
	"phi":               decoder(2048, 32, 0, 24, 2048, 1e4).partially(0.5),
	"phi3":              decoder(3072, 32, 0, 32, 4096, 1e4).phi3(),
	"phi3_v":            decoder(3072, 32, 0, 32, 4096, 1e4).phi3(),
	"phi4_multimodal":   decoder(3072, 32, 0, 32, 131072, 1e4).phi3(),
	"phi4mm":            decoder(3072, 32, 0, 32, 131072, 1e4).phi3(),
	"gpt_neox":          decoder(6144, 64, 0, 44, 2048, 1e4).partially(0.25).baseOf("rope_theta", "rotary_emb_base"),
	"gpt_neox_japanese": decoder(2560, 32, 0, 32, 2048, 1e4).partially(1).baseOf("rope_theta", "rotary_emb_base"),
	"stablelm":          decoder(2560, 32, 0, 32, 4096, 1e4).partially(0.25),
	"stablelm_epoch":    decoder(2560, 32, 0, 32, 4096, 1e4).partially(0.25),
	"persimmon":         decoder(4096, 64, 0, 36, 16384, 1e4).partially(0.5),
	"nemotron":          decoder(6144, 48, 0, 32, 4096, 1e4).partially(0.5),
	"glm4_moe":          decoder(4096, 96, 0, 46, 131072, 1e4).partially(0.5),
	"minimax_m2":        decoder(3072, 48, 128, 62, 196608, 5e6).partially(1),
	"bailing_moe":       decoder(2048, 16, 0, 28, 32768, 6e5).partially(1), // Ling: defaults of Ling-lite-1.5
	"solar_open":        decoder(4096, 64, 128, 48, 131072, 1e6).partially(1),
	"qwen":              decoder(4096, 32, 128, 32, 8192, 1e4).called(qwen1).partially(1).baseOf("rotary_emb_base").ruled(qwenDynamicNTK),

	// Interleaved pairs.
	"gptj":         decoder(4096, 16, 0, 28, 2048, 1e4).called(gpt).counted(64).baseOf().interleaved().checked(unscaled),
	"codegen":      decoder(4096, 16, 0, 28, 2048, 1e4).called(gpt).counted(64).baseOf().interleaved().checked(unscaled),
	"cohere":       decoder(8192, 64, 0, 40, 8192, 5e5).interleaved(),
	"glm":          decoder(4096, 32, 128, 40, 131072, 1e4).partially(0.5).interleaved(),
	"glm4":         decoder(4096, 32, 128, 40, 131072, 1e4).partially(0.5).interleaved(),
	"chatglm":      decoder(4096, 32, 128, 28, 2048, 1e4).called(chatGLMs).partially(0.5).baseOf().baseTimes("rope_ratio").interleaved().laidBy("original_rope").checked(chatGLM),
	"helium":       decoder(2560, 20, 128, 24, 4096, 1e5).interleaved(),
	"ernie4_5":     decoder(1024, 16, 128, 18, 131072, 5e5).interleaved(),
	"ernie4_5_moe": decoder(2560, 20, 0, 28, 131072, 5e5).interleaved(),

	// Layers that do not rotate.
	"llama4_text":      decoder(5120, 40, 128, 48, 131072, 5e5).interleaved().layered(ropeFlags(4)).scaled(false, scaledWithoutRotation),
	"smollm3":          decoder(2048, 16, 0, 36, 32768, 2e6).layered(ropeFlags(4)),
	"cohere2":          decoder(8192, 64, 0, 40, 8192, 1e4).interleaved().layered(typed(lastOf("sliding_window_pattern", 4, "sliding_attention"), "sliding_attention")).checked(slidingWindow),
	"exaone4":          decoder(4096, 32, 0, 32, 2048, 1e4).layered(exaone4Layers),
	"exaone_moe":       decoder(4096, 32, 0, 32, 2048, 1e4).layered(exaone4Layers),
	"afmoe":            decoder(2048, 16, 128, 32, 16384, 1e4).layered(typed(lastOf("global_attn_every_n_layers", 4, "sliding_attention"), "sliding_attention")),
	"qwen3_next":       decoder(2048, 16, 256, 48, 32768, 1e4).partially(0.25).layered(typed(lastOf("full_attention_interval", 4, "linear_attention"), "full_attention")),
	"lfm2":             decoder(2560, 32, 0, 32, 128000, 1e6).layered(typed(indexed("full_attn_idxs", "conv", "full_attention"), "full_attention")),
	"lfm2_moe":         decoder(2048, 32, 0, 32, 128000, 1e6).layered(typed(indexed("full_attn_idxs", "conv", "full_attention"), "full_attention")),
	"bamba":            decoder(4096, 32, 0, 32, 262144, 1e4).partially(0.5).layered(typed(indexed("attn_layer_indices", "linear_attention", "linear_attention"), "full_attention")),
	"granitemoehybrid": decoder(4096, 32, 0, 32, 2048, 1e4).layered(typed(all("linear_attention"), "full_attention")).checked(positionType("rope", "nope")),
	"olmo_hybrid":      decoder(3840, 30, 0, 32, 65536, 1e4).layered(typed(lastOf("", 4, "linear_attention"), "full_attention")),
	"recurrent_gemma":  decoder(2560, 10, 0, 26, 8192, 1e4).partially(0.5).layered(typed(recurrentBlocks, "sliding_attention")),
	"zamba2":           decoder(2560, 32, 160, 54, 4096, 1e4).called(zamba).layered(typed(zambaLayers, "hybrid")).checked(zamba2),
	"minimax":          decoder(4096, 32, 0, 32, 131072, 1e6).partially(1).layered(typed(miniMaxLayers, "full_attention")),
	"minimax_text_01":  decoder(4096, 32, 128, 80, 131072, 1e4).partially(1).layered(typed(miniMaxLayers, "full_attention")),
	"minimax_m1":       decoder(4096, 32, 128, 80, 131072, 1e4).partially(1).layered(typed(miniMaxLayers, "full_attention")),

	// Kinds of layers with frequencies of their own.
	"gemma3_text":           decoder(2304, 8, 256, 26, 131072, 0).layered(typed(gemma3Layers)).with(globalLocal(1e6, 1e4, "rope_theta", "rope_local_base_freq")...),
	"gemma3n_text":          decoder(2048, 8, 256, 35, 32768, 0).layered(typed(lastOf("", 5, "sliding_attention"))).with(globalLocal(1e6, 1e4, "rope_theta", "rope_local_base_freq")...),
	"gemma4_text":           decoder(2304, 8, 256, 30, 131072, 0).layered(gemma4Layers).with(gemma4(gemma4Rope)...),
	"embedding_gemma2_text": decoder(512, 4, 256, 24, 262144, 0).layered(gemma4Layers).with(gemma4(nil)...),
	"olmo3":                 decoder(4096, 32, 0, 32, 2048, 0).layered(typed(lastOf("", 4, "sliding_attention"))).with(globalLocal(5e5, 5e5, "rope_theta", "rope_theta")...),
	"modernbert":            modernBERT(),
	"modernbert-decoder":    modernBERT(),
	"mimo_v2_flash": decoder(4096, 64, 192, 48, 131072, 0).partially(0.334).layered(typed(miMoLayers)).with(
		kindDefaults{layerType: "full_attention", base: 5e6, baseKeys: []string{"rope_theta"}, partial: 0.334, scaled: true},
		kindDefaults{layerType: "sliding_attention", base: 1e4, baseKeys: []string{"swa_rope_theta"}, partial: 0.334}),
	"laguna": decoder(2048, 48, 128, 40, 131072, 0).partially(1).layered(typed(all("full_attention"))).with(
		kindDefaults{layerType: "full_attention", base: 1e4, partial: 1, absent: object{"rope_theta": number("500000"), "partial_rotary_factor": number("0.5")}},
		kindDefaults{layerType: "sliding_attention", base: 1e4, partial: 1}),
	"deepseek_v4": decoder(4096, 64, 512, 43, 1048576, 0).partially(0.125).tail().interleaved().flat().layered(deepSeekV4Layers).with(
		kindDefaults{layerType: "compress", base: 160000, baseKeys: []string{"compress_rope_theta"}, partial: 0.125, scaled: true, attentionFactor: 1},
		kindDefaults{layerType: "main", base: 1e4, baseKeys: []string{"rope_theta"}, partial: 0.125}),

	// Latent attention.
	"deepseek_v2":   mla(64, 128, 32, 2048, 1e4).laid(posenc.Interleaved).checked(usesMLA),
	"deepseek_v3":   mla(64, 128, 61, 4096, 1e4).laidBy("rope_interleave"),
	"deepseek_v32":  mla(64, 128, 61, 163840, 1e4),
	"kimi_k2":       mla(64, 128, 61, 4096, 1e4).laidBy("rope_interleave"),
	"glm4_moe_lite": mla(64, 192, 47, 202752, 1e4).laidBy("rope_interleave"),
	"glm_moe_dsa":   mla(64, 192, 78, 202752, 1e4),
	"longcat_flash": mla(64, 128, 28, 131072, 1e7).called(longcat),
	"mistral4":      mla(64, 64, 36, 1048576, 1e4).laidBy("rope_interleave").allowing("llama_4_scaling_beta", "max_position_embeddings").without(mistral4Rope).scaled(true, scaledByBeta),
	"youtu":         mla(64, 128, 32, 131072, 1e4).laidBy("rope_interleave"),
	"minicpm3":      mla(32, 64, 62, 32768, 1e4).laid(posenc.HalfSplit),

	// Positions of several axes.
	"qwen2_vl_text":        decoder(8192, 64, 0, 80, 32768, 1e6).sectioned(16, 24, 24),
	"qwen2_5_vl_text":      decoder(8192, 64, 0, 80, 32768, 1e6).sectioned(16, 24, 24),
	"qwen2_5_omni_text":    decoder(3584, 28, 0, 28, 32768, 1e6).sectioned(16, 24, 24),
	"paddleocr_vl_text":    decoder(1024, 16, 128, 18, 131072, 5e5).sectioned(16, 24, 24),
	"glm4v_text":           decoder(4096, 32, 0, 40, 32768, 1e4).partially(1).interleaved().sectioned(8, 12, 12),
	"glm_ocr_text":         decoder(1024, 16, 0, 16, 131072, 1e4).partially(1).interleaved().sectioned(8, 12, 12),
	"glm4v_moe_text":       decoder(4096, 96, 0, 46, 65536, 1e4).partially(0.5).sectioned(8, 12, 12),
	"qwen3_vl_text":        decoder(4096, 32, 128, 32, 128000, 5e5).interleavedAxes(24, 20, 20),
	"qwen3_vl_moe_text":    decoder(2048, 16, 0, 24, 128000, 5e5).interleavedAxes(24, 20, 20),
	"qwen3_omni_moe_text":  decoder(2048, 28, 0, 28, 32768, 1e6).interleavedAxes(24, 20, 20),
	"qwen3_5_text":         decoder(4096, 16, 256, 32, 32768, 1e4).partially(0.25).interleavedAxes(11, 11, 10).layered(typed(lastOf("full_attention_interval", 4, "linear_attention"), "full_attention")),
	"qwen3_5_moe_text":     decoder(2048, 16, 256, 40, 32768, 1e4).partially(0.25).interleavedAxes(11, 11, 10).layered(typed(lastOf("full_attention_interval", 4, "linear_attention"), "full_attention")),
	"ernie4_5_vl_moe_text": decoder(2560, 20, 0, 28, 131072, 5e5).interleaved().alternating(22, 22, 20),
	"ernie4_5_moe_vl":      decoder(2560, 20, 0, 28, 131072, 5e5).interleaved().alternating(22, 22, 20).checked(ernieAxes),
	"hunyuan_vl_text":      decoder(4096, 32, 0, 32, 2048, 1e4).hunyuan().xd(),

	// Encoders.
	"nomic_bert":               decoder(768, 12, 0, 12, 2048, 1e3).called(nomic).partially(1).baseOf("rope_theta", "rotary_emb_base").laidBy("rotary_emb_interleaved").factorBeside("rotary_scaling_factor").ruled(nomicDynamicNTK),
	"new":                      decoder(768, 12, 0, 12, 2048, 1e4).checked(positionType("rope", "rope")),
	"gte":                      decoder(768, 12, 0, 12, 8192, 160000).checked(positionType("rope", "rope")),
	"jina_embeddings_v3":       decoder(1024, 16, 0, 24, 8194, 2e4).baseOf("rope_theta", "rotary_emb_base"),
	"xlm-roberta":              decoder(1024, 16, 0, 24, 8194, 1e4).baseOf("rope_theta", "rotary_emb_base").checked(positionType("rotary", "absolute")),
	"llama_bidirec":            decoder(4096, 32, 0, 32, 2048, 1e4),
	"bidirectional_pplx_qwen3": decoder(4096, 32, 128, 32, 32768, 1e4),
	"eurobert":                 decoder(768, 12, 0, 12, 8192, 1e4),
	"esm":                      decoder(768, 12, 0, 12, 1026, 1e4).checked(positionType("rotary", "absolute")),
}

// wrapper is a model of several models, of which one is asked for.
type wrapper struct {
	key       string // of the model that is asked for
	innerType string // its model_type, where it does not say
}

// wrappers are the model types that hold a text model.
var wrappers = map[string]wrapper{
	"llava": {"text_config", "llama"}, "llava_next": {"text_config", "llama"}, "llava_next_video": {"text_config", "llama"},
	"llava_onevision": {"text_config", "qwen2"}, "vipllava": {"text_config", "llama"}, "video_llava": {"text_config", "llama"},
	"paligemma": {"text_config", "gemma"}, "gemma3": {"text_config", "gemma3_text"}, "gemma3n": {"text_config", "gemma3n_text"},
	"gemma4": {"text_config", "gemma4_text"}, "embedding_gemma2": {"text_config", "embedding_gemma2_text"},
	"shieldgemma2": {"text_config", "gemma3_text"}, "llama4": {"text_config", "llama4_text"}, "mllama": {"text_config", "mllama_text_model"},
	"mistral3": {"text_config", "mistral"}, "qwen2_vl": {"text_config", "qwen2_vl_text"}, "qwen2_5_vl": {"text_config", "qwen2_5_vl_text"},
	"qwen3_vl": {"text_config", "qwen3_vl_text"}, "qwen3_vl_moe": {"text_config", "qwen3_vl_moe_text"},
	"qwen3_5": {"text_config", "qwen3_5_text"}, "qwen3_5_moe": {"text_config", "qwen3_5_moe_text"},
	"qwen2_5_omni": {"thinker_config", "qwen2_5_omni_thinker"}, "qwen2_5_omni_thinker": {"text_config", "qwen2_5_omni_text"},
	"qwen3_omni_moe": {"thinker_config", "qwen3_omni_moe_thinker"}, "qwen3_omni_moe_thinker": {"text_config", "qwen3_omni_moe_text"},
	"qwen2_audio": {"text_config", "qwen2"}, "audioflamingo3": {"text_config", "qwen2"}, "voxtral": {"text_config", "llama"},
	"granite_speech": {"text_config", "granite"}, "idefics2": {"text_config", "mistral"}, "idefics3": {"text_config", "llama"},
	"smolvlm": {"text_config", "llama"}, "aya_vision": {"text_config", "cohere2"}, "cohere2_vision": {"text_config", "cohere2"},
	"aria": {"text_config", "aria_text"}, "internvl": {"text_config", "qwen2"}, "internvl_chat": {"llm_config", "internlm2"},
	"glm4v": {"text_config", "glm4v_text"}, "glm46v": {"text_config", "glm4v_text"}, "glm4v_moe": {"text_config", "glm4v_moe_text"},
	"glm_ocr": {"text_config", "glm_ocr_text"}, "ernie4_5_vl_moe": {"text_config", "ernie4_5_vl_moe_text"},
	"deepseek_vl": {"text_config", "llama"}, "deepseek_vl_v2": {"language_config", "deepseek_v2"}, "janus": {"text_config", "llama"},
	"kimi_k25": {"text_config", "deepseek_v3"}, "kimi_vl": {"text_config", "deepseek_v3"}, "lfm2_vl": {"text_config", "lfm2"},
	"ovis2": {"text_config", "qwen2"}, "got_ocr2": {"text_config", "qwen2"}, "fast_vlm": {"text_config", "qwen2"},
	"perception_lm": {"text_config", "llama"}, "fuyu": {"text_config", "persimmon"}, "hunyuan_vl": {"text_config", "hunyuan_vl_text"},
	"paddleocr_vl": {"text_config", "paddleocr_vl_text"}, "lighton_ocr": {"text_config", "qwen3"},
	"colqwen2": {"vlm_config", "qwen2_vl"}, "colpali": {"vlm_config", "paligemma"}, "colmodernvbert": {"vlm_config", "modernvbert"},
	"modernvbert": {"text_config", "modernbert"}, "exaone4_5": {"text_config", "exaone4"},
}

// What the other positions are.
const (
	learned     = "learned absolute positions"
	sinusoidal  = "fixed sinusoidal positions"
	aliBi       = "ALiBi, a bias of the attention scores"
	relative    = "relative positions, a bias of the attention scores"
	noPositions = "none"
)

// notRotary are model types whose positions are of another kind.
var notRotary = map[string]string{
	"gpt2": learned, "gpt_neo": learned, "gpt_bigcode": learned, "openai-gpt": learned, "opt": learned, "biogpt": learned, "xglm": sinusoidal,
	"bert": learned, "roberta": learned, "camembert": learned, "distilbert": learned, "albert": learned, "electra": learned,
	"bart": learned, "mbart": learned, "blenderbot": learned, "m2m_100": sinusoidal, "marian": sinusoidal, "pegasus": sinusoidal,
	"clip_vision_model": learned, "siglip_vision_model": learned, "siglip2_vision_model": learned, "idefics2_vision": learned, "idefics3_vision": learned,
	"smolvlm_vision": learned, "internvl_vision": learned, "intern_vit_6b": learned, "mllama_vision_model": learned, "janus_vision_model": learned, "ovis2_vision": learned,
	"hunyuan_vl_vision": learned, "got_ocr2_vision": relative, "gemma3n_vision": noPositions,
	"whisper": learned, "vit": learned, "clip": learned, "siglip": learned, "longformer": learned, "big_bird": learned, "ctrl": sinusoidal,
	"mpnet": relative, "t5": relative, "mt5": relative, "umt5": relative, "longt5": relative, "switch_transformers": relative, "deberta": relative,
	"deberta-v2": relative, "xlnet": relative, "bloom": aliBi, "mpt": aliBi, "jais": aliBi,
	"jamba": noPositions, "nemotron_h": noPositions, "mamba": noPositions, "mamba2": noPositions, "falcon_mamba": noPositions, "rwkv": noPositions, "xlstm": noPositions, "zamba": noPositions,
}
