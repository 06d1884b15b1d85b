package modelconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// near compares with a figure worked out in float64 by math.Pow and math.Log,
// each good to a few units in the last place.
func near(got, want float64) bool { return math.Abs(got-want) <= 1e-12*math.Abs(want) }

func mustRead(t *testing.T, config string) *Model {
	t.Helper()
	m, err := HuggingFace([]byte(config))
	testkit.NoError(t, err)
	return m
}

func mustRotary(t *testing.T, config, layerType string, seqLen int) posenc.RotaryConfig {
	t.Helper()
	cfg, err := mustRead(t, config).rotaryFor(kindOptions{LayerType: layerType, SequenceLength: seqLen})
	testkit.NoError(t, err)
	return cfg
}

func wantError(t *testing.T, config string, sentinel error, parts ...string) {
	t.Helper()
	m, err := HuggingFace([]byte(config))
	if !errors.Is(err, sentinel) || m != nil {
		t.Fatalf("%.200s: got %v, %v, want %v", config, m, err, sentinel)
	}
	for _, part := range append(parts, "modelconfig.HuggingFace: ") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not have %q", err, part)
		}
	}
}

func rotating(m *Model) string {
	var s strings.Builder
	for _, layer := range m.Layers() {
		if layer.Rotates {
			s.WriteByte('R')
		} else {
			s.WriteByte('-')
		}
	}
	return s.String()
}

const (
	llama31   = `{"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32, "max_position_embeddings": 131072, "rope_theta": 500000.0, "rope_scaling": {"factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"}}`
	gptOSS    = `{"model_type": "gpt_oss", "head_dim": 64, "num_hidden_layers": 24, "max_position_embeddings": 131072, "rope_theta": 150000, "rope_scaling": {"beta_fast": 32.0, "beta_slow": 1.0, "factor": 32.0, "original_max_position_embeddings": 4096, "rope_type": "yarn", "truncate": %v}}`
	deepSeek  = `{"model_type": "%s", "num_hidden_layers": 61, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "max_position_embeddings": 163840, "rope_theta": 10000, %s "rope_scaling": {"beta_fast": 32, "beta_slow": 1, "factor": 40, "mscale": %v, "mscale_all_dim": %v, "original_max_position_embeddings": 4096, "type": "yarn"}}`
	qwenYaRN  = `{"model_type": "qwen3", "head_dim": 128, "max_position_embeddings": 40960, "rope_theta": 1000000, "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768%s}}`
	phi3      = `{"model_type": "phi3", "hidden_size": 64, "num_attention_heads": 8, "max_position_embeddings": 131072, "original_max_position_embeddings": 4096, "rope_theta": 10000.0, "rope_scaling": {"type": "%s", "short_factor": [1.0, 1.0, 1.0, 2.0], "long_factor": [1.0, 2.0, 4.0, 8.0]}}`
	gemma3    = `{"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34, "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window": 1024}}`
	gemma4V5  = `{"model_type": "gemma4_text", "num_hidden_layers": 12, "head_dim": 256, "global_head_dim": 512, "rope_parameters": {"full_attention": {"partial_rotary_factor": 0.25, "rope_theta": 1000000.0, "rope_type": "proportional"}, "sliding_attention": {"rope_theta": 10000.0, "rope_type": "default"}}}`
	internLM3 = `{"model_type": "internlm3", "head_dim": 128, "max_position_embeddings": 32768, "rope_theta": 50000000, "rope_scaling": {"factor": 6.0, "rope_type": "dynamic"}}`
)

// trap is where implementations disagree.
type trap struct {
	name string
	test func(t *testing.T)
}

// traps are the tests of huggingFaceTraps.
var traps = []trap{
	{"attention_factor_replaces_the_derived_one", func(t *testing.T) {
		cfg := mustRotary(t, fmt.Sprintf(qwenYaRN, `, "attention_factor": 1.2079441541679836`), "", 0)
		if cfg.AttentionFactor != 1.2079441541679836 {
			t.Errorf("AttentionFactor is %v", cfg.AttentionFactor)
		}
		if cfg := mustRotary(t, fmt.Sprintf(qwenYaRN, ""), "", 0); !near(cfg.AttentionFactor, 1+0.1*math.Log(4)) {
			t.Errorf("derived: %v", cfg.AttentionFactor)
		}
		wantError(t, fmt.Sprintf(qwenYaRN, `, "attention_factor": 0`), ErrValue, "attention_factor is 0")
	}},
	{"attn_factor_is_another_key", func(t *testing.T) {
		wantError(t, fmt.Sprintf(qwenYaRN, `, "attn_factor": 0.8782488562869419`), ErrUnknown, "rope_scaling.attn_factor is", "attention_factor")
	}},
	{"yarn_zero_is_absent", func(t *testing.T) {
		want := mustRotary(t, fmt.Sprintf(qwenYaRN, ""), "", 0)
		for _, key := range []string{"beta_fast", "beta_slow", "mscale", "mscale_all_dim"} {
			got := mustRotary(t, fmt.Sprintf(qwenYaRN, `, "`+key+`": 0`), "", 0)
			if !slices.Equal(got.InvFreq, want.InvFreq) || got.AttentionFactor != want.AttentionFactor {
				t.Errorf("%s: 0 is not the default", key)
			}
		}
		// One of mscale and mscale_all_dim alone does not count.
		if got := mustRotary(t, fmt.Sprintf(qwenYaRN, `, "mscale": 0.5`), "", 0); got.AttentionFactor != want.AttentionFactor {
			t.Errorf("mscale alone: %v", got.AttentionFactor)
		}
	}},
	{"yarn_up_to_factor_1_has_attention_factor_1", func(t *testing.T) {
		for _, factor := range []string{"1.0", "0.5"} {
			cfg := mustRotary(t, strings.Replace(fmt.Sprintf(qwenYaRN, ""), `"factor": 4.0`, `"factor": `+factor, 1), "", 0)
			if cfg.AttentionFactor != 1 {
				t.Errorf("factor %s: AttentionFactor is %v", factor, cfg.AttentionFactor)
			}
		}
	}},
	{"yarn_truncate", func(t *testing.T) {
		// The corrections of gpt-oss are 8.0928 and 17.3980: pair 8 keeps its frequency,
		// pair 9 lies on the ramp. Truncated, the ramp runs from 8 to 18.
		inv := func(i float64) float64 { return math.Pow(150000, -2*i/64) }
		on := func(i, low, high float64) float64 {
			ramp := (i - low) / (high - low)
			return inv(i) * (ramp/32 + 1 - ramp)
		}
		correction := func(rotations float64) float64 {
			return 64 * math.Log(4096/(rotations*2*math.Pi)) / (2 * math.Log(150000))
		}
		got := mustRotary(t, fmt.Sprintf(gptOSS, false), "", 0).InvFreq
		if !near(got[8], inv(8)) || !near(got[9], on(9, correction(32), correction(1))) {
			t.Errorf("untruncated: %v %v", got[8], got[9])
		}
		got = mustRotary(t, fmt.Sprintf(gptOSS, true), "", 0).InvFreq
		if !near(got[8], inv(8)) || !near(got[9], on(9, 8, 18)) {
			t.Errorf("truncated: %v %v", got[8], got[9])
		}
	}},
	{"yarn_factor_wins_over_the_ratio", func(t *testing.T) {
		// Qwen3's README asks for factor 4 beside 40960/32768.
		if got := mustRotary(t, fmt.Sprintf(qwenYaRN, ""), "", 0).InvFreq[63]; !near(got, math.Pow(1e6, -126.0/128)/4) {
			t.Errorf("InvFreq[63] is %v", got)
		}
		without := strings.Replace(fmt.Sprintf(qwenYaRN, ""), `"factor": 4.0, `, "", 1)
		if got := mustRotary(t, without, "", 0).InvFreq[63]; !near(got, math.Pow(1e6, -126.0/128)/1.25) {
			t.Errorf("without factor: InvFreq[63] is %v", got)
		}
	}},
	{"llama3_smooths_by_frequency", func(t *testing.T) {
		got := mustRotary(t, llama31, "", 0).InvFreq
		medium := 0
		for i, v := range got {
			inv := math.Pow(500000, -2*float64(i)/128)
			rotations := 8192 * inv / (2 * math.Pi)
			want := inv
			if rotations < 1 {
				want = inv / 8
			} else if rotations < 4 {
				smooth := (rotations - 1) / (4 - 1)
				want = (1-smooth)*inv/8 + smooth*inv
				medium++
			}
			if !near(v, want) {
				t.Errorf("InvFreq[%d] is %v, want %v", i, v, want)
			}
		}
		if medium == 0 {
			t.Error("no pair between")
		}
	}},
	{"llama3_equal_factors", func(t *testing.T) {
		// Llama 4 Scout publishes 1 for both.
		got := mustRotary(t, `{"model_type": "llama4_text", "num_hidden_layers": 4, "head_dim": 128, "max_position_embeddings": 10485760, "rope_theta": 500000.0, "rope_scaling": {"factor": 16.0, "high_freq_factor": 1.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"}}`, "", 0).InvFreq
		for i, v := range got {
			want := math.Pow(500000, -2*float64(i)/128)
			if 8192*want/(2*math.Pi) < 1 {
				want /= 16
			}
			if !near(v, want) {
				t.Errorf("InvFreq[%d] is %v, want %v", i, v, want)
			}
		}
	}},
	{"longrope_switches_beyond_the_original_length", func(t *testing.T) {
		m := mustRead(t, fmt.Sprintf(phi3, "longrope"))
		for seqLen, factor := range map[int]float64{1: 2, 4095: 2, 4096: 2, 4097: 8, 131072: 8} {
			cfg, err := m.rotaryFor(kindOptions{SequenceLength: seqLen})
			if err != nil || !near(cfg.InvFreq[3], math.Pow(10000, -6.0/8)/factor) {
				t.Errorf("seqLen %d: InvFreq[3] is %v, %v", seqLen, cfg.InvFreq[3], err)
			}
			// One factor for both, by 131072/4096.
			if !near(cfg.AttentionFactor, math.Sqrt(1+math.Log(32)/math.Log(4096))) {
				t.Errorf("seqLen %d: AttentionFactor is %v", seqLen, cfg.AttentionFactor)
			}
		}
	}},
	{"longrope_has_older_names", func(t *testing.T) {
		want := mustRotary(t, fmt.Sprintf(phi3, "longrope"), "", 4097)
		for _, name := range []string{"su", "yarn"} {
			if got := mustRotary(t, fmt.Sprintf(phi3, name), "", 4097); !slices.Equal(got.InvFreq, want.InvFreq) {
				t.Errorf("%s: other frequencies", name)
			}
		}
	}},
	{"longrope_original_length_stands_beside_the_rope_parameters", func(t *testing.T) {
		inside := strings.Replace(fmt.Sprintf(phi3, "longrope"), `"type":`, `"original_max_position_embeddings": 8192, "type":`, 1)
		wantError(t, inside, ErrContradiction, "original_max_position_embeddings is 8192", "4096")
	}},
	{"longrope_short_and_long_mscale", func(t *testing.T) {
		m := mustRead(t, `{"model_type": "phimoe", "hidden_size": 64, "num_attention_heads": 8, "rope_scaling": {"type": "longrope", "short_factor": [1, 1, 1, 1], "long_factor": [1, 2, 3, 4], "short_mscale": 1.25, "long_mscale": 1.5, "original_max_position_embeddings": 4096}}`)
		for seqLen, want := range map[int]float64{4096: 1.25, 4097: 1.5} {
			if cfg, err := m.rotaryFor(kindOptions{SequenceLength: seqLen}); err != nil || cfg.AttentionFactor != want {
				t.Errorf("seqLen %d: AttentionFactor is %v, %v", seqLen, cfg.AttentionFactor, err)
			}
		}
	}},
	{"dynamic_ntk_grows_from_max_position_embeddings", func(t *testing.T) {
		m := mustRead(t, internLM3)
		for seqLen, growth := range map[int]float64{1: 1, 32768: 1, 65536: 6*2 - 5, 131072: 6*4 - 5} {
			cfg, err := m.rotaryFor(kindOptions{SequenceLength: seqLen})
			base := 5e7 * math.Pow(growth, 128.0/126)
			if err != nil || !near(cfg.InvFreq[1], math.Pow(base, -2.0/128)) {
				t.Errorf("seqLen %d: InvFreq[1] is %v, %v", seqLen, cfg.InvFreq[1], err)
			}
		}
		wantError(t, strings.Replace(internLM3, `"factor": 6.0`, `"factor": 6.0, "original_max_position_embeddings": 4096`, 1), ErrUnknown, "original_max_position_embeddings")
	}},
	{"dynamic_ntk_with_alpha_is_static", func(t *testing.T) {
		config := `{"model_type": "hunyuan_v1_dense", "head_dim": 128, "max_position_embeddings": 262144, "rope_theta": 10000.0, "rope_scaling": {"alpha": 1000.0, "beta_fast": 32, "beta_slow": 1, "factor": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0, "type": "dynamic"}}`
		want := math.Pow(10000*math.Pow(1000, 128.0/126), -2.0/128)
		for _, seqLen := range []int{0, 1 << 20} {
			if cfg := mustRotary(t, config, "", seqLen); !near(cfg.InvFreq[1], want) || cfg.AttentionFactor != 1 {
				t.Errorf("seqLen %d: %v, %v, want %v", seqLen, cfg.InvFreq[1], cfg.AttentionFactor, want)
			}
		}
		wantError(t, strings.Replace(config, "hunyuan_v1_dense", "llama", 1), ErrUnknown, "rope_scaling.alpha is")
	}},
	{"qwen1_dynamic_ntk_is_its_own", func(t *testing.T) {
		m := mustRead(t, `{"model_type": "qwen", "kv_channels": 128, "seq_length": 8192, "rotary_emb_base": 10000, "rotary_pct": 1.0, "use_dynamic_ntk": true}`)
		// 2^ceil(log2(n/L) + 1) - 1
		for seqLen, alpha := range map[int]float64{1: 1, 8192: 1, 8193: 3, 16384: 3, 16385: 7, 32768: 7} {
			cfg, err := m.rotaryFor(kindOptions{SequenceLength: seqLen})
			if err != nil || !near(cfg.InvFreq[1], math.Pow(10000*math.Pow(alpha, 128.0/126), -2.0/128)) {
				t.Errorf("seqLen %d: InvFreq[1] is %v, %v", seqLen, cfg.InvFreq[1], err)
			}
		}
	}},
	{"mrope_section_counts_pairs", func(t *testing.T) {
		cfg := mustRotary(t, `{"model_type": "qwen2_vl", "hidden_size": 3584, "num_attention_heads": 28, "rope_theta": 1000000.0, "rope_scaling": {"mrope_section": [16, 24, 24], "type": "mrope"}}`, "", 0)
		for j, axis := range cfg.Axes {
			if want := map[bool]uint8{true: 0, false: map[bool]uint8{true: 1, false: 2}[j < 40]}[j < 16]; axis != want {
				t.Errorf("axis of pair %d is %d, want %d", j, axis, want)
			}
		}
		if len(cfg.Axes) != 64 {
			t.Errorf("%d axes", len(cfg.Axes))
		}
		wantError(t, `{"model_type": "qwen2_vl", "hidden_size": 3584, "num_attention_heads": 28, "rope_scaling": {"mrope_section": [32, 48, 48], "type": "mrope"}}`, ErrValue, "mrope_section", "64")
	}},
	{"mrope_with_scaling_or_a_part_of_the_head", func(t *testing.T) {
		// Qwen2.5-VL's README asks for yarn beside the sections.
		yarn := `"rope_theta": 1000000, "rope_scaling": {"type": "yarn", "factor": 4, "original_max_position_embeddings": 32768`
		want := mustRotary(t, `{"model_type": "qwen2", "hidden_size": 3584, "num_attention_heads": 28, `+yarn+`}}`, "", 0)
		got := mustRotary(t, `{"model_type": "qwen2_5_vl", "hidden_size": 3584, "num_attention_heads": 28, `+yarn+`, "mrope_section": [16, 24, 24]}}`, "", 0)
		if !slices.Equal(got.InvFreq, want.InvFreq) || got.AttentionFactor != want.AttentionFactor || len(got.Axes) != 64 || got.Axes[16] != 1 || got.Axes[40] != 2 {
			t.Errorf("yarn: %v, %v, axes %v", got.InvFreq, got.AttentionFactor, got.Axes)
		}
		// GLM-4.5V: sections are of the rotated half.
		got = mustRotary(t, `{"model_type": "glm4v_moe_text", "head_dim": 128, "partial_rotary_factor": 0.5, "rope_scaling": {"rope_type": "default", "mrope_section": [8, 12, 12]}}`, "", 0)
		if got.RotaryDim != 64 || len(got.Axes) != 32 {
			t.Errorf("part: %d elements, %d axes", got.RotaryDim, len(got.Axes))
		}
	}},
	{"mrope_interleaved", func(t *testing.T) {
		config := `{"model_type": "qwen3_vl", "text_config": {"model_type": "qwen3_vl_text", "head_dim": 128, "rope_parameters": {"mrope_interleaved": %v, "mrope_section": [24, 20, 20], "rope_theta": 5000000, "rope_type": "default"}}}`
		cfg := mustRotary(t, fmt.Sprintf(config, true), "", 0)
		count := [3]int{}
		for j, axis := range cfg.Axes {
			count[axis]++
			if want := j % 3; j < 60 && int(axis) != want || j >= 60 && axis != 0 {
				t.Errorf("axis of pair %d is %d", j, axis)
			}
		}
		if count != [3]int{24, 20, 20} {
			t.Errorf("axes have %v pairs", count)
		}
		wantError(t, fmt.Sprintf(config, false), ErrContradiction, "mrope_interleaved")
	}},
	{"mrope_of_ernie_alternates", func(t *testing.T) {
		cfg := mustRotary(t, `{"model_type": "ernie4_5_vl_moe_text", "hidden_size": 2560, "num_attention_heads": 20, "rope_parameters": {"rope_type": "default", "rope_theta": 500000, "mrope_section": [22, 22, 20]}}`, "", 0)
		for j, axis := range cfg.Axes {
			want := uint8(1 + j%2)
			if j >= 44 {
				want = 0
			}
			if axis != want {
				t.Errorf("axis of pair %d is %d, want %d", j, axis, want)
			}
		}
		if cfg.Layout != posenc.Interleaved {
			t.Errorf("Layout is %v", cfg.Layout)
		}
		mustRead(t, `{"model_type": "ernie4_5_moe_vl", "rope_3d": true, "freq_allocation": 20}`)
		wantError(t, `{"model_type": "ernie4_5_moe_vl", "rope_3d": false}`, ErrUnknown, "rope_3d")
		wantError(t, `{"model_type": "ernie4_5_moe_vl", "freq_allocation": 16}`, ErrUnknown, "freq_allocation")
	}},
	{"mrope_of_hunyuan_has_four_axes", func(t *testing.T) {
		cfg := mustRotary(t, `{"model_type": "hunyuan_vl", "head_dim": 128, "rope_scaling": {"alpha": 1000.0, "beta_fast": 32, "beta_slow": 1, "factor": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0, "type": "xdrope", "xdrope_section": [16, 16, 16, 16]}}`, "", 0)
		for j, axis := range cfg.Axes {
			if int(axis) != j/16 {
				t.Errorf("axis of pair %d is %d", j, axis)
			}
		}
	}},
	{"partial_rotation_counts_exponents_by_rotary_dim", func(t *testing.T) {
		cfg := mustRotary(t, `{"model_type": "phi", "hidden_size": 2560, "num_attention_heads": 32, "partial_rotary_factor": 0.4}`, "", 0)
		if cfg.HeadDim != 80 || cfg.RotaryDim != 32 || !near(cfg.InvFreq[1], math.Pow(10000, -2.0/32)) {
			t.Errorf("%d of %d, InvFreq[1] %v", cfg.RotaryDim, cfg.HeadDim, cfg.InvFreq[1])
		}
	}},
	{"proportional_counts_exponents_by_head_dim", func(t *testing.T) {
		cfg := mustRotary(t, gemma4V5, "full_attention", 0)
		if cfg.HeadDim != 512 || cfg.RotaryDim != 512 || !near(cfg.InvFreq[63], math.Pow(1e6, -126.0/512)) || cfg.InvFreq[64] != 0 || cfg.InvFreq[255] != 0 {
			t.Errorf("%d of %d, InvFreq %v", cfg.RotaryDim, cfg.HeadDim, cfg.InvFreq)
		}
	}},
	{"odd_rotary_dim", func(t *testing.T) {
		// 0.3 of 50 elements; transformers rounds the 15 up in one place only.
		wantError(t, `{"model_type": "phi", "hidden_size": 500, "num_attention_heads": 10, "partial_rotary_factor": 0.3}`, ErrValue, "15 of 50")
	}},
	{"rotary_dim_or_partial_rotary_factor", func(t *testing.T) {
		cfg := mustRotary(t, `{"model_type": "minimax_m2", "head_dim": 128, "rotary_dim": 64}`, "", 0)
		if cfg.RotaryDim != 64 || cfg.HeadDim != 128 {
			t.Errorf("%d of %d", cfg.RotaryDim, cfg.HeadDim)
		}
		for _, key := range []string{"rope_percent", "rope_percentage"} { // Nemotron
			if cfg := mustRotary(t, `{"model_type": "nemotron", "`+key+`": 0.25}`, "", 0); cfg.RotaryDim != 32 || cfg.HeadDim != 128 {
				t.Errorf("%s: %d of %d", key, cfg.RotaryDim, cfg.HeadDim)
			}
		}
		wantError(t, `{"model_type": "gptj", "rotary_dim": 0}`, ErrValue, "rotary_dim is 0")
		wantError(t, `{"model_type": "minimax_m2", "head_dim": 128, "rotary_dim": 64, "partial_rotary_factor": 0.25}`, ErrContradiction, "rotary_dim is 64", "32 of 128")
	}},
	{"whole_heads_whatever_the_factor_says", func(t *testing.T) {
		wantError(t, `{"model_type": "llama", "partial_rotary_factor": 0.5}`, ErrContradiction, "partial_rotary_factor is 0.5", "whole heads")
		if cfg := mustRotary(t, `{"model_type": "cohere2", "rotary_pct": 1.0, "position_embedding_type": "rope_gptj"}`, "", 0); cfg.RotaryDim != 128 {
			t.Errorf("rotary_pct 1: %d", cfg.RotaryDim)
		}
	}},
	{"interleaved_pairs", func(t *testing.T) {
		for _, modelType := range []string{"gptj", "codegen", "cohere", "cohere2", "glm", "glm4", "helium", "ernie4_5", "ernie4_5_moe", "llama4_text", "deepseek_v2"} {
			if cfg := mustRotary(t, `{"model_type": "`+modelType+`"}`, "", 0); cfg.Layout != posenc.Interleaved {
				t.Errorf("%s: Layout is %v", modelType, cfg.Layout)
			}
		}
		for _, config := range []string{`{"model_type": "glm4_moe", "head_dim": 128}`, llama31, `{"model_type": "gpt_neox"}`, `{"model_type": "falcon"}`} {
			if cfg := mustRotary(t, config, "", 0); cfg.Layout != posenc.HalfSplit {
				t.Errorf("%s: Layout is %v", config, cfg.Layout)
			}
		}
		wantError(t, `{"model_type": "llama", "rope_interleaved": true}`, ErrContradiction, "rope_interleaved")
	}},
	{"deepseek_v3_writes_half_split_pairs", func(t *testing.T) {
		for interleave, want := range map[string]posenc.Layout{"": posenc.InterleavedToHalfSplit, `"rope_interleave": true,`: posenc.InterleavedToHalfSplit, `"rope_interleave": false,`: posenc.HalfSplit} {
			cfg := mustRotary(t, fmt.Sprintf(deepSeek, "deepseek_v3", interleave, "1.0", "1.0"), "", 0)
			if cfg.Layout != want || cfg.HeadDim != 64 || cfg.RotaryDim != 64 {
				t.Errorf("%q: Layout is %v, %d of %d", interleave, cfg.Layout, cfg.RotaryDim, cfg.HeadDim)
			}
		}
	}},
	{"gemma3_scales_global_layers_only", func(t *testing.T) {
		m := mustRead(t, gemma3)
		if types := m.layerTypes(); !slices.Equal(types, []string{"full_attention", "sliding_attention"}) || m.Type() != "gemma3_text" {
			t.Fatalf("%s: layer types %q", m.Type(), types)
		}
		for layerType, want := range map[string]float64{"full_attention": math.Pow(1e6, -2.0/256) / 8, "sliding_attention": math.Pow(1e4, -2.0/256)} {
			if cfg, err := m.rotaryFor(kindOptions{LayerType: layerType}); err != nil || !near(cfg.InvFreq[1], want) || cfg.HeadDim != 256 {
				t.Errorf("%s: InvFreq[1] is %v of %d elements, want %v: %v", layerType, cfg.InvFreq[1], cfg.HeadDim, want, err)
			}
		}
		for i, layer := range m.Layers() {
			if (layer.Kind == "full_attention") != (i%6 == 5) || !layer.Rotates {
				t.Errorf("layer %d is %v", i, layer)
			}
		}
	}},
	{"modernbert_is_not_absolute", func(t *testing.T) {
		m := mustRead(t, `{"model_type": "modernbert", "global_rope_theta": 160000.0, "local_rope_theta": 10000.0, "global_attn_every_n_layers": 3, "position_embedding_type": "absolute"}`)
		cfg, err := m.rotaryFor(kindOptions{LayerType: "full_attention"})
		if err != nil || !near(cfg.InvFreq[1], math.Pow(160000, -2.0/64)) || m.Layers()[0].Kind != "full_attention" || m.Layers()[2].Kind != "sliding_attention" {
			t.Errorf("%v, %v, %v", cfg.InvFreq[1], m.Layers()[:3], err)
		}
	}},
	{"no_rope_layers_has_1_for_rotation", func(t *testing.T) {
		for _, config := range []string{
			`{"model_type": "smollm3", "num_hidden_layers": 8}`,
			`{"model_type": "llama4_text", "num_hidden_layers": 8, "no_rope_layers": []}`,
			`{"model_type": "smollm3", "num_hidden_layers": 8, "no_rope_layers": [1, 1, 1, 0, 1, 1, 1, 0]}`,
		} {
			if got := rotating(mustRead(t, config)); got != "RRR-RRR-" {
				t.Errorf("%s: %s", config, got)
			}
		}
		wantError(t, `{"model_type": "smollm3", "num_hidden_layers": 8, "no_rope_layers": [1, 0]}`, ErrContradiction, "no_rope_layers")
	}},
	{"sliding_layers_only", func(t *testing.T) {
		for config, want := range map[string]string{
			`{"model_type": "cohere2", "num_hidden_layers": 8, "sliding_window_pattern": 4}`:                                                                 "RRR-RRR-",
			`{"model_type": "exaone4", "num_hidden_layers": 8, "sliding_window": 4096, "sliding_window_pattern": "LLLG"}`:                                    "RRR-RRR-",
			`{"model_type": "exaone4", "num_hidden_layers": 4, "sliding_window": null, "sliding_window_pattern": null}`:                                      "RRRR",
			`{"model_type": "afmoe", "num_hidden_layers": 4, "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention"]}`: "-RR-",
		} {
			if got := rotating(mustRead(t, config)); got != want {
				t.Errorf("%s: %s, want %s", config, got, want)
			}
		}
	}},
	{"falcon_with_alibi", func(t *testing.T) {
		wantError(t, `{"model_type": "falcon", "alibi": true}`, ErrNotRotary, "alibi is true")
		wantError(t, `{"model_type": "baichuan", "hidden_size": 5120, "num_attention_heads": 40}`, ErrNotRotary, "ALiBi")
		wantError(t, `{"model_type": "bloom"}`, ErrNotRotary, "ALiBi")
		wantError(t, `{"model_type": "bert", "position_embedding_type": "alibi"}`, ErrNotRotary, `position_embedding_type is "alibi"`) // Jina v2
	}},
	{"position_embedding_type_of_encoders", func(t *testing.T) {
		// jina-embeddings-v3 and bge-m3 say xlm-roberta both.
		cfg := mustRotary(t, `{"model_type": "xlm-roberta", "hidden_size": 1024, "num_attention_heads": 16, "num_hidden_layers": 24, "max_position_embeddings": 8194, "position_embedding_type": "rotary", "rotary_emb_base": 20000.0}`, "", 0)
		if cfg.HeadDim != 64 || cfg.Layout != posenc.HalfSplit || !near(cfg.InvFreq[1], math.Pow(20000, -2.0/64)) {
			t.Errorf("%d, %v, %v", cfg.HeadDim, cfg.Layout, cfg.InvFreq[1])
		}
		for config, part := range map[string]string{
			`{"model_type": "xlm-roberta", "position_embedding_type": "absolute"}`: `"absolute", want "rotary"`,
			`{"model_type": "xlm-roberta"}`:                                        `"absolute", want "rotary"`,
			`{"model_type": "new", "position_embedding_type": "absolute"}`:         `"absolute", want "rope"`,
			`{"model_type": "gte", "position_embedding_type": "absolute"}`:         `"absolute", want "rope"`,
			`{"model_type": "esm"}`:                                                `"absolute", want "rotary"`,
		} {
			wantError(t, config, ErrNotRotary, part)
		}
		mustRead(t, `{"model_type": "new"}`) // its class says rope
	}},
	{"hybrid_models_without_rope", func(t *testing.T) {
		wantError(t, `{"model_type": "granitemoehybrid", "position_embedding_type": "nope", "num_hidden_layers": 2, "layer_types": ["mamba", "attention"]}`, ErrNotRotary, "nope")
		if got := rotating(mustRead(t, `{"model_type": "granitemoehybrid", "position_embedding_type": "rope", "num_hidden_layers": 2, "layer_types": ["mamba", "attention"]}`)); got != "-R" {
			t.Errorf("got %s", got)
		}
	}},
	{"zamba2_layers_are_of_54", func(t *testing.T) {
		m := mustRead(t, `{"model_type": "zamba2", "hidden_size": 2048, "attention_head_dim": 128, "num_hidden_layers": 7, "use_mem_rope": true, "layers_block_type": ["mamba", "mamba", "mamba", "mamba", "mamba", "hybrid", "mamba"]}`)
		if got := rotating(m); got != "-----R-" {
			t.Errorf("got %s", got)
		}
		wantError(t, `{"model_type": "zamba2", "num_hidden_layers": 81, "use_mem_rope": true}`, ErrContradiction, "layers_block_type")
		wantError(t, `{"model_type": "zamba2", "hidden_size": 3584, "use_mem_rope": true}`, ErrContradiction, "attention_head_dim is 160")
		wantError(t, `{"model_type": "zamba2", "use_mem_rope": true, "use_long_context": true}`, ErrUnknown, "use_long_context")
		wantError(t, `{"model_type": "zamba2"}`, ErrNotRotary, "use_mem_rope")
	}},
	{"ling_rotates_half_heads_or_whole", func(t *testing.T) {
		for config, want := range map[string]int{ // Ling-lite-1.5, Ling-mini-2.0
			`{"model_type": "bailing_moe", "hidden_size": 2048, "num_attention_heads": 16, "num_hidden_layers": 28, "max_position_embeddings": 32768, "rope_scaling": null, "rope_theta": 600000}`: 128,
			`{"model_type": "bailing_moe", "hidden_size": 2048, "num_attention_heads": 16, "num_hidden_layers": 20, "head_dim": 128, "partial_rotary_factor": 0.5, "rope_theta": 600000}`:          64,
		} {
			if cfg := mustRotary(t, config, "", 0); cfg.RotaryDim != want || cfg.HeadDim != 128 || !near(cfg.InvFreq[1], math.Pow(6e5, -2/float64(want))) {
				t.Errorf("%d of %d, %v", cfg.RotaryDim, cfg.HeadDim, cfg.InvFreq[1])
			}
		}
	}},
	{"two_names_of_one_key", func(t *testing.T) {
		wantError(t, `{"model_type": "llama", "rope_scaling": {"type": "linear", "rope_type": "dynamic", "factor": 2}}`, ErrContradiction, `"linear"`, `"dynamic"`)
		wantError(t, `{"model_type": "llama", "rope_theta": 10000, "rope_parameters": {"rope_type": "default", "rope_theta": 500000}}`, ErrContradiction, "rope_theta", "500000")
		wantError(t, `{"model_type": "llama", "rope_scaling": {"rope_type": "linear", "factor": 2}, "rope_parameters": {"rope_type": "linear", "factor": 4}}`, ErrContradiction, "factor")
		wantError(t, `{"model_type": "gpt_neox", "rotary_pct": 0.25, "partial_rotary_factor": 0.5}`, ErrContradiction, "rotary_pct")
		mustRead(t, `{"model_type": "gpt_neox", "rotary_pct": 0.25, "partial_rotary_factor": 0.25, "rotary_emb_base": 10000, "rope_theta": 10000.0}`)
	}},
	{"keys_that_nothing_reads", func(t *testing.T) {
		for _, key := range []string{
			`"rope_freq_base": 500000`, `"rope_dim": 64`, `"Rope_Theta": 500000`, `"layer_rope_theta": [10000, 0]`, `"no_rope_layers": [1, 0]`,
			`"use_mem_rope": false`, `"qk_rope_head_dim": 64`, `"rotary_embedding": false`, `"rope_type": "linear"`, `"mrope_section": [16, 24, 24]`,
		} {
			name, _, _ := strings.Cut(key, ":")
			wantError(t, `{"model_type": "llama", `+key+`}`, ErrUnknown, ": "+strings.Trim(name, `"`)+" is ")
		}
		for _, key := range []string{
			"ropeTheta", "ROPE_THETA", "useRope", "useRoPE", "use_RoPE_2d", "useROPE", "USE_ROPE", "yarn-rope", "rope2d", "2drope",
			"mropeSection", "MRoPESection", "xdrope", "longrope_factor", "ropes", "customRotaryDim", "norotary", "europe_rope",
			"mropesection", "use_mropes", "MROPEBASE", "useropescaling",
		} {
			wantError(t, `{"model_type": "llama", "`+key+`": 1}`, ErrUnknown, ": "+key+" is the number 1, want no such key")
		}
		for _, key := range []string{"2d.rope", "rope scaling", "rope²", strings.Repeat("rope", 17)} {
			wantError(t, `{"model_type": "llama", "`+key+`": 1}`, ErrUnknown, document.Quoted(key)+" is the number 1, want no such key")
		}
		for _, key := range []string{"property", "properties", "PROPERTY", "custom_property", "customProperty", "propeller", "proper", "europe", "use_Europe", "useEurope", "EUROPE", "european", "proPerty"} {
			mustRead(t, `{"model_type": "llama", "`+key+`": 1}`)
		}
		wantError(t, `{"model_type": "llama", "use_rotary_pos_emb": false}`, ErrNotRotary, "use_rotary_pos_emb")
		wantError(t, `{"model_type": "llama", "position_embedding_xdrope": true}`, ErrContradiction, "position_embedding_xdrope")
		// Harmless in the published files of these types.
		mustRead(t, `{"model_type": "hunyuan_v1_moe", "head_dim": 128, "use_mla": false, "qk_rope_head_dim": 64, "use_rotary_pos_emb": true, "position_embedding_xdrope": false}`)
		wantError(t, `{"model_type": "hunyuan_v1_moe", "use_mla": true}`, ErrUnknown, "use_mla")
		// Names with humps, and keys that do not say rope.
		for _, key := range []string{"skipRope", "clipRopeTheta", "mlpRopeDim", "groupRope", "warpRopeScale", "EURopeTheta", "skip_rope", "theta", "freq_base", "rot_dim", "base_frequency"} {
			wantError(t, `{"model_type": "llama", "`+key+`": 1}`, ErrUnknown, ": "+key+" is the number 1, want no such key")
		}
		for _, key := range []string{"ntk_alpha", "use_dynamic_ntk", "use_xpos", "mla_use_nope", "use_nope", "nope_layers", "nope_layer_interval", "alibi_bias", "yarn_factor"} {
			wantError(t, `{"model_type": "llama", "`+key+`": 2}`, ErrUnknown, ": "+key+" is the number 2, want false or no such key")
			mustRead(t, `{"model_type": "llama", "`+key+`": false}`)
		}
		for _, key := range []string{"position_embedding_type", "position_encoding", "pos_emb_type", "positional_encoding"} {
			for _, value := range []string{"absolute", "nope", "learned", "Alibi "} {
				wantError(t, `{"model_type": "llama", "`+key+`": "`+value+`"}`, ErrNotRotary, ": "+key+" is ")
			}
			wantError(t, `{"model_type": "llama", "`+key+`": "ALiBi"}`, ErrNotRotary, "ALiBi")
			wantError(t, `{"model_type": "llama", "`+key+`": true}`, ErrUnknown, key)
			mustRead(t, `{"model_type": "llama", "`+key+`": "RoPE"}`)
		}
		if _, err := HuggingFaceVision([]byte(`{"model_type": "kimi_k25", "vision_config": {"model_type": "kimi_k25_vision", "pos_emb_type": "divided_fixed", "init_pos_emb_height": 64}}`)); err != nil {
			t.Errorf("learned positions of a tower: %v", err)
		}
		wantError(t, `{"model_type": "llama", "position_embedding_type": "rope_gptj"}`, ErrContradiction, "HalfSplit")
		wantError(t, `{"model_type": "llama", "is_neox_style": false}`, ErrContradiction, "is_neox_style is false, want true, the layout of this model type")
		mustRead(t, `{"model_type": "llama", "is_neox_style": true}`)
		wantError(t, `{"model_type": "glm4_moe_lite", "rope_scaling": {"rope_type": "proportional"}}`, ErrUnknown, "rope_type")
		mustRead(t, `{"model_type": "jetmoe", "kv_channels": 128, "rotary_percent": 1.0}`)
		mustRead(t, `{"model_type": "llama", "rope_dim": null}`)
	}},
	{"keys_beside_text_config", func(t *testing.T) {
		wantError(t, `{"model_type": "llava", "partial_rotary_factor": 0.5, "text_config": {"model_type": "llama"}}`, ErrContradiction, "partial_rotary_factor", "text_config")
		wantError(t, `{"model_type": "llava", "rope_theta": 500000, "text_config": {"model_type": "llama"}}`, ErrContradiction, "rope_theta", "text_config")
		mustRead(t, `{"model_type": "llava", "rope_theta": 500000, "text_config": {"model_type": "llama", "rope_parameters": {"rope_type": "default", "rope_theta": 500000.0}}}`)
	}},
	{"head_dim_may_differ_from_hidden_by_heads", func(t *testing.T) {
		for config, want := range map[string]int{
			`{"model_type": "qwen3", "hidden_size": 1024, "num_attention_heads": 16}`:                   128, // of the class
			`{"model_type": "qwen3", "hidden_size": 1024, "num_attention_heads": 16, "head_dim": null}`: 64,
			`{"model_type": "llama", "hidden_size": 1024, "num_attention_heads": 16, "head_dim": 128}`:  128,
		} {
			if got := mustRotary(t, config, "", 0).HeadDim; got != want {
				t.Errorf("%s: HeadDim is %d, want %d", config, got, want)
			}
		}
	}},
	{"base_that_transformers_5_leaves_unread", func(t *testing.T) {
		for config, unread := range map[string]bool{
			`{"model_type": "gpt_neox", "rope_theta": 54321}`:                                                            true,
			`{"model_type": "gpt_neox", "rope_theta": 54321, "rotary_emb_base": 54321}`:                                  false,
			`{"model_type": "gpt_neox", "rope_theta": 10000}`:                                                            false,
			`{"model_type": "gpt_neox", "rope_parameters": {"rope_type": "default", "rope_theta": 54321}}`:               false,
			`{"model_type": "lfm2", "theta": 54321}`:                                                                     true,
			`{"model_type": "lfm2_moe", "theta": 54321, "rope_theta": 54321}`:                                            false,
			`{"model_type": "apertus", "rope_theta": 54321}`:                                                             true,
			`{"model_type": "mimo_v2_flash", "rope_theta": 54321, "rope_scaling": {"rope_type": "linear", "factor": 2}}`: false,
		} {
			m := mustRead(t, config)
			has := slices.ContainsFunc(m.Traps(), func(trap Trap) bool { return trap.Name == "base_that_transformers_5_leaves_unread" })
			if has != unread {
				t.Errorf("%s: trap %t", config, has)
			}
			if cfg := mustRotary(t, config, firstRotating(m.Layers()), 0); unread && !near(cfg.InvFreq[1], math.Pow(54321, -1/float64(len(cfg.InvFreq)))) {
				t.Errorf("%s: %v", config, cfg.InvFreq[1])
			}
		}
		wantError(t, `{"model_type": "lfm2", "theta": 54321, "rope_theta": 10000}`, ErrContradiction, "theta is 54321, want the value of rope_theta, which is 10000")
	}},
	{"rope_scaling_that_transformers_5_leaves_unread", func(t *testing.T) {
		for config, unread := range map[string]bool{
			`{"model_type": "gemma3_text", "rope_scaling": {"type": "linear", "factor": 8}}`:                                                                  true,
			`{"model_type": "gemma3_text", "rope_scaling": {"rope_type": "linear", "factor": 8}}`:                                                             false,
			`{"model_type": "gemma3_text", "rope_scaling": {"type": "linear", "rope_type": "linear", "factor": 8}}`:                                           false,
			`{"model_type": "gemma3_text", "rope_scaling": {"type": "default"}}`:                                                                              false,
			`{"model_type": "gemma3_text", "rope_parameters": {"full_attention": {"type": "linear", "factor": 8}, "sliding_attention": {"type": "default"}}}`: false,
			`{"model_type": "cohere2_moe", "rope_scaling": {"rope_type": "linear", "factor": 8}}`:                                                             true,
			`{"model_type": "cohere2_moe", "rope_parameters": {"rope_type": "linear", "factor": 8}}`:                                                          false,
		} {
			m := mustRead(t, config)
			if has := slices.ContainsFunc(m.Traps(), func(trap Trap) bool { return trap.Name == "rope_scaling_that_transformers_5_leaves_unread" }); has != unread {
				t.Errorf("%s: trap %t", config, has)
			}
			if cfg := mustRotary(t, config, firstRotating(m.Layers()), 0); unread && slices.Max(cfg.InvFreq) != 0.125 && m.Layers()[0].Kind != "sliding_attention" {
				t.Errorf("%s: %v", config, cfg.InvFreq[0])
			}
		}
	}},
	{"chatglm_rope_ratio_multiplies_the_base", func(t *testing.T) {
		cfg := mustRotary(t, `{"model_type": "chatglm", "kv_channels": 128, "num_layers": 40, "rope_ratio": 500, "original_rope": true}`, "", 0)
		if cfg.RotaryDim != 64 || cfg.Layout != posenc.Interleaved || !near(cfg.InvFreq[1], math.Pow(5e6, -2.0/64)) {
			t.Errorf("%d of %d, %v, %v", cfg.RotaryDim, cfg.HeadDim, cfg.Layout, cfg.InvFreq[1])
		}
		wantError(t, `{"model_type": "llama", "rope_ratio": 500}`, ErrUnknown, "rope_ratio is 500")
		wantError(t, `{"model_type": "chatglm", "_name_or_path": "THUDM/chatglm2-6b-32k", "rope_ratio": 16}`, ErrUnknown, "frequency.Linear")
		wantError(t, `{"model_type": "chatglm", "position_encoding_2d": true}`, ErrUnknown, "position_encoding_2d")
		// A configuration of ChatGLM2-32k that was saved from a local path looks like one of ChatGLM3.
		wantError(t, `{"model_type": "chatglm", "_name_or_path": "/models/mine", "num_layers": 28, "rope_ratio": 50, "original_rope": true}`, ErrContradiction, "chatglm3", "frequency.Linear")
		if cfg := mustRotary(t, `{"model_type": "chatglm", "_name_or_path": "THUDM/chatglm3-6b-32k", "num_layers": 28, "rope_ratio": 50, "original_rope": true}`, "", 0); !near(cfg.InvFreq[1], math.Pow(5e5, -2.0/64)) {
			t.Errorf("ChatGLM3: %v", cfg.InvFreq[1])
		}
	}},
	{"xverse_has_its_base_in_its_code", func(t *testing.T) {
		wantError(t, `{"model_type": "xverse", "max_position_embeddings": 8192}`, ErrValue, "rope_theta is absent", "500000")
		if cfg := mustRotary(t, `{"model_type": "xverse", "rope_theta": 500000}`, "", 0); !near(cfg.InvFreq[1], math.Pow(5e5, -2.0/128)) {
			t.Errorf("InvFreq[1] is %v", cfg.InvFreq[1])
		}
	}},
	{"nomic_bert_scaling", func(t *testing.T) {
		m := mustRead(t, `{"model_type": "nomic_bert", "n_embd": 768, "n_head": 12, "n_layer": 12, "rotary_emb_base": 1000, "rotary_emb_fraction": 1.0, "rotary_emb_interleaved": false, "rotary_emb_scale_base": null, "rotary_scaling_factor": 2, "max_trained_positions": 2048}`)
		for seqLen, growth := range map[int]float64{2048: 1, 8192: 2*4 - 1} {
			cfg, err := m.rotaryFor(kindOptions{SequenceLength: seqLen})
			if err != nil || !near(cfg.InvFreq[1], math.Pow(1000*math.Pow(growth, 64.0/62), -2.0/64)) {
				t.Errorf("seqLen %d: %v, %v", seqLen, cfg.InvFreq[1], err)
			}
		}
		wantError(t, `{"model_type": "nomic_bert", "rotary_emb_scale_base": 512}`, ErrUnknown, "xPos")
		for interleaved, want := range map[string]posenc.Layout{"true": posenc.Interleaved, "false": posenc.HalfSplit, "null": posenc.HalfSplit} {
			if cfg := mustRotary(t, `{"model_type": "nomic_bert", "rotary_emb_interleaved": `+interleaved+`}`, "", 0); cfg.Layout != want {
				t.Errorf("interleaved %s: %v", interleaved, cfg.Layout)
			}
		}
	}},
	{"deepseek_v4_rotates_the_tail", func(t *testing.T) {
		m := mustRead(t, `{"model_type": "deepseek_v4", "num_hidden_layers": 3, "head_dim": 512, "qk_rope_head_dim": 64, "layer_types": ["sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"], "rope_theta": 10000, "compress_rope_theta": 160000, "max_position_embeddings": 1048576, "rope_scaling": {"type": "yarn", "factor": 16, "original_max_position_embeddings": 65536, "beta_fast": 32, "beta_slow": 1}}`)
		for layerType, want := range map[string]float64{"main": 1e4, "compress": 160000} {
			cfg, err := m.rotaryFor(kindOptions{LayerType: layerType})
			if err != nil || cfg.Offset != 448 || cfg.RotaryDim != 64 || cfg.HeadDim != 512 || cfg.AttentionFactor != 1 || !near(cfg.InvFreq[1], math.Pow(want, -2.0/64)) {
				t.Errorf("%s: %+v, %v", layerType, cfg, err)
			}
		}
	}},
	{"infinity_and_nan", func(t *testing.T) {
		mustRead(t, `{"model_type": "llama", "time_step_limit": [0.0, Infinity], "x": -Infinity, "y": NaN, "z": "Infinity\"NaN"}`)
		for literal, shown := range map[string]string{
			"Infinity": "Infinity", "-Infinity": "-Infinity", "NaN": "NaN", "1e999": "the number 1e999", "-1e400": "the number -1e400",
		} {
			wantError(t, `{"model_type": "llama", "rope_theta": `+literal+`}`, ErrSyntax, "rope_theta is "+shown+", want a number that float64 has")
		}
	}},
	{"qwen2_vl_tower_has_embed_dim", func(t *testing.T) {
		if cfg := mustRotaryVision(t, qwen2VL); cfg.HeadDim != 80 {
			t.Errorf("%d elements", cfg.HeadDim)
		}
	}},
	{"pixtral_shares_one_ladder", func(t *testing.T) {
		cfg := mustRotaryVision(t, pixtral12B)
		for k := range 16 {
			if !near(cfg.InvFreq[k], math.Pow(1e4, -float64(4*k)/64)) || !near(cfg.InvFreq[16+k], math.Pow(1e4, -float64(4*k+2)/64)) || cfg.Axes[k] != 0 || cfg.Axes[16+k] != 1 {
				t.Errorf("%d: %v of %d, %v of %d", k, cfg.InvFreq[k], cfg.Axes[k], cfg.InvFreq[16+k], cfg.Axes[16+k])
			}
		}
	}},
	{"llama4_vision_has_columns_first", func(t *testing.T) {
		cfg := mustRotaryVision(t, `{"model_type": "llama4", "vision_config": {"hidden_size": 1408, "num_attention_heads": 16}}`)
		for j, axis := range cfg.Axes {
			if axis != uint8(1-j/22) || !near(cfg.InvFreq[j], math.Pow(1e4, -float64(4*(j%22))/88)) {
				t.Errorf("pair %d rotates by axis %d, %v", j, axis, cfg.InvFreq[j])
			}
		}
	}},
	{"moonvit_alternates_columns_and_rows", func(t *testing.T) {
		cfg := mustRotaryVision(t, kimiK25)
		for j, axis := range cfg.Axes {
			if axis != uint8(1-j%2) || !near(cfg.InvFreq[j], math.Pow(1e4, -float64(4*(j/2))/72)) {
				t.Errorf("pair %d rotates by axis %d, %v", j, axis, cfg.InvFreq[j])
			}
		}
		if cfg.Layout != posenc.Interleaved {
			t.Errorf("layout %d", cfg.Layout)
		}
	}},
	{"gemma4_vision_is_not_one_rotation", gemma4Vision},
	{"minimax_m3_rotates_half_heads", func(t *testing.T) {
		for config, want := range map[string]int{
			`{"model_type": "minimax_m3_vl_text"}`:                                                                          64,
			`{"model_type": "minimax_m3_vl_text", "rotary_dim": 64}`:                                                        64,
			`{"model_type": "minimax_m3_vl_text", "partial_rotary_factor": 0.5}`:                                            64,
			`{"model_type": "minimax_m3_vl_text", "rope_parameters": {"rope_type": "default", "partial_rotary_factor": 1}}`: 128,
		} {
			if cfg := mustRotary(t, config, "", 0); cfg.RotaryDim != want || cfg.HeadDim != 128 {
				t.Errorf("%s: %d of %d", config, cfg.RotaryDim, cfg.HeadDim)
			}
		}
		wantError(t, `{"model_type": "minimax_m3_vl_text", "rotary_dim": 64, "partial_rotary_factor": 1}`, ErrContradiction, "rotary_dim is 64")
	}},
	{"minimax_rotates_rotary_dim", func(t *testing.T) {
		// As vLLM has it for MiniMax-Text-01; the class of transformers reads no such key.
		for config, want := range map[string]int{
			`{"model_type": "minimax_text_01", "head_dim": 128, "rotary_dim": 64}`: 64,
			`{"model_type": "minimax", "head_dim": 128, "rotary_dim": 64}`:         64,
			`{"model_type": "minimax", "head_dim": 128}`:                           128,
		} {
			if cfg := mustRotary(t, config, "", 0); cfg.RotaryDim != want || cfg.HeadDim != 128 {
				t.Errorf("%s: %d of %d", config, cfg.RotaryDim, cfg.HeadDim)
			}
		}
	}},
	{"mimo_yarn_keeps_the_part", func(t *testing.T) {
		cfg := mustRotary(t, `{"model_type": "mimo_v2_flash", "head_dim": 192, "rope_parameters": {"full_attention": {"rope_type": "yarn", "rope_theta": 5000000, "factor": 4, "original_max_position_embeddings": 32768}, "sliding_attention": {"rope_type": "default", "rope_theta": 10000}}}`, "full_attention", 0)
		if cfg.RotaryDim != 64 || cfg.HeadDim != 192 {
			t.Errorf("%d of %d", cfg.RotaryDim, cfg.HeadDim)
		}
	}},
	{"dbrx_has_its_base_in_attn_config", func(t *testing.T) {
		if cfg := mustRotary(t, `{"model_type": "dbrx", "attn_config": {"kv_n_heads": 8, "clip_qkv": 8, "rope_theta": 500000}}`, "", 0); !near(cfg.InvFreq[1], math.Pow(5e5, -2.0/128)) {
			t.Errorf("InvFreq[1] is %v", cfg.InvFreq[1])
		}
		for _, key := range []string{`"rope_scaling": {"type": "linear", "factor": 4}`, `"rope": false`, `"alibi": true`} {
			wantError(t, `{"model_type": "dbrx", "attn_config": {`+key+`}}`, ErrUnknown, "attn_config.")
		}
		mustRead(t, `{"model_type": "dbrx", "attn_config": {"alibi": false}}`)
	}},
	{"bamba_counts_by_attn_rotary_emb", func(t *testing.T) {
		if cfg := mustRotary(t, `{"model_type": "bamba", "attn_layer_indices": [1], "attn_rotary_emb": 64}`, "", 0); cfg.RotaryDim != 64 || cfg.HeadDim != 128 {
			t.Errorf("%d of %d", cfg.RotaryDim, cfg.HeadDim)
		}
		wantError(t, `{"model_type": "llama", "attn_rotary_emb": 64}`, ErrUnknown, "attn_rotary_emb")
	}},
	{"longcat_has_two_attentions_in_a_layer", func(t *testing.T) {
		for _, config := range []string{`{"model_type": "longcat_flash"}`, `{"model_type": "longcat_flash", "num_layers": 28, "num_hidden_layers": 56}`} {
			if n := len(mustRead(t, config).Layers()); n != 56 {
				t.Errorf("%s: %d attentions", config, n)
			}
		}
		wantError(t, `{"model_type": "longcat_flash", "num_layers": 28, "num_hidden_layers": 28}`, ErrContradiction, "num_hidden_layers")
	}},
	{"nanochat_turns_the_other_way", func(t *testing.T) {
		cfg := mustRotary(t, `{"model_type": "nanochat"}`, "", 0)
		want := mustRotary(t, `{"model_type": "llama", "hidden_size": 768, "num_attention_heads": 6}`, "", 0)
		for i, f := range want.InvFreq {
			if cfg.InvFreq[i] != -f {
				t.Errorf("InvFreq[%d] is %v, want %v", i, cfg.InvFreq[i], -f)
			}
		}
	}},
	{"indexers_rotate_otherwise", func(t *testing.T) {
		for config, want := range map[string]posenc.RotaryConfig{
			`{"model_type": "deepseek_v32"}`:                                  {Layout: posenc.HalfSplit},
			`{"model_type": "deepseek_v32", "indexer_rope_interleave": true}`: {Layout: posenc.InterleavedToHalfSplit},
			`{"model_type": "axk2"}`:                                          {Layout: posenc.HalfSplit},
			`{"model_type": "deepseek_v4"}`:                                   {Layout: posenc.Interleaved, Offset: 64},
			`{"model_type": "glm_moe_dsa"}`:                                   {Layout: posenc.InterleavedToHalfSplit},
			`{"model_type": "glm_moe_dsa", "indexer_rope_interleave": true}`:  {Layout: posenc.InterleavedToHalfSplit},
			`{"model_type": "glm_moe_dsa", "indexer_rope_interleave": false}`: {Layout: posenc.HalfSplit},
			`{"model_type": "minimax_m3_vl_text", "partial_rotary_factor": 0.5, "layer_types": ["minimax_m3_sparse", "full_attention"], "num_hidden_layers": 2}`: {Layout: posenc.HalfSplit},
		} {
			if strings.Contains(config, "deepseek_v4") {
				config = strings.Replace(config, "}", `, "num_hidden_layers": 2, "layer_types": ["sliding_attention", "compressed_sparse_attention"]}`, 1)
			}
			m := mustRead(t, config)
			cfg := mustRotary(t, config, "indexer", 0)
			if cfg.HeadDim != 128 || cfg.Layout != want.Layout || cfg.Offset != want.Offset {
				t.Errorf("%s: heads of %d, from %d, %v", config, cfg.HeadDim, cfg.Offset, cfg.Layout)
			}
			for i, layer := range m.Layers() {
				if strings.Contains(config, "deepseek_v4") && layer.Indexer != (i == 1) {
					t.Errorf("%s: layer %d is %+v", config, i, layer)
				}
			}
			if scale, err := m.softmaxScaleFor(kindOptions{LayerType: "indexer", SequenceLength: 1}); scale != 1 || err != nil {
				t.Errorf("%s: softmax scale %v, %v", config, scale, err)
			}
		}
		m := mustRead(t, `{"model_type": "glm_moe_dsa", "num_hidden_layers": 6, "index_topk_pattern": "FSSFSS"}`)
		for i, layer := range m.Layers() {
			if layer.Indexer != (i%3 == 0) || !layer.Rotates {
				t.Errorf("layer %d is %+v", i, layer)
			}
		}
		wantError(t, `{"model_type": "deepseek_v3", "indexer_rope_interleave": true}`, ErrUnknown, "indexer_rope_interleave")
		wantError(t, `{"model_type": "qwen4_exp_text", "partial_rotary_factor": 0.25}`, ErrValue, "indexer_head_dim is absent")
		wantError(t, `{"model_type": "deepseek_v32", "index_head_dim": 32}`, ErrContradiction, "index_head_dim is 32")
		mustRead(t, `{"model_type": "deepseek_v32", "index_head_dim": 64}`)
		// Without indexers the key of their layout is read all the same.
		for _, key := range []string{"true", "false"} {
			mustRead(t, `{"model_type": "glm_moe_dsa", "num_hidden_layers": 2, "indexer_types": ["shared", "shared"], "indexer_rope_interleave": `+key+`}`)
		}
		wantError(t, `{"model_type": "glm_moe_dsa", "num_hidden_layers": 2, "indexer_types": ["full"]}`, ErrContradiction, "indexer_types")
	}},
	{"bases_by_layer", func(t *testing.T) {
		config := `{"model_type": "granite_swa", "num_hidden_layers": 4, "layer_rope_theta": [0, 10000, 10000, 500000]}`
		m := mustRead(t, config)
		if got := rotating(m); got != "-RRR" {
			t.Errorf("layers %s", got)
		}
		for layerType, base := range map[string]float64{"base 10000": 1e4, "base 500000": 5e5} {
			if cfg := mustRotary(t, config, layerType, 0); !near(cfg.InvFreq[1], math.Pow(base, -2.0/128)) {
				t.Errorf("%s: %v", layerType, cfg.InvFreq[1])
			}
		}
		if types := m.layerTypes(); !slices.Equal(types, []string{"base 10000", "base 500000"}) || m.Layers()[3].Kind != "base 500000" {
			t.Errorf("%q, %+v", types, m.Layers())
		}
		if cfg := mustRotary(t, `{"model_type": "granite_swa", "num_hidden_layers": 2, "rope_theta": 10000, "layer_rope_theta": [0, 500000]}`, "", 0); !near(cfg.InvFreq[1], math.Pow(5e5, -2.0/128)) {
			t.Errorf("one base: %v", cfg.InvFreq[1])
		}
		wantError(t, `{"model_type": "granite_swa", "layer_rope_theta": [0]}`, ErrContradiction, "layer_rope_theta is a list of 1")
		wantError(t, `{"model_type": "granite_swa", "num_hidden_layers": 1, "layer_rope_theta": [0.5]}`, ErrValue, "layer_rope_theta[0]")
		wantError(t, `{"model_type": "granite_swa", "num_hidden_layers": 1, "layer_rope_theta": [0]}`, ErrNotRotary, "model_type")
		wantError(t, `{"model_type": "muse_glimmer_text", "num_hidden_layers": 2, "layer_rope_theta": [0, 500000]}`, ErrContradiction, "layer_rope_theta is 500000")
		// Step 3.5: a base and a part of the head for each layer, and a scaling of full attention.
		config = `{"model_type": "step3p5", "num_hidden_layers": 3, "layer_types": ["full_attention", "sliding_attention", "sliding_attention"], "rope_theta": [5000000, 10000, 10000], "partial_rotary_factors": [0.5, 1, 1], "rope_scaling": {"rope_type": "linear", "factor": 2}, "yarn_only_types": ["full_attention"]}`
		full, sliding := mustRotary(t, config, "full_attention", 0), mustRotary(t, config, "sliding_attention", 0)
		if full.RotaryDim != 64 || !near(full.InvFreq[1], math.Pow(5e6, -2.0/64)/2) || sliding.RotaryDim != 128 || !near(sliding.InvFreq[1], math.Pow(1e4, -2.0/128)) {
			t.Errorf("%d, %v and %d, %v", full.RotaryDim, full.InvFreq[1], sliding.RotaryDim, sliding.InvFreq[1])
		}
		wantError(t, strings.Replace(config, "10000, 10000]", "10000, 20000]", 1), ErrContradiction, "layer 2")
		// Molmo 2: a scaling of some layers.
		config = `{"model_type": "molmo2_text", "num_hidden_layers": 3, "rope_scaling_layers": [1], "rope_scaling": {"rope_type": "linear", "factor": 2}}`
		if scaled, unscaled := mustRotary(t, config, "scaled", 0), mustRotary(t, config, "unscaled", 0); scaled.InvFreq[0] != 0.5 || unscaled.InvFreq[0] != 1 {
			t.Errorf("%v and %v", scaled.InvFreq[0], unscaled.InvFreq[0])
		}
	}},
	{"mistral_large_4_learns_its_frequencies", func(t *testing.T) {
		m := mustRead(t, `{"model_type": "mistral_large4_text"}`)
		if tensor := m.Layers()[0].FrequencyFactors; tensor != "rotary_emb.alpha" {
			t.Errorf("tensor %q", tensor)
		}
		o := kindOptions{LayerType: "attention", FrequencyFactors: slices.Repeat([]float64{2}, 32)}
		twice, err := m.rotaryFor(o)
		o.FrequencyFactors = slices.Repeat([]float64{1}, 32)
		once, err2 := m.rotaryFor(o)
		if err != nil || err2 != nil || twice.InvFreq[5] != 2*once.InvFreq[5] || once.AttentionFactor != 1 {
			t.Errorf("%v, %v, %v, %v", twice.InvFreq, once.InvFreq, err, err2)
		}
		for _, factors := range [][]float64{nil, {1}, slices.Repeat([]float64{0}, 32), slices.Repeat([]float64{1e300}, 32)} {
			o.FrequencyFactors = factors
			if _, err := m.rotaryFor(o); !errors.Is(err, posenc.ErrConfig) || !strings.Contains(err.Error(), "options.FrequencyFactors") {
				t.Errorf("%d factors: %v", len(factors), err)
			}
		}
		if _, err := mustRead(t, llama31).rotaryFor(kindOptions{FrequencyFactors: []float64{1}}); !errors.Is(err, posenc.ErrConfig) {
			t.Errorf("factors of Llama: %v", err)
		}
		// Both operands and the product are rounded, also to float32.
		o.FrequencyFactors = slices.Repeat([]float64{1.1}, 32)
		exact := testkit.Must(m.rotaryFor(o))
		o.Rounding = frequency.Float32
		single := testkit.Must(m.rotaryFor(o))
		o.FrequencyFactors = slices.Repeat([]float64{1}, 32)
		unscaled := testkit.Must(m.rotaryFor(o))
		for i, f := range unscaled.InvFreq {
			if want := float64(float32(f) * float32(1.1)); single.InvFreq[i] != want || exact.InvFreq[i] != once.InvFreq[i]*1.1 {
				t.Errorf("InvFreq[%d] is %v and %v, want %v and %v", i, single.InvFreq[i], exact.InvFreq[i], want, once.InvFreq[i]*1.1)
			}
		}
		for factor, want := range map[float64]error{math.MaxFloat32: ErrValue, math.Inf(1): posenc.ErrConfig} {
			if _, err := m.Rope(RopeOptions{FrequencyFactors: slices.Repeat([]float64{factor}, 32)}); !errors.Is(err, want) {
				t.Errorf("factors %v: %v", factor, err)
			}
		}
		if got := rotating(m)[:8]; got != "RRR-RRR-" || m.Layers()[3].Indexer {
			t.Errorf("layers %s", got)
		}
		if learned := m.Layers()[0].LearnedQueryScaling; learned.Scale != "softmax_scaling.scale" || learned.Bias != "softmax_scaling.bias" {
			t.Errorf("queries are scaled by %+v", learned)
		}
	}},
	{"beam_scales_queries_without_rotation", func(t *testing.T) {
		m := mustRead(t, `{"model_type": "beam", "num_hidden_layers": 8}`)
		if got := rotating(m); got != "RRRRR-R-" {
			t.Errorf("layers %s", got)
		}
		for _, layer := range m.Layers() {
			want := posenc.QueryScaling{}
			if !layer.Rotates {
				want = posenc.QueryScaling{Beta: 0.1, Length: 2048, Offset: 1, Rule: posenc.PowerOfRatio}
			}
			if layer.QueryScaling != want || layer.LearnedQueryScaling.Scale != "" {
				t.Errorf("%+v", layer)
			}
		}
	}},
	{"dense_layers_of_cohere2_moe_rotate", func(t *testing.T) {
		if got := rotating(mustRead(t, `{"model_type": "cohere2_moe", "num_hidden_layers": 6, "first_k_dense_replace": 1}`)); got != "RRRR-R" {
			t.Errorf("layers %s", got)
		}
	}},
	{"llama4_scales_queries_without_rotation", func(t *testing.T) {
		m := mustRead(t, `{"model_type": "llama4_text", "num_hidden_layers": 4}`)
		for i, layer := range m.Layers() {
			want := unscaledQueries
			if i == 3 {
				want = scaledBy(0.1, 8192, 1)
			}
			if layer.QueryScaling != want {
				t.Errorf("layer %d: %+v", i, layer.QueryScaling)
			}
		}
	}},
}

// What follows from a model is a trap of every type, in both formats.
func TestDerivedTraps(t *testing.T) {
	yarn := `"rope_scaling": {"rope_type": "yarn", "factor": 40, "original_max_position_embeddings": 4096, "mscale": 1, "mscale_all_dim": 1}`
	of := func(name string) func(modelType, keys string) {
		return func(modelType, keys string) {
			t.Helper()
			m := mustRead(t, fmt.Sprintf(`{"model_type": %q%s}`, modelType, keys))
			if !slices.ContainsFunc(m.Traps(), func(trap Trap) bool { return trap.Name == name }) {
				t.Errorf("%s has no trap %s", modelType, name)
			}
		}
	}
	for _, modelType := range []string{"deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2", "glm4_moe_lite", "longcat_flash", "youtu", "axk1", "axk2", "minicpm3", "bailing_hybrid"} {
		of("the_softmax_is_scaled")(modelType, ", "+yarn)
	}
	of("the_softmax_is_scaled")("mistral4", "")
	for _, modelType := range []string{"exaone_moe", "flint", "kolibri1", "smollm3", "llama4_text", "cohere2", "afmoe", "qwen3_next", "mllama_text_model", "beam"} {
		of("some_layers_do_not_rotate")(modelType, "")
	}
	for _, modelType := range []string{"gemma3_text", "modernbert", "mimo_v2_flash"} {
		of("several_bases")(modelType, "")
	}
	of("some_layers_are_scaled")("gemma3_text", `, "rope_scaling": {"rope_type": "linear", "factor": 8}`)
	of("frequencies_depend_on_the_length")("llama", `, "rope_scaling": {"rope_type": "dynamic", "factor": 2}`)
	for _, modelType := range []string{"llama", "mistral", "mixtral", "granite", "granitemoeshared", "olmo", "smollm3", "internlm2"} {
		of("the_layout_differs_by_file")(modelType, "")
	}
	for _, m := range []*Model{mustRead(t, `{"model_type": "cohere"}`), mustRead(t, `{"model_type": "deepseek_v3"}`), mustRead(t, fmt.Sprintf(qwenYaRN, `, "mscale": 1.0, "mscale_all_dim": 1.0`)), readGGUF(t, "qwen2")} {
		for _, trap := range m.Traps() {
			if slices.ContainsFunc(derivedTraps, func(d modelTrap) bool { return d.Name == trap.Name }) {
				t.Errorf("%s has the trap %s", m.Type(), trap.Name)
			}
		}
	}
	if m := readGGUF(t, "smollm3"); len(m.Traps()) != 2 || m.Traps()[0].Name != "some_layers_do_not_rotate" || m.Traps()[1].Name != "the_layout_differs_by_file" {
		t.Errorf("smollm3 of a GGUF file has %v", m.Traps())
	}
	// The factor itself.
	for _, tt := range []struct {
		modelType, mscale string
		number            float64
	}{{"deepseek_v2", "0.707", 0.707}, {"deepseek_v3", "1.0", 1}} {
		m := mustRead(t, fmt.Sprintf(deepSeek, tt.modelType, "", tt.mscale, tt.mscale))
		cfg, err := m.rotary()
		scale, err2 := m.softmaxScale()
		if want := math.Pow(1+0.1*tt.number*math.Log(40), 2); err != nil || err2 != nil || cfg.AttentionFactor != 1 || !near(scale, want) {
			t.Errorf("%s: AttentionFactor %v, SoftmaxScale %v, want 1, %v", tt.modelType, cfg.AttentionFactor, scale, want)
		}
	}
}

func TestTrap(t *testing.T) {
	for _, trap := range traps {
		t.Run(trap.name, trap.test)
	}
}

// What is not understood is an error that names what is near, and a way out.
func TestUnknownTypes(t *testing.T) {
	for config, says := range map[string]string{
		`{"model_type": "lama"}`:        `the nearest name is "llama", which may rotate differently`,
		`{"model_type": "qwen3_mo"}`:    `"qwen3_moe"`,
		`{"model_type": "zzzzzzzzzzz"}`: "a type in docs/models.md; for others set Options.Type to the type whose code is the same, or use posenc.RotaryConfig",
		`{"model_type": "dinov3_vit"}`:  "fractions of the image",
		`{"model_type": "hy_v4"}`:       "interleaved ones",
		`{"model_type": "sam3"}`:        "which HuggingFaceVision reads",
	} {
		read := HuggingFace
		if strings.Contains(config, "vit") {
			read = HuggingFaceVision
		}
		if _, err := read([]byte(config)); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", config, err)
		}
	}
	// Names of modules and classes that no config.json has are unknown; the nearest is what
	// files have. (mlcd is another name of mlcd_vision_model.)
	for name, nearest := range map[string]string{
		"lasr": "lasr_ctc", "csm_depth_decoder": "csm_depth_decoder_model", "inkling": "inkling_text", "nemotron3_5_transcribe": "nemotron3_5_transcribe_audio",
	} {
		wantError(t, `{"model_type": "`+name+`"}`, ErrUnknown, fmt.Sprintf("%q", nearest))
	}
	wantError(t, `{"model_type": "mlcd"}`, ErrUnknown, "class token")
	if _, err := HuggingFaceVision([]byte(`{"model_type": "mlcd"}`)); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "class token") {
		t.Errorf("mlcd: %v", err)
	}
	talker := `"text_config": {"model_type": "qwen3_omni_moe_talker_text", "head_dim": 128}`
	if m := mustRead(t, `{"model_type": "qwen3_omni_moe_talker", `+talker+`}`); m.Type() != "qwen3_omni_moe_talker_text" {
		t.Errorf("the talker is %q", m.Type())
	}
	if a, b := mustRotary(t, `{"model_type": "EvollaModel"}`, "", 0), mustRotary(t, `{"model_type": "evolla"}`, "", 0); !reflect.DeepEqual(a, b) {
		t.Errorf("EvollaModel is %v, evolla %v", a, b)
	}
	wantError(t, `{"model_type": "nemo_speechlm"}`, ErrNotRotary, "none")
	// No error recommends another type.
	for _, modelType := range []string{"nanocha", "bailing_hybri", "hrm_tex"} {
		if _, err := HuggingFace([]byte(`{"model_type": "` + modelType + `"}`)); err == nil || !strings.Contains(err.Error(), "may rotate differently") || strings.Contains(err.Error(), "set model_type") {
			t.Errorf("%s: %v", modelType, err)
		}
	}
	for _, tt := range []struct {
		a, b string
		want int
	}{{"llama", "llama", 0}, {"lama", "llama", 1}, {"qwen2", "qwen3", 1}, {"", "abc", 3}, {"kitten", "sitting", 3},
		{strings.Repeat("x", 63) + "y", strings.Repeat("x", 64), 1}, {strings.Repeat("x", 65), strings.Repeat("x", 64), 10}} { // no longer names are compared
		if got := document.Distance(tt.a, tt.b, 10); got != tt.want {
			t.Errorf("%q and %q are %d letters apart, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// A file may begin with a byte order mark.
func TestByteOrderMark(t *testing.T) {
	mustRead(t, "\uFEFF"+llama31)
	wantError(t, "\uFEFF\uFEFF{}", ErrSyntax, "unreadable")
}

// A configuration of several models without the inner ones is read by the types that
// its class has by default.
func TestNestedDefaults(t *testing.T) {
	for config, want := range map[string]string{
		`{"model_type": "colqwen2"}`: "qwen2_vl_text", `{"model_type": "colpali"}`: "gemma", `{"model_type": "colmodernvbert"}`: "modernbert",
		`{"model_type": "qwen2_5_omni"}`: "qwen2_5_omni_text", `{"model_type": "mistral3"}`: "mistral",
	} {
		if got := mustRead(t, config).Type(); got != want {
			t.Errorf("%s: %s, want %s", config, got, want)
		}
	}
	if cfg := mustRotary(t, `{"model_type": "mistral3"}`, "", 0); !near(cfg.InvFreq[1], math.Pow(1e9, -2/float64(cfg.RotaryDim))) {
		t.Errorf("mistral3: %v", cfg.InvFreq[1])
	}
	wantError(t, `{"model_type": "mistral3", "rope_theta": 5}`, ErrContradiction, "rope_theta")
}

func TestErrors(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200)
	for _, tt := range []struct {
		config   string
		sentinel error
		part     string
	}{
		{``, ErrSyntax, "config is unreadable (" + io.ErrUnexpectedEOF.Error() + ")"},
		{`{`, ErrSyntax, "config is unreadable ("},
		{`[]`, ErrSyntax, "a list of 0"},
		{`null`, ErrSyntax, "null"},
		{`{} {}`, ErrSyntax, "more text"},
		{`{"a": 1, "a": 1}`, ErrSyntax, `"a" appears twice`},
		{`{"x": Nan}`, ErrSyntax, "config is unreadable ("},
		{`{"x": 1NaN}`, ErrSyntax, "config is unreadable ("},
		{`{"x": Infinity5}`, ErrSyntax, "config is unreadable ("},
		{`{"x": 1-Infinity}`, ErrSyntax, "config is unreadable ("},
		{deep, ErrSyntax, "64 levels"},
		{strings.Repeat(" ", document.MaxBytes) + "{}", ErrSyntax, "4194306 bytes"},
		{`{"x": [` + strings.Repeat("{},", document.MaxValues) + `{}]}`, ErrSyntax, "more than 131072 values"},
		{`{}`, ErrValue, "model_type is absent"},
		{`{"dim": 4096, "n_heads": 32}`, ErrValue, "Meta's params.json"},
		{`{"dim": 4096}`, ErrValue, "absent, want the type of a model"},
		{`{"n_heads": 32}`, ErrValue, "absent, want the type of a model"},
		{`{"model_type": "` + strings.Repeat("x", 1000) + `"}`, ErrUnknown, `xxx"...`},
	} {
		wantError(t, tt.config, tt.sentinel, tt.part)
	}
	// A line of the file is a config.json, its error, and a part of the error's text.
	sentinels := map[string]error{"ErrSyntax": ErrSyntax, "ErrValue": ErrValue, "ErrUnknown": ErrUnknown, "ErrContradiction": ErrContradiction, "ErrNotRotary": ErrNotRotary}
	for line := range strings.Lines(string(testkit.ReadGolden("testdata/refused.txt"))) {
		field := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		wantError(t, field[0], sentinels[field[1]], field[2])
	}
}

// Frequencies that only Float32 or a length refuses are errors about a key, too.
func TestRopeErrors(t *testing.T) {
	m := mustRead(t, `{"model_type": "llama", "rope_theta": 1e300}`)
	if _, err := m.Rope(RopeOptions{Rounding: frequency.Float32}); !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), "modelconfig.Model.Rope: rope_theta is refused") {
		t.Errorf("a base beyond float32: %v", err)
	}
	m = mustRead(t, `{"model_type": "phimoe", "hidden_size": 64, "num_attention_heads": 32, "rope_scaling": {"type": "longrope", "factor": 2, "original_max_position_embeddings": 4096, "short_factor": [1], "long_factor": [1], "long_mscale": 1e39}}`)
	if _, err := m.Rope(RopeOptions{SequenceLength: 4096}); err != nil {
		t.Error(err)
	}
	if _, err := m.Rope(RopeOptions{SequenceLength: 4097}); !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), "modelconfig.Model.Rope: rope_scaling is refused, want numbers that posenc.NewRotary accepts") {
		t.Errorf("an attention factor beyond float32: %v", err)
	}
}

func TestArguments(t *testing.T) {
	m := mustRead(t, gemma3)
	llama, dynamic := mustRead(t, llama31), mustRead(t, internLM3)
	for _, tt := range []struct {
		m    *Model
		o    []RopeOptions
		want string
	}{
		{m, []RopeOptions{{SequenceLength: -1}}, "options.SequenceLength is -1, want the number of tokens in the sequence"},
		{m, make([]RopeOptions, 2), "options is a list of 2, want at most one modelconfig.RopeOptions"},
		{dynamic, nil, "options.SequenceLength is 0, want the number of tokens in the sequence, because frequencies of this model depend on it beyond 32768"},
		{llama, []RopeOptions{{Rounding: 7}}, "options.Rounding is 7, want frequency.Exact or frequency.Float32"},
		{new(Model), nil, "the Model is nil or zero, want a Model from HuggingFace, HuggingFaceVision or GGUF"},
		{nil, nil, "the Model is nil or zero, want a Model from HuggingFace, HuggingFaceVision or GGUF"},
	} {
		want := "modelconfig.Model.Rope: " + tt.want + ": invalid configuration"
		if rope, err := tt.m.Rope(tt.o...); rope != nil || !errors.Is(err, posenc.ErrConfig) || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	for _, rope := range []*Rope{nil, {}} {
		if rows, err := rope.Rows([]int32{1}); rows != nil || !errors.Is(err, posenc.ErrConfig) {
			t.Errorf("rows of no Rope: %v", err)
		}
		if rope.Rotary(0) != nil || rope.Indexer(0) != nil {
			t.Error("no Rope has layers")
		}
	}
	x := posenc.View[float32]{Data: make([]float32, 256), Heads: 1}
	for _, rows := range []*LayerRows{nil, {}} {
		if err := rows.Refill([]int32{1}); !errors.Is(err, posenc.ErrConfig) {
			t.Errorf("no LayerRows: %v", err)
		}
		if err := posenc.Rotate(rows.Layer(0), x); !errors.Is(err, posenc.ErrConfig) {
			t.Errorf("no LayerRows: %v", err)
		}
	}
	// Rows of which some are of the step before are none.
	fast := mustRead(t, `{"model_type": "gemma3_text", "head_dim": 256, "rope_scaling": {"rope_type": "linear", "factor": 1e-7}}`)
	rows := testkit.Must(testkit.Must(fast.Rope()).Rows([]int32{0}))
	if err := rows.Refill([]int32{math.MaxInt32}); !errors.Is(err, posenc.ErrPosition) {
		t.Errorf("a position too large: %v", err)
	}
	if rows, err := testkit.Must(fast.Rope()).Rows([]int32{math.MaxInt32}); !errors.Is(err, posenc.ErrPosition) || rows != nil {
		t.Errorf("a position too large: %v", err)
	}
	for function, err := range map[string]error{
		"HuggingFace": second(HuggingFace([]byte(llama31), Options{}, Options{})), "HuggingFaceVision": second(HuggingFaceVision([]byte(qwen2VL), Options{}, Options{})), "GGUF": second(GGUF(ggufKeys("llama"), Options{}, Options{})),
	} {
		if want := "modelconfig." + function + ": options is a list of 2, want at most one modelconfig.Options: invalid configuration"; !errors.Is(err, posenc.ErrConfig) || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	// The shortest of the trained lengths of all kinds of layers.
	kinds := mustRead(t, `{"model_type": "modernbert", "rope_parameters": {"full_attention": {"rope_type": "longrope", "factor": 2, "original_max_position_embeddings": 1024, "short_factor": [`+strings.Repeat("1,", 31)+`1], "long_factor": [`+strings.Repeat("1,", 31)+`1]},
		"sliding_attention": {"rope_type": "longrope", "factor": 2, "original_max_position_embeddings": 512, "short_factor": [`+strings.Repeat("1,", 31)+`1], "long_factor": [`+strings.Repeat("1,", 31)+`1]}}}`)
	for range 20 { // in any order
		if beyond, ok := kinds.DependsOnLength(); beyond != 512 || !ok {
			t.Errorf("depends on lengths beyond %d: %t", beyond, ok)
		}
	}
	for layer := range 6 {
		if err := posenc.Rotate(rows.Layer(layer), x); !errors.Is(err, posenc.ErrConfig) {
			t.Errorf("layer %d after an error: %v", layer, err)
		}
	}
	testkit.NoError(t, rows.Refill([]int32{5}), posenc.Rotate(rows.Layer(5), x))
	if beyond, ok := dynamic.DependsOnLength(); beyond != 32768 || !ok {
		t.Errorf("InternLM 3 depends on lengths beyond %d: %t", beyond, ok)
	}
	for _, m := range []*Model{m, llama, nil, new(Model)} {
		if beyond, ok := m.DependsOnLength(); beyond != 0 || ok {
			t.Errorf("%s depends on lengths beyond %d: %t", m.Type(), beyond, ok)
		}
	}
	if m.Layers()[0].Kind = "x"; m.Layers()[0].Kind == "x" {
		t.Error("Layers gives its own memory away")
	}
}

// The bounds here are those of package posenc.
func TestBounds(t *testing.T) {
	for dim, ok := range map[int]bool{description.MaxRotaryDim: true, description.MaxRotaryDim + 2: false} {
		if _, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit}); (err == nil) != ok {
			t.Errorf("%d elements: %v", dim, err)
		}
	}
	for beta, ok := range map[float64]bool{description.MaxBeta: true, math.Nextafter(description.MaxBeta, math.Inf(1)): false} {
		if err := posenc.QueryScales(make([]float32, 1), []int32{7}, posenc.QueryScaling{Beta: beta, Length: 1}); (err == nil) != ok {
			t.Errorf("beta %v: %v", beta, err)
		}
	}
}

// The form of transformers 5 is that of transformers 4 in other words.
func TestForms(t *testing.T) {
	for _, pair := range [][2]string{
		{llama31, `{"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32, "max_position_embeddings": 131072, "rope_parameters": {"rope_theta": 500000.0, "factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"}}`},
		{gemma3, `{"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34, "rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8, "rope_theta": 1000000}, "sliding_attention": {"rope_type": "default", "rope_theta": 10000}}}`},
		{`{"model_type": "phi", "partial_rotary_factor": 0.25}`, `{"model_type": "phi", "rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.25}}`},
		{`{"model_type": "gemma4_text", "num_hidden_layers": 12}`, `{"model_type": "gemma4_text", "num_hidden_layers": 12, "per_layer_config": {"0": {"intermediate_size": 5}}}`},
		{`{"model_type": "deepseek_v4", "num_hidden_layers": 2, "max_position_embeddings": 8192}`, `{"model_type": "deepseek_v4", "num_hidden_layers": 2, "max_position_embeddings": 8192, "rope_parameters": {"rope_type": "default", "rope_theta": 50000}}`},
		{`{"model_type": "gemma4_text", "num_hidden_layers": 12}`, `{"model_type": "gemma4_text", "num_hidden_layers": 12, "per_layer_config": {"05": {"head_dim": 512}, "11": {"head_dim": 512}}}`},
	} {
		a, b := mustRead(t, pair[0]), mustRead(t, pair[1])
		if !slices.Equal(a.Layers(), b.Layers()) || !slices.Equal(a.layerTypes(), b.layerTypes()) {
			t.Errorf("%s: other layers", pair[1])
		}
		for _, layerType := range a.layerTypes() {
			x, err := a.rotaryFor(kindOptions{LayerType: layerType})
			y, err2 := b.rotaryFor(kindOptions{LayerType: layerType})
			if err != nil || err2 != nil || fmt.Sprint(x) != fmt.Sprint(y) {
				t.Errorf("%s, %q: %v and %v", pair[1], layerType, x, y)
			}
		}
	}
}

// Every type reads a configuration that has nothing but what it needs, and takes the
// number of layers from its own key.
func TestFamilies(t *testing.T) {
	if len(families) < 60 {
		t.Errorf("%d types", len(families))
	}
	for modelType, f := range families {
		if notRotary[modelType] != "" {
			t.Errorf("%s is and is not rotary", modelType)
		}
		layers := 12
		if modelType == "zamba2" || leastKeys[modelType]["layer_types"] != nil { // it is in the class, or in the list
			layers = f.Layers
		}
		if f.Refusal != "" {
			continue
		}
		m, _, err := readType(modelType, map[string]any{f.Keys.Layers[0]: layers})
		if err != nil {
			t.Errorf("%s: %v", modelType, err)
			continue
		}
		if modelType == "longcat_flash" || modelType == "hrm_text" { // each layer attends several times
			if len(m.Layers())%layers != 0 || len(m.Layers()) == layers {
				t.Errorf("%s: %d attentions of %d layers", modelType, len(m.Layers()), layers)
			}
			continue
		}
		if len(m.Layers()) != layers || len(m.layerTypes()) == 0 {
			t.Errorf("%s: %d layers, types %q", modelType, len(m.Layers()), m.layerTypes())
		}
	}
	for outer, w := range wrappers {
		_, nested := wrappers[w.Type]
		if _, known := families[w.Type]; !known && !nested && notRotary[w.Type] == "" {
			t.Errorf("%s holds %s, which is no type", outer, w.Type)
		}
	}
}

// No value of a key makes a reading of any type panic or fail without a sentinel.
func TestValues(t *testing.T) {
	keys := []string{
		"hidden_size", "num_attention_heads", "head_dim", "kv_channels", "qk_rope_head_dim", "num_hidden_layers", "max_position_embeddings", "rope_theta", "rope_scaling",
		"rope_parameters", "partial_rotary_factor", "rotary_dim", "layer_types", "sliding_window_pattern", "no_rope_layers", "per_layer_config",
	}
	values := []string{`0`, `1`, `-1`, `1e300`, `null`, `"x"`, `[-1]`, `{"full_attention": null}`}
	for i, modelType := range allTypes() {
		for j, key := range keys {
			if !testkit.Sampled(i+j, 8) {
				continue
			}
			for _, value := range values {
				members := map[string]any{"hidden_size": 4, "num_attention_heads": 4, "head_dim": 4, "num_hidden_layers": 2}
				members[key] = json.RawMessage(value)
				if _, text, err := readType(modelType, members); err != nil && !wrapsOne(err) {
					t.Errorf("%s: %v", text, err)
				}
			}
		}
	}
}

// wrapsOne says whether an error of HuggingFace or GGUF wraps what their
// documentation says, and names the package, in front of it.
func wrapsOne(err error) bool {
	return slices.ContainsFunc([]error{ErrSyntax, ErrUnknown, ErrNotRotary, ErrValue, ErrContradiction}, func(sentinel error) bool {
		return errors.Is(err, sentinel) && strings.HasPrefix(err.Error(), "modelconfig.") && !strings.Contains(sentinel.Error(), "modelconfig")
	})
}

// A document of many small values takes memory by its bounds, not by what it could hold.
func TestMemoryOfDocument(t *testing.T) {
	for _, value := range []string{"{}", "[]", "1", `""`, `{"a":1}`} {
		for _, n := range []int{document.MaxValues / 4, document.MaxBytes / (len(value) + 1) / 2} {
			config := []byte(`{"model_type": "llama", "x": [` + strings.Repeat(value+",", n) + value + `]}`)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			HuggingFace(config)
			runtime.ReadMemStats(&after)
			if used, most := after.TotalAlloc-before.TotalAlloc, uint64(3*len(config)+512*document.MaxValues); used > most {
				t.Errorf("%s, %d times: %d bytes of memory for a document of %d, want at most %d", value, n, used, len(config), most)
			}
		}
	}
}

// Values at the edges of what is allowed are read.
func TestEdges(t *testing.T) {
	for _, tt := range []struct {
		config, layerType string
		headDim           int
	}{
		{`{"model_type": "llama", "n_heads": 3, "dim": 5}`, "", 128}, // keys of other programs
		{`{"model_type": "llama", "num_hidden_layers": 16384}`, "", 128},
		{`{"model_type": "llama", "hidden_size": 128, "num_attention_heads": 1}`, "", 128},
		{`{"model_type": "llama", "head_dim": 2048}`, "", 2048},
		{`{"model_type": "chatglm", "num_layers": 40, "rope_ratio": 1.7976931348623157e304}`, "", 128},
		{`{"model_type": "deepseek_v3", "partial_rotary_factor": 1}`, "", 64},
		{`{"model_type": "deepseek_v3", "partial_rotary_factor": 0.3333333333333333}`, "", 64},
		{`{"model_type": "qwen2_vl", "rope_scaling": {"type": "mrope", "mrope_section": [64, 0, 0]}}`, "", 128},
		{`{"model_type": "llama", "rope_scaling": {"rope_type": "yarn", "factor": 4, "beta_fast": 2, "beta_slow": 2}}`, "", 128},
		{`{"model_type": "llama", "original_max_position_embeddings": 1, "rope_scaling": {"rope_type": "llama3", "factor": 4, "low_freq_factor": 1, "high_freq_factor": 4}}`, "", 128},
		{`{"model_type": "llama", "rope_scaling": {"rope_type": "llama3", "factor": 4, "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 1}}`, "", 128},
		{`{"model_type": "gemma4_text", "num_hidden_layers": 12, "per_layer_config": {"05": {"head_dim": 256}}}`, "full_attention", 256},
		{`{"model_type": "gemma4_text", "num_hidden_layers": 1, "layer_types": ["full_attention"], "per_layer_config": {"0": {"head_dim": 128}}}`, "full_attention", 128},
	} {
		if cfg := mustRotary(t, tt.config, tt.layerType, 0); cfg.HeadDim != tt.headDim {
			t.Errorf("%s: heads of %d, want %d", tt.config, cfg.HeadDim, tt.headDim)
		}
	}
	for number, part := range map[string]string{"12": "12", "-1": "-1", "x": "x", "0": "0", "5": ""} {
		config := `{"model_type": "gemma4_text", "num_hidden_layers": 12, "per_layer_config": {"` + number + `": {"head_dim": 512}}}`
		if part == "" {
			mustRead(t, config)
			continue
		}
		wantError(t, config, ErrUnknown, "per_layer_config."+part+".head_dim is the number 512, want the number of a layer of full_attention")
	}
	// A key without a name is no key of a type, whatever stands under it.
	for _, modelType := range []string{"llama", "axk2"} {
		a, b := mustRead(t, `{"model_type": "`+modelType+`"}`), mustRead(t, `{"model_type": "`+modelType+`", "": 2}`)
		if x, y := mustRotary(t, `{"model_type": "`+modelType+`"}`, a.layerTypes()[0], 0), testkit.Must(b.rotaryFor(kindOptions{LayerType: b.layerTypes()[0]})); !reflect.DeepEqual(x, y) {
			t.Errorf("%s: %v and %v", modelType, x, y)
		}
	}
}

// What factors say wins over what is derived where they are absent.
func TestGivenFactors(t *testing.T) {
	if cfg := mustRotary(t, `{"model_type": "llama", "rope_scaling": {"rope_type": "proportional", "factor": 4}}`, "", 0); cfg.InvFreq[0] != 0.25 {
		t.Errorf("proportional: %v", cfg.InvFreq[0])
	}
	with := func(keys string) string {
		return strings.Replace(fmt.Sprintf(phi3, "longrope"), `"type":`, keys+` "type":`, 1)
	}
	for _, tt := range []struct {
		config string
		want   float64
	}{{with(`"factor": 4,`), math.Sqrt(1 + math.Log(4)/math.Log(4096))}, {with(`"attention_factor": 1.5,`), 1.5}} {
		for _, length := range []int{4096, 4097} {
			if cfg := mustRotary(t, tt.config, "", length); !near(cfg.AttentionFactor, tt.want) {
				t.Errorf("%s, %d tokens: %v, want %v", tt.config, length, cfg.AttentionFactor, tt.want)
			}
		}
	}
	// A null in one form leaves the value of the other.
	if cfg := mustRotary(t, `{"model_type": "llama", "rope_parameters": {"rope_type": "linear", "factor": 2}, "rope_scaling": {"rope_type": "linear", "factor": null}}`, "", 0); cfg.InvFreq[0] != 0.5 {
		t.Errorf("null beside a factor: %v", cfg.InvFreq[0])
	}
	// A base in rope_scaling is that of the kind that is scaled.
	if cfg := mustRotary(t, `{"model_type": "gemma3_text", "rope_scaling": {"rope_type": "linear", "factor": 1, "rope_theta": 2000000}}`, "full_attention", 0); !near(cfg.InvFreq[1], math.Pow(2e6, -2.0/256)) {
		t.Errorf("base in rope_scaling: %v", cfg.InvFreq[1])
	}
	// A kind whose parameters are null does not rotate.
	if got := rotating(mustRead(t, `{"model_type": "gemma3_text", "num_hidden_layers": 6, "rope_parameters": {"full_attention": {"rope_type": "default"}, "sliding_attention": null}}`)); got != "-----R" {
		t.Errorf("layers %s", got)
	}
}

// Rope keys beside the text model agree with it whatever they call the rule, and nulls say nothing.
func TestRopeKeysBeside(t *testing.T) {
	for _, beside := range []string{`{"type": "mrope", "mrope_section": [16, 24, 24]}`, `{"rope_type": "mrope", "mrope_section": [16, 24, 24]}`, `{"factor": null, "mrope_section": null}`} {
		mustRead(t, `{"model_type": "qwen2_vl", "rope_scaling": `+beside+`, "text_config": {"model_type": "qwen2_vl_text", "rope_scaling": {"type": "default", "rope_type": "default", "factor": 1, "mrope_section": [16, 24, 24]}}}`)
	}
}

// A type that holds other models stands for the whole document, any other for a document of one.
func TestTypeOfHolder(t *testing.T) {
	const whole = `{"model_type": "mine", "text_config": {"model_type": "llama", "head_dim": 64, "rope_scaling": {"rope_type": "linear", "factor": 2}}}`
	if m, err := HuggingFace([]byte(whole), Options{Type: "llama"}); !errors.Is(err, ErrContradiction) || !strings.Contains(err.Error(), `options.Type is "llama", want a type that holds other models, because this one has "text_config"`) {
		t.Errorf("%v, %v", m, err)
	}
	for config, modelType := range map[string]string{whole: "llava", `{"model_type": "mine", "head_dim": 64, "rope_scaling": {"rope_type": "linear", "factor": 2}}`: "llama"} {
		m, err := HuggingFace([]byte(config), Options{Type: modelType})
		testkit.NoError(t, err)
		if cfg := testkit.Must(m.rotary()); m.Type() != "llama" || cfg.HeadDim != 64 || cfg.InvFreq[0] != 0.5 {
			t.Errorf("%s as %s: %s, heads of %d, %v", config, modelType, m.Type(), cfg.HeadDim, cfg.InvFreq[0])
		}
	}
	// Types of towers are near each other, those of text models are not near them.
	if _, err := HuggingFaceVision([]byte(`{"model_type": "lama"}`)); !errors.Is(err, ErrUnknown) || strings.Contains(err.Error(), `"llama"`) {
		t.Error(err)
	}
}

// Which layers rotate, and which have an indexer (x), by the keys of single types.
func TestPlansOfLayers(t *testing.T) {
	for _, tt := range []struct{ modelType, keys, layers string }{
		{"lfm2", `"num_hidden_layers": 3, "full_attn_idxs": [0, 2]`, "R-R"},
		{"smollm3", `"num_hidden_layers": 4, "no_rope_layers": [0, 1, 0, 1]`, "-R-R"},
		{"recurrent_gemma", `"num_hidden_layers": 4, "block_types": ["attention", "recurrent"]`, "R-R-"},
		{"recurrent_gemma", `"num_hidden_layers": 4, "block_types": []`, "--R-"},
		{"minimax", `"num_hidden_layers": 4`, "R-R-"},
		{"minimax", `"num_hidden_layers": 4, "attn_type_list": [0, 1, 1, 0]`, "-RR-"},
		{"minimax_m3_vl_text", `"num_hidden_layers": 4, "sparse_attention_config": {"sparse_attention_freq": [0, 1, 1, 0]}`, "RxxR"},
		{"glm_moe_dsa", `"num_hidden_layers": 4, "index_topk_pattern": ["F", "S", "S", "F"]`, "xRRx"},
		{"cohere2_moe", `"num_hidden_layers": 6, "first_k_dense_replace": 3, "prefix_dense_sliding_window_pattern": 2`, "R-RRRR"},
		{"cohere2_moe", `"num_hidden_layers": 3, "first_k_dense_replace": 1, "sliding_window_pattern": 1`, "R--"},
		{"cohere2_moe", `"num_hidden_layers": 3, "first_k_dense_replace": 3`, "RRR"},
		{"cohere2_moe", `"num_hidden_layers": 3, "sliding_window_pattern": 1, "mlp_layer_types": ["dense", "sparse", "dense"]`, "R-R"},
		{"hrm_text", `"num_hidden_layers": 2, "H_cycles": 1, "L_cycles": 0`, "RR"},
		{"hrm_text", `"num_hidden_layers": 1, "H_cycles": 16384, "L_cycles": 0`, strings.Repeat("R", 16384)},
		{"longcat_flash", `"num_layers": 8192`, strings.Repeat("R", 16384)},
		{"dots3_note_text", `"num_hidden_layers": 6`, "xxRRRx"},
		{"dots3_note_text", `"num_hidden_layers": 6, "use_dsa": false`, "RRRRRR"},
		{"mllama_text_model", `"num_hidden_layers": 4, "cross_attention_layers": [0, 2, 4, -1]`, "-R-R"},
		{"deepseek_v4", `"num_hidden_layers": 4, "compress_ratios": [0, 4, 128, 4]`, "RxRx"},
		{"deepseek_v4", `"num_hidden_layers": 4`, "RRRx"},
		{"qwen4_exp_text", `"partial_rotary_factor": 0.25, "indexer_head_dim": 128, "num_hidden_layers": 3, "layer_types": ["linear_attention", "full_attention", "attention"]`, "-xx"},
		{"gptj", `"n_layer": 2, "rope_scaling": {}`, "RR"},
	} {
		if got := layersOf(mustRead(t, fmt.Sprintf(`{"model_type": %q, %s}`, tt.modelType, tt.keys))); got != tt.layers {
			t.Errorf("%s, %s: %.50s, want %.50s", tt.modelType, tt.keys, got, tt.layers)
		}
	}
	for _, tt := range []struct{ modelType, keys, kinds string }{ // f has full attention, s a sliding window
		{"gemma3_text", `"_sliding_window_pattern": 4`, "sssfsssf"},
		{"gemma4_text", ``, "sssssfsf"},
		{"mimo_v2_flash", ``, "fssssfss"},
		{"mimo_v2_flash", `"hybrid_layer_pattern": [1, 0, 1, 1, 0, 1, 1, 0]`, "sfssfssf"},
	} {
		got := ""
		for _, layer := range mustRead(t, strings.ReplaceAll(fmt.Sprintf(`{"model_type": %q, "num_hidden_layers": 8, %s}`, tt.modelType, tt.keys), ", }", "}")).Layers() {
			got += layer.Kind[:1]
		}
		if got != tt.kinds {
			t.Errorf("%s, %s: %s, want %s", tt.modelType, tt.keys, got, tt.kinds)
		}
	}
	for keys, want := range map[string]int{`"sparse_attention_config": {"sparse_index_dim": 96}`: 96, `"sparse_attention_config": {"sparse_index_dim": 96}, "index_head_dim": 96`: 96, `"index_head_dim": 80`: 80} {
		if cfg := mustRotary(t, `{"model_type": "minimax_m3_vl_text", "num_hidden_layers": 1, "layer_types": ["minimax_m3_sparse"], `+keys+`}`, "indexer", 0); cfg.HeadDim != want {
			t.Errorf("%s: heads of %d", keys, cfg.HeadDim)
		}
	}
}

// Lists with an entry for each layer, alone and beside the rope parameters.
func TestListsOfLayers(t *testing.T) {
	const step = `{"model_type": "step3p5", "head_dim": 64, "num_hidden_layers": 2, "layer_types": ["full_attention", "sliding_attention"], `
	for _, tt := range []struct {
		config, layerType string
		rotaryDim         int
		second            float64
	}{
		{step + `"rope_theta": [5000000, 20000]}`, "full_attention", 64, math.Pow(5e6, -2.0/64)},
		{step + `"rope_theta": [5000000, 20000]}`, "sliding_attention", 64, math.Pow(2e4, -2.0/64)},
		{step + `"partial_rotary_factors": [0.5, 1]}`, "full_attention", 32, math.Pow(1e4, -2.0/32)},
		{step + `"partial_rotary_factors": [0.5, 1]}`, "sliding_attention", 64, math.Pow(1e4, -2.0/64)},
		{step + `"rope_scaling": {"rope_type": "linear", "factor": 2}}`, "full_attention", 64, math.Pow(1e4, -2.0/64) / 2},
		{step + `"rope_scaling": {"rope_type": "linear", "factor": 2}}`, "sliding_attention", 64, math.Pow(1e4, -2.0/64)},
		{step + `"rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 5000000}, "sliding_attention": {"rope_type": "default"}}}`, "full_attention", 64, math.Pow(5e6, -2.0/64)},
		{`{"model_type": "molmo2_text", "rope_scaling_layers": [], "rope_scaling": {"rope_type": "linear", "factor": 2}}`, "", 128, math.Pow(1e4, -2.0/128)}, // none is scaled
		{`{"model_type": "molmo2_text", "rope_scaling_layers": null, "rope_scaling": {"rope_type": "linear", "factor": 2}}`, "", 128, math.Pow(1e4, -2.0/128) / 2},
		{`{"model_type": "molmo2_text", "num_hidden_layers": 2, "rope_scaling_layers": [0, 1], "rope_scaling": {"rope_type": "linear", "factor": 2}}`, "", 128, math.Pow(1e4, -2.0/128) / 2},
		{`{"model_type": "muse_glimmer_text", "num_hidden_layers": 2, "layer_rope_theta": [0, 10000]}`, "", 128, math.Pow(1e4, -2.0/128)},
		{`{"model_type": "muse_spark_text", "num_hidden_layers": 2, "layer_rope_theta": [0, 500000]}`, "", 64, math.Pow(5e5, -2.0/64)},
		{`{"model_type": "muse_spark_text", "num_hidden_layers": 2, "layer_rope_theta": [0, 10000], "rope_parameters": {"rope_type": "default"}}`, "", 64, math.Pow(1e4, -2.0/64)},
		{`{"model_type": "granite_swa", "num_hidden_layers": 16, "layer_rope_theta": [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]}`, "base 17", 128, math.Pow(17, -2.0/128)},
		// The text model of a holder that has defaults of its own.
		{`{"model_type": "voxtral", "text_config": {"rope_parameters": {"rope_type": "default", "rope_theta": 50000}}}`, "", 128, math.Pow(5e4, -2.0/128)},
		{`{"model_type": "voxtral", "text_config": {"rope_parameters": {"rope_type": "default"}}}`, "", 128, math.Pow(1e8, -2.0/128)},
		// Without use_dynamic_ntk nothing scales; with it the smallest heads are read.
		{`{"model_type": "qwen", "use_dynamic_ntk": false}`, "", 128, math.Pow(1e4, -2.0/128)},
	} {
		if cfg := mustRotary(t, tt.config, tt.layerType, 1<<20); cfg.RotaryDim != tt.rotaryDim || !near(cfg.InvFreq[1], tt.second) {
			t.Errorf("%s: %d elements, %v, want %d and %v", tt.config, cfg.RotaryDim, cfg.InvFreq[1], tt.rotaryDim, tt.second)
		}
	}
	if cfg := mustRotary(t, `{"model_type": "qwen", "kv_channels": 2, "use_dynamic_ntk": true}`, "", 1); cfg.RotaryDim != 2 || cfg.InvFreq[0] != 1 {
		t.Errorf("%+v", cfg)
	}
	if beyond, depends := mustRead(t, `{"model_type": "qwen"}`).DependsOnLength(); depends {
		t.Errorf("Qwen without use_dynamic_ntk depends on lengths beyond %d", beyond)
	}
}
