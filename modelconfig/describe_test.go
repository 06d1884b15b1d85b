package modelconfig

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
)

// The function of package frequency that a rule names, with its parameters, makes the
// frequencies of the model. In GGUF files the factor of rope.scaling divides besides the factors of a
// tensor, and the rule has both.
func TestRules(t *testing.T) {
	models := map[string]*Model{}
	for name, config := range map[string]string{
		"default": `{"model_type": "llama"}`, "linear": `{"model_type": "llama", "rope_scaling": {"type": "linear", "factor": 4}}`,
		"dynamic NTK": `{"model_type": "llama", "rope_scaling": {"type": "dynamic", "factor": 4}}`,
		"NTK":         `{"model_type": "llama", "rope_scaling": {"type": "ntk", "factor": 4}}`,
		"NTK mixed":   `{"model_type": "llama", "rope_scaling": {"type": "ntk", "factor": 4, "mixed_b": 0.5}}`,
		"NTK alpha":   `{"model_type": "hunyuan", "rope_scaling": {"type": "dynamic", "alpha": 1000}}`,
		"yarn":        `{"model_type": "qwen3", "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}}`,
		"llama3":      llama31, "longrope": phi3,
		"proportional": `{"model_type": "llama", "rope_scaling": {"rope_type": "proportional", "partial_rotary_factor": 0.25}}`,
	} {
		models[name] = mustRead(t, config)
	}
	for name, document := range map[string]string{
		"factors": `llama {"/rope_freqs.weight": "64*2", "rope.scaling.factor": 4}`, "linear": `llama {"rope.scaling.factor": 4}`, "default": "llama", "NTK alpha": `hunyuan-dense {"rope.scaling.alpha": 1000}`,
		"longrope": `phi3 {"rope.scaling.factor": 4, "rope.scaling.type": "longrope", "rope.scaling.original_context_length": 4096, "rope.scaling.attn_factor": 1.25, "/rope_factors_short.weight": "64*2", "/rope_factors_long.weight": "64*3"}`,
	} {
		models[name+" of GGUF"] = testkit.Must(GGUF(ggufDocument(document)))
	}
	for name, m := range models {
		rule := m.Layers()[0].Rule
		if rule.Name != strings.TrimSuffix(name, " of GGUF") {
			t.Errorf("%s: %+v", name, rule)
		}
		for _, length := range []int{4096, 4097} {
			cfg := testkit.Must(m.rotaryFor(kindOptions{SequenceLength: length}))
			dim, base := cfg.RotaryDim, rule.Base
			var ladder frequency.Ladder
			var err error
			switch p := rule.Parameters.(type) {
			case nil:
				ladder, err = frequency.Default(dim, base, frequency.Exact)
			case frequency.LinearParameters:
				ladder, err = frequency.Linear(dim, base, p, frequency.Exact)
			case frequency.NTKParameters:
				ladder, err = frequency.NTK(dim, base, p, frequency.Exact)
			case frequency.NTKMixedParameters:
				ladder, err = frequency.NTKMixed(dim, base, p, frequency.Exact)
			case frequency.NTKAlphaParameters:
				ladder, err = frequency.NTKAlpha(dim, base, p, frequency.Exact)
			case frequency.DynamicNTKParameters:
				p.SequenceLength = length
				ladder, err = frequency.DynamicNTK(dim, base, p, frequency.Exact)
			case frequency.YaRNParameters:
				ladder, err = frequency.YaRN(dim, base, p, frequency.Exact)
			case frequency.LongRoPEParameters:
				p.SequenceLength = length
				ladder, err = frequency.LongRoPE(dim, base, p, frequency.Exact)
			case frequency.Llama3Parameters:
				ladder, err = frequency.Llama3(dim, base, p, frequency.Exact)
			case frequency.ProportionalParameters:
				ladder, err = frequency.Proportional(cfg.HeadDim, base, p, frequency.Exact)
			case []float64:
				ladder, err = frequency.Factors(dim, base, p, frequency.Exact)
			default:
				t.Errorf("%s: parameters %T", name, p)
			}
			if err != nil || !slices.Equal(ladder.InvFreq, cfg.InvFreq) || ladder.AttentionFactor != cfg.AttentionFactor {
				t.Errorf("%s, %d tokens: the rule makes other frequencies, %v", name, length, err)
			}
		}
	}
}
