package gguf

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

// OllamaName has names that ollama's converter gave to a key of llama.cpp.
type OllamaName struct {
	Key   string
	Names []string
}

var OllamaNames = []OllamaName{
	{"attention.key_length", []string{"attention.head_dim", "head_dim"}},
	{"attention.temperature_scale", []string{"rope.scaling_beta"}},
	{"rope.dimension_count_swa", []string{"rope.swa.dimension_count"}},
	{"rope.dimension_sections", []string{"rope.mrope_section", "mrope_sections"}},
	{"rope.freq_base", []string{"rope.global.freq_base"}},
	{interleavedKey, []string{"mrope_interleaved"}},
	{"rope.freq_base_swa", []string{"rope.local.freq_base", "rope.freq_base_local", "rope.swa.freq_base"}},
	{"rope.scaling.type", []string{"rope.type"}},
	{"rope.scaling.yarn_beta_fast", []string{"rope.scaling.beta_fast"}},
	{"rope.scaling.yarn_beta_slow", []string{"rope.scaling.beta_slow"}},
	{"rope.scaling.yarn_ext_factor", []string{"rope.scaling.extrapolation_factor"}},
	{"rope.scaling.yarn_log_multiplier", []string{"rope.scaling.mscale_all_dim"}},
}

// Keys of ollama's converter for which llama.cpp has none.
const (
	mscaleKey         = "rope.scaling.mscale"
	partKey           = "rope.partial_rotary_factor"
	slidingPartKey    = "rope.swa.partial_rotary_factor"
	slidingFactorKey  = "rope.swa.scaling.factor"
	slidingTypeKey    = "rope.swa.scaling.type"
	interleavedKey    = "rope.mrope_interleaved"
	crossAttentionKey = "attention.cross_attention_layers"
	normalizedKey     = "normalize_embeddings"
	tokensPerImageKey = "mm.tokens_per_image"
	normEpsilonKey    = "attention.layer_norm_rms_epsilon"
	visionBlocksKey   = "vision.block_count"
	slidingWindowKey  = "attention.sliding_window"
	tuningKey         = "attention.temperature_tuning"
	floorKey          = "attention.floor_scale"
)

// OllamaKeys are the keys about rotation that ollama alone writes.
var OllamaKeys = []string{mscaleKey, partKey, slidingPartKey, slidingFactorKey, slidingTypeKey, interleavedKey}

// written is the name that a file has for a key of llama.cpp.
func (r *ggufReader) written(key string) string {
	if _, has := r.keys[r.prefix+key]; has {
		return key
	}
	for _, of := range OllamaNames {
		for _, name := range of.Names {
			if _, has := r.keys[r.prefix+name]; has && of.Key == key {
				return name
			}
		}
	}
	return key
}

// isOllamas reports whether a key, without the architecture before it, is one of ollama's about rotation. Some are
// about layers with a sliding window.
func isOllamas(key string, sliding bool) bool {
	known := slices.Contains(OllamaKeys, key)
	for _, of := range OllamaNames {
		known = known || slices.Contains(of.Names, key) && (sliding || !ofSliding(key) && !strings.HasSuffix(of.Key, "_swa"))
	}
	return known
}

// ofSliding reports whether a key tells layers with a sliding window from the others.
func ofSliding(key string) bool { return strings.HasPrefix(key, "rope.global.") }

// ofTower reports whether a key is about the images or sounds of a model, which ollama has in one file with the text.
func ofTower(key string) bool {
	part, _, _ := strings.Cut(key, ".")
	return slices.Contains([]string{"vision", "audio", "sam", "mm"}, part)
}

// checkOllama fails where ollama's keys contradict others, or mean what is not read.
func (r *ggufReader) checkOllama(arch *models.GGUFArchitecture) {
	for _, of := range OllamaNames {
		first := r.name(of.Key)
		for _, other := range of.Names {
			v, has := r.keys[r.prefix+other]
			r.failIf(has && sameText(v) != sameText(r.keys[first]), document.ErrContradiction, other, v,
				"%v as %s says, or only one of the two", r.keys[first], first)
		}
	}
	factor := r.number(slidingFactorKey, 1)
	r.failIf(factor != 1 && factor != 0, document.ErrContradiction, slidingFactorKey, factor,
		"1, because layers with a window are not scaled; set posenc.RotaryConfig directly")
	interleaved := r.flag(interleavedKey, arch.Axes == models.InterleavedAxes)
	r.failIf(interleaved != (arch.Axes == models.InterleavedAxes), document.ErrContradiction, interleavedKey,
		interleaved, "%t in this architecture; set posenc.RotaryConfig.Axes", !interleaved)
	r.failIf(r.has(normalizedKey) && !r.has("rope.freq_base"), document.ErrValue, "rope.freq_base", "missing",
		"the base: in files that ollama converted it is not the one of llama.cpp (rotary_emb_base of the model's "+
			"config.json, mostly 1000 or 10000)")
	r.failIf(
		arch.QueryScale == models.QueriesUnscaled && r.written("attention.temperature_scale") == "rope.scaling_beta",
		document.ErrContradiction, "rope.scaling_beta", "set",
		"no such key, because queries are not scaled in this architecture")
}

// sameText is the same for lists that differ in a last 0: sections have three values or four.
func sameText(v any) string {
	return strings.TrimSuffix(strings.TrimSuffix(fmt.Sprint(v), "]"), " 0")
}

// checkPart fails unless a part of a head is the rotated elements.
func (r *ggufReader) checkPart(key string, headDim, rotaryDim int) {
	part := r.number(key, 0)
	r.failIf(part != 0 && math.Abs(part*float64(headDim)-float64(rotaryDim)) >= 1,
		document.ErrContradiction, key, part, "%.7g, which is %d of %d elements",
		float64(rotaryDim)/float64(max(headDim, 1)), rotaryDim, headDim)
}

// unwritten returns what ollama takes for keys that its converter left out, where it made the file.
func (r *ggufReader) unwritten(arch *models.GGUFArchitecture, count int) models.GGUFUnwritten {
	u := arch.Unwritten
	if u == nil {
		return models.GGUFUnwritten{}
	}
	made := u.Always || !r.has(normEpsilonKey) || r.has(tokensPerImageKey) || r.has(visionBlocksKey) ||
		r.has("rope.global.freq_base") || r.has("rope.local.freq_base")
	for name := range r.tensors {
		made = made || strings.HasPrefix(name, "v.") || strings.HasPrefix(name, "mm.")
	}
	if !made {
		return models.GGUFUnwritten{}
	}
	given := *u
	length := r.integer("context_length", 0)
	scaled := slices.Contains(u.FactorLayers, count) && r.integer(slidingWindowKey, 0) < length
	if !scaled && length < u.FactorLength {
		given.Factor = 0
	}
	return given
}
