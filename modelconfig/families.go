package modelconfig

import (
	_ "embed"

	"github.com/go-posenc/posenc"
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

	traps   []string // names of traps that are about it
	refusal string   // why the type is not read, and what a caller can do

	check func(r *reader)              // other keys that decide
	rule  func(p *ropeParameters) rule // a rule of its own, or nil

	arrangement    arrangement // of the pairs of a vision tower
	patches        patchOrder  // of a vision tower
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
	absent          string  // the rope parameters of a configuration without any, as JSON
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
	hunyuanKeys    = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"head_dim", "attention_head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	moonshine      = &spellings{[]string{"hidden_size"}, []string{"decoder_num_attention_heads", "num_attention_heads"}, []string{"head_dim"}, []string{"decoder_num_hidden_layers", "num_hidden_layers"}, []string{"max_position_embeddings"}}
	voxtralEncoder = &spellings{[]string{"hidden_size", "d_model"}, []string{"num_attention_heads", "encoder_attention_heads"}, []string{"head_dim"}, []string{"num_hidden_layers", "encoder_layers"}, []string{"max_position_embeddings"}}
	exaone         = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"head_dim"}, []string{"num_layers", "num_hidden_layers"}, []string{"max_position_embeddings"}}
)

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

// isTower reports whether a family is a vision tower. Its kind of position embeddings is about
// the learned ones that it adds to patches besides the rotation (pos_emb_type of Kimi).
func (f *family) isTower() bool { return f.arrangement != nil }
