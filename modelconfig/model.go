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

// Model is the rotary position embedding of one model, as its configuration
// describes it: which layers rotate, which elements of a head, and by what
// frequencies. It does not change: many goroutines may use it at once.
type Model struct {
	modelType string
	layers    []Layer
	kinds     map[string]kind // by Layer.Type, for layers that rotate

	format        format
	contextLength int  // 0: it does not say
	latent        bool // heads are the rotary parts of latent attention

	queryScale     *posenc.QueryScaling // nil: none
	scalesRotating bool                 // it is of the layers that rotate, not of the others
	scalingTensor  string               // of weights with scales of queries; "": none
}

// format is what a Model was read from.
type format uint8

const (
	fromHuggingFace format = iota
	fromGGUF
)

// Layer is what a hidden layer of a model does with positions. (Of LongCat, whose layers
// have two attentions, it is one of them.)
type Layer struct {
	// Type is its kind, for RotaryOptions.LayerType; "" where the layers that rotate have
	// one kind. Layers with a window of attention and others have different Types only where
	// their frequencies differ: which have a window says the configuration's own key
	// (layer_types, sliding_window_pattern). A layer that does not rotate has a Type that may
	// be one of LayerTypes or none.
	Type string

	Rotates bool // false: the layer rotates nothing (NoPE)

	// Indexer is the kind, for RotaryOptions.LayerType, by which the layer's indexer of sparse
	// attention rotates its own queries and keys; "" where it has none that does. It takes
	// the attention's frequencies, but mostly another layout, or another part of a head.
	Indexer string
}

// RotaryOptions says which of the frequencies of a model are asked for. The zero
// value is that of Model.Rotary.
type RotaryOptions struct {
	// LayerType is a kind of layer, one of Model.LayerTypes; "" where there is one.
	LayerType string

	// SequenceLength is the number of tokens of the sequence, the largest position
	// plus one: in an engine, the longest that it will hold. Dynamic NTK scaling and
	// LongRoPE choose the frequencies by it and need it; other models ignore it: leave
	// it 0. Keys that are rotated by the frequencies of one length do not match
	// queries rotated by those of another.
	SequenceLength int

	// AngleRounding is that of the RotaryConfig: how angles and frequencies are rounded.
	// ExactAngles is the real number rounded once; Float32Angles follows the roundings of
	// Hugging Face transformers.
	AngleRounding posenc.AngleRounding

	// FrequencyFactors multiply the frequencies of a model that learns them, one for each
	// pair, above 0: e to the power of the values of the tensor that
	// Model.LearnedFrequencies names. Such models need them, others refuse them. Each product is rounded to
	// float64, with Float32Angles that of the two float32 to float32.
	FrequencyFactors []float64
}

// kind is what the rotating layers of one kind have in common.
type kind struct {
	rotary posenc.RotaryConfig // HeadDim, RotaryDim, Offset, Layout and Axes
	rule   rule
	source string // the keys that the frequencies come from

	learned string // the tensor by which frequencies are multiplied; "": none
}

// rule makes the frequencies of a kind of layer. Those for sequences of up to
// trained tokens are alike; trained is 0 where all are.
type rule struct {
	ladder    func(seqLen int, rounding frequency.Rounding) (frequency.Ladder, error)
	trained   int
	described Rule
}

// inverse turns pairs the other way: the frequencies are below 0.
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

// withoutSoftmaxScale is the rule of an indexer: the scale of YaRN is of the attention's
// own scores.
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

// Type is the type that the configuration names: model_type of a config.json
// ("llama", "gemma3_text"; that of text_config where the text model has a
// configuration of its own), general.architecture of GGUF keys; "" of a nil Model.
func (m *Model) Type() string {
	if m == nil {
		return ""
	}
	return m.modelType
}

// LayerTypes returns the kinds of layers that rotate, sorted: [""] where layers do
// not differ. Each is a RotaryOptions.LayerType. A nil Model has none.
func (m *Model) LayerTypes() []string {
	if m == nil {
		return nil
	}
	return sortedKeys(m.kinds)
}

// Layers returns one entry for each hidden layer of the model; none of a nil Model.
func (m *Model) Layers() []Layer {
	if m == nil {
		return nil
	}
	return slices.Clone(m.layers)
}

// DependsOnLength says whether the frequencies of a model depend on the length of
// the sequence, as those of dynamic NTK scaling and LongRoPE do, and up to how many
// tokens they do not. A nil Model has none.
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

// LearnedFrequencies names the tensor of weights by which the frequencies of a model are
// multiplied, where it has one (LeRoPE of Mistral Large 4): the end of its name.
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

// Rotary returns the configuration of a model, for posenc.NewRotary: HeadDim,
// RotaryDim, Offset, Layout, InvFreq, AttentionFactor and Axes. Angles are exact. HeadDim
// is the elements of a head of Q and K, but with latent attention (MLA) those of its
// rotary part. Frequencies are below 0 where a model turns its pairs the other way (NanoChat). It does not
// say which layers rotate (Layers), nor how attention scores and queries are scaled
// beside the rotation (SoftmaxScale, QueryScaling).
//
// It is for models with one kind of rotating layers, without indexers, whose frequencies
// are not learned and do not depend on the length of the sequence. For others it has no answer that would be right in
// every layer and for every length, and returns an error that says so.
// Errors wrap ErrArgument.
func (m *Model) Rotary() (posenc.RotaryConfig, error) {
	cfg, _, err := m.rotary("Model.Rotary", "RotaryFor", RotaryOptions{})
	return cfg, err
}

// RotaryFor returns the configuration of the layers of one kind, for sequences of one
// length: what Rotary returns, for every model.
//
// Errors wrap ErrArgument (a LayerType that the model does not have, a SequenceLength
// that is negative, or 0 where frequencies depend on it, an unknown AngleRounding,
// FrequencyFactors that are missing, too many or out of range) or ErrValue
// (numbers of the configuration that make no frequencies of that length or rounding).
func (m *Model) RotaryFor(options RotaryOptions) (posenc.RotaryConfig, error) {
	cfg, _, err := m.rotary("Model.RotaryFor", "", options)
	return cfg, err
}

// SoftmaxScale returns what multiplies the attention scores of a model, beside its own
// factor, 1/sqrt of the elements of a head of Q in most: 1, but for DeepSeek's variant
// of YaRN (frequency.Ladder.SoftmaxScale). It is for the models that Rotary is for, and
// has the same errors.
func (m *Model) SoftmaxScale() (float64, error) {
	_, ladder, err := m.rotary("Model.SoftmaxScale", "SoftmaxScaleFor", RotaryOptions{})
	return ladder.SoftmaxScale, err
}

// SoftmaxScaleFor returns what multiplies the attention scores of the layers of one
// kind: what SoftmaxScale returns, for every model. Errors are those of RotaryFor.
func (m *Model) SoftmaxScaleFor(options RotaryOptions) (float64, error) {
	_, ladder, err := m.rotary("Model.SoftmaxScaleFor", "", options)
	return ladder.SoftmaxScale, err
}

// accepted returns m, or an error where the frequencies of a kind of layer cannot
// be computed or make no posenc.Rotary.
func (m *Model) accepted(function string) (*Model, error) {
	for _, layerType := range m.LayerTypes() {
		k := m.kinds[layerType]
		cfg, _, err := k.config(function, RotaryOptions{})
		if err != nil {
			return nil, err
		}
		if _, err := posenc.NewRotary(cfg); err != nil {
			return nil, valueError(ErrValue, function, k.source, "refused", "numbers that posenc.NewRotary takes (%v)", err)
		}
	}
	return m, nil
}

// rotary checks the options. For a function that takes none, instead is the one that
// does.
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
		return fail("the Model", fmt.Sprintf("one with layers of the kinds %q", types), "one kind; call %s", instead)
	case !known:
		return fail("options.LayerType", quoted(options.LayerType), "one of LayerTypes() = %q", types)
	case k.rule.trained != 0 && instead != "":
		return fail("the Model", fmt.Sprintf("one whose frequencies depend on the length of the sequence beyond %d", k.rule.trained), "frequencies that do not; call %s", instead)
	}
	if factors := options.FrequencyFactors; k.learned != "" || factors != nil {
		switch pairs := k.rotary.RotaryDim / 2; {
		case k.learned == "":
			return fail("options.FrequencyFactors", listText(len(factors)), "nil: the frequencies of this model are not learned")
		case factors == nil && instead != "":
			return fail("the Model", "one whose frequencies are learned", "frequencies that are not; call %s with FrequencyFactors", instead)
		case len(factors) != pairs:
			return fail("options.FrequencyFactors", listText(len(factors)), "%d numbers, e to the power of the values of the tensor %s", pairs, k.learned)
		}
		for i, factor := range factors {
			if f := float32(factor); !(f > 0 && f <= math.MaxFloat32) {
				return fail(fmt.Sprintf("options.FrequencyFactors[%d]", i), factor, "a number above 0 that float32 has")
			}
		}
	}
	if options.SequenceLength < 0 {
		return fail("options.SequenceLength", options.SequenceLength, "the number of tokens of the sequence")
	}
	if options.SequenceLength == 0 && k.rule.trained != 0 {
		return fail("options.SequenceLength", 0, "the number of tokens of the sequence, since frequencies depend on it beyond %d", k.rule.trained)
	}
	if options.AngleRounding > posenc.Float32Angles {
		return fail("options.AngleRounding", options.AngleRounding, "ExactAngles or Float32Angles")
	}
	return k.config(function, options)
}

// config is the configuration for checked options; SequenceLength 0 is one within the
// trained length, and without FrequencyFactors they are 1.
func (k *kind) config(function string, options RotaryOptions) (posenc.RotaryConfig, frequency.Ladder, error) {
	angles, rounding := options.AngleRounding, frequency.Exact
	if angles == posenc.Float32Angles {
		rounding = frequency.Float32
	}
	ladder, err := k.rule.ladder(options.SequenceLength, rounding)
	if err != nil {
		return posenc.RotaryConfig{}, frequency.Ladder{}, valueError(ErrValue, function, k.source, "refused", "numbers that make frequencies (%v)", err)
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
