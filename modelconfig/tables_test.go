package modelconfig

import (
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

// The models by name, for tests that go over all of them.

var (
	families          = valuesOf(func(v *models.Vendor, add func(...string)) { models.AddTypes(v.Types, add) }, func(name string) models.Family { return models.TextType(name).Family() })
	towers            = valuesOf(func(v *models.Vendor, add func(...string)) { models.AddTypes(v.Towers, add) }, func(name string) models.Family { return models.TowerType(name).Family() })
	holders           = valuesOf((*models.Vendor).AddHolders, func(name string) models.Holder { return *models.HolderOf(name) })
	wrappers          = partsByName(func(h *models.Holder) models.Part { return h.Text })
	visionWrappers    = partsByName(func(h *models.Holder) models.Part { return h.Tower })
	notRotary         = positionsByName(func(v *models.Vendor) []models.PositionsOf { return v.OtherPositions })
	ggufNotRotary     = positionsByName(func(v *models.Vendor) []models.PositionsOf { return v.OtherArchitectures })
	ggufArchitectures = valuesOf((*models.Vendor).AddArchitectures, func(name string) models.GGUFArchitecture { return *models.ArchitectureNamed(name) })
	ggufRefused       = map[string]string{}
)

func init() {
	for _, v := range models.Vendors {
		for _, a := range v.RefusedArchitectures {
			ggufRefused[a.Name] = a.Want
		}
	}
}

func valuesOf[T any](names func(v *models.Vendor, add func(...string)), of func(name string) T) map[string]T {
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
