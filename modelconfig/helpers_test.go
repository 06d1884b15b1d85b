package modelconfig

import (
	"maps"
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
	families          = typesByName(func(v *models.Vendor) []models.ModelType { return v.Types })
	towers            = typesByName(func(v *models.Vendor) []models.ModelType { return v.Towers })
	wrappers          = partsByName(func(h *models.Holder) models.Part { return h.Text })
	visionWrappers    = partsByName(func(h *models.Holder) models.Part { return h.Tower })
	notRotary         = byNameOf(func(v *models.Vendor) []models.PositionsOf { return v.OtherPositions }, positionsOf)
	ggufNotRotary     = byNameOf(func(v *models.Vendor) []models.PositionsOf { return v.OtherArchitectures }, positionsOf)
	ggufArchitectures = byNameOf(func(v *models.Vendor) []models.GGUFArchitecture { return v.Architectures }, func(a models.GGUFArchitecture) (string, models.GGUFArchitecture) { return a.Name, a })
	ggufRefused       = byNameOf(func(v *models.Vendor) []models.RefusedArchitecture { return v.RefusedArchitectures }, func(a models.RefusedArchitecture) (string, string) { return a.Name, a.Want })
)

func byNameOf[T, V any](list func(v *models.Vendor) []T, of func(T) (string, V)) map[string]V {
	m := map[string]V{}
	for _, v := range models.Vendors {
		for _, t := range list(v) {
			name, value := of(t)
			m[name] = value
		}
	}
	return m
}

func positionsOf(p models.PositionsOf) (name, positions string) { return p.Name, p.Positions }

func typesByName(list func(v *models.Vendor) []models.ModelType) map[string]models.Family {
	return byNameOf(list, func(t models.ModelType) (string, models.Family) { return t.Name, t.Family() })
}

func partsByName(of func(h *models.Holder) models.Part) map[string]models.Part {
	parts := byNameOf(func(v *models.Vendor) []models.Holder { return v.Holders }, func(h models.Holder) (string, models.Part) { return h.Name, of(&h) })
	maps.DeleteFunc(parts, func(_ string, p models.Part) bool { return p.Key == "" })
	return parts
}

// modelNames are the names of types, towers, holders and architectures.
func modelNames() []string {
	return slices.Compact(models.NamesOf(func(v *models.Vendor, add func(string)) {
		for _, list := range [][]models.ModelType{v.Types, v.Towers} {
			for i := range list {
				add(list[i].Name)
			}
		}
		for i := range v.Holders {
			add(v.Holders[i].Name)
		}
		for i := range v.Architectures {
			add(v.Architectures[i].Name)
		}
	}))
}
