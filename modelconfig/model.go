package modelconfig

import (
	"fmt"
	"math"
	"slices"

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
	layers    []Layer
	kinds     map[string]kind // by Layer.Type, for layers that rotate

	format        format
	contextLength int  // 0: it does not say
	latent        bool // heads are the rotary parts of latent attention
	baseUnread    bool // transformers 5 does not read the base
	scalingUnread bool // transformers 5 does not read the rule

	patches Patches // of a vision tower

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

// Layer says what a hidden layer of a model does with positions. In LongCat, whose layers
// have two attentions, there is one Layer for each attention.
type Layer struct {
	// Type is the kind of the layer, for RotaryOptions.LayerType. It is "" if all layers that
	// rotate are alike. It does not say which layers have an attention window: layers with and
	// without a window have the same Type if they have the same frequencies. Windows are in the
	// configuration's own keys (layer_types, sliding_window_pattern). The Type of a layer that
	// does not rotate need not be one of LayerTypes.
	Type string

	Rotates bool // false: the layer does not rotate (NoPE)

	// Indexer is the kind, for RotaryOptions.LayerType, by which the layer's indexer for sparse
	// attention rotates its own queries and keys. It is "" if the layer has no indexer that
	// rotates. An indexer has the frequencies of the attention, but mostly another layout or
	// another rotated part of a head.
	Indexer string
}

// RotaryOptions says which of a model's frequencies [Model.RotaryFor] returns. With the zero
// value it returns the same as [Model.Rotary].
type RotaryOptions struct {
	// LayerType is the kind of layer, one of Model.LayerTypes. It may be "" if there is only
	// one.
	LayerType string

	// SequenceLength is the number of tokens in the sequence: the largest position plus one.
	// An engine passes the longest sequence that its cache will hold. Dynamic NTK scaling and
	// LongRoPE need it to choose the frequencies; other models ignore it, so leave it 0. Keys
	// rotated with the frequencies of one length do not match queries rotated with those of
	// another.
	SequenceLength int

	// AngleRounding says how angles and frequencies are rounded, as in posenc.RotaryConfig.
	// ExactAngles rounds the real number once. Float32Angles rounds where Hugging Face
	// transformers does.
	AngleRounding posenc.AngleRounding

	// FrequencyFactors multiply frequencies that a model learns. There is one factor above 0
	// for each pair: e to the power of a value of the tensor that Model.LearnedFrequencies
	// names. Such models need them; other models return an error if they are set. Each product
	// is rounded to float64; with Float32Angles both operands and the product are rounded to
	// float32.
	FrequencyFactors []float64
}

// kind is what layers of one kind have in common.
type kind struct {
	rotary posenc.RotaryConfig // HeadDim, RotaryDim, Offset, Layout and Axes
	rule   rule
	source string // the keys that the frequencies come from

	learned string // the tensor by which frequencies are multiplied; "": none
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

// LayerTypes returns the kinds of layers that rotate, sorted. It is [""] if all of them are
// alike. Each is a RotaryOptions.LayerType. A nil Model has none.
func (m *Model) LayerTypes() []string {
	if m == nil {
		return nil
	}
	return sortedKeys(m.kinds)
}

// Layers returns one entry for each hidden layer of the model. A nil Model has none.
func (m *Model) Layers() []Layer {
	if m == nil {
		return nil
	}
	return slices.Clone(m.layers)
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

// LearnedFrequencies returns the end of the name of the tensor by which the model's
// frequencies are multiplied, if it has one (LeRoPE of Mistral Large 4).
// RotaryOptions.FrequencyFactors takes e to the power of its values.
func (m *Model) LearnedFrequencies() (tensor string, ok bool) {
	if m == nil {
		return "", false
	}
	for _, k := range m.kinds {
		if k.learned != "" {
			return k.learned, true
		}
	}
	return "", false
}

// Rotary returns the configuration of the model for posenc.NewRotary: HeadDim, RotaryDim,
// Offset, Layout, InvFreq, AttentionFactor and Axes. Angles are exact. HeadDim is the size of
// a head of Q and K; with latent attention (MLA) it is the size of the rotary part.
// Frequencies are negative in a model that rotates the other way (NanoChat). Layers says
// which layers rotate; SoftmaxScale and QueryScaling say how scores and queries are scaled
// besides.
//
// Rotary is for models with one kind of rotating layers, without indexers, whose frequencies
// are not learned and do not depend on the length of the sequence. For other models no single
// configuration is right for every layer and length, and Rotary returns an error that says
// so; use RotaryFor. Errors wrap ErrArgument.
func (m *Model) Rotary() (posenc.RotaryConfig, error) {
	cfg, _, err := m.rotary("Model.Rotary", "RotaryFor", RotaryOptions{})
	return cfg, err
}

// RotaryFor returns the configuration of the layers of one kind, for sequences of one length.
// It works for every model and returns the same fields as Rotary.
//
// Errors wrap ErrArgument (a LayerType that the model does not have; a SequenceLength that is
// negative, or 0 although frequencies depend on it; an unknown AngleRounding;
// FrequencyFactors that are missing, of the wrong number or out of range) or ErrValue
// (numbers in the configuration from which no frequencies of that length or rounding can be
// computed).
func (m *Model) RotaryFor(options RotaryOptions) (posenc.RotaryConfig, error) {
	cfg, _, err := m.rotary("Model.RotaryFor", "", options)
	return cfg, err
}

// SoftmaxScale returns a factor on the attention scores, in addition to the model's usual
// scale (1/sqrt of the head size of Q in most models). It is 1, except in DeepSeek's variant
// of YaRN (frequency.Ladder.SoftmaxScale). It is for the same models as Rotary and returns
// the same errors.
func (m *Model) SoftmaxScale() (float64, error) {
	_, ladder, err := m.rotary("Model.SoftmaxScale", "SoftmaxScaleFor", RotaryOptions{})
	return ladder.SoftmaxScale, err
}

// SoftmaxScaleFor returns the factor of SoftmaxScale for the layers of one kind, for every
// model. Errors are those of RotaryFor.
func (m *Model) SoftmaxScaleFor(options RotaryOptions) (float64, error) {
	_, ladder, err := m.rotary("Model.SoftmaxScaleFor", "", options)
	return ladder.SoftmaxScale, err
}

// accepted returns m, or an error if the frequencies of a kind of layer cannot be
// computed or posenc.NewRotary does not accept them.
func (m *Model) accepted(function string) (*Model, error) {
	for _, layerType := range m.LayerTypes() {
		k := m.kinds[layerType]
		cfg, _, err := k.config(function, RotaryOptions{})
		if err != nil {
			return nil, err
		}
		if _, err := posenc.NewRotary(cfg); err != nil {
			return nil, valueError(ErrValue, function, k.source, "refused", "numbers that posenc.NewRotary accepts (%v)", err)
		}
	}
	return m, nil
}

// rotary checks the options. For a method without options, instead names the method that
// takes them.
func (m *Model) rotary(function, instead string, options RotaryOptions) (posenc.RotaryConfig, frequency.Ladder, error) {
	fail := func(name string, value any, expected string, args ...any) (posenc.RotaryConfig, frequency.Ladder, error) {
		return posenc.RotaryConfig{}, frequency.Ladder{}, valueError(ErrArgument, function, name, value, expected, args...)
	}
	types := m.LayerTypes()
	if len(types) == 0 {
		return fail("the Model", "nil or zero", "a Model from HuggingFace, HuggingFaceVision or GGUF")
	}
	if options.LayerType == "" && len(types) == 1 {
		options.LayerType = types[0]
	}
	k, known := m.kinds[options.LayerType]
	switch {
	case !known && instead != "":
		return fail("the Model", fmt.Sprintf("one with the kinds of layers %q", types), "one kind of layer; call %s for this one", instead)
	case !known:
		return fail("options.LayerType", quoted(options.LayerType), "one of LayerTypes() = %q", types)
	case k.rule.trained != 0 && instead != "":
		return fail("the Model", fmt.Sprintf("one whose frequencies depend on the length of the sequence beyond %d", k.rule.trained), "one whose frequencies do not; call %s for this one", instead)
	}
	if factors := options.FrequencyFactors; k.learned != "" || factors != nil {
		switch pairs := k.rotary.RotaryDim / 2; {
		case k.learned == "":
			return fail("options.FrequencyFactors", listText(len(factors)), "nil: the frequencies of this model are not learned")
		case factors == nil && instead != "":
			return fail("the Model", "one whose frequencies are learned", "one whose frequencies are not; call %s with FrequencyFactors for this one", instead)
		case len(factors) != pairs:
			return fail("options.FrequencyFactors", listText(len(factors)), "%d numbers, e to the power of the values of the tensor %s", pairs, k.learned)
		}
		for i, factor := range factors {
			if f := float32(factor); !(f > 0 && f <= math.MaxFloat32) {
				return fail(fmt.Sprintf("options.FrequencyFactors[%d]", i), factor, "a number above 0 in the range of float32")
			}
		}
	}
	if options.SequenceLength < 0 {
		return fail("options.SequenceLength", options.SequenceLength, "the number of tokens in the sequence")
	}
	if options.SequenceLength == 0 && k.rule.trained != 0 {
		return fail("options.SequenceLength", 0, "the number of tokens in the sequence, because frequencies depend on it beyond %d", k.rule.trained)
	}
	if options.AngleRounding > posenc.Float32Angles {
		return fail("options.AngleRounding", options.AngleRounding, "ExactAngles or Float32Angles")
	}
	return k.config(function, options)
}

// config is the configuration for checked options. SequenceLength 0 means a sequence within
// the trained length, and FrequencyFactors nil means factors of 1.
func (k *kind) config(function string, options RotaryOptions) (posenc.RotaryConfig, frequency.Ladder, error) {
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
