package modelconfig

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
)

const (
	maxGGUFLayers = 4096 // llama.cpp: 512

	freqsTensor = "rope_freqs.weight"
	shortTensor = "rope_factors_short.weight"
	longTensor  = "rope_factors_long.weight"
)

// ggufRopeKeys are the keys that may follow {arch}.rope.
var ggufRopeKeys = []string{
	"dimension_count", "dimension_count_swa", "dimension_sections", "freq_base", "freq_base_swa", "scale_linear",
	"scaling.type", "scaling.factor", "scaling.alpha", "scaling.attn_factor", "scaling.original_context_length", "scaling.finetuned",
	"scaling.yarn_log_multiplier", "scaling.yarn_ext_factor", "scaling.yarn_attn_factor", "scaling.yarn_beta_fast", "scaling.yarn_beta_slow",
}

const (
	compressBaseKey = "attention.compress_rope_freq_base"
	patternKey      = "attention.rope_pattern"
)

// checkRopeKeys fails for a key of the architecture that names rotary positions and that
// llama.cpp does not have.
func (r *ggufReader) checkRopeKeys(arch *ggufArchitecture) {
	for _, key := range sortedKeys(r.keys) {
		if len(key) < len(r.prefix) || !strings.EqualFold(key[:len(r.prefix)], r.prefix) || r.err != nil {
			continue
		}
		rest := key[len(r.prefix):]
		known, isRope := strings.CutPrefix(key, r.name("rope."))
		switch subject := subjectOf(rest); {
		case isRope && slices.Contains(ggufRopeKeys, known):
		case arch.compressed && key == r.name(compressBaseKey), arch.nope.readsPattern() && key == r.name(patternKey):
		case isRope || subject == aboutRotation:
			r.err = valueError(ErrUnknown, "GGUF", quoted(key), "set", "no such key: llama.cpp does not have it; leave it out if it changes nothing, or set posenc.RotaryConfig directly")
		case subject == aboutOthers && key == r.name("attention.max_alibi_bias"):
			bias := r.number("attention.max_alibi_bias", 0)
			r.failIf(bias != 0, ErrContradiction, "attention.max_alibi_bias", bias, "0: ALiBi beside rotary positions is not read (set posenc.RotaryConfig directly)")
		case subject == aboutOthers:
			r.err = valueError(ErrUnknown, "GGUF", quoted(key), "set", "no such key: llama.cpp does not have it; leave it out if it changes nothing")
		}
	}
}

// ggufScaling is what the rope.scaling keys say, for the rules of package frequency.
type ggufScaling struct {
	factor       float64 // 1/freq_scale of ggml
	alpha        float64 // 0: none
	attention    float64 // multiplies cos and sin
	yarn         *frequency.YaRNParameters
	freqs        []float64 // divisors of the frequencies; nil: none
	short, long  []float64 // both or none
	originalSize int
}

func (s *ggufScaling) rule(rotaryDim int, base float64) rule {
	trained := 0
	if s.short != nil {
		trained = s.originalSize
	}
	ladder := func(seqLen int, rounding frequency.Rounding) (frequency.Ladder, error) {
		return s.ladder(rotaryDim, base, seqLen, rounding)
	}
	return rule{ladder, trained, s.described(base)}
}

// described is the rule that ladder follows.
func (s *ggufScaling) described(base float64) frequencyRule {
	switch {
	case s.yarn != nil:
		return frequencyRule{Name: "yarn", Base: base, Parameters: *s.yarn}
	case s.short != nil:
		return frequencyRule{Name: "longrope", Base: base, Parameters: frequency.LongRoPEParameters{
			OriginalMaxPositions: s.originalSize, ShortFactors: s.divisors(s.short), LongFactors: s.divisors(s.long),
			ShortAttentionFactor: s.attention, LongAttentionFactor: s.attention,
		}}
	case s.freqs != nil:
		return frequencyRule{Name: "factors", Base: base, Parameters: s.divisors(s.freqs)}
	case s.alpha != 0:
		return frequencyRule{Name: "NTK alpha", Base: base, Parameters: frequency.NTKAlphaParameters{Alpha: s.alpha}}
	case s.factor != 1:
		return frequencyRule{Name: "linear", Base: base, Parameters: frequency.LinearParameters{Factor: s.factor}}
	}
	return frequencyRule{Name: "default", Base: base}
}

// divisors returns by what factors of a tensor divide frequencies, together with the factor
// of the keys.
func (s *ggufScaling) divisors(factors []float64) []float64 {
	if s.factor == 1 {
		return factors
	}
	divisors := slices.Clone(factors)
	for i := range divisors {
		divisors[i] *= s.factor // exact: both are float32 in a file
	}
	return divisors
}

func (s *ggufScaling) ladder(rotaryDim int, base float64, seqLen int, rounding frequency.Rounding) (ladder frequency.Ladder, err error) {
	divisors := s.freqs
	if s.short != nil {
		divisors = s.short
		if seqLen > s.originalSize {
			divisors = s.long
		}
	}
	switch {
	case s.yarn != nil:
		return frequency.YaRN(rotaryDim, base, *s.yarn, rounding)
	case divisors != nil:
		ladder, err = frequency.Factors(rotaryDim, base, s.divisors(divisors), rounding)
	case s.alpha != 0:
		ladder, err = frequency.NTKAlpha(rotaryDim, base, frequency.NTKAlphaParameters{Alpha: s.alpha}, rounding)
	case s.factor != 1:
		ladder, err = frequency.Linear(rotaryDim, base, frequency.LinearParameters{Factor: s.factor}, rounding)
	default:
		ladder, err = frequency.Default(rotaryDim, base, rounding)
	}
	ladder.AttentionFactor = s.attention
	return ladder, err
}

// scaling reads the keys of rope.scaling.
func (r *ggufReader) scaling(arch *ggufArchitecture) *ggufScaling {
	s := &ggufScaling{factor: r.number("rope.scaling.factor", 0), alpha: r.number("rope.scaling.alpha", 0)}
	legacy, factorKey := r.number("rope.scale_linear", 0), "rope.scaling.factor"
	r.failIf(s.factor != 0 && legacy != 0 && s.factor != legacy,
		ErrContradiction, "rope.scale_linear", legacy, "%v as rope.scaling.factor says, or only one of the two", s.factor)
	if s.factor == 0 && legacy != 0 {
		factorKey = "rope.scale_linear"
	}
	s.factor = cmp.Or(s.factor, legacy, 1)
	r.failIf(!(s.factor > 0), ErrValue, factorKey, s.factor, "a number above 0, or 0 for none")
	r.failIf(s.alpha != 0 && !arch.alpha,
		ErrContradiction, "rope.scaling.alpha", s.alpha, "0, because llama.cpp reads it for hunyuan_vl and hunyuan-dense only; multiply rope.freq_base by alpha^(d/(d-2)) instead")
	r.failIf(!(s.alpha >= 0), ErrValue, "rope.scaling.alpha", s.alpha, "a number above 0, or 0 for none")
	r.failIf(s.alpha != 0 && s.factor != 1, ErrContradiction, "rope.scaling.alpha", s.alpha, "0 where rope.scaling.factor is %v", s.factor)
	s.attention = r.number("rope.scaling.attn_factor", 1)
	r.failIf(!(s.attention > 0), ErrValue, "rope.scaling.attn_factor", s.attention, "a number above 0")
	s.originalSize = r.integer("rope.scaling.original_context_length", 0)
	if s.originalSize == 0 {
		s.originalSize = r.integer("context_length", 0)
	}

	kind := r.text("rope.scaling.type", "linear")
	r.failIf(!slices.Contains([]string{"none", "linear", "yarn", "longrope"}, kind),
		ErrUnknown, "rope.scaling.type", quoted(kind), "none, linear, yarn or longrope; for other rules set posenc.RotaryConfig.InvFreq with package frequency")
	r.failIf(kind == "none" && s.factor != 1,
		ErrContradiction, "rope.scaling.type", kind, "linear or yarn where rope.scaling.factor is %v, or factor 1", s.factor)
	s.yarn = r.yarn(s, arch, kind)
	r.factors(s, arch, kind)
	r.failIf(arch.latent && s.yarn == nil && s.factor != 1,
		ErrContradiction, "rope.scaling.factor", s.factor, "1 without yarn, because llama.cpp would scale the attention scores as for yarn; set posenc.RotaryConfig directly")
	return s
}

// yarn reads the keys of YaRN. The result is nil if YaRN does not scale positions.
func (r *ggufReader) yarn(s *ggufScaling, arch *ggufArchitecture, kind string) *frequency.YaRNParameters {
	yarn := kind == "yarn"
	p := &frequency.YaRNParameters{
		Factor:               s.factor,
		OriginalMaxPositions: s.originalSize,
		BetaFast:             r.number("rope.scaling.yarn_beta_fast", 0),
		BetaSlow:             r.number("rope.scaling.yarn_beta_slow", 0),
		ExtrapolationFactor:  r.number("rope.scaling.yarn_ext_factor", -1),
		MScaleAllDim:         r.number("rope.scaling.yarn_log_multiplier", 0),
		AttentionMultiplier:  s.attention,
	}
	attention := r.number("rope.scaling.yarn_attn_factor", 1)
	if !yarn {
		for _, key := range []string{"beta_fast", "beta_slow", "log_multiplier"} {
			if v := r.number("rope.scaling.yarn_"+key, 0); v != 0 {
				r.fail(ErrContradiction, "rope.scaling.yarn_"+key, v, "no such key where rope.scaling.type is %s, or type yarn", quoted(kind))
			}
		}
		r.failIf(p.ExtrapolationFactor > 0,
			ErrContradiction, "rope.scaling.yarn_ext_factor", p.ExtrapolationFactor, "0 where rope.scaling.type is %s, or type yarn", quoted(kind))
	}
	p.BetaFast = cmp.Or(p.BetaFast, arch.betaFast)
	if p.ExtrapolationFactor < 0 {
		p.ExtrapolationFactor = 1
	}
	if !yarn || p.ExtrapolationFactor == 0 {
		r.failIf(attention != 1,
			ErrContradiction, "rope.scaling.yarn_attn_factor", attention, "1 without yarn; rope.scaling.attn_factor multiplies cos and sin")
		return nil
	}
	if derived := 1 + 0.1*math.Log(max(s.factor, 1)); attention != 1 && !(math.Abs(attention-derived) <= 1e-6*derived) {
		r.fail(ErrContradiction, "rope.scaling.yarn_attn_factor", attention, "1 or 1 + 0.1·ln(factor) = %.7g, because llama.cpp uses the latter; rope.scaling.attn_factor multiplies it", derived)
	}
	r.failIf(p.OriginalMaxPositions == 0, ErrValue, "rope.scaling.original_context_length", "missing", "this key or context_length, which yarn needs")
	r.failIf(p.ExtrapolationFactor > 1, ErrValue, "rope.scaling.yarn_ext_factor", p.ExtrapolationFactor, "at most 1")
	for _, n := range []struct {
		key    string
		number float64
	}{{"beta_fast", p.BetaFast}, {"beta_slow", p.BetaSlow}, {"log_multiplier", p.MScaleAllDim}} {
		r.failIf(n.number < 0, ErrValue, "rope.scaling.yarn_"+n.key, n.number, "0 or a number above 0")
	}
	if p.MScaleAllDim != 0 {
		switch arch.logMultiplier {
		case logMultiplierUnread:
			r.fail(ErrContradiction, "rope.scaling.yarn_log_multiplier", p.MScaleAllDim, "0, because llama.cpp reads it for DeepSeek and Mistral only; rope.scaling.attn_factor multiplies cos and sin")
		case logMultiplierTenth:
			// The file has mscale_all_dim/10 in float32; this division undoes it.
			p.MScaleAllDim = float64(float32(p.MScaleAllDim) / float32(0.1))
		}
		p.MScale = 1
		if arch.equalMScale {
			p.MScale = p.MScaleAllDim
		}
	}
	if arch.latent {
		p.ScaleSoftmax = true
		r.failIf(p.MScaleAllDim == 0 || p.MScale != p.MScaleAllDim || s.attention != 1,
			ErrValue, "rope.scaling.yarn_log_multiplier", p.MScaleAllDim, "0.1 (DeepSeek V2: its mscale_all_dim/10) and rope.scaling.attn_factor 1, so that mscale is mscale_all_dim; set posenc.RotaryConfig directly")
	}
	return p
}

// factors reads the tensors of frequency factors, at any length.
func (r *ggufReader) factors(s *ggufScaling, arch *ggufArchitecture, kind string) {
	s.freqs, s.short, s.long = r.tensor(freqsTensor), r.tensor(shortTensor), r.tensor(longTensor)
	r.failIf(s.freqs != nil && !arch.freqs,
		ErrContradiction, freqsTensor, "set", "no such tensor, because llama.cpp does not use it in this architecture; set posenc.RotaryConfig directly")
	r.failIf(s.short != nil && !arch.longRoPE,
		ErrContradiction, shortTensor, "set", "no such tensor, because llama.cpp does not use it in this architecture; set posenc.RotaryConfig directly")
	r.failIf(s.short != nil && kind != "longrope" && !arch.anyType,
		ErrContradiction, "rope.scaling.type", kind, "longrope with the tensor %s, because llama.cpp does not use it otherwise", shortTensor)
	r.failIf((s.short == nil) != (s.long == nil), ErrContradiction, shortTensor+" or "+longTensor, "missing", "both tensors or none")
	r.failIf(s.short != nil && s.freqs != nil, ErrContradiction, freqsTensor, "set", "either this tensor or %s and %s", shortTensor, longTensor)
	r.failIf(kind == "longrope" && s.short == nil, ErrValue, "rope.scaling.type", kind, "the tensors %s and %s with it", shortTensor, longTensor)
	r.failIf(s.short != nil && s.originalSize == 0,
		ErrValue, "rope.scaling.original_context_length", "missing", "this key or context_length, which %s needs", longTensor)
	r.failIf((s.freqs != nil || s.short != nil) && (s.yarn != nil || s.alpha != 0),
		ErrContradiction, "rope.scaling.type", kind, "no yarn and no alpha together with tensors of frequency factors; set posenc.RotaryConfig directly")
}

// resize checks the length of the factors, one for each pair of rotaryDim
// elements. If layers rotate different numbers of elements, the tensor has the factors
// of the largest.
func (r *ggufReader) resize(s *ggufScaling, rotaryDim int, longer bool) {
	for _, t := range []struct {
		name    string
		factors *[]float64
	}{{freqsTensor, &s.freqs}, {shortTensor, &s.short}, {longTensor, &s.long}} {
		n := len(*t.factors)
		if *t.factors == nil || n == rotaryDim/2 {
			continue
		}
		if !longer || n < rotaryDim/2 {
			r.fail(ErrValue, t.name, listText(n), "%d factors, one for each pair", rotaryDim/2)
			return
		}
		*t.factors = (*t.factors)[:rotaryDim/2]
	}
}

func (r *ggufReader) model(m *description, arch *ggufArchitecture) {
	r.failIf(!r.value("block_count").IsValid(), ErrValue, "block_count", "missing", "the number of layers")
	blocks := r.integer("block_count", 0)
	count := blocks - r.integer("nextn_predict_layers", 0)
	if arch.draft {
		r.failIf(count != 0 && r.has("nextn_predict_layers"), ErrContradiction, "nextn_predict_layers", blocks-count, "block_count, which is %d, in this architecture", blocks)
		count = blocks
	}
	r.failIf(count < 1 || blocks > maxGGUFLayers, ErrValue, "block_count", blocks, "from 1 to %d, and more than nextn_predict_layers", maxGGUFLayers)
	hyper := r.integer("hyper_connection.count", 0)
	r.failIf(arch.drafts && hyper > 0, ErrUnknown, "hyper_connection.count", hyper, "0: drafters of DeepSeek V4 are not read (set posenc.RotaryConfig with Layout Interleaved and Offset)")
	r.failIf(arch.rotaryLayers != 0 && count != arch.rotaryLayers,
		ErrNotRotary, "block_count", count, "%d (larger models of the architecture have ALiBi)", arch.rotaryLayers)
	r.failIf(!r.flag("rope.scaling.finetuned", true) && arch.finetuned, ErrNotRotary, "rope.scaling.finetuned", false, "true where layers rotate")
	if r.err != nil {
		return
	}

	m.contextLength = r.integer("context_length", 0)
	headDim, rotaryDim := r.headSize(arch, count)
	base := r.base("rope.freq_base", 10000)
	scaling := r.scaling(arch)
	layout, axes := r.layoutAndAxes(arch, rotaryDim)
	r.failIf(arch.plainBase && (base != 10000 || scaling.factor != 1 || scaling.yarn != nil || scaling.attention != 1),
		ErrContradiction, "rope.freq_base or rope.scaling", "set", "base 10000 without scaling, because llama.cpp takes no other in this architecture; set posenc.RotaryConfig directly")
	slides, windowed := r.sliding(arch, count)
	ratios := r.compression(arch, count)
	for i, ratio := range ratios {
		slides[i], windowed = ratio == 0, true
	}
	rotates := r.rotating(arch, count, slides, windowed)
	m.queryScale, m.scalesRotating = r.queryScale(arch, scaling.originalSize, windowed), arch.queryScale != scaledNoPEIfWindowed

	// Parameters of sliding layers.
	slidingHead := r.integer("attention.key_length_swa", headDim)
	slidingDim := r.integer("rope.dimension_count_swa", rotaryDim)
	slidingBase := base
	slidingScaling := scaling
	if windowed && !arch.compressed && arch.sliding.base != 0 {
		slidingBase = arch.sliding.base
	}
	slidingBase = r.base("rope.freq_base_swa", slidingBase)
	if arch.compressed {
		r.failIf(r.has("rope.freq_base_swa"), ErrContradiction, "rope.freq_base_swa", slidingBase, "no such key, because llama.cpp does not use it in this architecture")
		base = r.base(compressBaseKey, 0)
		r.failIf(scaling.attention != 1, ErrContradiction, "rope.scaling.attn_factor", scaling.attention, "1, because llama.cpp does not use it in this architecture; set posenc.RotaryConfig directly")
		slidingScaling = &ggufScaling{factor: 1, attention: 1}
		if scaling.yarn != nil { // llama.cpp takes the factor of YaRN back
			scaling.yarn.AttentionFactor = 1
		}
	} else if windowed && (arch.sliding.base != 0 || arch.sliding.plain || arch.sliding.unscaled) {
		// These layers have neither factor nor divisors. They keep the attention factor,
		// unless llama.cpp calls them without any scaling.
		slidingScaling = &ggufScaling{factor: 1, attention: scaling.attention}
		if arch.sliding.plain {
			slidingScaling.attention = 1
		}
	}
	if arch.halfOfFull {
		rotaryDim /= 2
	}
	r.checkDims(headDim, rotaryDim, "rope.dimension_count", "attention.key_length", "embedding_length")
	r.checkDims(slidingHead, slidingDim, "rope.dimension_count_swa", "attention.key_length_swa", "rope.dimension_count", "attention.key_length", "embedding_length")
	r.failIf(scaling.alpha != 0 && rotaryDim != headDim,
		ErrContradiction, "rope.scaling.alpha", scaling.alpha, "0 where rope.dimension_count is not the whole head")
	r.failIf(slidingDim != rotaryDim && windowed && (arch.compressed || arch.sliding.sameDim),
		ErrContradiction, "rope.dimension_count_swa", slidingDim, "%d as in the other layers, because llama.cpp takes the elements of the first layer for all of them; set posenc.RotaryConfig directly", rotaryDim)
	r.resize(scaling, rotaryDim, arch.halfOfFull)
	separate := slidingBase != base || slidingDim != rotaryDim || slidingHead != headDim
	r.failIf(separate && !arch.compressed && (!windowed || arch.sliding.sameBase),
		ErrContradiction, "rope.freq_base_swa, rope.dimension_count_swa or attention.key_length_swa", "different", "what the other layers have, because llama.cpp does not use it in this architecture; set posenc.RotaryConfig directly")
	if r.err != nil {
		return
	}
	separate = separate || slidingScaling != scaling

	fullType, slidingType := "", ""
	if separate {
		fullType, slidingType = fullAttention, slidingAttention
	}
	if arch.compressed {
		fullType, slidingType = "compress", "main"
	}
	m.layers = make([]layer, count)
	m.kinds = map[string]kind{}
	add := func(name string, headDim, rotaryDim int, base float64, scaling *ggufScaling) {
		offset := 0
		if arch.compressed {
			offset = headDim - rotaryDim
		}
		m.kinds[name] = kind{
			rotary: posenc.RotaryConfig{HeadDim: headDim, RotaryDim: rotaryDim, Offset: offset, Layout: layout, Axes: axes},
			rule:   scaling.rule(rotaryDim, base),
			source: r.name("rope.*"),
		}
	}
	for i := range m.layers {
		layerType := fullType
		if slides[i] {
			layerType = slidingType
		}
		m.layers[i] = layer{kind: layerType, rotates: rotates[i]}
		if _, known := m.kinds[layerType]; known || !rotates[i] {
			continue
		}
		if slides[i] && separate {
			add(layerType, slidingHead, slidingDim, slidingBase, slidingScaling)
		} else {
			add(layerType, headDim, rotaryDim, base, scaling)
		}
	}
	r.failIf(len(m.kinds) == 0, ErrNotRotary, "attention.*", "such that no layer rotates", "at least one layer with rotary attention")
	r.indexers(arch, m, slides, ratios)
}

// compression reads by which factor each layer compresses the sequence. 0 means not at all.
func (r *ggufReader) compression(arch *ggufArchitecture, count int) []int {
	const key = "attention.compress_ratios"
	if !arch.compressed {
		return nil
	}
	r.failIf(!r.has(key), ErrValue, key, "missing", "by how much each layer compresses the sequence")
	r.failIf(!r.has(compressBaseKey), ErrValue, compressBaseKey, "missing", "the base of the compressed sequence")
	return r.perLayer(key, count)
}

// indexers adds the kind of the indexers of sparse attention.
func (r *ggufReader) indexers(arch *ggufArchitecture, m *description, slides []bool, ratios []int) {
	const lengthKey, typesKey = "attention.indexer.key_length", "attention.indexer.types"
	x := arch.indexer
	if x == nil || !r.has(lengthKey) || r.err != nil {
		return
	}
	var full []bool
	if x.typed {
		full = r.flagPerLayer(typesKey, len(m.layers))
	}
	of, found := "", false
	for i := range m.layers {
		layer := &m.layers[i]
		has := layer.rotates && !slides[i]
		if ratios != nil {
			has = has && ratios[i] == sparseRatio
		}
		if !has || full != nil && !full[i] {
			continue
		}
		layer.indexer, of, found = true, layer.kind, true
	}
	if !found || r.err != nil {
		return
	}
	k := m.kinds[of]
	if of == "" {
		delete(m.kinds, "")
		m.kinds[attentionKind] = k
		for i := range m.layers {
			m.layers[i].kind = attentionKind
		}
	}
	dim, rotaryDim := r.integer(lengthKey, 0), k.rotary.RotaryDim
	r.failIf(dim < rotaryDim, ErrContradiction, lengthKey, dim, "at least the %d elements that rotate", rotaryDim)
	k.rotary.HeadDim, k.rotary.Layout, k.rotary.Offset = dim, x.layout, 0
	if x.trailing {
		k.rotary.Offset = dim - rotaryDim
	}
	k.rule = k.rule.withoutSoftmaxScale()
	m.kinds[indexerKind] = k
}

// headSize returns the elements per head and how many of them rotate.
func (r *ggufReader) headSize(arch *ggufArchitecture, count int) (headDim, rotaryDim int) {
	if arch.latent || arch.latentPart {
		rotaryDim = r.integer("rope.dimension_count", 0)
		r.failIf(rotaryDim == 0, ErrValue, "rope.dimension_count", "missing", "the elements of a head that rotate")
		return rotaryDim, rotaryDim
	}
	headDim = r.integer("attention.key_length", 0)
	if headDim == 0 && r.err == nil {
		width := r.integer("embedding_length", 0)
		heads := r.perLayer("attention.head_count", count)
		r.failIf(width == 0 || heads == nil || heads[0] == 0 || width%heads[0] != 0,
			ErrValue, "attention.key_length", "missing", "this key, or embedding_length as a multiple of attention.head_count")
		if r.err == nil {
			headDim = width / heads[0]
		}
	}
	rotaryDim = r.integer("rope.dimension_count", headDim)
	r.failIf(arch.whole && rotaryDim != headDim,
		ErrContradiction, "rope.dimension_count", rotaryDim, "%d, the whole head, in this architecture", headDim)
	return headDim, rotaryDim
}

// checkDims checks how many elements of a head rotate. Its error names the first of the keys
// that the file has.
func (r *ggufReader) checkDims(headDim, rotaryDim int, keys ...string) {
	if rotaryDim >= 2 && rotaryDim%2 == 0 && rotaryDim <= headDim && rotaryDim <= maxRotaryDim {
		return
	}
	key := keys[0]
	if i := slices.IndexFunc(keys, r.has); i >= 0 {
		key = keys[i]
	}
	r.fail(ErrValue, key, r.keys[r.name(key)], "an even number of rotated elements, from 2 to %d; this makes it %d of %d", maxRotaryDim, rotaryDim, headDim)
}

func (r *ggufReader) base(key string, missing float64) float64 {
	base := r.number(key, missing)
	r.failIf(!(base > 1), ErrValue, key, base, "a number above 1")
	return base
}

// layoutAndAxes returns the layout and the axis of each pair (nil for one axis).
func (r *ggufReader) layoutAndAxes(arch *ggufArchitecture, rotaryDim int) (posenc.Layout, []uint8) {
	const key = "rope.dimension_sections"
	sections := r.integers(key, 4)
	pairs := 0
	for _, n := range sections {
		pairs += n // at most four int32
	}
	if pairs == 0 {
		r.failIf(arch.axes == sectionedAxes || arch.axes == interleavedAxes, ErrValue, key, "missing", "how many pairs belong to time, height and width")
		return arch.layout, nil
	}
	if arch.axes == oneAxis {
		r.fail(ErrContradiction, key, sections, "no such key: sections are not read in this architecture; set posenc.RotaryConfig.Axes")
		return arch.layout, nil
	}
	if len(sections) < 3 {
		r.fail(ErrValue, key, sections, "three or four sections, of time, height and width")
		return arch.layout, nil
	}
	if pairs != rotaryDim/2 {
		r.fail(ErrValue, key, sections, "sections of %d pairs in all, half of rope.dimension_count", rotaryDim/2)
		return arch.layout, nil
	}
	var axes []uint8
	var err error
	if arch.axes == interleavedAxes {
		sections = append(sections, 0, 0, 0, 0)[:4]
		if sections[3] != 0 {
			r.fail(ErrValue, key, sections, "three sections")
			return arch.layout, nil
		}
		axes, err = frequency.InterleavedSections(frequency.ImageSections{Time: sections[0], Height: sections[1], Width: sections[2]})
	} else {
		axes, err = frequency.Sections(sections...)
	}
	r.failIf(err != nil, ErrValue, key, sections, "pairs of time, height and width (%v)", err)
	return posenc.HalfSplit, axes
}

// sliding says which layers have a sliding window, and whether any do.
func (r *ggufReader) sliding(arch *ggufArchitecture, count int) (slides []bool, windowed bool) {
	slides = make([]bool, count)
	s := arch.sliding
	if s == nil || s.layers != 0 && s.layers != count {
		return slides, false
	}
	switch s.window {
	case windowUnlessZero:
		windowed = r.integer("attention.sliding_window", 1) > 0
	case windowIfGiven:
		windowed = r.integer("attention.sliding_window", 0) > 0
	case windowAlways:
		windowed = true
		r.failIf(r.integer("attention.sliding_window", 1) == 0, ErrValue, "attention.sliding_window", 0, "at least 1 in this architecture")
	}
	if !windowed {
		return slides, false
	}
	const key = "attention.sliding_window_pattern"
	if r.isList(key) {
		copy(slides, r.flagPerLayer(key, count))
		return slides, true
	}
	period := r.integer(key, s.period)
	r.failIf(s.period == 0 && !r.has(key), ErrValue, key, "missing", "which layers have a sliding window")
	for i := range slides {
		switch {
		case period == 0:
			slides[i] = true
		case s.denseFirst:
			slides[i] = i%period != 0
		default:
			slides[i] = i%period < period-1
		}
	}
	return slides, true
}

// rotating says which layers rotate.
func (r *ggufReader) rotating(arch *ggufArchitecture, count int, slides []bool, windowed bool) []bool {
	rotates := make([]bool, count)
	dense, pattern := 0, []bool(nil)
	if arch.nope.readsPattern() {
		r.failIf(arch.nope == byRequiredPattern && !r.has(patternKey), ErrValue, patternKey, "missing", "which layers rotate")
		pattern = r.flagPerLayer(patternKey, count)
	}
	if arch.nope == denseAndSliding {
		dense = r.integer("leading_dense_block_count", 0)
	}
	for i := range rotates {
		switch arch.nope {
		case allRotate:
			rotates[i] = true
		case byPattern, byRequiredPattern:
			rotates[i] = pattern == nil || pattern[i]
		case onlySliding:
			rotates[i] = slides[i] || !windowed
		case denseAndSliding:
			rotates[i] = slides[i] || i < dense
		case exceptLastOfFour:
			rotates[i] = (i+1)%4 != 0
		case exceptLastOfFourIfWindowed:
			rotates[i] = (i+1)%4 != 0 || !windowed
		case exceptFirstOfFourIfWindowed:
			rotates[i] = i%4 != 0 || !windowed
		}
	}
	// Layers without attention.
	if arch.attentionInterval != 0 {
		if recurrent := r.flagPerLayer("attention.recurrent_layers", count); recurrent != nil {
			for i := range rotates {
				rotates[i] = rotates[i] && !recurrent[i]
			}
		} else {
			interval := r.integer("full_attention_interval", arch.attentionInterval)
			if interval == 0 {
				r.fail(ErrValue, "full_attention_interval", 0, "at least 1")
				return rotates
			}
			for i := range rotates {
				rotates[i] = rotates[i] && (i+1)%interval == 0
			}
		}
	}
	for _, key := range []string{"attention.head_count", "attention.head_count_kv"} {
		if !r.isList(key) {
			continue
		}
		for i, heads := range r.perLayer(key, count) {
			rotates[i] = rotates[i] && heads != 0
		}
	}
	return rotates
}

func (r *ggufReader) queryScale(arch *ggufArchitecture, original int, windowed bool) *posenc.QueryScaling {
	const scaleKey, lengthKey = "attention.temperature_scale", "attention.temperature_length"
	beta, length, key := 0.0, 0, lengthKey
	switch arch.queryScale {
	case scaledBeyondOriginal:
		beta, length, key = r.number(scaleKey, 0), original, "rope.scaling.original_context_length"
	case scaledBeyondLength:
		beta, length = r.number(scaleKey, 0), r.integer(lengthKey, 0)
	case scaledNoPEIfWindowed:
		if windowed {
			return &posenc.QueryScaling{Beta: 0.1, Length: 8192, Offset: 1}
		}
	}
	if beta == 0 {
		return nil
	}
	r.failIf(beta < 0 || beta > maxBeta, ErrValue, scaleKey, beta, "from 0 to 2^100")
	r.failIf(length < 1, ErrValue, key, length, "at least 1 with %s", scaleKey)
	return &posenc.QueryScaling{Beta: beta, Length: length}
}

// readGGUFKeys describes the model of keys, by the code of the architecture if that is not "".
func readGGUFKeys(keys map[string]any, architecture string) (*description, error) {
	r := &ggufReader{keys: keys}
	const key = "general.architecture"
	name := r.text(key, "")
	r.failIf(name == "", ErrValue, key, "missing", "the architecture of the model")
	r.prefix = name + "."
	name = cmp.Or(architecture, name)
	positions := positionsOfArchitecture(name)
	r.failIf(positions != "", ErrNotRotary, key, quoted(name), "an architecture with rotary positions (this one has %s)", positions)
	arch := architectureNamed(name)
	if reason := refusalOfArchitecture(name); reason != "" {
		r.fail(ErrUnknown, key, quoted(name), "%s", reason)
	}
	if arch == nil {
		arch = new(ggufArchitecture)
		near := ""
		known := namesOf(func(v *vendor, add func(string)) {
			for i := range v.architectures {
				add(v.architectures[i].name)
			}
			for _, p := range v.otherArchitectures {
				add(p.name)
			}
		})
		if other := nearest(name, known); other != "" {
			near = fmt.Sprintf(" (the nearest name is %q, which may rotate differently)", other)
		}
		r.fail(ErrUnknown, key, quoted(name), "an architecture in docs/models.md%s; for others set Options.Type to the one whose code is the same, or posenc.RotaryConfig directly, with values from llama.cpp's code", near)
	}
	r.checkRopeKeys(arch)
	m := &description{modelType: name, format: fromGGUF, latent: arch.latent || arch.latentPart, traps: arch.traps}
	r.model(m, arch)
	if r.err != nil {
		return nil, r.err
	}
	return m, nil
}
