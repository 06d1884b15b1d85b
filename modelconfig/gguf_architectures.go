package modelconfig

import "github.com/go-posenc/posenc"

// ggufArchitecture is what llama.cpp knows about an architecture and a GGUF file does not
// say. The zero value of a field is the usual case.
type ggufArchitecture struct {
	layout posenc.Layout // llama.cpp's rope type: NORM is Interleaved, NEOX HalfSplit
	axes   ggufAxes      // MROPE and IMROPE, whose layout is HalfSplit

	whole      bool // all elements of a head rotate
	latent     bool // multi-head latent attention, whose scores YaRN scales
	latentPart bool // multi-head latent attention with plain scores
	halfOfFull bool // layers without a window rotate half of dimension_count

	freqs    bool // rope_freqs.weight
	longRoPE bool // rope_factors_short.weight and rope_factors_long.weight, where rope.scaling.type is longrope
	anyType  bool // or anything else

	betaFast      float64 // default of yarn_beta_fast; 0: 32
	logMultiplier logMultiplier
	equalMScale   bool // yarn_log_multiplier stands for mscale, too
	alpha         bool // rope.scaling.alpha

	queryScale ggufQueryScale
	indexer    *ggufIndexer // of sparse attention

	plainBase  bool // freq_base 10000 and no scaling, whatever the keys say
	compressed bool // layers of a compressed sequence have a base of their own, and alone are scaled; the last elements of a head rotate
	drafts     bool // of other models, of DeepSeek V4 too, which are not read
	draft      bool // all layers predict further tokens: nextn_predict_layers is block_count

	sliding           *ggufSliding
	nope              ggufNoPE
	attentionInterval int  // default of full_attention_interval, where other layers are recurrent
	rotaryLayers      int  // the one block_count that rotates; 0: any
	finetuned         bool // rope.scaling.finetuned false means that no layer rotates
}

// ggufIndexer is how the indexer of an architecture rotates, by the frequencies of the
// attention: heads have attention.indexer.key_length elements.
type ggufIndexer struct {
	layout   posenc.Layout
	trailing bool // the rotated elements are the last of a head
	typed    bool // attention.indexer.types says which layers have one; else all that attend to everything
}

type ggufAxes uint8

const (
	oneAxis         ggufAxes = iota
	sectionedAxes            // MROPE
	interleavedAxes          // IMROPE
	optionalAxes             // MROPE where the file has sections
)

type logMultiplier uint8

const (
	logMultiplierUnread logMultiplier = iota
	logMultiplierTenth                // the file has mscale_all_dim/10
	logMultiplierPlain                // the file has mscale_all_dim
)

// ggufNoPE says which layers rotate.
type ggufNoPE uint8

const (
	allRotate         ggufNoPE = iota
	byPattern                  // attention.rope_pattern, where it is there
	byRequiredPattern          // attention.rope_pattern
	onlySliding
	denseAndSliding             // the leading dense layers and those of a window
	exceptLastOfFour            // layers 3, 7, 11... do not rotate
	exceptLastOfFourIfWindowed  // the same in models with a window
	exceptFirstOfFourIfWindowed // layers 0, 4, 8... do not rotate
)

func (n ggufNoPE) readsPattern() bool { return n == byPattern || n == byRequiredPattern }

// ggufSliding says which layers have a sliding window, and what they rotate by.
type ggufSliding struct {
	window     ggufWindow
	layers     int  // the one number of layers that has windows; 0: any
	period     int  // default of sliding_window_pattern: every period-th layer has no window; 0: the key must be there
	denseFirst bool // it is the first of each period, else the last

	base     float64 // default of freq_base_swa, which goes with factor 1; 0: freq_base and its scaling
	plain    bool    // no scaling
	unscaled bool    // factor 1, with the attention factor
	sameBase bool    // freq_base_swa is not read, freq_base counts
	sameDim  bool    // llama.cpp takes the rotated elements of layer 0 for all layers
}

type ggufWindow uint8

const (
	windowAlways     ggufWindow = iota
	windowIfGiven               // where sliding_window is there and not 0
	windowUnlessZero            // where sliding_window is not 0
)

const (
	normal = posenc.Interleaved
	neoX   = posenc.HalfSplit
)

// ggufNotRotary are the architectures of llama.cpp whose layers do not rotate.
var ggufNotRotary = map[string]string{
	"bert": learned, "bloom": aliBi, "glm5-next": noPositions, "glm5next": noPositions, "gpt2": learned, "jais": aliBi, "jamba": noPositions, "jina-bert-v2": aliBi, "kimi-k3": noPositions,
	"kimi-linear": noPositions, "mamba": noPositions, "mamba2": noPositions, "mpt": aliBi, "nemotron_h": noPositions,
	"nemotron_h_moe": noPositions, "refact": aliBi, "rwkv6": noPositions, "rwkv6qwen2": noPositions, "rwkv7": noPositions,
	"arwkv7": noPositions, "starcoder": learned, "t5": relative, "t5encoder": relative, "wavtokenizer-dec": noPositions,
}

// ggufRefused are architectures that are not read, each with the reason and what can be
// done.
var ggufRefused = map[string]string{
	"clip":  "the architecture of a text model: files of this one hold a vision tower and a projector; read the tower from the model's config.json with HuggingFaceVision",
	"gptj":  "an architecture that llama.cpp implements: it knows only the name of this one (set posenc.RotaryConfig with Layout Interleaved and RotaryDim 64)",
	"hy_v4": "another architecture: for this one llama.cpp rotates interleaved pairs and transformers half-split pairs; compare with the model's own output and set posenc.RotaryConfig with the Layout that agrees",
}

// ggufArchitectures are the rotary architectures, by general.architecture. Source: llama.cpp of
// autumn 2026 (llama_model_rope_type and the files of src/models).
var ggufArchitectures = map[string]ggufArchitecture{
	// Architectures that have only a layout of their own.
	"arctic": {layout: normal}, "bailingmoe": {layout: normal}, "chameleon": {layout: normal}, "chatglm": {layout: normal},
	"command-r": {layout: normal}, "deepseek": {layout: normal}, "ernie4_5": {layout: normal}, "ernie4_5-moe": {layout: normal},
	"internlm2": {layout: normal}, "llada": {layout: normal}, "maincoder": {layout: normal}, "neo-bert": {layout: normal},
	"olmo": {layout: normal}, "xverse": {layout: normal},
	"bailingmoe2": {layout: neoX}, "bitnet": {layout: neoX}, "codeshell": {layout: neoX}, "dbrx": {layout: neoX},
	"dots1": {layout: neoX}, "dream": {layout: neoX}, "eurobert": {layout: neoX},
	"falcon-h1": {layout: neoX}, "gemma": {layout: neoX}, "gptneox": {layout: neoX}, "grovemoe": {layout: neoX},
	"hunyuan-moe": {layout: neoX}, "hy_v3": {layout: neoX}, "jais2": {layout: neoX},
	"jina-bert-v3": {layout: neoX}, "lfm2": {layout: neoX}, "lfm2moe": {layout: neoX}, "llada-moe": {layout: neoX},
	"minimax-m2": {layout: neoX}, "minimax-m3": {layout: neoX}, "nemotron": {layout: neoX}, "nomic-bert": {layout: neoX},
	"nomic-bert-moe": {layout: neoX}, "olmoe": {layout: neoX}, "openelm": {layout: neoX}, "orion": {layout: neoX},
	"pangu-embedded": {layout: neoX}, "phi2": {layout: neoX}, "plamo2": {layout: neoX}, "qwen": {layout: neoX}, "qwen2": {layout: neoX},
	"qwen2moe": {layout: neoX}, "qwen3": {layout: neoX}, "qwen3moe": {layout: neoX}, "rnd1": {layout: neoX}, "seed_oss": {layout: neoX},
	"stablelm": {layout: neoX}, "starcoder2": {layout: neoX}, "talkie": {layout: neoX},

	"afmoe":            {layout: neoX, sliding: &ggufSliding{window: windowIfGiven, period: 4}, nope: exceptLastOfFour},
	"apertus":          {layout: neoX, freqs: true, longRoPE: true},
	"arcee":            {layout: normal, freqs: true},
	"axk2":             {layout: normal, latent: true, logMultiplier: logMultiplierTenth, indexer: &ggufIndexer{layout: neoX}},
	"baichuan":         {layout: normal, rotaryLayers: 32},
	"clef":             {layout: neoX, axes: interleavedAxes, attentionInterval: 4},
	"bailingmoe3":      {layout: normal, latentPart: true, axes: optionalAxes},
	"cohere2":          {layout: normal, sliding: &ggufSliding{period: 4, sameBase: true}, nope: onlySliding},
	"cohere2moe":       {layout: normal, sliding: &ggufSliding{period: 4, denseFirst: true, sameBase: true}, nope: denseAndSliding},
	"deci":             {layout: normal, whole: true, freqs: true, longRoPE: true},
	"deepseek2":        {layout: normal, latent: true, logMultiplier: logMultiplierTenth, equalMScale: true, queryScale: scaledBeyondLength},
	"cogvlm":           {layout: neoX, whole: true, plainBase: true},
	"deepseek2-ocr":    {layout: neoX, whole: true, plainBase: true},
	"deepseek32":       {layout: normal, latent: true, logMultiplier: logMultiplierTenth, indexer: &ggufIndexer{layout: neoX}},
	"deepseek4":        {layout: normal, compressed: true, indexer: &ggufIndexer{layout: normal, trailing: true}},
	"dflash":           {layout: neoX, axes: optionalAxes, drafts: true, freqs: true},
	"dots3note":        {layout: normal, latentPart: true, sliding: &ggufSliding{}, indexer: &ggufIndexer{layout: neoX, typed: true}},
	"eagle3":           {layout: normal, freqs: true},
	"gemma4-assistant": {layout: neoX, freqs: true, draft: true, sliding: &ggufSliding{base: 10000}},
	"granite_swa":      {layout: normal, whole: true, freqs: true, longRoPE: true, sliding: &ggufSliding{sameBase: true}, nope: byPattern},
	"graniteswitch":    {layout: normal, whole: true, finetuned: true},
	"hrm_text":         {layout: neoX},
	"kolibri":          {layout: neoX, sliding: &ggufSliding{}, nope: byRequiredPattern},
	"kolibri1":         {layout: neoX, sliding: &ggufSliding{period: 5, sameBase: true}, nope: onlySliding},
	"maple":            {layout: neoX, sliding: &ggufSliding{}, nope: onlySliding},
	"muse-glimmer":     {layout: normal, sliding: &ggufSliding{period: 4, unscaled: true}, nope: onlySliding},
	"pockettts":        {layout: normal},
	"qwen3tts":         {layout: neoX, axes: interleavedAxes},
	"qwen4exp":         {layout: neoX, axes: interleavedAxes, attentionInterval: 4, indexer: &ggufIndexer{layout: neoX}},
	"spark2_5":         {layout: neoX, sliding: &ggufSliding{}},
	"exaone":           {layout: neoX, freqs: true},
	"exaone-moe":       {layout: neoX, freqs: true, sliding: &ggufSliding{period: 4, sameBase: true}, nope: onlySliding},
	"exaone4":          {layout: neoX, freqs: true, sliding: &ggufSliding{layers: 64, period: 4, sameBase: true}, nope: onlySliding},
	"falcon":           {layout: neoX, whole: true},
	"gemma-embedding":  {layout: neoX, sliding: &ggufSliding{period: 6, base: 10000, sameDim: true}},
	"gemma2":           {layout: neoX, sliding: &ggufSliding{period: 2, sameDim: true}},
	"gemma3":           {layout: neoX, sliding: &ggufSliding{window: windowIfGiven, period: 6, base: 10000, sameDim: true}},
	"gemma3n":          {layout: neoX, sliding: &ggufSliding{period: 5, base: 10000, sameDim: true}},
	"gemma4":           {layout: neoX, freqs: true, sliding: &ggufSliding{base: 10000}},
	"glm-dsa":          {layout: normal, latent: true, indexer: &ggufIndexer{layout: normal, typed: true}},
	"glm4":             {layout: normal, axes: optionalAxes},
	"glm4moe":          {layout: neoX, axes: optionalAxes},
	"gpt-oss":          {layout: neoX, sliding: &ggufSliding{period: 2}},
	"granite":          {layout: normal, freqs: true, longRoPE: true, finetuned: true},
	"granitehybrid":    {layout: normal, freqs: true, finetuned: true},
	"granitemoe":       {layout: normal, freqs: true, longRoPE: true, finetuned: true},
	"grok":             {layout: neoX, betaFast: 8},
	"hunyuan-dense":    {layout: neoX, alpha: true},
	"hunyuan_vl":       {layout: neoX, axes: optionalAxes, alpha: true},
	"laguna":           {layout: neoX, sliding: &ggufSliding{window: windowIfGiven, period: 4, denseFirst: true, plain: true}},
	"llama":            {layout: normal, whole: true, freqs: true, longRoPE: true},
	"llama-embed":      {layout: normal, whole: true, freqs: true, longRoPE: true},
	"llama4":           {layout: normal, freqs: true, sliding: &ggufSliding{window: windowUnlessZero, period: 4}, nope: exceptLastOfFourIfWindowed, queryScale: scaledNoPEIfWindowed},
	"mellum":           {layout: neoX, sliding: &ggufSliding{window: windowIfGiven, period: 4, plain: true, sameBase: true}},
	"mimo2":            {layout: neoX, sliding: &ggufSliding{base: 10000, sameDim: true}},
	"minicpm":          {layout: normal, freqs: true, longRoPE: true},
	"minicpm3":         {layout: neoX, latentPart: true, longRoPE: true, anyType: true},
	"minimax-01":       {layout: neoX, attentionInterval: 8},
	"mistral3":         {layout: normal, freqs: true, longRoPE: true, logMultiplier: logMultiplierPlain, queryScale: scaledBeyondOriginal},
	"mistral4":         {layout: normal, latent: true, logMultiplier: logMultiplierTenth, queryScale: scaledBeyondLength},
	"modern-bert":      {layout: neoX, sliding: &ggufSliding{window: windowIfGiven, period: 3, denseFirst: true, base: 10000, sameDim: true}},
	"nanbeige":         {layout: normal, freqs: true},
	"olmo2":            {layout: neoX, sliding: &ggufSliding{window: windowIfGiven, period: 4, plain: true, sameBase: true}},
	"paddleocr":        {layout: neoX, axes: sectionedAxes},
	"phi3":             {layout: neoX, longRoPE: true, anyType: true},
	"phimoe":           {layout: neoX, longRoPE: true, anyType: true},
	"plamo":            {layout: neoX, whole: true},
	"plamo3":           {layout: neoX, sliding: &ggufSliding{window: windowIfGiven, period: 8, base: 10000, sameDim: true}},
	"plm":              {layout: normal, latentPart: true},
	"qwen2vl":          {layout: neoX, axes: sectionedAxes},
	"qwen35":           {layout: neoX, axes: interleavedAxes, attentionInterval: 4},
	"qwen35moe":        {layout: neoX, axes: interleavedAxes, attentionInterval: 4},
	"qwen3next":        {layout: neoX, attentionInterval: 4},
	"qwen3vl":          {layout: neoX, axes: interleavedAxes},
	"qwen3vlmoe":       {layout: neoX, axes: interleavedAxes},
	"smallthinker":     {layout: neoX, sliding: &ggufSliding{window: windowIfGiven, period: 4, denseFirst: true, sameDim: true}, nope: exceptFirstOfFourIfWindowed},
	"smollm3":          {layout: normal, nope: exceptLastOfFour},
	"step35":           {layout: neoX, halfOfFull: true, freqs: true, longRoPE: true, sliding: &ggufSliding{base: 10000}},
}
