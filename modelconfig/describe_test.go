package modelconfig

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
)

// The function of package frequency that a rule names, with its parameters, makes the
// frequencies of the model.
func TestRuleFor(t *testing.T) {
	for name, config := range map[string]string{
		"default": `{"model_type": "llama"}`, "linear": `{"model_type": "llama", "rope_scaling": {"type": "linear", "factor": 4}}`,
		"dynamic NTK": `{"model_type": "llama", "rope_scaling": {"type": "dynamic", "factor": 4}}`,
		"NTK":         `{"model_type": "llama", "rope_scaling": {"type": "ntk", "factor": 4}}`,
		"NTK mixed":   `{"model_type": "llama", "rope_scaling": {"type": "ntk", "factor": 4, "mixed_b": 0.5}}`,
		"NTK alpha":   `{"model_type": "hunyuan", "rope_scaling": {"type": "dynamic", "alpha": 1000}}`,
		"yarn":        fmt.Sprintf(qwenYaRN, ""), "llama3": llama31, "longrope": fmt.Sprintf(phi3, "su"),
		"proportional": `{"model_type": "llama", "rope_scaling": {"rope_type": "proportional", "partial_rotary_factor": 0.25}}`,
	} {
		m, err := HuggingFace([]byte(config))
		if err != nil {
			t.Fatal(err)
		}
		rule, err := m.ruleFor("")
		if err != nil || rule.Name != name {
			t.Errorf("%s: %+v, %v", name, rule, err)
		}
		const length = 5000
		cfg := testkit.Must(m.rotaryFor(kindOptions{SequenceLength: length}))
		dim, base := cfg.RotaryDim, rule.Base
		var ladder frequency.Ladder
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
		default:
			t.Errorf("%s: parameters %T", name, p)
		}
		if err != nil || !slices.Equal(ladder.InvFreq, cfg.InvFreq) || ladder.AttentionFactor != cfg.AttentionFactor {
			t.Errorf("%s: the rule makes other frequencies, %v", name, err)
		}
	}
}

// The factor of rope.scaling divides besides the factors of a tensor, and the rule has both.
func TestRuleForGGUF(t *testing.T) {
	factors := slices.Repeat([]float32{1, 2}, 32)
	long := slices.Repeat([]float32{3, 5}, 32)
	scaled := []any{"attention.key_length", 128, "rope.dimension_count", 128, "rope.scaling.factor", float32(4)}
	for _, test := range []struct {
		architecture, name string
		keys               []any
	}{
		{"llama", "factors", []any{"/rope_freqs.weight", factors}},
		{"llama", "linear", nil},
		{"llama", "default", []any{"rope.scaling.factor", nil}},
		{"hunyuan-dense", "NTK alpha", []any{"rope.scaling.factor", nil, "rope.scaling.alpha", float32(1000)}},
		{"phi3", "longrope", []any{"rope.scaling.type", "longrope", "rope.scaling.original_context_length", 4096, "rope.scaling.attn_factor", float32(1.25), "/rope_factors_short.weight", factors, "/rope_factors_long.weight", long}},
	} {
		m := readGGUF(t, test.architecture, slices.Concat(scaled, test.keys)...)
		rule, err := m.ruleFor("")
		if err != nil || rule.Name != test.name {
			t.Errorf("%s: %+v, %v", test.architecture, rule, err)
		}
		for _, length := range []int{4096, 4097} {
			cfg := testkit.Must(m.rotaryFor(kindOptions{SequenceLength: length}))
			var ladder frequency.Ladder
			switch p := rule.Parameters.(type) {
			case nil:
				ladder, err = frequency.Default(cfg.RotaryDim, rule.Base, frequency.Exact)
			case frequency.LinearParameters:
				ladder, err = frequency.Linear(cfg.RotaryDim, rule.Base, p, frequency.Exact)
			case frequency.NTKAlphaParameters:
				ladder, err = frequency.NTKAlpha(cfg.RotaryDim, rule.Base, p, frequency.Exact)
			case []float64:
				ladder, err = frequency.Factors(cfg.RotaryDim, rule.Base, p, frequency.Exact)
			case frequency.LongRoPEParameters:
				p.SequenceLength = length
				ladder, err = frequency.LongRoPE(cfg.RotaryDim, rule.Base, p, frequency.Exact)
			}
			if err != nil || !slices.Equal(ladder.InvFreq, cfg.InvFreq) || ladder.AttentionFactor != cfg.AttentionFactor {
				t.Errorf("%s, %d tokens: the rule makes other frequencies, %v", test.architecture, length, err)
			}
		}
	}
}

// The context lengths that the models' own pages give.
func TestContextLength(t *testing.T) {
	for name, want := range map[string]int{
		"Llama-3.1-8B": 131072, "Qwen3-8B": 40960, "gemma-2b": 8192, "falcon-7b": 2048, "DeepSeek-V3": 163840, "codegen-350M-mono": 2048, "Phi-3-mini-128k-instruct": 131072,
	} {
		m := testkit.Must(HuggingFace(testkit.Must(os.ReadFile("testdata/transformers/configs/" + name + ".json"))))
		if got := m.ContextLength(); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
		if got, want := m.Layers()[0].LatentAttention, name == "DeepSeek-V3"; got != want {
			t.Errorf("%s: latent attention %t", name, got)
		}
	}
}
