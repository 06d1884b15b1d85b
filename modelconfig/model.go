package modelconfig

import (
	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
)

// Bounds of posenc.NewRotary and posenc.QueryScales.
const (
	maxRotaryDim = 2048
	maxBeta      = 0x1p100
)

// Model is the rotary position embedding of one model, as its configuration describes it:
// which layers rotate, which elements of a head, and by what frequencies. It never changes;
// goroutines may share it.
type Model struct {
	modelType string
	layers    []layer
	kinds     map[string]kind // of layers that rotate, and of indexers

	format        format
	contextLength int  // 0: it does not say
	latent        bool // heads are the rotary parts of latent attention
	baseUnread    bool // transformers 5 does not read the base
	scalingUnread bool // transformers 5 does not read the rule

	patches Patches  // of a vision tower
	traps   []string // names of those that its type has

	queryScale     *posenc.QueryScaling // nil: none
	scalesRotating bool                 // queryScale is for layers that rotate, not for the others
	scalingTensor  string               // tensor with learned scales of queries; "": none
}

// format is what a Model was read from.
type format uint8

const (
	fromHuggingFace format = iota
	fromGGUF
)

// Layer is what a hidden layer of a model does with positions. In LongCat, whose layers have
// two attentions, there is one Layer for each attention.
type Layer struct {
	// Kind is the name of the layers with the same frequencies. It is "" if all layers that
	// rotate are alike. It does not say which layers have an attention window: layers with and
	// without a window have the same Kind if they have the same frequencies. Windows are in the
	// configuration's own keys (layer_types, sliding_window_pattern).
	Kind string

	// Rotates is false for a layer that does not rotate (NoPE). [LayerRows.Layer] then leaves Q and
	// K as they are.
	Rotates bool

	// Rule says how the frequencies of the layer are made. It is zero if the layer does not rotate.
	Rule Rule

	// FrequencyFactors is the end of the name of a tensor by which the model's frequencies are
	// multiplied (LeRoPE of Mistral Large 4), for RopeOptions.FrequencyFactors. "" means none.
	FrequencyFactors string

	// LatentAttention says that heads are only the rotary parts of latent attention (MLA): the
	// last elements of each head of Q, and one head of K that all heads of Q share.
	LatentAttention bool

	// SoftmaxScale multiplies the attention scores, in addition to the model's usual scale
	// (1/sqrt of the head size of Q in most models). It is 1 unless YaRN scales the scores of
	// latent attention (DeepSeek V2 and V3, and models built like them). It is correctly rounded.
	SoftmaxScale float64

	// QueryScaling multiplies whole queries by a factor that grows with their position, after
	// the rotation if there is one; with latent attention this includes the elements without
	// positions. posenc.QueryScales computes the factors, which are 1 for the zero value.
	//
	//   - Llama 4 scales queries in layers that do not rotate, by attn_scale and floor_scale,
	//     unless attn_temperature_tuning is false or 0. GGUF files do not have these keys;
	//     llama.cpp uses 0.1 and 8192.
	//   - Ministral 3 and Mistral 4 scale queries in all layers, by llama_4_scaling_beta and
	//     original_max_position_embeddings of the rope parameters; in GGUF files by
	//     attention.temperature_scale (also in the architecture of DeepSeek V2).
	//   - Beam scales queries in layers that do not rotate, by a power of the position.
	QueryScaling posenc.QueryScaling

	// LearnedQueryScaling has the ends of the names of two tensors: a scale and a bias for each
	// head, for posenc.LogQueryScales. "" means none. Mistral Large 4 has them for the attention
	// (self_attn) and, under the same names, for the indexer.
	LearnedQueryScaling struct{ Scale, Bias string }

	// Indexer says that the layer has an indexer for sparse attention that rotates its own queries
	// and keys, by [LayerRows.Indexer]. It has the frequencies of the attention, but mostly
	// another layout or another rotated part of a head, and no SoftmaxScale.
	Indexer bool
}

// layer is a hidden layer: the name of its kind, which need not be one of Model.kinds if it does
// not rotate.
type layer struct {
	kind             string
	rotates, indexer bool
}

// kind is what layers of one kind have in common.
type kind struct {
	rotary posenc.RotaryConfig // HeadDim, RotaryDim, Offset, Layout and Axes
	rule   rule
	source string // the keys that the frequencies come from

	learned string // the tensor by which frequencies are multiplied; "": none

	softmaxScale float64
}

// rule makes the frequencies of a kind of layer. All sequences of up to trained tokens have
// the same frequencies; trained is 0 if sequences of any length do.
type rule struct {
	ladder    func(seqLen int, rounding frequency.Rounding) (frequency.Ladder, error)
	trained   int
	described Rule
}

// inverse rotates pairs the other way: the frequencies are negative.
func (r rule) inverse() rule {
	forward := r.ladder
	r.ladder = func(seqLen int, rounding frequency.Rounding) (frequency.Ladder, error) {
		ladder, err := forward(seqLen, rounding)
		for i := range ladder.InvFreq {
			ladder.InvFreq[i] = -ladder.InvFreq[i]
		}
		return ladder, err
	}
	return r
}

// withoutSoftmaxScale is the rule of an indexer: YaRN scales only the attention's own
// scores.
func (r rule) withoutSoftmaxScale() rule {
	attention := r.ladder
	r.ladder = func(seqLen int, rounding frequency.Rounding) (frequency.Ladder, error) {
		ladder, err := attention(seqLen, rounding)
		ladder.SoftmaxScale = 1
		return ladder, err
	}
	return r
}

// anyLength is a rule of package frequency that does not depend on the length of the
// sequence.
func anyLength[P any](name string, ladder func(dim int, base float64, p P, rounding frequency.Rounding) (frequency.Ladder, error), dim int, base float64, p P) rule {
	return rule{
		ladder: func(_ int, rounding frequency.Rounding) (frequency.Ladder, error) {
			return ladder(dim, base, p, rounding)
		},
		described: Rule{Name: name, Base: base, Parameters: p},
	}
}

// Type returns the type that the configuration names: model_type of a config.json
// ("llama", "gemma3_text"), or general.architecture of GGUF keys. If the text model has a
// configuration of its own (text_config), it is the model_type there. A nil Model has "".
func (m *Model) Type() string {
	if m == nil {
		return ""
	}
	return m.modelType
}

// Layers returns one entry for each hidden layer of the model. A nil Model has none.
func (m *Model) Layers() []Layer {
	if m == nil {
		return nil
	}
	layers := make([]Layer, len(m.layers))
	for i, l := range m.layers {
		layer := Layer{Rotates: l.rotates, LatentAttention: m.latent, SoftmaxScale: 1, Indexer: l.indexer}
		if l.rotates {
			k := m.kinds[l.kind]
			layer.Kind, layer.SoftmaxScale, layer.FrequencyFactors = l.kind, k.softmaxScale, k.learned
			layer.Rule = k.rule.described
			layer.Rule.Pairs = k.rotary.RotaryDim / 2
		}
		if m.queryScale != nil && m.scalesRotating == l.rotates {
			layer.QueryScaling = *m.queryScale
		}
		if m.scalingTensor != "" {
			layer.LearnedQueryScaling.Scale, layer.LearnedQueryScaling.Bias = m.scalingTensor+".scale", m.scalingTensor+".bias"
		}
		layers[i] = layer
	}
	return layers
}

// DependsOnLength reports whether the frequencies of the model depend on the length of the
// sequence, as in dynamic NTK scaling and LongRoPE. Sequences of up to beyond tokens have the
// same frequencies. For a nil Model it returns false.
func (m *Model) DependsOnLength() (beyond int, ok bool) {
	if m == nil {
		return 0, false
	}
	for _, k := range m.kinds {
		if trained := k.rule.trained; trained != 0 && (!ok || trained < beyond) {
			beyond, ok = trained, true
		}
	}
	return beyond, ok
}

// accepted returns m, or an error if the frequencies of a kind of layer cannot be
// computed or posenc.NewRotary does not accept them.
func (m *Model) accepted(function string) (*Model, error) {
	for _, name := range sortedKeys(m.kinds) {
		k := m.kinds[name]
		cfg, ladder, err := k.config(function, RopeOptions{})
		if err != nil {
			return nil, err
		}
		if _, err := posenc.NewRotary(cfg); err != nil {
			return nil, valueError(ErrValue, function, k.source, "refused", "numbers that posenc.NewRotary accepts (%v)", err)
		}
		k.softmaxScale = ladder.SoftmaxScale
		m.kinds[name] = k
	}
	return m, nil
}

// config is the configuration for checked options. SequenceLength 0 means a sequence within
// the trained length, and FrequencyFactors nil means factors of 1.
func (k *kind) config(function string, options RopeOptions) (posenc.RotaryConfig, frequency.Ladder, error) {
	angles, rounding := options.AngleRounding, frequency.Exact
	if angles == posenc.Float32Angles {
		rounding = frequency.Float32
	}
	ladder, err := k.rule.ladder(options.SequenceLength, rounding)
	if err != nil {
		return posenc.RotaryConfig{}, frequency.Ladder{}, valueError(ErrValue, function, k.source, "refused", "numbers from which frequencies can be computed (%v)", err)
	}
	for i, factor := range options.FrequencyFactors {
		if angles == posenc.Float32Angles {
			ladder.InvFreq[i] = float64(float32(ladder.InvFreq[i]) * float32(factor))
		} else {
			ladder.InvFreq[i] *= factor
		}
	}
	cfg := k.rotary
	cfg.AngleRounding = angles
	cfg.InvFreq = ladder.InvFreq
	cfg.AttentionFactor = ladder.AttentionFactor
	if ladder.Axes != nil {
		cfg.Axes = ladder.Axes
	}
	return cfg, ladder, nil
}

// Patches says how a vision tower counts and orders the patches of an image, for the options
// of multimodal.PatchPositions.
type Patches struct {
	First    int  // the position of the first row and of the first column: options.First
	RowByRow bool // options.MergeSize is 1, whatever spatial_merge_size is
}

// Patches returns how a vision tower counts and orders patches, from a Model of
// [HuggingFaceVision]. Of other models it returns the zero value.
func (m *Model) Patches() Patches {
	if m == nil {
		return Patches{}
	}
	return m.patches
}
