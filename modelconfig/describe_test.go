package modelconfig

import (
	"fmt"
	"os"
	"slices"
	"strings"
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

func TestTraps(t *testing.T) {
	names := func(m *Model) (names []string) {
		for _, trap := range m.Traps() {
			names = append(names, trap.Name)
		}
		return names
	}
	ones := strings.TrimSuffix(strings.Repeat("1, ", 64), ", ")
	for config, want := range map[string][]string{
		`{"model_type": "qwen2"}`: nil, llama31: {"the_layout_differs_by_file", "llama3_smooths_by_frequency"},
		fmt.Sprintf(phi3, "su"):                                                       {"frequencies_depend_on_the_length", "longrope_switches_beyond_the_original_length", "longrope_has_older_names", "longrope_original_length_stands_beside_the_rope_parameters"},
		fmt.Sprintf(qwenYaRN, `, "attention_factor": 1.5`):                            {"attention_factor_replaces_the_derived_one", "yarn_factor_wins_over_the_ratio"},
		`{"model_type": "llama", "rope_scaling": {"rope_type": "yarn", "factor": 1}}`: {"the_layout_differs_by_file", "yarn_up_to_factor_1_has_attention_factor_1"},
		`{"model_type": "phimoe", "rope_scaling": {"type": "longrope", "factor": 2, "short_factor": [` + ones + `], "long_factor": [` + ones + `], "original_max_position_embeddings": 4096, "long_mscale": 1.5}}`: {
			"frequencies_depend_on_the_length", "attention_factor_replaces_the_derived_one", "longrope_switches_beyond_the_original_length", "longrope_short_and_long_mscale"},
		`{"model_type": "phi"}`: {"partial_rotation_counts_exponents_by_rotary_dim"},
	} {
		if got := names(testkit.Must(HuggingFace([]byte(config)))); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", config, got, want)
		}
	}
	if traps := (*Model)(nil).Traps(); traps != nil {
		t.Errorf("no Model has the traps %v", traps)
	}
	m := testkit.Must(GGUF(map[string]any{"general.architecture": "grok", "grok.block_count": 1, "grok.attention.key_length": 128}))
	if got, want := names(m), []string{"beta_fast_of_Grok"}; !slices.Equal(got, want) {
		t.Errorf("grok: %q, want %q", got, want)
	}
}
