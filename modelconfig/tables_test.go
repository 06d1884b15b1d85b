package modelconfig

import (
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

// The models by name, for tests that go over all of them.

var (
	families          = typesByName(func(v *models.Vendor) []models.ModelType { return v.Types })
	towers            = typesByName(func(v *models.Vendor) []models.ModelType { return v.Towers })
	wrappers          = partsByName(func(h *models.Holder) models.Part { return h.Text })
	visionWrappers    = partsByName(func(h *models.Holder) models.Part { return h.Tower })
	notRotary         = positionsByName(func(v *models.Vendor) []models.PositionsOf { return v.OtherPositions })
	ggufNotRotary     = positionsByName(func(v *models.Vendor) []models.PositionsOf { return v.OtherArchitectures })
	ggufArchitectures = map[string]models.GGUFArchitecture{}
	ggufRefused       = map[string]string{}
)

func init() {
	for _, v := range models.Vendors {
		for _, a := range v.Architectures {
			ggufArchitectures[a.Name] = a
		}
		for _, a := range v.RefusedArchitectures {
			ggufRefused[a.Name] = a.Want
		}
	}
}

func typesByName(list func(v *models.Vendor) []models.ModelType) map[string]models.Family {
	m := map[string]models.Family{}
	for _, v := range models.Vendors {
		for _, t := range list(v) {
			m[t.Name] = t.Family()
		}
	}
	return m
}

func partsByName(of func(h *models.Holder) models.Part) map[string]models.Part {
	m := map[string]models.Part{}
	for _, v := range models.Vendors {
		for i := range v.Holders {
			if p := of(&v.Holders[i]); p.Key != "" {
				m[v.Holders[i].Name] = p
			}
		}
	}
	return m
}

func positionsByName(list func(v *models.Vendor) []models.PositionsOf) map[string]string {
	m := map[string]string{}
	for _, v := range models.Vendors {
		for _, p := range list(v) {
			m[p.Name] = p.Positions
		}
	}
	return m
}
