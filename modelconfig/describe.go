package modelconfig

// Rule says in a person's words how the frequencies of a kind of layers are made. RotaryFor
// has the frequencies themselves.
type Rule struct {
	// Name is "default" for frequencies of the base alone, or the name of a rule of scaling:
	// linear, NTK, dynamic NTK, NTK alpha, NTK mixed, yarn, longrope, llama3, proportional; dynamic
	// NTK of Qwen, whose steps are of Qwen 1; factors, for divisors in a tensor of a GGUF file
	// (Llama 3 and Gemma 4 among them); axial, for vision towers.
	Name string

	Base float64

	Pairs int // of a head that rotate: as many frequencies, and RotaryOptions.FrequencyFactors where they are learned

	// Parameters are those of the function of package frequency: a LinearParameters,
	// NTKParameters, DynamicNTKParameters, NTKAlphaParameters, NTKMixedParameters,
	// YaRNParameters, LongRoPEParameters (whose factors in a GGUF file count beside Factor), Llama3Parameters
	// or ProportionalParameters, the []float64 of factors, or nil. They are shared: do not write to the slices.
	// SequenceLength is 0.
	Parameters any
}

// RuleFor returns how the frequencies of layers of one kind are made: layerType is one
// of LayerTypes, "" where there is one. The error wraps ErrArgument.
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

// ContextLength is the longest sequence of the model by its configuration
// (max_position_embeddings, {arch}.context_length), 0 where it does not say: of vision
// towers, of some GGUF files, and of a nil Model.
func (m *Model) ContextLength() int {
	if m == nil {
		return 0
	}
	return m.contextLength
}

// LatentAttention says whether heads are the rotary parts of those of latent attention
// (MLA): the last elements of each head of Q, and one head of K that all share.
func (m *Model) LatentAttention() bool { return m != nil && m.latent }
