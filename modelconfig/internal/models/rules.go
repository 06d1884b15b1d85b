package models

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/elementary"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// scaledByPower is the scale of Beam, which is not in its configuration.
func scaledByPower(*RopeParameters) *posenc.QueryScaling {
	return &posenc.QueryScaling{Beta: 0.1, Length: 2048, Offset: 1, Rule: posenc.PowerOfRatio}
}

// scaledByBeta is the scale of Ministral 3 and Mistral 4.
func scaledByBeta(p *RopeParameters) *posenc.QueryScaling {
	beta, ok := p.Number("llama_4_scaling_beta")
	p.FailIf(!ok, document.ErrValue, "llama_4_scaling_beta", "absent", "a number, which the class of this model type needs")
	const key = "original_max_position_embeddings"
	length, scaled := p.OriginalPositions(1), p.RopeType == "yarn" || p.RopeType == "llama3" || p.RopeType == "longrope" // by which programs know the length
	p.FailIf(!scaled && !p.Has(key) && !p.Model.Has(key), document.ErrValue, key, "absent", "the length from which llama_4_scaling_beta scales queries")
	p.FailIf(beta < 0 || beta > description.MaxBeta, document.ErrValue, "llama_4_scaling_beta", beta, "from 0 to 2^100")
	return &posenc.QueryScaling{Beta: beta, Length: length}
}

// scaledByObject is the same scale as files of Mistral Large 3 give it, which vLLM and SGLang read of all
// models of this code.
func scaledByObject(p *RopeParameters) *posenc.QueryScaling {
	r := p.Model
	const lengthKey, betaKey = "llama_4_scaling.original_max_position_embeddings", "llama_4_scaling.beta"
	if _, ok := r.Object("llama_4_scaling"); !ok {
		return nil
	}
	length, hasLength := r.Integer(lengthKey)
	beta, hasBeta := r.Number(betaKey)
	r.FailIf(!hasLength || length < 1, document.ErrValue, lengthKey, document.KindOf(r.Lookup(lengthKey)), "at least 1")
	r.FailIf(!hasBeta || beta < 0 || beta > description.MaxBeta, document.ErrValue, betaKey, document.KindOf(r.Lookup(betaKey)), "from 0 to 2^100")
	return &posenc.QueryScaling{Beta: beta, Length: length}
}

// scaledByLogarithm is the scale of Grok 2: ln(position)/ln(attn_temperature_len) beyond that length.
func scaledByLogarithm(p *RopeParameters) *posenc.QueryScaling {
	length, ok := p.Model.Integer("attn_temperature_len")
	if !ok || length <= 0 {
		return nil
	}
	p.Model.FailIf(length == 1, document.ErrValue, "attn_temperature_len", length, "at least 2, or 0 for no scale")
	return logarithmTo(length, 0)
}

// scaledBySeqLength is the scale of Qwen 1: ln(position+1)/ln(seq_length) beyond that length.
func scaledBySeqLength(p *RopeParameters) *posenc.QueryScaling {
	if !p.Model.Flag("use_logn_attn", false) {
		return nil
	}
	p.Model.FailIf(p.Positions < 2, document.ErrValue, "seq_length", p.Positions, "at least 2 together with use_logn_attn")
	return logarithmTo(p.Positions, 1)
}

// logarithmTo returns the scale ln(position+offset)/ln(length) beyond a length.
func logarithmTo(length, offset int) *posenc.QueryScaling {
	log := elementary.Log(real(float64(max(length, 2))))
	beta, _ := log.Quo(real(1), log).Float64()
	return &posenc.QueryScaling{Rule: posenc.ClampedLog, Beta: beta, Length: length, Offset: offset}
}

// scaledWithoutRotation is the scale of Llama 4.
func scaledWithoutRotation(p *RopeParameters) *posenc.QueryScaling {
	r := p.Model
	const tuning = "attn_temperature_tuning"
	r.FailIf(r.IsNull(tuning), document.ErrValue, tuning, "null", "true or false, or no such key, which means true: the class of this model type takes no null")
	if _, isNumber := document.ToNumber(r.Lookup(tuning)); isNumber { // as transformers 4 wrote it
		if n, _ := r.Number(tuning); n == 0 {
			return nil
		}
	} else if tuned, ok := r.Boolean(tuning); ok && !tuned {
		return nil
	}
	beta, length := document.Value{}, r.IntegerOr([]string{"floor_scale"}, 8192)
	beta.Agree(r, "attn_scale")
	if b := beta.Or(0.1); b < 0 || b > description.MaxBeta {
		r.Fail(document.ErrValue, "attn_scale", b, "from 0 to 2^100")
	}
	r.FailIf(length < 1, document.ErrValue, "floor_scale", length, "at least 1")
	return &posenc.QueryScaling{Beta: beta.Or(0.1), Length: length, Offset: 1}
}

// scaledDraft is the scale of the draft of Muse Spark, in layers without a window.
func scaledDraft(p *RopeParameters) *posenc.QueryScaling {
	const floorKey, scaleKey, layersKey = "attn_temperature_tuning_floor_scale", "attn_temperature_tuning_q_scale_constant", "attn_temperature_tuning_layers"
	r := p.Model
	length, hasLength := r.Integer(floorKey)
	beta, hasBeta := r.Number(scaleKey)
	layers, _ := r.Text(layersKey)
	windows := r.Lookup("global_attn_cfg")
	if !hasLength || !hasBeta || layers != "global" {
		return nil
	}
	r.FailIf(windows != nil && windows != "all", document.ErrUnknown, "global_attn_cfg", document.KindOf(windows), "\"all\" or no such key together with %s: layers with a window do not scale (use posenc.QueryScaling for the others)", layersKey)
	r.FailIf(length < 1, document.ErrValue, floorKey, length, "at least 1")
	r.FailIf(beta < 0 || beta > description.MaxBeta, document.ErrValue, scaleKey, beta, "from 0 to 2^100")
	return &posenc.QueryScaling{Rule: posenc.ClampedLog, Beta: beta, Length: length, Offset: 1}
}

// RopeParameters are the numbers that a rule takes.
type RopeParameters struct {
	*document.Reader                  // of their keys
	Model            *document.Reader // of the keys beside it
	Type             *ModelType
	Kind             *KindDefaults

	RopeType           string
	HeadDim, RotaryDim int
	HeadDimKey         string // of the keys beside the rope parameters
	Base, Partial      float64
	Positions          int // max_position_embeddings
}

// OriginalPositions returns the trained length, in the rope parameters or beside them (Phi-3); in neither it
// is max_position_embeddings.
func (p *RopeParameters) OriginalPositions(least int) int {
	const key = "original_max_position_embeddings"
	inside, given := p.Integer(key)
	beside, also := p.Model.Integer(key)
	switch {
	case !given && p.OfKind && p.Kind.NeedsBase:
		p.Fail(document.ErrValue, key, "absent", "the trained length, which the class of this model type needs in rope parameters that a file has")
	case given && also && inside != beside:
		p.Fail(document.ErrContradiction, key, inside, "the value beside %s, which is %d", strings.TrimSuffix(p.Path, "."), beside)
	case given && !also && p.Type.OriginalPositions != 0 && inside != p.Type.OriginalPositions:
		p.Fail(document.ErrContradiction, key, inside, "%d, or the same value beside %s, where transformers reads it", p.Type.OriginalPositions, strings.TrimSuffix(p.Path, "."))
	case given && inside < least:
		p.Fail(document.ErrValue, key, inside, "at least %d", least)
	case also && beside < least:
		p.Model.Fail(document.ErrValue, key, beside, "at least %d", least)
	case given:
		return inside
	case also:
		return beside
	case p.Type.OriginalPositions != 0:
		return p.Type.OriginalPositions
	}
	p.FailIf(p.IsNull(key), document.ErrValue, key, "null", "a number, or no such key for max_position_embeddings")
	return p.Positions
}

// AttentionFactor returns the key that replaces the derived factor, 0 if it is absent.
func (p *RopeParameters) AttentionFactor() float64 {
	if p.Type.YarnGrowth != 0 && (p.Lookup("rope_type") == p.Type.YarnName || p.Lookup("type") == p.Type.YarnName) {
		return yarnGrowth(p)
	}
	if factor, ok := p.Positive("attention_factor"); ok {
		return factor
	}
	if p.RopeType != "yarn" {
		return 0
	}
	// A class with a base of its own for such objects derives the factor in them.
	p.FailIf(p.OfKind && p.Kind.AttentionFactor != 0 && p.Kind.BlockBase != 0, document.ErrValue, "attention_factor", "absent", "a number: without it transformers derives one here, the model's own code has %v", p.Kind.AttentionFactor)
	return p.Kind.AttentionFactor
}

// nomicDynamicNTK: the factor is for sequences beyond max_trained_positions. Rules of rope parameters go by
// max_position_embeddings.
func nomicDynamicNTK(p *RopeParameters) description.Rule {
	factor, ok := p.Model.Positive("rotary_scaling_factor")
	if !ok {
		p.Positions = p.Model.IntegerOr([]string{"max_position_embeddings"}, p.Type.Positions)
		return description.Rule{}
	}
	p.Model.FailIf(p.RopeType != "default", document.ErrContradiction, "rotary_scaling_factor", factor, "no such key together with rope_type %s", p.RopeType)
	return description.DynamicNTK(p.RotaryDim, p.Base, factor, p.Positions)
}

// bothMScales: without one of the two, vLLM and SGLang have different factors.
func bothMScales(p *RopeParameters) description.Rule {
	for _, key := range []string{"mscale", "mscale_all_dim"} {
		p.FailIf(p.RopeType == "yarn" && p.Optional(key) == 0, document.ErrValue, key, document.KindOf(p.Lookup(key)), "a number above 0: without it vLLM and SGLang scale differently")
	}
	return description.Rule{}
}

// phi3SmallRule: the code has one rule and, where a file has no mscale, another factor than SGLang's.
func phi3SmallRule(p *RopeParameters) description.Rule {
	p.MustLack("no such key: models of this type have rope_embedding_base", "rope_theta")
	p.FailIf(p.RopeType != "default" && p.RopeType != "longrope", document.ErrUnknown, "rope_type", document.Quoted(p.RopeType), "default or longrope: the code of this type has no other rule")
	for _, key := range []string{"short_mscale", "long_mscale"} {
		p.FailIf(p.Optional(key) == 0 && p.RopeType == "longrope", document.ErrValue, key, document.KindOf(p.Lookup(key)), "a number above 0: without it the authors' code and SGLang's scale differently")
	}
	return description.Rule{}
}

// longRoPEOnly is of types whose class takes no other rule.
func longRoPEOnly(p *RopeParameters) description.Rule {
	p.FailIf(p.RopeType != "default" && p.RopeType != "longrope", document.ErrUnknown, "rope_type", document.Quoted(p.RopeType), "default or longrope: the class of this type has no other rule (use posenc.RotaryConfig with InvFreq)")
	for _, key := range []string{"short_mscale", "long_mscale"} {
		p.FailIf(p.RopeType == "longrope" && slices.Contains(p.Type.ExtraKeys, key) && !p.Has(key), document.ErrValue, key, "absent", "a number, which the class of this type needs")
	}
	return description.Rule{}
}

// plainSections: a program that serves models of this type has no other rule for several axes.
func plainSections(p *RopeParameters) description.Rule {
	p.FailIf(p.RopeType != "default" && p.Has("mrope_section"), document.ErrUnknown, "rope_type", document.Quoted(p.RopeType), "default together with mrope_section: vLLM refuses other rules for positions of several axes, SGLang scales (use posenc.RotaryConfig with InvFreq and Axes)")
	return description.Rule{}
}

// defaultRuleOnly is of types whose code reads no rule from the rope parameters, or whose programs disagree about it: of MiMo V2,
// vLLM reads none and SGLang scales all layers.
func defaultRuleOnly(p *RopeParameters) description.Rule {
	p.FailIf(p.RopeType != "default", document.ErrUnknown, "rope_type", document.Quoted(p.RopeType), "default: programs have no other rule for this type, or disagree about it (use posenc.RotaryConfig with InvFreq)")
	return description.Rule{}
}

// qwenDynamicNTK: with use_dynamic_ntk, alpha is 2k-1 for a sequence of up to k times the
// trained length, where k is the next power of two.
func qwenDynamicNTK(p *RopeParameters) description.Rule {
	if !p.Model.Flag("use_dynamic_ntk", false) {
		return description.Rule{}
	}
	return description.Rule{Ladder: steppedNTK(p, p.Positions), Trained: p.Positions, Described: description.FrequencyRule{Name: "dynamic NTK of Qwen", Base: p.Base}}
}

// steppedNTK: alpha is 2k-1 for a sequence of up to k lengths, where k is the next power of two.
func steppedNTK(p *RopeParameters, length int) func(int, frequency.Rounding) (frequency.Ladder, error) {
	dim, base := p.RotaryDim, p.Base
	return func(seqLen int, rounding frequency.Rounding) (frequency.Ladder, error) {
		times := 1.0 // a float64 has every power of two that comes up
		for lengths := (seqLen - 1) / max(length, 1); lengths > 0; lengths /= 2 {
			times *= 2
		}
		if times == 1 {
			return frequency.Default(dim, base, rounding)
		}
		return frequency.NTKAlpha(dim, base, frequency.NTKAlphaParameters{Alpha: 2*times - 1}, rounding)
	}
}

// telechatRule: the base grows beyond base_seqlen as in Qwen 1, the attention factor beyond training_seqlen.
// Shorter sequences have the values of training_seqlen.
func telechatRule(p *RopeParameters) description.Rule {
	defaultRuleOnly(p)
	trained := p.Model.IntegerOr([]string{"training_seqlen"}, 8192)
	length, given := p.Model.Integer("base_seqlen")
	p.Model.FailIf(!given, document.ErrValue, "base_seqlen", "absent", "the length in the model's own code: 4096 for TeleChat-7B, 8192 for TeleChat-12B")
	p.Model.FailIf(given && length < 1, document.ErrValue, "base_seqlen", length, "at least 1")
	p.Model.FailIf(trained < 1, document.ErrValue, "training_seqlen", trained, "at least 1")
	stepped := steppedNTK(p, length)
	ladder := func(seqLen int, rounding frequency.Rounding) (frequency.Ladder, error) {
		ladder, err := stepped(max(seqLen, trained), rounding)
		ladder.AttentionFactor = growth(0.1, float64(max(seqLen, trained)), float64(trained))
		return ladder, err
	}
	return description.Rule{Ladder: ladder, Trained: trained, Described: description.FrequencyRule{Name: "dynamic NTK of TeleChat", Base: p.Base}}
}

// grokRule: the rule stands beside the rope parameters. The attention factor of YaRN is computed and multiplies
// nothing.
func grokRule(p *RopeParameters) description.Rule {
	defaultRuleOnly(p)
	r := p.Model
	name, given := r.Text("rope_type")
	factor, scales := r.Positive("scaling_factor")
	original, long := r.Integer("original_max_position_embeddings")
	r.Number("attn_factor")
	parameters := frequency.YaRNParameters{Factor: factor, OriginalMaxPositions: original, AttentionFactor: 1}
	parameters.ExtrapolationFactor, _ = r.Positive("extrapolation_factor")
	parameters.BetaFast, _ = r.Positive("beta_fast")
	parameters.BetaSlow, _ = r.Positive("beta_slow")
	if !given {
		r.FailIf(scales, document.ErrContradiction, "scaling_factor", factor, "no such key without rope_type")
		return description.Rule{}
	}
	r.FailIf(name != "original" && (!scales || !long), document.ErrValue, "scaling_factor and original_max_position_embeddings", "absent", "two numbers, for rope_type %s", name)
	switch name {
	case "original":
	case "yarn", "yarn_linear", "yarn_log":
		parameters.Logarithmic = name == "yarn_log"
		return description.AnyLength("yarn", frequency.YaRN, p.RotaryDim, p.Base, parameters)
	case "theta_scale":
		r.FailIf(original < 7 || float64(original)*factor < 7, document.ErrValue, "original_max_position_embeddings", original, "above 2 pi, also times scaling_factor")
		if r.Err == nil {
			return description.Plain("default", frequency.Default, p.RotaryDim, scaledTheta(p.Base, float64(original), factor))
		}
	default:
		r.Fail(document.ErrUnknown, "rope_type", document.Quoted(name), "original, yarn, yarn_linear, yarn_log or theta_scale")
	}
	return description.Rule{}
}

// scaledTheta returns base^(1 + ln(factor)/ln(length/2pi)), rounded once: a wavelength of length becomes one of
// length factor.
func scaledTheta(base, length, factor float64) float64 {
	exponent := elementary.Log(real(factor))
	exponent.Quo(exponent, elementary.Log(real(length).Quo(real(length), real(2*math.Pi)))).Add(exponent, real(1))
	rounded, _ := elementary.Exp(exponent.Mul(exponent, elementary.Log(real(base)))).Float64()
	return rounded
}

// yarnGrowth is the attention factor of a type that has YarnGrowth.
func yarnGrowth(p *RopeParameters) float64 {
	factor, ok := p.Positive("factor")
	_, original := p.Integer("original_max_position_embeddings")
	p.FailIf(!ok || !original, document.ErrValue, "factor and original_max_position_embeddings", "absent", "two numbers, for rope_type %s", p.Type.YarnName)
	mscale := cmp.Or(p.Optional("mscale"), 1)
	if p.Err != nil {
		return 0
	}
	return growth(p.Type.YarnGrowth*mscale, max(factor, 1), 1)
}

// growth returns 1 + share ln(x/of), rounded once.
func growth(share, x, of float64) float64 {
	log := elementary.Log(real(x))
	log.Sub(log, elementary.Log(real(of))).Mul(log, real(share))
	rounded, _ := log.Add(log, real(1)).Float64()
	return rounded
}

func real(x float64) *big.Float { return new(big.Float).SetPrec(elementary.Precision).SetFloat64(x) }

// fourierKept: the first num_inv_freq, or those with a wavelength below the longest sequence, of the
// float32 numbers.
func fourierKept(p *RopeParameters) int {
	_, factor := p.Number("fope_init_factor")
	_, apart := p.Boolean("fope_sep_head")
	kept, given := p.Integer("num_inv_freq")
	if !factor && !apart && !given || p.Err != nil {
		return 0
	}
	p.FailIf(p.RopeType != "default", document.ErrUnknown, "rope_type", document.Quoted(p.RopeType), "\"default\" together with keys of FoPE (use Rotary.CosSinFourier with InvFreq from the model's own code)")
	ladder, err := frequency.Default(p.RotaryDim, p.Base, frequency.Float32)
	p.FailIf(err != nil, document.ErrValue, "rope_theta", p.Base, "a base of float32 frequencies")
	least := float64(float32(2 * math.Pi / float64(max(p.Positions, 1))))
	for !given && kept < len(ladder.InvFreq) && ladder.InvFreq[kept] > least {
		kept++
	}
	p.FailIf(kept < 1 && given, document.ErrValue, "num_inv_freq", kept, "at least 1")
	p.FailIf(kept < 1 && !given, document.ErrValue, "num_inv_freq", "absent", "a number, because no wavelength is below max_position_embeddings")
	return min(kept, len(ladder.InvFreq))
}
