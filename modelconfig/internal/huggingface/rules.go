package huggingface

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

// readRopes returns the rope parameters of each kind of layer that rotates, of both forms if they agree.
func readRopes(r *document.Reader, f *models.ModelType) map[string]*document.Reader {
	parametersKeys, given := r.Object("rope_parameters")
	scalingKeys, scaled := r.Object("rope_scaling")
	if len(scalingKeys) == 0 { // which is none, as of an object of rope_parameters it is not
		scalingKeys, scaled = nil, false
	}
	parameters, scaling := r.Within("rope_parameters", parametersKeys), r.Within("rope_scaling", scalingKeys)
	if f.Kinds == nil {
		rope := merged(parameters, scaling)
		if !given && !scaled && f.Absent != "" {
			rope.Keys = models.Parsed(f.Absent)
		}
		return map[string]*document.Reader{"": rope}
	}
	nested := slices.ContainsFunc(f.Kinds, func(k models.KindDefaults) bool { _, ok := parameters.Keys[k.LayerType]; return ok })
	if given && !nested {
		// transformers ignores flat parameters for types that have them for each kind.
		if len(parameters.Keys) > 0 && !f.FlatBlock {
			r.Fail(document.ErrValue, "rope_parameters", "flat", "an object for each kind of layer, such as %q", f.Kinds[0].LayerType)
			return nil
		}
		scaling, parameters = merged(parameters, scaling), r.Within("rope_parameters", nil)
	}
	if f.FlatBlock && nested {
		for _, k := range f.Kinds { // the class reads one alone as a flat block, and nothing in it
			_, ok := parameters.Keys[k.LayerType].(document.Object)
			parameters.FailIf(!ok, document.ErrValue, k.LayerType, document.KindOf(parameters.Keys[k.LayerType]), "an object, because models of this type need one for each kind of layer, or a flat rope_parameters")
		}
	}
	scaling.FailIf(f.FlatBlock && scaling.Keys["partial_rotary_factor"] != nil, document.ErrUnknown, "partial_rotary_factor", document.KindOf(scaling.Keys["partial_rotary_factor"]), "no such key in rope parameters of all kinds of layers: the class of this model type does not read it there")
	if f.FlatBlock && scaling.Keys["rope_theta"] != nil {
		// The class puts its own bases in the place of this one.
		scaling.Number("rope_theta")
		scaling.Keys = maps.Clone(scaling.Keys)
		delete(scaling.Keys, "rope_theta")
	}
	ropes, scales := map[string]*document.Reader{}, false
	var known []string
	for _, k := range f.Kinds {
		known = append(known, k.LayerType)
		if v, there := parameters.Keys[k.LayerType]; there && v == nil && !f.NullKinds {
			continue // of layers that do not rotate: readModel fails for others
		}
		inner, _ := parameters.Object(k.LayerType)
		rope := parameters.Within(k.LayerType, inner)
		if k.Scaled {
			scales = true
			rope = merged(rope, scaling)
		}
		if inner == nil && !(k.Scaled && scaling.Keys != nil) && k.Absent != "" {
			rope.Keys = models.Parsed(k.Absent)
		}
		rope.OfKind = inner != nil
		ropes[k.LayerType] = rope
	}
	unknownKeys(parameters, "the kinds of layers of this model type only", known)
	r.FailIf(len(scaling.Keys) > 0 && !scales,
		document.ErrUnknown, "rope_scaling", "an object", "no such key: models of this type have an object for each kind of layer in rope_parameters")
	for _, rope := range []*document.Reader{scaling, parameters} {
		r.Err = cmp.Or(r.Err, rope.Err)
	}
	return ropes
}

func merged(parameters, scaling *document.Reader) *document.Reader {
	if scaling.Keys == nil {
		return &document.Reader{Function: parameters.Function, Path: parameters.Path, Keys: parameters.Keys}
	}
	rope := &document.Reader{Function: scaling.Function, Path: scaling.Path, Keys: scaling.Keys}
	both := document.Object{}
	for _, from := range []*document.Reader{parameters, scaling} {
		for _, key := range document.SortedKeys(from.Keys) {
			v := from.Keys[key]
			before := both[key]
			rope.FailIf(before != nil && v != nil && !document.SameValue(before, v), document.ErrContradiction, key, document.KindOf(v), "the value in %s, which is %s", strings.TrimSuffix(parameters.Path, "."), document.KindOf(before))
			if v != nil || before == nil {
				both[key] = v
			}
		}
	}
	rope.Keys = both
	return rope
}

// RopeTypes are the rules, and the keys that each has in rope parameters besides commonKeys.
// If transformers has two names for a rule, both are here.
var RopeTypes = [...]struct {
	name string
	Keys []string
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

var CommonKeys = []string{"rope_type", "type", "rope_theta", "partial_rotary_factor"}

// hintOf says what to set in place of a key of other programs.
func hintOf(key string) string {
	switch key {
	case "attn_factor":
		return "attention_factor: attn_factor is vLLM's and multiplies the derived factor, while attention_factor replaces it (or set AttentionFactor in posenc.RotaryConfig)"
	case "extrapolation_factor":
		return "no such key: extrapolation_factor is vLLM's (use frequency.YaRN with ExtrapolationFactor)"
	case "mrope_section":
		return noAxes
	case "alpha":
		return "factor: alpha is HunYuan's (use frequency.NTKAlpha)"
	case "full_attention", "sliding_attention":
		return "no key for a kind of layer: all layers of this model type rotate in the same way (use posenc.RotaryConfig for each kind)"
	}
	return ""
}

// noAxes is what errors say of positions of several axes in a type that has one.
const noAxes = "no such key: models of this type have one axis of positions. A draft head for a model of several axes is read " +
	"with Options.Type \"qwen2_5_vl_text\", or \"qwen3_vl_text\" if its sections are interleaved (or set Axes in posenc.RotaryConfig)"

func KeysOfRopeType(name string) (keys []string, known bool) {
	for _, t := range RopeTypes {
		if t.name == name {
			return t.Keys, true
		}
	}
	return nil, false
}

func RopeTypeNames() []string {
	var names []string
	for _, t := range RopeTypes {
		names = append(names, t.name)
	}
	slices.Sort(names)
	return names
}

func ropeTypeOf(rope *document.Reader, f *models.ModelType) string {
	canonical := func(key string) string {
		name, ok := rope.Text(key)
		switch {
		case !ok:
			return ""
		case name == "su":
			return "longrope"
		case name == "mrope" && f.Axes != nil:
			return "default"
		case name == "xdrope" && f.Alpha:
			return "dynamic"
		case name == "axial" && f.Arrangement != nil:
			return "default"
		case name == "yarn" && f.YarnIsLongRoPE:
			return "longrope"
		case name == f.YarnName && name != "":
			return "yarn"
		}
		return name
	}
	newer, older := canonical("rope_type"), canonical("type")
	ropeType := cmp.Or(newer, older)
	rope.FailIf(older != "" && older != ropeType, document.ErrContradiction, "type", document.Quoted(older), "the same as rope_type, which is %s", document.Quoted(ropeType))
	if ropeType == "" {
		for _, key := range document.SortedKeys(rope.Keys) {
			if rope.Keys[key] != nil && !slices.Contains(CommonKeys, key) && !slices.Contains(f.ExtraKeys, key) {
				hint := hintOf(key)
				rope.FailIf(hint != "", document.ErrUnknown, document.KeyName(key), document.KindOf(rope.Keys[key]), "%s", hint)
				rope.Fail(document.ErrValue, "rope_type", "absent", "a rule for %s, such as \"linear\"", key)
			}
		}
		ropeType = "default"
	}
	known, ok := KeysOfRopeType(ropeType)
	if !ok {
		several := ropeType == "mrope" || ropeType == "xdrope"
		rope.FailIf(several, document.ErrUnknown, "rope_type", document.Quoted(ropeType), noAxes)
		rope.Fail(document.ErrUnknown, "rope_type", document.Quoted(ropeType), "one of %q, or use posenc.RotaryConfig with InvFreq", RopeTypeNames())
		return ""
	}
	if ropeType != "dynamic" || !f.Alpha {
		known = slices.DeleteFunc(slices.Clone(known), func(key string) bool { return key == "alpha" })
	}
	unknownKeys(rope, "no such key for rope_type "+ropeType+" (use posenc.RotaryConfig with InvFreq if it matters)", CommonKeys, known, f.ExtraKeys)
	return ropeType
}

func ruleOf(p *models.RopeParameters) description.Rule {
	dim, base := p.RotaryDim, p.Base
	if p.Positions < 1 { // the keys of towers have no name of it
		p.Model.Fail(document.ErrValue, p.Type.Keys.Positions[0], p.Positions, "at least 1")
	}
	if p.Type.Rule != nil {
		if own := p.Type.Rule(p); own.Ladder != nil {
			return own
		}
	}
	if p.RopeType == "default" && !p.Kind.Unscaled {
		factor := p.NumberOr("factor", 1)
		p.FailIf(factor != 1, document.ErrContradiction, "factor", factor, "1 or absent: rope_type default does not scale")
	}
	factor, hasFactor := p.Positive("factor")
	p.FailIf(!hasFactor && (p.RopeType == "linear" || p.RopeType == "dynamic" || p.RopeType == "llama3" || p.RopeType == "ntk") && !p.Has("alpha"),
		document.ErrValue, "factor", "absent", "the number by which rope_type %s scales", p.RopeType)
	switch p.RopeType {
	case "linear":
		return description.AnyLength("linear", frequency.Linear, dim, base, frequency.LinearParameters{Factor: factor})
	case "dynamic":
		if alpha := p.Optional("alpha"); alpha != 0 {
			p.FailIf(hasFactor && factor != 1, document.ErrContradiction, "factor", factor, "1 or absent together with alpha")
			for _, key := range []string{"beta_fast", "beta_slow", "mscale", "mscale_all_dim"} {
				p.Number(key) // of any value, but a number
			}
			return description.AnyLength("NTK alpha", frequency.NTKAlpha, dim, base, frequency.NTKAlphaParameters{Alpha: alpha})
		}
		return description.DynamicNTK(dim, base, factor, p.Positions) // never original_max_position_embeddings
	case "ntk":
		if p.Has("mixed_b") {
			mixedB := p.Optional("mixed_b")
			return description.AnyLength("NTK mixed", frequency.NTKMixed, dim, base, frequency.NTKMixedParameters{Factor: factor, MixedB: mixedB})
		}
		return description.AnyLength("NTK", frequency.NTK, dim, base, frequency.NTKParameters{Factor: factor})
	case "yarn":
		return yarnOf(p, factor, hasFactor)
	case "longrope":
		return longRoPEOf(p, factor, hasFactor)
	case "llama3":
		return llama3Of(p, factor)
	case "proportional":
		if !hasFactor {
			_, null := p.Keys["factor"]
			p.FailIf(null, document.ErrValue, "factor", "null", "a number, or no such key for 1")
			factor = 1
		}
		return description.AnyLength("proportional", frequency.Proportional, p.HeadDim, base, frequency.ProportionalParameters{PartialRotaryFactor: p.Partial, Factor: factor})
	}
	return description.Plain("default", frequency.Default, dim, base)
}

func yarnOf(p *models.RopeParameters, factor float64, hasFactor bool) description.Rule {
	original := p.OriginalPositions(1)
	if !hasFactor {
		const expected = "the number by which rope_type yarn scales; null stands for the ratio of max_position_embeddings to " +
			"a smaller original_max_position_embeddings"
		_, null := p.Keys["factor"]
		p.FailIf(!null, document.ErrValue, "factor", "absent", expected)
		p.FailIf(original == p.Positions, document.ErrValue, "factor", "null", expected)
		factor = float64(p.Positions) / float64(original)
	}
	n := p.IntegerOr([]string{"max_position_embeddings"}, p.Positions)
	p.FailIf(n != p.Positions, document.ErrContradiction, "max_position_embeddings", n, "the value beside the rope parameters, which is %d", p.Positions)
	parameters := frequency.YaRNParameters{
		Factor: factor, OriginalMaxPositions: original,
		AttentionFactor: p.AttentionFactor(),
		ScaleSoftmax:    p.Type.Latent,
	}
	// transformers takes 0 as absent for these four.
	parameters.BetaFast, parameters.BetaSlow = p.Optional("beta_fast"), p.Optional("beta_slow")
	parameters.MScale, parameters.MScaleAllDim = p.Optional("mscale"), p.Optional("mscale_all_dim")
	fast, slow := parameters.BetaFast, parameters.BetaSlow
	p.FailIf(fast != 0 && fast < slow, document.ErrValue, "beta_fast", fast, "at least beta_slow, which is %v", slow)
	v, given := p.Keys["truncate"]
	p.FailIf(given && v == nil, document.ErrValue, "truncate", "null", "true, false, or no such key, which means true: to transformers null is false")
	parameters.Untruncated = !p.Flag("truncate", true)
	p.Boolean("finetuned")
	return description.AnyLength("yarn", frequency.YaRN, p.RotaryDim, p.Base, parameters)
}

func longRoPEOf(p *models.RopeParameters, factor float64, hasFactor bool) description.Rule {
	original := p.OriginalPositions(2)
	if !hasFactor {
		factor = float64(p.Positions) / float64(original)
	}
	attentionFactor := p.AttentionFactor()
	list := func(key string) []float64 {
		factors, ok := p.Numbers(key)
		p.FailIf(!ok, document.ErrValue, key, "absent", "a list of %d numbers, one for each pair", p.RotaryDim/2)
		p.FailIf(len(factors) != p.RotaryDim/2, document.ErrValue, key, document.ListText(len(factors)), "a list of %d numbers, one for each pair", p.RotaryDim/2)
		for i, factor := range factors {
			p.FailIf(factor <= 0, document.ErrValue, fmt.Sprintf("%s[%d]", key, i), factor, "a number above 0")
		}
		return factors
	}
	parameters := frequency.LongRoPEParameters{
		OriginalMaxPositions: original, Factor: factor, ShortFactors: list("short_factor"), LongFactors: list("long_factor"),
		ShortAttentionFactor: attentionFactor, LongAttentionFactor: attentionFactor,
	}
	if p.Has("short_mscale") {
		parameters.ShortAttentionFactor = p.Optional("short_mscale")
	}
	if p.Has("long_mscale") {
		parameters.LongAttentionFactor = p.Optional("long_mscale")
	}
	return description.ByLength("longrope", frequency.LongRoPE, p.RotaryDim, p.Base, original, parameters, func(p *frequency.LongRoPEParameters, seqLen int) { p.SequenceLength = seqLen })
}

func llama3Of(p *models.RopeParameters, factor float64) description.Rule {
	required := func(key string) float64 {
		number, ok := p.Positive(key)
		p.FailIf(!ok, document.ErrValue, key, "absent", "a number")
		return number
	}
	parameters := frequency.Llama3Parameters{
		Factor: factor, OriginalMaxPositions: p.OriginalPositions(1),
		LowFreqFactor: required("low_freq_factor"), HighFreqFactor: required("high_freq_factor"),
	}
	low, high := parameters.LowFreqFactor, parameters.HighFreqFactor
	p.FailIf(low > high, document.ErrValue, "low_freq_factor", low, "at most high_freq_factor, which is %v", high)
	return description.AnyLength("llama3", frequency.Llama3, p.RotaryDim, p.Base, parameters)
}

// readAxes returns the axis of each pair and the number of axes: of some of them there may be no pair.
func readAxes(f *models.ModelType, rope *document.Reader, pairs int) (axes []uint8, count int) {
	if f.Axes == nil {
		return nil, 0
	}
	sections, key := f.Sections, "mrope_section"
	for _, spelling := range []string{"mrope_section", "xdrope_section"} {
		if given, ok := rope.Integers(spelling); ok {
			sections, key = given, spelling
		}
	}
	rule := f.Axes
	if interleaved, ok := rope.Boolean("mrope_interleaved"); ok && interleaved && rule.Interleaved != nil {
		rule = rule.Interleaved
	} else if ok && interleaved != (rule == &models.InterleavedSections) {
		rope.Fail(document.ErrContradiction, "mrope_interleaved", interleaved, "%v for this model type", !interleaved)
	}
	rope.Boolean("interleaved")
	video, marked := rope.Boolean("video_rope")
	rope.FailIf(rule == &models.VideoSections && marked != (sections != nil) || marked && !video, document.ErrUnknown, "video_rope", document.KindOf(rope.Keys["video_rope"]), "true together with %s, or neither", key)
	if f.Axes.Implied != nil {
		implied := f.Axes.Implied(pairs)
		rope.FailIf(sections != nil && !slices.Equal(sections, implied), document.ErrContradiction, key, document.Shortened(fmt.Sprint(sections)), "%v, which the code of this type takes for heads of its size", implied)
		sections = implied
	}
	if rope.Err != nil || sections == nil {
		return nil, 0
	}
	sum := 0
	for _, n := range sections {
		if n < 0 || n > pairs { // so that the sum cannot overflow
			n = pairs + 1
		}
		sum += n
	}
	if sum != pairs || len(sections) != rule.Count && rule.Count != 0 {
		rope.Fail(document.ErrValue, key, document.Shortened(fmt.Sprint(sections)), "%s pairs that add up to all %d of a head", map[bool]string{true: "three counts of", false: "counts of"}[rule.Count == 3], pairs)
		return nil, 0
	}
	axes, err := rule.Of(sections)
	rope.FailIf(err != nil, document.ErrValue, key, document.Shortened(fmt.Sprint(sections)), "valid sections (%v)", err)
	return axes, len(sections)
}

// unknownKeys fails for the first key that is in none of the lists.
func unknownKeys(r *document.Reader, expected string, known ...[]string) {
	for _, key := range document.SortedKeys(r.Keys) {
		if r.Keys[key] != nil && !slices.ContainsFunc(known, func(list []string) bool { return slices.Contains(list, key) }) {
			if hint := hintOf(key); hint != "" {
				expected = hint
			}
			r.Fail(document.ErrUnknown, document.KeyName(key), document.KindOf(r.Keys[key]), "%s", expected)
		}
	}
}
