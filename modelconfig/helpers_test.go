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
	families          = valuesOf((*models.Vendor).TypeNames, func(name string) models.Family { return models.TextType(name).Family() })
	towers            = valuesOf((*models.Vendor).TowerNames, func(name string) models.Family { return models.TowerType(name).Family() })
	holders           = valuesOf((*models.Vendor).HolderNames, func(name string) models.Holder { return *models.HolderOf(name) })
	wrappers          = partsByName(func(h *models.Holder) models.Part { return h.Text })
	visionWrappers    = partsByName(func(h *models.Holder) models.Part { return h.Tower })
	notRotary         = positionsByName(func(v *models.Vendor) []models.PositionsOf { return v.OtherPositions })
	otherTowers       = positionsByName(func(v *models.Vendor) []models.PositionsOf { return v.OtherTowers })
	ggufNotRotary     = positionsByName(func(v *models.Vendor) []models.PositionsOf { return v.OtherArchitectures })
	ggufArchitectures = valuesOf((*models.Vendor).ArchitectureNames, func(name string) models.GGUFArchitecture { return *models.ArchitectureNamed(name) })
	ggufRefused       = positionsByName(func(v *models.Vendor) []models.PositionsOf { return v.RefusedArchitectures })
)

func valuesOf[T any](names func(v *models.Vendor) []string, of func(name string) T) map[string]T {
	m := map[string]T{}
	for _, name := range models.NamesOf(names) {
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

func positionsByName(list func(v *models.Vendor) []models.PositionsOf) map[string]string {
	m := map[string]string{}
	for _, v := range models.Vendors {
		for _, p := range list(v) {
			for _, name := range p.Names {
				m[name] = p.Positions
			}
		}
	}
	return m
}

// modelNames are the names of types, towers, holders and architectures.
func modelNames() []string {
	return slices.Compact(models.NamesOf((*models.Vendor).TypeNames, (*models.Vendor).TowerNames, (*models.Vendor).HolderNames, (*models.Vendor).ArchitectureNames))
}
