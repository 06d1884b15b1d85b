package modelconfig

import "github.com/go-posenc/posenc"

// ggufArchitecture is what llama.cpp knows about an architecture and a GGUF file does not
// say. The zero value of a field is the usual case.
type ggufArchitecture struct {
	name  string
	traps []string // names of traps that are about it

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

// ggufQueryScale says which keys scale the queries of an architecture.
type ggufQueryScale uint8

const (
	queriesUnscaled      ggufQueryScale = iota
	scaledBeyondOriginal                // temperature_scale, by the original length
	scaledBeyondLength                  // temperature_scale, by temperature_length
	scaledNoPEIfWindowed                // layers without rotation, in models with a window
)
