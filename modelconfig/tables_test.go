package modelconfig

import (
	"maps"

	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

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
