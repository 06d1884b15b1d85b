package modelconfig

import (
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
)

// Model is the rotary position embedding of one model, as its configuration
// describes it: which layers rotate, which elements of a head, and by what
// frequencies. Its methods change nothing, so that many goroutines may call them
// at once.
type Model struct {
	// Angles is how the configurations that Rotary returns round angles, and
	// their frequencies with them. Exact, the zero value, is the real number
	// rounded once; Float32 follows the roundings of Hugging Face transformers.
	Angles posenc.AngleRounding

	modelType string
	layers    []Layer
	kinds     map[string]kind // by Layer.Type, for layers that rotate

	queryScale     *QueryScale // nil: none
	scalesRotating bool        // it is of the layers that rotate, not of the others
}

// Layer is what a hidden layer of a model does with positions.
type Layer struct {
	Type    string // its kind, an argument of Rotary; "" where the model has one kind
	Rotates bool   // false: the layer rotates nothing (NoPE)
}

// kind is what the rotating layers of one kind have in common.
type kind struct {
	// rotary has HeadDim, RotaryDim, Offset, Layout and Axes.
	rotary posenc.RotaryConfig
	// ladder is called with 0 or the length of the sequence.
	ladder ladderOf
	// source names the keys that the ladder comes from.
	source string
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

// LayerTypes returns the kinds of layers that rotate, sorted: [""] where a model
// has one kind. Each is an argument for Rotary and SoftmaxScale. A nil Model has none.
func (m *Model) LayerTypes() []string {
	if m == nil {
		return nil
	}
	types := make([]string, 0, len(m.kinds))
	for layerType := range m.kinds {
		types = append(types, layerType)
	}
	slices.Sort(types)
	return types
}

// Layers returns one entry for each hidden layer of the model; none of a nil Model.
func (m *Model) Layers() []Layer {
	if m == nil {
		return nil
	}
	return slices.Clone(m.layers)
}

// Rotary returns the configuration of the layers of one kind, for
// posenc.NewRotary. InvFreq and Scaling come from package frequency. It does not
// say which layers are of that kind (Layers), nor how attention scores and queries
// are scaled beside the rotation (SoftmaxScale, QueryScale).
//
// seqLen is the length of the sequence, the largest position plus one. Dynamic
// NTK scaling and LongRoPE choose frequencies by it; for other rules it changes
// nothing. 0 means that the sequence stays within the trained length.
//
// Errors wrap ErrArgument (layerType, seqLen, Angles) or ErrValue (numbers of
// the configuration that make no frequencies).
func (m *Model) Rotary(layerType string, seqLen int) (posenc.RotaryConfig, error) {
	cfg, _, err := m.rotary("Model.Rotary", layerType, seqLen)
	return cfg, err
}

// SoftmaxScale returns what multiplies the attention scores of the layers of one
// kind, beside the model's own factor, 1/sqrt of the elements of a head of Q in
// most: 1, but for DeepSeek's variant of YaRN (frequency.Ladder.SoftmaxScale).
// Arguments and errors are those of Rotary.
func (m *Model) SoftmaxScale(layerType string, seqLen int) (float64, error) {
	_, ladder, err := m.rotary("Model.SoftmaxScale", layerType, seqLen)
	return ladder.SoftmaxScale, err
}

// accepted returns m, or an error where the frequencies of a kind of layer cannot
// be computed or make no posenc.Rotary.
func (m *Model) accepted(function string) (*Model, error) {
	for _, layerType := range m.LayerTypes() {
		cfg, _, err := m.rotary(function, layerType, 0)
		if err != nil {
			return nil, err
		}
		if _, err := posenc.NewRotary(cfg); err != nil {
			return nil, valueError(ErrValue, function, m.kinds[layerType].source, "refused", "numbers that posenc.NewRotary takes (%v)", err)
		}
	}
	return m, nil
}

func (m *Model) rotary(function, layerType string, seqLen int) (posenc.RotaryConfig, frequency.Ladder, error) {
	fail := func(err error) (posenc.RotaryConfig, frequency.Ladder, error) {
		return posenc.RotaryConfig{}, frequency.Ladder{}, err
	}
	if m == nil || m.kinds == nil {
		return fail(valueError(ErrArgument, function, "the Model", "nil or zero", "a Model from HuggingFace or GGUF"))
	}
	k, known := m.kinds[layerType]
	if !known {
		return fail(valueError(ErrArgument, function, "layerType", quoted(layerType), "one of LayerTypes() = %q", m.LayerTypes()))
	}
	if seqLen < 0 {
		return fail(valueError(ErrArgument, function, "seqLen", seqLen, "0 or the length of the sequence"))
	}
	rounding := frequency.Exact
	switch m.Angles {
	case posenc.ExactAngles:
	case posenc.Float32Angles:
		rounding = frequency.Float32
	default:
		return fail(valueError(ErrArgument, function, "Angles", m.Angles, "Exact or Float32"))
	}
	ladder, err := k.ladder(seqLen, rounding)
	if err != nil {
		return fail(valueError(ErrValue, function, k.source, "refused", "numbers that make frequencies (%v)", err))
	}
	cfg := k.rotary
	cfg.Angles = m.Angles
	cfg.InvFreq = ladder.InvFreq
	cfg.Scaling = ladder.Scaling
	if ladder.Axes != nil {
		cfg.Axes = ladder.Axes
	}
	return cfg, ladder, nil
}
