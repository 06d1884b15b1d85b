package models

import (
	_ "embed"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// Family is what the code of a model type does that its configuration does not
// say, and what an absent key means.
type Family struct {
	Names                                     *Spellings
	Hidden, Heads, HeadDim, Layers, Positions int // defaults; HeadDim 0: hidden by heads
	Base                                      float64
	baseKeys                                  []string // Spellings of the base beside the rope parameters
	BaseRatio                                 string   // a key that multiplies the base

	// BaseUnread reports whether transformers 5 leaves a base beside the rope parameters unread
	// that transformers 4 read; nil: never.
	BaseUnread func(r *document.Reader) bool

	// ScalingUnread reports the same of rope_scaling.
	ScalingUnread func(r *document.Reader) bool

	Partial   float64 // default of partial_rotary_factor
	WholeHead bool    // the code rotates whole heads, whatever the key says
	RotaryDim int     // default of rotary_dim, for types that count elements
	CountKey  string  // another name of rotary_dim
	Trailing  bool    // the rotated elements are the last of the head
	Latent    bool    // latent attention: the head is its rotary part, and YaRN scales the softmax too
	NoPEDim   int     // latent: default of qk_nope_head_dim
	WholeDim  int     // latent: default of head_dim, where the class has one for all of Q's head

	Layout    posenc.Layout
	LayoutKey string // a key that is false where the layout is half-split

	Plan      plan
	Kinds     []KindDefaults // nil: all layers that rotate rotate alike
	ListKey   string         // a list with an entry for each layer, by which Lists makes kinds
	Lists     func(r *document.Reader, key string, f *Family, layers []description.Layer) []KindDefaults
	Rewrite   func(r *document.Reader, layers []description.Layer) // brings keys into the usual form
	Indexer   *indexer                                             // of sparse attention
	FlatBlock bool                                                 // a flat rope_parameters is read as rope_scaling is

	Axes                func(sections []int) ([]uint8, error)
	Sections            []int // default of mrope_section
	AxisCount           int   // sections that there must be; 0: any number
	InterleavedSections bool

	Alpha             bool            // "dynamic" may have alpha (HunYuan)
	YarnIsLongRoPE    bool            // early files say yarn (Phi-3)
	OriginalPositions int             // default of original_max_position_embeddings beside the rope parameters
	ExtraKeys         []string        // of the rope parameters
	Unread            []string        // keys that name positions and that the code does not read
	FactorKey         string          // a factor beside the rope parameters, which rule reads
	Absent            document.Object // the rope parameters of a configuration without any
	Inverse           bool            // pairs turn the other way
	Learned           string          // the tensor of weights by which frequencies are multiplied

	Traps   []string // names of traps that are about it
	Refusal string   // why the type is not read, and what a caller can do

	Check func(r *document.Reader)                 // other keys that decide
	Rule  func(p *RopeParameters) description.Rule // a rule of its own, or nil

	Arrangement    arrangement            // of the pairs of a vision tower
	Patches        description.PatchOrder // of a vision tower
	QueryScale     func(p *RopeParameters) *posenc.QueryScaling
	ScalesRotating bool   // QueryScale is of the layers that rotate, not of the others
	ScalingTensor  string // of weights with scales of queries
}

// KindDefaults are the defaults of one kind of layer.
type KindDefaults struct {
	LayerType       string
	Base            float64
	BlockBase       float64 // where the kind's own object leaves rope_theta out; 0: base
	FixedBase       float64 // base, whatever the keys say; 0: by the keys
	BaseKeys        []string
	Partial         float64
	HeadDimKey      string  // where heads of this kind have a width of their own
	HeadDim         int     // its default
	Scaled          bool    // rope_scaling is about this kind
	Unscaled        bool    // the rule of the rope parameters is not about this kind
	Absent          string  // the rope parameters of a configuration without any, as JSON
	AttentionFactor float64 // default of attention_factor; 0: derived
}

// KindsOrOne returns the kinds of layers, or the only one.
func (f *Family) KindsOrOne() []KindDefaults {
	if len(f.Kinds) > 0 {
		return f.Kinds
	}
	return []KindDefaults{{Base: f.Base, BaseKeys: f.baseKeys, Partial: f.Partial, Scaled: true}}
}

// Spellings are the names of keys, the usual one first.
type Spellings struct{ Hidden, Heads, HeadDim, Layers, Positions []string }

var (
	usual          = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	gpt            = &Spellings{[]string{"n_embd", "hidden_size"}, []string{"n_head", "num_attention_heads"}, nil, []string{"n_layer", "num_hidden_layers"}, []string{"n_positions"}}
	nomic          = &Spellings{[]string{"hidden_size", "n_embd"}, []string{"num_attention_heads", "n_head"}, []string{"head_dim"}, []string{"num_hidden_layers", "n_layer"}, []string{"max_trained_positions"}}
	dbrx           = &Spellings{[]string{"d_model", "hidden_size"}, []string{"n_heads", "num_attention_heads"}, nil, []string{"n_layers", "num_hidden_layers"}, []string{"max_seq_len", "max_position_embeddings"}}
	falcon         = &Spellings{[]string{"hidden_size", "n_embed"}, []string{"num_attention_heads", "n_head"}, nil, []string{"num_hidden_layers", "n_layer"}, []string{"max_position_embeddings"}}
	chatGLMs       = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"kv_channels"}, []string{"num_layers", "num_hidden_layers"}, []string{"seq_length"}}
	qwen1          = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"kv_channels"}, []string{"num_hidden_layers"}, []string{"seq_length"}}
	channels       = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"kv_channels", "head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	latent         = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"qk_rope_head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	glmLite        = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"qk_rope_head_dim", "head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	longcat        = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"qk_rope_head_dim"}, []string{"num_layers"}, []string{"max_position_embeddings"}}
	bailing        = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"qk_rope_head_dim"}, []string{"num_hidden_layers"}, []string{"model_max_length", "max_position_embeddings"}}
	zamba          = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"attention_head_dim", "head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	hunyuanKeys    = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"head_dim", "attention_head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	moonshine      = &Spellings{[]string{"hidden_size"}, []string{"decoder_num_attention_heads", "num_attention_heads"}, []string{"head_dim"}, []string{"decoder_num_hidden_layers", "num_hidden_layers"}, []string{"max_position_embeddings"}}
	voxtralEncoder = &Spellings{[]string{"hidden_size", "d_model"}, []string{"num_attention_heads", "encoder_attention_heads"}, []string{"head_dim"}, []string{"num_hidden_layers", "encoder_layers"}, []string{"max_position_embeddings"}}
	exaone         = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"head_dim"}, []string{"num_layers", "num_hidden_layers"}, []string{"max_position_embeddings"}}
)

// The other kinds of positions.
const (
	learned     = "learned absolute positions"
	sinusoidal  = "fixed sinusoidal positions"
	ALiBi       = "ALiBi, a bias of the attention scores"
	relative    = "relative positions, a bias of the attention scores"
	noPositions = "none"
)

// Unrotated lists the model types of transformers, one in a line, whose code rotates nothing and
// which hold no type that does. testdata/transformers/survey.py writes it.
//
//go:embed unrotated.txt
var Unrotated string

// IsTower reports whether a family is a vision tower. Its kind of position embeddings is about
// the learned ones that it adds to patches besides the rotation (pos_emb_type of Kimi).
func (f *Family) IsTower() bool { return f.Arrangement != nil }
