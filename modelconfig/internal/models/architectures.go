package models

import "github.com/go-posenc/posenc"

// GGUFArchitecture is what llama.cpp knows about an architecture and a GGUF file does not
// say. The zero value of a field is the usual case.
type GGUFArchitecture struct {
	Name  string
	Also  []string // other architectures whose values are the same
	Traps []string // names of traps that are about it

	Layout posenc.Layout // llama.cpp's rope type: NORM is Interleaved, NEOX HalfSplit
	Axes   GGUFAxes      // MROPE and IMROPE, whose layout is HalfSplit

	Whole      bool // all elements of a head rotate
	Latent     bool // multi-head latent attention, whose scores YaRN scales
	LatentPart bool // multi-head latent attention with plain scores
	HalfOfFull bool // layers without a window rotate half of dimension_count

	Freqs      bool // rope_freqs.weight, where the file has it
	NeedsFreqs bool // the file has it, unless all layers have a sliding window
	LongRoPE   bool // rope_factors_short.weight and rope_factors_long.weight, where rope.scaling.type is longrope
	AnyType    bool // or anything else; the file has them where context_length is above the original length

	BetaFast      float64 // default of yarn_beta_fast; 0: 32
	LogMultiplier float64 // yarn_log_multiplier by mscale_all_dim; 0: it is not read
	EqualMScale   bool    // yarn_log_multiplier stands for mscale, too
	Alpha         bool    // rope.scaling.alpha

	QueryScale GGUFQueryScale
	Indexer    *GGUFIndexer // of sparse attention

	PlainBase  bool // freq_base 10000 and no scaling, even where keys say otherwise
	Compressed bool // layers of a compressed sequence have a base of their own, and alone are scaled; the last elements of a head rotate
	Drafts     bool // of other models, of DeepSeek V4 too, which are not read
	Draft      bool // all layers predict further tokens: nextn_predict_layers is block_count

	Sliding           *GGUFSliding
	Rotates           func(l GGUFLayer) bool // nil: all
	DenseRotate       bool                   // the leading dense layers rotate in any case
	RopePattern       bool                   // attention.rope_pattern says which layers rotate, where it is there
	NeedsPattern      bool                   // it has to be there
	AttentionInterval int                    // default of full_attention_interval, where other layers are recurrent
	RotaryLayers      int                    // the one block_count that rotates; 0: any
	Finetuned         bool                   // rope.scaling.finetuned false means that no layer rotates

	// Of ollama.
	Unwritten       *GGUFUnwritten
	CrossAttention  bool // layers of attention.cross_attention_layers do not rotate
	AttentionOfYaRN bool // attn_factor is the factor of YaRN, and does not multiply it
}

// GGUFUnwritten is what ollama takes for keys that its converter left out.
type GGUFUnwritten struct {
	Always   bool // no file of llama.cpp leaves them out
	Base     float64
	Type     string // rope.scaling.type
	Sections []int

	// Factor is rope.scaling.factor of models with a number of layers of FactorLayers and a window, or of at
	// least FactorLength tokens.
	Factor       float64
	FactorLayers []int
	FactorLength int
}

// GGUFIndexer is how an indexer with heads of attention.indexer.key_length elements rotates.
type GGUFIndexer struct {
	Layout   posenc.Layout
	Trailing bool // the rotated elements are the last of a head
	Typed    bool // attention.indexer.types says which layers have one; else all that attend to everything
}

type GGUFAxes uint8

const (
	OneAxis         GGUFAxes = iota
	SectionedAxes            // MROPE
	InterleavedAxes          // IMROPE
	OptionalAxes             // MROPE where the file has sections
)

// GGUFLayer is what decides whether a layer rotates.
type GGUFLayer struct {
	Number           int
	Slides, Windowed bool // it has a sliding window; the model has layers with one
}

func onlySliding(l GGUFLayer) bool                 { return l.Slides || !l.Windowed }
func exceptLastOfFour(l GGUFLayer) bool            { return l.Number%4 != 3 }
func exceptLastOfFourIfWindowed(l GGUFLayer) bool  { return l.Number%4 != 3 || !l.Windowed }
func exceptFirstOfFourIfWindowed(l GGUFLayer) bool { return l.Number%4 != 0 || !l.Windowed }

// GGUFSliding says which layers have a sliding window, and what they rotate by.
type GGUFSliding struct {
	IfGiven    bool // there are windows only where sliding_window is there and not 0
	UnlessZero bool // or where it is not 0
	Layers     int  // the one number of layers that has windows; 0: any
	Period     int  // default of sliding_window_pattern: every period-th layer has no window; 0: the key must be there
	DenseFirst bool // it is the first of each period, else the last

	Base     float64 // default of freq_base_swa, which goes with factor 1; 0: freq_base and its scaling
	Plain    bool    // no scaling
	Unscaled bool    // factor 1, with the attention factor
	SameBase bool    // freq_base_swa is not read, freq_base counts
	SameDim  bool    // llama.cpp takes the rotated elements of layer 0 for all layers
}

// The names that llama.cpp has for layouts.
const (
	Normal = posenc.Interleaved
	NeoX   = posenc.HalfSplit
)

type GGUFQueryScale uint8

const (
	QueriesUnscaled      GGUFQueryScale = iota
	ScaledBeyondOriginal                // temperature_scale, by the original length
	ScaledBeyondLength                  // temperature_scale, by temperature_length
	ScaledNoPE                          // layers without rotation
)
