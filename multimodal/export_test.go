package multimodal

import (
	"maps"
	"slices"
)

// ModelTypes returns the models that FamilyOf knows.
func ModelTypes() []string { return slices.Sorted(maps.Keys(modelTypes)) }
