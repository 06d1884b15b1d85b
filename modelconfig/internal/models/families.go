package models

import (
	_ "embed"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// Family is a model type with the usual value in place of each zero one.
type Family struct {
	ModelType

	WholeHead bool // the code rotates whole heads, even where the key says otherwise
	Axes      *axesRule
	Absent    document.Object // the rope parameters of a configuration without any
}

// KindDefaults are the defaults of one kind of layer.
type KindDefaults struct {
	// LayerType "indexer" is about indexers, where they have frequencies of their own.
	LayerType       string
	Base            float64
	BlockBase       float64 // where the kind's own object leaves rope_theta out; 0: base
	FixedBase       float64 // base, even where keys say otherwise; 0: by the keys
	BaseKeys        []string
	Partial         float64    // 0: 1
	HeadDimKey      string     // where heads of this kind have a width of their own
	HeadDim         int        // its default; 0: the width of the other heads
	Scaled          bool       // rope_scaling is about this kind
	Unscaled        bool       // the rule of the rope parameters is not about this kind
	Absent          string     // the rope parameters of a configuration without any, as JSON
	AttentionFactor float64    // default of attention_factor; 0: derived
	Like            *ModelType // whose heads layers of this kind have; nil: those of the model's own type
}

// KindsOrOne returns the kinds of layers, or the only one.
func (f *Family) KindsOrOne() []KindDefaults {
	if len(f.Kinds) > 0 {
		return f.Kinds
	}
	return []KindDefaults{{Base: f.Base, BaseKeys: f.BaseKeys, Partial: f.Part, Scaled: true}}
}

// Spellings are the names of keys, the usual one first.
type Spellings struct{ Hidden, Heads, HeadDim, Layers, Positions []string }

var (
	usual          = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	withoutHeadDim = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, nil, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	moondream      = &Spellings{[]string{"dim", "hidden_size"}, []string{"n_heads"}, []string{"head_dim"}, []string{"n_layers"}, []string{"max_context"}}
	plamo2Keys     = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"hidden_size_per_head"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	gpt            = &Spellings{[]string{"n_embd", "hidden_size"}, []string{"n_head", "num_attention_heads"}, nil, []string{"n_layer", "num_hidden_layers"}, []string{"n_positions"}}
	nomic          = &Spellings{[]string{"hidden_size", "n_embd"}, []string{"num_attention_heads", "n_head"}, []string{"head_dim"}, []string{"num_hidden_layers", "n_layer"}, []string{"max_trained_positions"}}
	dbrx           = &Spellings{[]string{"d_model", "hidden_size"}, []string{"n_heads", "num_attention_heads"}, nil, []string{"n_layers", "num_hidden_layers"}, []string{"max_seq_len", "max_position_embeddings"}}
	falcon         = &Spellings{[]string{"hidden_size", "n_embed"}, []string{"num_attention_heads", "n_head"}, nil, []string{"num_hidden_layers", "n_layer"}, []string{"max_position_embeddings"}}
	chatGLMs       = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"kv_channels"}, []string{"num_layers", "num_hidden_layers"}, []string{"seq_length"}}
	qwen1          = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"kv_channels"}, []string{"num_hidden_layers"}, []string{"seq_length"}}
	channels       = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"kv_channels", "head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	latent         = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"qk_rope_head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	panguLatent    = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"qk_rope_head_dim", "attention_qk_rope_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	glmLite        = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"qk_rope_head_dim", "head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	longcat        = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"qk_rope_head_dim"}, []string{"num_layers"}, []string{"max_position_embeddings"}}
	bailing        = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"qk_rope_head_dim"}, []string{"num_hidden_layers"}, []string{"model_max_length", "max_position_embeddings"}}
	telechat       = &Spellings{[]string{"hidden_size", "n_embed"}, []string{"n_head", "num_attention_heads"}, nil, []string{"n_layer", "num_hidden_layers"}, []string{"seq_length"}}
	zamba          = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"attention_head_dim", "head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	hunyuanKeys    = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"head_dim", "attention_head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embeddings"}}
	moonshine      = &Spellings{[]string{"hidden_size"}, []string{"decoder_num_attention_heads", "num_attention_heads"}, []string{"head_dim"}, []string{"decoder_num_hidden_layers", "num_hidden_layers"}, []string{"max_position_embeddings"}}
	voxtralEncoder = &Spellings{[]string{"hidden_size", "d_model"}, []string{"num_attention_heads", "encoder_attention_heads"}, []string{"head_dim"}, []string{"num_hidden_layers", "encoder_layers"}, []string{"max_position_embeddings"}}
	step3          = &Spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"head_dim"}, []string{"num_hidden_layers"}, []string{"max_position_embedding"}}
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

// plan returns the n layers of a model, from the keys that describe them.
type plan func(r *document.Reader, n int) []description.Layer

// arrangement returns the frequencies and the axes of pairs: 0 for the row, 1 for the column.
type arrangement func(headDim int, base float64, rounding frequency.Rounding) (frequency.Ladder, error)

// indexer says how the indexer of sparse attention rotates, by the frequencies of the attention.
type indexer struct {
	HeadDimKey string
	HeadDim    int // its default; 0: the key has to be there
	Layout     posenc.Layout
	LayoutKey  string // a key that is false where the layout is half-split, true where it is not
	Trailing   bool   // the rotated elements are the last of a head
	Attention  string // the kind of layers whose frequencies it takes; "": there is one
	Hadamard   bool   // a Hadamard transform follows in the model's own code; scores are the same without it
}
