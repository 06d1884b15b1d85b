package modelconfig

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/modelconfig/internal/gguf"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

// ggufKeys are the keys of a small model of an architecture, changed and
// completed by pairs of key (after the architecture and its point, or a whole
// key after a slash) and value; nil takes a key out.
func ggufKeys(arch string, pairs ...any) map[string]any {
	keys := map[string]any{
		"general.architecture":         arch,
		arch + ".block_count":          uint32(8),
		arch + ".context_length":       uint32(32768),
		arch + ".embedding_length":     uint32(512),
		arch + ".attention.head_count": uint32(4),
		"tokenizer.ggml.tokens":        []any{"a", "b"},
	}
	for i := 0; i < len(pairs); i += 2 {
		key := pairs[i].(string)
		if whole, found := strings.CutPrefix(key, "/"); found {
			key = whole
		} else {
			key = arch + "." + key
		}
		if pairs[i+1] == nil {
			delete(keys, key)
		} else {
			keys[key] = pairs[i+1]
		}
	}
	return keys
}

func readGGUF(t *testing.T, arch string, pairs ...any) *Model {
	t.Helper()
	m, err := GGUF(ggufKeys(arch, pairs...))
	testkit.NoError(t, err)
	return m
}

func rotaryGGUF(t *testing.T, m *Model, layerType string, seqLen int) posenc.RotaryConfig {
	t.Helper()
	cfg, err := m.rotaryFor(kindOptions{LayerType: layerType, SequenceLength: seqLen})
	testkit.NoError(t, err, second(posenc.NewRotary(cfg)))
	return cfg
}

// TestGGUFArchitectures reads a model of each architecture with nothing but the
// keys that it requires.
func TestGGUFArchitectures(t *testing.T) {
	if len(ggufArchitectures) < 60 {
		t.Errorf("%d architectures", len(ggufArchitectures))
	}
	for name, arch := range ggufArchitectures {
		t.Run(name, func(t *testing.T) {
			if _, both := ggufNotRotary[name]; both {
				t.Error("rotary and not rotary")
			}
			pairs := []any{"rope.dimension_count", uint32(128)}
			if arch.Axes != models.OneAxis {
				pairs = append(pairs, "rope.dimension_sections", []int32{24, 20, 20, 0})
			}
			if arch.RotaryLayers != 0 {
				pairs = append(pairs, "block_count", uint32(arch.RotaryLayers))
			}
			if arch.Sliding != nil && arch.Sliding.Period == 0 {
				pairs = append(pairs, "attention.sliding_window_pattern", []bool{true, true, true, false, true, true, true, false})
			}
			if arch.Nope == models.ByRequiredPattern {
				pairs = append(pairs, gguf.PatternKey, []bool{true, true, true, false, true, true, true, false})
			}
			if arch.Compressed {
				pairs = append(pairs, "attention.compress_ratios", []int32{0, 4, 128, 4, 0, 4, 128, 4}, gguf.CompressBaseKey, 160000.0)
			}
			m := readGGUF(t, name, pairs...)
			if m.Type() != name {
				t.Errorf("Type is %q", m.Type())
			}
			if len(m.layerTypes()) == 0 {
				t.Error("no kind of layer")
			}
			for _, layerType := range m.layerTypes() {
				rotaryGGUF(t, m, layerType, 0)
			}
			for i, layer := range m.Layers() {
				if layer.Rotates && !slices.Contains(m.layerTypes(), layer.Kind) {
					t.Errorf("layer %d is of %q", i, layer.Kind)
				}
			}
		})
	}
}

// TestGGUFRopeTypes compares every architecture that llama.cpp rotates, by its own list:
// it has the same order of pairs here, is refused, or rotates nothing there either.
func TestGGUFRopeTypes(t *testing.T) {
	var list map[string][]string
	testkit.ReadJSON("testdata/llamacpp/rope_types.json", &list)
	types := map[string]models.GGUFArchitecture{
		"NORM": {Layout: models.Normal}, "NEOX": {Layout: models.NeoX}, "MROPE": {Layout: models.NeoX, Axes: models.SectionedAxes}, "IMROPE": {Layout: models.NeoX, Axes: models.InterleavedAxes},
		"MROPE with sections, else NORM": {Layout: models.Normal, Axes: models.OptionalAxes}, "MROPE with sections, else NEOX": {Layout: models.NeoX, Axes: models.OptionalAxes},
	}
	agree, refused, unrotated := 0, 0, 0
	for ropeType, names := range list {
		want, known := types[ropeType]
		if !known {
			t.Fatalf("rope type %q", ropeType)
		}
		for _, name := range names {
			arch, read := ggufArchitectures[name]
			switch {
			case read && arch.Layout == want.Layout && arch.Axes == want.Axes:
				agree++
			case name == "deepseek2-ocr" && arch.Layout == models.NeoX: // its graph names NEOX itself, whatever the list says
				agree++
			case read:
				t.Errorf("%s has layout %v and axes %d, llama.cpp has %s", name, arch.Layout, arch.Axes, ropeType)
			case ggufRefused[name] != "":
				refused++
			case ggufNotRotary[name] != "":
				unrotated++
			default:
				t.Errorf("%s is not known", name)
			}
		}
	}
	if agree < 120 {
		t.Errorf("%d architectures agree", agree)
	}
	t.Logf("%d architectures agree, %d are refused, %d have learned positions", agree, refused, unrotated)
}

// TestGGUFLayouts checks examples of llama.cpp's four rope types.
func TestGGUFLayouts(t *testing.T) {
	for _, test := range []struct {
		layout posenc.Layout
		names  string
	}{
		{posenc.Interleaved, "llama llama4 mistral3 deepseek2 command-r cohere2 chatglm glm4 granite smollm3 internlm2 olmo arcee ernie4_5 baichuan xverse minicpm neo-bert"},
		{posenc.HalfSplit, "qwen qwen2 qwen2moe qwen2vl qwen3 qwen3moe qwen3next qwen3vl qwen35 gemma gemma2 gemma3 gemma3n gemma4 phi2 phi3 phimoe falcon gptneox stablelm starcoder2 olmo2 olmoe " +
			"gpt-oss nomic-bert modern-bert nemotron exaone exaone4 glm4moe minicpm3 lfm2 seed_oss grok hunyuan-moe deepseek2-ocr"},
	} {
		for name := range strings.FieldsSeq(test.names) {
			arch, known := ggufArchitectures[name]
			if !known {
				t.Errorf("%s is unknown", name)
			} else if arch.Layout != test.layout {
				t.Errorf("%s has layout %d", name, arch.Layout)
			}
		}
	}
	// GLM-4 has its weights in the other order where it has sections.
	m := readGGUF(t, "glm4", "rope.dimension_count", 64, "rope.dimension_sections", []int32{8, 12, 12, 0})
	if cfg := rotaryGGUF(t, m, "", 0); cfg.Layout != posenc.HalfSplit || len(cfg.Axes) != 32 {
		t.Errorf("GLM-4V: layout %d, axes %v", cfg.Layout, cfg.Axes)
	}
}

// TestGGUFLayers checks which layers rotate and which slide: R rotates, s slides
// and rotates by its own parameters, a point does not rotate.
func TestGGUFLayers(t *testing.T) {
	window := []any{"attention.sliding_window", uint32(512)}
	for _, test := range []struct {
		name, arch, want string
		pairs            []any
	}{
		{"Llama", "llama", "RRRRRRRR", nil},
		{"SmolLM3", "smollm3", "RRR.RRR.", nil},
		{"Cohere 2", "cohere2", "RRR.RRR.", window},
		{"Cohere 2 MoE", "cohere2moe", "R.RR.RRR", []any{"leading_dense_block_count", 1, "attention.sliding_window_pattern", []bool{false, false, true, true, false, true, true, true}}},
		{"Llama 4", "llama4", "RRR.RRR.", nil},
		{"Llama 4 without a window", "llama4", "RRRRRRRR", []any{"attention.sliding_window", uint32(0)}},
		{"EXAONE 4 1.2B", "exaone4", "RRRRRRRR", nil},
		{"EXAONE 4 32B", "exaone4", strings.Repeat("RRR.", 16), []any{"block_count", uint32(64)}},
		{"EXAONE MoE", "exaone-moe", "RRR.RRR.", window},
		{"SmallThinker", "smallthinker", ".RRR.RRR", window},
		{"SmallThinker without a window", "smallthinker", "RRRRRRRR", nil},
		{"AFMoE", "afmoe", "RRR.RRR.", window},
		{"Gemma 2", "gemma2", "RRRRRRRR", window},
		{"Gemma 3", "gemma3", "sssssRss", window},
		{"Gemma 3 without a window", "gemma3", "RRRRRRRR", nil},
		{"Gemma 3, period 4", "gemma3", "sssRsssR", append(window, "attention.sliding_window_pattern", uint32(4))},
		{"Gemma 3n", "gemma3n", "ssssRsss", window},
		{"Gemma 4", "gemma4", "ssRsssRs", append(window, "attention.sliding_window_pattern", []any{true, true, false, true, true, true, false, true})},
		{"ModernBERT", "modern-bert", "RssRssRs", window},
		{"Olmo 3", "olmo2", "sssRsssR", window},
		{"OLMo 2", "olmo2", "RRRRRRRR", nil},
		{"gpt-oss", "gpt-oss", "RRRRRRRR", window},
		{"gpt-oss with another base", "gpt-oss", "sRsRsRsR", append(window, "rope.freq_base_swa", float32(5000))},
		{"MiMo 2", "mimo2", "RssssssR", append(window, "attention.sliding_window_pattern", []int32{0, 1, 1, 1, 1, 1, 1, 0})},
		{"Qwen3-Next", "qwen3next", "...R...R", nil},
		{"Qwen3-Next, list", "qwen3next", "R......R", []any{"attention.recurrent_layers", []bool{false, true, true, true, true, true, true, false}}},
		{"MiniMax-01", "minimax-01", ".......R", nil},
		{"LFM2", "lfm2", "..R..R.R", []any{"attention.head_count_kv", []uint32{0, 0, 8, 0, 0, 8, 0, 8}}},
		{"Granite 4 hybrid", "granitehybrid", "..R.....", []any{"attention.head_count_kv", []any{0, 0, 8, 0, 0, 0, 0, 0}}},
		{"DeciLM", "deci", "RR.RR.RR", []any{"attention.head_count", []uint32{4, 4, 0, 4, 4, 4, 4, 4}, "attention.head_count_kv", []uint32{4, 4, 0, 4, 4, 0, 4, 4}}},
		{"GLM-4.5 with a predicting layer", "glm4moe", "RRRRRRR", []any{"nextn_predict_layers", uint32(1)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := readGGUF(t, test.arch, test.pairs...)
			got := ""
			for _, layer := range m.Layers() {
				switch {
				case !layer.Rotates:
					got += "."
				case layer.Kind == description.SlidingAttention:
					got += "s"
				default:
					got += "R"
				}
			}
			if got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			want := []string{""}
			if strings.Contains(got, "s") {
				want = []string{description.FullAttention, description.SlidingAttention}
			}
			if types := m.layerTypes(); !slices.Equal(types, want) {
				t.Errorf("kinds %q, want %q", types, want)
			}
		})
	}
}

// TestGGUFValueTypes gives the same values as each type that a reader may use.
func TestGGUFValueTypes(t *testing.T) {
	type named uint16
	want := rotaryGGUF(t, readGGUF(t, "qwen2", "rope.dimension_count", uint32(64), "rope.freq_base", float32(50000)), "", 0)
	for _, count := range []any{64, int8(64), int16(64), int32(64), int64(64), uint(64), uint8(64), uint16(64), uint64(64), named(64)} {
		for _, base := range []any{50000, int32(50000), uint64(50000), float32(50000), float64(50000)} {
			got := rotaryGGUF(t, readGGUF(t, "qwen2", "rope.dimension_count", count, "rope.freq_base", base), "", 0)
			if got.RotaryDim != 64 || got.HeadDim != 128 || !slices.Equal(got.InvFreq, want.InvFreq) {
				t.Errorf("%T and %T: RotaryDim %d of %d, frequencies %v", count, base, got.RotaryDim, got.HeadDim, got.InvFreq)
			}
		}
	}
	factors := make([]float64, 64)
	for i := range factors {
		factors[i] = 1 + float64(i)/16
	}
	want = rotaryGGUF(t, readGGUF(t, "llama", "/rope_freqs.weight", factors), "", 0)
	narrow, boxed := make([]float32, 64), make([]any, 64)
	for i, f := range factors {
		narrow[i], boxed[i] = float32(f), f
	}
	for _, list := range []any{narrow, boxed, [64]float32(narrow)} {
		if got := rotaryGGUF(t, readGGUF(t, "llama", "/rope_freqs.weight", list), "", 0); !slices.Equal(got.InvFreq, want.InvFreq) {
			t.Errorf("%T: frequencies %v", list, got.InvFreq)
		}
	}
}

// TestTrapGGUF has what is easily done wrong with GGUF files. That each rule
// gives ggml's rotations is in TestLlamaCpp.
func TestTrapGGUF(t *testing.T) {
	yarn := func(factor float32, pairs ...any) []any {
		return append([]any{"rope.scaling.type", "yarn", "rope.scaling.factor", factor, "rope.scaling.original_context_length", uint32(4096)}, pairs...)
	}
	near := func(t *testing.T, what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-6*want) { // keys are float32
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	g := func(factor, m float64) float64 { return 1 + 0.1*m*math.Log(factor) }

	t.Run("attention factor of YaRN counts once", func(t *testing.T) {
		// ggml multiplies by 1 + 0.1·ln(factor), llama.cpp divides by it first.
		near(t, "AttentionFactor", rotaryGGUF(t, readGGUF(t, "qwen2", yarn(4)...), "", 0).AttentionFactor, g(4, 1))
		near(t, "AttentionFactor", rotaryGGUF(t, readGGUF(t, "qwen2", yarn(4, "rope.scaling.attn_factor", float32(0.5))...), "", 0).AttentionFactor, 0.5*g(4, 1))
	})
	t.Run("yarn_attn_factor is not attn_factor", func(t *testing.T) {
		// The conversion writes Hugging Face's attention_factor there.
		near(t, "AttentionFactor", rotaryGGUF(t, readGGUF(t, "olmo2", yarn(8, "rope.scaling.yarn_attn_factor", float32(1.2079441541679836))...), "", 0).AttentionFactor, g(8, 1))
	})
	t.Run("attention factor without YaRN", func(t *testing.T) {
		near(t, "AttentionFactor", rotaryGGUF(t, readGGUF(t, "phi3", "rope.scaling.attn_factor", float32(1.1902381)), "", 0).AttentionFactor, 1.1902381)
	})
	t.Run("scores of DeepSeek", func(t *testing.T) {
		for _, test := range []struct{ key, mscale float64 }{{0.1, 1}, {0.0707, 0.707}} {
			m := readGGUF(t, "deepseek2", yarn(40, "rope.dimension_count", 64, "rope.scaling.yarn_log_multiplier", float32(test.key))...)
			near(t, "AttentionFactor", rotaryGGUF(t, m, "", 0).AttentionFactor, 1)
			scale := testkit.Must(m.softmaxScale())
			near(t, "SoftmaxScale", scale, g(40, test.mscale)*g(40, test.mscale))
		}
	})
	t.Run("Mistral 3 has mscale_all_dim itself", func(t *testing.T) {
		m := readGGUF(t, "mistral3", yarn(16, "rope.scaling.yarn_log_multiplier", float32(1))...)
		near(t, "AttentionFactor", rotaryGGUF(t, m, "", 0).AttentionFactor, 1)
		if scale, err := m.softmaxScale(); scale != 1 || err != nil {
			t.Errorf("SoftmaxScale is %v, %v", scale, err)
		}
		m = readGGUF(t, "mistral3", yarn(16, "rope.scaling.yarn_log_multiplier", float32(0.5))...) // mscale is 1
		near(t, "AttentionFactor", rotaryGGUF(t, m, "", 0).AttentionFactor, g(16, 1)/g(16, 0.5))
	})
	t.Run("rotated part of latent attention", func(t *testing.T) {
		for arch, latent := range map[string]bool{"deepseek2": true, "minicpm3": true, "llama": false} {
			if m := readGGUF(t, arch, "rope.dimension_count", 128); m.Layers()[0].LatentAttention != latent {
				t.Errorf("%s: latent attention %t", arch, !latent)
			}
		}
		cfg := rotaryGGUF(t, readGGUF(t, "deepseek2", "attention.key_length", 576, "attention.key_length_mla", 192, "rope.dimension_count", 64), "", 0)
		if cfg.HeadDim != 64 || cfg.RotaryDim != 64 || cfg.Layout != posenc.Interleaved {
			t.Errorf("%+v", cfg)
		}
	})
	t.Run("LongRoPE switches after the original length", func(t *testing.T) {
		short, long := make([]float32, 64), make([]float32, 64)
		for i := range short {
			short[i], long[i] = 1, 2
		}
		m := readGGUF(t, "phi3", "rope.scaling.type", "longrope", "rope.scaling.original_context_length", 4096, "/rope_factors_short.weight", short, "/rope_factors_long.weight", long)
		for _, test := range []struct {
			seqLen int
			want   float64
		}{{1, 1}, {4096, 1}, {4097, 0.5}} {
			if got := rotaryGGUF(t, m, "", test.seqLen).InvFreq[0]; got != test.want {
				t.Errorf("length %d: first frequency %v, want %v", test.seqLen, got, test.want)
			}
		}
		if beyond, depends := m.DependsOnLength(); beyond != 4096 || !depends {
			t.Errorf("frequencies depend on lengths beyond %d: %v", beyond, depends)
		}
	})
	t.Run("factor applies to longrope and to factors, too", func(t *testing.T) {
		factors := slices.Repeat([]float32{2}, 64)
		if got := rotaryGGUF(t, readGGUF(t, "llama", "rope.scaling.factor", float32(4), "/rope_freqs.weight", factors), "", 0).InvFreq[0]; got != 0.125 {
			t.Errorf("first frequency %v, want 1/8", got)
		}
	})
	t.Run("factor 0 is none", func(t *testing.T) {
		if got := rotaryGGUF(t, readGGUF(t, "llama", "rope.scaling.factor", float32(0), "rope.scale_linear", float32(0)), "", 0).InvFreq[0]; got != 1 {
			t.Errorf("first frequency %v, want 1", got)
		}
	})
	t.Run("local base of Gemma 3", func(t *testing.T) {
		m := readGGUF(t, "gemma3", "attention.sliding_window", 1024, "rope.freq_base", float32(1e6), "rope.scaling.factor", float32(8))
		local := testkit.Must(frequency.Default(128, 10000, frequency.Exact))
		global := testkit.Must(frequency.Linear(128, 1e6, frequency.LinearParameters{Factor: 8}, frequency.Exact))
		if got := rotaryGGUF(t, m, description.SlidingAttention, 0).InvFreq; !slices.Equal(got, local.InvFreq) {
			t.Errorf("local frequencies %v", got)
		}
		if got := rotaryGGUF(t, m, description.FullAttention, 0).InvFreq; !slices.Equal(got, global.InvFreq) {
			t.Errorf("global frequencies %v", got)
		}
	})
	t.Run("heads of Gemma 4", func(t *testing.T) {
		m := readGGUF(t, "gemma4", "attention.sliding_window_pattern", []bool{true, true, true, true, true, false, true, true},
			"attention.key_length", 512, "attention.key_length_swa", 256, "rope.dimension_count", 512, "rope.dimension_count_swa", 256)
		if cfg := rotaryGGUF(t, m, description.FullAttention, 0); cfg.HeadDim != 512 || cfg.RotaryDim != 512 {
			t.Errorf("%d of %d", cfg.RotaryDim, cfg.HeadDim)
		}
		if cfg := rotaryGGUF(t, m, description.SlidingAttention, 0); cfg.HeadDim != 256 || cfg.RotaryDim != 256 {
			t.Errorf("%d of %d", cfg.RotaryDim, cfg.HeadDim)
		}
	})
	t.Run("half of the head in Step 3.5", func(t *testing.T) {
		m := readGGUF(t, "step35", "attention.sliding_window_pattern", []bool{false, true, true, true, false, true, true, true}, "/rope_freqs.weight", slices.Repeat([]float32{2}, 64))
		full, sliding := rotaryGGUF(t, m, description.FullAttention, 0), rotaryGGUF(t, m, description.SlidingAttention, 0)
		if full.RotaryDim != 64 || full.InvFreq[0] != 0.5 || sliding.RotaryDim != 128 || sliding.InvFreq[0] != 1 {
			t.Errorf("%d from %v, sliding %d from %v", full.RotaryDim, full.InvFreq[0], sliding.RotaryDim, sliding.InvFreq[0])
		}
	})
	t.Run("sections of Qwen3-VL without a fourth axis", func(t *testing.T) {
		// ggml gives pairs 61 and 62 to the fourth axis.
		cfg := rotaryGGUF(t, readGGUF(t, "qwen3vl", "rope.dimension_sections", []int32{24, 20, 20, 0}), "", 0)
		if !slices.Equal(cfg.Axes[57:], []uint8{0, 1, 2, 0, 0, 0, 0}) {
			t.Errorf("axes from pair 57: %v", cfg.Axes[57:])
		}
	})
	t.Run("beta_fast of Grok", func(t *testing.T) {
		grok := rotaryGGUF(t, readGGUF(t, "grok", yarn(16)...), "", 0)
		given := rotaryGGUF(t, readGGUF(t, "qwen2", yarn(16, "rope.scaling.yarn_beta_fast", float32(8))...), "", 0)
		usual := rotaryGGUF(t, readGGUF(t, "qwen2", yarn(16)...), "", 0)
		if !slices.Equal(grok.InvFreq, given.InvFreq) || slices.Equal(grok.InvFreq, usual.InvFreq) {
			t.Error("the default of Grok is not 8")
		}
	})
}

func TestGGUFErrors(t *testing.T) {
	factors := func(n int) []float32 { return slices.Repeat([]float32{1}, n) }
	for _, test := range []struct {
		arch  string
		want  error
		says  string
		pairs []any
	}{
		{"llama", ErrValue, "general.architecture", []any{"/general.architecture", nil}},
		{"llama", ErrSyntax, "general.architecture", []any{"/general.architecture", 7}},
		{"llama5", ErrUnknown, "llama5", nil},
		{"gptj", ErrUnknown, "gptj", nil},
		{"bert", ErrNotRotary, "learned", nil},
		{"jina-bert-v2", ErrNotRotary, "ALiBi", nil},
		{"t5", ErrNotRotary, "relative", nil},
		{"mamba", ErrNotRotary, "none", nil},
		{"baichuan", ErrNotRotary, "ALiBi", []any{"block_count", 40}},
		{"granitehybrid", ErrNotRotary, "finetuned", []any{"rope.scaling.finetuned", false}},
		{"lfm2", ErrNotRotary, "no layer rotates", []any{"attention.head_count_kv", make([]uint32, 8)}},
		{"lfm2", ErrNotRotary, "no layer rotates", []any{"attention.head_count_kv", 0}},
		{"llama", ErrUnknown, "llama.rope.local.freq_base", []any{"rope.local.freq_base", float32(1e4)}},
		{"llama", ErrUnknown, "llama.rope.freq_base_per_layer", []any{"rope.freq_base_per_layer", []float32{1e4}}},
		{"llama", ErrUnknown, "llama.rope.scaling.type", []any{"rope.scaling.type", "ntk"}},
		{"llama", ErrValue, "InvFreq[0] is +Inf", []any{"rope.scaling.factor", 1e-320}},
		{"llama", ErrSyntax, "llama.rope.freq_base", []any{"rope.freq_base", "10000"}},
		{"llama", ErrSyntax, "float64", []any{"rope.dimension_count", 128.0}},
		{"llama", ErrSyntax, "llama.rope.scaling.finetuned", []any{"rope.scaling.finetuned", 1}},
		{"llama", ErrSyntax, "llama.rope.scaling.type", []any{"rope.scaling.type", []string{"yarn"}}},
		{"llama", ErrSyntax, "llama.rope.freq_base", []any{"rope.freq_base", []float32(nil)}},
		{"llama", ErrSyntax, "rope_freqs.weight", []any{"/rope_freqs.weight", []uint8{1}}},
		{"llama", ErrValue, "llama.rope.freq_base", []any{"rope.freq_base", float32(1)}},
		{"llama", ErrValue, "llama.rope.freq_base", []any{"rope.freq_base", math.NaN()}},
		{"llama", ErrValue, "llama.rope.freq_base", []any{"rope.freq_base", math.Inf(1)}},
		{"llama", ErrValue, "llama.rope.dimension_count", []any{"rope.dimension_count", -1}},
		{"qwen2", ErrValue, "qwen2.rope.dimension_count", []any{"rope.dimension_count", 63}},
		{"qwen2", ErrValue, "qwen2.rope.dimension_count", []any{"rope.dimension_count", 130}},
		{"qwen2", ErrValue, "qwen2.attention.key_length is 1048576, want an even number of rotated elements, from 2 to 2048; this makes it 1048576 of 1048576", []any{"attention.key_length", 1 << 20}},
		{"qwen2", ErrValue, "qwen2.attention.key_length is 2147483647", []any{"attention.key_length", uint32(math.MaxInt32)}},
		{"qwen2", ErrValue, "qwen2.embedding_length is 24, want an even number of rotated elements, from 2 to 2048; this makes it 3 of 3", []any{"embedding_length", 24, "attention.head_count", 8}},
		{"gemma3", ErrValue, "gemma3.attention.key_length_swa is 63", []any{"attention.sliding_window", 512, "attention.key_length_swa", 63}},
		{"qwen2", ErrValue, "qwen2.rope.dimension_count", []any{"rope.dimension_count", 0}},
		{"qwen2", ErrValue, "qwen2.attention.key_length", []any{"embedding_length", nil}},
		{"qwen2", ErrValue, "qwen2.attention.key_length", []any{"attention.head_count", 0}},
		{"qwen2", ErrValue, "qwen2.attention.key_length", []any{"attention.head_count", 3}},
		{"qwen2", ErrSyntax, "qwen2.attention.head_count is of type bool, want an integer", []any{"attention.head_count", true}},
		{"qwen2", ErrSyntax, "qwen2.attention.head_count is of type []bool, want an integer", []any{"attention.head_count", slices.Repeat([]bool{true}, 8)}},
		{"lfm2", ErrSyntax, "lfm2.attention.head_count_kv", []any{"attention.head_count_kv", slices.Repeat([]any{true}, 8)}},
		{"qwen2", ErrValue, "qwen2.block_count is missing, want the number of layers", []any{"block_count", nil}},
		{"qwen2", ErrValue, "qwen2.block_count", []any{"block_count", 1 << 30}},
		{"qwen2", ErrValue, "qwen2.block_count", []any{"nextn_predict_layers", 8}},
		{"qwen2", ErrValue, "qwen2.block_count", []any{"nextn_predict_layers", 9}},
		{"qwen2", ErrValue, "qwen2.block_count is 4097, want from 1 to 4096", []any{"block_count", gguf.MaxGGUFLayers + 1}},
		{"deepseek2", ErrValue, "deepseek2.rope.dimension_count", nil},
		{"llama", ErrContradiction, "llama.rope.dimension_count", []any{"rope.dimension_count", 64}},
		{"llama", ErrContradiction, "llama.rope.scale_linear", []any{"rope.scaling.factor", float32(2), "rope.scale_linear", float32(4)}},
		{"llama", ErrContradiction, "llama.rope.scaling.type", []any{"rope.scaling.factor", float32(2), "rope.scaling.type", "none"}},
		{"llama", ErrValue, "llama.rope.scaling.factor is -2", []any{"rope.scaling.factor", float32(-2)}},
		{"llama", ErrValue, "llama.rope.scaling.factor is -2", []any{"rope.scaling.factor", float32(-2), "rope.scale_linear", float32(-2)}},
		{"llama", ErrValue, "llama.rope.scale_linear is -2", []any{"rope.scale_linear", float32(-2)}},
		{"llama", ErrValue, "llama.rope.scaling.attn_factor", []any{"rope.scaling.attn_factor", float32(0)}},
		{"llama", ErrContradiction, "llama.rope.scaling.alpha", []any{"rope.scaling.alpha", float32(1000)}},
		{"hunyuan_vl", ErrContradiction, "hunyuan_vl.rope.scaling.alpha", []any{"rope.scaling.alpha", float32(1000), "rope.scaling.factor", float32(2)}},
		{"hunyuan_vl", ErrContradiction, "hunyuan_vl.rope.scaling.alpha", []any{"rope.scaling.alpha", float32(1000), "rope.dimension_count", 64}},
		{"llama", ErrContradiction, "llama.rope.scaling.yarn_beta_fast", []any{"rope.scaling.yarn_beta_fast", float32(32)}},
		{"llama", ErrContradiction, "llama.rope.scaling.yarn_ext_factor", []any{"rope.scaling.yarn_ext_factor", float32(1)}},
		{"llama", ErrContradiction, "llama.rope.scaling.yarn_attn_factor", []any{"rope.scaling.yarn_attn_factor", float32(0.5)}},
		{"llama", ErrContradiction, "1.138629", []any{"rope.scaling.type", "yarn", "rope.scaling.factor", float32(4), "rope.scaling.yarn_attn_factor", float32(0.5)}},
		{"llama", ErrContradiction, "llama.rope.scaling.yarn_log_multiplier", []any{"rope.scaling.type", "yarn", "rope.scaling.yarn_log_multiplier", float32(0.1)}},
		{"llama", ErrValue, "original_context_length", []any{"rope.scaling.type", "yarn", "context_length", nil}},
		{"llama", ErrValue, "yarn_ext_factor", []any{"rope.scaling.type", "yarn", "rope.scaling.yarn_ext_factor", float32(2)}},
		{"llama", ErrValue, "llama.rope.scaling.yarn_beta_fast is -2", []any{"rope.scaling.type", "yarn", "rope.scaling.yarn_beta_fast", float32(-2)}},
		{"llama", ErrValue, "llama.rope.scaling.yarn_beta_slow is -3", []any{"rope.scaling.type", "yarn", "rope.scaling.yarn_beta_slow", float32(-3)}},
		{"llama", ErrValue, "llama.rope.scaling.yarn_log_multiplier is -4", []any{"rope.scaling.type", "yarn", "rope.scaling.yarn_log_multiplier", float32(-4)}},
		{"deepseek2", ErrValue, "yarn_log_multiplier", []any{"rope.dimension_count", 64, "rope.scaling.type", "yarn", "rope.scaling.factor", float32(40)}},
		{"deepseek2", ErrContradiction, "scaling.factor", []any{"rope.dimension_count", 64, "rope.scaling.factor", float32(40)}},
		{"llama", ErrValue, "rope_freqs.weight is a list of 63, want 64 factors", []any{"/rope_freqs.weight", factors(63)}},
		{"llama", ErrValue, "rope_freqs.weight", []any{"/rope_freqs.weight", factors(65)}},
		{"llama", ErrSyntax, "rope_freqs.weight is of type float32", []any{"/rope_freqs.weight", float32(2)}},
		{"qwen2vl", ErrSyntax, "qwen2vl.rope.dimension_sections is of type int, want a list of integers", []any{"rope.dimension_sections", 64}},
		{"llama", ErrValue, "rope_freqs.weight is a list of 1048576, want one factor for each pair, at most 1024", []any{"/rope_freqs.weight", factors(1 << 20)}},
		{"llama", ErrValue, "rope_freqs.weight", []any{"/rope_freqs.weight", []float32{}}},
		{"llama", ErrValue, "rope_freqs.weight is +Inf", []any{"/rope_freqs.weight", append(factors(63), float32(math.Inf(1)))}},
		{"llama", ErrValue, "rope_freqs.weight", []any{"/rope_freqs.weight", append(factors(63), 0)}},
		{"qwen2", ErrContradiction, "rope_freqs.weight", []any{"/rope_freqs.weight", factors(64)}},
		{"llama", ErrContradiction, "llama.rope.scaling.type", []any{"rope.scaling.type", "yarn", "/rope_freqs.weight", factors(64)}},
		{"qwen2", ErrContradiction, "rope_factors_short.weight", []any{"/rope_factors_short.weight", factors(64), "/rope_factors_long.weight", factors(64)}},
		{"phi3", ErrContradiction, "rope_factors_long.weight", []any{"/rope_factors_short.weight", factors(64)}},
		{"phi3", ErrValue, "rope_factors_short.weight", []any{"rope.scaling.type", "longrope"}},
		{"llama", ErrContradiction, "rope.scaling.type", []any{"/rope_factors_short.weight", factors(64), "/rope_factors_long.weight", factors(64)}},
		{"gemma3", ErrContradiction, "gemma3.rope.dimension_count_swa is 32, want 128", []any{"attention.sliding_window", 512, "rope.dimension_count_swa", 32}},
		{"deepseek2-ocr", ErrContradiction, "base 10000 without scaling", []any{"rope.freq_base", float32(1e6)}},
		{"llama", ErrContradiction, "rope_freqs.weight", []any{"rope.scaling.type", "longrope", "/rope_freqs.weight", factors(64), "/rope_factors_short.weight", factors(64), "/rope_factors_long.weight", factors(64)}},
		{"qwen2vl", ErrValue, "qwen2vl.rope.dimension_sections", nil},
		{"qwen2vl", ErrValue, "qwen2vl.rope.dimension_sections", []any{"rope.dimension_sections", []int32{16, 24, 25}}},
		{"qwen2vl", ErrValue, "qwen2vl.rope.dimension_sections", []any{"rope.dimension_sections", []int32{16, -24, 24}}},
		{"qwen2vl", ErrValue, "qwen2vl.rope.dimension_sections is a list of 5, want from 1 to 4 integers", []any{"rope.dimension_sections", make([]int32, 5)}},
		{"glm4", ErrValue, "glm4.rope.dimension_sections", []any{"rope.dimension_sections", []any(nil)}},
		{"qwen3vl", ErrValue, "qwen3vl.rope.dimension_sections", []any{"rope.dimension_sections", []int32{16, 16, 16, 16}}},
		{"qwen2", ErrContradiction, "qwen2.rope.dimension_sections", []any{"rope.dimension_sections", []int32{16, 24, 24}}},
		{"qwen2", ErrContradiction, "qwen2.rope.freq_base_swa", []any{"rope.freq_base_swa", float32(5000)}},
		{"cohere2", ErrContradiction, "cohere2.rope.freq_base_swa", []any{"rope.freq_base_swa", float32(5000)}},
		{"cohere2", ErrValue, "sliding_window", []any{"attention.sliding_window", 0}},
		{"gemma4", ErrValue, "gemma4.attention.sliding_window_pattern", nil},
		{"gemma4", ErrValue, "gemma4.attention.sliding_window_pattern is a list of 1, want a list of at least 8", []any{"attention.sliding_window_pattern", []bool{true}}},
		{"gemma4", ErrSyntax, "gemma4.attention.sliding_window_pattern", []any{"attention.sliding_window_pattern", slices.Repeat([]any{nil}, 8)}},
		{"qwen3next", ErrValue, "full_attention_interval", []any{"full_attention_interval", 0}},
	} {
		_, err := GGUF(ggufKeys(test.arch, test.pairs...))
		if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) || !strings.HasPrefix(err.Error(), "modelconfig.GGUF: ") {
			t.Errorf("%s %v: %v, want %q that names %s", test.arch, test.pairs, err, test.want, test.says)
		}
	}
	if _, err := GGUF(nil); !errors.Is(err, ErrValue) {
		t.Errorf("no keys: %v", err)
	}
	keys := ggufKeys("llama")
	keys["llama.rope.freq_base"] = nil
	if _, err := GGUF(keys); !errors.Is(err, ErrSyntax) || !strings.Contains(err.Error(), "llama.rope.freq_base is of type <nil>, want a value") {
		t.Errorf("a key without a value: %v", err)
	}
}

// yarn_ext_factor 0 is no YaRN.
func TestGGUFWithoutExtrapolation(t *testing.T) {
	m := readGGUF(t, "qwen2", "rope.scaling.type", "yarn", "rope.scaling.factor", 4.0, "rope.scaling.yarn_ext_factor", 0.0)
	if got := rotaryGGUF(t, m, "", 0); got.InvFreq[0] != 0.25 || got.AttentionFactor != 1 {
		t.Errorf("first frequency %v, factor %v", got.InvFreq[0], got.AttentionFactor)
	}
}

// Layers with a window that are not scaled keep the attention factor, unless llama.cpp calls them
// without any scaling.
func TestGGUFSlidingAttentionFactor(t *testing.T) {
	for arch, want := range map[string]float64{"gemma3": 0.5, "laguna": 1} {
		m := readGGUF(t, arch, "attention.sliding_window", 512, "rope.scaling.factor", float32(2), "rope.scaling.attn_factor", float32(0.5))
		full, sliding := rotaryGGUF(t, m, description.FullAttention, 0), rotaryGGUF(t, m, description.SlidingAttention, 0)
		if full.AttentionFactor != 0.5 || full.InvFreq[0] != 0.5 || sliding.AttentionFactor != want || sliding.InvFreq[0] != 1 {
			t.Errorf("%s: %v and %v, sliding %v and %v", arch, full.AttentionFactor, full.InvFreq[0], sliding.AttentionFactor, sliding.InvFreq[0])
		}
	}
}

// The largest and smallest numbers that keys may have.
func TestGGUFBounds(t *testing.T) {
	factors := slices.Repeat([]float64{1}, 1024)
	factors[1023] = math.MaxFloat64
	wide := []any{"attention.key_length", 2048, "rope.dimension_count", 2048}
	for _, test := range []struct {
		arch                       string
		pairs                      []any
		rotaryDim, headDim, layers int
	}{
		{"qwen2", wide, 2048, 2048, 8},
		{"llama", append(wide, "/rope_freqs.weight", factors), 2048, 2048, 8},
		{"qwen2", []any{"rope.dimension_count", 2}, 2, 128, 8},
		{"qwen2", []any{"block_count", gguf.MaxGGUFLayers}, 128, 128, gguf.MaxGGUFLayers},
		{"qwen2", []any{"context_length", int64(math.MaxInt32)}, 128, 128, 8},
		{"qwen2", []any{"context_length", uint64(math.MaxInt32)}, 128, 128, 8},
		{"qwen2", []any{"rope.freq_base", math.MaxFloat64}, 128, 128, 8},
		{"qwen2vl", []any{"rope.dimension_sections", []int32{16, 24, 24}}, 128, 128, 8},
		{"qwen2", []any{"rope.scaling.yarn_ext_factor", float32(0)}, 128, 128, 8},
		{"qwen2", []any{"leading_dense_block_count", "not read in this architecture"}, 128, 128, 8},
	} {
		m := readGGUF(t, test.arch, test.pairs...)
		if cfg := rotaryGGUF(t, m, "", 0); cfg.RotaryDim != test.rotaryDim || cfg.HeadDim != test.headDim || len(m.Layers()) != test.layers {
			t.Errorf("%s %.3v: %d of %d, %d layers", test.arch, test.pairs, cfg.RotaryDim, cfg.HeadDim, len(m.Layers()))
		}
	}
}

// TestGGUFLeavesKeys checks that the model keeps no reference to the keys.
func TestGGUFLeavesKeys(t *testing.T) {
	factors := slices.Repeat([]float64{2}, 64)
	keys := ggufKeys("llama", "/rope_freqs.weight", factors)
	before := maps.Clone(keys)
	m := testkit.Must(GGUF(keys))
	if len(keys) != len(before) {
		t.Error("the keys changed")
	}
	factors[0] = 100
	if got := rotaryGGUF(t, m, "", 0).InvFreq[0]; got != 0.5 {
		t.Errorf("first frequency %v, want 1/2", got)
	}
}

// Keys of the architecture that name rotary positions and that llama.cpp does not have
// are errors, wherever they stand.
func TestGGUFStrangeKeys(t *testing.T) {
	for _, key := range []string{"rope_freq_base", "rope", "ropeScale", "attention.rope_pattern", "attention.compress_rope_freq_base", "freq_base", "rotary_dim", "attention.nope_layers", "/llama.Rope.freq_base", "/LLAMA.rope.freq_base"} {
		_, err := GGUF(ggufKeys("llama", key, 500000.0))
		if name := strings.TrimPrefix(key, "/"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", key, err)
		}
	}
	if _, err := GGUF(ggufKeys("llama", "attention.max_alibi_bias", 8.0)); !errors.Is(err, ErrContradiction) {
		t.Errorf("ALiBi: %v", err)
	}
	readGGUF(t, "llama", "attention.max_alibi_bias", 0.0, "/clip.vision.rope_theta", 10000.0, "europe", 1, "custom_property", "x")
	for _, sections := range [][]int32{{64}, {32, 32}} {
		if _, err := GGUF(ggufKeys("qwen2vl", "rope.dimension_sections", sections)); !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), "three or four sections") {
			t.Errorf("sections %v: %v", sections, err)
		}
	}
	for name, says := range map[string]string{"lama": `the nearest name is "llama"`, "hy_v4": "interleaved pairs", "gptj": "Interleaved", "zzzzzz": "docs/models.md; for others"} {
		if _, err := GGUF(ggufKeys(name)); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// layersOf has R for layers that rotate, and x for those that have an indexer beside.
func layersOf(m *Model) string {
	var s strings.Builder
	for _, layer := range m.Layers() {
		letter := map[bool]byte{true: 'R', false: '-'}[layer.Rotates]
		if layer.Indexer {
			letter = 'x'
		}
		s.WriteByte(letter)
	}
	return s.String()
}

// TestGGUFIndexers: facts of llama.cpp (src/models), by the architecture.
func TestGGUFIndexers(t *testing.T) {
	dsa := []any{"rope.dimension_count", 64, "attention.indexer.key_length", uint32(128)}
	for _, test := range []struct {
		arch   string
		pairs  []any
		layers string
		want   posenc.RotaryConfig
	}{
		{"deepseek32", dsa, "xxxxxxxx", posenc.RotaryConfig{Layout: posenc.HalfSplit}},
		{"axk2", dsa, "xxxxxxxx", posenc.RotaryConfig{Layout: posenc.HalfSplit}},
		{"glm-dsa", append(slices.Clone(dsa), "attention.indexer.types", []bool{true, false, false, true, false, false, true, false}), "xRRxRRxR", posenc.RotaryConfig{Layout: posenc.Interleaved}},
		{"dots3note", append(slices.Clone(dsa), "attention.sliding_window_pattern", []bool{false, true, true, true, false, true, true, true}, "rope.freq_base_swa", 50000.0), "xRRRxRRR", posenc.RotaryConfig{Layout: posenc.HalfSplit}},
		{"deepseek4", append(slices.Clone(dsa), "attention.compress_ratios", []int32{0, 4, 128, 4, 0, 4, 128, 4}, gguf.CompressBaseKey, 160000.0), "RxRxRxRx", posenc.RotaryConfig{Layout: posenc.Interleaved, Offset: 64}},
		{"qwen4exp", append(slices.Clone(dsa), "rope.dimension_sections", []int32{11, 11, 10, 0}), "---x---x", posenc.RotaryConfig{Layout: posenc.HalfSplit}},
	} {
		m := readGGUF(t, test.arch, test.pairs...)
		cfg := rotaryGGUF(t, m, "indexer", 0)
		if got := layersOf(m); got != test.layers || cfg.HeadDim != 128 || cfg.RotaryDim != 64 || cfg.Layout != test.want.Layout || cfg.Offset != test.want.Offset {
			t.Errorf("%s: layers %s, %d of %d from %d, %v", test.arch, got, cfg.RotaryDim, cfg.HeadDim, cfg.Offset, cfg.Layout)
		}
	}
	if m := readGGUF(t, "deepseek32", "rope.dimension_count", 64, "attention.indexer.key_length", 64); !slices.Equal(m.layerTypes(), []string{description.AttentionKind, description.IndexerKind}) || m.Layers()[0].Kind != description.AttentionKind {
		t.Errorf("kinds %q, layers %+v", m.layerTypes(), m.Layers()[:1])
	}
	// Where no layer has an indexer there is no kind of them.
	if m := readGGUF(t, "glm-dsa", append(dsa[:4:4], "attention.indexer.types", make([]bool, 8))...); !slices.Equal(m.layerTypes(), []string{""}) || layersOf(m) != "RRRRRRRR" {
		t.Errorf("kinds %q, layers %s", m.layerTypes(), layersOf(m))
	}
	if _, err := GGUF(ggufKeys("deepseek32", "rope.dimension_count", 64, "attention.indexer.key_length", 32)); !errors.Is(err, ErrContradiction) {
		t.Errorf("indexers of 32 elements: %v", err)
	}
}

func TestGGUFDeepSeek4(t *testing.T) {
	m := readGGUF(t, "deepseek4", "rope.dimension_count", 64, "attention.key_length", 512, "rope.freq_base", 10000.0, gguf.CompressBaseKey, 160000.0,
		"attention.compress_ratios", []int32{0, 4, 128, 4, 0, 4, 128, 4}, "rope.scaling.type", "yarn", "rope.scaling.factor", 16.0, "rope.scaling.original_context_length", 65536)
	for layerType, base := range map[string]float64{"main": 1e4, "compress": 160000} {
		cfg := rotaryGGUF(t, m, layerType, 0)
		if cfg.HeadDim != 512 || cfg.RotaryDim != 64 || cfg.Offset != 448 || cfg.AttentionFactor != 1 || !near(cfg.InvFreq[1], math.Pow(base, -2.0/64)) {
			t.Errorf("%s: %+v", layerType, cfg)
		}
	}
	if last := rotaryGGUF(t, m, "main", 0).InvFreq[31]; !near(last, math.Pow(1e4, -62.0/64)) {
		t.Errorf("layers of the whole sequence are scaled: %v", last)
	}
	if last := rotaryGGUF(t, m, "compress", 0).InvFreq[31]; !near(last, math.Pow(160000, -62.0/64)/16) {
		t.Errorf("layers of a compressed sequence are not scaled: %v", last)
	}
	for _, key := range []string{gguf.CompressBaseKey, "attention.compress_ratios"} {
		if _, err := GGUF(ggufKeys("deepseek4", "rope.dimension_count", 64, gguf.CompressBaseKey, 160000.0, "attention.compress_ratios", []int32{0, 4, 128, 4, 0, 4, 128, 4}, key, nil)); !errors.Is(err, ErrValue) {
			t.Errorf("without %s: %v", key, err)
		}
	}
}

// TestGGUFNewer: which layers rotate in architectures of 2026.
func TestGGUFNewer(t *testing.T) {
	pattern := []bool{true, true, true, false, true, true, true, false}
	for _, test := range []struct {
		arch, layers string
		pairs        []any
	}{
		{"muse-glimmer", "RRR-RRR-", []any{"rope.dimension_count", nil, "attention.sliding_window", 2048, "attention.sliding_window_pattern", 4}},
		{"muse-glimmer", "RRR-RRR-", []any{"attention.sliding_window_pattern", pattern}},
		{"maple", "RRR-RRR-", []any{"attention.sliding_window", 512, "attention.sliding_window_pattern", pattern}},
		{"granite_swa", "RRRRRRRR", []any{"attention.sliding_window", 128, "attention.sliding_window_pattern", pattern}},
		{"granite_swa", "RR-RRR-R", []any{"attention.sliding_window_pattern", pattern, "attention.rope_pattern", []int32{1, 1, 0, 1, 1, 1, 0, 1}}},
		{"spark2_5", "RRRRRRRR", []any{"attention.sliding_window_pattern", pattern, "rope.freq_base_swa", 10000.0, "rope.freq_base", 1e6}},
		{"gemma4-assistant", "RRRRRRRR", []any{"nextn_predict_layers", 8, "attention.sliding_window_pattern", pattern}},
		{"graniteswitch", "RRRRRRRR", nil},
		{"cogvlm", "RRRRRRRR", nil},
		{"kolibri", "RRR-RRR-", []any{"attention.sliding_window", 513, "attention.sliding_window_pattern", pattern, "attention.rope_pattern", pattern}},
		{"clef", "---R---R", []any{"rope.dimension_count", 64, "rope.dimension_sections", []int32{11, 11, 10, 0}}},
		{"kolibri1", "RRRR-RRR", []any{"attention.sliding_window", 513}},
		{"kolibri1", "RRR-RRR-", []any{"attention.sliding_window", 513, "attention.sliding_window_pattern", pattern}},
	} {
		if got := layersOf(readGGUF(t, test.arch, test.pairs...)); got != test.layers {
			t.Errorf("%s %v: %s, want %s", test.arch, test.pairs, got, test.layers)
		}
	}
	for _, test := range []struct {
		arch  string
		pairs []any
		want  error
	}{
		{"cogvlm", []any{"rope.freq_base", 500000.0}, ErrContradiction},
		{"glm5next", nil, ErrNotRotary},
		{"glm5-next", nil, ErrNotRotary},
		{"kolibri", []any{"attention.sliding_window_pattern", pattern}, ErrValue},
		{"kolibri", []any{"attention.rope_pattern", pattern}, ErrValue},
		{"kolibri1", []any{"attention.rope_pattern", pattern}, ErrUnknown},
		{"kolibri1", []any{"rope.freq_base_swa", 50000.0}, ErrContradiction},
		{"clip", nil, ErrUnknown},
		{"gemma4-assistant", []any{"nextn_predict_layers", 3, "attention.sliding_window_pattern", pattern}, ErrContradiction},
		{"graniteswitch", []any{"rope.scaling.finetuned", false}, ErrNotRotary},
		{"dflash", []any{"hyper_connection.count", 4}, ErrUnknown},
	} {
		if _, err := GGUF(ggufKeys(test.arch, test.pairs...)); !errors.Is(err, test.want) {
			t.Errorf("%s %v: %v, want %v", test.arch, test.pairs, err, test.want)
		}
	}
}

// decodeGGUF makes a map of keys from any bytes. The first byte is the
// architecture. Then each entry has a byte for its key and one for the type of
// its value, and the value.
func decodeGGUF(data []byte, names []string) map[string]any {
	next := func(n int) []byte {
		b := make([]byte, n)
		copy(b, data)
		data = data[min(n, len(data)):]
		return b
	}
	arch := names[int(next(1)[0])%len(names)]
	whole := []string{"rope_freqs.weight", "rope_factors_short.weight", "rope_factors_long.weight", "general.architecture", arch + ".rope.other"}
	after := append([]string{
		"block_count", "context_length", "embedding_length", "nextn_predict_layers", "leading_dense_block_count", "full_attention_interval",
		"attention.key_length", "attention.key_length_swa", "attention.head_count", "attention.head_count_kv", "attention.recurrent_layers",
		"attention.sliding_window", "attention.sliding_window_pattern", gguf.PatternKey, gguf.CompressBaseKey, "attention.compress_ratios",
		"attention.indexer.key_length", "attention.indexer.types", "hyper_connection.count",
	}, gguf.GgufRopeKeys...)
	keys := ggufKeys(arch)
	var value func(depth int) any
	value = func(depth int) any {
		switch kind := next(1)[0] % 16; kind {
		case 0:
			return uint32(next(1)[0])
		case 1:
			return binary.LittleEndian.Uint32(next(4))
		case 2:
			return int64(binary.LittleEndian.Uint64(next(8)))
		case 3:
			return math.Float32frombits(binary.LittleEndian.Uint32(next(4)))
		case 4:
			return math.Float64frombits(binary.LittleEndian.Uint64(next(8)))
		case 5:
			return float32(next(1)[0])
		case 6:
			return next(1)[0]%2 == 0
		case 7:
			return []string{"none", "linear", "yarn", "longrope"}[next(1)[0]%4]
		case 8:
			return string(next(int(next(1)[0])))
		case 9:
			return nil
		case 10:
			list := make([]float32, next(1)[0])
			for i := range list {
				list[i] = float32(next(1)[0])
			}
			return list
		case 11:
			list := make([]int32, next(1)[0])
			for i := range list {
				list[i] = int32(int8(next(1)[0]))
			}
			return list
		case 12:
			return slices.Repeat([]float64{float64(next(1)[0]) / 8}, int(next(1)[0])*64)
		case 13:
			list := make([]bool, next(1)[0])
			for i, b := range next(len(list)) {
				list[i] = b%2 == 0
			}
			return list
		case 14:
			list := make([]any, next(1)[0]%16)
			for i := range list {
				if depth < 3 {
					list[i] = value(depth + 1)
				}
			}
			return list
		default:
			return struct{ x, y int }{1, 2}
		}
	}
	for len(data) > 0 {
		key := int(next(1)[0]) % (len(whole) + len(after))
		if key < len(whole) {
			keys[whole[key]] = value(0)
		} else {
			keys[arch+"."+after[key-len(whole)]] = value(0)
		}
	}
	return keys
}

func FuzzGGUF(f *testing.F) {
	names := slices.Sorted(maps.Keys(ggufArchitectures))
	names = append(names, slices.Sorted(maps.Keys(ggufNotRotary))...)
	names = append(names, document.SortedKeys(ggufRefused)...)
	names = append(names, "unknown", "")
	for i := range names {
		f.Add([]byte{byte(i)}, 0)
		f.Add([]byte{byte(i), 30, 7, 2, 31, 5, 4, 33, 0, 100}, 5000)
		f.Add([]byte{byte(i), 0, 12, 9, 1}, 1)
	}
	f.Fuzz(func(t *testing.T, data []byte, seqLen int) {
		m, err := GGUF(decodeGGUF(data, names))
		checkModel(t, m, err, seqLen)
		if n := len(m.Layers()); n > gguf.MaxGGUFLayers {
			t.Fatalf("%d layers", n)
		}
	})
}
