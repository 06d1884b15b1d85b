package modelconfig

// Rule describes how the frequencies of one kind of layers are made, for people to read.
// RotaryFor returns the frequencies themselves.
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
	// as many RotaryOptions.FrequencyFactors if the model learns them.
	Pairs int

	// Parameters are the argument of the rule's function in package frequency:
	// LinearParameters, NTKParameters, DynamicNTKParameters, NTKAlphaParameters,
	// NTKMixedParameters, YaRNParameters, LongRoPEParameters, Llama3Parameters or
	// ProportionalParameters. With "factors" they are the divisors, a []float64; with the other
	// names nil. SequenceLength is 0. The slices are shared: do not write to them.
	Parameters any
}

// RuleFor describes how the frequencies of the layers of one kind are made. layerType is one
// of LayerTypes; it may be "" if there is only one. The error wraps ErrArgument.
func (m *Model) RuleFor(layerType string) (Rule, error) {
	types := m.LayerTypes()
	if layerType == "" && len(types) == 1 {
		layerType = types[0]
	}
	k, known := kind{}, false
	if m != nil {
		k, known = m.kinds[layerType]
	}
	if !known {
		return Rule{}, valueError(ErrArgument, "Model.RuleFor", "layerType", quoted(layerType), "one of LayerTypes() = %q", types)
	}
	rule := k.rule.described
	rule.Pairs = k.rotary.RotaryDim / 2
	return rule, nil
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

// LatentAttention reports whether the model has latent attention (MLA). Heads are then only
// the rotary parts: the last elements of each head of Q, and one head of K that all heads
// of Q share.
func (m *Model) LatentAttention() bool { return m != nil && m.latent }
