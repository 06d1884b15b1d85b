package multimodal

// ModelTypes returns the models that FamilyOf knows.
func ModelTypes() (names []string) {
	for _, r := range rules {
		names = append(names, r.models...)
	}
	return names
}
