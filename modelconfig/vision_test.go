package modelconfig

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
)

const (
	qwen2VL = `{"model_type": "qwen2_vl", "hidden_size": 3584, "num_attention_heads": 28, "vision_config": {
		"depth": 32, "embed_dim": 1280, "hidden_size": 3584, "num_heads": 16, "patch_size": 14, "spatial_merge_size": 2}}`
	pixtral12B = `{"model_type": "llava", "text_config": {"model_type": "mistral"}, "vision_config": {
		"model_type": "pixtral", "head_dim": 64, "hidden_size": 1024, "num_attention_heads": 16, "rope_theta": 10000.0}}`
	kimiK25 = `{"model_type": "kimi_k25", "vision_config": {
		"init_pos_emb_height": 64, "patch_size": 14, "vt_hidden_size": 1152, "vt_num_attention_heads": 16, "vt_num_hidden_layers": 27}}`
	ernieVL = `{"model_type": "ernie4_5_moe_vl", "vision_config": {
		"model_type": "DFNRope_vision_transformer", "depth": 32, "embed_dim": 1280, "hidden_size": 1280, "num_heads": 16}}`
	qwenOmni = `{"model_type": "qwen2_5_omni", "thinker_config": {"model_type": "qwen2_5_omni_thinker", "vision_config": {
		"model_type": "qwen2_5_omni_vision_encoder", "depth": 32, "hidden_size": 1280, "num_heads": 16}}}`
)

func mustRotaryVision(t *testing.T, config string) posenc.RotaryConfig {
	t.Helper()
	m, err := HuggingFaceVision([]byte(config))
	testkit.NoError(t, err)
	cfg, err := m.rotary()
	testkit.NoError(t, err)
	return cfg
}

func TestVision(t *testing.T) {
	for _, c := range []struct {
		name, config  string
		modelType     string
		layers        int
		headDim       int
		layout        posenc.Layout
		axes          string // of the first and the last pairs
		second        float64
		secondOfAxis1 float64
	}{
		// Heads are of embed_dim; hidden_size is that of the text model.
		{"qwen2_vl", qwen2VL, "qwen2_vl_vision", 32, 80, posenc.HalfSplit, "00..11", math.Pow(1e4, -4./80), math.Pow(1e4, -4./80)},
		{"tower alone", `{"model_type": "qwen2_vl_vision", "embed_dim": 1024}`, "qwen2_vl_vision", 32, 64, posenc.HalfSplit, "00..11", math.Pow(1e4, -4./64), math.Pow(1e4, -4./64)},
		{"absent", `{"model_type": "qwen3_vl"}`, "qwen3_vl_vision", 27, 72, posenc.HalfSplit, "00..11", math.Pow(1e4, -4./72), math.Pow(1e4, -4./72)},
		{"type of the whole model", `{"model_type": "glm4v_moe", "vision_config": {"model_type": "glm4v_moe", "depth": 24, "hidden_size": 1536, "num_heads": 12}}`,
			"glm4v_moe_vision", 24, 128, posenc.HalfSplit, "00..11", math.Pow(1e4, -4./128), math.Pow(1e4, -4./128)},
		{"omni", qwenOmni, "qwen2_5_omni_vision_encoder", 32, 80, posenc.HalfSplit, "00..11", math.Pow(1e4, -4./80), math.Pow(1e4, -4./80)},
		{"retrieval", `{"model_type": "colqwen2", "vlm_config": ` + qwen2VL + `}`, "qwen2_vl_vision", 32, 80, posenc.HalfSplit, "00..11", math.Pow(1e4, -4./80), math.Pow(1e4, -4./80)},
		{"ernie", ernieVL, "DFNRope_vision_transformer", 32, 80, posenc.HalfSplit, "00..11", math.Pow(1e4, -4./80), math.Pow(1e4, -4./80)},
		{"rope_parameters of transformers 5", `{"model_type": "qwen3_5", "vision_config": {"rope_parameters": {"rope_type": "axial", "rope_theta": 100}}}`,
			"qwen3_5_vision", 27, 72, posenc.HalfSplit, "00..11", math.Pow(100, -4./72), math.Pow(100, -4./72)},
		// Rows have the even frequencies of one ladder, columns the odd ones.
		{"pixtral", pixtral12B, "pixtral", 24, 64, posenc.HalfSplit, "00..11", math.Pow(1e4, -4./64), math.Pow(1e4, -6./64)},
		// Columns first.
		{"llama4", `{"model_type": "llama4", "vision_config": {"model_type": "llama4_vision_model", "hidden_size": 1408, "num_attention_heads": 16, "rope_theta": 10000}}`,
			"llama4_vision_model", 34, 88, posenc.Interleaved, "11..00", math.Pow(1e4, -4./88), math.Pow(1e4, -4./88)},
		{"kimi", kimiK25, "kimi_k25_vision", 27, 72, posenc.Interleaved, "10..10", 1, math.Pow(1e4, -4./72)},
		{"moonvit", `{"model_type": "kimi_vl", "vision_config": {"model_type": "moonvit", "hidden_size": 1152, "num_attention_heads": 16}}`,
			"moonvit", 27, 72, posenc.Interleaved, "10..10", 1, math.Pow(1e4, -4./72)},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := testkit.Must(HuggingFaceVision([]byte(c.config)))
			if m.ContextLength() != 0 {
				t.Errorf("a context of %d", m.ContextLength())
			}
			if m.Type() != c.modelType || len(m.Layers()) != c.layers || !slices.Equal(m.layerTypes(), []string{""}) {
				t.Errorf("%s with %d layers of %q, want %s with %d", m.Type(), len(m.Layers()), m.layerTypes(), c.modelType, c.layers)
			}
			cfg := testkit.Must(m.rotary())
			if cfg.HeadDim != c.headDim || cfg.RotaryDim != c.headDim || cfg.Layout != c.layout || len(cfg.InvFreq) != c.headDim/2 {
				t.Errorf("%+v, want %d elements in layout %d", cfg, c.headDim, c.layout)
			}
			digits := func(axes []uint8) string {
				return string([]byte{'0' + axes[0], '0' + axes[1]})
			}
			if axes := digits(cfg.Axes) + ".." + digits(cfg.Axes[len(cfg.Axes)-2:]); axes != c.axes {
				t.Errorf("axes %s, want %s", axes, c.axes)
			}
			var seconds [2]float64 // the second frequency of each axis
			var seen [2]int
			for j, axis := range cfg.Axes {
				if seen[axis]++; seen[axis] == 2 {
					seconds[axis] = cfg.InvFreq[j]
				}
			}
			if c.axes == "10..10" {
				c.second = c.secondOfAxis1
			}
			if seen[0] != seen[1] || !near(seconds[0], c.second) || !near(seconds[1], c.secondOfAxis1) {
				t.Errorf("%d pairs of each axis, their second frequencies %v, want %v and %v", seen, seconds, c.second, c.secondOfAxis1)
			}
		})
	}
}

func TestVisionErrors(t *testing.T) {
	for _, c := range []struct {
		config string
		want   error
		part   string
	}{
		{`{"model_type": "llava"}`, ErrNotRotary, `vision_config.model_type is "clip_vision_model", want a model with rotary positions; this type has learned absolute positions`},
		{`{"model_type": "gemma3", "vision_config": {"model_type": "siglip_vision_model"}}`, ErrNotRotary, "siglip_vision_model"},
		{`{"model_type": "llama"}`, ErrUnknown, `model_type is "llama", want a vision tower`},
		{`{"model_type": "qwen2_vl", "vision_config": {"model_type": "qwen2_vl_text"}}`, ErrUnknown, `vision_config.model_type is "qwen2_vl_text"`},
		{`{"model_type": "qwen2_vl", "vision_config": 3}`, ErrSyntax, "vision_config is the number 3"},
		{`{"model_type": "gemma4"}`, ErrUnknown, "rotate twice"},
		{`{"hidden_size": 1}`, ErrValue, "model_type is absent"},
		{`[]`, ErrSyntax, "modelconfig.HuggingFaceVision: config is unreadable (a list of 0, not an object), want a JSON object"},
		{`{"model_type": "pixtral", "head_dim": 80}`, ErrContradiction, "head_dim is 80, want hidden_size/num_attention_heads, which is 64"},
		{`{"model_type": "qwen3_vl", "vision_config": {"num_heads": 7}}`, ErrValue, "vision_config.hidden_size is 1152"},
		{`{"model_type": "qwen3_vl", "vision_config": {"num_heads": 16, "num_attention_heads": 8}}`, ErrContradiction, "num_attention_heads is 8"},
		{`{"model_type": "qwen3_vl_vision", "hidden_size": 1120}`, ErrValue, "hidden_size is the number 1120, want a multiple of 4 elements in a head, not 70"},
		{`{"model_type": "qwen3_vl_vision", "hidden_size": 33554432}`, ErrValue, "hidden_size is the number 33554432"},
		{`{"model_type": "qwen3_vl_vision", "depth": 0}`, ErrValue, "depth is 0"},
		{`{"model_type": "pixtral", "rope_theta": 1}`, ErrValue, "rope_theta is 1"},
		{`{"model_type": "pixtral", "rope_theta": 100, "rope_parameters": {"rope_theta": 10000, "rope_type": "axial"}}`, ErrContradiction, "rope_theta is 100"},
		{`{"model_type": "pixtral", "rope_parameters": {"rope_type": "linear", "factor": 2}}`, ErrUnknown, `rope_type is "linear"`},
		{`{"model_type": "pixtral", "rope_parameters": {"rope_type": "axial", "factor": 2}}`, ErrContradiction, "factor is 2"},
		{`{"model_type": "pixtral", "rope_parameters": {"rope_type": "axial", "mrope_section": [1]}}`, ErrUnknown, "mrope_section"},
		{`{"model_type": "pixtral", "rope_parameters": {"rope_type": "axial", "partial_rotary_factor": 0.5}}`, ErrContradiction, "partial_rotary_factor"},
		{`{"model_type": "pixtral", "rotary_emb_base": 100}`, ErrUnknown, "rotary_emb_base"},
	} {
		_, err := HuggingFaceVision([]byte(c.config))
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.part) || !strings.HasPrefix(err.Error(), "modelconfig.HuggingFaceVision: ") {
			t.Errorf("%s: %v, want %q and %v", c.config, err, c.part, c.want)
		}
	}
	if _, err := HuggingFace([]byte(`{"model_type": "llama", "rope_parameters": {"rope_type": "axial"}}`)); !errors.Is(err, ErrUnknown) {
		t.Errorf("axial in a text model: %v", err)
	}
}

func TestTowers(t *testing.T) {
	for modelType := range towers {
		if _, text := families[modelType]; text || notRotary[modelType] != "" {
			t.Errorf("%s is in two tables", modelType)
		}
	}
	for outer, w := range visionWrappers {
		_, nested := visionWrappers[w.Type]
		if _, known := towers[w.Type]; !known && !nested && notRotary[w.Type] == "" {
			t.Errorf("%s holds %s, which is no type", outer, w.Type)
		}
	}
}

// gemma4Vision rotates heads of Gemma 4's vision tower as the error says,
// and compares with transformers.
func gemma4Vision(t *testing.T) {
	var v struct {
		HeadDim int      `json:"head_dim"`
		Rows    []int32  `json:"rows"`
		Columns []int32  `json:"columns"`
		Q       []string `json:"q"` // two heads
	}
	testkit.ReadJSON("testdata/transformers/gemma4_vision.json", &v)
	want := testkit.Hex[float32](v.Q...)
	q := make([]float32, len(v.Rows)*2*v.HeadDim)
	for n := range q {
		q[n] = float32(int64((uint64(n)*2654435761+97)%(1<<24))-1<<23) / (1 << 21)
	}
	for offset, positions := range map[int][]int32{0: v.Columns, v.HeadDim / 2: v.Rows} {
		r := testkit.Must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: v.HeadDim, RotaryDim: v.HeadDim / 2, Layout: posenc.HalfSplit, Offset: offset, Base: 100, Rounding: frequency.Float32}))
		testkit.NoError(t, posenc.Rotate(r.At(positions), posenc.View[float32]{Data: q, Heads: 2}))
	}
	if len(want) != len(q) {
		t.Fatalf("%d elements recorded, want %d", len(want), len(q))
	}
	for n, got := range q {
		// A frequency two steps off is at most 2^-22 of it; times 24, that is 2^-17
		// of an angle, of elements up to 4 twice.
		if !(math.Abs(float64(got)-float64(want[n])) <= 0x1p-14) {
			t.Errorf("element %d is %v, transformers has %v", n, got, want[n])
		}
	}
}

// The forward of every tower of transformers is compared, in multimodal.TestTowers.
func TestTowersAreCompared(t *testing.T) {
	var golden struct{ Types map[string]any }
	file := testkit.Must(os.Open("../multimodal/testdata/towers.json.gz"))
	defer file.Close()
	testkit.NoError(t, json.NewDecoder(testkit.Must(gzip.NewReader(file))).Decode(&golden))
	s := readSurvey(t)
	for name := range towers {
		if refusal(name) == "" && slices.Contains(s.Configurations, name) && golden.Types[name] == nil {
			t.Errorf("%s: no forward; run towers.py", name)
		}
	}
}
