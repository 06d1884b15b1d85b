package modelconfig

// Rule describes how the frequencies of a layer are made, for people to read. Rope has the
// frequencies themselves.
type Rule struct {
	// Name is one of these:
	//
	//   - "default": powers of the base, without scaling.
	//   - "linear", "NTK", "dynamic NTK", "NTK alpha", "NTK mixed", "yarn", "longrope",
	//     "llama3", "proportional": a scaling rule of package frequency.
	//   - "dynamic NTK of Qwen": the dynamic NTK scaling of Qwen 1, in steps.
	//   - "factors": divisors in a tensor of a GGUF file, as Llama 3 and Gemma 4 have them.
	//   - "axial": the frequencies of a vision tower.
	Name string

	Base float64

	// Pairs is the number of pairs of a head that rotate. There are as many frequencies, and
	// as many RopeOptions.FrequencyFactors if the model learns them.
	Pairs int

	// Parameters are the argument of the rule's function in package frequency:
	// LinearParameters, NTKParameters, DynamicNTKParameters, NTKAlphaParameters,
	// NTKMixedParameters, YaRNParameters, LongRoPEParameters, Llama3Parameters or
	// ProportionalParameters. With "factors" they are the divisors, a []float64; with the other
	// names nil. SequenceLength is 0. The slices are shared: do not write to them.
	Parameters any
}

// ContextLength returns the length of the longest sequence that the configuration allows
// (max_position_embeddings, {arch}.context_length). It is 0 if the configuration does not say:
// for vision towers, some GGUF files and a nil Model.
func (m *Model) ContextLength() int {
	if m == nil {
		return 0
	}
	return m.contextLength
}
