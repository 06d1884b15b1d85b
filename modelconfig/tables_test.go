package modelconfig

// The models by name, for tests that go over all of them.

var (
	families          = typesByName(func(v *vendor) []modelType { return v.types })
	towers            = typesByName(func(v *vendor) []modelType { return v.towers })
	wrappers          = partsByName(func(h *holder) part { return h.text })
	visionWrappers    = partsByName(func(h *holder) part { return h.tower })
	notRotary         = positionsByName(func(v *vendor) []positionsOf { return v.otherPositions })
	ggufNotRotary     = positionsByName(func(v *vendor) []positionsOf { return v.otherArchitectures })
	ggufArchitectures = map[string]ggufArchitecture{}
	ggufRefused       = map[string]string{}
)

func init() {
	for _, v := range vendors {
		for _, a := range v.architectures {
			ggufArchitectures[a.name] = a
		}
		for _, a := range v.refusedArchitectures {
			ggufRefused[a.name] = a.want
		}
	}
}

func typesByName(list func(v *vendor) []modelType) map[string]family {
	m := map[string]family{}
	for _, v := range vendors {
		for _, t := range list(v) {
			m[t.name] = t.family()
		}
	}
	return m
}

func partsByName(of func(h *holder) part) map[string]part {
	m := map[string]part{}
	for _, v := range vendors {
		for i := range v.holders {
			if p := of(&v.holders[i]); p.key != "" {
				m[v.holders[i].name] = p
			}
		}
	}
	return m
}

func positionsByName(list func(v *vendor) []positionsOf) map[string]string {
	m := map[string]string{}
	for _, v := range vendors {
		for _, p := range list(v) {
			m[p.name] = p.positions
		}
	}
	return m
}
