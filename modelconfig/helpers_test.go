package modelconfig

import (
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestReceivers(t *testing.T) { testkit.CheckReceivers(t, Model{}, Rope{}, LayerRows{}) }

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

// The models by name, for tests that go over all of them.

var (
	families          = valuesOf(models.Types.Names(), func(name string) models.ModelType { return models.Types.Named(name).WithDefaults() })
	towers            = valuesOf(models.Towers.Names(), func(name string) models.ModelType { return models.Towers.Named(name).WithDefaults() })
	holders           = valuesOf(models.Holders.Names(), func(name string) models.Holder { return *models.HolderOf(name) })
	wrappers          = partsByName(func(h *models.Holder) models.Part { return h.Text })
	visionWrappers    = partsByName(func(h *models.Holder) models.Part { return h.Tower })
	notRotary         = positionsByName(models.OtherTypes)
	otherTowers       = positionsByName(models.OtherTowers)
	ggufNotRotary     = positionsByName(models.OtherArchitectures)
	ggufArchitectures = valuesOf(models.Architectures.Names(), func(name string) models.GGUFArchitecture { return *models.Architectures.Named(name) })
	ggufRefused       = positionsByName(models.RefusedArchitectures)
)

func valuesOf[T any](names []string, of func(name string) T) map[string]T {
	m := map[string]T{}
	for _, name := range names {
		m[name] = of(name)
	}
	return m
}

func partsByName(of func(h *models.Holder) models.Part) map[string]models.Part {
	m := map[string]models.Part{}
	for name, h := range holders {
		if p := of(&h); p.Key != "" {
			m[name] = p
		}
	}
	return m
}

func positionsByName(list models.List[models.PositionsOf]) map[string]string {
	return valuesOf(list.Names(), func(name string) string { return models.PositionsIn(list, name) })
}

// modelNames are the names of types, towers, holders and architectures.
func modelNames() []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(models.Types.Names(), models.Towers.Names(), models.Holders.Names(), models.Architectures.Names()))))
}
