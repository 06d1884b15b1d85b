package modelconfig

import (
	_ "embed"
	"maps"
	"slices"
	"strconv"

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

	// baseUnread reports whether transformers 5 leaves a base beside the rope parameters unread
	// that transformers 4 read; nil: never.
	baseUnread func(r *reader) bool

	// scalingUnread reports the same of rope_scaling.
	scalingUnread func(r *reader) bool

	partial   float64 // default of partial_rotary_factor
	wholeHead bool    // the code rotates whole heads, whatever the key says
	rotaryDim int     // default of rotary_dim, for types that count elements
	countKey  string  // another name of rotary_dim
	trailing  bool    // the rotated elements are the last of the head
	latent    bool    // latent attention: the head is its rotary part, and YaRN scales the softmax too
	noPEDim   int     // latent: default of qk_nope_head_dim
	wholeDim  int     // latent: default of head_dim, where the class has one for all of Q's head

	layout    posenc.Layout
	layoutKey string // a key that is false where the layout is half-split

	plan      plan
	kinds     []kindDefaults // nil: all layers that rotate rotate alike
	listKey   string         // a list with an entry for each layer, by which lists makes kinds
	lists     func(r *reader, key string, f *family, layers []layer) []kindDefaults
	rewrite   func(r *reader, layers []layer) // brings keys into the usual form
	indexer   *indexer                        // of sparse attention
	flatBlock bool                            // a flat rope_parameters is read as rope_scaling is

	axes                func(sections []int) ([]uint8, error)
	sections            []int // default of mrope_section
	axisCount           int   // sections that there must be; 0: any number
	interleavedSections bool

	alpha             bool     // "dynamic" may have alpha (HunYuan)
	yarnIsLongRoPE    bool     // early files say yarn (Phi-3)
	originalPositions int      // default of original_max_position_embeddings beside the rope parameters
	extraKeys         []string // of the rope parameters
	unread            []string // keys that name positions and that the code does not read
	factorKey         string   // a factor beside the rope parameters, which rule reads
	absent            object   // the rope parameters of a configuration without any
	inverse           bool     // pairs turn the other way
	learned           string   // the tensor of weights by which frequencies are multiplied

	refusal string // why the type is not read, and what a caller can do

	check func(r *reader)              // other keys that decide
	rule  func(p *ropeParameters) rule // a rule of its own, or nil

	arrangement    arrangement // of the pairs of a vision tower
	patches        Patches     // of a vision tower
	queryScale     func(p *ropeParameters) *posenc.QueryScaling
	scalesRotating bool   // queryScale is of the layers that rotate, not of the others
	scalingTensor  string // of weights with scales of queries
}

// kindDefaults are the defaults of one kind of layer.
type kindDefaults struct {
	layerType       string
	base            float64
	blockBase       float64 // where the kind's own object leaves rope_theta out; 0: base
	fixedBase       float64 // base, whatever the keys say; 0: by the keys
	baseKeys        []string
	partial         float64
	headDimKey      string  // where heads of this kind have a width of their own
	headDim         int     // its default
	scaled          bool    // rope_scaling is about this kind
	unscaled        bool    // the rule of the rope parameters is not about this kind
	absent          object  // the rope parameters of a configuration without any
	attentionFactor float64 // default of attention_factor; 0: derived
}

// kindsOrOne returns the kinds of layers, or the only one.
func (f *family) kindsOrOne() []kindDefaults {
	if len(f.kinds) > 0 {
		return f.kinds
	}
	return []kindDefaults{{base: f.base, baseKeys: f.baseKeys, partial: f.partial, scaled: true}}
}

// spellings are the names of keys, the usual one first.
type spellings struct{ hidden, heads, headDim, layers, positions []string }

var (
	usual          = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	gpt            = &spellings{[]string{"n_embd", "hidden_size"}, []string{"n_head", "num_attention_heads"}, nil, []string{"n_layer", "num_hidden_layers"}, []string{"n_positions"}}
	nomic          = &spellings{[]string{"hidden_size", "n_embd"}, []string{"num_attention_heads", "n_head"}, []string{"head_dim"}, []string{"num_hidden_layers", "n_layer"}, []string{"max_trained_positions"}}
	dbrx           = &spellings{[]string{"d_model", "hidden_size"}, []string{"n_heads", "num_attention_heads"}, nil, []string{"n_layers", "num_hidden_layers"}, []string{"max_seq_len", "max_position_embeddings"}}
	falcon         = &spellings{[]string{"hidden_size", "n_embed"}, []string{"num_attention_heads", "n_head"}, nil, []string{"num_hidden_layers", "n_layer"}, []string{"max_position_embeddings"}}
	chatGLMs       = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"kv_channels"}, []string{"num_layers", "num_hidden_layers"}, []string{"seq_length"}}
	qwen1          = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"kv_channels"}, []string{"num_hidden_layers"}, []string{"seq_length"}}
	channels       = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"kv_channels", "head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	latent         = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"qk_rope_head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	glmLite        = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"qk_rope_head_dim", "head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	longcat        = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"qk_rope_head_dim"}, []string{"num_layers"}, []string{"max_position_embeddings"}}
	bailing        = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"qk_rope_head_dim"}, []string{"num_hidden_layers"}, []string{"model_max_length", "max_position_embeddings"}}
	zamba          = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"attention_head_dim", "head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	hunyuan        = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"head_dim", "attention_head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	moonshine      = &spellings{[]string{"hidden_size"}, []string{"decoder_num_attention_heads", "num_attention_heads"}, []string{"head_dim"}, []string{"decoder_num_hidden_layers", "num_hidden_layers"}, []string{"max_position_embeddings"}}
	voxtralEncoder = &spellings{[]string{"hidden_size", "d_model"}, []string{"num_attention_heads", "encoder_attention_heads"}, []string{"head_dim"}, []string{"num_hidden_layers", "encoder_layers"}, []string{"max_position_embeddings"}}
	exaone         = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"head_dim"}, []string{"num_layers", "num_hidden_layers"}, []string{"max_position_embeddings"}}
)

// decoder starts a family with the defaults of its configuration class: the
// whole head rotates, half-split, in every layer. The methods that follow
// change one thing each.
func decoder(hidden, heads, headDim, layers, positions int, base float64) family {
	return family{
		names: usual, hidden: hidden, heads: heads, headDim: headDim, layers: layers, positions: positions,
		base: base, baseKeys: []string{"rope_theta"}, layout: posenc.HalfSplit, partial: 1, wholeHead: true, plan: everyLayer,
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
func (f family) countedBy(key string) family       { f.countKey = key; return f }
func (f family) ignoring(keys ...string) family    { f.unread = keys; return f }
func (f family) ofWhole(headDim int) family        { f.wholeDim = headDim; return f }
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
func (f family) leavingBase(unread func(r *reader) bool) family { f.baseUnread = unread; return f }
func (f family) leavingScaling(unread func(r *reader) bool) family {
	f.scalingUnread = unread
	return f
}
func (f family) ruled(rule func(p *ropeParameters) rule) family { f.rule = rule; return f }

func (f family) phi3() family {
	f.yarnIsLongRoPE = true
	return f.partially(1).original(4096)
}

func (f family) hunyuan() family {
	f.alpha = true
	// Published files have these keys beside alpha, and the code does not read them.
	return f.called(hunyuan).allowing("beta_fast", "beta_slow", "mscale", "mscale_all_dim").checked(withoutMLA)
}

func (f family) by(key string, lists func(r *reader, key string, f *family, layers []layer) []kindDefaults) family {
	f.listKey, f.lists = key, lists
	return f
}
func (f family) refusing(does string) family                     { f.refusal = does; return f }
func (f family) turning() family                                 { f.inverse = true; return f }
func (f family) learning(tensor string) family                   { f.learned = tensor; return f }
func (f family) rewritten(rewrite func(*reader, []layer)) family { f.rewrite = rewrite; return f }
func (f family) scaledBy(tensor string) family                   { f.scalingTensor = tensor; return f }

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
	f := decoder(768, 12, 0, 22, 8192, 0).layered(typed(firstOf("global_attn_every_n_layers", 3))).with(globalLocal(160000, 10000, "global_rope_theta", "local_rope_theta")...).ignoring("position_embedding_type").leavingScaling(olderRopeType)
	f.kinds[1].scaled = true
	return f
}

// families are the model types, by model_type. Source: transformers 5.23
// (configuration_*.py, modeling_*.py); where it has no such type, the code
// published with the model and vLLM's.
var families = map[string]family{
	// Llama, and types whose layers rotate as Llama's do.
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
	"apertus":           decoder(4096, 32, 0, 32, 65536, 12e6).without(llama3Rope("8")).leavingBase(withoutRopeBlock),
	"cwm":               decoder(6144, 48, 128, 64, 131072, 1e6).without(llama3Rope("16")).leavingBase(withoutRopeBlock),
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
	"gpt_neox":          decoder(6144, 64, 0, 44, 2048, 1e4).partially(0.25).baseOf("rope_theta", "rotary_emb_base").leavingBase(withoutRotaryBase),
	"gpt_neox_japanese": decoder(2560, 32, 0, 32, 2048, 1e4).partially(1).baseOf("rope_theta", "rotary_emb_base").leavingBase(withoutRotaryBase),
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
	"lfm2":             decoder(2560, 32, 0, 32, 128000, 1e6).baseOf("rope_theta", "theta").leavingBase(withoutRopeTheta).layered(typed(indexed("full_attn_idxs", "conv", "full_attention"), "full_attention")),
	"lfm2_moe":         decoder(2048, 32, 0, 32, 128000, 1e6).baseOf("rope_theta", "theta").leavingBase(withoutRopeTheta).layered(typed(indexed("full_attn_idxs", "conv", "full_attention"), "full_attention")),
	"bamba":            decoder(4096, 32, 0, 32, 262144, 1e4).partially(0.5).countedBy("attn_rotary_emb").layered(typed(indexed("attn_layer_indices", "linear_attention", "linear_attention"), "full_attention")),
	"granitemoehybrid": decoder(4096, 32, 0, 32, 2048, 1e4).layered(typed(all("linear_attention"), "full_attention")).checked(positionType("rope", "nope")),
	"olmo_hybrid":      decoder(3840, 30, 0, 32, 65536, 1e4).layered(typed(lastOf("", 4, "linear_attention"), "full_attention")),
	"recurrent_gemma":  decoder(2560, 10, 0, 26, 8192, 1e4).partially(0.5).layered(typed(recurrentBlocks, "sliding_attention")),
	"zamba2":           decoder(2560, 32, 160, 54, 4096, 1e4).called(zamba).layered(typed(zambaLayers, "hybrid")).checked(zamba2),
	"minimax":          decoder(4096, 32, 0, 32, 131072, 1e6).partially(1).layered(typed(miniMaxLayers, "full_attention")),
	"minimax_text_01":  decoder(4096, 32, 128, 80, 131072, 1e4).partially(1).layered(typed(miniMaxLayers, "full_attention")),
	"minimax_m1":       decoder(4096, 32, 128, 80, 131072, 1e4).partially(1).layered(typed(miniMaxLayers, "full_attention")),

	// Kinds of layers with frequencies of their own.
	"gemma3_text":           decoder(2304, 8, 256, 26, 131072, 0).layered(typed(gemma3Layers)).with(globalLocal(1e6, 1e4, "rope_theta", "rope_local_base_freq")...).leavingScaling(olderRopeType),
	"gemma3n_text":          decoder(2048, 8, 256, 35, 32768, 0).layered(typed(lastOf("", 5, "sliding_attention"))).with(globalLocal(1e6, 1e4, "rope_theta", "rope_local_base_freq")...).leavingScaling(olderRopeType),
	"gemma4_text":           decoder(2304, 8, 256, 30, 131072, 0).layered(gemma4Layers).with(gemma4(gemma4Rope)...),
	"embedding_gemma2_text": decoder(512, 4, 256, 24, 262144, 0).layered(gemma4Layers).with(gemma4(nil)...),
	"olmo3":                 decoder(4096, 32, 0, 32, 2048, 0).layered(typed(lastOf("", 4, "sliding_attention"))).with(globalLocal(5e5, 5e5, "rope_theta", "rope_theta")...).leavingBase(always).leavingScaling(olderRopeType),
	"modernbert":            modernBERT(),
	"modernbert-decoder":    modernBERT(),
	"mimo_v2_flash": decoder(4096, 64, 192, 48, 131072, 0).partially(0.334).layered(typed(miMoLayers)).with(
		kindDefaults{layerType: "full_attention", base: 5e6, baseKeys: []string{"rope_theta"}, partial: 0.334, scaled: true},
		kindDefaults{layerType: "sliding_attention", base: 1e4, baseKeys: []string{"swa_rope_theta"}, partial: 0.334}).leavingBase(withoutRopeBlock),
	"laguna": decoder(2048, 48, 128, 40, 131072, 0).partially(1).layered(typed(all("full_attention"))).with(
		kindDefaults{layerType: "full_attention", base: 1e4, partial: 1, absent: object{"rope_theta": number("500000"), "partial_rotary_factor": number("0.5")}},
		kindDefaults{layerType: "sliding_attention", base: 1e4, partial: 1}),
	"deepseek_v4": decoder(4096, 64, 512, 43, 1048576, 0).partially(0.125).tail().interleaved().flat().indexed(deepSeekV4Indexer, deepSeekV4Layers).with(
		kindDefaults{layerType: "compress", base: 160000, blockBase: 1e4, baseKeys: []string{"compress_rope_theta"}, partial: 0.125, scaled: true, attentionFactor: 1},
		kindDefaults{layerType: "main", base: 1e4, baseKeys: []string{"rope_theta"}, partial: 0.125}),

	// Latent attention.
	"deepseek_v2":   mla(64, 128, 32, 2048, 1e4).laid(posenc.Interleaved).checked(usesMLA),
	"deepseek_v3":   mla(64, 128, 61, 4096, 1e4).laidBy("rope_interleave"),
	"deepseek_v32":  mla(64, 128, 61, 163840, 1e4).indexed(deepSeekIndexer, everyIndexer(everyLayer)),
	"kimi_k2":       mla(64, 128, 61, 4096, 1e4).laidBy("rope_interleave"),
	"glm4_moe_lite": mla(64, 192, 47, 202752, 1e4).called(glmLite).laidBy("rope_interleave"),
	"glm_moe_dsa":   mla(64, 192, 78, 202752, 1e4).indexed(glmIndexer, sharedIndexers(topKFrequency, everyLayer)),
	"longcat_flash": mla(64, 128, 28, 131072, 1e7).called(longcat).layered(longcatAttentions),
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

	// As Llama, with other defaults.
	"chameleon":               decoder(4096, 32, 0, 32, 4096, 1e4),
	"emu3_text_model":         decoder(4096, 32, 0, 32, 9216, 1e6),
	"esmc":                    decoder(2560, 40, 64, 80, 2048, 1e4),
	"evolla":                  decoder(4096, 32, 0, 32, 8192, 5e5),
	"EvollaModel":             decoder(4096, 32, 0, 32, 8192, 5e5), // another name of evolla in transformers
	"deepseek_ocr2_encoder":   decoder(4096, 32, 0, 32, 32768, 1e4),
	"deepseek_ocr2_text":      decoder(4096, 32, 0, 32, 2048, 1e4),
	"unlimited_ocr_text":      decoder(1280, 10, 0, 12, 32768, 1e4),
	"granite4_vision_text":    decoder(4096, 32, 0, 32, 2048, 1e4),
	"granite_docling_text":    decoder(1024, 16, 0, 28, 32768, 1e4),
	"higgs_audio_v2":          decoder(3072, 24, 128, 28, 2048, 1e4).without(higgsRope),
	"hrm_text":                decoder(1536, 12, 128, 16, 2048, 1e4).layered(hrmAttentions),
	"hyperclovax":             decoder(4096, 32, 0, 32, 2048, 1e4),
	"idefics":                 decoder(4096, 32, 0, 32, 2048, 1e4),
	"voxtral_realtime_text":   decoder(4096, 32, 128, 32, 131072, 1e4),
	"muse_glimmer_assistant":  decoder(6656, 32, 128, 5, 131072, 5e5),
	"t5_gemma_module":         decoder(2304, 8, 256, 26, 8192, 1e4),
	"csm_depth_decoder_model": decoder(1024, 8, 128, 4, 33, 5e5),

	// Models of sound, of time series and of proteins.
	"gradium_phonon_tts":               decoder(768, 12, 64, 6, 8192, 1e4),
	"pocket_tts":                       decoder(1024, 16, 64, 6, 8192, 1e4),
	"pocket_tts_audio_tokenizer":       decoder(512, 8, 64, 2, 8000, 1e4),
	"kyutai_speech_to_text":            decoder(2048, 32, 0, 48, 750, 1e4),
	"lasr_encoder":                     decoder(512, 8, 0, 17, 10000, 1e4),
	"mimi":                             decoder(512, 8, 64, 8, 8000, 1e4),
	"moshi":                            decoder(4096, 32, 0, 32, 3000, 1e4),
	"neucodec":                         decoder(1024, 16, 64, 12, 4096, 1e4),
	"xcodec2":                          decoder(1024, 16, 64, 12, 4096, 1e4),
	"timesfm2_5":                       decoder(1280, 16, 80, 20, 16384, 1e4),
	"dots3_note_audio_encoder":         decoder(1280, 20, 64, 32, 6000, 1e4).partially(0.5),
	"nemotron3_diarization_audio":      decoder(512, 8, 0, 31, 5000, 1e4).partially(1),
	"nemotron3_5_transcribe_asr_audio": decoder(1280, 10, 0, 32, 5000, 1e4).partially(1).without(partOf("0.5")),
	"pe_audio_encoder":                 decoder(1792, 14, 128, 6, 10000, 2e4).interleaved(),
	"pe_video_encoder":                 decoder(1792, 14, 128, 6, 10000, 2e4).interleaved(),
	"pe_audio_video_encoder":           decoder(1792, 14, 128, 6, 10000, 2e4).interleaved(),

	"dia_encoder":                           decoder(1024, 16, 128, 12, 1024, 1e4),
	"dia_decoder":                           decoder(2048, 16, 128, 18, 3072, 1e4),
	"glmasr_encoder":                        decoder(1280, 20, 0, 32, 1500, 1e4).partially(0.5),
	"mimi_encoder":                          decoder(512, 8, 64, 8, 8000, 1e4),
	"mimi_decoder":                          decoder(512, 8, 64, 8, 8000, 1e4),
	"moonshine":                             decoder(288, 8, 0, 6, 512, 1e4).called(moonshine).partially(0.9).interleaved(),
	"moonshine_streaming":                   decoder(320, 8, 0, 6, 4096, 1e4).partially(1).without(partOf("0.8")).interleaved(), // its encoder does not rotate
	"nemotron3_5_transcribe_word_timestamp": decoder(1280, 16, 0, 2, 5000, 1e4).partially(1).without(partOf("0.5")),
	"pocket_tts_audio_tokenizer_encoder":    decoder(512, 8, 64, 2, 8000, 1e4),
	"pocket_tts_audio_tokenizer_decoder":    decoder(512, 8, 64, 2, 8000, 1e4),
	"qwen3_omni_moe_talker_code_predictor":  decoder(1024, 16, 128, 5, 32768, 1e4),
	"voxtral_realtime_encoder":              decoder(1280, 32, 64, 32, 1500, 1e4).called(voxtralEncoder),

	// The parts of BLT, each with an object of its own in its configuration.
	"blt_global_transformer": decoder(2048, 16, 0, 25, 4096, 5e5).interleaved(),
	"blt_local_encoder":      decoder(1024, 16, 0, 1, 24576, 5e5).interleaved(),
	"blt_local_decoder":      decoder(1024, 16, 0, 9, 24576, 5e5).interleaved(),
	"blt_patcher":            decoder(768, 12, 0, 14, 8192, 1e4).interleaved(),

	// Other pairs, and pairs that turn the other way.
	"nanochat":              decoder(768, 6, 0, 12, 2048, 1e4).turning(),
	"openai_privacy_filter": decoder(640, 14, 64, 8, 131072, 150000).without(gptOSSRope).interleaved(),
	"cohere2_moe":           decoder(8192, 64, 128, 40, 8192, 1e4).interleaved().layered(cohereMoE).leavingScaling(always),

	// Layers that do not rotate.
	"flint":             decoder(2048, 32, 128, 49, 262144, 1e4).layered(typed(flintLayers, "sliding_attention")),
	"kolibri1":          decoder(2560, 48, 128, 50, 262144, 1e4).layered(typed(lastOf("", 5, "sliding_attention"), "sliding_attention")),
	"beam":              decoder(5120, 48, 128, 52, 8192, 0).layered(typed(lastOfSix, "sliding_attention")).with(kindDefaults{layerType: "sliding_attention", base: 1e4, partial: 1}, kindDefaults{layerType: "full_attention", base: 1e4, partial: 1}).checked(beamRope).scaled(false, scaledByPower),
	"granite_swa":       decoder(2560, 20, 0, 24, 8192, 1e4).by("layer_rope_theta", bases),
	"granitemoe_swa":    decoder(4096, 32, 0, 32, 2048, 1e4).by("layer_rope_theta", bases),
	"muse_glimmer_text": decoder(6656, 32, 128, 52, 131072, 1e4).layered(museLayers).by("layer_rope_theta", rotatingBases),
	"muse_spark_text":   decoder(8192, 128, 64, 62, 1048576, 1e4).without(object{"rope_theta": number("500000")}).layered(museLayers).by("layer_rope_theta", rotatingBases),

	// Kinds of layers with frequencies of their own.
	"gemma4_unified_text":  decoder(2304, 8, 256, 30, 262144, 0).layered(gemma4Layers).with(gemma4(gemma4Rope)...),
	"diffusion_gemma_text": decoder(2304, 8, 256, 30, 131072, 0).layered(gemma4Layers).with(gemma4(gemma4Rope)...),
	"t5gemma2_text":        decoder(2304, 8, 256, 26, 131072, 0).layered(typed(lastOf("sliding_window_pattern", 6, "sliding_attention"))).with(globalLocal(1e6, 1e4, "rope_theta", "rope_local_base_freq")...).leavingScaling(olderRopeType),
	"t5gemma2_decoder":     decoder(2304, 8, 256, 26, 131072, 0).layered(typed(lastOf("sliding_window_pattern", 6, "sliding_attention"))).with(globalLocal(1e6, 1e4, "rope_theta", "rope_local_base_freq")...).leavingScaling(olderRopeType),
	"ultrabert": decoder(4096, 32, 0, 32, 32768, 0).layered(typed(lastOf("", 3, "sliding_attention"))).with(
		kindDefaults{layerType: "full_attention", base: 2.56e6, blockBase: 1e4, partial: 1, scaled: true},
		kindDefaults{layerType: "sliding_attention", base: 1e4, partial: 1}),
	"mellum": decoder(2304, 32, 128, 28, 131072, 0).layered(typed(all("full_attention"))).with(globalLocal(5e5, 1e4, "", "")...),
	"neomme": decoder(1024, 16, 64, 17, 16384, 0).partially(1).layered(typed(neoMMELayers)).with(
		kindDefaults{layerType: "full_attention", base: 1e6, partial: 0.25},
		kindDefaults{layerType: "sliding_attention", base: 1e4, partial: 1}),
	"lfm3": decoder(2048, 16, 128, 24, 128000, 0).layered(typed(lfm3Layers, "full_attention", "sliding_attention")).with(
		kindDefaults{layerType: "full_attention", base: 1e6, partial: 1, absent: object{"rope_type": "proportional", "partial_rotary_factor": number("0.5")}},
		kindDefaults{layerType: "sliding_attention", base: 1e4, blockBase: 1e6, partial: 1}),
	"zaya": decoder(2048, 8, 128, 40, 131072, 0).partially(0.5).layered(typed(all("hybrid"))).with(
		kindDefaults{layerType: "hybrid", base: 5e6, partial: 1, absent: object{"partial_rotary_factor": number("0.5")}},
		kindDefaults{layerType: "hybrid_sliding", base: 1e4, partial: 1, absent: object{"partial_rotary_factor": number("0.5")}}),
	"step3p5": decoder(4096, 64, 128, 45, 128000, 0).partially(1).layered(typed(all("full_attention"))).with(
		kindDefaults{layerType: "full_attention", base: 1e4, baseKeys: []string{"rope_theta"}, partial: 1},
		kindDefaults{layerType: "sliding_attention", base: 1e4, baseKeys: []string{"rope_theta"}, partial: 1}).rewritten(stepLists),
	"molmo2_text": decoder(4096, 32, 128, 36, 36864, 1e4).by("rope_scaling_layers", scaledLayers),

	// Latent attention, with indexers and without.
	"axk1":                mla(64, 128, 61, 32768, 1e4).laidBy("rope_interleave"),
	"axk2":                mla(32, 64, 48, 131072, 1e4).indexed(axk2Indexer, everyIndexer(everyLayer)),
	"bailing_hybrid":      mla(64, 128, 42, 262144, 6e6).called(bailing).layered(typed(lastOf("layer_group_size", 6, "linear_attention"), "full_attention")),
	"hy_v4":               refusedType("has a layout on which implementations disagree: transformers rotates half-split pairs and llama.cpp interleaved ones, in the attention (the last qk_rope_head_dim elements of a head of Q) and in its indexers (also the last elements of a head): compare with the model's own output, and use posenc.RotaryConfig with the Layout that agrees"),
	"mistral_large4_text": mla(64, 64, 72, 1048576, 1e4).without(mistralLarge4Rope).learning("rotary_emb.alpha").scaledBy("softmax_scaling").indexed(mistralIndexer, sharedIndexers(topKFrequency, ropeFlags(4))),
	"dots3_note_text": mla(64, 128, 46, 524288, 0).ofWhole(256).with(
		kindDefaults{layerType: "indexed_attention", base: 8e7, baseKeys: []string{"rope_theta"}, partial: 1},
		kindDefaults{layerType: "full_attention", base: 8e7, baseKeys: []string{"rope_theta"}, partial: 1},
		kindDefaults{layerType: "sliding_attention", base: 5e4, blockBase: 8e7, baseKeys: []string{"swa_rope_theta"}, partial: 1, headDimKey: "swa_qk_rope_head_dim", headDim: 64}).
		checked(ropeBlockNotEmpty).
		indexed(dotsIndexer, typedIndexer("indexed_attention", typed(dotsLayers))),

	// Indexers beside other attention.
	"minimax_m3_vl_text": decoder(6144, 64, 128, 60, 524288, 5e6).counted(64).indexed(miniMaxIndexer, typedIndexer("minimax_m3_sparse", typed(miniMaxM3Layers))).checked(sparseAttention),
	"qwen4_exp_text":     decoder(2048, 16, 256, 40, 32768, 1e4).partially(1).interleavedAxes(11, 11, 10).indexed(qwenIndexer, typedIndexer("indexed_attention", typed(qwen4Layers, "indexed_attention"))).checked(qwenIndexers),

	"roformer": decoder(768, 12, 0, 12, 1536, 1e4).baseOf().interleaved().checked(roFormer),

	// Types that are not read, each with what can be done.
	"blt":                refusedType("holds four models, each with a base of its own: pass the object of one of them (patcher_config, encoder_config, decoder_config, global_config), which has a model_type of its own"),
	"lightglue":          refusedType("rotates by angles that a learned projection computes from the coordinates of points: compute their cosines and sines and rotate with posenc.NewRows"),
	"clvp_encoder":       refusedType("rotates the first elements of q, k and also v: use posenc.RotaryConfig with RotaryDim projection_dim/(2*num_attention_heads), at least 32, for all three"),
	"esmfold2":           refusedType("rotates the atoms of its atom_encoder by four axes of fractional positions: use posenc.RotaryConfig with the InvFreq and Axes of frequency.ESMFold2, and posenc.Rotary.CosSinFractional"),
	"qwen2_5_omni_dit":   refusedType("rotates only the first of its heads: use posenc.RotaryConfig with Layout Interleaved and a View of that head"),
	"seamless_m4t":       refusedType("rotates hidden states before the projections of q and k: use posenc.RotaryConfig with a View whose heads are hidden states"),
	"wav2vec2-bert":      refusedType("rotates hidden states before the projections of q and k if position_embeddings_type is rotary: use posenc.RotaryConfig with a View whose heads are hidden states"),
	"wav2vec2-conformer": refusedType("rotates hidden states before the projections of q and k if position_embeddings_type is rotary: use posenc.RotaryConfig with a View whose heads are hidden states"),

	// Positions of several axes.
	"cohere_compass_text": decoder(8192, 64, 0, 40, 8192, 0).interleavedAxes(24, 20, 20).layered(typed(all("full_attention"))).with(
		kindDefaults{layerType: "full_attention", base: 1e4, partial: 1},
		kindDefaults{layerType: "sliding_attention", base: 1e4, partial: 1}),
	"cosmos3_edge_text":          decoder(2048, 16, 128, 28, 131072, 1e8).without(object{"rope_theta": number("100000000")}).interleavedAxes(24, 20, 20),
	"glm_image_text":             decoder(4096, 32, 0, 40, 131072, 1e4).partially(1).sectioned(8, 12, 12),
	"qwen2_5_omni_talker":        decoder(3584, 28, 128, 28, 32768, 1e6).sectioned(16, 24, 24),
	"qwen3_omni_moe_talker_text": decoder(1024, 16, 0, 20, 32768, 1e4).interleavedAxes(24, 20, 20),
}

// refusedType is a type that is not read. does says what it does and what a caller can do.
func refusedType(does string) family { return decoder(0, 0, 0, 1, 1, 1e4).refusing(does) }

// wrapper is a model that holds several models. The caller asks for one of them.
type wrapper struct {
	key       string // of the model that the caller asks for
	innerType string // the model_type of that model if it does not give one
}

// textDefaults are the keys of a text model that a wrapper's class has instead of the defaults
// of the text model's own type. They are for files without a text model. For other wrappers
// such a file has the keys of the text model beside the absent object, or the defaults of
// innerType.
type textDefaults struct {
	keys   object
	merged bool // they also stand for each key that the file's text model leaves out
}

var absentModels = map[string]textDefaults{
	"fast_vlm":                {keys: textModelOf(3584, 28, 0, 28, 32768, 0)},
	"fun_asr_nano":            {keys: textModelOf(1024, 16, 0, 28, 40960, 0)},
	"glmasr":                  {keys: textModelOf(2048, 16, 0, 28, 8192, 0), merged: true},
	"got_ocr2":                {keys: textModelOf(1024, 16, 0, 24, 32768, 1e6)},
	"idefics2":                {keys: textModelOf(4096, 32, 0, 32, 32768, 0)},
	"lighton_ocr":             {keys: textModelOf(1024, 16, 128, 28, 40960, 1e6)},
	"mistral3":                {keys: textModelOf(5120, 32, 128, 40, 131072, 1e9)},
	"moss_transcribe_diarize": {keys: textModelOf(1024, 16, 0, 28, 131072, 1e6)},
	"musicflamingo":           {keys: object{}}, // the keys beside it rotate sounds by their time
	"paligemma":               {keys: textModelOf(2048, 8, 0, 18, 8192, 0)},
	"pe_audio":                {keys: textModelOf(1024, 16, 0, 22, 8192, 0), merged: true},
	"pe_audio_video":          {keys: textModelOf(1024, 16, 0, 22, 8192, 0), merged: true},
	"pe_video":                {keys: textModelOf(1024, 16, 0, 22, 8192, 0), merged: true},
	"pp_chart2table":          {keys: textModelOf(1024, 16, 0, 24, 32768, 1e6)},
	"qwen3_asr":               {keys: textModelOf(2048, 16, 128, 28, 65536, 0)},
	"voxtral":                 {keys: textModelOf(3072, 32, 128, 30, 131072, 1e8), merged: true},
	"voxtral_realtime":        {keys: textModelOf(3072, 32, 128, 26, 131072, 1e6), merged: true},
}

// textModelOf returns the keys of a text model. With 0 for the size of a head or the base, its
// type's own is meant.
func textModelOf(hidden, heads, headDim, layers, positions int, base float64) object {
	keys := object{
		"hidden_size": number(strconv.Itoa(hidden)), "num_attention_heads": number(strconv.Itoa(heads)),
		"num_hidden_layers": number(strconv.Itoa(layers)), "max_position_embeddings": number(strconv.Itoa(positions)),
	}
	if headDim != 0 {
		keys["head_dim"] = number(strconv.Itoa(headDim))
	}
	if base != 0 {
		keys["rope_theta"] = number(strconv.FormatFloat(base, 'f', -1, 64))
	}
	return keys
}

// completed returns the keys of a file's text model, and those that it leaves out.
func (d textDefaults) completed(inner object) object {
	if !d.merged {
		return inner
	}
	keys := object{}
	maps.Copy(keys, d.keys)
	maps.Copy(keys, inner)
	if rope, ok := inner["rope_parameters"].(object); ok && rope["rope_theta"] != nil && inner["rope_theta"] == nil {
		delete(keys, "rope_theta")
	}
	return keys
}

// anyTextModel are the wrappers whose text model is of the type that it gives. Classes of the
// others have one type, and read nothing of another.
var anyTextModel = map[string]bool{
	"audioflamingo3": true, "aya_vision": true, "blip-2": true, "cohere2_vision": true, "colmodernvbert": true, "colpali": true, "colqwen2": true,
	"cosmos3_omni": true, "deepseek_vl": true, "deepseek_vl_hybrid": true, "deepseek_vl_v2": true, "encoder-decoder": true, "exaone4_5": true,
	"fast_vlm": true, "florence2": true, "fun_asr_nano": true, "fuyu": true, "gemma4_assistant": true, "gemma4_unified_assistant": true, "glm46v": true,
	"glmasr": true, "glmga": true, "got_ocr2": true, "granite_speech": true, "granite_speech_plus": true, "grounding-dino": true,
	"hyperclovax_vision_v2": true, "idefics2": true, "idefics3": true, "instructblip": true, "instructblipvideo": true, "internvl": true,
	"internvl_chat": true, "janus": true, "jev": true, "kimi_k25": true, "kimi_vl": true, "lfm2_vl": true, "lfm3_vl": true, "lighton_ocr": true,
	"llava": true, "llava_next": true, "llava_next_video": true, "llava_onevision": true, "minicpm_ocr": true, "minicpmv4_6": true, "minicpmv4_7": true,
	"mistral3": true, "mm-grounding-dino": true, "modernvbert": true, "moss_transcribe_diarize": true, "musicflamingo": true, "nemo_speechlm": true,
	"nemotron3_5_asr": true, "nemotron_h_omni": true, "omdet-turbo": true, "ovis2": true, "paligemma": true, "pe_audio": true, "pe_audio_video": true,
	"pe_video": true, "perception_lm": true, "pi0": true, "pp_chart2table": true, "qianfan_ocr": true, "qwen2_audio": true, "qwen3_asr": true,
	"shieldgemma2": true, "smolvlm": true, "speech-encoder-decoder": true, "ultravbert": true, "vibevoice": true,
	"vibevoice_asr": true, "video_llama_3": true, "video_llava": true, "vipllava": true, "vision-encoder-decoder": true,
	"vision-text-dual-encoder": true, "voxtral": true, "voxtral_realtime": true,
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
	"cohere_compass": {"text_config", "cohere_compass_text"}, "cosmos3_edge": {"text_config", "cosmos3_edge_text"}, "cosmos3_omni": {"text_config", "qwen3_vl_text"},
	"deepseek_ocr2_vision": {"encoder_config", "deepseek_ocr2_encoder"}, "nemotron3_5_transcribe_audio": {"asr_config", "nemotron3_5_transcribe_asr_audio"},
	"nemotron3_diarization": {"audio_config", "nemotron3_diarization_audio"}, "qwen2_5_omni_token2wav": {"dit_config", "qwen2_5_omni_dit"},
	"lasr_ctc": {"encoder_config", "lasr_encoder"}, "pi0": {"vlm_config", "paligemma"},
	"clvp": {"text_config", "clvp_encoder"}, "dia": {"decoder_config", "dia_decoder"}, "t5gemma": {"decoder", "t5_gemma_module"},
	"deepseek_ocr2": {"text_config", "deepseek_ocr2_text"}, "deepseek_vl_hybrid": {"text_config", "llama"}, "diffusion_gemma": {"text_config", "diffusion_gemma_text"},
	"dots3_note": {"text_config", "dots3_note_text"}, "emu3": {"text_config", "emu3_text_model"}, "fun_asr_nano": {"text_config", "qwen3"},
	"gemma4_assistant": {"text_config", "gemma4_text"}, "gemma4_unified": {"text_config", "gemma4_unified_text"},
	"gemma4_unified_assistant": {"text_config", "gemma4_unified_text"}, "glm5_next": {"text_config", "glm5_next_text"}, "glm_image": {"text_config", "glm_image_text"},
	"glmasr": {"text_config", "llama"}, "glmga": {"text_config", "glm4v_text"}, "granite4_vision": {"text_config", "granite4_vision_text"},
	"granite_docling": {"text_config", "granite_docling_text"}, "granite_speech_plus": {"text_config", "granite"},
	"nemotron_asr_streaming": {"encoder_config", "nemotron_asr_streaming_encoder"}, "nemotron3_5_asr": {"encoder_config", "nemotron_asr_streaming_encoder"},
	"hyperclovax_vision_v2": {"text_config", "hyperclovax"}, "inkling_mm_model": {"text_config", "inkling_text"}, "inkling2": {"text_config", "inkling2_text"},
	"jev": {"text_config", "qwen3_5_text"}, "lfm3_vl": {"text_config", "lfm3"},
	"minicpm_ocr": {"text_config", "qwen3_5_text"}, "minicpmv4_6": {"text_config", "qwen3_5_text"}, "minicpmv4_7": {"text_config", "qwen3_5_text"},
	"minimax_m3_vl": {"text_config", "minimax_m3_vl_text"}, "mistral_large4": {"text_config", "mistral_large4_text"}, "molmo2": {"text_config", "molmo2_text"},
	"moss_transcribe_diarize": {"text_config", "qwen3"}, "muse_glimmer": {"text_config", "muse_glimmer_text"}, "muse_spark": {"text_config", "muse_spark_text"},
	"musicflamingo": {"text_config", "qwen2"}, "nemo_speechlm": {"text_config", "nemotron_h"}, "nemotron_h_omni": {"text_config", "nemotron_h"},
	"pe_audio": {"text_config", "modernbert"}, "pe_video": {"text_config", "modernbert"}, "pe_audio_video": {"text_config", "modernbert"},
	"pp_chart2table": {"text_config", "qwen2"}, "qianfan_ocr": {"text_config", "qwen3"}, "qwen3_asr": {"text_config", "qwen3"}, "qwen4_exp": {"text_config", "qwen4_exp_text"},
	"step3p7": {"text_config", "step3p5"}, "t5gemma2": {"decoder", "t5gemma2_decoder"}, "t5gemma2_encoder": {"text_config", "t5gemma2_text"},
	"ultravbert": {"text_config", "ultrabert"}, "unlimited_ocr": {"text_config", "unlimited_ocr_text"},
	"qwen3_omni_moe_talker": {"text_config", "qwen3_omni_moe_talker_text"},
	"vibevoice":             {"text_config", "qwen2"}, "vibevoice_asr": {"text_config", "qwen2"}, "video_llama_3": {"text_config", "qwen2"}, "voxtral_realtime": {"text_config", "voxtral_realtime_text"},
	// Text models that mostly do not rotate. Some files have another text model that does (InstructBLIP with Vicuna).
	"blip-2": {"text_config", "opt"}, "instructblip": {"text_config", "opt"}, "instructblipvideo": {"text_config", "opt"}, "encoder-decoder": {"decoder", "bert"},
	"speech-encoder-decoder": {"decoder", "bert"}, "vision-encoder-decoder": {"decoder", "bert"}, "vision-text-dual-encoder": {"text_config", "bert"},
	"grounding-dino": {"text_config", "bert"}, "mm-grounding-dino": {"text_config", "bert"}, "omdet-turbo": {"text_config", "clip_text_model"}, "florence2": {"text_config", "bart"},
	"aimv2": {"text_config", "aimv2_text_model"}, "align": {"text_config", "align_text_model"}, "altclip": {"text_config", "altclip_text_model"},
	"blip": {"text_config", "blip_text_model"}, "bridgetower": {"text_config", "bridgetower_text_model"}, "canary": {"decoder_config", "canary_decoder"},
	"chinese_clip": {"text_config", "chinese_clip_text_model"}, "clap": {"text_config", "clap_text_model"}, "clip": {"text_config", "clip_text_model"},
	"clipseg": {"text_config", "clipseg_text_model"}, "flava": {"text_config", "flava_text_model"}, "groupvit": {"text_config", "groupvit_text_model"},
	"kosmos-2": {"text_config", "kosmos_2_text_model"}, "kosmos-2.5": {"text_config", "kosmos_2_5_text_model"}, "metaclip_2": {"text_config", "metaclip_2_text_model"},
	"musicgen": {"decoder", "musicgen_decoder"}, "musicgen_melody": {"decoder", "musicgen_melody_decoder"}, "owlv2": {"text_config", "owlv2_text_model"},
	"owlvit": {"text_config", "owlvit_text_model"}, "pix2struct": {"text_config", "pix2struct_text_model"}, "pp_formulanet": {"text_config", "pp_formulanet_text"},
	"siglip": {"text_config", "siglip_text_model"}, "siglip2": {"text_config", "siglip2_text_model"}, "tipsv2": {"text_config", "tipsv2_text_model"},
	"videoprism": {"text_config", "videoprism_text_model"}, "xclip": {"text_config", "xclip_text_model"},
}

// The other kinds of positions.
const (
	learned     = "learned absolute positions"
	sinusoidal  = "fixed sinusoidal positions"
	aliBi       = "ALiBi, a bias of the attention scores"
	relative    = "relative positions, a bias of the attention scores"
	noPositions = "none"
)

// unrotated lists the model types of transformers, one in a line, whose code rotates nothing and
// which hold no type that does. testdata/transformers/survey.py writes it.
//
//go:embed unrotated.txt
var unrotated string

// notRotary are model types whose positions are of another kind.
var notRotary = map[string]string{
	"gpt2": learned, "gpt_neo": learned, "gpt_bigcode": learned, "openai-gpt": learned, "opt": learned, "biogpt": learned, "xglm": sinusoidal,
	"bert": learned, "roberta": learned, "camembert": learned, "distilbert": learned, "albert": learned, "electra": learned,
	"bart": learned, "mbart": learned, "nougat": learned, "blenderbot": learned, "m2m_100": sinusoidal, "marian": sinusoidal, "pegasus": sinusoidal,
	"clip_vision_model": learned, "siglip_vision_model": learned, "siglip2_vision_model": learned, "idefics2_vision": learned, "idefics3_vision": learned,
	"smolvlm_vision": learned, "internvl_vision": learned, "intern_vit_6b": learned, "mllama_vision_model": learned, "janus_vision_model": learned, "ovis2_vision": learned,
	"hunyuan_vl_vision": learned, "got_ocr2_vision": relative, "pp_chart2table_vision": relative, "layoutxlm": learned, "gemma3n_vision": noPositions,
	"whisper": learned, "vit": learned, "longformer": learned, "big_bird": learned, "ctrl": sinusoidal,
	"mpnet": relative, "t5": relative, "mt5": relative, "umt5": relative, "longt5": relative, "switch_transformers": relative, "deberta": relative,
	"deberta-v2": relative, "xlnet": relative, "bloom": aliBi, "mpt": aliBi, "jais": aliBi,
	"aimv2_text_model": learned, "align_text_model": learned, "altclip_text_model": learned, "blip_text_model": learned, "bridgetower_text_model": learned, "canary_decoder": sinusoidal,
	"chinese_clip_text_model": learned, "clap_text_model": learned, "clip_text_model": learned, "clipseg_text_model": learned, "flava_text_model": learned, "groupvit_text_model": learned,
	"kosmos_2_text_model": sinusoidal, "kosmos_2_5_text_model": sinusoidal, "metaclip_2_text_model": learned, "musicgen_decoder": sinusoidal, "musicgen_melody_decoder": sinusoidal,
	"owlv2_text_model": learned, "owlvit_text_model": learned, "pix2struct_text_model": relative, "pp_formulanet_text": learned, "sam3_lite_text_text_model": learned,
	"siglip_text_model": learned, "siglip2_text_model": learned, "tipsv2_text_model": sinusoidal, "videoprism_text_model": sinusoidal, "xclip_text_model": learned,
	"clvp_decoder": learned, "moshi_depth": noPositions, "nemotron_asr_streaming_encoder": relative, "seamless_m4t_v2": relative,
	"phi4_multimodal_audio": relative, "inkling2_text": relative, "kimi_linear": noPositions, "glm5_next_text": noPositions, "inkling_text": relative, "jamba": noPositions, "nemotron_h": noPositions, "mamba": noPositions, "mamba2": noPositions, "falcon_mamba": noPositions, "rwkv": noPositions, "xlstm": noPositions, "zamba": noPositions,
}
