package modelconfig

import (
	"fmt"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// What tests ask of one kind of layers, through [Model.Rope] and [Model.Layers].

// kindOptions are RopeOptions for one kind of layers: a Layer.Kind or indexerKind, "" for the
// only one.
type kindOptions struct {
	LayerType        string
	SequenceLength   int
	Rounding         frequency.Rounding
	FrequencyFactors []float64
}

// layerTypes returns the kinds of layers that rotate, and indexerKind where there are indexers,
// sorted.
func (m *Model) layerTypes() []string {
	if m == nil {
		return nil
	}
	return document.SortedKeys(m.of().Kinds)
}

// of returns the only kind for "".
func (o kindOptions) of(m *Model) (string, error) {
	types := m.layerTypes()
	if o.LayerType == "" && len(types) == 1 {
		return types[0], nil
	}
	if m != nil {
		if _, ok := m.of().Kinds[o.LayerType]; ok {
			return o.LayerType, nil
		}
	}
	return "", fmt.Errorf("no kind %q, but %q", o.LayerType, types)
}

// rotaryFor returns the configuration of a kind of layers.
func (m *Model) rotaryFor(o kindOptions) (posenc.RotaryConfig, error) {
	name, err := o.of(m)
	if err != nil {
		return posenc.RotaryConfig{}, err
	}
	return m.config("Model.Rope", name, RopeOptions{o.SequenceLength, o.Rounding, o.FrequencyFactors})
}

// rotary is rotaryFor for models with one kind.
func (m *Model) rotary() (posenc.RotaryConfig, error) { return m.rotaryFor(kindOptions{}) }

// softmaxScaleFor returns the SoftmaxScale of a kind of layers, also of indexers.
func (m *Model) softmaxScaleFor(o kindOptions) (float64, error) {
	name, err := o.of(m)
	return m.of().Kinds[name].SoftmaxScale, err
}

// ruleFor returns the rule of a kind of layers.
func (m *Model) ruleFor(layerType string) (Rule, error) {
	name, err := kindOptions{LayerType: layerType}.of(m)
	if err != nil {
		return Rule{}, err
	}
	rule := Rule(m.of().Kinds[name].Rule.Described)
	rule.Pairs = m.of().Kinds[name].Rotary.RotaryDim / 2
	return rule, nil
}

func first[T, U any](x T, _ U) T { return x }
