// Package gguf reads the metadata of a GGUF file into a description. It knows keys, and
// architectures only by the values of package models.
package gguf

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

const (
	MaxGGUFLayers = 4096 // llama.cpp: 512

	freqsTensor = "rope_freqs.weight"
	shortTensor = "rope_factors_short.weight"
	longTensor  = "rope_factors_long.weight"

	splitKey = "split.tensors.count" // of a file in several parts
)

var factorTensors = []string{freqsTensor, shortTensor, longTensor}

// GgufRopeKeys are the keys that may follow {arch}.rope.
var GgufRopeKeys = []string{
	"dimension_count", "dimension_count_swa", "dimension_sections", "freq_base", "freq_base_swa", "scale_linear",
	"scaling.type", "scaling.factor", "scaling.alpha", "scaling.attn_factor", "scaling.original_context_length", "scaling.finetuned",
	"scaling.yarn_log_multiplier", "scaling.yarn_ext_factor", "scaling.yarn_attn_factor", "scaling.yarn_beta_fast", "scaling.yarn_beta_slow",
}

const (
	CompressBaseKey = "attention.compress_rope_freq_base"
	PatternKey      = "attention.rope_pattern"
)

// unknownKey does not advise to leave the key out: the model may need what it says.
const unknownKey = "no such key: no converter of llama.cpp or ollama writes it in this architecture; " +
	"set posenc.RotaryConfig directly, by the code that reads it"

// checkRopeKeys fails for a key about rotary positions that llama.cpp does not have.
func (r *ggufReader) checkRopeKeys(arch *models.GGUFArchitecture) {
	for _, key := range document.SortedKeys(r.keys) {
		if r.err != nil {
			return
		}
		if len(key) < len(r.prefix) || !strings.EqualFold(key[:len(r.prefix)], r.prefix) {
			_, rest, _ := strings.Cut(key, ".")
			if document.SubjectOf(key) == document.AboutRotation && !ofTower(key) && !ofTower(rest) {
				r.err = document.ValueError(document.ErrContradiction, "GGUF", document.Quoted(key), "set",
					"no such key, because general.architecture is %s: keys of another architecture say nothing about it",
					document.Quoted(strings.TrimSuffix(r.prefix, ".")))
			}
			continue
		}
		rest := key[len(r.prefix):]
		known, isRope := strings.CutPrefix(key, r.name("rope."))
		switch subject := document.SubjectOf(rest); {
		case isRope && slices.Contains(GgufRopeKeys, known), strings.HasPrefix(key, r.prefix) && (isOllamas(rest, arch.Sliding != nil) || ofTower(rest)):
		case arch.Compressed && key == r.name(CompressBaseKey), arch.RopePattern && key == r.name(PatternKey):
		case isRope || subject == document.AboutRotation:
			r.err = document.ValueError(document.ErrUnknown, "GGUF", document.Quoted(key), "set", unknownKey)
		case subject == document.AboutOthers && key == r.name("attention.max_alibi_bias"):
			bias := r.number("attention.max_alibi_bias", 0)
			r.failIf(bias != 0, document.ErrContradiction, "attention.max_alibi_bias", bias, "0: ALiBi beside rotary positions is not read (set posenc.RotaryConfig directly)")
		case subject == document.AboutOthers:
			r.err = document.ValueError(document.ErrUnknown, "GGUF", document.Quoted(key), "set", unknownKey)
		}
	}
}

// checkTensors fails where frequency factors may be missed: without names of tensors, and by names that no
// loader of llama.cpp asks for.
func (r *ggufReader) checkTensors(arch *models.GGUFArchitecture) {
	var used []string
	if arch.Freqs {
		used = append(used, freqsTensor)
	}
	if arch.LongRoPE {
		used = append(used, shortTensor, longTensor)
	}
	r.failIf(len(r.tensors) == 0 && used != nil && !arch.NeedsFreqs, document.ErrValue, "tensors", "empty",
		"the names of the file's tensors, and the values of %s if it has them", strings.Join(used, ", "))
	for _, name := range factorTensors {
		r.failIf(r.has(name), document.ErrContradiction, name, "a key", "it among tensors")
	}
	for _, name := range document.SortedKeys(r.tensors) {
		tower := strings.HasPrefix(name, "v.") || strings.HasPrefix(name, "a.") || strings.HasPrefix(name, "mm.")
		r.failIf(strings.Contains(name, "rope_") && !tower && !slices.Contains(factorTensors, name),
			document.ErrUnknown, "tensors", document.Quoted(name),
			"no such tensor, because llama.cpp does not read it; set posenc.RotaryConfig directly")
	}
}

type ggufScaling struct {
	factor       float64 // 1/freq_scale of ggml
	alpha        float64 // 0: none
	attention    float64 // multiplies cos and sin
	yarn         *frequency.YaRNParameters
	freqs        []float64 // divisors of the frequencies; nil: none
	short, long  []float64 // both or none
	originalSize int
}

func (s *ggufScaling) rule(rotaryDim int, base float64) description.Rule {
	rule := description.Plain("default", frequency.Default, rotaryDim, base)
	switch {
	case s.yarn != nil:
		return description.AnyLength("yarn", frequency.YaRN, rotaryDim, base, *s.yarn)
	case s.short != nil:
		short, long := s.divisors(s.short), s.divisors(s.long)
		rule.Ladder = func(seqLen int, rounding frequency.Rounding) (frequency.Ladder, error) {
			if seqLen > s.originalSize {
				return frequency.Factors(rotaryDim, base, long, rounding)
			}
			return frequency.Factors(rotaryDim, base, short, rounding)
		}
		rule.Trained = s.originalSize
		rule.Described = description.FrequencyRule{Name: "longrope", Base: base, Parameters: frequency.LongRoPEParameters{
			OriginalMaxPositions: s.originalSize, ShortFactors: short, LongFactors: long,
			ShortAttentionFactor: s.attention, LongAttentionFactor: s.attention,
		}}
	case s.freqs != nil:
		rule = description.AnyLength("factors", frequency.Factors, rotaryDim, base, s.divisors(s.freqs))
	case s.alpha != 0:
		rule = description.AnyLength("NTK alpha", frequency.NTKAlpha, rotaryDim, base, frequency.NTKAlphaParameters{Alpha: s.alpha})
	case s.factor != 1:
		rule = description.AnyLength("linear", frequency.Linear, rotaryDim, base, frequency.LinearParameters{Factor: s.factor})
	}
	return rule.With(func(ladder *frequency.Ladder) { ladder.AttentionFactor = s.attention })
}

// divisors returns the factors of a tensor, times the factor of the keys.
func (s *ggufScaling) divisors(factors []float64) []float64 {
	divisors := slices.Clone(factors)
	for i := range divisors {
		divisors[i] *= s.factor // exact: both are float32 in a file
	}
	return divisors
}

func (r *ggufReader) scaling(arch *models.GGUFArchitecture, unwritten models.GGUFUnwritten) *ggufScaling {
	s := &ggufScaling{factor: r.number("rope.scaling.factor", unwritten.Factor), alpha: r.number("rope.scaling.alpha", 0)}
	legacy, factorKey := r.number("rope.scale_linear", 0), "rope.scaling.factor"
	r.failIf(s.factor != 0 && legacy != 0 && s.factor != legacy,
		document.ErrContradiction, "rope.scale_linear", legacy, "%v as rope.scaling.factor says, or only one of the two", s.factor)
	if s.factor == 0 && legacy != 0 {
		factorKey = "rope.scale_linear"
	}
	s.factor = cmp.Or(s.factor, legacy, 1)
	r.failIf(!(s.factor > 0), document.ErrValue, factorKey, s.factor, "a number above 0, or 0 for none")
	r.failIf(s.alpha != 0 && !arch.Alpha,
		document.ErrContradiction, "rope.scaling.alpha", s.alpha, "0, because llama.cpp reads it for hunyuan_vl and hunyuan-dense only; multiply rope.freq_base by alpha^(d/(d-2)) instead")
	r.failIf(!(s.alpha >= 0), document.ErrValue, "rope.scaling.alpha", s.alpha, "a number above 0, or 0 for none")
	r.failIf(s.alpha != 0 && s.factor != 1, document.ErrContradiction, "rope.scaling.alpha", s.alpha, "0 where rope.scaling.factor is %v", s.factor)
	s.attention = r.number("rope.scaling.attn_factor", 1)
	r.failIf(!(s.attention > 0), document.ErrValue, "rope.scaling.attn_factor", s.attention, "a number above 0")
	s.originalSize = cmp.Or(r.integer("rope.scaling.original_context_length", 0), r.integer("context_length", 0))

	kind := cmp.Or(r.text("rope.scaling.type", ""), unwritten.Type, "linear")
	if kind == "default" { // of ollama
		kind = "none"
	}
	r.failIf(!slices.Contains([]string{"none", "linear", "yarn", "longrope"}, kind),
		document.ErrUnknown, "rope.scaling.type", document.Quoted(kind), "none, linear, yarn or longrope; for other rules set posenc.RotaryConfig.InvFreq with package frequency")
	r.failIf(kind == "none" && s.factor != 1,
		document.ErrContradiction, "rope.scaling.type", kind, "linear or yarn where rope.scaling.factor is %v, or factor 1", s.factor)
	s.yarn = r.yarn(s, arch, kind)
	r.factors(s, arch, kind)
	r.failIf(arch.Latent && s.yarn == nil && s.factor != 1,
		document.ErrContradiction, "rope.scaling.factor", s.factor, "1 without yarn, because llama.cpp would scale the attention scores as for yarn; set posenc.RotaryConfig directly")
	return s
}

// yarn reads the keys of YaRN. The result is nil if YaRN does not scale positions.
func (r *ggufReader) yarn(s *ggufScaling, arch *models.GGUFArchitecture, kind string) *frequency.YaRNParameters {
	const prefix, multiplierKey, factorKey, extKey = "rope.scaling.yarn_", "rope.scaling.yarn_log_multiplier", "rope.scaling.yarn_attn_factor", "rope.scaling.yarn_ext_factor"
	yarn, numbers := kind == "yarn", []string{"beta_fast", "beta_slow", "log_multiplier"}
	p := &frequency.YaRNParameters{
		Factor:               s.factor,
		OriginalMaxPositions: s.originalSize,
		BetaFast:             cmp.Or(r.number("rope.scaling.yarn_beta_fast", 0), arch.BetaFast),
		BetaSlow:             r.number("rope.scaling.yarn_beta_slow", 0),
		ExtrapolationFactor:  r.number(extKey, -1),
		MScaleAllDim:         r.number(multiplierKey, 0),
		AttentionMultiplier:  s.attention,
		ScaleSoftmax:         arch.Latent,
	}
	attention := r.number(factorKey, 1)
	mscale := r.number(mscaleKey, 0)
	r.failIf(mscale != 0 && (!yarn || mscale != p.MScaleAllDim) || mscale == 0 && p.MScaleAllDim != 0 && r.written(multiplierKey) != multiplierKey,
		document.ErrContradiction, mscaleKey, mscale,
		"mscale_all_dim, which is %v, with type yarn; set posenc.RotaryConfig directly", p.MScaleAllDim)
	for _, key := range numbers {
		v := r.number(prefix+key, 0)
		r.failIf(v != 0 && !yarn, document.ErrContradiction, prefix+key, v, "no such key where rope.scaling.type is %s, or type yarn", document.Quoted(kind))
	}
	r.failIf(p.ExtrapolationFactor > 0 && !yarn, document.ErrContradiction, extKey, p.ExtrapolationFactor, "0 where rope.scaling.type is %s, or type yarn", document.Quoted(kind))
	if !yarn || p.ExtrapolationFactor == 0 {
		r.failIf(attention != 1, document.ErrContradiction, factorKey, attention, "1 without yarn; rope.scaling.attn_factor multiplies cos and sin")
		return nil
	}
	if p.ExtrapolationFactor < 0 {
		p.ExtrapolationFactor = 1
	}
	derived := 1 + 0.1*math.Log(max(s.factor, 1))
	if arch.AttentionOfYaRN {
		r.failIf(s.attention != 1 && !(math.Abs(s.attention-derived) <= 1e-6*derived),
			document.ErrContradiction, "rope.scaling.attn_factor", s.attention,
			"1 or 1 + 0.1·ln(factor) = %.7g, because ollama uses the latter; set posenc.RotaryConfig directly", derived)
		s.attention, p.AttentionMultiplier = 1, 1
	}
	r.failIf(attention != 1 && !(math.Abs(attention-derived) <= 1e-6*derived),
		document.ErrContradiction, factorKey, attention, "1 or 1 + 0.1·ln(factor) = %.7g, because llama.cpp uses the latter; rope.scaling.attn_factor multiplies it", derived)
	r.failIf(s.originalSize == 0, document.ErrValue, "rope.scaling.original_context_length", "missing", "this key or context_length, which yarn needs")
	r.failIf(p.ExtrapolationFactor > 1, document.ErrValue, extKey, p.ExtrapolationFactor, "at most 1")
	for _, key := range numbers {
		v := r.number(prefix+key, 0)
		r.failIf(v < 0, document.ErrValue, prefix+key, v, "0 or a number above 0")
	}
	fast, slow := cmp.Or(p.BetaFast, 32), cmp.Or(p.BetaSlow, 1)
	r.failIf(fast < slow, document.ErrValue, prefix+"beta_fast", fast, "at least yarn_beta_slow, which is %v", slow)
	if p.MScaleAllDim != 0 {
		r.failIf(arch.LogMultiplier == 0,
			document.ErrContradiction, multiplierKey, p.MScaleAllDim, "0, because llama.cpp reads it for DeepSeek and Mistral only; rope.scaling.attn_factor multiplies cos and sin")
		if arch.LogMultiplier != 1 {
			// The file has mscale_all_dim/10 in float32; this division undoes it.
			p.MScaleAllDim = float64(float32(p.MScaleAllDim) / float32(arch.LogMultiplier))
		}
		p.MScale = cmp.Or(mscale, 1)
		if arch.EqualMScale {
			p.MScale = p.MScaleAllDim
		}
	}
	r.failIf(arch.Latent && (p.MScaleAllDim == 0 || p.MScale != p.MScaleAllDim || s.attention != 1),
		document.ErrValue, multiplierKey, p.MScaleAllDim, "0.1 (DeepSeek V2: its mscale_all_dim/10) and rope.scaling.attn_factor 1, so that mscale is mscale_all_dim; set posenc.RotaryConfig directly")
	return p
}

func (r *ggufReader) factors(s *ggufScaling, arch *models.GGUFArchitecture, kind string) {
	s.freqs, s.short, s.long = r.tensor(freqsTensor), r.tensor(shortTensor), r.tensor(longTensor)
	parts := r.integer(splitKey, 0)
	r.failIf(s.freqs == nil && s.short == nil && s.long == nil && (arch.Freqs || arch.LongRoPE) && len(r.tensors) < parts,
		document.ErrValue, "tensors", document.ListText(len(r.tensors)),
		"the %d tensors that %s counts: those of all parts of the file, one of which may have frequency factors", parts,
		splitKey)
	r.failIf(s.freqs != nil && !arch.Freqs,
		document.ErrContradiction, freqsTensor, "set", "no such tensor, because llama.cpp does not use it in this architecture; set posenc.RotaryConfig directly")
	r.failIf(s.short != nil && !arch.LongRoPE,
		document.ErrContradiction, shortTensor, "set", "no such tensor, because llama.cpp does not use it in this architecture; set posenc.RotaryConfig directly")
	r.failIf(s.short != nil && kind != "longrope" && !arch.AnyType,
		document.ErrContradiction, "rope.scaling.type", kind, "longrope with the tensor %s, because llama.cpp does not use it otherwise", shortTensor)
	r.failIf((s.short == nil) != (s.long == nil), document.ErrContradiction, shortTensor+" or "+longTensor, "missing", "both tensors or none")
	r.failIf(s.short != nil && s.freqs != nil, document.ErrContradiction, freqsTensor, "set", "either this tensor or %s and %s", shortTensor, longTensor)
	r.failIf(kind == "longrope" && s.short == nil, document.ErrValue, "rope.scaling.type", kind, "the tensors %s and %s with it", shortTensor, longTensor)
	length := r.integer("context_length", 0)
	r.failIf(arch.AnyType && s.short == nil && s.yarn == nil && s.factor == 1 && length > s.originalSize,
		document.ErrValue, shortTensor, "missing",
		"it and %s, since context_length %d is above rope.scaling.original_context_length %d", longTensor, length,
		s.originalSize)
	r.failIf(s.short != nil && s.originalSize == 0,
		document.ErrValue, "rope.scaling.original_context_length", "missing", "this key or context_length, which %s needs", longTensor)
	r.failIf((s.freqs != nil || s.short != nil) && (s.yarn != nil || s.alpha != 0),
		document.ErrContradiction, "rope.scaling.type", kind, "no yarn and no alpha together with tensors of frequency factors; set posenc.RotaryConfig directly")
}

// resize cuts the factors to the pairs of rotaryDim elements: a tensor has those of the layers with most.
func (r *ggufReader) resize(s *ggufScaling, rotaryDim, most int) {
	for i, factors := range []*[]float64{&s.freqs, &s.short, &s.long} {
		n := len(*factors)
		r.failIf(*factors != nil && n != most/2, document.ErrValue, factorTensors[i], document.ListText(n),
			"%d factors, one for each pair", most/2)
		*factors = (*factors)[:min(n, rotaryDim/2)]
	}
}

func (r *ggufReader) model(m *description.Description, arch *models.GGUFArchitecture) {
	r.failIf(!r.has("block_count"), document.ErrValue, "block_count", "missing", "the number of layers")
	blocks := r.integer("block_count", 0)
	count := blocks - r.integer("nextn_predict_layers", 0)
	if arch.Draft {
		r.failIf(count != 0 && r.has("nextn_predict_layers"), document.ErrContradiction, "nextn_predict_layers", blocks-count, "block_count, which is %d, in this architecture", blocks)
		count = blocks
	}
	r.failIf(count < 1 || blocks > MaxGGUFLayers, document.ErrValue, "block_count", blocks, "from 1 to %d, and more than nextn_predict_layers", MaxGGUFLayers)
	hyper := r.integer("hyper_connection.count", 0)
	r.failIf(arch.Drafts && hyper > 0, document.ErrUnknown, "hyper_connection.count", hyper, "0: drafters of DeepSeek V4 are not read (set posenc.RotaryConfig with Layout Interleaved, Base rope.freq_base without scaling, and Offset for the last rope.dimension_count elements)")
	r.failIf(arch.RotaryLayers != 0 && count != arch.RotaryLayers,
		document.ErrNotRotary, "block_count", count, "%d (larger models of the architecture have ALiBi)", arch.RotaryLayers)
	r.failIf(!r.flag("rope.scaling.finetuned", true) && arch.Finetuned, document.ErrNotRotary, "rope.scaling.finetuned", false, "true where layers rotate")
	if r.err != nil {
		return
	}

	m.ContextLength = r.integer("context_length", 0)
	unwritten := r.unwritten(arch, count)
	headDim, rotaryDim := r.headSize(arch, count)
	r.checkPart(partKey, headDim, rotaryDim)
	base := r.base("rope.freq_base", cmp.Or(unwritten.Base, 10000))
	scaling := r.scaling(arch, unwritten)
	layout, axes := r.layoutAndAxes(arch, rotaryDim, unwritten.Sections)
	if axes != nil {
		m.Axes = max(3, int(slices.Max(axes))+1) // time, height and width, also without pairs
	}
	r.failIf(arch.PlainBase && (base != 10000 || scaling.factor != 1 || scaling.yarn != nil || scaling.attention != 1),
		document.ErrContradiction, "rope.freq_base or rope.scaling", "set", "base 10000 without scaling, because llama.cpp takes no other in this architecture; set posenc.RotaryConfig directly")
	slides, windowed := r.sliding(arch, count)
	ratios := r.compression(arch, count)
	for i, ratio := range ratios {
		slides[i], windowed = ratio == 0, true
	}
	rotates := r.rotating(arch, count, slides, windowed)
	r.failIf(arch.NeedsFreqs && scaling.freqs == nil && slices.Contains(slides, false),
		document.ErrValue, freqsTensor, "missing", "this tensor of the file, which llama.cpp requires in this architecture")
	m.QueryScale, m.ScalesRotating = r.queryScale(arch, scaling.originalSize), arch.QueryScale != models.ScaledNoPE

	sliding := ggufKind{r.integer("attention.key_length_swa", headDim), r.integer("rope.dimension_count_swa", rotaryDim), base, scaling}
	if windowed && !arch.Compressed {
		sliding.base = cmp.Or(arch.Sliding.Base, base)
	}
	sliding.base = r.base("rope.freq_base_swa", sliding.base)
	r.checkPart(slidingPartKey, sliding.headDim, sliding.rotaryDim)
	if arch.Compressed {
		r.failIf(r.has("rope.freq_base_swa"), document.ErrContradiction, "rope.freq_base_swa", sliding.base, "no such key, because llama.cpp does not use it in this architecture")
		base = r.base(CompressBaseKey, 0)
		r.failIf(scaling.attention != 1, document.ErrContradiction, "rope.scaling.attn_factor", scaling.attention, "1, because llama.cpp does not use it in this architecture; set posenc.RotaryConfig directly")
		sliding.scaling = &ggufScaling{factor: 1, attention: 1}
		if scaling.yarn != nil { // llama.cpp takes the factor of YaRN back
			scaling.yarn.AttentionFactor = 1
		}
	} else if windowed && (arch.Sliding.Base != 0 || arch.Sliding.Plain || arch.Sliding.Unscaled) {
		// These layers have neither factor nor divisors. They keep the attention factor,
		// unless llama.cpp calls them without any scaling.
		sliding.scaling = &ggufScaling{factor: 1, attention: scaling.attention}
		if arch.Sliding.Plain {
			sliding.scaling.attention = 1
		}
	}
	if arch.HalfOfFull {
		rotaryDim /= 2
	}
	full := ggufKind{headDim, rotaryDim, base, scaling}
	r.checkDims(full, "rope.dimension_count", "attention.key_length", "embedding_length")
	r.checkDims(sliding, "rope.dimension_count_swa", "attention.key_length_swa", "rope.dimension_count", "attention.key_length", "embedding_length")
	r.failIf(scaling.alpha != 0 && rotaryDim != headDim,
		document.ErrContradiction, "rope.scaling.alpha", scaling.alpha, "0 where rope.dimension_count is not the whole head")
	r.failIf(sliding.rotaryDim != rotaryDim && windowed && (arch.Compressed || arch.Sliding.SameDim),
		document.ErrContradiction, "rope.dimension_count_swa", sliding.rotaryDim, "%d as in the other layers, because llama.cpp takes the elements of the first layer for all of them; set posenc.RotaryConfig directly", rotaryDim)
	most := rotaryDim
	if arch.HalfOfFull && slices.Contains(slides, true) {
		most = max(rotaryDim, sliding.rotaryDim)
	}
	r.resize(scaling, rotaryDim, most)
	separate := sliding != ggufKind{headDim, rotaryDim, base, sliding.scaling}
	r.failIf(separate && !arch.Compressed && (!windowed || arch.Sliding.SameBase),
		document.ErrContradiction, "rope.freq_base_swa, rope.dimension_count_swa or attention.key_length_swa", "different", "what the other layers have, because llama.cpp does not use it in this architecture; set posenc.RotaryConfig directly")

	names := map[bool]string{} // of kinds, by whether a layer slides
	switch {
	case arch.Compressed:
		names = map[bool]string{true: "main", false: "compress"}
	case sliding != full:
		names = map[bool]string{true: description.SlidingAttention, false: description.FullAttention}
	default:
		sliding = full
	}
	m.Kinds = map[string]description.Kind{}
	for i, rotating := range rotates {
		k := full
		if slides[i] {
			k = sliding
		}
		m.Layers = append(m.Layers, description.Layer{Kind: names[slides[i]], Rotates: rotating})
		if _, known := m.Kinds[names[slides[i]]]; known || !rotating {
			continue
		}
		cfg := posenc.RotaryConfig{HeadDim: k.headDim, RotaryDim: k.rotaryDim, Layout: layout, Axes: axes}
		if arch.Compressed {
			cfg.Offset = k.headDim - k.rotaryDim
		}
		m.Kinds[names[slides[i]]] = description.Kind{Rotary: cfg, Rule: k.scaling.rule(k.rotaryDim, k.base), Source: r.name("rope.*")}
	}
	r.failIf(len(m.Kinds) == 0, document.ErrNotRotary, "attention.*", "such that no layer rotates", "at least one layer with rotary attention")
	r.indexers(arch, m, slides, ratios)
}

// ggufKind is what layers rotate by: those that slide, or the others.
type ggufKind struct {
	headDim, rotaryDim int
	base               float64
	scaling            *ggufScaling
}

func (r *ggufReader) compression(arch *models.GGUFArchitecture, count int) []int {
	const key = "attention.compress_ratios"
	if !arch.Compressed {
		return nil
	}
	r.failIf(!r.has(key), document.ErrValue, key, "missing", "by how much each layer compresses the sequence")
	r.failIf(!r.has(CompressBaseKey), document.ErrValue, CompressBaseKey, "missing", "the base of the compressed sequence")
	return r.perLayer(key, count)
}

func (r *ggufReader) indexers(arch *models.GGUFArchitecture, m *description.Description, slides []bool, ratios []int) {
	const lengthKey = "attention.indexer.key_length"
	x := arch.Indexer
	if x == nil || !r.has(lengthKey) || r.err != nil {
		return
	}
	var full []bool
	if x.Typed {
		full = r.flagPerLayer("attention.indexer.types", len(m.Layers))
	}
	of, found := "", false
	for i := range m.Layers {
		layer := &m.Layers[i]
		if layer.Rotates && !slides[i] && (ratios == nil || ratios[i] == description.SparseRatio) && (full == nil || full[i]) {
			layer.Indexer, of, found = true, layer.Kind, true
		}
	}
	if found {
		dim, rotaryDim := r.integer(lengthKey, 0), m.Kinds[of].Rotary.RotaryDim
		r.failIf(dim < rotaryDim, document.ErrContradiction, lengthKey, dim, "at least the %d elements that rotate", rotaryDim)
		m.AddIndexer(of, dim, x.Layout, x.Trailing)
	}
}

func (r *ggufReader) headSize(arch *models.GGUFArchitecture, count int) (headDim, rotaryDim int) {
	if arch.Latent || arch.LatentPart {
		rotaryDim = r.integer("rope.dimension_count", 0)
		r.failIf(rotaryDim == 0, document.ErrValue, "rope.dimension_count", "missing", "the elements of a head that rotate")
		return rotaryDim, rotaryDim
	}
	headDim = r.integer("attention.key_length", 0)
	if headDim == 0 && r.err == nil {
		width := r.integer("embedding_length", 0)
		heads := r.perLayer("attention.head_count", count)
		r.failIf(width == 0 || heads == nil || heads[0] == 0 || width%heads[0] != 0,
			document.ErrValue, "attention.key_length", "missing", "this key, or embedding_length as a multiple of attention.head_count")
		if r.err == nil {
			headDim = width / heads[0]
		}
	}
	rotaryDim = r.integer("rope.dimension_count", headDim)
	r.failIf(arch.Whole && rotaryDim != headDim,
		document.ErrContradiction, "rope.dimension_count", rotaryDim, "%d, the whole head, in this architecture", headDim)
	return headDim, rotaryDim
}

// checkDims names the first of the keys that the file has.
func (r *ggufReader) checkDims(k ggufKind, keys ...string) {
	key := keys[max(0, slices.IndexFunc(keys, r.has))]
	r.failIf(k.rotaryDim < 2 || k.rotaryDim%2 != 0 || k.rotaryDim > min(k.headDim, description.MaxRotaryDim),
		document.ErrValue, key, r.keys[r.name(key)], "an even number of rotated elements, from 2 to %d; this makes it %d of %d", description.MaxRotaryDim, k.rotaryDim, k.headDim)
}

func (r *ggufReader) base(key string, missing float64) float64 {
	base := r.number(key, missing)
	r.failIf(!(base > 1), document.ErrValue, key, base, "a number above 1")
	return base
}

func (r *ggufReader) layoutAndAxes(arch *models.GGUFArchitecture, rotaryDim int, unwritten []int) (posenc.Layout, []uint8) {
	const key = "rope.dimension_sections"
	sections := unwritten
	if r.has(key) || unwritten == nil {
		sections = r.integers(key, 4)
	}
	pairs := 0
	for _, n := range sections {
		pairs += n // at most four int32
	}
	if pairs == 0 {
		r.failIf(arch.Axes == models.SectionedAxes || arch.Axes == models.InterleavedAxes, document.ErrValue, key, "missing", "how many pairs belong to time, height and width")
		return arch.Layout, nil
	}
	padded := append(slices.Clip(sections), 0, 0, 0, 0)[:4]
	r.failIf(arch.Axes == models.OneAxis, document.ErrContradiction, key, sections, "no such key: sections are not read in this architecture; set posenc.RotaryConfig.Axes")
	r.failIf(len(sections) < 3, document.ErrValue, key, sections, "three or four sections, of time, height and width")
	r.failIf(pairs != rotaryDim/2, document.ErrValue, key, sections, "sections of %d pairs in all, half of rope.dimension_count", rotaryDim/2)
	r.failIf(arch.Axes == models.InterleavedAxes && padded[3] != 0, document.ErrValue, key, padded, "three sections")
	if r.err != nil {
		return arch.Layout, nil
	}
	axes, err := frequency.Sections(sections...)
	if arch.Axes == models.InterleavedAxes {
		axes, err = frequency.InterleavedSections(frequency.ImageSections{Time: sections[0], Height: sections[1], Width: sections[2]})
		sections = padded
	}
	r.failIf(err != nil, document.ErrValue, key, sections, "pairs of time, height and width (%v)", err)
	return posenc.HalfSplit, axes
}

func (r *ggufReader) sliding(arch *models.GGUFArchitecture, count int) (slides []bool, windowed bool) {
	slides = make([]bool, count)
	s := arch.Sliding
	if s == nil || s.Layers != 0 && s.Layers != count {
		return slides, false
	}
	window := 1
	if s.IfGiven {
		window = 0
	}
	window = r.integer("attention.sliding_window", window)
	r.failIf(window == 0 && !s.IfGiven && !s.UnlessZero, document.ErrValue, "attention.sliding_window", window, "at least 1 in this architecture")
	if window == 0 {
		return slides, false
	}
	const key = "attention.sliding_window_pattern"
	if r.isList(key) {
		copy(slides, r.flagPerLayer(key, count))
		return slides, true
	}
	period := r.integer(key, s.Period)
	r.failIf(s.Period == 0 && !r.has(key), document.ErrValue, key, "missing", "which layers have a sliding window")
	for i := range slides {
		slides[i] = period == 0 || s.DenseFirst && i%period != 0 || !s.DenseFirst && (i+1)%period != 0
	}
	return slides, true
}

func (r *ggufReader) rotating(arch *models.GGUFArchitecture, count int, slides []bool, windowed bool) []bool {
	rotates := make([]bool, count)
	dense, pattern := 0, r.flagPerLayer(PatternKey, count) // other architectures do not have this key
	r.failIf(arch.NeedsPattern && pattern == nil, document.ErrValue, PatternKey, "missing", "which layers rotate")
	if arch.DenseRotate {
		dense = r.integer("leading_dense_block_count", 0)
	}
	for i := range rotates {
		layer := models.GGUFLayer{Number: i, Slides: slides[i], Windowed: windowed}
		rotates[i] = i < dense || (pattern == nil || pattern[i]) && (arch.Rotates == nil || arch.Rotates(layer))
	}
	if arch.AttentionInterval != 0 { // other layers have no attention
		recurrent, interval := r.flagPerLayer("attention.recurrent_layers", count), 1
		if recurrent == nil {
			interval = r.integer("full_attention_interval", arch.AttentionInterval)
			r.failIf(interval == 0, document.ErrValue, "full_attention_interval", 0, "at least 1")
		}
		for i := range rotates {
			rotates[i] = rotates[i] && (i+1)%max(interval, 1) == 0 && (recurrent == nil || !recurrent[i])
		}
	}
	if arch.CrossAttention {
		for _, i := range r.integers(crossAttentionKey, count) {
			r.failIf(i >= count, document.ErrValue, crossAttentionKey, i, "numbers of layers, below %d", count)
			rotates[min(i, count-1)] = false
		}
	}
	for _, key := range []string{"attention.head_count", "attention.head_count_kv"} {
		for i, heads := range r.perLayer(key, count) {
			rotates[i] = rotates[i] && heads != 0
		}
	}
	return rotates
}

func (r *ggufReader) queryScale(arch *models.GGUFArchitecture, original int) *posenc.QueryScaling {
	const scaleKey, lengthKey = "attention.temperature_scale", "attention.temperature_length"
	beta, length, key := 0.0, 0, lengthKey
	switch arch.QueryScale {
	case models.ScaledBeyondOriginal:
		beta, length, key = r.number(scaleKey, 0), original, "rope.scaling.original_context_length"
	case models.ScaledBeyondLength:
		beta, length = r.number(scaleKey, 0), r.integer(lengthKey, 0)
	case models.ScaledNoPE:
		floor := r.number(floorKey, 8192)
		r.failIf(floor != 8192, document.ErrValue, floorKey, floor, "8192; for others set posenc.QueryScaling")
		if !r.flag(tuningKey, true) {
			return nil
		}
		return &posenc.QueryScaling{Beta: 0.1, Length: 8192, Offset: 1}
	}
	if beta == 0 {
		return nil
	}
	r.failIf(beta < 0 || beta > description.MaxBeta, document.ErrValue, scaleKey, beta, "from 0 to 2^100")
	r.failIf(length < 1, document.ErrValue, key, length, "at least 1 with %s", scaleKey)
	return &posenc.QueryScaling{Beta: beta, Length: length}
}

// Read describes the model of keys and tensors, by the code of the architecture if that is not "".
func Read(keys map[string]any, tensors map[string][]float32, architecture string) (*description.Description, error) {
	r := &ggufReader{keys: keys, tensors: tensors}
	const key = "general.architecture"
	name := r.text(key, "")
	r.failIf(name == "", document.ErrValue, key, "missing", "the architecture of the model")
	r.prefix = name + "."
	name = cmp.Or(architecture, name)
	positions := models.PositionsIn(models.OtherArchitectures, name)
	r.failIf(positions != "", document.ErrNotRotary, key, document.Quoted(name), "an architecture with rotary positions (this one has %s)", positions)
	arch := models.Architectures.Named(name)
	reason := models.PositionsIn(models.RefusedArchitectures, name)
	r.failIf(reason != "", document.ErrUnknown, key, document.Quoted(name), "%s", reason)
	if arch == nil {
		arch = new(models.GGUFArchitecture)
		known := slices.Concat(models.Architectures.Names(), models.OtherArchitectures.Names())
		slices.Sort(known)
		r.failIf(true, document.ErrUnknown, key, document.Quoted(name), "an architecture in docs/models.md%s; for others set Options.Type to the one whose code is the same, or posenc.RotaryConfig directly, with values from llama.cpp's code", document.NearestNote(name, known))
	}
	r.checkTensors(arch)
	r.checkRopeKeys(arch)
	r.checkOllama(arch)
	m := &description.Description{ModelType: name, GGUF: true, Latent: arch.Latent || arch.LatentPart, Traps: arch.Traps}
	r.model(m, arch)
	if r.err != nil {
		return nil, r.err
	}
	return m, nil
}
