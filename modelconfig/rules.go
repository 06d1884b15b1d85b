package modelconfig

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-posenc/posenc/frequency"
)

// readRopes returns the rope parameters of each kind of layer: rope_parameters (transformers
// 5), rope_scaling (transformers 4), or both if they agree. A kind whose parameters are null
// does not rotate and is not in the result.
func readRopes(r *reader, f *family) map[string]*reader {
	parametersKeys, given := r.object("rope_parameters")
	scalingKeys, scaled := r.object("rope_scaling")
	if r.err != nil {
		return nil
	}
	parameters, scaling := r.within("rope_parameters", parametersKeys), r.within("rope_scaling", scalingKeys)
	if f.kinds == nil {
		rope := merged(parameters, scaling)
		if !given && !scaled && f.absent != nil {
			rope.keys = f.absent
		}
		return map[string]*reader{"": rope}
	}
	nested := slices.ContainsFunc(f.kinds, func(k kindDefaults) bool { _, ok := parameters.keys[k.layerType]; return ok })
	if given && !nested {
		// transformers ignores flat parameters for types that have them for each kind.
		if len(parameters.keys) > 0 && !f.flatBlock {
			r.fail(ErrValue, "rope_parameters", "flat", "an object for each kind of layer, such as %q", f.kinds[0].layerType)
			return nil
		}
		scaling, parameters = merged(parameters, scaling), r.within("rope_parameters", nil)
	}
	if f.flatBlock && nested {
		for _, k := range f.kinds { // the class reads one alone as a flat block, and nothing in it
			_, ok := parameters.keys[k.layerType].(object)
			parameters.failIf(!ok, ErrValue, k.layerType, kindOf(parameters.keys[k.layerType]), "an object, because models of this type need one for each kind of layer, or a flat rope_parameters")
		}
	}
	if f.flatBlock && scaling.keys["rope_theta"] != nil {
		// The class puts its own bases in the place of this one.
		scaling.number("rope_theta")
		scaling.keys = maps.Clone(scaling.keys)
		delete(scaling.keys, "rope_theta")
	}
	ropes, scales := map[string]*reader{}, false
	var known []string
	for _, k := range f.kinds {
		known = append(known, k.layerType)
		if v, there := parameters.keys[k.layerType]; there && v == nil {
			continue
		}
		inner, _ := parameters.object(k.layerType)
		rope := parameters.within(k.layerType, inner)
		if k.scaled {
			scales = true
			rope = merged(rope, scaling)
		}
		if inner == nil && !(k.scaled && scaling.keys != nil) && k.absent != "" {
			rope.keys = parsed(k.absent)
		}
		rope.ofKind = inner != nil
		ropes[k.layerType] = rope
	}
	unknownKeys(parameters, "the kinds of layers of this model type only", known)
	r.failIf(len(scaling.keys) > 0 && !scales,
		ErrUnknown, "rope_scaling", "an object", "no such key: models of this type have an object for each kind of layer in rope_parameters")
	for _, rope := range []*reader{scaling, parameters} {
		if r.err == nil {
			r.err = rope.err
		}
	}
	return ropes
}

// merged returns the keys of both forms.
func merged(parameters, scaling *reader) *reader {
	if scaling.keys == nil {
		return &reader{function: parameters.function, path: parameters.path, keys: parameters.keys}
	}
	rope := &reader{function: scaling.function, path: scaling.path, keys: scaling.keys}
	if parameters.keys == nil {
		return rope
	}
	both := object{}
	for _, from := range []*reader{parameters, scaling} {
		for _, key := range sortedKeys(from.keys) {
			v := from.keys[key]
			if before := both[key]; before != nil && v != nil && !sameValue(before, v) {
				rope.fail(ErrContradiction, key, kindOf(v), "the value in %s, which is %s", strings.TrimSuffix(parameters.path, "."), kindOf(before))
			}
			if v != nil {
				both[key] = v
			}
		}
	}
	rope.keys = both
	return rope
}

// ropeTypes are the rules, and the keys that each has in rope parameters besides commonKeys.
// If transformers has two names for a rule, both are here.
var ropeTypes = [...]struct {
	name string
	keys []string
}{
	{"default", []string{"factor"}},
	{"linear", []string{"factor"}},
	{"dynamic", []string{"factor", "alpha"}},
	{"yarn", []string{"factor", "original_max_position_embeddings", "attention_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate", "finetuned"}},
	{"longrope", []string{"factor", "original_max_position_embeddings", "attention_factor", "short_factor", "long_factor"}},
	{"llama3", []string{"factor", "original_max_position_embeddings", "low_freq_factor", "high_freq_factor"}},
	{"proportional", []string{"factor"}},
	{"ntk", []string{"factor", "mixed_b"}},
}

var commonKeys = []string{"rope_type", "type", "rope_theta", "partial_rotary_factor"}

// hints say what to set in place of keys of other programs.
var hints = [...]struct{ key, expected string }{
	{"attn_factor", "attention_factor: attn_factor is vLLM's and multiplies the derived factor, while attention_factor replaces it (or set AttentionFactor in posenc.RotaryConfig)"},
	{"extrapolation_factor", "no such key: extrapolation_factor is vLLM's (use frequency.YaRN with ExtrapolationFactor)"},
	{"mrope_section", "no such key: models of this type have one axis of positions (set Axes in posenc.RotaryConfig)"},
	{"alpha", "factor: alpha is HunYuan's (use frequency.NTKAlpha)"},
	{"full_attention", "no key for a kind of layer: all layers of this model type rotate alike (use posenc.RotaryConfig for each kind)"},
	{"sliding_attention", "no key for a kind of layer: all layers of this model type rotate alike (use posenc.RotaryConfig for each kind)"},
}

func hintOf(key string) string {
	for _, h := range hints {
		if h.key == key {
			return h.expected
		}
	}
	return ""
}

// keysOfRopeType returns the keys of a rule.
func keysOfRopeType(name string) (keys []string, known bool) {
	for _, t := range ropeTypes {
		if t.name == name {
			return t.keys, true
		}
	}
	return nil, false
}

func ropeTypeNames() []string {
	var names []string
	for _, t := range ropeTypes {
		names = append(names, t.name)
	}
	slices.Sort(names)
	return names
}

// ropeTypeOf returns the rule that rope parameters name, by rope_type or type.
func ropeTypeOf(rope *reader, f *family) string {
	canonical := func(key string) string {
		name, ok := rope.text(key)
		switch {
		case !ok:
			return ""
		case name == "su":
			return "longrope"
		case name == "mrope" && f.axes != nil:
			return "default"
		case name == "xdrope" && f.alpha:
			return "dynamic"
		case name == "axial" && f.arrangement != nil:
			return "default"
		case name == "yarn" && f.yarnIsLongRoPE:
			return "longrope"
		}
		return name
	}
	ropeType, older := canonical("rope_type"), canonical("type")
	if ropeType == "" {
		ropeType = older
	} else if older != "" && older != ropeType {
		rope.fail(ErrContradiction, "type", quoted(older), "the same as rope_type, which is %s", quoted(ropeType))
	}
	if ropeType == "" {
		for _, key := range sortedKeys(rope.keys) {
			if rope.keys[key] != nil && !slices.Contains(commonKeys, key) && !slices.Contains(f.extraKeys, key) {
				if hint := hintOf(key); hint != "" {
					rope.fail(ErrUnknown, keyName(key), kindOf(rope.keys[key]), "%s", hint)
				}
				rope.fail(ErrValue, "rope_type", "absent", "a rule for %s, such as \"linear\"", key)
			}
		}
		ropeType = "default"
	}
	known, ok := keysOfRopeType(ropeType)
	if !ok {
		rope.fail(ErrUnknown, "rope_type", quoted(ropeType), "one of %q, or use posenc.RotaryConfig with InvFreq", ropeTypeNames())
		return ""
	}
	extra := f.extraKeys
	if ropeType != "dynamic" || !f.alpha {
		known = slices.DeleteFunc(slices.Clone(known), func(key string) bool { return key == "alpha" })
	}
	unknownKeys(rope, "no such key for rope_type "+ropeType+" (use posenc.RotaryConfig with InvFreq if it matters)", commonKeys, known, extra)
	return ropeType
}

// ruleOf returns the rule that the parameters name.
func ruleOf(p *ropeParameters) rule {
	dim, base := p.rotaryDim, p.base
	if p.positions < 1 {
		p.model.fail(ErrValue, p.family.names.positions[0], p.positions, "at least 1")
	}
	if p.family.rule != nil {
		if own := p.family.rule(p); own.ladder != nil {
			return own
		}
	}
	if p.ropeType == "default" && !p.kind.unscaled {
		if factor, ok := p.number("factor"); ok && factor != 1 {
			p.fail(ErrContradiction, "factor", factor, "1 or absent: rope_type default does not scale")
		}
	}
	factor, hasFactor := p.positive("factor")
	p.failIf(!hasFactor && (p.ropeType == "linear" || p.ropeType == "dynamic" || p.ropeType == "llama3" || p.ropeType == "ntk") && !p.has("alpha"),
		ErrValue, "factor", "absent", "the number by which rope_type %s scales", p.ropeType)
	switch p.ropeType {
	case "linear":
		return anyLength("linear", frequency.Linear, dim, base, frequency.LinearParameters{Factor: factor})
	case "dynamic":
		if alpha := p.optional("alpha"); alpha != 0 {
			p.failIf(hasFactor && factor != 1, ErrContradiction, "factor", factor, "1 or absent together with alpha")
			for _, key := range []string{"beta_fast", "beta_slow", "mscale", "mscale_all_dim"} {
				p.number(key) // of any value, but a number
			}
			return anyLength("NTK alpha", frequency.NTKAlpha, dim, base, frequency.NTKAlphaParameters{Alpha: alpha})
		}
		return dynamicNTK(dim, base, factor, p.positions) // never original_max_position_embeddings
	case "ntk":
		if p.has("mixed_b") {
			mixedB := p.optional("mixed_b")
			return anyLength("NTK mixed", frequency.NTKMixed, dim, base, frequency.NTKMixedParameters{Factor: factor, MixedB: mixedB})
		}
		return anyLength("NTK", frequency.NTK, dim, base, frequency.NTKParameters{Factor: factor})
	case "yarn":
		return yarnOf(p, factor, hasFactor)
	case "longrope":
		return longRoPEOf(p, factor, hasFactor)
	case "llama3":
		return llama3Of(p, factor)
	case "proportional":
		if !hasFactor {
			factor = 1
		}
		return anyLength("proportional", frequency.Proportional, p.headDim, base, frequency.ProportionalParameters{PartialRotaryFactor: p.partial, Factor: factor})
	}
	return unscaledRule(dim, base)
}

func yarnOf(p *ropeParameters, factor float64, hasFactor bool) rule {
	original := p.originalPositions(1)
	if !hasFactor {
		factor = float64(p.positions) / float64(original)
	}
	if n, ok := p.integer("max_position_embeddings"); ok && n != p.positions {
		p.fail(ErrContradiction, "max_position_embeddings", n, "the value beside the rope parameters, which is %d", p.positions)
	}
	parameters := frequency.YaRNParameters{
		Factor: factor, OriginalMaxPositions: original,
		AttentionFactor: p.attentionFactor(),
		ScaleSoftmax:    p.family.latent,
	}
	// transformers takes 0 as absent for these four.
	parameters.BetaFast, parameters.BetaSlow = p.optional("beta_fast"), p.optional("beta_slow")
	parameters.MScale, parameters.MScaleAllDim = p.optional("mscale"), p.optional("mscale_all_dim")
	if fast, slow := parameters.BetaFast, parameters.BetaSlow; fast != 0 && fast < slow {
		p.fail(ErrValue, "beta_fast", fast, "at least beta_slow, which is %v", slow)
	}
	truncate, ok := p.boolean("truncate")
	parameters.Untruncated = ok && !truncate
	p.boolean("finetuned")
	return anyLength("yarn", frequency.YaRN, p.rotaryDim, p.base, parameters)
}

func longRoPEOf(p *ropeParameters, factor float64, hasFactor bool) rule {
	original := p.originalPositions(2)
	if !hasFactor {
		factor = float64(p.positions) / float64(original)
	}
	attentionFactor := p.attentionFactor()
	list := func(key string) []float64 {
		factors, ok := p.numbers(key)
		p.failIf(!ok, ErrValue, key, "absent", "a list of %d numbers, one for each pair", p.rotaryDim/2)
		p.failIf(len(factors) != p.rotaryDim/2, ErrValue, key, listText(len(factors)), "a list of %d numbers, one for each pair", p.rotaryDim/2)
		for i, factor := range factors {
			p.failIf(factor <= 0, ErrValue, fmt.Sprintf("%s[%d]", key, i), factor, "a number above 0")
		}
		return factors
	}
	parameters := frequency.LongRoPEParameters{
		OriginalMaxPositions: original, Factor: factor, ShortFactors: list("short_factor"), LongFactors: list("long_factor"),
		ShortAttentionFactor: attentionFactor, LongAttentionFactor: attentionFactor,
	}
	if p.has("short_mscale") {
		parameters.ShortAttentionFactor = p.optional("short_mscale")
	}
	if p.has("long_mscale") {
		parameters.LongAttentionFactor = p.optional("long_mscale")
	}
	dim, base := p.rotaryDim, p.base
	return rule{
		ladder: func(seqLen int, rounding frequency.Rounding) (frequency.Ladder, error) {
			p := parameters
			p.SequenceLength = seqLen
			return frequency.LongRoPE(dim, base, p, rounding)
		},
		trained:   original,
		described: frequencyRule{Name: "longrope", Base: base, Parameters: parameters},
	}
}

func llama3Of(p *ropeParameters, factor float64) rule {
	required := func(key string) float64 {
		number, ok := p.positive(key)
		p.failIf(!ok, ErrValue, key, "absent", "a number")
		return number
	}
	parameters := frequency.Llama3Parameters{
		Factor: factor, OriginalMaxPositions: p.originalPositions(1),
		LowFreqFactor: required("low_freq_factor"), HighFreqFactor: required("high_freq_factor"),
	}
	if low, high := parameters.LowFreqFactor, parameters.HighFreqFactor; low > high {
		p.fail(ErrValue, "low_freq_factor", low, "at most high_freq_factor, which is %v", high)
	}
	return anyLength("llama3", frequency.Llama3, p.rotaryDim, p.base, parameters)
}

// readAxes returns the axis of each pair, nil for models of one axis.
func readAxes(f *family, rope *reader, pairs int) []uint8 {
	if f.axes == nil {
		return nil
	}
	sections, key := f.sections, "mrope_section"
	for _, spelling := range []string{"mrope_section", "xdrope_section"} {
		if given, ok := rope.integers(spelling); ok {
			sections, key = given, spelling
		}
	}
	if interleaved, ok := rope.boolean("mrope_interleaved"); ok && interleaved != f.interleavedSections {
		rope.fail(ErrContradiction, "mrope_interleaved", interleaved, "%v for this model type", f.interleavedSections)
	}
	rope.boolean("interleaved")
	if rope.err != nil || sections == nil {
		return nil
	}
	sum := 0
	for _, n := range sections {
		if n < 0 || n > pairs-sum {
			sum = -1
			break
		}
		sum += n
	}
	if sum != pairs || len(sections) != f.axisCount && f.axisCount != 0 {
		rope.fail(ErrValue, key, shortened(fmt.Sprint(sections)), "%s pairs that add up to all %d of a head", axesText(f.axisCount), pairs)
		return nil
	}
	axes, err := f.axes(sections)
	rope.failIf(err != nil, ErrValue, key, shortened(fmt.Sprint(sections)), "valid sections (%v)", err)
	return axes
}

func axesText(n int) string {
	if n == 3 {
		return "three counts of"
	}
	return "counts of"
}

// unknownKeys fails for the first key, in alphabetical order, that is in none of the lists.
func unknownKeys(r *reader, expected string, known ...[]string) {
	for _, key := range sortedKeys(r.keys) {
		if r.keys[key] != nil && !slices.ContainsFunc(known, func(list []string) bool { return slices.Contains(list, key) }) {
			if hint := hintOf(key); hint != "" {
				expected = hint
			}
			r.fail(ErrUnknown, keyName(key), kindOf(r.keys[key]), "%s", expected)
		}
	}
}
