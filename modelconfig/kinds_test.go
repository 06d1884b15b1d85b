package modelconfig

import (
	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

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
func (o kindOptions) of(m *Model) string {
	if types := m.layerTypes(); o.LayerType == "" && len(types) == 1 {
		return types[0]
	}
	return o.LayerType
}

// rotaryFor returns the configuration of a kind of layers.
func (m *Model) rotaryFor(o kindOptions) (posenc.RotaryConfig, error) {
	return m.config("Model.Rope", o.of(m), RopeOptions{o.SequenceLength, o.Rounding, o.FrequencyFactors})
}

// softmaxScaleFor returns the SoftmaxScale of a kind of layers, also of indexers.
func (m *Model) softmaxScaleFor(o kindOptions) float64 { return m.of().Kinds[o.of(m)].SoftmaxScale }
